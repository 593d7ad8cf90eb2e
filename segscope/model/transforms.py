"""How a tensor's domains come from each other, as nvFuser's transform printer shows them."""

from __future__ import annotations

from functools import cached_property

from segscope.model.base import Model
from segscope.model.expr import Attribute
from segscope.model.tensor import IterDomain


class IdExpr(Model):
    """One step between iter domains: ``Resize: iS34{3}rf by -2 and 0 -> bS35{1}rf``."""

    kind: str
    """``split``, ``merge``, ``resize``, ``swizzle``, ``partition``, ``combine``; ``unknown`` if the operator is not
    known: then ``text`` is what there is."""
    op: str
    """The operator as printed: ``Outer split``, ``Xor(2D)``."""
    inputs: tuple[int, ...]
    """Numbers of the iter domains that it takes, in the order printed."""
    outputs: tuple[int, ...]
    """Numbers of the iter domains that it makes, in the order printed."""
    attributes: dict[str, Attribute]
    """What else is printed: ``factor`` of a split; ``left`` and ``right`` of a resize, the elements added on each side
    (negative where elements are cut off); ``extents`` of a partition. An integer where it is constant, else text."""
    text: str
    """The step as printed."""


class TensorTransforms(Model):
    """The domains of one tensor, each a tuple of iter domain numbers, outermost first.

    Source: ``IrTransformPrinter::printTransforms`` in csrc/ir/printer.cpp.
    """

    tensor: str
    """Name of the tensor."""
    ids: tuple[IterDomain, ...]
    """Every iter domain that is named here, in order of first mention."""
    root: tuple[int, ...] | None
    """The domain before reshapes, resizes and permutes; None where the logical domain is the root."""
    logical: tuple[int, ...]
    """The domain that the user sees (printed ``rfactor domain`` until June 2024)."""
    allocation: tuple[int, ...] | None
    """The order in memory; None where it is that of the logical domain."""
    contiguity: tuple[bool | None, ...]
    """Of the allocation domain, dimension by dimension; None for a broadcast or a reduction."""
    loop: tuple[int, ...]
    """The domain of the loops that compute it (printed ``leaf domain`` until June 2024)."""
    alternate_loop: tuple[int, ...] | None
    """Another domain of loops, where one is printed."""
    exprs: tuple[IdExpr, ...]
    """The steps between the domains, each once, in the order printed."""

    @cached_property
    def _ids_by_number(self) -> dict[int, IterDomain]:
        return {dim.number: dim for dim in self.ids}

    def iter_domain(self, number: int) -> IterDomain:
        """Return the iter domain of a number; KeyError where it is not one of this tensor's."""
        return self._ids_by_number[number]

    @property
    def permutation(self) -> tuple[int, ...] | None:
        """For each logical dimension its position in the root domain, None where it is not a mere permutation."""
        if self.root is None or sorted(self.root) != sorted(self.logical):
            return None
        return tuple(map(self.root.index, self.logical))
