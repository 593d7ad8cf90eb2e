"""A fusion back to the text that nvFuser printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from segscope.dump.blocks import SEGMENTS, SEGMENTS_END
from segscope.dump.eras import ERAS
from segscope.dump.text import tensor_text
from segscope.model import Edge, Group, SegmentedFusion

_ORDER: Final = tuple(ERAS)


def segments_text(fusion: SegmentedFusion) -> str:
    """Return the ``fusion segments`` block of a whole fusion, byte for byte as nvFuser of its era printed it.

    From the heading to the line that ends the block. Days that an era's own table does not tell apart
    (docs/dump-format.md 2.1) are printed as the era ended: the indented lists of 19 August 2024, ``no_op`` since 9
    November 2023.
    """
    return "\n".join(_Writer(fusion).lines()) + "\n"


class _Writer:
    def __init__(self, fusion: SegmentedFusion) -> None:
        self._fusion = fusion
        self._era = _ORDER.index(fusion.era)

    def _since(self, era: str) -> bool:
        return self._era >= _ORDER.index(era)

    def lines(self) -> Iterator[str]:
        yield from (SEGMENTS, "Segmented_Fusion{ ", "groups: ")
        for group in self._fusion.groups:
            yield from self._listed(self._reference(group))
        yield "edges: "
        for edge in self._fusion.edges:
            yield from self._edge(edge)
        yield from ("", "group details:")
        for group in self._fusion.groups:
            yield from self._group(group)
        yield SEGMENTS_END

    def _listed(self, text: str) -> Iterator[str]:
        if self._since("E5"):
            yield f"  {text}"
        else:
            yield from (text, "")

    def _reference(self, group: Group) -> str:
        ids = ", ".join(map(str, sorted(group.expr_ids)))
        return f"{self._scheduler(group) if self._since('E5') else 'g'}{{{ids}}}"

    def _scheduler(self, group: Group) -> str:
        return "no-op" if group.scheduler == "no_op" and not self._since("E2") else group.scheduler

    def _edge(self, edge: Edge) -> Iterator[str]:
        source, target = (self._reference(self._fusion.groups[index]) for index in (edge.source, edge.target))
        value = self._value(edge.value)
        if self._since("E5"):
            yield f"  e{{ {source} -> {target}({value}) }}"
        else:
            yield from (f"e{{ {source}", f" -> {target}", f"({value}) }}", "")

    def _group(self, group: Group) -> Iterator[str]:
        yield "g{" if group.scheduler == "none" else f"g{{({self._scheduler(group)})"
        if group.id is not None:
            yield f"group id: {group.id}"
        for heading, names in (("inputs:", group.inputs), ("outputs:", group.outputs)):
            yield heading if self._since("E4") else f"{heading} "
            for name in names:
                entry = f"{self._value(name)} {self._dtype(name)}"
                yield f"  {entry}" if self._since("E4") else entry
        yield from ("", "")
        for expr in self._fusion.exprs_of(group):
            yield from (expr.text, f"({expr.id})")
        yield from ("}", "")

    def _value(self, name: str) -> str:
        tensor = self._fusion.tensors.get(name)
        if tensor is None:
            return name
        new, old = self._since("E6"), not self._since("E2")
        return tensor_text(tensor, dtype_in_name=new, inner_blanks=not self._since("E7"), zero=old)

    def _dtype(self, name: str) -> str:
        tensor = self._fusion.tensors.get(name)
        return (tensor.dtype if tensor else self._fusion.scalars.get(name)) or ""
