"""What a dump tells of its values: extents and scalars as numbers, dtypes, layouts."""

from __future__ import annotations

import re
from typing import Final

from segscope.dump.casts import word
from segscope.dump.extents import constant
from segscope.explain.program import Layout, RebuildError, Scalar
from segscope.model import IterDomain, SegmentedFusion
from segscope.vocabulary import METADATA_KINDS

_SAME_DTYPE: Final = METADATA_KINDS | {"unary", "binary", "pad", "cat", "reduction"}
_TRUTH: Final = frozenset("== != >= <= > < ! isfinite isinf isnan isneginf isposinf isreal signbit".split())
_SCALAR: Final = re.compile(r"\b[idfbc]\d+\b")
_NUMBER: Final = re.compile(r"(?:([\w:<>]+)\()?(-?[\w.+-]+)\)?")


class Known:
    """The values of one fusion. Every method raises RebuildError where the dump does not tell."""

    def __init__(self, fusion: SegmentedFusion) -> None:
        self.transforms = {found.tensor: found for found in fusion.transforms}
        self._tensors = fusion.tensors
        self._makers = {name: expr for expr in fusion.exprs for name in expr.outputs}
        self._open: set[str] = set()
        """Scalars that are being evaluated."""

    def dims(self, name: str, *, reduced: bool = False) -> tuple[IterDomain, ...]:
        """Return the dimensions of a tensor, the reduced ones among them only where asked for."""
        if name not in self._tensors:
            raise RebuildError(f"{name}: the dump does not tell what it is")
        return tuple(dim for dim in self._tensors[name].domain if reduced or dim.iter_type != "r")

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the extents of a tensor in elements, expanded where expanded, without reduced dimensions."""
        return tuple(
            self.number(dim.extent if dim.expanded_extent is None else dim.expanded_extent, name)
            for dim in self.dims(name)
        )

    def dtype(self, name: str) -> str:
        """Return the dtype in the words of the casts: the printed one, or what follows from the tensor's maker.

        Dumps from before September 2024 print the dtype of inputs and outputs only.
        """
        at, seen = name, set[str]()
        while at in self._tensors and at not in seen:
            seen.add(at)
            printed, maker = self._tensors[at].dtype, self._makers.get(at)
            if printed is not None:
                return word(printed)
            if maker is None:
                break
            if maker.kind == "cast":
                return str(maker.attributes["to"])
            if maker.kind == "full":
                return self.scalar(str(maker.attributes["value"]), at).dtype
            if maker.op in _TRUTH:
                return "bool"
            if maker.kind not in _SAME_DTYPE or not maker.tensor_inputs:
                break
            at = maker.tensor_inputs[0]
        raise RebuildError(f"{name}: its dtype is not known")

    def layout(self, name: str) -> Layout:
        """Return how a tensor lies in memory; row by row where the dump does not tell (before February 2026)."""
        dims, found = self.dims(name), self.transforms.get(name)
        if found is None:
            contiguity = tuple(None if dim.iter_type == "b" else True for dim in dims)
            return Layout(order=tuple(range(len(dims))), contiguity=contiguity)
        logical = [number for number in found.logical if found.iter_domain(number).iter_type != "r"]
        allocated = found.allocation or found.logical
        stored = zip(allocated, found.contiguity, strict=False)
        kept = {number: flag for number, flag in stored if found.iter_domain(number).iter_type != "r"}
        fits = len(allocated) == len(found.contiguity) and len(logical) == len(dims)
        if not fits or sorted(kept) != sorted(logical):
            raise RebuildError(f"{name}: its allocation domain is no order of its dimensions")
        return Layout(order=tuple(map(logical.index, kept)), contiguity=tuple(kept.values()))

    def number(self, value: object, name: str) -> int:
        """Evaluate an integer in a statement of ``name``: itself, a scalar, or an expression of scalars."""
        if isinstance(value, int):
            return value
        text = _SCALAR.sub(lambda scalar: f"({self._scalar(scalar.group(), name)})", str(value))
        found = constant(text)
        if found is None:
            raise RebuildError(f"{name}: {text} is no constant integer")
        return found

    def numbers(self, values: object, name: str) -> tuple[int, ...]:
        """Evaluate integers."""
        assert isinstance(values, tuple)
        return tuple(self.number(value, name) for value in values)

    def scalar(self, text: str, name: str) -> Scalar:
        """Read an operand of ``name`` that is a number: ``double(3)``, or the name of an integer."""
        if _SCALAR.fullmatch(text):
            return Scalar(scalar=str(self.number(text, name)), dtype="int64")
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise RebuildError(f"{name}: the operand {text} is not a number")
        dtype, digits = match.groups()
        return Scalar(scalar=digits, dtype=word(dtype) if dtype else "double" if "." in digits else "int64")

    def _scalar(self, scalar: str, name: str) -> int:
        maker = self._makers.get(scalar)
        if maker is None:
            raise RebuildError(f"{name}: the value of {scalar} is not in the dump")
        if scalar in self._open:
            raise RebuildError(f"{name}: {scalar} is defined by itself")
        self._open.add(scalar)
        try:
            return self.number(maker.text.partition("=")[2].strip().rstrip(";"), name)
        finally:
            self._open.remove(scalar)
