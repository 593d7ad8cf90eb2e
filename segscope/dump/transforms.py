"""The transform block of a fusion: lines to records (docs/dump-format.md 1.4)."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from segscope.dump.extents import constant
from segscope.dump.scan import UnbalancedError, split
from segscope.dump.values import Tensors, iter_domain, iter_domains
from segscope.model import IterDomain

Record = dict[str, Any]

_DOMAIN = re.compile(r"(root|logical|rfactor|allocation|loop|leaf|alternate loop) domain ?: \((.*)\)")
_TODAY = {"rfactor": "logical", "leaf": "loop"}
_CONTIGUITY = re.compile(r"contiguity:((?: [tfn])*)")
_CONTIGUOUS = {"t": True, "f": False, "n": None}
_KINDS = {
    "Split": "split",
    "Outer split": "split",
    "Merge": "merge",
    "Resize": "resize",
    "Swizzle1D": "swizzle",
    "NoSwizzle(2D)": "swizzle",
    "Xor(2D)": "swizzle",
    "CyclicShift(2D)": "swizzle",
    "ZShape(2D)": "swizzle",
    "Transpose(2D)": "swizzle",
    "Scatter(2D)": "swizzle",
    "Partition": "partition",
    "Combine": "combine",
}
_BETWEEN_INPUTS = {"merge": " and ", "swizzle": " , ", "combine": " + "}


def parse(lines: Iterable[str], tensors: Tensors) -> list[Record]:
    """Read the lines between ``TransformPrinter :`` and the end of the kernel.

    A step whose operator is not known is kept as text. Raises UnbalancedError where a line is no part of the block, or
    a tensor has no domain.
    """
    blocks: list[_Block] = []
    for line in lines:
        if not line or line.isspace():
            continue
        if not line.startswith(" "):
            blocks.append(_Block(tensors.abbreviate(line).strip(), tensors))
        elif blocks:
            blocks[-1].read(line.strip())
        else:
            raise UnbalancedError(f"transforms of no tensor: {line.strip()[:80]!r}")
    return [block.record() for block in blocks]


class _Block:
    """The lines of one tensor."""

    def __init__(self, name: str, tensors: Tensors) -> None:
        if name not in tensors.records:
            raise UnbalancedError(f"not a tensor: {name[:80]!r}")
        self._name = name
        self._tensors = tensors
        self._ids: dict[int, IterDomain] = {}
        self._domains = {"loop": self._numbers(tensors.records[name]["domain"])}
        self._contiguity: list[bool | None] = []
        self._exprs: dict[str, Record] = {}

    def read(self, line: str) -> None:
        """Take a line, its indentation removed."""
        if match := _DOMAIN.fullmatch(line):
            name, ids = match.groups()
            self._domains[_TODAY.get(name, name)] = self._numbers(iter_domains(ids))
        elif match := _CONTIGUITY.fullmatch(line):
            self._contiguity = [_CONTIGUOUS[letter] for letter in match.group(1).split()]
        elif line not in self._exprs:
            self._exprs[line] = self._expr(line)

    def record(self) -> Record:
        """Return what was read. Until May 2024 the root domain was printed alone where it is the logical one too."""
        root, logical = self._domains.get("root"), self._domains.get("logical")
        if logical is None:
            root, logical = None, root
        if logical is None:
            raise UnbalancedError(f"neither a logical nor a root domain of {self._name}")
        return {
            "tensor": self._name,
            "ids": list(self._ids.values()),
            "root": root,
            "logical": logical,
            "allocation": self._domains.get("allocation"),
            "contiguity": self._contiguity,
            "loop": self._domains["loop"],
            "alternate_loop": self._domains.get("alternate loop"),
            "exprs": list(self._exprs.values()),
        }

    def _numbers(self, ids: Iterable[IterDomain]) -> list[int]:
        numbers = []
        for dim in ids:
            self._ids.setdefault(dim.number, dim)
            numbers.append(dim.number)
        return numbers

    def _expr(self, line: str) -> Record:
        op, sources, targets, attributes = _step(self._tensors.abbreviate(line) if "_" in line else line)
        kind = _KINDS.get(op, "unknown")
        if kind == "unknown":
            sources, targets = [], []
        return {
            "kind": kind,
            "op": op,
            "inputs": self._numbers(map(iter_domain, sources)),
            "outputs": self._numbers(map(iter_domain, targets)),
            "attributes": attributes,
            "text": line,
        }


@lru_cache(maxsize=8192)
def _step(line: str) -> tuple[str, list[str], list[str], Record]:
    """Return operator, inputs, outputs and attributes of ``Split: iS1{8} by factor 4 -> iS2{2}, iS3{4}``."""
    target, swizzle, source = line.partition(" = Swizzle1D(")
    if swizzle:
        source, _, parallel_type = source.removesuffix(")").rpartition(", parallelType=")
        return "Swizzle1D", [source], [target], {"parallel_type": parallel_type}
    op, _, step = line.replace("component: ", "").replace("ragged: ", "").partition(": ")
    source, _, target = step.partition(" -> ")
    source, _, amount = source.partition(" by ")
    outputs, attributes = [], _amounts(op, amount)
    for part in map(str.strip, split(target, ",")):
        label, colon, offset = part.partition(" offset: ")
        if colon:
            attributes[f"{label} offset"] = _constant(offset)
        else:
            outputs.append(part)
    separator = _BETWEEN_INPUTS.get(_KINDS.get(op, ""))
    return op, split(source, separator) if separator else [source], outputs, attributes


def _amounts(op: str, text: str) -> Record:
    """Read what stands behind ``by``."""
    if op == "Resize":
        left, _, right = text.partition(" and ")
        return {"left": _constant(left), "right": _constant(right)}
    name, _, value = text.partition(" ")
    return {name: _constant(value)} if name else {}


def _constant(text: str) -> int | str:
    value = constant(text)
    return text if value is None else value
