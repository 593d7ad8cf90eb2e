"""``segscope explain``: why each cut is there, what may merge, how few kernels would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from segscope.cli.options import only_with
from segscope.cli.reading import read_capture, strict_option
from segscope.cli.writing import say

if TYPE_CHECKING:
    from segscope.explain import Answer, Explanation, Headroom, MergeAnswer
    from segscope.model import SegmentedFusion


@click.command(name="explain", short_help="Explain each cut; what may merge, and how few kernels would do.")
@click.argument("file")
@click.option("--fusion", "number", type=int, metavar="N", help="Explain fusion N only, from 0.")
@click.option(
    "--merge",
    "merges",
    multiple=True,
    metavar="A,B,...",
    help="Instead of the cuts, say what would become of these groups as one: 3 or g3 by group id, #3 by position; "
    "may be repeated.",
)
@click.option("--headroom", "asks_headroom", is_flag=True, help="Also find the fewest kernel groups that there can be.")
@click.option(
    "--seconds", default=10.0, show_default=True, metavar="SECONDS", help="How long the search for the fewest may take."
)
@click.option("--verify", is_flag=True, help="Ask nvFuser in a toolchain whether it takes the fewest; with --headroom.")
@click.option("--toolchain", metavar="NAME", help="The toolchain to ask.  [default: nvfuser-0.2.36]")
@click.option("--device", default="auto", show_default=True, help="cuda, null, or auto: a usable GPU, else null.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@strict_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    number: int | None,
    merges: tuple[str, ...],
    asks_headroom: bool,
    seconds: float,
    verify: bool,
    toolchain: str | None,
    device: str,
    form: str,
    strict: bool,
) -> None:
    """Give a reason for each cut in FILE: the segmenter's own words where its log was printed, else what shows.

    FILE is a dump or a capture.json; - is standard input. For the segmenter's words and its merges, dump with
    NVFUSER_DUMP=segmented_fusion,segmenter_logging.
    """
    from segscope.explain import explain, headroom, merge

    only_with(ctx, "--headroom", asks_headroom, "--seconds", "--verify")
    only_with(ctx, "--verify", verify, "--toolchain", "--device")
    capture = read_capture(file, strict, number)
    if merges and len(capture.fusions) > 1:
        raise click.UsageError(
            f"--merge names groups of one fusion, and here are {len(capture.fusions)}: name it with --fusion"
        )
    told = []
    for fusion in capture.fusions:
        part = _Part(fusion)
        if merges:
            part.merges = [merge(fusion, *_indices(fusion, names)) for names in merges]
        else:
            part.explanation = explain(fusion)
        if asks_headroom:
            part.headroom = headroom(fusion, seconds=seconds)
            if verify:
                part.verdicts = _verdicts(part.headroom, toolchain, device)
        told.append(part)
    if form == "json":
        import json

        click.echo(json.dumps({"source": capture.source, "fusions": [part.as_json() for part in told]}, indent=1))
        return
    for part in told:
        say("\n".join(part.lines(markdown=form == "markdown")))


class _Part:
    """What is told of one fusion."""

    def __init__(self, fusion: SegmentedFusion) -> None:
        self.fusion = fusion
        self.explanation: Explanation | None = None
        self.merges: list[MergeAnswer] = []
        self.headroom: Headroom | None = None
        self.verdicts: list[dict[str, Answer]] = []
        """For each bound the answers by the labels of its groups."""

    def as_json(self) -> dict[str, object]:
        """Return an object with a key for each thing that was asked for."""
        found: dict[str, object] = {"fusion": self.fusion.index}
        if self.explanation:
            found["explanation"] = self.explanation.model_dump(mode="json")
        if self.merges:
            found["merges"] = [answer.model_dump(mode="json") for answer in self.merges]
        if self.headroom:
            found["headroom"] = self.headroom.model_dump(mode="json")
        if self.verdicts:
            found["verdicts"] = [
                {label: answer.model_dump(mode="json") for label, answer in answers.items()}
                for answers in self.verdicts
            ]
        return found

    def lines(self, *, markdown: bool) -> Iterator[str]:
        """Yield the lines of text or Markdown."""
        from segscope.render.explanation import (
            explanation_lines,
            headroom_legend,
            headroom_rows,
            merge_lines,
            table,
            verdict_lines,
        )

        yield f"## {self.fusion}" if markdown else str(self.fusion)
        for part in (
            explanation_lines(self.fusion, self.explanation) if self.explanation else (),
            (line for answer in self.merges for line in merge_lines(self.fusion, answer)),
        ):
            if lines := list(part):
                yield from ["", "```text", *lines, "```"] if markdown else lines
        if self.headroom:
            yield ""
            yield from table(headroom_rows(self.headroom), markdown=markdown)
            yield ""
            yield from (f"* {line}" if markdown else line for line in headroom_legend(self.fusion))
            if self.verdicts:
                yield ""
            for bound, answers in zip(self.headroom.bounds, self.verdicts, strict=False):
                yield from (f"* {line}" if markdown else line for line in verdict_lines(bound, answers))


def _indices(fusion: SegmentedFusion, names: str) -> list[int]:
    from segscope.errors import SegscopeError

    indices = {group.label: group.index for group in fusion.groups} | {f"#{g.index}": g.index for g in fusion.groups}
    found = []
    for name in map(str.strip, names.split(",")):
        label = name if name in indices else f"g{name}" if f"g{name}" in indices else f"#{name}"
        if label not in indices:
            valid = ", ".join(group.label for group in fusion.groups)
            raise SegscopeError(f"no group {name!r} in fusion {fusion.index}; valid: {valid}")
        found.append(indices[label])
    return found


def _verdicts(found: Headroom, toolchain: str | None, device: str) -> list[dict[str, Answer]]:
    from segscope.explain import questions, verify

    asked = [questions(bound.proof) for bound in found.bounds]
    fusion = found.bounds[0].proof
    answers = iter(verify(fusion, [q for part in asked for q in part.values()], toolchain=toolchain, device=device))
    return [{label: next(answers) for label in part} for part in asked]
