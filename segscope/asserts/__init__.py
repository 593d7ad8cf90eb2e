"""Assertions about segmentations: plain functions that raise AssertionError with the groups and what bears on them.

They need no pytest. What cannot be judged, because a selector, a bound or a scheduler's name is wrong, raises
SegscopeError instead.
"""

from segscope.asserts.alike import assert_same_segmentation
from segscope.asserts.crossing import assert_crossing_dtypes, assert_cut_between
from segscope.asserts.findings import assert_no_findings
from segscope.asserts.group import assert_group
from segscope.asserts.groups import assert_groups, assert_kernel_groups
from segscope.asserts.refusals import assert_refused
from segscope.asserts.together import assert_different_groups, assert_same_group

__all__ = [
    "assert_crossing_dtypes",
    "assert_cut_between",
    "assert_different_groups",
    "assert_group",
    "assert_groups",
    "assert_kernel_groups",
    "assert_no_findings",
    "assert_refused",
    "assert_same_group",
    "assert_same_segmentation",
]
