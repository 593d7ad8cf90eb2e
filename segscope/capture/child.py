"""Run a child process and keep everything it printed, however it ends."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from segscope.capture.processes import end, start


@dataclass(frozen=True)
class Ended:
    """How a child process ended, and what it printed."""

    stdout: bytes
    stderr: str
    exit_code: int | None
    """None where a signal ended it."""
    signal: str | None
    """``SIGFPE``, ... or None."""
    timed_out: bool


def run(command: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float) -> Ended:
    """Run ``command`` with file descriptors 1 and 2 in files of ``folder``.

    Its process group is ended after ``timeout`` seconds, and where this process is interrupted.
    """
    out, err = folder / "stdout", folder / "stderr"
    timed_out = False
    with out.open("ab") as stdout, err.open("ab") as stderr:
        child = start(command, environment, stdout, stderr)
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            end(child)
    code = child.returncode
    return Ended(
        stdout=out.read_bytes(),
        stderr=err.read_text(encoding="utf-8", errors="replace"),
        exit_code=code if code >= 0 else None,
        signal=signal.Signals(-code).name if code < 0 else None,
        timed_out=timed_out,
    )
