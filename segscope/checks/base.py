"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from segscope.checks.finding import Finding, Severity
from segscope.model import Capture, SegmentedFusion


class Check(ABC):
    """A rule about segmented fusions. Its state is its class: a run has no effect on the next."""

    name: ClassVar[str]
    """``resize-boundary``, ...: how it is selected."""
    severity: ClassVar[Severity]
    """The severity of its findings, where no configuration sets another."""
    summary: ClassVar[str]
    """What it finds, in one line."""

    @abstractmethod
    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield what is found in one fusion."""

    def run_on_errors(self, capture: Capture) -> Iterator[Finding]:
        """Yield what nvFuser's own errors (``Capture.errors``) say; by default nothing."""
        yield from ()

    def run_on_captures(self, captures: Sequence[Capture]) -> Iterator[Finding]:
        """Yield what captures say only together, with the ``source`` of one of them; by default nothing.

        They may also be one, which several ranks printed.
        """
        yield from ()
