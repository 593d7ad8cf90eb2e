"""Asks nvFuser's schedulers whether they take groups as one kernel each; runs no kernel.

Runs inside a toolchain (see worker.py). Options: ``programs``, a file with a JSON list of programs (segscope.explain's
``Program``), and ``answers``, the file to write: a line of JSON for each program, as soon as its answer is there. A
program that nvFuser does not take as a definition, or that crashes it, ends the run.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

try:
    import nvfuser_direct as nvfuser

    SCHEDULERS = nvfuser.SchedulerType.__members__
except ImportError:
    import nvfuser

    SCHEDULERS = nvfuser.SchedulerHeuristic.__members__

ORDER = (
    "expr_eval",
    "no_op",
    "matmul",
    "reduction",
    "resize",
    "transpose",
    "pointwise",
    "inner_persistent",
    "outer_persistent",
    "inner_outer_persistent",
)
"""Schedulers in the order in which nvFuser asks them (csrc/scheduler/scheduler_types.h).

Those that its Python API does not name are not asked: communication, greedy, cutlass. Resize came in December 2024.
"""

VIEWS = frozenset("reshape permute slice squeeze broadcast expand set segment_set".split())
"""Functions that make views of their operand."""

TELLS_LAYOUTS = hasattr(getattr(nvfuser, "TensorView", None), "set_allocation_domain")
"""Whether a definition can give a tensor its allocation domain."""

DTYPES = {
    "half": ("Half", torch.float16),
    "bfloat": ("BFloat16", torch.bfloat16),
    "float": ("Float", torch.float32),
    "double": ("Double", torch.float64),
    "int32": ("Int32", torch.int32),
    "int64": ("Int", torch.int64),
    "bool": ("Bool", torch.bool),
    "complex_float": ("ComplexFloat", torch.complex64),
    "complex_double": ("ComplexDouble", torch.complex128),
}
"""In nvFuser and in torch, by the words of the cast operators."""


def phases(options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield one phase, which asks about every program."""
    programs = json.loads(Path(options["programs"]).read_text(encoding="utf-8"))

    def ask_all() -> None:
        with open(options["answers"], "w", encoding="utf-8") as answers:
            for program in programs:
                print(json.dumps(ask(program)), file=answers, flush=True)

    yield "questions", ask_all


def ask(program: dict[str, Any]) -> dict[str, Any]:
    """Return the scheduler that takes the program, and what each one before it said, in nvFuser's words."""
    definition = nvfuser.FusionDefinition()
    with definition:
        define(definition, program)
    inputs = [
        torch.empty_strided(given["shape"], given["strides"], dtype=dtype_of(given["dtype"])[1], device="cuda")
        for given in program["inputs"]
    ]
    can_schedule = asker(definition, inputs)
    said: list[tuple[str, str]] = []
    for name in ORDER:
        if name in SCHEDULERS:
            accepts, text = can_schedule(SCHEDULERS[name])
            if accepts:
                return {"accepted": name, "said": said}
            said.append((name, text))
        if name == "no_op" and not TELLS_LAYOUTS and {call["function"] for call in program["calls"]} <= VIEWS:
            return {"problem": "this nvFuser cannot be told that an output is a view, as no_op requires"}
    return {"accepted": None, "said": said}


def asker(definition: Any, inputs: list[torch.Tensor]) -> Callable[[Any], tuple[bool, str]]:
    """Return what asks one scheduler: since 2025 a function of a module, before a part of user schedules."""
    if hasattr(nvfuser, "schedule"):
        return lambda scheduler: nvfuser.schedule.can_schedule(definition.fusion, scheduler, inputs)
    definition._setup_schedule(inputs)
    return lambda scheduler: definition.sched.can_schedule(scheduler)


def define(definition: Any, program: dict[str, Any]) -> None:
    """Define the program's inputs, operations and outputs."""
    values = {given["name"]: define_input(definition, given) for given in program["inputs"]}
    for call in program["calls"]:
        arguments = [argument(given, values, definition) for given in call["arguments"]]
        values[call["output"]] = made = operation(definition, call["function"])(*arguments)
        layout = program["layouts"].get(call["output"])
        if layout and TELLS_LAYOUTS:
            logical = made.get_logical_domain()
            made.set_allocation_domain(
                [logical[position] for position in layout["order"]], False not in layout["contiguity"]
            )
    for name in program["outputs"]:
        definition.add_output(values[name])


def define_input(definition: Any, given: dict[str, Any]) -> Any:
    """Define an input; the API wants the rank of each dimension in memory, the innermost being 0."""
    order = given["layout"]["order"]
    return definition.define_tensor(
        shape=given["shape"],
        contiguity=given["layout"]["contiguity"],
        dtype=nvfuser_dtype(given["dtype"]),
        stride_order=[len(order) - 1 - order.index(position) for position in range(len(order))],
    )


def operation(definition: Any, function: str) -> Callable[..., Any]:
    """Return a function of ``definition.ops``; ``expand`` of old versions is a broadcast that adds no dimension."""
    if function == "expand" and not hasattr(definition.ops, "expand"):
        return lambda tensor, shape: definition.ops.broadcast_in_dim(tensor, shape, list(range(len(shape))))
    made: Callable[..., Any] = getattr(definition.ops, function)
    return made


def argument(given: Any, values: dict[str, Any], definition: Any) -> Any:
    """Return an argument as the API takes it."""
    if isinstance(given, list):
        return [argument(item, values, definition) for item in given]
    if not isinstance(given, dict):
        return given
    if "value" in given:
        return values[given["value"]]
    if "scalar" in given:
        return definition.define_scalar(number(given["scalar"], given["dtype"]), nvfuser_dtype(given["dtype"]))
    return nvfuser_dtype(given["dtype"])


def number(text: str, dtype: str) -> bool | int | float:
    """Read a number as nvFuser prints it."""
    if dtype == "bool":
        return text == "true"
    return int(text) if dtype.startswith("int") else float(text)


def nvfuser_dtype(word: str) -> Any:
    """Return nvFuser's dtype."""
    return getattr(nvfuser.DataType, dtype_of(word)[0])


def dtype_of(word: str) -> tuple[str, torch.dtype]:
    """Return nvFuser's name of a dtype, and torch's dtype."""
    if word not in DTYPES:
        raise ValueError(f"dtype {word} cannot be rebuilt")
    return DTYPES[word]
