"""The same workload through several executors: what each compiler was given, what it made, and why they differ."""

from segscope.compare.executors.compare import compare_executors, compare_rope_executors
from segscope.compare.executors.model import Comparison, Run
from segscope.compare.executors.reading import read

__all__ = ["Comparison", "Run", "compare_executors", "compare_rope_executors", "read"]
