"""Brings torch 2.4.0's Inductor to its state of July 2024, when lightning-thunder#711 was reported.

The nightly builds of torch that the report was made with had one change that torch 2.4.0 lacks, and lacked one that
came before torch 2.5: ``pointwise_cat`` (torch/_inductor/lowering.py) hides the index of each operand from sympy
(PyTorch PR 127815), and the decomposition of cat does not yet drop operands without elements (PR 130763).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sympy
import torch
from torch._inductor import decomposition, lowering
from torch._inductor.codegen.common import ExprPrinter
from torch.utils._sympy.interp import handlers
from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis

NAME = "july-2024"


class Opaque(sympy.Function):
    """An index that sympy does not multiply out: equal to its argument, and an expression of another form."""

    def _eval_is_integer(self) -> Any:
        return self.args[0].is_integer

    def _eval_is_real(self) -> Any:
        return self.args[0].is_real


class OpaquelyIndexed:
    """An operand of a cat whose index along ``dim`` is opaque."""

    def __init__(self, operand: Any, dim: int) -> None:
        self.operand = operand
        self.dim = dim

    def __getattr__(self, name: str) -> Any:
        return getattr(self.operand, name)

    def make_loader(self) -> Callable[[Any], Any]:
        """Return the operand's loader, behind one that wraps the index."""
        load = self.operand.make_loader()

        def wrapped(index: Any) -> Any:
            return load([Opaque(place) if dim == self.dim else place for dim, place in enumerate(index)])

        return wrapped


PLAIN_CAT = lowering.pointwise_cat


def opaque_cat(operands: list[Any], dim: int = 0) -> Any:
    """Lower a cat as Inductor does, with opaque indices."""
    return PLAIN_CAT([OpaquelyIndexed(operand, dim) for operand in operands], dim)


def install() -> None:
    """Change Inductor in this process."""
    lowering.pointwise_cat = opaque_cat
    ExprPrinter._print_Opaque = lambda self, index: self.paren(self.doprint(index.args[0]))
    handlers()[Opaque] = "opaque"
    SymPyValueRangeAnalysis.opaque = staticmethod(lambda value: value)


def installed() -> bool:
    """Say whether this process has the Inductor of July 2024."""
    return lowering.pointwise_cat is opaque_cat


@contextmanager
def without_opaque_index() -> Iterator[None]:
    """Give Inductor its plain ``pointwise_cat`` back, for a while."""
    lowering.pointwise_cat = PLAIN_CAT
    try:
        yield
    finally:
        lowering.pointwise_cat = opaque_cat


@contextmanager
def with_new_cat() -> Iterator[None]:
    """Let the decomposition of cat drop operands without elements, for a while."""
    cat = torch.ops.aten.cat.default
    before = decomposition.decompositions[cat]

    def new_cat(operands: list[torch.Tensor], dim: int = 0) -> Any:
        full = [operand for operand in operands if operand.numel()] or operands[:1]
        if len(full) < len(operands):
            return full[0].clone() if len(full) == 1 else cat(full, dim)
        return before(operands, dim)

    decomposition.decompositions[cat] = new_cat
    decomposition.fast_random_decomps.cache_clear()
    try:
        yield
    finally:
        decomposition.decompositions[cat] = before
        decomposition.fast_random_decomps.cache_clear()
