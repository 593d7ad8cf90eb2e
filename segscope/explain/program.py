"""A group as a program of nvFuser's Python API; plain enough to go to a toolchain as JSON."""

from __future__ import annotations

from segscope.errors import SegscopeError
from segscope.model.base import Model


class RebuildError(SegscopeError):
    """A group cannot be rebuilt; says which statement, and why."""


class Value(Model):
    """A tensor as an argument."""

    value: str
    """Its name."""


class Scalar(Model):
    """A number as an argument."""

    scalar: str
    """As printed: ``3``, ``-inf``, ``true``."""
    dtype: str
    """In the words of the cast operators: ``float``, ``int64``."""


class Dtype(Model):
    """A dtype as an argument."""

    dtype: str
    """In the words of the cast operators."""


Argument = bool | int | tuple[bool, ...] | tuple[int, ...] | Value | tuple[Value, ...] | Scalar | Dtype


class Call(Model):
    """``output = fd.ops.function(*arguments)``."""

    output: str
    function: str
    arguments: tuple[Argument, ...]


class Layout(Model):
    """The allocation domain of a tensor."""

    order: tuple[int, ...]
    """Its dimensions as they lie in memory, outermost first."""
    contiguity: tuple[bool | None, ...]
    """Of the dimensions in that order; None for a broadcast."""

    @property
    def is_row_major(self) -> bool:
        """Whether it is what a tensor has of which nothing is said."""
        return list(self.order) == sorted(self.order) and False not in self.contiguity


class Input(Model):
    """A tensor that the group reads."""

    name: str
    shape: tuple[int, ...]
    """Elements, expanded where expanded."""
    layout: Layout
    strides: tuple[int, ...]
    """Elements; those of a tensor with this layout."""
    dtype: str
    """In the words of the cast operators."""


class Program(Model):
    """What one FusionDefinition defines."""

    inputs: tuple[Input, ...]
    calls: tuple[Call, ...]
    """In an order in which each operand is there before it is used."""
    outputs: tuple[str, ...]
    """Names of the tensors that are written."""
    empty: tuple[str, ...]
    """Operands of a cat that have no elements: nvFuser's Python API drops them."""
    layouts: dict[str, Layout]
    """Of the tensors that the calls make: those that are not row-major."""
