"""The same fusion with other numbers, in another order."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from segscope.model import SegmentedFusion

_NAME = re.compile(r"(?<![\w.:])(?:T\d+(?!\d)|[idfbcas]\d+(?![\w(]))")
_DOMAIN = re.compile(r"(?<=[irbsnv?]S)\d+(?=\{)")


class _Numbers:
    """New numbers for old ones, in no order."""

    def __init__(self, random: Random) -> None:
        self.fresh = random.sample(range(1, 100_000), 50_000)
        self.given: dict[str, int] = {}

    def __call__(self, kind: str, old: object) -> int:
        return self.given.setdefault(f"{kind} {old}", self.fresh[len(self.given)])


def renumbered(fusion: SegmentedFusion, random: Random) -> SegmentedFusion:
    """Give tensors, scalars, iter domains, expressions and groups other numbers, and shuffle what has no order.

    Transforms and logs are left out.
    """
    numbers = _Numbers(random)

    def renamed(node: Any) -> Any:
        if isinstance(node, str):
            text = _NAME.sub(lambda match: f"{match[0][0]}{numbers(match[0][0], match[0])}", node)
            return _DOMAIN.sub(lambda match: str(numbers("domain", match[0])), text)
        if isinstance(node, list):
            return [renamed(each) for each in node]
        if isinstance(node, dict):
            found = {renamed(key): renamed(value) for key, value in node.items()}
            return found | ({"number": numbers("domain", node["number"])} if "iter_type" in node else {})
        return node

    record = renamed(json.loads(fusion.model_dump_json(exclude={"transforms", "log", "passes"})))
    for expr in record["exprs"]:
        expr["id"] = numbers("expr", expr["id"])
    order = random.sample(range(len(record["groups"])), len(record["groups"]))
    places = {old: new for new, old in enumerate(order)}
    ids = [group["id"] for group in record["groups"]]
    record["groups"] = [record["groups"][old] for old in order]
    random.shuffle(ids)
    for index, group in enumerate(record["groups"]):
        group |= {"index": index, "id": ids[index], "expr_ids": [numbers("expr", i) for i in group["expr_ids"]]}
        for key in ("inputs", "outputs", "expr_ids"):
            random.shuffle(group[key])
    for edge in record["edges"]:
        edge |= {"source": places[edge["source"]], "target": places[edge["target"]]}
    random.shuffle(record["edges"])
    random.shuffle(record["exprs"])
    return SegmentedFusion.model_validate_json(json.dumps(record))
