"""Why an executor makes other kernels than torch.compile, from what was recorded and from ablation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segscope.checks.facts import listed
from segscope.compare.executors.graphs import differences, first_difference
from segscope.compare.executors.model import Ablation, Direction, Explanation, Pass, Region, Run


def explain(run: Run, reference: Run, direction: Direction, ablations: Sequence[Ablation]) -> Explanation | None:
    """Explain a run's kernels in one direction against the reference's; None where one of them has none."""
    here, there = run.get(direction), reference.get(direction)
    if here is None or there is None or not here.regions or not there.regions:
        return None
    mine = [region for region in here.regions if region.nodes]
    other = [region for region in there.regions if region.nodes]
    pair = (mine[0].nodes, other[0].nodes) if mine and other else None
    wanted = len(there.kernels)
    causes = _causes(ablations, len(here.kernels), wanted)
    return Explanation(
        executor=run.executor,
        reference=reference.executor,
        direction=direction,
        kernels=len(here.kernels),
        reference_kernels=wanted,
        first_difference=first_difference(*pair) if pair else None,
        differences=differences(*pair) if pair else (),
        ablations=tuple(ablations),
        causes=causes,
        text=" ".join(_sentences(run, reference, here, there, ablations, causes)),
    )


def _causes(ablations: Sequence[Ablation], kernels: int, wanted: int) -> tuple[Ablation, ...]:
    """Return the ablations of one region after which the whole has as many kernels as the reference."""
    plain = {one.region: one for one in ablations if _is_plain(one, ablations)}
    return tuple(
        one
        for one in ablations
        if one is not plain[one.region]
        and (before := plain[one.region].kernels) is not None
        and one.kernels is not None
        and one.kernels != before
        and abs(_whole(kernels, plain) - before + one.kernels - wanted) == 0
    )


def _whole(kernels: int, plain: dict[str, Ablation]) -> int:
    """Return the kernels before anything is taken away, where edits came first: those of the regions as edited."""
    counts = [one.kernels for one in plain.values() if one.kernels is not None]
    return sum(counts) if any(one.edits for one in plain.values()) else kernels


def _is_plain(one: Ablation, ablations: Sequence[Ablation]) -> bool:
    return one is next(other for other in ablations if other.region == one.region)


def _sentences(
    run: Run,
    reference: Run,
    here: Pass,
    there: Pass,
    ablations: Sequence[Ablation],
    causes: Sequence[Ablation],
) -> Iterable[str]:
    mine, other = len(here.kernels), len(there.kernels)
    if mine == other:
        yield f"{here.direction.capitalize()}, {run.executor} makes as many kernels as {reference.executor}: {mine}."
    else:
        yield f"{here.direction.capitalize()}, {run.executor} makes {mine} kernels, {reference.executor} {other}."
    yield from _of_traffic(here, there)
    yield from _of_ablations(reference, there, ablations, causes)
    for region in here.regions:
        if region.compiler == "nvfuser" and mine != other:
            yield from _of_nvfuser(region)


def _of_traffic(here: Pass, there: Pass) -> Iterable[str]:
    made = sum(tensor.bytes for tensor in here.saved)
    if made:
        listed_ = listed([f"{tensor.dtype} {list(tensor.shape)}" for tensor in here.saved])
        kept = f"as it is, {_mb(sum(t.bytes for t in there.saved))}" if there.saved else "nothing that it has to make"
        yield f"It makes and keeps {_mb(made)} for backward ({listed_}); the other keeps {kept}."


def _of_ablations(
    reference: Run, there: Pass, ablations: Sequence[Ablation], causes: Sequence[Ablation]
) -> Iterable[str]:
    if not ablations:
        return
    if ablations[0].edits:
        yield f"With {ablations[0].what}, it makes {ablations[0].kernels}."
    if causes:
        ways = "; ".join(one.what for one in causes)
        yield f"Each of these alone makes it {causes[0].kernels}: {ways}."
        count = sum(node.operation not in ("placeholder", "output") for r in there.regions for node in r.nodes)
        most = max(causes, key=lambda one: one.operations)
        if most.operations > count:
            yield (
                f"That its graph is decomposed further does not matter by itself: {most.what}, it still has "
                f"{most.operations} operations where {reference.executor}'s has {count}, and as many kernels."
            )
    plain = {one.region: one.kernels for one in reversed(ablations)}
    partial = [one for one in ablations if one not in causes and one.kernels not in (None, plain[one.region])]
    for one in partial:
        yield f"{one.what.capitalize()}: {one.kernels}."
    same = [one.what for one in ablations[1:] if one.kernels == plain[one.region]]
    if same:
        yield f"No difference makes: {listed(same)}."


def _of_nvfuser(region: Region) -> Iterable[str]:
    yield f"nvFuser cut {region.name} into {region.segments} segments, {len(region.kernels)} of them kernels."
    for why in region.why_not:
        yield f"{why.first} and {why.second} are two: {why.reason}."


def _mb(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
