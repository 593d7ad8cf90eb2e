"""A piece that reached a compiler, the graph that it was lowered to, and the kernels that it became."""

from __future__ import annotations

import re
from math import prod
from typing import Literal

from segscope.model.base import Model

CompilerName = Literal["inductor", "nvfuser"]


class Region(Model):
    """What reached a compiler as one piece."""

    name: str
    """Thunder's, ``TorchCompile0`` or ``nvFusion0``; ``graph0``, ... for what torch.compile hands to Inductor."""
    compiler: CompilerName
    """What compiles it: ``inductor`` or ``nvfuser``."""
    outputs: tuple[int | None, ...]
    """For each output which result of the workload it is, by position; None for one that is no result."""
    saved: tuple[int, ...]
    """Positions of the outputs that are only there for backward."""
    nodes: tuple[Node, ...] = ()
    """Inductor's graph as it was lowered: after Dynamo, AOTAutograd, decompositions and Inductor's passes over it."""
    definition: str = ""
    """nvFuser's FusionDefinition, as Python text."""
    segments: int | None = None
    """Groups that nvFuser cut it into; None for Inductor, which makes kernels without such a step."""
    kernels: tuple[Kernel, ...] = ()
    """The kernels that it became."""
    why_not: tuple[WhyNotFused, ...] = ()
    """Why pieces of it are not one kernel, two at a time."""


class Node(Model):
    """An operation, input or output of the graph that Inductor lowered."""

    name: str
    operation: str
    """``aten.mul.Tensor``, ...; ``placeholder`` or ``output``."""
    inputs: tuple[str, ...]
    """Names of the nodes that it reads, each once; of ``output`` all that is returned, in order, ``None`` too."""
    arguments: str
    """All arguments as text, nodes by name."""
    dtype: str | None
    shape: tuple[int, ...] | None
    """None where it makes no tensor, or several."""

    @property
    def bytes(self) -> int | None:
        """Bytes of its elements; None where it makes no tensor, or several."""
        if self.dtype is None or self.shape is None:
            return None
        bits = re.search(r"\d+", self.dtype)
        return prod(self.shape) * (int(bits.group()) // 8 if bits else 1)


class Buffer(Model):
    """What a kernel reads or writes."""

    name: str
    dtype: str
    bytes: int | None
    """Of the elements that it touches, each counted once; None where nvFuser's dump gives no numbers."""


class Kernel(Model):
    """A kernel that a compiler made of some operations of a region."""

    name: str
    """As it is launched; of one that no compiler made, such as a matrix product's, what calls it."""
    scheduler: str
    """nvFuser's scheduler; ``triton`` or ``extern`` for Inductor."""
    operations: tuple[str, ...]
    """Names of nodes of the region, or ids of nvFuser's expressions."""
    kinds: tuple[str, ...]
    """What they do, each once, in the words that both compilers share (``segscope.compare.executors.words``)."""
    work: tuple[tuple[str, int], ...]
    """What it does for which result of the workload, by position, each pair once; casts, constants and metadata
    operations only where it does nothing else."""
    reads: tuple[Buffer, ...]
    """What it reads of memory, also through views."""
    writes: tuple[Buffer, ...]
    """What it leaves in memory."""


class WhyNotFused(Model):
    """A reason for which two pieces are not one kernel: Inductor's, or that of a scheduler of nvFuser."""

    first: str
    second: str
    """Buffers that Inductor writes in one loop, joined with ``+``; or nvFuser's groups."""
    first_operations: tuple[str, ...]
    second_operations: tuple[str, ...]
    reason: str
    times: int
    """How often it was given."""
