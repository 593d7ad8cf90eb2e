"""The rules in the order in which nvFuser asks its schedulers."""

from __future__ import annotations

from typing import Final

from segscope.segmenter.oracle import Accepted, Answer, Candidate, Refused, Unknown
from segscope.segmenter.oracles.rules.classes import SetOfExprs
from segscope.segmenter.oracles.rules.dims import Dims
from segscope.segmenter.oracles.rules.elementwise import (
    breaks_boundary,
    has_ambiguous_broadcast,
    is_connected,
    reference,
)
from segscope.segmenter.oracles.rules.layout import VIEWS, Layouts
from segscope.segmenter.oracles.rules.reduction import REDUCTIONS, with_reductions
from segscope.segmenter.oracles.rules.resize import why_not_resize
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole

_ALONE: Final = frozenset(
    "matmul linear sdpa embedding scatter index_put argsort topk grouped_matmul scaled_matmul".split()
)
"""What expr_eval evaluates, one expression at a time, and no other scheduler takes."""

_RULED: Final = VIEWS | REDUCTIONS | set("unary binary ternary cast pad cat full iota index_select".split())
"""The kinds that the rules know."""


class Rules:
    """Tells from a dump what the schedulers would say."""

    def __init__(self, whole: Whole, version: Version, *, boundary: bool = True) -> None:
        self._whole = whole
        self._boundary = boundary
        self._resize = "resize_scheduler" in version
        self._outputs_too = "outputs_covered" in version
        self._views_by = "expr_eval" if "views_are_expr_eval" in version else "no_op"
        self._dims = Dims(whole)
        self._layouts = Layouts(whole, self._dims, version)
        self._answers: dict[Candidate, Answer] = {}

    def answer(self, candidate: Candidate) -> Answer:
        """Say which scheduler would take the set."""
        found = self._answers.get(candidate)
        if found is None:
            found = self._answers[candidate] = self._judge(candidate)
        return found

    def settle(self) -> bool:
        """Return False: nothing is guessed."""
        return False

    def _judge(self, candidate: Candidate) -> Answer:
        group = SetOfExprs(self._whole, self._dims, candidate)
        connected = is_connected(group)
        if self._layouts.are_views(candidate) and (connected or self._views_by == "expr_eval"):
            return Accepted(scheduler=self._views_by)
        if len(candidate.nodes) == 1 and group.kinds <= _ALONE:
            return Accepted(scheduler="expr_eval")
        if not connected:
            return Refused(reason="the outputs do not hang together")
        if alone := group.kinds & _ALONE:
            return Refused(reason=f"{min(alone)} beside other expressions")
        if strange := group.kinds - _RULED:
            return Unknown(why=f"no rules for {min(strange)}")
        return self._computed(group)

    def _computed(self, group: SetOfExprs) -> Answer:
        """Judge a group that is more than views."""
        broken = breaks_boundary(group) if self._boundary else None
        reduces = not group.kinds.isdisjoint(REDUCTIONS)
        if not reduces and self._writes_nothing(group, broken):
            return Accepted(scheduler="no_op")
        if reduces and not broken:
            return with_reductions(group)
        if self._resize and not (not_resize := why_not_resize(group, outputs_too=self._outputs_too)):
            return Accepted(scheduler="resize")
        if broken:
            return Refused(reason=f"{broken}; resize: {not_resize}" if self._resize else broken)
        if reference(group, outputs_too=self._outputs_too) is None:
            return Refused(reason="no output covers all inputs, and all outputs")
        if has_ambiguous_broadcast(group):
            return Refused(reason="a broadcast may have several sizes")
        return Accepted(scheduler="pointwise")

    def _writes_nothing(self, group: SetOfExprs, broken: str | None) -> bool:
        """Say whether no output has elements, or each is a broadcast of one."""
        outputs = [[self._dims.all[dim] for dim in self._dims.of(name)] for name in group.all_outputs]
        if all(any(dim.size == 0 for dim in output) for output in outputs):
            return True
        return not broken and all(dim.kind == "b" for output in outputs for dim in output)
