"""Child processes that do not outlive segscope."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

# Asks the kernel to kill this process when segscope ends, and becomes the command, as a shell would run it: SIGPIPE
# and SIGXFSZ, which Python ignores, end it, and a script that names no interpreter is sh's. (A preexec_fn would do the
# same, and is not safe where segscope has threads.)
_DIE_WITH_PARENT = """
import ctypes, errno, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
if os.getppid() == int(sys.argv[1]):
    command = sys.argv[2:]
    try:
        os.execv(command[0], command)
    except OSError as error:
        if error.errno == errno.ENOEXEC:
            os.execv("/bin/sh", ["/bin/sh", *command])
        print(f"segscope: error: {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(126)
"""
_SECONDS_TO_END = 3


class Stopped(BaseException):
    """A signal asked segscope to end."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def signals_raise() -> Iterator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into `Stopped`, and act on it when the block has cleaned up.

    Later ones are ignored, so that they do not disturb the cleaning. Does nothing outside the main thread,
    where Python allows no signal handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if not stopped:
            stopped = True
            raise Stopped(number)

    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    except Stopped as stop_request:
        _restore(before)
        if stop_request.number == signal.SIGINT:
            raise KeyboardInterrupt from None
        os.kill(os.getpid(), stop_request.number)
        raise
    finally:
        _restore(before)


@contextmanager
def signals_passed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Hand every SIGINT, SIGTERM, SIGHUP and SIGQUIT to a child's process group, which decides what becomes of it.

    Yields the function that names the child; signals that came before go to it then. Does nothing outside the main
    thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda child: None
        return
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        if not children:
            early.append(number)
        for child in children:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, number)

    def to(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            pass_on(number, None)

    before = {
        number: signal.signal(number, pass_on)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield to
    finally:
        _restore(before)


def _restore(handlers: Mapping[signal.Signals, object]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)  # type: ignore[arg-type]


def start(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdout: int | IO[bytes],
    stderr: int | IO[bytes] | None,
    stdin: int | None = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a command (an absolute path first) in a session of its own; the kernel kills it when segscope ends.

    Standard error and standard input are this process's where they are None.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _DIE_WITH_PARENT, str(os.getpid()), *command],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=dict(environment),
        start_new_session=True,
    )


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started, with the chance to leave the terminal as it was (pip hides the cursor)."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(child.pid, signal.SIGINT)
        child.wait(_SECONDS_TO_END)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
