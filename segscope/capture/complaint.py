"""What a child process complained of, in one line."""

from __future__ import annotations

import re

_LONGEST = 1500
_WARNING = re.compile(r".*:\d+: \w*Warning: .*(\n[ \t].*)?|\[W\d.*", re.MULTILINE)
"""What Python's warnings print, with the line of source below, and what torch's C++ prints."""
_BACKTRACE = ("Exception raised from ", "frame #", "<omitting python frames>")


def complaint(error: str | None, stderr: str) -> str | None:
    """Return the exception that a Python child told of, else that of C++'s terminate, else its last line; or None.

    Warnings and C++ backtraces are left out, and lines are joined.
    """
    told = error
    if told is None:
        told = stderr.rpartition("\n  what():  ")[2]
        if told == stderr:
            lines = _WARNING.sub("", stderr).splitlines()
            nothing = "nothing but warnings on standard error" if stderr.strip() else ""
            told = next((line for line in reversed(lines) if line.strip()), nothing)
    kept = []
    for line in told.splitlines():
        if line.startswith(_BACKTRACE):
            break
        kept.append(line)
    return " ".join(" ".join(kept).split())[:_LONGEST] or None
