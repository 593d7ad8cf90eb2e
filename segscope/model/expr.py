"""Expressions: what one group computes, statement by statement."""

from __future__ import annotations

from segscope.model.base import Model
from segscope.model.vocabulary import METADATA_KINDS

Constant = bool | int | str
Attribute = Constant | tuple[Constant, ...] | tuple[tuple[Constant, ...], ...]


class Expr(Model):
    """One statement of a group, such as ``T18 = cat( T16, T17, 3 )``."""

    id: int
    """The number in parentheses below the statement (``Expr::name()``); one id may be in several groups."""
    kind: str
    """What it does: ``slice``, ``pad``, ``cat``, ``reshape``, ``permute``, ``cast``, ``unary``, ``binary``, ...

    ``unknown`` if the operator is not known: then ``text`` is what there is."""
    op: str
    """The operator as printed: ``Set.Permute``, ``__bfloat2float``, ``*``."""
    outputs: tuple[str, ...]
    """Names of the values that it defines: tensors ``T18`` or scalars ``i21``."""
    inputs: tuple[str, ...]
    """Names of the values that it reads, in the order printed; constants are not among them."""
    attributes: dict[str, Attribute]
    """What else is printed: ``ranges`` of a slice (start, stop, step for each dimension), ``widths`` of a pad (left and
    right for each dimension), ``dim`` of a cat, ``flags`` of a broadcast or squeeze, ``op`` of a reduction, ..."""
    text: str
    """The statement as printed, line breaks included."""

    @property
    def tensor_outputs(self) -> tuple[str, ...]:
        """Names of the tensors among the outputs."""
        return tuple(name for name in self.outputs if name.startswith("T"))

    @property
    def tensor_inputs(self) -> tuple[str, ...]:
        """Names of the tensors among the inputs."""
        return tuple(name for name in self.inputs if name.startswith("T"))

    @property
    def is_scalar(self) -> bool:
        """Whether it computes scalars (extents, indices) only."""
        return not self.tensor_outputs

    @property
    def is_metadata(self) -> bool:
        """Whether it moves no data when evaluated alone: its output is a view of its input."""
        return self.kind in METADATA_KINDS
