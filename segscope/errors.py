"""What a user can run into. Each error is one clear line: what went wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Collection


class SegscopeError(Exception):
    """Base of every error that segscope raises on purpose; its text is one line for the user."""


class NoDumpError(SegscopeError):
    """The input holds no segmented fusion; the text says why, or what to set before the run."""


class ToolchainError(SegscopeError):
    """A toolchain is unknown, missing, or could not be installed."""


class DeviceError(SegscopeError):
    """The asked-for device cannot be used, or the null device cannot be built."""


class CaptureError(SegscopeError):
    """The child process that runs nvFuser gave no dump; what it printed is kept here."""

    def __init__(self, message: str, *, output: str = "", stderr: str = "") -> None:
        super().__init__(message)
        self.output = output
        """What the child printed on standard output, or a recording's text."""
        self.stderr = stderr
        """What it printed on standard error."""


class RenderError(SegscopeError):
    """A picture could not be drawn."""


def one_of(what: str, name: str, valid: Collection[str]) -> str:
    """Return the name, or raise SegscopeError, which lists the valid ones."""
    if name not in valid:
        raise SegscopeError(f"unknown {what} {name!r}; valid: {', '.join(valid)}")
    return name
