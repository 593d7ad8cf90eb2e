"""Record what nvFuser prints in this process, on file descriptor 1."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Final

from segscope.capture.options import merged, words
from segscope.errors import CaptureError, NoDumpError, SegscopeError
from segscope.model import Capture

_VARIABLE: Final = "NVFUSER_DUMP"
_WANTED: Final = "segmented_fusion"
_MODULES: Final = ("nvfuser", "nvfuser_direct")

_heard = False
"""Whether nvFuser has printed a dump inside a block: then it does so from then on."""


class Recording:
    """What was printed inside a `record` block."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._nothing = ""

    @property
    def text(self) -> str:
        """Everything that was printed on file descriptor 1; SegscopeError inside the block."""
        if self._text is None:
            raise SegscopeError("the recording is not finished: ask for it after the with block")
        return self._text

    @cached_property
    def capture(self) -> Capture:
        """The segmented fusions; CaptureError where none was printed, which says what to do."""
        from segscope.dump import parse

        try:
            return parse(self.text, "recording").model_copy(update={"dump": self.text})
        except NoDumpError:
            raise CaptureError(self._nothing, output=self.text) from None

    def end(self, text: str, nothing: str) -> None:
        """Take what was printed, and what to say of it if there is no dump in it."""
        self._text, self._nothing = text, nothing


@contextmanager
def record() -> Iterator[Recording]:
    """Record the segmented fusions that nvFuser compiles in this process inside the block.

    File descriptor 1 leads to a file meanwhile, of all threads, and what was printed is passed on when the block ends,
    by an exception too. ``NVFUSER_DUMP=segmented_fusion`` is set inside the block where it is not set already; but
    nvFuser reads it once a process, when it is imported (0.2.8) or compiles for the first time (0.2.36), so the first
    block must come before that. From then on nvFuser prints outside of blocks as well. A fusion that was compiled
    before is not printed again.
    """
    global _heard
    recording = Recording()
    before = os.environ.get(_VARIABLE)
    was_set = _WANTED in words(before or "")
    was_imported = _imported()
    os.environ[_VARIABLE] = merged(before or "", [_WANTED])
    text = b""
    try:
        with tempfile.TemporaryFile() as file:
            _flush()
            outside = os.dup(1)
            os.dup2(file.fileno(), 1)
            try:
                yield recording
            finally:
                _flush()
                os.dup2(outside, 1)
                os.close(outside)
                file.seek(0)
                text = file.read()
                _pass_on(text)
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
        _heard |= b"Segmented_Fusion" in text
        recording.end(text.decode("utf-8", "replace"), _nothing(was_set or _heard or not was_imported))


def _nothing(in_time: bool) -> str:
    """Say why a block has no dump."""
    if not _imported():
        return "nothing recorded: nvFuser was not used in this process"
    if in_time:
        return "nothing recorded: nvFuser compiled no fusion in the block (one that was compiled before is not printed)"
    return (
        "nothing recorded: nvFuser was imported before the block, and reads NVFUSER_DUMP once a process, when it is "
        "imported or first compiles: start Python with NVFUSER_DUMP=segmented_fusion, or enter record() before "
        "nvFuser is imported (or else nothing was compiled in the block)"
    )


def _imported() -> bool:
    return any(name in sys.modules for name in _MODULES)


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)


def _pass_on(text: bytes) -> None:
    with suppress(BrokenPipeError):
        while text:
            text = text[os.write(1, text) :]
