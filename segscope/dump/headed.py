"""Statements that begin with the name of what they do: grouped reductions, communication (docs/dump-format.md 1.5)."""

import re
from typing import Any

from segscope.dump.attributes import Attributes, constant, keywords
from segscope.dump.operators import NAMED
from segscope.dump.scan import UnbalancedError, closing, split
from segscope.dump.values import VALUE

Record = dict[str, Any]

_GROUPED = re.compile(r"(GroupedReductionOp|GroupedWelford)\( ?")
_MEMBER = re.compile(r"(T\d+(?:, T\d+){0,2}) = (?:reduction|Welford ?)\(")
_BETWEEN_DEVICES = re.compile(r"(Communication|P2PCommunication|CollectivePermute|Dispatch|Combine) \d{1,18} \(")
_OUTPUTS = ("output", "out")


def parse(short: str) -> Record | None:
    """Read a statement whose tensors are cut down to their names; None where it does not begin with its operator."""
    if match := _GROUPED.match(short):
        return _grouped(match.group(1), short)
    if match := _BETWEEN_DEVICES.match(short):
        return _between_devices(match.group(1), short[match.end() : closing(short, match.end() - 1)])
    return None


def _grouped(op: str, short: str) -> Record:
    """Read ``GroupedReductionOp( T2 = reduction( T0, op = add, .. ) T3 = .. allreduce = false )``."""
    outputs: list[str] = []
    insides: list[str] = []
    end = 0
    while match := _MEMBER.search(short, end):
        end = closing(short, match.end() - 1)
        outputs += match.group(1).split(", ")
        insides.append(short[match.end() : end].strip())
    attributes = _reductions(insides) if op == "GroupedReductionOp" else _welfords(insides, outputs)
    attributes["allreduce"] = constant(short.rpartition("allreduce = ")[2].removesuffix(")"))
    inputs = [name for inside in insides for name in VALUE.findall(inside)]
    return {"kind": NAMED[op], "op": op, "outputs": outputs, "inputs": inputs, "attributes": attributes}


def _reductions(insides: list[str]) -> Attributes:
    members = [keywords(split(inside, ", "))[1] for inside in insides]
    try:
        return {name: [member[name] for member in members] for name in ("op", "initial value")}
    except KeyError as error:
        raise UnbalancedError(f"a grouped reduction without {error}: {insides[0][:80]!r}") from None


def _welfords(insides: list[str], outputs: list[str]) -> Attributes:
    initial = [inside.partition(" initial value = ")[2].split(", ") for inside in insides]
    return {role: outputs[at::3] for at, role in enumerate(("avg", "var", "count"))} | {"initial value": initial}


def _between_devices(op: str, inside: str) -> Record:
    """Read ``Communication 3 (type=Allgather, team=(0 1), input=T0, output=T1, backend=NCCL)``."""
    _, named = keywords(split(inside, ", "))
    if "team" in named:
        named["team"] = [int(device) for device in re.findall(r"\d{1,18}", str(named["team"]))]
    return {
        "kind": NAMED[op],
        "op": op,
        "outputs": [str(named[key]) for key in _OUTPUTS if key in named],
        "inputs": [name for key, value in named.items() if key not in _OUTPUTS for name in VALUE.findall(str(value))],
        "attributes": named,
    }
