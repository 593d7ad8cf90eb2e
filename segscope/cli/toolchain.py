"""``segscope toolchain``: install, list, add and remove toolchains."""

import json
import subprocess
from datetime import datetime
from pathlib import Path

import click

from segscope.capture import toolchain
from segscope.capture.toolchain.folder import disk_use
from segscope.errors import ToolchainError

_HEADER = ("NAME", "STATE", "PYTHON", "TORCH", "NVFUSER", "THUNDER", "DISK", "OWN")
_VERSIONS = """
import json, platform
from importlib import metadata
found = {str(package.name).lower(): package.version for package in metadata.distributions()}
print(json.dumps(found | {"python": platform.python_version()}))
"""


@click.group("toolchain", short_help="Install, list, add and remove what runs nvFuser.")
def command() -> None:
    """Install, list, add and remove toolchains: one Python with one torch, nvFuser and Thunder each.

    They are kept apart from your environment, have no GPU code, and run on the null device. SEGSCOPE_HOME names the
    folder that they are in.
    """


@command.command("list")
def list_() -> None:
    """List the toolchains, and what is in them.

    DISK is what a toolchain takes by itself; OWN is what no other toolchain shares, and so what removing it frees.
    """
    rows = [_HEADER, *(_row(name) for name in toolchain.names())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"\n{toolchain.CURRENT} is the Python that runs segscope; the others are kept in {toolchain.root()}")


@command.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
def install(names: tuple[str, ...]) -> None:
    """Install toolchains; without a NAME, the default one.

    Packages have exact versions: those that another toolchain has are taken from there, the others come by pip.
    segscope toolchain list says how large each is, and which Python it needs.
    """
    chosen = names or (toolchain.default_name(),)
    states = {name: toolchain.state(name) for name in chosen}
    for name in states:
        if isinstance(there := toolchain.get(name), toolchain.AddedInterpreter):
            what = "the Python that runs segscope" if name == toolchain.CURRENT else there.interpreter
            raise ToolchainError(f"toolchain {name} is {what}: install torch and nvFuser there yourself")
    for name, state in states.items():
        found = toolchain.ensure(name)
        if state == "installed":
            click.echo(f"{name} is already installed: {found.python}")


@command.command(short_help="Name a Python of your own, or one like another toolchain.")
@click.argument("name")
@click.option(
    "--python",
    "python",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Python that has torch and nvFuser; it stays where it is, and may use a GPU.",
)
@click.option("--like", metavar="TOOLCHAIN", help="A toolchain to install anew, with other packages in it.")
@click.option(
    "--wheel",
    "wheels",
    metavar="FILE|NAME==VERSION",
    multiple=True,
    help="A package to put in place of that one's, such as an nvFuser built from source; may be repeated.",
)
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="The day its nvFuser was built: its place in segscope bisect.  [default: as its version says, .devYYYYMMDD]",
)
def add(name: str, python: Path | None, like: str | None, wheels: tuple[str, ...], day: datetime | None) -> None:
    """Let NAME be a toolchain: a Python that is there (--python), or one like another but for some packages.

    It is only noted here; one like another is made by segscope toolchain install, or by the first command that runs it.
    """
    date = day.date().isoformat() if day else ""
    if python and not (like or wheels):
        toolchain.add_interpreter(name, python, date)
    elif like and wheels and not python:
        toolchain.add_like(name, like, wheels, date)
    else:
        raise click.UsageError("give either --python, or --like and at least one --wheel")
    click.echo(f"added {name}" + (f"; to install it now: segscope toolchain install {name}" if like else ""))


@command.command()
@click.argument("name")
def path(name: str) -> None:
    """Print the path of a toolchain's interpreter."""
    click.echo(toolchain.find(name).python)


@command.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove what is installed of a toolchain.

    One that was added is forgotten too (see segscope toolchain add); a Python of your own stays.
    """
    toolchain.remove(name)
    click.echo(f"removed {name}")


def _row(name: str) -> tuple[str, ...]:
    spec, state = toolchain.get(name), toolchain.state(name)
    if isinstance(spec, toolchain.AddedInterpreter):
        return (name, state, *_versions_in(spec.interpreter), "-", "-")
    return (
        f"{name} (default)" if name == toolchain.default_name() else name,
        state,
        spec.python,
        spec.version("torch"),
        spec.version("nvfuser"),
        spec.version("lightning-thunder"),
        *_sizes(spec, state),
    )


def _sizes(spec: toolchain.ToolchainSpec, state: toolchain.State) -> tuple[str, str]:
    if state == "not installed":
        return f"({spec.size_gb} GB)", "-"
    use = disk_use(toolchain.root() / spec.name)
    return _size(use.total), _size(use.own)


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _versions_in(python: str) -> tuple[str, str, str, str]:
    try:
        done = subprocess.run([python, "-c", _VERSIONS], capture_output=True, text=True, timeout=60)
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return "-", "-", "-", "-"
    nvfuser = next((version for package, version in found.items() if package.startswith("nvfuser")), "-")
    return found["python"], found.get("torch", "-"), nvfuser, found.get("lightning-thunder", "-")
