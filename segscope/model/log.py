"""What nvFuser said while it segmented a fusion."""

from __future__ import annotations

from segscope.model.base import Model


class Refusal(Model):
    """A scheduler's no."""

    scheduler: str
    """The scheduler that was asked."""
    reason: str
    """As printed."""
    category: str
    """What it is about: ``boundary`` (slice, pad and their like must read a segment input), ``resize``, ``reshape``,
    ``reference``, ``broadcast``, ``reduction``, ``nothing to do``, ...; ``other`` where the text is not known."""


class Trial(Model):
    """One set of expressions that was offered to the schedulers."""

    line: int
    """Line of the source, from 1."""
    outputs: tuple[str, ...]
    """Names of the values that the expressions define, in the order printed."""
    expr_ids: tuple[int, ...]
    """Ids of those expressions that are in the segmented fusion."""
    refusals: tuple[Refusal, ...]
    """In the order in which the schedulers were asked."""
    accepted: str | None
    """The scheduler that accepted; None where none did."""


class SegmenterLog(Model):
    """The segmenter's trials (``NVFUSER_DUMP=segmenter_logging``)."""

    whole: Trial | None
    """The try to take the whole fusion as one kernel; None where hints forbid it."""
    has_hints: bool
    """Whether a ``SegmenterSet`` in the fusion made nvFuser skip that try."""
    trials: tuple[Trial, ...]
    """The others, in the order printed."""


class PassStatement(Model):
    """A statement that a pass added or removed; before segmentation expressions have no ids."""

    kind: str
    """As for ``Expr``."""
    op: str
    """The operator as printed."""
    outputs: tuple[str, ...]
    """Names of the values that it defines."""
    inputs: tuple[str, ...]
    """Names of the values that it reads, in the order printed."""
    text: str
    """The statement as printed, line breaks included."""


class PassChange(Model):
    """A pass that changed the fusion before it was segmented (``NVFUSER_DUMP=pre_segmenter_logging``)."""

    name: str
    """``MarkAliasesPreparePass``, ``MovePadPass``, ..."""
    added: tuple[PassStatement, ...]
    """Statements that are new, or that define their output in a new way."""
    removed: tuple[PassStatement, ...]
    """Statements that are gone."""
    segment_sets: tuple[str, ...]
    """Tensors before which the pass said that it will put a hint to cut."""
