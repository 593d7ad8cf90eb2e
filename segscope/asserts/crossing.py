"""What crosses from one group to another."""

from __future__ import annotations

from collections.abc import Sequence

from segscope.asserts.checked import Checked, fusion_of, fusions_of
from segscope.asserts.dtypes import as_printed
from segscope.asserts.message import fail
from segscope.asserts.selection import select
from segscope.asserts.together import places
from segscope.checks.facts import listed
from segscope.errors import SegscopeError
from segscope.model import Cut, SegmentedFusion
from segscope.render import words
from segscope.several import several

__tracebackhide__ = True


def assert_cut_between(fusion: Checked, a: str, b: str, *, over: str | Sequence[str] | None = None) -> None:
    """Assert that a value passes directly between a group with ``a`` and another with ``b``, in either direction.

    ``assert_cut_between(fusion, "neg", "pad", over="T15")``: ``over`` names tensors that must all be among what passes.
    Selectors: ``segscope.asserts.selection.select``. Groups with both do not count: there nothing is cut apart,
    whatever else passes between them.

    Raises AssertionError where nothing passes, or a selector selects nothing; SegscopeError where ``over`` is empty.
    """
    if over is not None and not over:
        raise SegscopeError("assert_cut_between: over is empty: name a tensor, or leave it out")
    found = fusion_of(fusion)
    one, other = select(found, a), select(found, b)
    both = one.groups & other.groups
    pairs = [(x, y) for x in one.groups - both for y in other.groups - both]
    ends = {end for x, y in pairs for end in ((x, y), (y, x))}
    cuts = [cut for cut in found.cuts if cut[:2] in ends]
    details = [f"{selection.selector}: {places(found, selection)}" for selection in (one, other)]
    concerned = one.groups | other.groups
    if not cuts:
        what = "nothing that passes directly between their groups"
        if not pairs:
            what = f"both together in {listed([found.groups[index].label for index in sorted(both)])}"
        fail(f"a cut between {a} and {b}", what, found, *details, concerned=concerned)
    passing = {value for cut in cuts for value in cut.values}
    wanted = several(() if over is None else over)
    if missing := [name for name in wanted if name not in passing]:
        details += [_cut(found, cut) for cut in cuts]
        asked = f"{listed(missing)} over the cut between {a} and {b}"
        fail(asked, listed(sorted(passing)), found, *details, concerned=concerned)


def assert_crossing_dtypes(checked: Checked, *dtypes: str) -> None:
    """Assert that all tensors that pass between two kernel groups have one of these dtypes.

    Dtypes are named as PyTorch does (``"bfloat16"``) or as nvFuser prints them (``"__bfloat"``).

    Raises AssertionError where a tensor has another, or one that the dump does not tell; SegscopeError for an unknown
    dtype.
    """
    if not dtypes:
        raise SegscopeError("assert_crossing_dtypes: name a dtype, as in 'bfloat16'")
    for fusion in fusions_of(checked):
        printed = as_printed(dtypes, (tensor.dtype for tensor in fusion.tensors.values()))
        kernels = {group.index for group in fusion.kernel_groups}
        wrong: dict[str, None] = {}
        concerned: set[int] = set()
        for cut in fusion.cuts:
            if kernels.issuperset(cut[:2]):
                others = [v for v in cut.values if v in fusion.tensors and fusion.tensors[v].dtype not in printed]
                wrong |= dict.fromkeys(others)
                concerned |= set(cut[:2]) if others else set()
        if wrong:
            found = listed([words.tensor(fusion, name) for name in wrong])
            fail(f"{' or '.join(dtypes)} between kernel groups", found, fusion, concerned=concerned)


def _cut(fusion: SegmentedFusion, cut: Cut) -> str:
    tensors = listed([words.tensor(fusion, value) for value in cut.values])
    return f"{fusion.groups[cut.source].label} -> {fusion.groups[cut.target].label}: {tensors}"
