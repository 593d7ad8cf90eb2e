"""The same fusion in other groups."""

from __future__ import annotations

from collections.abc import Sequence

from segscope.model import Edge, SegmentedFusion


def regrouped(fusion: SegmentedFusion, *groups: tuple[str, Sequence[int]]) -> SegmentedFusion:
    """Give a fusion these groups, each a scheduler and ids of expressions; edges follow, and values listed do not."""
    exprs = {expr.id: expr for expr in fusion.exprs}
    made = [{name for number in ids for name in exprs[number].outputs} for _, ids in groups]
    read = [{name for number in ids for name in exprs[number].inputs} - made[i] for i, (_, ids) in enumerate(groups)]
    edges = [
        Edge(source=source, target=target, value=name)
        for target, names in enumerate(read)
        for name in sorted(names)
        for source in range(len(groups))
        if name.startswith("T") and name in made[source]
    ]
    template = fusion.groups[0]
    return fusion.model_copy(
        update={
            "edges": tuple(edges),
            "groups": tuple(
                template.model_copy(
                    update={
                        "index": index,
                        "id": 100 + index,
                        "scheduler": scheduler,
                        "inputs": tuple(sorted(read[index])),
                        "outputs": tuple(sorted(made[index])),
                        "expr_ids": tuple(ids),
                    }
                )
                for index, (scheduler, ids) in enumerate(groups)
            ),
        }
    )


def groups_of(fusion: SegmentedFusion) -> list[tuple[str, tuple[int, ...]]]:
    return [(group.scheduler, group.expr_ids) for group in fusion.groups]
