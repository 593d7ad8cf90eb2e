"""Records Thunder's traces: what was traced, what each transform made of it, and which executor claimed what."""

import re
from typing import Any

import thunder
from thunder.core.proxies import TensorProxy
from torch.utils._pytree import tree_leaves

Record = dict[str, Any]

QUIET = frozenset(
    (
        "python_del del python_return return comment check_tensor_shape_and_metadata unpack_trivial unpack_sequence "
        "unpack_key unpack_attr unpack_empty_dict unpack_dict_key unpack_list clear_collection clear_mutable_collection"
    ).split()
)
"""Symbols that only move names (thunder/core/prims.py)."""

FOLDERS = re.compile(r"# /\S*/(?=[^/\s]+\.py:\d)")
"""Where the file of a source line is, in a trace's comments."""


def traces(compiled: Any, backward: bool) -> list[Record]:
    """Return the stages of the last computation of a function that ``thunder.jit`` compiled, without those alike."""
    stages = thunder.last_backward_traces(compiled) if backward else thunder.last_traces(compiled)
    found: list[Record] = []
    for number, stage in enumerate(stages):
        record = stage_record(stage, "original" if number == 0 and len(stages) > 1 else "")
        if all(record["text"] != other["text"] for other in found):
            found.append(record)
    return found


def stage_record(stage: Any, name: str) -> Record:
    """Return a stage; one without a name is called what Thunder says of where it came from."""
    provenance = str(stage.get_provenance() or "").removeprefix("# Constructed by ").partition(" (")[0]
    lines = [FOLDERS.sub("# ", line) for line in str(stage).splitlines() if not line.startswith("# Constructed by")]
    outputs, saved = returned(stage)
    return {
        "stage": name or provenance,
        "text": "\n".join(lines) + "\n",
        "operations": [operation(symbol) for symbol in stage.bound_symbols if symbol.sym.name not in QUIET],
        "outputs": outputs,
        "saved": saved,
    }


def operation(symbol: Any) -> Record:
    """Return a bound symbol, with what is inside of it."""
    executor = None if symbol.sym.executor is None else str(symbol.sym.executor.name)
    return {
        "name": symbol.sym.name,
        "executor": executor,
        "compiler": compiler(executor) if symbol.sym.is_fusion else None,
        "inputs": tensor_names(symbol.flat_proxy_args),
        "outputs": tensor_names(symbol.flat_proxy_outs),
        "inside": [operation(part) for part in symbol.subsymbols if part.sym.name not in QUIET],
    }


def compiler(executor: str | None) -> str | None:
    """Return what compiles the regions of an executor (thunder/executors); None for one that is not known."""
    if executor == "nvfuser":
        return "nvfuser"
    return "inductor" if executor and executor.startswith("torchcompile") else None


def returned(stage: Any) -> tuple[list[str], list[str]]:
    """Return the names of the tensors that a stage returns, and of those that it saves for backward.

    A forward trace that saves something returns a pair, of its results and what it saves; the results are a dict that
    has them flat, too (thunder/transforms/autodiff.py, thunder/core/transforms.py).
    """
    last = stage.bound_symbols[-1] if stage.bound_symbols else None
    if last is None or last.sym.name not in ("python_return", "return"):
        return [], []
    results = last.args[0] if len(last.args) == 1 else last.args
    saved: Any = ()
    if isinstance(results, (tuple, list)) and results and isinstance(results[0], dict):
        results, saved = results[0], results[1:]
    if isinstance(results, dict):
        results = results.get("flat_output", results.get("output", ()))
    return tensor_names(tree_leaves(results)), tensor_names(tree_leaves(saved))


def tensor_names(values: Any) -> list[str]:
    """Return the names of those that are tensors, each once."""
    return list(dict.fromkeys(value.name for value in values if isinstance(value, TensorProxy)))


def definitions(compiled: Any, backward: bool) -> dict[str, str]:
    """Return the FusionDefinition that each region of nvFuser ran last, as Python text."""
    last = (thunder.last_backward_traces(compiled) if backward else thunder.last_traces(compiled))[-1]
    called = {name: value for symbol in last.bound_symbols for name, value in (symbol._call_ctx or {}).items()}
    return {name: str(value.last_used) for name, value in called.items() if getattr(value, "last_used", None)}
