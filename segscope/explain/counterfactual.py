"""What would have become of a fusion without the early merges that are blamed for a cut: the proof that they matter.

``segscope.segmenter`` segments the fusion anew, by rules, with these merges refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from segscope.checks.facts import tensors_of
from segscope.explain.blocked import Blocked
from segscope.explain.history import History
from segscope.model import SegmentedFusion
from segscope.model.base import Model


class Counterfactual(Model):
    """The counts with merges refused, and without."""

    merges: tuple[int, ...]
    """Indices into ``History.merges`` of what was refused."""
    kernel_groups: tuple[int, int]
    """As segmented, and with the merges refused."""
    others: tuple[int, int]
    """The groups that launch no kernel, likewise."""
    unknown: int
    """Sets that were offered with the merges refused and of which nothing is known; they were taken for refused."""


def counterfactuals(
    fusion: SegmentedFusion, history: History, blocked: Sequence[Blocked]
) -> tuple[Counterfactual, ...]:
    """Refuse each merge that is ``Blocked.early``, then all of them, if there are several.

    Empty where there is no such merge, and where the segmenter does not make the groups of the dump by its own choices:
    then what it makes by others proves nothing.
    """
    early = sorted({pair.early for pair in blocked if pair.early is not None})
    if not early:
        return ()
    from segscope.errors import SegscopeError
    from segscope.segmenter import Lab, Policy
    from segscope.segmenter.explore import counts_of
    from segscope.segmenter.same import inexact

    try:
        lab = Lab(fusion)
        own = lab.run()
    except SegscopeError:
        return ()
    if inexact(fusion, own):
        return ()
    before = counts_of(fusion)
    found = []
    for merges in [*((index,) for index in early), *([tuple(early)] if len(early) > 1 else [])]:
        refuse = frozenset(frozenset(tensors_of(history.merges[index].outputs)) for index in merges)
        other = lab.run(Policy(refuse=refuse))
        after = counts_of(other.fusion)
        found.append(
            Counterfactual(
                merges=merges,
                kernel_groups=(before.kernel_groups, after.kernel_groups),
                others=(before.others, after.others),
                unknown=len(other.unknown),
            )
        )
    return tuple(found)
