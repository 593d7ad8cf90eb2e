"""Join what was found of one fusion into the model."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from segscope.dump import eras, statements, transforms
from segscope.dump.blocks import GroupBlock
from segscope.dump.parts import Text
from segscope.dump.reader import FoundFusion
from segscope.dump.scan import UnbalancedError, closing
from segscope.dump.trials import Trial
from segscope.dump.values import Tensors
from segscope.model import Damage, SegmentedFusion

_SCALAR = re.compile(r"(?:ptr|var|f4x2_|[idfbcas])\d+|[A-Za-z_]\w*\.[xyz]")


class FusionBuilder:
    """Turns what was found into a fusion, and keeps what could not be used."""

    def __init__(self, found: FoundFusion, index: int, unknown_operators: Counter[str]) -> None:
        self._found = found
        self._blocks = found.segments
        self._index = index
        self._unknown = unknown_operators
        self._tensors = Tensors()
        self._scalars: dict[str, str] = {}
        self._exprs: dict[int, dict[str, Any]] = {}
        self._positions: dict[str, list[int]] = {}
        for position, line in enumerate(self._blocks.group_lines[: len(self._blocks.groups)]):
            self._positions.setdefault(line.text, []).append(position)
        self._edges: set[tuple[int, int, str]] = set()
        self._expr_ids: dict[tuple[str, ...], tuple[Any, ...]] = {}
        self.damage = [damage("not a line of a dump", text) for text in self._blocks.unusable]

    def build(self) -> SegmentedFusion:
        """Read every value and statement, join groups and edges, and validate once."""
        blocks = self._blocks
        inputs = self._names(blocks.rewritten.inputs)
        outputs = self._names(blocks.rewritten.outputs)
        groups = [self._group(position, group) for position, group in enumerate(blocks.groups)]
        edges = [edge for text in blocks.edges if (edge := self._edge(text, groups))]
        domains = self._transforms()
        for name, mention in self._tensors.conflicts.items():
            self._note(f"{name} is printed in two ways", Text(mention, blocks.first_line))
        if blocks.interrupted:
            self._note("another dump begins within the whole fusion that was to come before", blocks.interrupted)
        if blocks.cut_off:
            there = f"{len(groups)} of its {len(blocks.group_lines)} groups are there"
            self._note(f"{blocks.cut_off.text} comes before the end of fusion {self._index}: {there}", blocks.cut_off)
        elif not groups:
            self._note("a fusion without groups", Text("", blocks.first_line))
        elif len(groups) < len(blocks.group_lines):
            self._note("a line under groups: without a group block", blocks.group_lines[len(groups)])
        return SegmentedFusion.model_validate(
            {
                "index": self._index,
                "era": eras.detect(blocks),
                "stream": self._found.stream,
                "inputs": inputs,
                "outputs": outputs,
                "groups": groups,
                "edges": edges,
                "exprs": list(self._exprs.values()),
                "tensors": self._tensors.records,
                "scalars": self._scalars,
                "transforms": domains,
                "log": self._log(),
                "passes": self._found.passes.changes,
                "complete": not self.damage,
                "first_line": blocks.first_line,
            }
        )

    def _names(self, listed: list[Text]) -> list[str]:
        names = []
        for entry in listed:
            try:
                name, _, dtype = self._tensors.abbreviate(entry.text).partition(" ")
            except UnbalancedError as error:
                self._note(str(error), entry)
                continue
            name = name.rstrip(",")
            if not (name in self._tensors.records or _SCALAR.fullmatch(name)):
                self._note("not a tensor or a scalar", entry)
                continue
            if name in self._tensors.records:
                self._tensors.set_dtype(name, dtype)
            elif dtype:
                self._scalars[name] = dtype
            names.append(name)
        return names

    def _group(self, position: int, block: GroupBlock) -> dict[str, Any]:
        inputs, outputs = self._names(block.inputs), self._names(block.outputs)
        for text, expr_id in block.statements:
            if expr_id not in self._exprs:
                self._exprs[expr_id] = self._statement(text, expr_id)
            elif self._exprs[expr_id]["text"] != text.text:
                self._note(f"expression {expr_id} is another one in an earlier group", text)
        ids = [expr_id for _, expr_id in block.statements]
        self._check_listed(position, ids)
        return {
            "index": position,
            "id": block.id,
            "scheduler": block.scheduler,
            "inputs": inputs,
            "outputs": outputs,
            "expr_ids": ids,
        }

    def _statement(self, statement: Text, expr_id: int) -> dict[str, Any]:
        try:
            record = statements.parse(statement.text, expr_id, self._tensors)
        except UnbalancedError as error:
            self._note(str(error), statement)
            record = statements.unknown(statement.text, expr_id)
        if record["kind"] == "unknown":
            self._unknown[record["op"]] += 1
        return record

    def _check_listed(self, position: int, ids: list[int]) -> None:
        """The k-th line under ``groups:`` lists the ids of the k-th block."""
        blocks = self._blocks
        if blocks.cut_off and position == len(blocks.groups) - 1:
            return
        if position >= len(blocks.group_lines):
            self._note("more group blocks than lines under groups:", Text("", blocks.first_line))
        elif blocks.listed_ids(position) != sorted(ids):
            self._note("the line under groups: and the block have different expressions", blocks.group_lines[position])

    def _edge(self, edge: Text, groups: list[dict[str, Any]]) -> dict[str, Any] | None:
        try:
            inside = self._tensors.abbreviate(edge.text)[2:].removesuffix("}").strip()
            source, _, rest = inside.partition(" -> ")
            brace = closing(rest, rest.index("{"))
        except (UnbalancedError, ValueError) as error:
            self._note(f"not an edge ({error})", edge)
            return None
        target, value = rest[: brace + 1], rest[brace + 1 :].removeprefix(" (merged)").strip("()")
        pairs = (
            (found_source, found_target)
            for found_source in self._named(source, groups, "outputs", value)
            for found_target in self._named(target, groups, "inputs", value)
        )
        for found_source, found_target in pairs:
            if (found_source, found_target, value) not in self._edges:
                self._edges.add((found_source, found_target, value))
                return {"source": found_source, "target": found_target, "value": value}
        if not self._blocks.cut_off:
            self._note(f"an edge over {value[:40]} between groups that do not list it, or are not there", edge)
        return None

    def _named(self, reference: str, groups: list[dict[str, Any]], side: str, value: str) -> list[int]:
        """Return the groups that an edge can mean: by its text, and by the value that they list."""
        named = self._positions.get(reference.strip(), [])
        return [position for position in named if value in groups[position][side]]

    def _transforms(self) -> list[dict[str, Any]]:
        lines = self._blocks.rewritten.transforms
        try:
            return transforms.parse([line.text for line in lines], self._tensors)
        except UnbalancedError as error:
            self._note(str(error), lines[0])
            return []

    def _log(self) -> dict[str, Any] | None:
        log = self._found.log
        if log.whole is None and not log.has_hints and not log.trials:
            return None
        ids = {name: number for number, expr in self._exprs.items() for name in expr["outputs"]}
        return {
            "whole": self._trial(log.whole, ids) if log.whole else None,
            "has_hints": log.has_hints,
            "trials": [self._trial(trial, ids) for trial in log.trials],
        }

    def _trial(self, trial: Trial, ids: dict[str, int]) -> dict[str, Any]:
        outputs = tuple(trial.outputs)
        expr_ids = self._expr_ids.get(outputs)
        if expr_ids is None:  # the segmenter tries most sets several times
            found = dict.fromkeys(map(ids.get, outputs))
            found.pop(None, None)
            expr_ids = self._expr_ids[outputs] = tuple(found)
        return {
            "line": trial.line,
            "outputs": outputs,
            "expr_ids": expr_ids,
            "refusals": trial.refusals,
            "accepted": trial.accepted,
        }

    def _note(self, reason: str, where: Text) -> None:
        self.damage.append(damage(reason, where))


def damage(reason: str, where: Text) -> Damage:
    """Return what the report says of a place."""
    return Damage(line=where.line, reason=reason, text=where.text[:200])
