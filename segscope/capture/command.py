"""Capture what any command prints: it runs as it would without segscope, and its standard output is kept."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import shutil
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from segscope.capture.device import choose
from segscope.capture.options import merged
from segscope.capture.processes import end, signals_passed_on, start
from segscope.capture.toolchain import CURRENT
from segscope.capture.users_python import toolchain_of
from segscope.errors import CaptureError, DeviceError, NoDumpError

CHOICES: Final = ("none", "null", "cuda")
VARIABLES: Final = ("NVFUSER_DUMP", "PYTORCH_NVFUSER_DUMP")
"""What nvFuser reads: the second until September 2025, the first since June 2023."""

_CHUNK: Final = 1 << 16
_TICK: Final = 0.05


def capture_command(
    command: Sequence[str],
    *,
    dump: Sequence[str] = (),
    device: str = "none",
    card: str = "h200",
    out: str | Path,
) -> int:
    """Run a command with ``NVFUSER_DUMP`` set, and write what it prints on standard output to ``out`` as well.

    It has the environment, standard input and standard error of this process, and a terminal as standard output where
    this process has one. SIGINT, SIGTERM, SIGHUP and SIGQUIT go to its process group, of which nothing outlives it.

    Args:
        command: a program, found on ``PATH``, and its arguments.
        dump: options for ``NVFUSER_DUMP`` besides ``segmented_fusion`` and those that are set.
        device: ``none`` (as it is), ``cuda`` (DeviceError where there is no GPU), or ``null``: the null device, for a
            command whose Python can be told; see `toolchain_of`.
        card: the card that the null device plays.
        out: the file, written as the output comes; an old one is overwritten.

    Returns the command's exit code, 128 + n where signal n ended it. Raises DeviceError, and CaptureError for a
    command that is not there.
    """
    if device not in CHOICES:
        raise DeviceError(f"unknown device {device!r}; valid: {', '.join(CHOICES)}")
    program = shutil.which(command[0])
    if program is None:
        raise CaptureError(f"{command[0]}: {_not_run(command[0])}")
    absolute = [str(Path(program).absolute()), *command[1:]]
    environment = dict(os.environ)
    if device != "none":
        chosen = choose(device, CURRENT, card)
        if device == "null":
            environment = chosen.environment(environment, toolchain_of(absolute))
        print(f"segscope: {Path(program).name} on {chosen.what}", file=sys.stderr)
    environment |= _dump_variables(environment, dump)
    with _opened(out) as file:
        return _run(absolute, environment, file)


def summary(file: str | Path) -> str:
    """Say in one line how many fusions and kernel groups are in what a command printed."""
    from segscope.dump import fusions
    from segscope.dump.tally import tally

    kernels = [sum(group.launches_kernel for group in groups) for groups in tally(file) or ()]
    if not kernels:
        try:
            kernels = [fusion.count() for fusion in fusions(file)]
        except NoDumpError:
            return f"{file}: no segmented fusion: nvFuser compiled none, or its process printed elsewhere"
    return f"{file}: {_number(len(kernels), 'fusion')}, {_number(sum(kernels), 'kernel group')}"


def _not_run(program: str) -> str:
    """Say why a program that was not found is none."""
    if os.sep not in program or not Path(program).exists():
        return "no such command"
    return "a folder, not a command" if Path(program).is_dir() else "may not be run (chmod +x makes it a program)"


def _opened(out: str | Path) -> IO[bytes]:
    try:
        return Path(out).open("wb", buffering=0)
    except OSError as error:
        raise CaptureError(f"cannot write {out}: {error.strerror}") from None


def _dump_variables(environment: Mapping[str, str], dump: Sequence[str]) -> dict[str, str]:
    present = ",".join(environment.get(name, "") for name in VARIABLES)
    value = merged(present, ["segmented_fusion", *dump])
    return dict.fromkeys(VARIABLES, value)


def _run(command: Sequence[str], environment: Mapping[str, str], file: IO[bytes]) -> int:
    reader, writer = _terminal() if os.isatty(1) else os.pipe()
    try:
        with signals_passed_on() as passed_on:
            child = start(command, environment, writer, stderr=None, stdin=None)
            passed_on(child)
            os.close(writer)
            try:
                _copy(reader, child, file)
                code = child.wait()
            finally:
                end(child)
            _copy_rest(reader, file)
    finally:
        os.close(reader)
    return code if code >= 0 else 128 - code


def _copy(reader: int, child: subprocess.Popen[bytes], file: IO[bytes]) -> None:
    """Copy output as it comes, until all who can write are gone or the child has ended."""
    while child.poll() is None:
        if select.select([reader], [], [], _TICK)[0] and not _copy_once(reader, file):
            return


def _copy_rest(reader: int, file: IO[bytes]) -> None:
    while select.select([reader], [], [], 0)[0] and _copy_once(reader, file):
        pass


def _copy_once(reader: int, file: IO[bytes]) -> bool:
    """Copy what is there; return whether more can come."""
    try:
        data = os.read(reader, _CHUNK)
    except OSError as error:
        if error.errno == errno.EIO:  # a terminal that nobody has open
            return False
        raise
    try:
        file.write(data)
    except OSError as error:
        raise CaptureError(f"cannot write {file.name}: {error.strerror}") from None
    with suppress(BrokenPipeError):  # what the reader of the output does not want is still kept
        _write(1, data)
    return bool(data)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:  # whoever made the pipe made it so that it does not wait
            select.select([], [descriptor], [])


def _terminal() -> tuple[int, int]:
    """Return a terminal of the size of standard output; it changes no character, which standard output does."""
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))
    attributes = termios.tcgetattr(writer)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(writer, termios.TCSANOW, attributes)
    return reader, writer


def _number(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
