"""Compare executors: run each, ablate where they differ, explain."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args

from segscope.capture import function
from segscope.capture.cases import EDITS, EXECUTORS
from segscope.capture.rope import rope_options
from segscope.compare.executors.explain import explain
from segscope.compare.executors.model import Ablation, Comparison, Direction, Explanation, Run
from segscope.compare.executors.run import Place, Workload, run_ablation, run_executor
from segscope.errors import SegscopeError

_EXECUTOR: Final = re.compile(r"eager|torch\.compile|thunder(\+[^+]+)+")


def compare_rope_executors(
    config: str = "tiny-llama-1.1b",
    *,
    executors: Sequence[str] = EXECUTORS,
    grad: bool = False,
    edits: Sequence[str] = (),
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    batch: int = 2,
    sequence_length: int | None = None,
    dtype: str = "bfloat16",
    timeout: float = 600.0,
) -> Comparison:
    """Run RoPE through each executor, in a process of its own, and explain what differs from torch.compile.

    Args:
        config: a name of ``segscope.ROPE_CONFIGS``.
        executors: ``eager``, ``torch.compile``, or ``thunder+`` and names of Thunder's executors, the first asked
            first: ``nvfuser``, ``torch.compile``, ``torch.compile_cat``, or what Thunder registers.
        grad: ask for gradients, and run backward too.
        edits: edits of the graphs that Inductor got (see ``capture/workloads/executors/edits.py``) which are made
            before one thing at a time is taken away. Where there are some, each executor's graphs are ablated, else
            only those of an executor whose kernels are not as many as torch.compile's.
        toolchain: a name of ``segscope toolchain list``, or ``current``; the default toolchain if None.
        device: ``cuda``, ``null``, or ``auto``: a GPU where there is one that the toolchain can use, else the null
            device. On a GPU kernels are timed, too.
        card: the card that the null device plays.
        batch: sequences.
        sequence_length: tokens in a sequence; the model's block size if None.
        dtype: ``bfloat16``, ``float16`` or ``float32``.
        timeout: seconds after which each of the child processes is ended.

    Raises:
        SegscopeError: an argument is not known, or the toolchain or device cannot be had. An executor that fails is
            told in its ``Run.problem``.
    """
    options = rope_options(config, batch=batch, sequence_length=sequence_length, dtype=dtype)
    workload = Workload(f"RoPE of {config}", "rope", options)
    return _compare(workload, executors, grad, edits, Place(toolchain, device, card, timeout))


def compare_executors(
    fn: Callable[..., Any] | str,
    *args: object,
    executors: Sequence[str] = EXECUTORS,
    grad: bool = False,
    edits: Sequence[str] = (),
    init: Sequence[object] | Mapping[str, object] | None = None,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    timeout: float = 600.0,
) -> Comparison:
    """Run ``fn(*args)`` through each executor, and explain what differs, as ``compare_rope_executors`` does.

    ``fn``, ``args`` and ``init`` are what ``capture_function`` takes, the others what ``compare_rope_executors`` takes.

    Raises SegscopeError as these do; a shape where a tensor is meant fails in the children.
    """
    request = function.request(fn, *args, toolchain=toolchain, grad=grad, init=init, jit=None)
    workload = Workload(request.workload, "function", request.options, request.carried)
    return _compare(workload, executors, grad, edits, Place(toolchain, device, card, timeout))


def _compare(
    workload: Workload, executors: Sequence[str], grad: bool, edits: Sequence[str], place: Place
) -> Comparison:
    _refuse_unknown(executors, edits)
    runs = tuple(run_executor(workload, executor, grad=grad, place=place) for executor in dict.fromkeys(executors))
    comparison = Comparison(workload=workload.name, options=workload.options, grad=grad, runs=runs)
    if comparison.reference is None:
        return comparison
    explanations = [
        found
        for run in runs
        if run is not comparison.reference
        for direction in get_args(Direction)
        if (found := _explain(workload, run, comparison.reference, direction, grad, tuple(edits), place))
    ]
    return comparison.model_copy(update={"explanations": tuple(explanations)})


def _refuse_unknown(executors: Sequence[str], edits: Sequence[str]) -> None:
    for what, names in (("executors", executors), ("edits", edits)):
        if isinstance(names, str):
            raise SegscopeError(f"{what} {names!r}: must be a sequence of names, such as ({names!r},)")
    if not executors:
        raise SegscopeError(f"no executors: name at least one, such as {EXECUTORS}")
    for name in executors:
        if not _EXECUTOR.fullmatch(name):
            raise SegscopeError(
                f"unknown executor {name!r}: must be eager, torch.compile, or thunder+NAME with names of Thunder's "
                "executors, such as thunder+nvfuser"
            )
    for name in edits:
        if name.partition(":")[0] not in EDITS:
            raise SegscopeError(f"unknown edit {name!r}; valid: {', '.join(EDITS)}")


def _explain(
    workload: Workload,
    run: Run,
    reference: Run,
    direction: Direction,
    grad: bool,
    edits: tuple[str, ...],
    place: Place,
) -> Explanation | None:
    here, there = run.get(direction), reference.get(direction)
    ablations: tuple[Ablation, ...] = ()
    problem: str | None = None
    ablated = direction == "forward" if edits else here and there and len(here.kernels) != len(there.kernels)
    if here and there and ablated:
        regions = [region.name for region in here.regions if region.compiler == "inductor"]
        if regions:
            rows, problem = run_ablation(
                workload, run.executor, grad=grad, direction=direction, edits=edits, place=place
            )
            ablations = tuple(Ablation.model_validate({"region": regions[row.pop("graph")], **row}) for row in rows)
    return explain(run, reference, direction, ablations, problem)
