"""Where two graphs that reached Inductor differ."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from segscope.compare.executors.model import Difference
from segscope.compare.executors.region import Node
from segscope.compare.executors.words import kind

_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def differences(here: Sequence[Node], there: Sequence[Node]) -> tuple[Difference, ...]:
    """Return the kinds of operation, and outputs, of which the graphs have different numbers; most different first."""
    mine, other = _by_kind(here), _by_kind(there)
    found = [
        Difference(kind=word, here=len(mine[word]), there=len(other[word]), nodes=tuple(mine[word]))
        for word in {**mine, **other}
        if len(mine[word]) != len(other[word])
    ]
    return tuple(sorted(found, key=lambda one: (-abs(one.here - one.there), one.kind)))


def first_difference(here: Sequence[Node], there: Sequence[Node]) -> str | None:
    """Return the first operation that ``there`` has not, and what ``there`` does with the same operands instead.

    Operations are the same where they compute the same of the same inputs; inputs are told by dtype and shape.
    """
    mine, other = _digests(here), _digests(there)
    known = Counter(other.values())
    for node in here:
        if node.operation in ("placeholder", "output"):
            continue
        if not known[mine[node.name]]:
            operands = {mine[name] for name in node.inputs}
            instead = [
                two.name
                for two in there
                if two.operation != "output" and operands & {other[name] for name in two.inputs}
            ]
            answer = ", ".join(_call(two) for two in there if two.name in instead)
            return f"{_call(node)}; with the same operands the other graph has {answer or 'nothing'}"
        known[mine[node.name]] -= 1
    return None


def _by_kind(nodes: Sequence[Node]) -> defaultdict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if node.operation == "output":
            found["output"] += node.inputs
        elif node.operation != "placeholder":
            found[kind(node.operation)].append(node.name)
    return found


def _digests(nodes: Sequence[Node]) -> dict[str, str]:
    """Return for each node a digest of what it computes."""
    found: dict[str, str] = {}
    for node in nodes:
        if node.operation == "placeholder":
            text = f"input {node.dtype} {node.shape}"
        else:
            arguments = _NAME.sub(lambda match: found.get(match.group(), match.group()), node.arguments)
            text = f"{node.operation} {arguments}"
        found[node.name] = hashlib.sha256(text.encode()).hexdigest()
    return found


def _call(node: Node) -> str:
    return f"{node.name} = {node.operation}({node.arguments})"
