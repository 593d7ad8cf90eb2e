"""The pytest plugin: fixture and marker ``segscope``, and what a failed test shows and keeps.

pytest imports this file in every session: until a test uses the fixture it imports nothing else of segscope.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from segscope.testing import Segscope
    from segscope.testing.captures import Captures

_MARKED: Final = ("toolchain", "device", "card", "disable", "enable")
_TAIL: Final = 4000
"""Characters that are shown of what a child printed."""

_USED: Final = pytest.StashKey["Segscope"]()
_COUNTED: Final = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("segscope", "segmentations of nvFuser")
    group.addoption(
        "--segscope-toolchain",
        metavar="NAME",
        help="Toolchain of captures that do not name one themselves; goes before the marker segscope.",
    )
    group.addoption(
        "--segscope-require",
        action="store_true",
        help="Fail, rather than skip, tests whose toolchain is not installed.",
    )
    group.addoption(
        "--segscope-artifacts",
        metavar="DIR",
        help="Write the captures of each failed test there: dump, JSON, SVG, HTML.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse a toolchain that is not known."""
    config.addinivalue_line(
        "markers", f"segscope({', '.join(f'{name}=' for name in _MARKED)}): options of captures in a test"
    )
    if name := config.getoption("--segscope-toolchain"):
        from segscope.capture.toolchain import state
        from segscope.errors import ToolchainError

        try:
            state(name)
        except ToolchainError as error:
            raise pytest.UsageError(f"--segscope-toolchain: {error}") from None


@pytest.fixture(scope="session")
def _segscope_captures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captures:
    from segscope.testing.captures import Captures

    worker: dict[str, Any] | None = getattr(request.config, "workerinput", None)
    if worker is None:
        return Captures(None)
    return Captures(tmp_path_factory.getbasetemp().parent / f"segscope-{worker['testrunuid']}")


@pytest.fixture
def segscope(request: pytest.FixtureRequest, _segscope_captures: Captures) -> Iterator[Segscope]:
    """Captures of what nvFuser makes of functions and of RoPE, and assertions about them."""
    from segscope.model.count import noting
    from segscope.testing import Segscope

    require = request.config.getoption("--segscope-require")
    made = Segscope(_segscope_captures, _defaults(request.node), require=require)
    request.node.stash[_USED] = made
    with noting() as made.counted:
        yield made


def _defaults(node: pytest.Item) -> dict[str, Any]:
    """Return the options of the markers, the nearest first, and the toolchain of the command line before them."""
    found: dict[str, Any] = {}
    for mark in node.iter_markers("segscope"):
        wrong = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in _MARKED)]
        if wrong:
            pytest.fail(f"marker segscope: {', '.join(wrong)} not known; valid: {', '.join(_MARKED)}", pytrace=False)
        found = {**mark.kwargs, **found}
    if name := node.config.getoption("--segscope-toolchain"):
        found["toolchain"] = name
    return found


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    """Explain a comparison with what ``count`` returned; the groups follow in a section of the report."""
    if "segscope.model.count" not in sys.modules:
        return None
    from segscope.asserts.comparison import compared

    lines, groups = compared(op, left, right)
    config.stash[_COUNTED] = groups
    return lines or None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add to the report of a failed test what was counted, what a child printed, and what was kept of its captures."""
    error = None if call.excinfo is None else call.excinfo.value
    if error is not None and not item.config.getoption("fulltrace"):
        _cut_traceback(error)
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    counted = item.config.stash.get(_COUNTED, "")
    item.config.stash[_COUNTED] = ""
    if not report.failed:
        return
    used = item.stash.get(_USED, None)
    if not counted and used is not None and isinstance(error, AssertionError) and not _is_ours(error):
        from segscope.testing.counted import counted_last

        counted = counted_last(used.counted, used.captures)
    if counted:
        report.sections.append(("segscope: groups", counted))
    if error is not None:
        report.sections += _printed(error)
    if used is not None and used.captures:
        report.sections.append(("segscope: captures", "\n".join(_kept(item, used))))


def _cut_traceback(error: BaseException) -> None:
    """End the traceback of an error that segscope tells the user of at the line that called segscope."""
    errors = sys.modules.get("segscope.errors")
    if errors is None or not isinstance(error, errors.SegscopeError):
        return
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        if _is_inside(frame.tb_next):
            frame.tb_next = None
        frame = frame.tb_next


def _is_ours(error: BaseException) -> bool:
    """Say whether segscope raised the error, whose message then shows the groups."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and _is_inside(frame)


def _is_inside(frame: TracebackType) -> bool:
    name: str = frame.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "segscope"


def _printed(error: BaseException) -> Iterator[tuple[str, str]]:
    """Return what the child of a failed capture printed."""
    errors = sys.modules.get("segscope.errors")
    if errors is not None and isinstance(error, errors.CaptureError):
        for name, text in (("standard output", error.output), ("standard error", error.stderr)):
            if text.strip():
                yield f"segscope: {name} of the child", text[-_TAIL:]


def _kept(item: pytest.Item, used: Segscope) -> Iterator[str]:
    yield from map(repr, used.captures)
    if folder := item.config.getoption("--segscope-artifacts"):
        from segscope.testing.artifacts import write_artifacts

        yield from write_artifacts(Path(item.config.invocation_params.dir, folder), item.nodeid, used.captures)
