"""One workload through one executor, with all that its compilers were given and made.

Runs inside a toolchain (see worker.py). Options: ``executor``; ``grad``; ``workload`` (``rope`` or ``function``), with
that workload's own options; ``inductor`` (the state to bring Inductor to, or empty); ``ablate`` (a direction, or null)
with ``edits``; ``calls``, of which times are the median; ``results``, a folder for a JSON file of each phase.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
from torch.utils._pytree import tree_leaves

from . import inductor, tensors
from .launches import launched

Record = dict[str, Any]

FORWARD, BACKWARD = "forward", "backward"

ON_THE_NULL_DEVICE = "SEGSCOPE_NULL_CARD" in os.environ


def phases(options: Record) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the first call in each direction, what later calls launch and, where asked for, ablation and times."""
    prepare_inductor(options)
    subject = Subject(options)
    yield FORWARD, subject.forward
    if options["grad"]:
        yield BACKWARD, subject.backward
    if options["ablate"]:
        yield "ablation", subject.ablate
        return
    yield "warm", subject.warm
    if not ON_THE_NULL_DEVICE:
        yield "times", subject.times


def prepare_inductor(options: Record) -> None:
    """Let Inductor compile anew, in this process, with names that tell kernels apart."""
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ[name] = f"{options['results']}/{name.lower()}"
    torch._inductor.config.force_disable_caches = True
    torch._inductor.config.compile_threads = 1
    torch._inductor.config.triton.unique_kernel_names = True
    torch._dynamo.config.automatic_dynamic_shapes = False
    if hasattr(torch._functorch.config, "donated_buffer"):
        torch._functorch.config.donated_buffer = False  # backward is run more than once
    if ON_THE_NULL_DEVICE:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner

        CachingAutotuner.bench = lambda self, *arguments, **options: 0.0  # the null device does not tell times
    if options["inductor"]:
        from . import july_2024

        if options["inductor"] != july_2024.NAME:
            raise ValueError(f"unknown state of Inductor: {options['inductor']}")
        july_2024.install()


class Subject:
    """A workload, its executor, and what is recorded of them."""

    def __init__(self, options: Record) -> None:
        self.options = options
        self.module, self.arguments = workload(options)
        self.run = compiled(self.module, options["executor"])
        self.by_thunder = options["executor"].startswith("thunder")
        self.inputs = [leaf for leaf in tree_leaves(self.arguments) if isinstance(leaf, torch.Tensor)]
        if isinstance(self.module, torch.nn.Module):
            self.inputs += self.module.parameters()
        self.outputs: list[torch.Tensor] = []
        """Of the first call."""
        self.graphs: list[inductor.Graph] = []
        self.recording = ExitStack()

    def call(self) -> list[torch.Tensor]:
        """Run forward and return the tensors of the result."""
        return [leaf for leaf in tree_leaves(self.run(*self.arguments)) if isinstance(leaf, torch.Tensor)]

    def differentiate(self, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Run backward and return the gradients that there are."""
        asked = [output for output in outputs if output.requires_grad]
        sources = [tensor for tensor in self.inputs if tensor.requires_grad]
        if not asked or not sources:
            raise ValueError("no output depends on a tensor that requires a gradient")
        given = [torch.empty_like(output) for output in asked]
        gradients = torch.autograd.grad(asked, sources, given, allow_unused=True, retain_graph=True)
        return [gradient for gradient in gradients if gradient is not None]

    def forward(self) -> None:
        """Record the first call."""
        self.graphs = self.recording.enter_context(inductor.recorded())
        self.outputs = self.call()
        self.save(FORWARD, self.record(FORWARD, self.inputs, self.outputs))

    def backward(self) -> None:
        """Record the first backward call; Inductor may have compiled for it before."""
        gradients = self.differentiate(self.outputs)
        given = [torch.empty_like(output) for output in self.outputs if output.requires_grad]
        self.save(BACKWARD, self.record(BACKWARD, given, gradients))

    def graphs_of(self, direction: str) -> list[inductor.Graph]:
        """Return the graphs of a direction: Thunder's regions all look like forward ones to Inductor."""
        if self.by_thunder:
            regions = len(self.inductor_regions(FORWARD))
            return self.graphs[:regions] if direction == FORWARD else self.graphs[regions:]
        return [graph for graph in self.graphs if graph.backward == (direction == BACKWARD)]

    def inductor_regions(self, direction: str) -> list[Record]:
        """Return the regions of Thunder's final trace that Inductor compiles."""
        from . import trace

        last = trace.traces(self.run, direction == BACKWARD)[-1]
        return [step for step in last["operations"] if step["compiler"] == "inductor"]

    def record(self, direction: str, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> Record:
        """Return what is known of a direction after its first call."""
        facts: Record = {
            "graphs": [graph.record() for graph in self.graphs_of(direction)],
            "inputs": tensors.facts(inputs),
            "outputs": tensors.facts(outputs),
            "least_bytes": tensors.least_bytes(inputs, outputs),
            "traces": [],
            "definitions": {},
        }
        if self.by_thunder:
            from . import trace

            facts["traces"] = trace.traces(self.run, direction == BACKWARD)
            facts["definitions"] = trace.definitions(self.run, direction == BACKWARD)
        return facts

    def warm(self) -> None:
        """Record what a later call launches, and what it keeps for backward."""
        self.recording.close()
        outputs: list[torch.Tensor] = []
        facts: Record = {FORWARD: launched(lambda: outputs.extend(self.call()))}
        if self.options["grad"]:
            facts[BACKWARD] = launched(lambda: self.differentiate(outputs))
            facts["saved"], facts["saved_as_is"] = tensors.saved(self.call, self.inputs)
        self.save("warm", facts)

    def ablate(self) -> None:
        """Compile the graphs of one direction again, without one thing at a time."""
        from . import ablation

        self.recording.close()
        direction = self.options["ablate"]
        rows: list[Record] = []
        for number, graph in enumerate(self.graphs_of(direction)):
            saved = self.saved_positions(number, graph) if direction == FORWARD else []
            trials = ablation.ablate(graph.module, saved, self.options["edits"], kernels_made)
            rows += [{"graph": number, **trial} for trial in trials]
            self.save("ablation", {"rows": rows})

    def saved_positions(self, number: int, graph: inductor.Graph) -> list[int]:
        """Return the outputs of a forward graph that the workload does not return: they are saved for backward."""
        results = next(node for node in reversed(graph.module.graph.nodes) if node.op == "output")
        count = len(tree_leaves(results.args))
        if not self.by_thunder:
            return list(range(len(self.outputs), count))
        from . import trace

        last = trace.traces(self.run, backward=False)[-1]
        outputs = self.inductor_regions(FORWARD)[number]["outputs"]
        if len(outputs) != count:
            return []
        return [place for place, name in enumerate(outputs) if name in last["saved"] and name not in last["outputs"]]

    def times(self) -> None:
        """Time both directions, and compare the numbers with float32 eager."""
        from . import accuracy, timing

        for tensor in self.inputs:
            with torch.no_grad():
                tensor.normal_() if tensor.is_floating_point() else tensor.zero_()
        calls = self.options["calls"]
        outputs = self.call()
        reference = tensors.leaves(tensors.in_float32(self.module)(*tensors.in_float32(self.arguments)))
        facts: Record = {
            FORWARD: {
                "timings": timing.times(self.call, calls=calls),
                "errors": accuracy.largest_errors(outputs, reference),
                "tuned": inductor.tuned(self.call),
            }
        }
        if self.options["grad"]:
            facts[BACKWARD] = {
                "timings": timing.times(lambda: self.differentiate(outputs), calls=calls),
                "tuned": inductor.tuned(lambda: self.differentiate(outputs)),
            }
        self.save("times", facts)

    def save(self, phase: str, facts: Record) -> None:
        """Write what a phase found."""
        file = Path(self.options["results"]) / f"{phase}.json"
        file.write_text(json.dumps(facts), encoding="utf-8")


def kernels_made(compile_graph: Callable[[], object]) -> int:
    """Return how many kernels Inductor makes meanwhile."""
    with inductor.recorded() as graphs:
        compile_graph()
    return sum(len(graph.kernels) for graph in graphs)


def workload(options: Record) -> tuple[Any, Any]:
    """Return the module or function, and its arguments."""
    if options["workload"] == "rope":
        from ..rope import subject

        return subject(options, options["grad"])
    from .. import function

    return function.subject(options)


def compiled(module: Any, executor: str) -> Any:
    """Return the module, to be run by an executor: ``eager``, ``torch.compile``, or ``thunder+`` names of Thunder's.

    Of Thunder's, ``torch.compile`` and ``torch.compile_cat`` are those of thunder/executors/torch_compile.py, which it
    registers under other names from version to version; the others go by the names of their registration.
    """
    if executor == "eager":
        return module
    if executor == "torch.compile":
        return torch.compile(module)
    import thunder.extend
    from thunder.executors import torch_compile

    ours = {"torch.compile": torch_compile.torch_compile_ex, "torch.compile_cat": torch_compile.torch_compile_cat_ex}
    executors = []
    for name in executor.split("+")[1:]:
        found = ours.get(name) or thunder.extend.get_executor(name)
        if found is None:
            known = [*ours, *(str(one.name) for one in thunder.extend.get_all_executors())]
            raise ValueError(f"Thunder has no executor {name!r}; valid: {', '.join(known)}")
        executors.append(found)
    return thunder.jit(module, executors=executors)
