"""Expressions: what one group computes, statement by statement."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr

from segscope.model.base import Model
from segscope.vocabulary import METADATA_KINDS, operation

# Each value is of the first type that it is exactly: pydantic need not weigh one union member against the others.
_FIRST = Field(union_mode="left_to_right")
Constant = Annotated[StrictBool | StrictInt | StrictStr, _FIRST]
Attribute = Annotated[
    StrictBool | StrictInt | StrictStr | tuple[Constant, ...] | tuple[tuple[Constant, ...], ...], _FIRST
]


class Expr(Model):
    """One statement of a group, such as ``T18 = cat( T16, T17, 3 )``."""

    id: int
    """The number in parentheses below the statement (``Expr::name()``); one id may be in several groups."""
    kind: str
    """What it does.

    * one value for each element: ``unary``, ``binary``, ``ternary``, ``cast``;
    * shape and place: ``reshape``, ``permute``, ``set``, ``segmenter_set``, ``broadcast``, ``squeeze``, ``expand``,
      ``repeat``, ``slice``, ``pad``, ``cat``, ``shift``, ``window_gather``, ``view_as_scalar``, ``load_store``;
    * reductions: ``reduction``, ``grouped_reduction``, ``welford``, ``grouped_welford``, ``scan``;
    * tensors from nothing: ``full``, ``iota``, ``eye``, ``rng``, ``tensor_construct``;
    * indexing: ``select``, ``index_select``, ``gather``, ``scatter``, ``index_put``, ``embedding``, ``argsort``,
      ``topk``;
    * products: ``matmul``, ``linear``, ``mma``, ``grouped_matmul``, ``scaled_matmul``, ``sdpa`` (forward and backward),
      ``preprocess_scales``, ``block_quantize``;
    * structures of scalars: ``get_metadata``, ``get_attribute``, ``get_item``, ``construct``, ``reverse_array``;
    * several devices or kernels: ``communication``, ``moe_dispatch``, ``moe_combine``, ``grid_dependency``.

    ``unknown`` if the operator is not known: then ``text`` is what there is."""
    op: str
    """The operator as printed: ``Set.Permute``, ``__bfloat2float``, ``*``."""
    outputs: tuple[str, ...]
    """Names of the values that it defines: tensors ``T18`` or scalars ``i21``."""
    inputs: tuple[str, ...]
    """Names of the values that it reads, in the order printed; constants are not among them."""
    attributes: dict[str, Attribute]
    """What else is printed. What has a name there keeps it (``op`` and ``initial value`` of a reduction, ``flags`` of a
    broadcast, ``is_causal``, ...; ``in`` of a scatter was ``self`` until August 2025). The others are:

    * cast: ``from`` and ``to``, in the words of the operators (``bfloat``, ``int64``); ``real`` where only the real
      part is kept; ``from`` is absent where neither the operator nor a dtype tells;
    * slice: ``ranges``, (start, stop, step) for each dimension; pad: ``widths``, left and right for each dimension,
      outermost first; cat: ``dim``; expand until August 2025: ``sizes``; shift: ``offsets``, ``pads``; window_gather:
      ``window``, ``pads``; view_as_scalar: ``vector_id``;
    * welford: ``avg``, ``var``, ``count``, the outputs in these roles; ``initial value`` holds the same three;
    * grouped reductions: for each member of the group one ``op`` and ``initial value``, or one of each role;
    * full: ``sizes``, ``value``; iota: ``length``, ``start``, ``step``, ``dtype``; eye: ``size``, ``dtype``; rng:
      ``sizes``, ``dtype``, ``parameters`` (bounds, or mean and deviation), ``seed`` and ``offset`` where printed;
    * linear: ``bias``; topk: ``k``; block_quantize: ``scale`` and ``quantized``, the outputs in these roles;
    * get_attribute: ``attribute``; get_item: ``index``.

    Integers and truth values are read, anything else is text: the name of a value, ``float(-inf)``."""
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
    def operation(self) -> str:
        """The word for what it does: its kind, or ``add``, ``neg``, ``rsqrtf``, ... where the operator says more."""
        return operation(self.kind, self.op)

    @property
    def is_scalar(self) -> bool:
        """Whether it computes scalars (extents, indices) only."""
        return not self.tensor_outputs

    @property
    def is_metadata(self) -> bool:
        """Whether it moves no data when evaluated alone: its output is a view of its input."""
        return self.kind in METADATA_KINDS
