"""nvFuser's words, and what they say of a group."""

from collections.abc import Iterable
from typing import Final

from segscope.errors import SegscopeError

SCHEDULERS: Final = (
    "no_op",
    "pointwise",
    "resize",
    "transpose",
    "reduction",
    "inner_persistent",
    "outer_persistent",
    "inner_outer_persistent",
    "persistent",
    "matmul",
    "expr_eval",
    "greedy",
    "communication",
    "cutlass",
    "none",
)
"""Scheduler names that some nvFuser since March 2023 prints.

``persistent`` was split in three in September 2023; ``no-op``, an older spelling, is read as ``no_op``. Source:
``operator<<`` of ``SchedulerType`` in csrc/scheduler/scheduler_types.cpp, and its history.
"""


OWN_KERNEL: Final = frozenset({"expr_eval", "communication"})
"""Schedulers that hand each of their expressions on, to ATen or NCCL, whose kernels hold nothing else."""


def check_scheduler(name: str, present: Iterable[str]) -> None:
    """Raise SegscopeError for a scheduler that no known nvFuser has and that is not ``present`` either."""
    if name not in SCHEDULERS and name not in present:
        raise SegscopeError(f"unknown scheduler {name!r}; valid: {', '.join(SCHEDULERS)}")


KERNEL_NAME: Final = (
    r"nvfuser_(?P<scheduler>\w+?)"
    r"_f(?P<fusion>\d{1,9})_c(?P<concretization>\d{1,9})_r(?P<runtime>\d{1,9})_g(?P<group>\d{1,9})(?!\w)"
)
"""A regular expression for the names that nvFuser gives its kernels: ``nvfuser_resize_f0_c1_r0_g4``.

Source: ``CompiledKernel::createKernelId`` in csrc/runtime/compiled_kernel.cpp, docs/dump-format.md section 5.2; since
9 November 2023.
"""

METADATA_KINDS: Final = frozenset(
    {"reshape", "permute", "slice", "squeeze", "broadcast", "expand", "set", "segmenter_set"}
)
"""Kinds of expression that move no data when nvFuser evaluates them alone: the result is a view of the input."""


def launches_kernel(scheduler: str, kinds: Iterable[str]) -> bool:
    """Say whether a group is a kernel group, by its scheduler and the kinds of its expressions on tensors.

    ``no_op`` launches nothing; ``expr_eval`` hands its expressions to ATen, which launches nothing when all of them are
    metadata operations; every other scheduler makes a kernel.
    """
    if scheduler == "expr_eval":
        return any(kind not in METADATA_KINDS for kind in kinds)
    return scheduler != "no_op"


_INFIX: Final = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "mod",
    "==": "eq",
    "!=": "ne",
    ">=": "ge",
    "<=": "le",
    ">": "gt",
    "<": "lt",
    "&&": "logical_and",
    "||": "logical_or",
    "<<": "lshift",
    ">>": "rshift",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
}
_PREFIX: Final = {"-": "neg", "!": "logical_not", "~": "bitwise_not"}
_NAMED_BY_OPERATOR: Final = frozenset({"unary", "binary", "ternary", "unknown"})


def operation(kind: str, op: str) -> str:
    """Return the word for an expression: ``slice``, ``cast``, ``neg``, ``rsqrtf``, ..."""
    if kind not in _NAMED_BY_OPERATOR:
        return kind
    return (_PREFIX if kind == "unary" else _INFIX).get(op, op)
