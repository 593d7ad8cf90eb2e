"""The kernels of several executors beside each other as DOT text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from segscope.checks.facts import listed
from segscope.compare.executors.model import Comparison, Direction, Pass, Run
from segscope.compare.executors.region import Buffer, Kernel, Region
from segscope.model.traffic import total
from segscope.render import palette
from segscope.render.executors.colours import colours, work_of
from segscope.render.executors.fills import letter, work_style
from segscope.render.executors.launched import Launched, Launches, launched, torch_kernels
from segscope.render.executors.rows import mb, setting, warm
from segscope.render.labels import label, tooltip, wrap
from segscope.render.sheet import FONT, style_attributes, titled
from segscope.render.words import SEPARATOR, count
from segscope.vocabulary import METADATA_KINDS

if TYPE_CHECKING:
    from graphviz import Digraph

SHOWN: Final = 30
"""How many kernels of an executor are drawn; more are one box."""
WIDTH: Final = 42
LINES: Final = 3

_COMPILERS: Final = {"inductor": "Inductor", "nvfuser": "nvFuser"}
_QUIET: Final = palette.Style("#f4f4f4", palette.QUIET_LINE, palette.QUIET_TEXT, "dashed", 1.0)


def picture(comparison: Comparison, direction: Direction) -> str:
    """Return the kernels of one direction as DOT text; the same comparison gives the same text.

    A column for each executor, its kernels from top to bottom in the order in which they are launched, in a frame for
    each region. Kernels that do the same work share a letter and a colour across columns (``colours.colours``); torch's
    own are one quiet box.
    """
    graph = _graph(
        [
            SEPARATOR.join([comparison.workload, direction]),
            setting(comparison),
            "Kernels from top to bottom as they are launched. The same letter and colour: the same work, or nearly so.",
        ]
    )
    passes = [run.get(direction) for run in comparison.runs]
    found = [_shown(launched(one)) if one else Launches((), ()) for one in passes]
    kernels = [[each.kernel for _, those in one.regions for each in those] for one in found]
    numbers = colours(kernels)
    results = {result for column in kernels for kernel in column for _, result in work_of(kernel)}
    for place, (run, one) in enumerate(zip(comparison.runs, passes, strict=True)):
        column = _Column(graph, place, numbers[place], several=len(results) > 1)
        column.draw(run, one, found[place], run is comparison.reference)
    with graph.subgraph(graph_attr={"rank": "same"}) as top:
        for left, right in pairwise(range(len(passes))):
            top.edge(f"c{left}", f"c{right}")
    return str(graph.source)


def _graph(title: Sequence[str]) -> Digraph:
    from graphviz import Digraph

    return Digraph(
        name="executors",
        graph_attr={**titled(title), "rankdir": "TB", "ranksep": "0.25", "nodesep": "0.4"},
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "12", "margin": "0.14,0.07", "width": "4.1"},
        edge_attr={"style": "invis", "weight": "8"},
    )


def _shown(found: Launches) -> Launches:
    """Return what is drawn: the first kernels, and the regions of those and of none."""
    regions, left = [], SHOWN
    for region, kernels in found.regions:
        if left or not kernels:
            regions.append((region, kernels[:left]))
            left -= len(kernels[:left])
    return found._replace(regions=tuple(regions))


class _Column:
    """An executor, in a graph."""

    def __init__(self, graph: Digraph, place: int, numbers: Sequence[int], several: bool) -> None:
        self.graph = graph
        self.place = place
        self.several = several
        """Whether the workload has several results, so that it is of interest for which a kernel is."""
        self.numbers = iter(numbers)
        self.last = f"c{place}"

    def draw(self, run: Run, one: Pass | None, found: Launches, is_reference: bool) -> None:
        self._heading(run, one, is_reference)
        for number, (region, kernels) in enumerate(found.regions):
            self._region(number, region, kernels)
        drawn = sum(len(kernels) for _, kernels in found.regions)
        if one and len(one.kernels) > drawn:
            self._quiet("more", [f"… {count(len(one.kernels) - drawn, 'more kernel')}"])
        if found.torch:
            kinds = [f"{n} {name}" for name, n in torch_kernels(found.torch).most_common()]
            lines = [f"{count(len(found.torch), 'kernel')} of torch", *_shortened(wrap(kinds, SEPARATOR, WIDTH))]
            self._quiet("torch", lines, "\n".join(found.torch))

    def _heading(self, run: Run, one: Pass | None, is_reference: bool) -> None:
        lines = [run.executor + (" (the reference)" if is_reference else "")]
        if one is None:
            lines += wrap((run.problem or "no such pass").split(), " ", WIDTH)
        else:
            generated = f"{count(len(one.kernels), 'kernel')} generated{SEPARATOR}" if one.regions else ""
            lines.append(f"{generated}{len(one.launches)} launched")
            if one.saved:
                lines.append(f"makes {mb(sum(tensor.bytes for tensor in one.saved))} MB to keep for backward")
            if timing := warm(one):
                lines.append(f"kernels {timing.kernel_us:.1f} µs{SEPARATOR}host {timing.host_us:.1f} µs")
        self.graph.node(
            self.last,
            label(lines),
            tooltip=tooltip("\n".join(lines)),
            fontsize="15",
            color=palette.TEXT if is_reference else palette.QUIET_LINE,
            fontcolor=palette.TEXT if one else palette.FINDING_LINE,
            penwidth="2" if is_reference else "1",
            peripheries="2" if is_reference else "1",
        )

    def _region(self, number: int, region: Region, kernels: Sequence[Launched]) -> None:
        cut = "" if region.segments is None else f"{count(region.segments, 'segment')}, "
        heading = [f"{region.name} ({_COMPILERS[region.compiler]}): {cut}{count(len(region.kernels), 'kernel')}"]
        attributes = {
            "label": label(heading),
            "tooltip": tooltip(heading[0]),
            "style": "rounded",
            "color": palette.QUIET_LINE,
            "fontname": FONT,
            "fontsize": "12",
            "fontcolor": palette.QUIET_TEXT,
            "margin": "8",
        }
        with self.graph.subgraph(name=f"cluster_c{self.place}_r{number}", graph_attr=attributes) as frame:
            for place, each in enumerate(kernels):
                self._kernel(frame, f"c{self.place}_r{number}_k{place}", region, each)
            if not kernels:
                self._quiet(f"r{number}", ["no kernel"], graph=frame)

    def _kernel(self, frame: Digraph, node: str, region: Region, each: Launched) -> None:
        number = next(self.numbers)
        kernel = each.kernel
        lines = [
            f"{letter(number)}{SEPARATOR}{_middle_cut(_name(kernel), WIDTH)}",
            *_shortened(wrap(_kinds(kernel), SEPARATOR, WIDTH)),
            *(_results(kernel) if self.several else ()),
            *_traffic(region, kernel),
        ]
        if each.us is not None:
            lines.append(f"{each.us:.1f} µs" + (f" for {each.launches} launches" if each.launches > 1 else ""))
        frame.node(
            node,
            label(lines),
            tooltip=tooltip("\n".join(_whole(each))),
            **style_attributes(work_style(number)),
        )
        self._below(node)

    def _quiet(self, name: str, lines: list[str], whole: str = "", graph: Digraph | None = None) -> None:
        node = f"c{self.place}_{name}"
        (self.graph if graph is None else graph).node(
            node, label(lines), tooltip=tooltip(whole or "\n".join(lines)), **style_attributes(_QUIET)
        )
        self._below(node)

    def _below(self, node: str) -> None:
        self.graph.edge(self.last, node)
        self.last = node


def _name(kernel: Kernel) -> str:
    return f"{kernel.name}{SEPARATOR}{kernel.scheduler}" if kernel.scheduler != "triton" else kernel.name


def _kinds(kernel: Kernel) -> list[str]:
    """Return what a kernel does, without metadata operations and constants where it does more."""
    return [kind for kind in kernel.kinds if kind not in METADATA_KINDS and kind != "full"] or list(kernel.kinds)


def _results(kernel: Kernel) -> Iterator[str]:
    results = sorted({result for _, result in work_of(kernel) if result is not None})
    if results:
        yield f"for {'result' if len(results) == 1 else 'results'} {listed([str(result) for result in results])}"


def _traffic(region: Region, kernel: Kernel) -> tuple[str, ...]:
    """Return what a kernel reads, how much of that other kernels of its region wrote, and what it writes."""
    written = {buffer.name for other in region.kernels if other is not kernel for buffer in other.writes}
    passed = [buffer for buffer in kernel.reads if buffer.name in written]
    reads, writes = f"reads {_total(kernel.reads)} MB", f"writes {_total(kernel.writes)} MB"
    return (f"{reads}, {_total(passed)} of it written above", writes) if passed else (f"{reads}{SEPARATOR}{writes}",)


def _total(buffers: Iterable[Buffer]) -> str:
    return mb(total(buffer.bytes for buffer in buffers))


def _whole(each: Launched) -> Iterator[str]:
    kernel = each.kernel
    yield _name(kernel)
    if each.launch and each.launch != kernel.name:
        yield f"launched as {each.launch}"
    yield SEPARATOR.join(kernel.kinds)
    for word, buffers in (("reads", kernel.reads), ("writes", kernel.writes)):
        for buffer in buffers:
            yield f"{word} {buffer.name} {buffer.dtype} {mb(buffer.bytes)} MB".replace("  ", " ")


def _shortened(lines: list[str]) -> list[str]:
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]


def _middle_cut(text: str, limit: int) -> str:
    """Return the text, or its beginning and end: names of kernels differ in their last number."""
    tail = limit // 4
    return text if len(text) <= limit else f"{text[: limit - tail - 1]}…{text[-tail:]}"
