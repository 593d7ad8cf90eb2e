"""How many groups there are, by scheduler."""

from __future__ import annotations

from segscope.asserts.bounds import HowMany, bound
from segscope.asserts.checked import Checked, fusions_of
from segscope.asserts.message import fail
from segscope.checks.facts import listed
from segscope.errors import SegscopeError
from segscope.vocabulary import check_scheduler

__tracebackhide__ = True


def assert_groups(
    checked: Checked, total: HowMany | None = None, /, *, others: HowMany = 0, **schedulers: HowMany
) -> None:
    """Assert how many groups there are: of each scheduler that is named, and of all (``total``).

    ``assert_groups(fusion, pointwise=2, expr_eval=4)``, ``assert_groups(fusion, 6, resize="<=2")``. A number is exact;
    a bound is a text such as ``"<=2"``. Of a capture, the groups of all its fusions are counted.

    Where a scheduler is named, ``others`` is how many *kernel groups* of schedulers that are not named there may be: by
    default none, so that a kernel more, or one whose scheduler another nvFuser calls otherwise, does not pass unseen;
    ``others=">=0"`` lets them be. Metadata groups (``no_op``, ``expr_eval``) that are not named are not looked at.

    Raises:
        AssertionError: a count is not as asked, or a dump is incomplete.
        SegscopeError: a scheduler that no known nvFuser has, or what is no bound.
    """
    if total is None and not schedulers:
        raise SegscopeError("assert_groups: name how many groups: in all, or by scheduler, as in pointwise=2")
    fusions_of(checked)  # refuses half a dump
    present, kernels = checked.schedulers, checked.kernel_schedulers
    asked, wrong = [], []
    if total is not None:
        limit = bound(total)
        asked.append(limit.of("groups"))
        if not limit.holds(count := sum(present.values())):
            wrong.append(f"{count} groups")
    for name, given in schedulers.items():
        check_scheduler(name, present)
        limit = bound(given)
        asked.append(limit.of(name))
        if not limit.holds(count := present.get(name, 0)):
            wrong.append(f"{count} {name}")
    details = [note for name in schedulers if (note := renamed(name, checked))]
    if schedulers:
        limit = bound(others)
        left = {name: count for name, count in kernels.items() if name not in schedulers}
        if not limit.holds(sum(left.values())):
            wrong.append(_counted(left) if left else "no other kernel groups")
            asked.append(limit.of("other kernel groups"))
    if wrong:
        fail(listed(asked), listed(wrong), checked, *details)


def assert_kernel_groups(checked: Checked, how_many: HowMany) -> None:
    """Assert how many groups launch a kernel: ``assert_kernel_groups(capture, "<=2")``; of a capture, in all fusions.

    Raises AssertionError where it is another number, or where a dump is incomplete.
    """
    limit = bound(how_many)
    count = sum(len(fusion.kernel_groups) for fusion in fusions_of(checked))
    if not limit.holds(count):
        fail(limit.of("kernel groups"), str(count), checked)


def renamed(scheduler: str, checked: Checked) -> str:
    """Say that a scheduler has no group, and which have the kernel groups; empty where it has one, or none has."""
    kernels = checked.kernel_schedulers
    if not kernels or scheduler in checked.schedulers:
        return ""
    return f"no {scheduler} group here; the kernel groups are {_counted(kernels)}"


def _counted(counts: dict[str, int]) -> str:
    return listed([f"{count} {name}" for name, count in counts.items()])
