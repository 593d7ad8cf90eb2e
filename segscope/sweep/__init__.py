"""Sweeps: many captures of one workload, over toolchains, configurations, cards and options of nvFuser."""

from segscope.sweep.axes import product
from segscope.sweep.bisect import Bisection, EndsAlikeError, Step, bisect
from segscope.sweep.point import Point, capture_point
from segscope.sweep.result import Failure, Result
from segscope.sweep.runner import missing, sweep
from segscope.sweep.toolchains import between, date_of, dated, expand

__all__ = [
    "Bisection",
    "EndsAlikeError",
    "Failure",
    "Point",
    "Result",
    "Step",
    "between",
    "bisect",
    "capture_point",
    "date_of",
    "dated",
    "expand",
    "missing",
    "product",
    "sweep",
]
