"""What a rule found."""

from __future__ import annotations

from typing import Any, Literal

from segscope.model.base import Model

Severity = Literal["error", "warning", "note"]
"""How much a finding matters; that of a rule can be set otherwise."""


class Finding(Model):
    """One place where a rule does not hold, or, for a note, where there is something to know."""

    rule: str
    """Name of the rule."""
    severity: Severity
    """How much it matters: what the rule says, or what was set for the rule."""
    source: str = ""
    """The capture (``Capture.source``); empty where a fusion was checked without one."""
    fusion: int | None
    """Index of the fusion in the capture; None for what was found outside every fusion."""
    groups: tuple[int, ...] = ()
    """Indices of the groups."""
    expressions: tuple[int, ...] = ()
    """Ids of the expressions."""
    tensors: tuple[str, ...] = ()
    """Names of the tensors."""
    bytes: int | None = None
    """Bytes of memory that would not be needed; None where the rule is not about bytes, or a size is not known."""
    message: str
    """What was found, in one line."""
    advice: str
    """What to do about it, in one line."""
    option: str | None = None
    """The ``NVFUSER_*`` variable, or the pass of nvFuser, that bears on it."""

    def __str__(self) -> str:
        place = "" if self.fusion is None else f" fusion {self.fusion}:"
        return f"{self.severity}: {self.rule}:{place} {self.message}"


class Findings(list[Finding]):
    """Findings, which show themselves as a table in a notebook."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import findings_mimebundle

        return findings_mimebundle(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._repr_mimebundle_()["text/plain"])  # IPython has a text of its own for lists
