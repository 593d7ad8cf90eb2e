"""What is recorded of one executor: what it was given, what it made of it, what it launched."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import Field

from segscope.capture.cases import REFERENCE
from segscope.compare.executors.region import CompilerName, Kernel, Region
from segscope.model import Capture, ChildEnd
from segscope.model.base import Model
from segscope.model.traffic import total

Direction = Literal["forward", "backward"]


class TensorFacts(Model):
    """A tensor as it is stored."""

    dtype: str
    """torch's name, such as ``bfloat16``."""
    shape: tuple[int, ...]
    bytes: int
    """Of the elements that it shows; what an expanded dimension repeats counts once."""


class TracedOperation(Model):
    """A bound symbol of a Thunder trace."""

    name: str
    """The symbol's name: ``mul``, ``split``, ``convert_element_type``, ``TorchCompile0``, ..."""
    executor: str | None
    """The executor that claimed it; None where none did yet."""
    compiler: CompilerName | None
    """What compiles it; None where it is no region."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Names of the tensors that it reads and makes."""
    inside: tuple[TracedOperation, ...] = ()
    """For a region, what was fused into it; for another symbol, what it decomposes to."""


class Trace(Model):
    """A stage of a Thunder trace."""

    stage: str
    """``original``, or the transform that made it, as Thunder names it."""
    text: str
    operations: tuple[TracedOperation, ...]
    outputs: tuple[str, ...]
    """Names of the tensors that the traced function returns, in order; those saved for backward are not among them."""
    saved: tuple[str, ...] = ()
    """Names of the tensors that it saves for backward."""


class Timing(Model):
    """Times of one direction on a GPU, over many calls, with a warm or with a cold L2 cache."""

    l2: Literal["warm", "cold"]
    calls: int
    kernel_us: float
    """Median over calls of the sum of the kernels' times, in microseconds."""
    each_us: dict[str, float]
    """Median of each kernel, by name; a name that is launched several times counts as a sum."""
    gap_us: float
    """Median over calls of the time between kernels in which the GPU waited."""
    host_us: float
    """Median time for the call to return, without waiting for the GPU."""


class Pass(Model):
    """One direction of one executor."""

    direction: Direction
    """``forward``, or ``backward`` for gradients."""
    regions: tuple[Region, ...]
    """What reached compilers, in order; none for eager."""
    launches: tuple[str, ...]
    """The kernels that a later call launches, in order: those of the regions, and torch's own."""
    traces: tuple[Trace, ...] = ()
    """Thunder's, each stage that changed something."""
    capture: Capture | None = None
    """What nvFuser printed, where it had a part."""
    inputs: tuple[TensorFacts, ...]
    """What it is given: arguments and parameters, or for backward the gradients of the results."""
    outputs: tuple[TensorFacts, ...]
    """What it returns: results, or for backward the gradients."""
    saved: tuple[TensorFacts, ...] = ()
    """What forward makes and keeps for backward."""
    saved_as_is: tuple[TensorFacts, ...] = ()
    """Inputs and outputs that forward keeps for backward."""
    least_bytes: int
    """Bytes of the inputs and of the outputs that are no views of them, each moved once."""
    timings: tuple[Timing, ...] = ()
    """With a warm and with a cold L2 cache; empty where nothing was timed, as on the null device."""
    tuned: dict[str, str] = Field(default_factory=dict)
    """The configuration that Inductor's autotuner chose for each kernel by measuring, as Triton writes it."""
    errors: tuple[float, ...] = ()
    """Largest absolute difference of each output from float32 eager; empty where nothing was computed."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of all regions."""
        return tuple(kernel for region in self.regions for kernel in region.kernels)

    @property
    def segments(self) -> int | None:
        """Groups that nvFuser cut its regions into; None where it has none."""
        counts = [region.segments for region in self.regions if region.segments is not None]
        return sum(counts) if counts else None

    @property
    def bytes_read(self) -> int | None:
        """Bytes that the kernels read; None where there are none, or where it is not known of one."""
        return total(buffer.bytes for kernel in self.kernels for buffer in kernel.reads) if self.kernels else None

    @property
    def bytes_written(self) -> int | None:
        """Bytes that the kernels write; None where there are none, or where it is not known of one."""
        return total(buffer.bytes for kernel in self.kernels for buffer in kernel.writes) if self.kernels else None


class Run(Model):
    """One executor on one workload; where it ran and how it ended is told as in ``Provenance``."""

    executor: str
    """``eager``, ``torch.compile``, ``thunder+nvfuser``, ..."""
    toolchain: str
    """Name of the toolchain that it ran in."""
    versions: dict[str, str]
    """``segscope``, ``python``, ``torch``, ``nvfuser``, ``thunder``, as far as they are known."""
    device: Literal["cuda", "null"]
    """``cuda`` for a GPU, ``null`` for the null device."""
    card: str
    """The card's name as torch reports it, or the name of the card that the null device plays."""
    end: ChildEnd
    """How its process ended."""
    passes: tuple[Pass, ...]
    """Forward, and backward where gradients were asked for, as far as it got."""
    problem: str | None = None
    """Why there are fewer passes than were asked for, in one line."""

    def get(self, direction: Direction) -> Pass | None:
        """Return the pass of a direction, if it got that far."""
        return next((one for one in self.passes if one.direction == direction), None)


class Difference(Model):
    """Operations of which one graph has more than another."""

    kind: str
    """The word for them; ``output`` for what is returned."""
    here: int
    there: int
    """How many this executor's graph has, and the reference's."""
    nodes: tuple[str, ...]
    """Those of the graph that has more; none where the other one has."""


class Ablation(Model):
    """A graph compiled again with something taken away."""

    region: str
    """Name of the region whose graph it is."""
    edits: tuple[str, ...]
    """Names of what was done to the graph or to the compiler; none for the graph as it is."""
    what: str
    """The last of them, in words."""
    operations: int
    """How many the graph has then."""
    kernels: int | None
    """None where it does not compile."""
    problem: str | None
    """Why it does not, in one line."""


class Explanation(Model):
    """Why an executor makes other kernels than the reference."""

    executor: str
    """The executor that is explained."""
    reference: str
    """The executor that it is explained against."""
    direction: Direction
    """The direction that it is about."""
    kernels: int
    """How many kernels this executor's regions became."""
    reference_kernels: int
    """How many the reference's became."""
    first_difference: str | None
    """The first operation of this executor's graph that the reference's has not, and what that does there instead."""
    differences: tuple[Difference, ...] = ()
    """Operations and outputs of which the two graphs have different numbers, most different first."""
    ablations: tuple[Ablation, ...] = ()
    """What was compiled again; the first of each region is what its others are measured against."""
    causes: tuple[Ablation, ...] = ()
    """The ablations that alone bring the count to the reference's."""
    text: str
    """The explanation in sentences, each from what is recorded here."""


class Comparison(Model):
    """One workload through several executors."""

    schema_version: Literal[1] = 1
    """The form of the JSON; a comparison of another one is refused."""
    workload: str
    """What was run: a configuration of RoPE, or a function."""
    options: dict[str, str | int | bool | None]
    """What defines the workload: configuration, batch, sequence length, dtype."""
    grad: bool
    """Whether gradients were asked for, and backward was run too."""
    runs: tuple[Run, ...]
    """One for each executor, in the order in which they were named."""
    explanations: tuple[Explanation, ...] = ()
    """For each other executor and direction, where both were given something to compile."""

    @property
    def reference(self) -> Run | None:
        """The run that the others are explained against: that of ``torch.compile``, if it got that far."""
        return next((run for run in self.runs if run.executor == REFERENCE and run.passes), None)

    def _repr_mimebundle_(self, include: Collection[str] | None = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import comparison_mimebundle

        return comparison_mimebundle(self, include)
