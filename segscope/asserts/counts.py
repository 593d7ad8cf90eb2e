"""What the names in the expressions of ``segscope assert`` count."""

from __future__ import annotations

from segscope.asserts.checked import Checked, fusions_of
from segscope.asserts.findings import counting
from segscope.asserts.language import Term
from segscope.errors import SegscopeError
from segscope.vocabulary import SCHEDULERS


def count_of(term: Term, checked: Checked) -> int:
    """Return what a name stands for, over all fusions.

    * ``kernel_groups``, ``groups``, ``cuts``, ``fusions``: how many there are;
    * a scheduler: how many groups it has;
    * ``findings(RULE, ...)``: how many findings the rules have; ``findings``: how many errors and warnings all have.

    Raises AssertionError where a dump is incomplete, SegscopeError for a name that means nothing.
    """
    fusions = fusions_of(checked)
    counts = {
        "kernel_groups": sum(len(fusion.kernel_groups) for fusion in fusions),
        "groups": sum(len(fusion.groups) for fusion in fusions),
        "cuts": sum(len(fusion.cuts) for fusion in fusions),
        "fusions": len(fusions),
    }
    if term.name in counts:
        return counts[term.name]
    if term.name == "findings":
        return len(counting(checked, term.rules))
    schedulers = checked.schedulers
    if term.name not in schedulers and term.name not in SCHEDULERS:
        valid = ", ".join([*counts, "findings", *SCHEDULERS])
        raise SegscopeError(f"unknown name {term.name!r}; valid: {valid}")
    return schedulers.get(term.name, 0)
