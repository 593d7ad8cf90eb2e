"""A segmented fusion as a Mermaid flowchart, one node a group: GitHub draws it in Markdown.

Mermaid reads a label as HTML, and ``%%{``, quotes, backticks and more as its own; what it takes literally are entity
codes (``#60;``, mermaid.js.org/syntax/flowchart, "Entity codes to escape characters").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from segscope.errors import RenderError
from segscope.model import Group, SegmentedFusion
from segscope.render import palette, timing, words
from segscope.render.labels import LINE_LIMIT, cut, printable, wrap
from segscope.render.selection import Box, select
from segscope.render.view import View

TEXT_LIMIT: Final = 50_000
"""Characters that Mermaid takes (``maxTextSize``); GitHub sets no other limit."""
EDGE_LIMIT: Final = 500
"""Edges that it takes (``maxEdges``)."""
OPERATIONS_WIDTH: Final = 34
OPERATION_LINES: Final = 4
CUT_TENSORS: Final = 3
THICK: Final = 16 << 20
"""Bytes from which on a cut is a thick arrow."""

_TITLE_LIMIT: Final = 1000
_NOT_PLAIN: Final = re.compile(r"[^0-9A-Za-z _.,+()\[\]·…]")
_FORMULA_OR_ICON: Final = re.compile(r"(?<=\$)(?=\$)|(?<=:)(?=fa-)")
"""Inside ``$$``, and inside ``fa:fa-car``: these mean something even as entity codes."""
_ZERO_WIDTH_SPACE: Final = "\u200b"


def to_mermaid(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> str:
    """Return the group level of a fusion as Mermaid text; the same model gives the same text.

    Kernel groups are loud and metadata groups quiet, in the colours of every other picture; a cut of much memory is a
    thick arrow. Raises RenderError where ``view`` asks for expressions, and for what is larger than Mermaid takes
    (TEXT_LIMIT, EDGE_LIMIT).
    """
    return _Flowchart(fusion, view or View()).text(title)


def to_markdown(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> str:
    """Return the same as a code block for Markdown."""
    return f"```mermaid\n{to_mermaid(fusion, title, view)}```\n"


def escape(text: str) -> str:
    """Return text that Mermaid shows as it is, in a quoted label of one line."""
    broken_up = _FORMULA_OR_ICON.sub(_ZERO_WIDTH_SPACE, printable(text))
    return _NOT_PLAIN.sub(lambda found: f"#{ord(found.group())};", broken_up)


class _Flowchart:
    def __init__(self, fusion: SegmentedFusion, view: View) -> None:
        if view.level == "expressions":
            raise RenderError("Mermaid is drawn with one node a group: write .svg or .html to see expressions")
        self._fusion = fusion
        chosen = select(fusion, view)
        self._notes = chosen.notes
        self._times = view.times
        self._boxes = chosen.boxes
        self._node = {index: f"g{box[0]}" for box in chosen.boxes for index in box}
        self._groups = [fusion.groups[index] for index in sorted(self._node)]
        self._positions = {name: position for position, name in enumerate(fusion.schedulers)}

    def text(self, title: str | None) -> str:
        edges = list(dict.fromkeys([*self._boundary_edges(), *self._cuts()]))
        lines = [
            "---",
            f"title: {_title(' · '.join(filter(None, [title, str(self._fusion), *self._notes])))}",
            "config: {flowchart: {nodeSpacing: 80, wrappingWidth: 300}}",
            "---",
            "flowchart TB",
            *self._legend(),
            *self._boundary("input"),
            *map(self._box, self._boxes),
            *self._boundary("output"),
            *edges,
            *self._classes(),
        ]
        text = "\n".join(lines) + "\n"
        if len(text) > TEXT_LIMIT or len(edges) > EDGE_LIMIT:
            raise RenderError(
                f"fusion {self._fusion.index} is too large for Mermaid: {len(text):,} characters and {len(edges):,} "
                f"edges, and it takes {TEXT_LIMIT:,} and {EDGE_LIMIT}; draw a part of it, or write .svg or .html"
            )
        return text

    def _box(self, box: Box) -> str:
        groups = [self._fusion.groups[index] for index in box]
        first, times = groups[0], self._times
        heading = words.heading(self._fusion, first)
        facts = [words.traffic(self._fusion, first), *timing.time(self._fusion, first, times)]
        if len(groups) > 1:
            heading, facts = words.SEPARATOR.join([f"{len(groups)} groups", *_schedulers(groups)]), []
        lines = wrap(words.operations(self._fusion, *groups), words.SEPARATOR, OPERATIONS_WIDTH)
        if len(lines) > OPERATION_LINES:
            lines[OPERATION_LINES - 1 :] = ["…"]
        return f"    {self._node[box[0]]}[{_label([heading, *lines, *facts])}]:::{self._class(groups[0])}"

    def _boundary(self, side: str) -> Iterator[str]:
        names = self._fusion.inputs if side == "input" else self._fusion.outputs
        touched = {name for group in self._groups for name in (group.inputs if side == "input" else group.outputs)}
        whole = len(self._groups) == len(self._fusion.groups)
        for position, name in enumerate(names):
            if whole or name in touched:
                facts = _unbroken(words.tensor_facts(self._fusion, name))
                label = _label(filter(None, [f"fusion {side} {name}", facts]))
                yield f"    {side}{position}([{label}]):::boundary"

    def _boundary_edges(self) -> Iterator[str]:
        inputs = {name: f"input{n}" for n, name in enumerate(self._fusion.inputs)}
        outputs = {name: f"output{n}" for n, name in enumerate(self._fusion.outputs)}
        for group in self._groups:
            node = self._node[group.index]
            yield from (f"    {inputs[name]} --> {node}" for name in group.inputs if name in inputs)
            yield from (f"    {node} --> {outputs[name]}" for name in group.outputs if name in outputs)

    def _cuts(self) -> Iterator[str]:
        crossing: dict[tuple[str, str], dict[str, None]] = {}
        for source, target, values in self._fusion.cuts:
            if source in self._node and target in self._node and self._node[source] != self._node[target]:
                crossing.setdefault((self._node[source], self._node[target]), {}).update(dict.fromkeys(values))
        for (first, last), names in crossing.items():
            tensors = [_unbroken((name, *words.tensor_facts(self._fusion, name))) for name in names]
            if len(tensors) > CUT_TENSORS:
                tensors[CUT_TENSORS - 1 :] = [f"+ {len(tensors) - CUT_TENSORS + 1} more"]
            arrow = "==>" if words.stored_bytes(self._fusion, tuple(names)) >= THICK else "-->"
            yield f"    {first} {arrow}|{_label(tensors)}| {last}"

    def _legend(self) -> Iterator[str]:
        yield "    subgraph legend"
        for name, group in self._styles().items():
            means = "launches a kernel" if self._fusion.launches_kernel(group) else "no kernel, metadata only"
            yield f"        legend_{name}[{_label([f'{group.scheduler}: {means}'])}]:::{name}"
        yield "    end"

    def _classes(self) -> Iterator[str]:
        yield f"    classDef boundary fill:{palette.BACKGROUND},stroke:{palette.QUIET_LINE},color:{palette.QUIET_TEXT}"
        for name, group in self._styles().items():
            kernel = self._fusion.launches_kernel(group)
            style = palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)
            dashed = ",stroke-dasharray:4" if style.border_style == "dashed" else ""
            yield (
                f"    classDef {name} fill:{style.fill},stroke:{style.border},color:{style.text},"
                f"stroke-width:{style.border_width:g}px{dashed}"
            )

    def _styles(self) -> dict[str, Group]:
        """Return the names of the styles in use, kernels first, each with a group that has it."""
        found: dict[str, Group] = {}
        for group in sorted(self._groups, key=lambda group: not self._fusion.launches_kernel(group)):
            found.setdefault(self._class(group), group)
        return found

    def _class(self, group: Group) -> str:
        """Return a name without the scheduler's, which may be anything tomorrow."""
        kind = "kernel" if self._fusion.launches_kernel(group) else "metadata"
        return f"{kind}{self._positions[group.scheduler]}"


def _schedulers(groups: Iterable[Group]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(group.scheduler for group in groups))


def _title(text: str) -> str:
    """Return a title as YAML. Mermaid drops tags from it and knows no entity codes there."""
    return json.dumps(cut(printable(text), _TITLE_LIMIT).translate({ord("<"): "‹", ord(">"): "›"}), ensure_ascii=False)


def _label(lines: Iterable[str]) -> str:
    return '"' + "<br>".join(escape(cut(line, LINE_LIMIT)) for line in lines) + '"'


def _unbroken(facts: Iterable[str]) -> str:
    """Join facts so that Mermaid, which wraps labels, breaks none of them."""
    return " ".join(fact.replace(" ", "\N{NO-BREAK SPACE}") for fact in facts)
