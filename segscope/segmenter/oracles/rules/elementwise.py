"""What the schedulers of elementwise groups demand: one connected graph, one reference, one size for each broadcast."""

from __future__ import annotations

from typing import Final

from segscope.segmenter.oracles.rules.classes import SetOfExprs

LOOKUPS: Final = frozenset({"select", "index_select", "gather"})


def is_connected(group: SetOfExprs) -> bool:
    """Say whether all outputs hang together, over shared inputs too.

    Source: ``isConnectedFusionGraph`` in csrc/scheduler/registry_utils.cpp.
    """
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    for node in group.nodes:
        first, *others = (*group.whole.writes[node], *group.whole.reads[node])
        for other in others:
            parent[find(other)] = find(first)
    return len({find(name) for name in group.all_outputs}) <= 1


def breaks_boundary(group: SetOfExprs) -> str | None:
    """Return why a slice, pad or look-up may not read a value that the group computes; None where none does.

    Source: ``rejectScheduleForMemoryPromotion`` in csrc/scheduler/registry_utils.cpp.
    """
    for node in group.nodes:
        expr = group.whole.exprs[node]
        if (group.dims.steps[node].resized or expr.kind in LOOKUPS) and expr.tensor_inputs[0] not in group.inputs:
            return f"{expr.kind} {expr.outputs[0]} reads {expr.tensor_inputs[0]}, which is computed"
    return None


def reference(group: SetOfExprs, *, outputs_too: bool) -> str | None:
    """Return the output that covers the dimensions of every input, the first of highest rank; None where none does.

    With ``outputs_too`` it must cover those of every other output. Source: ``DomainMap::isValidReference`` in
    csrc/scheduler/tools/domain_map.cpp.
    """
    wanted = needed(group)
    covering = [
        name
        for name in group.outputs
        if wanted <= group.behind(name) and (not outputs_too or covers_outputs(group, name))
    ]
    return max(covering, key=group.dims.rank, default=None)


def needed(group: SetOfExprs) -> set[int]:
    """Return the classes of dimensions that a reference must have to cover every input.

    A broadcast counts where the group broadcasts it to something.
    """
    dims = group.dims
    read = [dim for name in group.inputs for dim in dims.of(name) if dims.all[dim].kind != "r"]
    found = {_concrete(group, dim) if dims.is_broadcast(dim) else group.exact.find(dim) for dim in read}
    return {dim for dim in found if dim is not None}


def covers_outputs(group: SetOfExprs, name: str) -> bool:
    """Say whether a tensor has all dimensions that those of the outputs are made from, their broadcasts aside."""
    dims, find = group.dims, group.exact.find
    covered = group.sources(find(dim) for dim in dims.of(name))
    for output in group.outputs:
        broadcasts = {find(dim) for dim in dims.of(output) if dims.is_broadcast(dim)}
        for source in group.sources(find(dim) for dim in dims.of(output)):
            concrete = _concrete(group, source) if dims.is_broadcast(source) else source
            if not group.sources([source if concrete is None else concrete]) <= covered | broadcasts:
                return False
    return True


def _concrete(group: SetOfExprs, dim: int) -> int | None:
    """Return the exact class that a broadcast is broadcast to in the group."""
    return group.concrete.get(group.permissive.find(dim))


def has_ambiguous_broadcast(group: SetOfExprs) -> bool:
    """Say whether a broadcast is broadcast to dimensions that are not the same.

    Source: ``hasNonUniqueBcast`` in csrc/scheduler/registry_utils.cpp.
    """
    dims = group.dims
    begins: dict[int, set[int]] = {
        dim: {dim} for name in group.inputs for dim in dims.of(name) if dims.is_broadcast(dim)
    }
    becomes: dict[int, set[int]] = {}
    for step in group.steps:
        begins.update((dim, {dim}) for dim in step.new)
        for before, after in step.pairs:
            if not dims.is_broadcast(before):
                continue
            sources = begins.get(before, set())
            if dims.is_broadcast(after):
                begins.setdefault(after, set()).update(sources)
            else:
                for source in sources:
                    becomes.setdefault(source, set()).add(group.exact.find(after))
    return any(len(found) > 1 for found in becomes.values())
