"""Tensors and their iter domains, as nvFuser prints them."""

from __future__ import annotations

import re

from segscope.model.base import Model


class IterDomain(Model):
    """One dimension of a tensor: ``iS46{2}``, ``bS90{1 ex 2}``, ``iS59{( 128 - 64 )}rf``.

    Source: ``IterDomain::toString`` in csrc/ir/nodes.cpp.
    """

    iter_type: str
    """``i`` iteration, ``r`` reduction, ``b`` broadcast, ``s`` stride, ``n`` gather-scatter, ``v`` vector component,
    ``?`` symbolic."""
    parallel_type: str
    """``S`` serial, ``V`` vectorize, ``blockIdx.x``, ``deviceIdx.x``, ..."""
    number: int
    """The number in the printed name, unique within a fusion."""
    extent: str
    """The extent as printed: a number, a scalar's name, or an expression in parentheses. For a ragged dimension the
    tensor that holds the extents."""
    size: int | None
    """The extent in elements where it is constant."""
    expanded_extent: str | None = None
    """``2`` in ``bS90{1 ex 2}``: a broadcast dimension that is read as if it had this extent. Dumps from before
    4 January 2024 print ``bS90{2}``, the expanded extent alone: that stands in ``extent``."""
    expanded_size: int | None = None
    """The expanded extent in elements where it is constant."""
    start: str | None = None
    """The first index where it is not 0. Where only two numbers are printed (``iS9{1 : 7}``), the first may as well be
    a stop that is not the extent: nvFuser prints both alike."""
    stop: str | None = None
    """The index after the last one, where it is not the extent and a start is printed too."""
    rfactor: bool = False
    """Made by a reshape or a resize (printed ``rf``)."""
    padded: bool = False
    """Padded to a multiple of the warp size (printed ``_p``)."""
    clustered: bool = False
    """Clustered blocks (printed ``_c``)."""
    ragged: bool = False
    """Its extent differs from one component to the next: ``iS1Ragged{extents=...}``."""

    @property
    def read_size(self) -> int | None:
        """Elements that a reader sees along it, expanded where expanded; None where symbolic."""
        return self.size if self.expanded_extent is None else self.expanded_size

    @property
    def stored_size(self) -> int | None:
        """Elements in the memory of a device along it; 1 for every broadcast, and for what is spread over devices."""
        return 1 if self.iter_type == "b" or self.parallel_type.startswith("deviceIdx") else self.size


class Tensor(Model):
    """A tensor of the fusion: ``T12_g___bfloat[iS1{4}, bS2{1}]``.

    Source: ``TensorView::toString`` in csrc/ir/nodes.cpp.
    """

    name: str
    """``T12``; the only stable key, the rest is repeated at every mention."""
    memory: str
    """``g`` global, ``l`` local (registers), ``s`` shared, ``t`` tensor memory, ``sym`` symmetric. After segmentation
    ``g`` says nothing about boundaries: trial merges leave it behind."""
    dtype: str | None
    """``__bfloat``, ``float``, ``int64_t``, ...; None where a dump from before September 2024 mentions it nowhere."""
    domain: tuple[IterDomain, ...]
    """The loop domain, outermost first; empty for a zero-dimensional tensor."""
    ca_pos: int = 0
    """How many of its loops its consumers are computed in; 0 before scheduling."""
    compute_with: int = 0
    """How many of its loops it is computed with its consumers in; 0 before scheduling."""
    compute_with_consumers: tuple[str, ...] = ()
    """Names of the tensors that it is computed with."""
    produce_pos: int = 0
    """How many of its loops its producers are computed in; 0 before scheduling."""
    maybe_produce_pos: int = 0
    """The same with ``compute_with`` taken into account, where that is more."""
    mesh: str | None = None
    """The devices that it is spread over, as printed: ``{0 1}``, ``{{0 1}{2 3}}``."""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Extents in elements (expanded where expanded), None where symbolic; reduction dimensions are left out."""
        return tuple(dim.read_size for dim in self.domain if dim.iter_type != "r")

    @property
    def devices(self) -> tuple[int, ...]:
        """The devices of the mesh, row by row; empty for a tensor that is not distributed."""
        return tuple(map(int, re.findall(r"\d+", self.mesh or "")))

    @property
    def stored_bytes(self) -> int | None:
        """Bytes in a device's memory, an expanded dimension counted once; None where an extent or dtype is unknown.

        An extent below 0, which the dump of a broken fusion may give, is unknown.
        """
        total = DTYPE_BYTES.get(self.dtype or "")
        for dim in self.domain:
            if dim.iter_type != "r":
                size = dim.stored_size
                total = None if total is None or size is None or size < 0 else total * size
        return total


DTYPE_BYTES = {
    "bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "__e4m3": 1,
    "__e5m2": 1,
    "__e8m0": 1,
    "__half": 2,
    "__bfloat": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "float": 4,
    "int": 4,
    "uint32_t": 4,
    "double": 8,
    "int64_t": 8,
    "uint64_t": 8,
    "nvfuser_index_t": 8,
    "std::complex<float>": 8,
    "std::complex<double>": 16,
}
"""Bytes an element of the dtypes that nvFuser prints (csrc/type.cpp); the sub-byte ones are left out."""
