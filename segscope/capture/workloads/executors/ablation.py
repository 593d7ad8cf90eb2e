"""Compiles a graph that was handed to Inductor again, each time with one thing taken away, and counts the kernels."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
import torch._dynamo
import torch._inductor.config as inductor
from torch.fx import GraphModule

from .edits import ADDS, applicable, apply

Count = Callable[[Callable[[], object]], int]
"""Runs what it is given, and returns how many kernels Inductor generates meanwhile."""
Row = dict[str, Any]


def ablate(graph: GraphModule, saved: Sequence[int], edits_first: Sequence[str], count: Count) -> list[Row]:
    """Return a row for the graph, one for each edit that it has something for, and one for each condition of Inductor.

    ``saved`` are the positions of the outputs that are only saved for backward. ``edits_first`` are the names of edits
    that come before, in every row; if the graph has nothing for one of them, there is one row, which says so.
    """
    what = "as it is"
    for name in edits_first:
        offered = {edit.name: edit.what for edit in applicable(graph, saved)}
        if name not in offered:
            return [row(graph, edits_first, what, problem=f"the graph has nothing for the edit {name}")]
        what = offered[name]
        graph, saved = apply(graph, [name], saved)

    trials: list[tuple[list[str], list[str], str, AbstractContextManager[object]]] = [([], [], what, nullcontext())]
    taken = [edit for edit in applicable(graph, saved) if edit.name != ADDS]
    trials += [([edit.name], [edit.name], edit.what, nullcontext()) for edit in taken]
    trials += [([name], [], what, condition) for name, what, condition in conditions()]
    rows = []
    for names, edits, what, condition in trials:
        module, kernels, problem = graph, None, None
        try:
            module, _ = apply(graph, edits, saved)
            with condition:
                kernels = count(partial(compile_anew, module))
        except Exception as error:  # whatever a compiler raises
            problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
        rows.append(row(module, [*edits_first, *names], what, kernels, problem))
    return rows


def row(
    module: GraphModule, edits: Sequence[str], what: str, kernels: int | None = None, problem: str | None = None
) -> Row:
    """Return what is said of a graph that was compiled again.

    ``edits`` are the names of all edits, and of the condition; ``what`` says what the last of them does;
    ``operations`` are those of the graph then; ``kernels`` is None where it did not compile, for ``problem``.
    """
    operations = sum(node.op == "call_function" for node in module.graph.nodes)
    return {"edits": [*edits], "what": what, "operations": operations, "kernels": kernels, "problem": problem}


def conditions() -> Iterator[tuple[str, str, AbstractContextManager[object]]]:
    """Yield what can be changed in this Inductor: a name, what is then different, a context in which it is."""
    now = getattr(inductor, "loop_ordering_after_fusion", None)
    if now is not None:
        word = "without" if now else "with"
        yield "loop-ordering", f"{word} loop ordering after fusion", inductor.patch(loop_ordering_after_fusion=not now)
    july = sys.modules.get(f"{__package__}.july_2024")  # it can be imported only beside torch 2.4.0
    if july and july.installed():
        yield "no-opaque-index", "without the opaque index of cat", july.without_opaque_index()
        yield "new-cat", "with a cat that drops operands without elements", july.with_new_cat()


def compile_anew(module: GraphModule) -> None:
    """Compile a graph for static shapes, whatever was compiled before, and run it once on zeros."""
    inputs = [zeros(node.meta["val"]) for node in module.graph.nodes if node.op == "placeholder"]
    torch._dynamo.reset()
    with torch.no_grad(), inductor.patch(force_disable_caches=True):
        torch.compile(module, fullgraph=True, dynamic=False)(*inputs)


def zeros(value: Any) -> Any:
    """Return a tensor like a fake one, with its strides; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    size = 1 + sum((extent - 1) * stride for extent, stride in zip(value.shape, value.stride(), strict=True))
    storage = torch.zeros(max(size, 0), dtype=value.dtype, device=value.device)
    return storage.as_strided(value.shape, value.stride())
