"""Find the neighbours between which a property of the captures changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from segscope.errors import SegscopeError
from segscope.model import Capture
from segscope.model.base import Model
from segscope.sweep.point import Point, capture_point
from segscope.sweep.result import Result
from segscope.sweep.runner import attempt
from segscope.sweep.store import Store

Verdict = Literal["good", "bad", "skip"]


class EndsAlikeError(SegscopeError):
    """The ends do not differ as it was said that they do."""


class Step(Model):
    """A point that was looked at."""

    result: Result
    """What the table says of it."""
    verdict: Verdict
    """``skip``: there is no whole dump."""
    said: str
    """What the verdict is by."""


class Bisection(Model):
    """Where the property changes."""

    good: Step
    """The last point that has the property, in the order from good to bad."""
    bad: Step
    """The first that has it not."""
    skipped: tuple[Step, ...] = ()
    """Points between them that could not be had."""


def bisect(
    points: Sequence[Point],
    judge: Callable[[Capture], tuple[bool, str]],
    *,
    folder: str | Path,
    capture: Callable[[Point], Capture] = capture_point,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Bisection:
    """Return the neighbours between which a property is lost, of points in order: the first good, the last bad.

    Both ends are looked at first. A point that has no whole dump is passed over for the one nearest to the middle
    that is left.

    Args:
        points: such as ``product`` returns, or the same backwards.
        judge: says whether a capture has the property, and by what.
        folder: that of a sweep (``segscope.sweep.sweep``): what is there is not run again.
        capture: as for ``sweep``.
        on_step: is called with each point that was looked at.

    Raises:
        EndsAlikeError: the first point is not good, or the last not bad.
        SegscopeError: an end cannot be had, or what ``sweep`` raises.
    """
    if len(points) < 2:
        raise SegscopeError("good and bad are the same toolchain")
    store = Store(Path(folder))
    steps: dict[int, Step] = {}

    def look(position: int) -> Step:
        point = points[position]
        result = store.settled(point) or store.write(point, attempt(capture, point))
        verdict: Verdict = "skip"
        said = result.problem
        if result.counted:
            holds, said = judge(store.capture(result))
            verdict = "good" if holds else "bad"
        steps[position] = Step(result=result, verdict=verdict, said=said)
        on_step(steps[position])
        return steps[position]

    with store.locked():
        store.remember(points)
        low, high = 0, len(points) - 1
        _must_be("good", look(low))
        _must_be("bad", look(high))
        while left := [n for n in range(low + 1, high) if n not in steps]:
            middle = min(left, key=lambda n: abs(2 * n - low - high))
            step = look(middle)
            if step.verdict == "good":
                low = middle
            elif step.verdict == "bad":
                high = middle
    skipped = tuple(steps[n] for n in range(low + 1, high))
    return Bisection(good=steps[low], bad=steps[high], skipped=skipped)


def _must_be(verdict: Verdict, step: Step) -> None:
    name = step.result.point.toolchain
    if step.verdict == "skip":
        raise SegscopeError(f"the {verdict} end {name} cannot be had: {step.result.problem}")
    if step.verdict != verdict:
        raise EndsAlikeError(f"{name} was said to be {verdict}, and is {step.verdict}")
