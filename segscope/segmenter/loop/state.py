"""The groups and edges of a fusion while it is being segmented."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final, Literal

from segscope.model.base import Model
from segscope.segmenter.forwarding import forwarded
from segscope.segmenter.oracle import Accepted, Answer, Candidate, Oracle, Refused
from segscope.segmenter.policy import Policy
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole

Step = Literal[
    "whole", "cat_with_pads", "cast_sequences", "reductions", "operand_sets", "rounds", "final", "unforward", "type"
]
"""What a set is offered for: a merge in this step, or (``type``) the name of the scheduler of a group that is there."""

_HINT: Final = Refused(reason="a SegmenterSet has readers inside, or makes no output")
_NOT_WANTED: Final = Refused(reason="refused by the policy")


class SetTrial(Model):
    """A set of expressions that was offered to the oracle."""

    step: Step
    """Where in the loop it was offered."""
    round: int
    """The round of the step ``rounds``, from 1; 0 in other steps."""
    parts: tuple[tuple[str, ...], ...]
    """The tensors that each group of a merge defines; one part where no merge was offered."""
    answer: Answer
    """What the oracle said."""
    merged: bool
    """Whether the groups became one."""

    @property
    def tensors(self) -> frozenset[str]:
        """The tensors that the set defines."""
        return frozenset(name for part in self.parts for name in part)

    @property
    def accepted(self) -> str | None:
        """The scheduler that took it; None where none did, or nothing is known."""
        return self.answer.scheduler if isinstance(self.answer, Accepted) else None


class Edge:
    """A value that one group makes and another reads."""

    __slots__ = ("source", "target", "value")

    def __init__(self, source: Group, target: Group, value: str) -> None:
        self.source = source
        self.target = target
        self.value = value


class Group:
    """A segment that may still grow."""

    __slots__ = ("from_edges", "given", "level", "nodes", "partner", "scheduler", "to_edges", "wanted")

    def __init__(self, nodes: Sequence[int] = (), given: Sequence[str] = (), wanted: Sequence[str] = ()) -> None:
        self.nodes = list(nodes)
        """Positions in ``Whole.exprs``; none for a group that stands for an input of the fusion."""
        self.given = list(given)
        """Inputs of the fusion that it reads; forwarded ones count as such."""
        self.wanted = list(wanted)
        """Outputs of the fusion that it makes."""
        self.from_edges: list[Edge] = []
        """Edges that come from producers; an edge has ``source``, ``target`` and ``value``."""
        self.to_edges: list[Edge] = []
        """Edges that go to consumers."""
        self.level = 0
        """Edges on the longest path from an input."""
        self.partner: Group | None = None
        """What it merges with at the end of the round."""
        self.scheduler = "none"
        """The scheduler that took it; ``none`` as long as it was not asked for."""


class State:
    """A fusion being segmented: what is asked, and what has become of it."""

    def __init__(self, whole: Whole, version: Version, oracle: Oracle, policy: Policy) -> None:
        self.whole = whole
        self.version = version
        self.oracle = oracle
        self.policy = policy
        self.trials: list[SetTrial] = []
        self.round = 0
        self.groups: list[Group] = []
        self.standing_for: dict[str, Group] = {}
        """The groups that stand for inputs of the fusion."""
        self.outputs = frozenset(whole.outputs)
        self._build()

    def _build(self) -> None:
        """Make a group of each expression that is not set aside, and connect them.

        Source: ``buildInitialSegments``.
        """
        forwarding = forwarded(self.whole, self.version)
        self.inputs = forwarding.inputs
        home = {node: Group([node]) for node in range(len(self.whole.exprs)) if node not in forwarding.set_aside}
        self.standing_for = {name: Group() for name in forwarding.inputs}
        self.groups = [*home.values(), *self.standing_for.values()]
        for node, group in home.items():
            for name in self.whole.reads[node]:
                if name in self.standing_for:
                    group.given.append(name)
                    connect(self.standing_for[name], group, name)
                elif name in self.whole.made_by:
                    connect(home[self.whole.made_by[name]], group, name)
            group.wanted = [name for name in self.whole.writes[node] if name in self.outputs]

    def accepts(self, groups: Sequence[Group], step: Step) -> bool:
        """Offer a merge: say whether one kernel can compute the groups, and note the answer."""
        parts = tuple(self.whole.names(group.nodes) for group in groups)
        names = frozenset(name for part in parts for name in part)
        ways = {names, frozenset(map(self.whole.original, names))}
        answer = self._ask(groups) if ways.isdisjoint(self.policy.refuse) else _NOT_WANTED
        if not (ways.isdisjoint(self.policy.force) or isinstance(answer, Accepted)):
            answer = Accepted(scheduler="none")
        accepted = isinstance(answer, Accepted)
        round_ = self.round if step in ("rounds", "operand_sets") else 0
        self.trials.append(SetTrial(step=step, round=round_, parts=parts, answer=answer, merged=accepted))
        return accepted

    def name_scheduler(self, group: Group, *, without: Container[int] = ()) -> None:
        """Ask for the scheduler of a group; ``without`` are copies that it no longer needs."""
        answer = self._ask([group])
        parts = (self.whole.names(node for node in group.nodes if node not in without),)
        self.trials.append(SetTrial(step="type", round=0, parts=parts, answer=answer, merged=False))
        group.scheduler = answer.scheduler if isinstance(answer, Accepted) else "none"

    def _ask(self, groups: Sequence[Group]) -> Answer:
        """Ask the oracle, but for a set that breaks a hint: that is refused before (``tryingToMergeSegmenterSet``)."""
        candidate = self.candidate(groups)
        return _HINT if self._breaks_a_hint(candidate) else self.oracle.answer(candidate)

    def candidate(self, groups: Sequence[Group]) -> Candidate:
        """Return what the groups are as a fusion of their own.

        Source: ``getAllInputs``, ``getAllOutputs`` and ``allInputsIfTrueElseOutputs``.
        """
        given = [name for group in groups for name in group.given]
        wanted = [name for group in groups for name in group.wanted]
        if len(groups) > 2:
            inputs = [*(edge.value for edge in _entering(groups)), *given]
            outputs = [*(edge.value for edge in _leaving(groups)), *wanted]
        else:
            inputs = [*given, *(edge.value for edge in _entering_pair(groups))]
            outputs = [*wanted, *(edge.value for edge in _leaving(groups))]
        nodes = sorted({node for group in groups for node in group.nodes})
        return Candidate(tuple(nodes), tuple(dict.fromkeys(inputs)), tuple(dict.fromkeys(outputs)))

    def join_pair(self, one: Group, other: Group) -> Group:
        """Make one group of two. Source: ``mergeNodes``."""
        joined = self._joined([one, other])
        entering, leaving = _entering_pair([one, other]), _leaving([one, other])
        for edge in entering:
            connect(edge.source, joined, edge.value)
        for edge in leaving:
            connect(joined, edge.target, edge.value)
        self._replace([one, other], joined)
        return joined

    def join_set(self, groups: Sequence[Group]) -> Group:
        """Make one group of several. Source: ``mergeAllGivenGroups``."""
        joined = self._joined(groups)
        values: set[str] = set()
        for group in groups:
            for edge in tuple(group.from_edges):
                if edge.source not in groups and ("unique_edges" in self.version or edge.value not in values):
                    values.add(edge.value)
                    connect(edge.source, joined, edge.value)
            for edge in tuple(group.to_edges):
                if edge.target not in groups:
                    connect(joined, edge.target, edge.value)
        self._replace(groups, joined)
        return joined

    def _joined(self, groups: Sequence[Group]) -> Group:
        def each_once(lists: Iterable[list[str]]) -> list[str]:
            return list(dict.fromkeys(name for names in lists for name in names))

        nodes = dict.fromkeys(node for group in groups for node in group.nodes)
        return Group(
            list(nodes), each_once(group.given for group in groups), each_once(group.wanted for group in groups)
        )

    def _replace(self, groups: Sequence[Group], joined: Group) -> None:
        for group in groups:
            for edge in group.from_edges:
                edge.source.to_edges.remove(edge)
            group.from_edges = []
            for edge in group.to_edges:
                edge.target.from_edges.remove(edge)
            group.to_edges = []
        self.policy.place(self.groups, joined)
        self.groups = [group for group in self.groups if group not in groups]
        self.name_scheduler(joined)

    def _breaks_a_hint(self, candidate: Candidate) -> bool:
        inside = set(candidate.nodes)
        for node in candidate.nodes:
            if self.whole.exprs[node].kind == "segmenter_set":
                (output,) = self.whole.writes[node]
                if output not in candidate.outputs or not inside.isdisjoint(self.whole.read_by.get(output, ())):
                    return True
        return False


def connect(source: Group, target: Group, value: str) -> None:
    """Make an edge."""
    edge = Edge(source, target, value)
    source.to_edges.append(edge)
    target.from_edges.append(edge)


def _entering(groups: Sequence[Group]) -> list[Edge]:
    return [edge for group in groups for edge in group.from_edges if edge.source not in groups]


def _leaving(groups: Sequence[Group]) -> list[Edge]:
    return [edge for group in groups for edge in group.to_edges if edge.target not in groups]


def _entering_pair(groups: Sequence[Group]) -> list[Edge]:
    """Return the edges into one group or two; what both read comes once, over the edges of the second.

    Source: ``getMergedProducerEdges``.
    """
    again = {edge.value for edge in groups[1].from_edges} if len(groups) > 1 else set()
    edges = _entering(groups)
    return [edge for edge in edges if edge.target is not groups[0] or edge.value not in again]
