"""Rules about segmented fusions, one a file.

A package adds its own by naming a subclass of ``Check`` in the entry point group ``segscope.checks``.
"""

from segscope.checks.base import Check
from segscope.checks.finding import Finding, Severity
from segscope.checks.registry import checks, choose
from segscope.checks.run import check, run_rules
from segscope.checks.structure import Structure, structure

__all__ = ["Check", "Finding", "Severity", "Structure", "check", "checks", "choose", "run_rules", "structure"]
