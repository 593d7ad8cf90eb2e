"""The command line. Every command is a module of its own, imported only when it is used or listed."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from pathlib import Path

import click

from segscope import __version__
from segscope.errors import SegscopeError

_CLOSED_PIPE = 141  # what a shell says of a program that SIGPIPE ended
_COMMANDS = (
    "rope", "capture", "count", "show", "check", "assert", "explain", "diff", "simulate", "render", "executors",
    "sweep", "bisect", "verify-device", "toolchain",
)  # fmt: skip


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command: click.Command = import_module(f"segscope.cli.{module}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="segscope")
def segscope() -> None:
    """See how nvFuser cuts a fusion into kernels.

    To begin: segscope rope, which needs no GPU, or segscope show FILE.

    FILE is a dump (standard output of a run with NVFUSER_DUMP=segmented_fusion, with anything else around it) or a
    capture.json; - is standard input. Exit codes: 0 fine, 1 findings or different, 2 could not do it,
    130 interrupted, 141 the reader of the output went away.
    """


def main() -> None:
    """Run the command line and exit: every failure is one line on standard error and exit code 2."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (lasts as long as the process)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # where it takes ASCII alone, and names that are no UTF-8
    try:
        code = segscope.main(standalone_mode=False)
        sys.stdout.flush()
    except SystemExit:  # what click and rich make of a pipe that was closed
        code = _CLOSED_PIPE
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        code = _fail(_one_line(error))
    except SegscopeError as error:
        code = _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted")
        code = 130
    except BrokenPipeError:
        code = _CLOSED_PIPE
    except OSError as error:
        code = _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.exit(code)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what cannot be written must not be tried again on the way out
    sys.exit(code)


def _fail(message: str) -> int:
    from segscope.cli.writing import say

    say(f"segscope: error: {message}", err=True)
    return 2


def _one_line(error: click.ClickException) -> str:
    """Say what is wrong on the command line, and what would be right."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    if isinstance(error, click.NoSuchOption):
        names = (name for param in context.command.get_params(context) for name in param.opts)
        options = sorted(name for name in names if name.startswith("--"))
        message = f"no such option {error.option_name}; valid: {', '.join(options)}"
    elif isinstance(context.command, click.Group) and message.startswith("No such command"):
        message += f"; valid: {', '.join(context.command.list_commands(context))}"
    return f"{message} (see {context.command_path} --help)"
