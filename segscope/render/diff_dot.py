"""Two segmentations beside each other as DOT text: what became of each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from segscope.checks.facts import listed
from segscope.errors import RenderError
from segscope.graph import components, successors
from segscope.model import SegmentedFusion
from segscope.render import palette, words
from segscope.render.labels import LINE_LIMIT, label, tooltip, wrap
from segscope.render.sheet import FONT, style_attributes, titled

if TYPE_CHECKING:
    from graphviz import Digraph

    from segscope.compare import Change, Diff, FusionDiff

SUFFIXES: Final = (".svg", ".png", ".pdf", ".dot")
WIDTH: Final = 46
LINES: Final = 3
SAME_SHOWN: Final = 12
"""How many groups of a fusion that did not change are drawn; more of them are one line."""
SHOWN: Final = 150
"""How many groups of a side are drawn; more are one line."""

_SMALL: Final = {"fontsize": "11", "margin": "0.1,0.03", "height": "0"}

Side = Literal["before", "after"]
_SIDES: Final[tuple[Side, Side]] = ("before", "after")


def to_dot(diff: Diff) -> str:
    """Return a diff as DOT text; the same diff gives the same text.

    Two columns: the groups of the first side on the left, those of the second on the right, with lines to what became
    of them. Groups that are linked stand together, coloured by what happened to them; below a group stand the
    expressions that moved, appeared or vanished in it. What did not change is quiet; fusions that did not are left out.
    """
    graph = _graph([diff.before.name, f"→ {diff.after.name}", *wrap(str(diff).split("; "), "; ", LINE_LIMIT)])
    columns: dict[Side, list[str]] = {"before": [], "after": []}
    for number, fusion in enumerate(drawn(diff)):
        drawing = _Drawing(graph, fusion, number)
        for side, nodes in columns.items():
            nodes += drawing.column(side, heading=len(diff.fusions) > 1)
        drawing.lines()
        if len(diff.fusions) > 1:
            graph.edge(f"before_{number}", f"after_{number}", style="invis", weight="16")
    legend = _legend(graph, list(diff.counts))
    for nodes in (*columns.values(), legend):
        with graph.subgraph(graph_attr={"rank": "same"}) as column:
            for above, below in pairwise(nodes):
                column.edge(above, below, style="invis", tailport="_", headport="_")
    tops = [*(nodes[0] for nodes in columns.values() if nodes), legend[0]]
    for left, right in pairwise(tops):
        graph.edge(left, right, style="invis")
    return str(graph.source)


def draw(diff: Diff, path: str | Path) -> str:
    """Draw a diff into a file whose suffix says the format (SUFFIXES), and return the name of what drew it.

    Raises RenderError where the suffix is unknown, nothing can draw, or the file cannot be written.
    """
    from segscope.render import engine

    format = format_of(path)
    text = to_dot(diff)
    return engine.save(path, lambda: (text.encode(), "segscope") if format == "dot" else engine.draw(text, format))


def format_of(path: str | Path) -> str:
    """Return the format that a file name asks for. RenderError where a diff cannot be drawn in it."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RenderError(f"{path}: the suffix says the format of a diff's picture, one of {', '.join(SUFFIXES)}")
    return suffix[1:]


def drawn(diff: Diff) -> Sequence[FusionDiff]:
    """Return the fusions that are in the picture: those that changed, or the first where none did."""
    return [each for each in diff.fusions if each.changes] or diff.fusions[:1]


def _graph(title: Sequence[str]) -> Digraph:
    from graphviz import Digraph

    return Digraph(
        name="diff",
        graph_attr={
            **titled(title),
            "rankdir": "LR",
            "ranksep": "2.2",
            "nodesep": "0.1",
        },
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "12", "margin": "0.16,0.06", "width": "4.4"},
        edge_attr={"fontname": FONT, "arrowsize": "0.7", "tailport": "e", "headport": "w"},
    )


class _Drawing:
    """A fusion of each side, in a graph."""

    def __init__(self, graph: Digraph, diff: FusionDiff, number: int) -> None:
        self.graph = graph
        self.links = diff.links
        self.moves = [(place, change) for place, change in enumerate(diff.changes) if change.kind == "moved"]
        self.number = number
        self.fusions = {"before": diff.before, "after": diff.after}
        self.changes: dict[Side, dict[int, list[tuple[int, Change]]]] = {side: defaultdict(list) for side in _SIDES}
        """What happened to each group, each with its position in the diff."""
        for place, change in enumerate(diff.changes):
            for side in _SIDES:
                for group in getattr(change, side):
                    self.changes[side][group.index].append((place, change))
        same = [link for link in self.links if not any(i in self.changes[s] for s, i in zip(_SIDES, link, strict=True))]
        self.folded = same if len(same) > SAME_SHOWN else []
        self.order = self._order()
        self.drawn: set[str] = set()
        self.below: dict[Side, dict[int, list[str]]] = {side: {} for side in _SIDES}
        """The nodes below each group."""

    def _order(self) -> dict[Side, list[int]]:
        """Return the groups to draw on each side: what is linked together, in the order of the first side."""
        sizes = [len(fusion.groups) if fusion else 0 for fusion in self.fusions.values()]
        links = [(source, sizes[0] + target) for source, target in self.links]
        edges = [*links, *((target, source) for source, target in links), *((node, node) for node in range(sum(sizes)))]
        graph = successors(sum(sizes), edges)
        linked = [node for together in components(graph) for node in sorted(together, key=lambda n: (graph[n][0], n))]
        before = [node for node in linked if node < sizes[0]]
        after = [node - sizes[0] for node in linked if node >= sizes[0]]
        folded = [set(indices) for indices in zip(*self.folded, strict=True)] or [set(), set()]
        left = ([i for i in found if i not in done] for found, done in zip((before, after), folded, strict=True))
        return dict(zip(_SIDES, left, strict=True))

    def column(self, side: Side, heading: bool) -> list[str]:
        """Draw one side, and return its nodes from top to bottom."""
        fusion = self.fusions[side]
        nodes = []
        if heading:
            text = f"fusion {fusion.index}: {words.count(len(fusion.groups), 'group')}" if fusion else "no such fusion"
            nodes.append(self._note(f"{side}_{self.number}", text))
        if fusion is None:
            return nodes
        for index in self.order[side][:SHOWN]:
            nodes += self._group(side, fusion, index)
        if more := len(self.order[side][SHOWN:]):
            nodes.append(self._note(f"{side}_{self.number}_more", f"… {words.count(more, 'more group')}"))
        if self.folded:
            nodes.append(self._note(f"{side}_{self.number}_same", f"{len(self.folded)} groups that did not change"))
        return nodes

    def lines(self) -> None:
        """Draw what became of each group, and where expressions went."""
        for source, target in self.links:
            there = {place for place, _ in self.changes["after"].get(target, ())}
            shared = (c.kind for place, c in self.changes["before"].get(source, ()) if place in there)
            kind = next((kind for kind in shared if kind != "moved"), None)
            self._line(
                self._node("before", source),
                self._node("after", target),
                color=palette.change_style(kind, kernel=False).border,
                penwidth="2.5" if kind else "1",
                weight="8",
            )
            for near in self.below["before"].get(source, ()):
                self._line(near, self._node("after", target), style="invis")
            for near in self.below["after"].get(target, ()):
                self._line(self._node("before", source), near, style="invis")
        for place, change in self.moves:
            for before, after in product(change.before, change.after):
                self._line(
                    f"{self._node('before', before.index)}_{place}",
                    f"{self._node('after', after.index)}_{place}",
                    color=palette.change_style("moved", kernel=False).border,
                    style="dashed",
                    weight="0",
                )

    def _line(self, source: str, target: str, **attributes: str) -> None:
        if self.drawn.issuperset((source, target)):
            self.graph.edge(source, target, **attributes)

    def _node(self, side: Side, index: int) -> str:
        return f"{side}_{self.number}_{index}"

    def _note(self, node: str, text: str) -> str:
        self.graph.node(node, label([text]), shape="plaintext", fontcolor=palette.QUIET_TEXT)
        return node

    def _group(self, side: Side, fusion: SegmentedFusion, index: int) -> list[str]:
        """Draw a group, and below it the expressions that moved, appeared or vanished in it."""
        group = fusion.groups[index]
        kernel = fusion.launches_kernel(group)
        node = self._node(side, index)
        changes = self.changes[side].get(index, [])
        told = [(change.kind, text) for _, change in changes if (text := _of_group(side, change))]
        said = [words.heading(fusion, group), *(text for _, text in told)]
        operations = words.operations(fusion, group)
        self._box(
            node,
            [*said, *_shortened(wrap(operations, words.SEPARATOR, WIDTH))],
            "\n".join([*said, words.SEPARATOR.join(operations)]),
            palette.change_style(told[0][0] if told else None, kernel),
            fontsize="14" if kernel else "12",
        )
        below = []
        for place, change in changes:
            if items := _of_expressions(side, change):
                below.append(f"{node}_{place}")
                lines = _shortened(wrap(items, ", ", WIDTH))
                style = palette.change_style(change.kind, kernel=False)
                self._box(below[-1], lines, ", ".join(items), style, **_SMALL, width="3.8")
        self.below[side][index] = below
        return [node, *below]

    def _box(self, node: str, lines: list[str], whole: str, style: palette.Style, **attributes: str) -> None:
        self.drawn.add(node)
        self.graph.node(node, label(lines), tooltip=tooltip(whole), **style_attributes(style), **attributes)


def _shortened(lines: list[str]) -> list[str]:
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]


def _of_group(side: Side, change: Change) -> str:
    """Say what happened to a group as such, as seen from one side; nothing where it is about expressions in it."""
    others = change.after if side == "before" else change.before
    if change.kind == "merged" or change.kind == "split":
        return f"{change.kind} {'into' if side == 'before' else 'from'} {listed([each.label for each in others])}"
    if change.kind == "scheduler changed":
        return f"{'now' if side == 'before' else 'was'} {others[0].scheduler}"
    return change.kind if change.kind != "moved" and change.scope != "expressions" else ""


def _of_expressions(side: Side, change: Change) -> list[str]:
    """Say what happened to expressions in a group, as seen from one side; nothing where it is about the group."""
    if change.kind not in ("moved", "appeared", "vanished") or _of_group(side, change):
        return []
    others = change.after if side == "before" else change.before
    way = f" {'to' if side == 'before' else 'from'} {listed([each.label for each in others])}" if others else ""
    items = []
    for each in change.operations:
        names = each.tensors.before if side == "before" else each.tensors.after
        again = "repeated " if each.is_shared and change.kind != "moved" else ""
        items.append(f"{again}{each.word} {', '.join(names)}")
    return [f"{change.kind}{way}: {items[0]}", *items[1:]]


def _legend(graph: Digraph, kinds: Sequence[str]) -> list[str]:
    """Draw a column of what colours and borders mean, and return its nodes."""
    graph.node("legend", "legend", shape="plaintext", width="0", fontcolor=palette.QUIET_TEXT)
    entries = [(kind, palette.change_style(kind, kernel=False)) for kind in kinds]
    entries += [("as before, kernel", palette.change_style(None, kernel=True))]
    entries += [("as before, no kernel", palette.change_style(None, kernel=False))]
    nodes = ["legend"]
    for number, (text, style) in enumerate(entries):
        nodes.append(f"legend{number}")
        graph.node(nodes[-1], label([text]), **style_attributes(style), **_SMALL, width="1.8")
    return nodes
