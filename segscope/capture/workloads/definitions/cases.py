"""Small programs, each about one thing that the segmenter does: nvFuser's own tests, with static shapes; softmax."""

from collections.abc import Callable
from typing import Any

import torch

from .definition import DTYPES, Definition


def add_sum_sum(define: Definition) -> None:
    """tests/python/direct/test_python_direct.py, ``test_fusion_profiler_auto_scheduled``."""
    total = define.sum(define.add(define.input(2, 5), define.input(2, 5)), [1])
    define.output(define.sum(total, [0]))


def slice_rotate_cat(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeSchedulerTest.SliceRotateCat``."""
    define.output(_rotated(define, define.input(16, 100)))


def slice_rotate_cat_residual(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeSchedulerTest.SliceRotateCatResidual``."""
    x = define.input(16, 100)
    define.output(define.add(x, _rotated(define, x)))


def _rotated(define: Definition, x: Any) -> Any:
    left = define.slice(define.sin(x), [0, 0], [16, 50])
    right = define.slice(define.sin(x), [0, 50], [16, 100])
    return define.cat([right, left], 1)


def cat_between_pointwise(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeSchedulerTest.PropagateCatToInputs``."""
    sines = [define.sin(x) for x in (define.input(16, 100), define.input(16, 100))]
    define.output(define.cos(define.cat(sines, 1)))


def reshape_to_slice(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeTest.ReshapeToSlice``, which has scalars for shapes, and so two groups."""
    define.output(define.slice(define.reshape(define.input(4, 3), [3, 4]), [0, 0], [3, 2]))


def reshape_to_pad(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeTest.ReshapeToPad``."""
    define.output(define.pad(define.reshape(define.input(4, 3), [3, 4]), [0, 1, 0, 1]))


def slice_and_index(define: Definition) -> None:
    """tests/cpp/test_resize.cpp, ``ResizeTest.DoNotFuseResizeAndIndexOps``."""
    x, index = define.input(128, 4095), define.input(1, 4096, dtype=torch.int64)
    define.output(define.take_along_axis(x, define.slice(index, [0, 1], [1, 4096]), 0))


def privatize_upcast(define: Definition) -> None:
    """tests/cpp/test_segmentation.cpp, ``SegmentationTest.PrivatizeUpcast``."""
    x = define.cast(define.segment_set(define.input(16, 32, dtype=torch.bfloat16)), torch.float32)
    define.output(define.sum(x, [0]), define.sum(x, [1]))


def forwarded_neg(define: Definition) -> None:
    """tests/cpp/test_segmentation.cpp, ``SegmentationTest.ForwardedExprsAreReplicated``."""
    x = define.neg(define.input(10, 20))
    define.output(define.sum(x, [0]), define.sum(x, [1]))


def not_all_outputs_alias(define: Definition) -> None:
    """tests/cpp/test_alias.cpp, ``AliasTest.NotAllOutputsAlias_Pointwise``."""
    x = define.reshape(define.input(2, 3), [6])
    define.output(define.broadcast_in_dim(x, [5, 6], [1]), define.add(x, x))


def domain_map_factory(define: Definition) -> None:
    """tests/cpp/test_pointwise.cpp, ``PointwiseTest.DomainMapFactory``."""
    row, table = define.input(25), define.input(7, 25)
    row = define.broadcast(row, [True, True, False])
    ones = define.full([4, 1, 25], define.fusion.define_scalar(1.0), DTYPES[torch.float32])
    define.output(define.add(row, table), define.mul(row, ones))


def three_sums(define: Definition) -> None:
    """tests/cpp/test_runtime.cpp, ``RuntimeTest.ClearGmemBetweenSegments``."""
    x = define.input(32, 64, 8, 128, dtype=torch.float64)
    x = define.sum(define.add(x, define.fusion.define_scalar(1.0)), [0])
    define.output(define.sum(define.sum(x, [2]), [0]))


def softmax_8x32768(define: Definition) -> None:
    """Softmax over few long rows: in one kernel or three, as the card has multiprocessors."""
    _softmax(define, 8, 32768)


def softmax_8192x98304(define: Definition) -> None:
    """Softmax over rows that fill a multiprocessor: in one kernel or three, as the card has shared memory and clusters.

    nvFuser of today asks the driver what clusters the card can run, an answer that the null device invents.
    """
    _softmax(define, 8192, 98304)


def _softmax(define: Definition, rows: int, columns: int) -> None:
    along_rows = [False, True]
    x = define.cast(define.input(rows, columns, dtype=torch.bfloat16), torch.float32)
    powers = define.exp(define.sub(x, define.broadcast(define.max(x, [1]), along_rows)))
    shares = define.div(powers, define.broadcast(define.sum(powers, [1]), along_rows))
    define.output(define.cast(shares, torch.bfloat16))


CASES: dict[str, Callable[[Definition], None]] = {
    program.__name__.replace("_", "-"): program
    for program in (
        add_sum_sum,
        slice_rotate_cat,
        slice_rotate_cat_residual,
        cat_between_pointwise,
        reshape_to_slice,
        reshape_to_pad,
        slice_and_index,
        privatize_upcast,
        forwarded_neg,
        not_all_outputs_alias,
        domain_map_factory,
        three_sums,
        softmax_8x32768,
        softmax_8192x98304,
    )
}
