"""What a child process complained of, in one line."""

from __future__ import annotations

_LONGEST = 1500
_BACKTRACE = ("Exception raised from ", "frame #", "<omitting python frames>")


def complaint(error: str | None, stderr: str) -> str | None:
    """Return the exception that a Python child told of, else that of C++'s terminate, else its last line; or None.

    C++ backtraces are left out, and lines are joined.
    """
    told = error
    if told is None:
        told = stderr.rpartition("\n  what():  ")[2]
        if told == stderr:
            told = next((line for line in reversed(stderr.splitlines()) if line.strip()), "")
    kept = []
    for line in told.splitlines():
        if line.startswith(_BACKTRACE):
            break
        kept.append(line)
    return " ".join(" ".join(kept).split())[:_LONGEST] or None
