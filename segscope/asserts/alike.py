"""That two segmentations are the same."""

from __future__ import annotations

from segscope.asserts.checked import Checked, fusions_of
from segscope.asserts.message import groups_text
from segscope.checks import structure

__tracebackhide__ = True


def assert_same_segmentation(a: Checked, b: Checked) -> None:
    """Assert that the second computes the same as the first and is cut in the same way.

    The numbers of tensors, expressions and groups do not count, nor their order (``segscope.checks.structure``); of
    captures, nor does the order of the fusions.

    Raises AssertionError, which says in words what differs.
    """
    if _structures(a) == _structures(b):
        return
    from segscope.compare import diff
    from segscope.compare.report import as_text

    found = diff(a, b)
    what = "the same groups, with other scalars or edges between them" if found.is_same else as_text(found)
    both = "\n\n".join(groups_text(checked, ()) for checked in (a, b))
    raise AssertionError(f"asked for the same segmentation, found {what}\n\n{both}")


def _structures(checked: Checked) -> list[tuple[str, str]]:
    found = [structure(fusion) for fusion in fusions_of(checked)]
    return sorted((each.segmentation, each.computation) for each in found)
