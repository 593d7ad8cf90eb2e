"""Which dimensions are the same within a set of expressions.

Source: ``ComputeAtMap`` in csrc/compute_at_map.cpp, whose exact mapping keeps broadcasts apart from what they are
broadcast to, and whose permissive mapping does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from segscope.segmenter.oracle import Candidate
from segscope.segmenter.oracles.rules.dims import Dims, Step
from segscope.segmenter.whole import Whole


class Classes:
    """Classes of dimensions; each is named by one of its members."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, dim: int) -> int:
        """Return the class of a dimension."""
        parent = self._parent
        while (above := parent.get(dim, dim)) != dim:
            parent[dim] = dim = parent.get(above, above)
        return dim

    def join(self, one: int, other: int) -> None:
        """Make one class of two."""
        one, other = self.find(one), self.find(other)
        if one != other:
            self._parent[one] = other


class SetOfExprs:
    """A candidate, with what several rules ask of it."""

    def __init__(self, whole: Whole, dims: Dims, candidate: Candidate) -> None:
        self.whole = whole
        self.dims = dims
        self.nodes = candidate.nodes
        read = {name for node in candidate.nodes for name in whole.reads[node]}
        self.inputs = tuple(name for name in candidate.inputs if name in read)
        self.outputs = tuple(name for name in candidate.outputs if name not in candidate.inputs)
        self.all_outputs = candidate.outputs

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its expressions."""
        return frozenset(self.whole.exprs[node].kind for node in self.nodes)

    @property
    def steps(self) -> list[Step]:
        """What its expressions do to dimensions, in order."""
        return [self.dims.steps[node] for node in self.nodes]

    @cached_property
    def exact(self) -> Classes:
        """Dimensions that are the same, broadcasts apart from others."""
        found = Classes()
        for step in self.steps:
            for before, after in step.pairs:
                if self.dims.is_broadcast(before) == self.dims.is_broadcast(after):
                    found.join(before, after)
        return found

    @cached_property
    def permissive(self) -> Classes:
        """Dimensions that are the same, broadcasts together with what they are broadcast to."""
        found = Classes()
        for step in self.steps:
            for before, after in step.pairs:
                found.join(before, after)
        return found

    @cached_property
    def made_from(self) -> dict[int, set[int]]:
        """For exact classes that a resize, a reshape or a look-up makes, those that it makes them from."""
        found: dict[int, set[int]] = {}
        for step in self.steps:
            for before, after in (*step.resized, *step.picked):
                found.setdefault(self.exact.find(after), set()).add(self.exact.find(before))
            taken, made = step.reshaped
            for after in made:
                found.setdefault(self.exact.find(after), set()).update(map(self.exact.find, taken))
        return found

    @cached_property
    def concrete(self) -> dict[int, int]:
        """For permissive classes that have elements, the exact class of a dimension that does."""
        found: dict[int, int] = {}
        for name in (*self.whole.names(self.nodes), *self.inputs):
            for dim in self.dims.of(name):
                if self.dims.all[dim].kind not in "br":
                    found.setdefault(self.permissive.find(dim), self.exact.find(dim))
        return found

    def behind(self, name: str) -> set[int]:
        """Return the exact classes of a tensor, and all that these are made from."""
        return self.behind_all(self.exact.find(dim) for dim in self.dims.of(name))

    def sources(self, classes: Iterable[int]) -> set[int]:
        """Return what exact classes are made from in the end, themselves where they are made from nothing."""
        return {found for found in self.behind_all(classes) if found not in self.made_from}

    def behind_all(self, classes: Iterable[int]) -> set[int]:
        """Return exact classes, and all that these are made from."""
        seen: set[int] = set()
        left = list(classes)
        while left:
            found = left.pop()
            if found not in seen:
                seen.add(found)
                left += self.made_from.get(found, ())
        return seen
