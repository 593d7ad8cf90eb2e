"""Why an executor makes other kernels than torch.compile, from what was recorded and from ablation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isnan
from typing import Final

from segscope.checks.facts import listed
from segscope.compare.executors.graphs import differences, first_difference
from segscope.compare.executors.model import Ablation, Direction, Explanation, Pass, Run
from segscope.compare.executors.region import Region

WRONG: Final = 10
"""How many times the reference's largest error is no matter of rounding any more."""

Trials = dict[str, list[Ablation]]
"""The ablations of each region, the first of which takes nothing away."""


def explain(
    run: Run, reference: Run, direction: Direction, ablations: Sequence[Ablation], problem: str | None = None
) -> Explanation | None:
    """Explain a run's kernels in one direction against the reference's; None where one of them has none.

    ``problem`` says why there are fewer ablations than were asked for.
    """
    here, there = run.get(direction), reference.get(direction)
    if here is None or there is None or not here.regions or not there.regions:
        return None
    mine = [region for region in here.regions if region.nodes]
    other = [region for region in there.regions if region.nodes]
    pair = (mine[0].nodes, other[0].nodes) if mine and other else None
    trials: Trials = {}
    for one in ablations:
        trials.setdefault(one.region, []).append(one)
    causes = _causes(trials, here, there)
    sentences = [*_sentences(run, reference, here, there, trials, causes)]
    if problem:
        sentences.append(f"Taking one thing at a time away did not get to its end: it {problem.rstrip('.')}.")
    return Explanation(
        executor=run.executor,
        reference=reference.executor,
        direction=direction,
        kernels=len(here.kernels),
        reference_kernels=len(there.kernels),
        first_difference=first_difference(*pair) if pair else None,
        differences=differences(*pair) if pair else (),
        ablations=tuple(ablations),
        causes=causes,
        text=" ".join(sentences),
    )


def _causes(trials: Trials, here: Pass, there: Pass) -> tuple[Ablation, ...]:
    """Return the ablations that alone bring the pass to the reference's number of kernels."""
    kernels = {region.name: len(region.kernels) for region in here.regions}
    kernels |= {name: of_region[0].kernels or 0 for name, of_region in trials.items()}
    wanted = len(there.kernels)
    return tuple(
        one
        for name, (plain, *others) in trials.items()
        for one in others
        if one.kernels not in (None, plain.kernels)
        and sum(kernels.values()) - kernels[name] + (one.kernels or 0) == wanted
    )


def _sentences(
    run: Run, reference: Run, here: Pass, there: Pass, trials: Trials, causes: Sequence[Ablation]
) -> Iterable[str]:
    mine, other = len(here.kernels), len(there.kernels)
    many = f"as many kernels as {reference.executor}: {mine}" if mine == other else f"{mine} kernels"
    against = "" if mine == other else f", {reference.executor} {other}"
    yield f"{here.direction.capitalize()}, {run.executor} makes {many}{against}."
    made = sum(tensor.bytes for tensor in here.saved)
    if made > sum(tensor.bytes for tensor in there.saved):
        tensors = listed([f"{tensor.dtype} {list(tensor.shape)}" for tensor in here.saved])
        yield f"It makes and keeps {made / 1e6:.1f} MB for backward ({tensors})."
    yield from _of_errors(reference, here, there)
    yield from _of_times(reference, here, there)
    for name, (plain, *others) in trials.items():
        where = f"In {name}, " if len(trials) > 1 else ""
        if plain.kernels is None:
            yield _sentence(f"{where}{plain.problem}")
            continue
        if plain.edits:
            yield _sentence(f"{where}{plain.what}, it makes {plain.kernels}")
        yield from _of_ablations(where, plain, others, [one for one in causes if one.region == name])
    if causes:
        yield from _of_decomposition(reference, there, causes)
    if mine != other:
        for region in here.regions:
            if region.compiler == "inductor" and region.why_not:
                yield f"Inductor's reasons not to fuse in {region.name}: {_reasons(region)}."
        if len(here.regions) > len(there.regions):
            names = listed([region.name for region in here.regions])
            yield f"It cut the trace into {names}, of which each is compiled for itself."
        for region in here.regions:
            if region.compiler == "nvfuser":
                yield from _of_nvfuser(region)


def _of_errors(reference: Run, here: Pass, there: Pass) -> Iterable[str]:
    """Say which results are much farther from float32 eager than the reference's; NaN in that tells nothing."""
    largest = max((error for error in there.errors if not isnan(error)), default=0.0)
    for place, (mine, other) in enumerate(zip(here.errors, there.errors, strict=False)):
        if not isnan(other) and not mine <= WRONG * largest:
            yield (
                f"Its result {place} is wrong: it differs from float32 eager by up to {mine:.2g}, that of "
                f"{reference.executor} by {other:.2g}."
            )


def _of_times(reference: Run, here: Pass, there: Pass) -> Iterable[str]:
    """Say how long the kernels take, and which of those that do the same were tuned otherwise."""
    if not here.timings or not there.timings:
        return
    mine, other = here.timings[0], there.timings[0]
    yield (
        f"Its kernels take {mine.kernel_us:.1f} µs and a call {mine.host_us:.1f} µs of the host, against "
        f"{other.kernel_us:.1f} µs and {other.host_us:.1f} µs of {reference.executor}."
    )
    counts = [Counter(kernel.work for kernel in one.kernels) for one in (here, there)]
    theirs = {kernel.work: kernel.name for kernel in there.kernels}
    for kernel in here.kernels:
        is_only = all(count[kernel.work] == 1 for count in counts)
        twin = theirs[kernel.work] if is_only else ""
        chosen, chosen_there = here.tuned.get(kernel.name), there.tuned.get(twin)
        if chosen and chosen_there and chosen != chosen_there:
            yield (
                f"The autotuner chose {chosen} for {kernel.name} ({mine.each_us.get(kernel.name, 0):.1f} µs), and "
                f"{chosen_there} for its twin ({other.each_us.get(twin, 0):.1f} µs)."
            )


def _of_ablations(where: str, plain: Ablation, others: Sequence[Ablation], causes: Sequence[Ablation]) -> Iterable[str]:
    if causes:
        each = "each of these alone makes" if len(causes) > 1 else "one change alone makes"
        yield _sentence(f"{where}{each} it {causes[0].kernels}: the graph {'; '.join(one.what for one in causes)}")
    if same := [one.what for one in others if one.kernels == plain.kernels]:
        yield _sentence(f"{where}it makes {plain.kernels} also {listed(same)}")


def _of_decomposition(reference: Run, there: Pass, causes: Sequence[Ablation]) -> Iterable[str]:
    """Say that decomposition does not matter by itself, where a graph has more operations than the reference's then."""
    count = sum(node.operation not in ("placeholder", "output") for region in there.regions for node in region.nodes)
    most = max(causes, key=lambda one: one.operations)
    if most.operations > count:
        yield (
            f"That the graph is decomposed further than {reference.executor}'s does not matter by itself: "
            f"{most.what} it still has {most.operations} operations against {count}, and as many kernels."
        )


def _reasons(region: Region) -> str:
    counts: Counter[str] = Counter()
    for why in region.why_not:
        counts[why.reason] += why.times
    often = {reason: "once" if times == 1 else f"{times} times" for reason, times in counts.most_common()}
    return listed([f"{reason} ({how})" for reason, how in often.items()])


def _of_nvfuser(region: Region) -> Iterable[str]:
    yield f"nvFuser cut {region.name} into {region.segments} segments, {len(region.kernels)} of them kernels."
    for why in region.why_not:
        yield _sentence(f"groups {why.first} and {why.second} are two kernels: {why.reason}")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
