"""Which expressions of two fusions compute the same: first exactly, then by ever less."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from segscope.checks.structure import colours_of as exact_colours
from segscope.graph import Colours, refine
from segscope.model import Expr, SegmentedFusion

_COPIES: Final = frozenset({"set", "segmenter_set"})
_LEVELS: Final = (
    (True, _COPIES),
    (True, _COPIES | {"cast"}),
    (False, _COPIES | {"cast"}),
    (False, _COPIES | {"cast", "pad"}),
)
"""Whether shapes count, and the kinds that are passed through."""
_CROWD: Final = 32
"""A neighbour that more expressions of one kind share tells nothing of any of them."""

Fact = tuple[Hashable, ...]


class Unit(NamedTuple):
    """The same expression on both sides; one side is empty where the other has what nothing was found for.

    Several on a side compute the same value, or cannot be told apart.
    """

    before: tuple[Expr, ...]
    after: tuple[Expr, ...]


def match(before: SegmentedFusion, after: SegmentedFusion) -> list[Unit]:
    """Return every expression on tensors of both fusions, each in one unit, by their ids in the first.

    Stages follow each other, each for what those before it left over, and no numbering changes what any of them finds:

    1. the same computation, exactly: operations, shapes, constants, from the same inputs by position;
    2. the same operations on the same shapes, whatever the text of extents and constants; copies are passed through;
    3. the same with casts passed through too;
    4. the same operations on any shapes; then with pads passed through too, which passes of nvFuser move, as casts;
    5. the same operation beside what is already matched, where there is one such on each side.

    Expressions on scalars follow those that need them, and are left out but in groups that have nothing else.
    """
    one, other = _Side(before), _Side(after)
    pairs: list[tuple[list[int], list[int]]] = []

    def add(nodes: list[int], others: list[int]) -> None:
        one.unit |= dict.fromkeys(nodes, len(pairs))
        other.unit |= dict.fromkeys(others, len(pairs))
        pairs.append((nodes, others))

    for keys, other_keys in _stages(one, other):
        found, sought = one.unmatched(keys), other.unmatched(other_keys)
        for key, nodes in found.items():
            if key in sought:
                add(nodes, sought[key])
    while beside := _beside(one, other):
        for node, counterpart in beside:
            add([node], [counterpart])
    pairs += [([node], []) for node in one.left()] + [([], [node]) for node in other.left()]
    units = [Unit(one.exprs(nodes), other.exprs(others)) for nodes, others in pairs]
    return sorted(units, key=lambda unit: (not unit.before, [e.id for e in unit.before], [e.id for e in unit.after]))


def shared(units: Sequence[Unit]) -> Fraction:
    """Return the share of the expressions of both fusions that the other one has too, from 0 to 1."""
    sizes = [(len(unit.before) + len(unit.after), bool(unit.before and unit.after)) for unit in units]
    return Fraction(sum(size for size, both in sizes if both), sum(size for size, _ in sizes) or 1)


class _Side:
    """The expressions of one fusion that count; a node stands for all that compute the same value."""

    def __init__(self, fusion: SegmentedFusion) -> None:
        self.fusion = fusion
        counted = {expr.id for group in fusion.groups for expr in _counted(fusion.exprs_of(group))}
        nodes: dict[bytes, list[Expr]] = defaultdict(list)
        for expr, colour in zip(fusion.exprs, exact_colours(fusion)[1].above, strict=False):  # those of values follow
            if expr.id in counted:
                nodes[colour].append(expr)
        self.exact = list(nodes)
        self.nodes = list(nodes.values())
        self.first = [exprs[0] for exprs in self.nodes]
        self.unit: dict[int, int] = {}
        """The unit of each node that is matched."""
        self.maker = {name: node for node, exprs in enumerate(self.nodes) for expr in exprs for name in expr.outputs}
        self.given = {name: f"input {position}" for position, name in reversed(list(enumerate(fusion.inputs)))}

    def exprs(self, nodes: list[int]) -> tuple[Expr, ...]:
        return tuple(sorted((expr for node in nodes for expr in self.nodes[node]), key=lambda expr: expr.id))

    def left(self) -> list[int]:
        return [node for node in range(len(self.nodes)) if node not in self.unit]

    def unmatched(self, keys: Sequence[bytes]) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = defaultdict(list)
        for node in self.left():
            found[keys[node]].append(node)
        return found

    def colours(self, shaped: bool, passed: frozenset[str]) -> Colours:
        """Colour the nodes; what reads an expression of a kind in ``passed`` is taken to read what that one reads."""
        outside = dict.fromkeys(n for expr in self.first for n in expr.tensor_inputs if n not in self.maker)
        sources = self.maker | {name: node for node, name in enumerate(outside, len(self.nodes))}

        def source(name: str) -> int:
            seen = {name}
            while (node := sources[name]) < len(self.nodes) and self.first[node].kind in passed:
                behind = next(iter(self.first[node].tensor_inputs), name)
                if behind in seen:
                    break
                seen.add(name := behind)
            return node

        reads = [[source(name) for name in expr.tensor_inputs] for expr in self.first]
        labels = [self._shaped(expr) if shaped else expr.operation for expr in self.first]
        labels += [self.given.get(name, "value") for name in outside]
        return refine(labels, reads + [[] for _ in outside])

    def _shaped(self, expr: Expr) -> str:
        """Say what an expression does as far as every nvFuser prints it, whether extents are folded or not."""
        shapes = [str(self.fusion.tensors[name].shape) for name in expr.outputs if name in self.fusion.tensors]
        ranges = expr.attributes.get("ranges", ())
        starts = [each[0] for each in ranges if isinstance(each, tuple)] if isinstance(ranges, tuple) else []
        known = [start if isinstance(start, int) else "?" for start in starts]
        return f"{expr.operation} {shapes} {known} {expr.attributes.get('dim')} {expr.attributes.get('to')}"

    def facts(self) -> dict[tuple[str, Fact], list[int]]:
        """Return what tells the nodes that are left by what is matched beside them, by operation and fact."""
        users: dict[str, list[Fact]] = defaultdict(list)
        for node, unit in self.unit.items():
            for position, name in enumerate(self.first[node].tensor_inputs):
                users[name].append(("is read by", unit, position))
        for place, name in enumerate(self.fusion.outputs):
            users[name].append(("output", place))
        found: dict[tuple[str, Fact], list[int]] = defaultdict(list)
        for node in self.left():
            expr = self.first[node]
            made_by = (self.unit.get(self.maker.get(name, -1), self.given.get(name)) for name in expr.tensor_inputs)
            facts = {("reads", unit, position) for position, unit in enumerate(made_by) if unit is not None}
            for fact in facts.union(*(users[name] for name in expr.outputs if name in users)):
                found[expr.operation, fact].append(node)
        return found


def _counted(exprs: Sequence[Expr]) -> Sequence[Expr]:
    return [expr for expr in exprs if not expr.is_scalar] or exprs


def _stages(one: _Side, other: _Side) -> Iterator[tuple[Sequence[bytes], Sequence[bytes]]]:
    yield one.exact, other.exact
    for shaped, passed in _LEVELS:
        colours, other_colours = one.colours(shaped, passed), other.colours(shaped, passed)
        yield colours.around, other_colours.around
        yield colours.above, other_colours.above


def _beside(one: _Side, other: _Side) -> list[tuple[int, int]]:
    """Return the pairs of nodes that have more neighbours in common with each other than with any other node."""
    facts, other_facts = one.facts(), other.facts()
    common: Counter[tuple[int, int]] = Counter()
    for fact, nodes in facts.items():
        counterparts = other_facts.get(fact, [])
        if len(nodes) <= _CROWD and len(counterparts) <= _CROWD:
            common.update((node, counterpart) for node in nodes for counterpart in counterparts)
    best: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for pair, number in common.items():
        for end in enumerate(pair):
            kept = best.setdefault(end, [])
            if not kept or number > common[kept[0]]:
                kept[:] = [pair]
            elif number == common[kept[0]]:
                kept.append(pair)
    return sorted(pair for pair in common if best[0, pair[0]] == best[1, pair[1]] == [pair])
