"""That rules find nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segscope.asserts.checked import Checked, fusions_of
from segscope.asserts.message import fail
from segscope.checks import Finding, check
from segscope.checks.facts import listed
from segscope.several import several

__tracebackhide__ = True


def assert_no_findings(checked: Checked, *, select: str | Iterable[str] = (), ignore: str | Iterable[str] = ()) -> None:
    """Assert that rules find nothing: ``assert_no_findings(fusion, select="fp32-crossing")``.

    ``select`` names one rule or several, ``ignore`` those that are not run (``segscope check --list``). Of rules that
    are selected every finding counts; where none is selected, all run, and only errors and warnings count: notes say
    what there is to know, such as why each cut is there. No configuration is read.

    Raises AssertionError with the findings; SegscopeError for a name of no rule.
    """
    fusions_of(checked)
    found = counting(checked, several(select), several(ignore))
    if not found:
        return
    rules = list(dict.fromkeys(finding.rule for finding in found))
    details = [line for finding in found for line in (f"  {finding}", f"    {finding.advice}")]
    count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
    asked = f"no findings of {listed(list(several(select)))}" if select else "no findings"
    fail(asked, f"{count} of {listed(rules)}", checked, *details, concerned=())


def counting(checked: Checked, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[Finding]:
    """Return the findings that count: of selected rules all, where none is selected errors and warnings."""
    return [f for f in check(checked, select, ignore) if select or f.severity != "note"]
