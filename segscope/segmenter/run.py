"""A fusion, segmented anew."""

from __future__ import annotations

from typing import Final, Literal

from segscope.model import SegmentedFusion
from segscope.model.base import Model
from segscope.segmenter.loop.final import merge_pairs, unforward
from segscope.segmenter.loop.herrmann import merge_in_rounds
from segscope.segmenter.loop.premerge import merge_cast_sequences, merge_cats_with_pads
from segscope.segmenter.loop.reductions import combine_reductions
from segscope.segmenter.loop.state import SetTrial, State
from segscope.segmenter.oracle import Accepted, Candidate, Oracle, OracleOf, Unknown
from segscope.segmenter.oracles.real import Real
from segscope.segmenter.oracles.recorded import Recorded
from segscope.segmenter.oracles.rules import Rules
from segscope.segmenter.policy import Policy
from segscope.segmenter.privatise import privatised, undone
from segscope.segmenter.result import as_one_group, as_segmented, drop_what_stands_for_inputs, folded_copies
from segscope.segmenter.versions import Version, version_told_by
from segscope.segmenter.versions import version as version_of
from segscope.segmenter.whole import Whole

OracleName = Literal["rules", "log", "real"]
"""A key of ``ORACLES``: segscope's rules, the segmenter's log in the dump, or nvFuser in a toolchain."""

ORACLES: Final[dict[str, OracleOf]] = {"rules": Rules, "log": Recorded, "real": Real}
"""Oracles by name; what makes one takes the fusion, the version, and whether the boundary rule holds."""

NVFUSERS_OWN: Final = Policy()


class Simulation(Model):
    """What became of a fusion."""

    fusion: SegmentedFusion
    """Groups, edges and expressions; the names of copies may be other than nvFuser's."""
    trials: tuple[SetTrial, ...]
    """Every set that was offered, in order; the first is the whole fusion, unless it holds a hint to cut."""

    @property
    def unknown(self) -> tuple[SetTrial, ...]:
        """The trials of which nothing is known: nvFuser may have gone on in another way from the first one."""
        return tuple(trial for trial in self.trials if isinstance(trial.answer, Unknown))


class Lab:
    """A fusion that can be segmented as often as wanted; answers are kept from run to run."""

    def __init__(
        self,
        fusion: SegmentedFusion,
        *,
        oracle: OracleName | OracleOf = "rules",
        version: str | Version | None = None,
    ) -> None:
        """Undo the segmentation.

        ``version`` is that of nvFuser: the one that made the dump, or another one; by default the one that the dump
        tells (``version_told_by``).

        Raises SegscopeError for a dump that is not whole, a version that is not known, and by the oracle.
        """
        named = version_of(version) if isinstance(version, str) else version
        self.version = named or version_told_by(fusion)
        """The version of nvFuser whose steps are taken: the one given, else the one that the dump tells."""
        self._undone = undone(fusion, self.version)
        self._whole = privatised(self._undone, self.version)
        self._make = ORACLES[oracle] if isinstance(oracle, str) else oracle
        self._oracles: dict[bool, Oracle] = {}

    def run(self, policy: Policy = NVFUSERS_OWN) -> Simulation:
        """Segment the fusion."""
        oracle = self._oracles.get(policy.boundary)
        if oracle is None:
            oracle = self._make(self._whole, self.version, boundary=policy.boundary)
            self._oracles[policy.boundary] = oracle
        while True:
            simulation = _segmented(self._undone, State(self._whole, self.version, oracle, policy))
            if not oracle.settle():
                return simulation


def simulate(
    fusion: SegmentedFusion,
    *,
    oracle: OracleName | OracleOf = "rules",
    version: str | Version | None = None,
    policy: Policy = NVFUSERS_OWN,
) -> Simulation:
    """Segment a fusion anew, as ``Lab`` and ``Lab.run`` do."""
    return Lab(fusion, oracle=oracle, version=version).run(policy)


def _segmented(undone: Whole, state: State) -> Simulation:
    """Go through the steps. Source: ``findSegments`` and ``finalize``."""
    if scheduler := _taken_as_one(state):
        return Simulation(fusion=as_one_group(undone, scheduler), trials=tuple(state.trials))
    for group in state.groups:
        if group.wanted:
            state.name_scheduler(group)
    if "cat_with_pads" in state.version:
        merge_cats_with_pads(state)
    if "cast_sequences" in state.version or state.policy.casts_first:
        merge_cast_sequences(state)
    combine_reductions(state)
    merge_in_rounds(state)
    merge_pairs(state)
    unforward(state)
    drop_what_stands_for_inputs(state)
    folded = folded_copies(state)
    for group in state.groups:
        state.name_scheduler(group, without=folded)
    return Simulation(fusion=as_segmented(state, folded), trials=tuple(state.trials))


def _taken_as_one(state: State) -> str | None:
    """Offer the whole fusion, unless it holds a hint to cut."""
    whole = state.whole
    if any(expr.kind == "segmenter_set" for expr in whole.exprs):
        return None
    nodes = tuple(range(len(whole.exprs)))
    answer = state.oracle.answer(Candidate(nodes, whole.inputs, whole.outputs))
    accepted = isinstance(answer, Accepted)
    state.trials.append(SetTrial(step="whole", round=0, parts=(whole.names(nodes),), answer=answer, merged=accepted))
    return answer.scheduler if isinstance(answer, Accepted) else None
