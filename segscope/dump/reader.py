"""One stream of lines to the parts of a dump: finds headings, and hands the lines behind each to the part's reader."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from segscope.dump import passes, trials
from segscope.dump.blocks import REWRITTEN, SEGMENTS, SEGMENTS_END, RewrittenBlock, SegmentsBlock
from segscope.dump.foreign import heading
from segscope.dump.parts import Part, Text
from segscope.dump.passes import PassLog
from segscope.dump.trials import SegmenterLog

_DAG_ERRORS: Final = ("Error in graph, is not a DAG", "original graph not a DAG")
GROUP_ERROR: Final = "Error from segmentation group "
_HEADING_BEGINS: Final = frozenset("*SFW}")
_HEADING_ENDS: Final = frozenset(":{ ")


class FoundFusion(NamedTuple):
    """The text of one segmented fusion, and what was said of it before."""

    segments: SegmentsBlock
    stream: str
    log: SegmenterLog
    passes: PassLog


class Stray(NamedTuple):
    """A line that belongs to no fusion that was found."""

    reason: str
    text: Text


class StreamReader:
    """Reads the lines of one stream; what is found waits in ``found``, ``errors`` and ``strays``."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.found: deque[FoundFusion] = deque()
        self.errors: list[Text] = []
        """Lines in which nvFuser says that segmentation or a group failed."""
        self.strays: list[Stray] = []
        """Ends of dumps whose beginning is not there, and beginnings without an end that no fusion came of."""
        self._part: Part | None = None
        self._rewritten: RewrittenBlock | None = None
        self._interrupted: Text | None = None
        self._log = SegmenterLog()
        self._passes = PassLog()
        self._last_line = 0
        self._headings: dict[str, Callable[[int], Part | None]] = {
            REWRITTEN: self._begin_rewritten,
            SEGMENTS: self._begin_segments,
            SEGMENTS_END: self._stray_end,
            passes.BEFORE: self._begin_passes,
        }

    def feed(self, first_line: int, texts: list[str]) -> None:
        """Take consecutive lines of the source, which begin at ``first_line``; what stands before a heading is cut."""
        at = 0
        while at < len(texts):
            if self._part is None:
                at = self._outside(texts, at, first_line)
            else:
                at = self._part.take(texts, at, first_line)
                if self._part.done:
                    self._finish()
        self._last_line = first_line + len(texts) - 1

    def end(self) -> None:
        """Take the end of the input."""
        if isinstance(self._part, SegmentsBlock):
            self._part.end_of_input(self._last_line)
        self._finish()
        self._interruption_is_the_end()
        if self._rewritten is not None:
            begun = Text(REWRITTEN, self._rewritten.first_line)
            self.strays.append(Stray("the source ends before the segments of this dump", begun))

    def _outside(self, texts: list[str], at: int, first_line: int) -> int:
        """Pass over lines up to a heading; return the position at which its part begins."""
        begins, ends = _HEADING_BEGINS, _HEADING_ENDS
        for position, text in enumerate(texts[at:], at):
            if text[:1] in begins or text[-1:] in ends:
                if text[-1:] in _HEADING_ENDS and (known := heading(text)):
                    text = texts[position] = known
                if trials.is_log(text):
                    self._part = self._segmenter_log(text)
                    return position
                self._heading(text.rstrip(), first_line + position)
                if self._part is not None:
                    return position + 1
            if "DAG" in text or "segmentation group" in text:
                self._error(text, first_line + position)
        return len(texts)

    def _heading(self, text: str, line: int) -> None:
        if begin := self._headings.get(text):
            self._part = begin(line)
        elif text.startswith(passes.AFTER):
            self._part = self._passes.begin(text[len(passes.AFTER) :])
        elif text.startswith(passes.SEGMENT_SET):
            self._passes.segment_set(text)

    def _segmenter_log(self, text: str) -> SegmenterLog:
        if text.startswith((trials.UNSEGMENTED, trials.HINTS)):
            self._log = SegmenterLog()
        return self._log

    def _begin_rewritten(self, line: int) -> Part:
        self._interruption_is_the_end()
        if self._rewritten is not None:
            self._interrupted = Text(REWRITTEN, line)
        self._rewritten = RewrittenBlock(line)
        return self._rewritten

    def _begin_segments(self, line: int) -> Part:
        block = SegmentsBlock(line, self._rewritten)
        if self._rewritten is None:
            block.interrupted, self._interrupted = self._interrupted, None
        self._rewritten = None
        return block

    def _stray_end(self, line: int) -> None:
        self.strays.append(Stray("the end of a dump whose beginning is not there", Text(SEGMENTS_END, line)))

    def _interruption_is_the_end(self) -> None:
        """Take it that the segments of a dump in which another one began will not come any more."""
        if self._interrupted is not None:
            self.strays.append(Stray("another dump begins before the segments of the last one", self._interrupted))
            self._interrupted = None

    def _begin_passes(self, line: int) -> Part:
        self._passes = PassLog()
        return self._passes.begin(None)

    def _error(self, text: str, line: int) -> None:
        if any(error in text for error in _DAG_ERRORS) or GROUP_ERROR in text:
            self.errors.append(Text(text, line))

    def _finish(self) -> None:
        part, self._part = self._part, None
        if isinstance(part, SegmentsBlock):
            self.found.append(FoundFusion(part, self.stream, self._log, self._passes))
            self._log, self._passes = SegmenterLog(), PassLog()
