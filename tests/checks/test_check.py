"""Choosing rules, the order of findings, and the rules of other packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import segscope
from segscope import Finding, SegscopeError, check, read
from segscope.checks import Check, Severity, checks, choose, run_rules
from segscope.model import Capture, Edge, Expr, Group, SegmentedFusion
from tests.checks.handmade import fusion
from tests.conftest import DUMPS, FIXTURES
from tests.dump.generate import Generated, generated

Read = Callable[[str], Capture]
JULY = "null_0.2.8_llama2-13b_bookend0_forward"
RULES = [
    "cycle",
    "order",
    "resize-boundary",
    "pad-cat-split",
    "fp32-crossing",
    "broadcast-crossing",
    "metadata-kernel",
    "over-segmented",
    "nondeterministic",
]


@pytest.mark.parametrize(
    "path", [*DUMPS, *FIXTURES.glob("eras/*.txt"), *FIXTURES.glob("demo/*/*")], ids=lambda p: p.stem
)
def test_real_fusions_have_no_cycle_and_are_in_order(path: Path) -> None:
    if path.suffix in (".txt", ".json"):
        assert check(read(path), select=["cycle", "order"]) == []


def test_the_function_is_no_package() -> None:
    import_module("segscope.cli.check")
    assert segscope.check is import_module("segscope.checks").check


def test_rules_have_what_a_list_shows() -> None:
    assert list(checks()) == RULES
    for name, rule in checks().items():
        assert rule.name == name
        assert rule.severity in ("error", "warning", "note")
        assert rule.summary
        assert "\n" not in rule.summary


def test_selecting_and_ignoring(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    assert {f.rule for f in check(july)} == {"resize-boundary", "fp32-crossing", "over-segmented"}
    assert {f.rule for f in check(july, select=["fp32-crossing", "order"])} == {"fp32-crossing"}
    assert {f.rule for f in check(july, ignore=["fp32-crossing"])} == {"resize-boundary", "over-segmented"}
    assert check(july, select=["order"], ignore=["order"]) == []
    assert list(choose(ignore=["order"])) == [name for name in RULES if name != "order"]


def test_what_is_no_capture(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    assert check(july, select="order") == check(july, select=["order"])
    for checked in ("x.txt", [july.fusion]):
        with pytest.raises(SegscopeError, match="check takes a fusion, a capture, or captures"):
            check(checked)  # type: ignore[arg-type]


@pytest.mark.parametrize("where", ["select", "ignore"])
def test_an_unknown_rule(fixture_capture: Read, where: str) -> None:
    with pytest.raises(SegscopeError, match="unknown rule 'resize'; valid: cycle, order, resize-boundary") as caught:
        check(fixture_capture(JULY), **{where: ["resize"]})
    assert "\n" not in str(caught.value)


def test_findings_are_sorted_and_keep_through_json(fixture_capture: Read) -> None:
    capture = fixture_capture("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward")
    found = check(capture)
    assert [(f.fusion, RULES.index(f.rule), f.groups) for f in found] == sorted(
        (-1 if f.fusion is None else f.fusion, RULES.index(f.rule), f.groups) for f in found
    )
    assert found == check(capture, select=reversed(RULES))
    assert found == [Finding.model_validate_json(f.model_dump_json()) for f in found]


def test_a_capture_is_its_fusions(fixture_capture: Read) -> None:
    capture = fixture_capture("h200_0.2.36_phi-2_bookend0_forward+backward")
    found = [finding for fusion in capture.fusions for finding in check(fusion)]
    assert check(capture) == [finding.model_copy(update={"source": capture.source}) for finding in found]
    assert {finding.source for finding in found} == {""}


def test_several_captures_come_one_behind_the_other(fixture_capture: Read) -> None:
    captures = [fixture_capture(JULY), fixture_capture("h200_0.2.36_phi-2_bookend0_forward")]
    each = [check(capture) for capture in captures]
    assert check(captures, ignore=["nondeterministic"]) == each[0] + each[1]
    assert check([]) == []


def test_severities_are_set_by_rule(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    usual, found = check(july), check(july, severities={"fp32-crossing": "error", "resize-boundary": "note"})
    assert {f.severity for f in found if f.rule == "fp32-crossing"} == {"error"}
    assert [f.model_copy(update={"severity": "note"}) for f in found] == [
        f.model_copy(update={"severity": "note"}) for f in usual
    ]
    found = check(july.fusion, ignore=["over-segmented"], severities={"resize-boundary": "warning"})
    assert {f.severity for f in found} == {"warning"}


@pytest.mark.parametrize(
    ("severities", "says"),
    [
        ({"resize": "note"}, "unknown rule 'resize'; valid: cycle, order"),
        ({"order": "fatal"}, "order: unknown severity 'fatal'; valid: error, warning, note"),
    ],
)
def test_what_is_no_severity(fixture_capture: Read, severities: dict[str, Severity], says: str) -> None:
    with pytest.raises(SegscopeError, match=says):
        check(fixture_capture(JULY), severities=severities)


PLUGIN = """
from segscope.checks import Check, Finding

class TooMany(Check):
    name = "{name}"
    severity = "warning"
    summary = "more than ten groups"

    def run(self, fusion):
        if len(fusion.groups) > 10:
            yield Finding(rule=self.name, severity=self.severity, fusion=fusion.index, message="many", advice="fewer")
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Install a package that brings a rule, as pip would lay it out."""

    def install(code: str, target: str) -> None:
        (tmp_path / "too_many.py").write_text(code)
        info = tmp_path / "too_many-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: too-many\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[segscope.checks]\ntoo-many = {target}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        checks.cache_clear()

    yield install
    checks.cache_clear()
    import sys

    sys.modules.pop("too_many", None)


def test_the_rule_of_another_package(plugin: Callable[[str, str], None], fixture_capture: Read) -> None:
    plugin(PLUGIN.format(name="too-many"), "too_many:TooMany")
    assert list(checks()) == [*RULES, "too-many"]
    assert [f.message for f in check(fixture_capture(JULY), select=["too-many"])] == ["many"]


@pytest.mark.parametrize(
    ("code", "target", "says"),
    [
        (PLUGIN.format(name="order"), "too_many:TooMany", "there is a rule 'order' already"),
        (PLUGIN.format(name="too-many"), "too_many:Missing", "cannot be loaded: AttributeError"),
        ("raise RuntimeError('broken')", "too_many:TooMany", "cannot be loaded: RuntimeError: broken"),
        ("TooMany = 7", "too_many:TooMany", "not a subclass of segscope.checks.Check"),
    ],
)
def test_a_package_whose_rule_is_none(plugin: Callable[[str, str], None], code: str, target: str, says: str) -> None:
    plugin(code, target)
    with pytest.raises(SegscopeError, match=says):
        checks()


class _Pairs(Check):
    name = "pairs"
    severity = "note"
    summary = "two captures"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        yield from ()

    def run_on_captures(self, captures: Sequence[Capture]) -> Iterator[Finding]:
        where = {"rule": self.name, "severity": self.severity, "fusion": None, "advice": ""}
        yield Finding(source=captures[-1].source, message=f"{len(captures)} captures", **where)


def test_a_rule_over_captures_runs_once(fixture_capture: Read) -> None:
    captures = [fixture_capture(JULY), fixture_capture("null_0.2.8_llama2-13b_log_forward")]
    (finding,) = run_rules({"pairs": _Pairs}, captures, {})
    assert (finding.message, finding.source) == ("2 captures", captures[1].source)
    assert [f.message for f in run_rules({"pairs": _Pairs}, captures[0], {})] == ["1 captures"]
    assert run_rules({"pairs": _Pairs}, captures[0].fusion, {}) == []


def test_a_rule_is_its_run() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Check()  # type: ignore[abstract]


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(generated())
def test_generated_fusions_of_every_era_can_be_checked(case: Generated) -> None:
    made = case.fusion
    found = check(made)
    assert {f.fusion for f in found} <= {made.index}
    assert all(0 <= index < len(made.groups) for f in found for index in f.groups)
    assert {number for f in found for number in f.expressions} <= {expr.id for expr in made.exprs}
    assert not any("\n" in f.message + f.advice for f in found)


def test_a_fusion_without_groups() -> None:
    assert check(fusion([], [])) == []


def test_a_large_fusion_is_one_pass() -> None:
    """2,000 groups of 10 expressions: a chain with a ring over it, so that every group is on a cycle."""
    size, each = 2000, 10
    exprs = tuple(
        Expr(
            id=number,
            kind="unary",
            op="exp",
            outputs=(f"T{number + 1}",),
            inputs=(f"T{number}",),
            attributes={},
            text="",
        )
        for number in range(size * each)
    )
    groups = tuple(
        Group(
            index=index,
            id=index,
            scheduler="pointwise",
            inputs=(f"T{index * each}",),
            outputs=(f"T{(index + 1) * each}",),
            expr_ids=tuple(range(index * each, (index + 1) * each)),
        )
        for index in range(size)
    )
    edges = tuple(Edge(source=i, target=(i + 1) % size, value=f"T{(i + 1) * each}") for i in range(size))
    large = SegmentedFusion(
        index=0,
        era="E9",
        inputs=("T0",),
        outputs=(f"T{size * each}",),
        groups=groups,
        edges=edges,
        exprs=exprs,
        tensors={},
        first_line=1,
    )
    (cycle,) = check(large, select=["cycle"])
    assert len(cycle.groups) == size
    (order,) = check(large, select=["order"])
    assert order.groups == (size - 1, 0)


def test_every_rule_in_the_folder_is_registered() -> None:
    files = Path(segscope.checks.__path__[0]).glob("*.py")
    written = re.findall(r"^class (\w+)\(Check\)", "".join(file.read_text("utf-8") for file in files), re.MULTILINE)
    assert {rule.__name__ for rule in checks().values()} == set(written)
