"""The pytest plugin, in sessions of its own: warnings are errors there too."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from segscope import read
from segscope.home import home
from tests.cli.test_main import HEAVY
from tests.conftest import FIXTURES

pytest_plugins = ["pytester"]

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
PHI = FIXTURES / "h200_0.2.36_phi-2_bookend0_forward+backward.txt"
GPT = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
CHILD = "segscope: rope in nvfuser-0.2.36 on the null device"
HOME = str(home())
RULE = re.compile(r"^[-=_]+ .* [-=_]+$")

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest on a file of tests; ``july`` and ``today`` are the captures of RoPE."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("SEGSCOPE_HOME", HOME)  # pytester changes HOME
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture
        def july(segscope):
            return segscope.read({str(JULY)!r})

        @pytest.fixture
        def today(segscope):
            return segscope.read({str(TODAY)!r})
        """
    )

    def run(tests: str, *options: str | Path) -> pytest.RunResult:
        pytester.makepyfile(tests)
        return pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider", *options)

    return run


def section(result: pytest.RunResult, title: str) -> list[str]:
    """Return the lines below the first rule with this title."""
    start = next(number for number, line in enumerate(result.outlines) if RULE.match(line) and title in line)
    lines = result.outlines[start + 1 :]
    end = next((number for number, line in enumerate(lines) if RULE.match(line)), len(lines))
    return lines[:end]


def test_importing_it_imports_nothing_else() -> None:
    script = f"import sys, segscope.pytest_plugin; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_session_that_does_not_use_it_imports_nothing_else(run: Run) -> None:
    result = run(
        """
        import sys

        def test_it():
            assert "segscope.pytest_plugin" in sys.modules
            loaded = [name for name in sys.modules if name.startswith("segscope")]
            assert sorted(loaded) == ["segscope", "segscope.pytest_plugin"]
        """
    )
    result.assert_outcomes(passed=1)


# --- what failed assertions say -------------------------------------------------------------------------------------

FAILING = {
    "segscope.assert_groups(july, pointwise=2, expr_eval=4)": (
        "asked for 2 pointwise and 4 expr_eval, found 6 pointwise and 0 expr_eval"
    ),
    'segscope.assert_groups(today, pointwise="<=2")': (
        "asked for <=2 pointwise and 0 other kernel groups, found 2 resize"
    ),
    'segscope.assert_kernel_groups(july, "<=2")': "asked for <=2 kernel groups, found 6",
    'segscope.assert_group(july, "neg", scheduler="resize")': (
        "asked for scheduler resize in #7, selected by neg, found pointwise"
    ),
    'segscope.assert_same_group(july, "neg", "pad")': (
        "asked for neg in the same group as pad, found neg T14 and neg T34 alone"
    ),
    'segscope.assert_different_groups(today, "neg", "cat")': (
        "asked for neg and cat in different groups, found some of both in g4 and g3"
    ),
    'segscope.assert_cut_between(july, "#7", "#8")': (
        "asked for a cut between #7 and #8, found nothing that passes directly between their groups"
    ),
    'segscope.assert_crossing_dtypes(july, "bfloat16", "int64")': (
        "asked for bfloat16 or int64 between kernel groups, found T23 float [2, 40, 4096, 128] 167.8 MB, T22 float "
    ),
    'segscope.assert_no_findings(july, select="fp32-crossing")': (
        "asked for no findings of fp32-crossing, found 2 findings of fp32-crossing"
    ),
    "segscope.assert_same_segmentation(july, today)": "asked for the same segmentation, found 6 kernel groups -> 2; 3 ",
    f'segscope.assert_refused(segscope.read({str(FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt")!r}), "resise")': (
        "asked for a refusal for 'resise', found other reasons"
    ),
}


def test_failed_assertions(run: Run) -> None:
    tests = [f"def test_{n}(segscope, july, today):\n    {call}\n" for n, call in enumerate(FAILING)]
    result = run("\n".join(tests))
    result.assert_outcomes(failed=len(FAILING))
    for number, (call, says) in enumerate(FAILING.items()):
        lines = section(result, f" test_{number} ")
        raised = next(line for line in lines if line.startswith("E "))
        assert raised.startswith(f"E       AssertionError: {says}")
        assert lines[lines.index(raised) - 1] == f">       {call}", "the test is shown, not how the assertion is made"
        assert sum(line.startswith("E       group  scheduler") for line in lines) in (1, 2)


def test_a_plain_assert_on_a_count_is_explained(run: Run) -> None:
    result = run(
        """
        def test_it(july):
            assert july.fusion.count("pointwise") == 2
        """
    )
    lines = section(result, " test_it ")
    assert lines[lines.index('>       assert july.fusion.count("pointwise") == 2') + 1 :][:2] == [
        "E       assert 6 == 2",
        "E         6 pointwise groups in fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups",
    ]
    groups = section(result, "segscope: groups")
    assert groups[0] == "fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups"
    assert any(line.startswith("#7     pointwise  yes") for line in groups)
    assert any(line.startswith("  warning: fp32-crossing") for line in groups)


def test_a_count_of_zero_says_who_took_the_place(run: Run) -> None:
    result = run(
        """
        def test_it(today):
            assert today.count("pointwise") == 2
        """
    )
    assert "E         no pointwise group here; the kernel groups are 2 resize" in section(result, " test_it ")


PLAIN = {
    'assert not july.count("pointwise")': ["11 groups"],
    'assert today.fusion.count("pointwise")': ["6 groups"],
    "assert july.count() + today.count() == 3": ["11 groups", "6 groups"],
    "counts = july.count(), today.count(), july.fusion.count()\n    assert sum(counts) == 3": ["6 groups", "11 groups"],
}


def test_a_plain_assert_on_what_is_made_of_counts_shows_what_was_counted_last(run: Run) -> None:
    tests = [f"def test_{number}(july, today):\n    {text}\n" for number, text in enumerate(PLAIN)]
    result = run("\n".join(tests))
    result.assert_outcomes(failed=len(PLAIN))
    starts = [number for number, line in enumerate(result.outlines) if RULE.match(line) and "segscope: groups" in line]
    for start, groups in zip(starts, PLAIN.values(), strict=True):
        lines = result.outlines[start + 1 :]
        end = next(number for number, line in enumerate(lines) if RULE.match(line))
        told = [re.fullmatch(r"fusion 0: (\d+ groups) .*", line) for line in lines[:end]]
        assert [found[1] for found in told if found] == groups


def test_of_several_fusions_that_were_counted_the_capture_is_shown(run: Run) -> None:
    result = run(
        f"""
        def test_it(segscope):
            gpt = segscope.read({str(GPT)!r})
            assert sum(fusion.count("pointwise") for fusion in gpt.fusions) == 2

        def test_one(segscope):
            gpt = segscope.read({str(GPT)!r})
            assert not gpt.fusions[3].count("pointwise")
        """
    )
    lines = section(result, "segscope: groups")
    assert lines[0] == str(GPT)
    assert lines[1].startswith("fusion 0: ")
    assert [line for line in lines if line.startswith("fusion 17: ")]
    assert "fusion 3: 1 group (1 pointwise), 1 kernel group" in result.outlines[result.outlines.index(lines[-1]) :]


def test_an_assertion_that_shows_the_groups_itself_gets_no_section(run: Run) -> None:
    result = run(
        """
        def test_it(segscope, july):
            assert july.count() == 6
            segscope.assert_kernel_groups(july, 2)
        """
    )
    result.assert_outcomes(failed=1)
    assert "segscope: groups" not in result.stdout.str()


def test_half_a_dump_is_told_where_a_count_fails(run: Run, tmp_path: Path) -> None:
    lines = JULY.read_text().splitlines(keepends=True)
    start = max(number for number, line in enumerate(lines) if "fusion segments" in line)
    half = tmp_path / "half.txt"
    half.write_text("".join(lines[: start + 40]))
    result = run(
        f"""
        def test_it(segscope):
            assert segscope.read({str(half)!r}).count() == 6

        def test_again(segscope):
            assert segscope.read({str(half)!r}).count()
        """
    )
    result.assert_outcomes(failed=2)
    assert "E         the dump is incomplete: what is missing is not counted" in section(result, " test_it ")
    assert sum(line.startswith("fusion 0: ") and line.endswith(", dump incomplete") for line in result.outlines) == 2


MISUSE = {
    "segscope.assert_groups(july, pointwize=0)": "unknown scheduler 'pointwize'; valid: ",
    'segscope.assert_crossing_dtypes(july, "bf16")': "unknown dtype 'bf16'; valid: ",
    'segscope.assert_group(july, "neg", operations={"ct": 0})': "unknown operation 'ct'; operations here: ",
    'july.count("pointwize")': "unknown scheduler 'pointwize'; valid: ",
    'segscope.read("nowhere.txt")': "nowhere.txt: No such file or directory",
    'read("nowhere.txt")': "nowhere.txt: No such file or directory",
    f"segscope.assert_same_group(segscope.read({str(PHI)!r}), 'neg', 'cat')": f"{PHI}: 2 fusions, and this is about ",
}


@pytest.mark.parametrize("option", ["", "--full-trace"])
def test_misuse_shows_the_line_that_misuses(option: str, run: Run) -> None:
    tests = [f"def test_{number}(segscope, july):\n    {call}\n" for number, call in enumerate(MISUSE)]
    result = run("from segscope import read\n" + "\n".join(tests), *filter(None, [option]))
    result.assert_outcomes(failed=len(MISUSE))
    for number, (call, says) in enumerate(MISUSE.items()):
        lines = section(result, f" test_{number} ")
        assert f">       {call}" in lines
        assert any(line.startswith("E ") and f"SegscopeError: {says}" in line for line in lines)
        inside = [line for line in lines if re.search(r"segscope/\S+\.py:\d+:", line)]
        assert bool(inside) is bool(option)


def test_what_was_counted_before_is_not_shown_later(run: Run) -> None:
    result = run(
        """
        import pytest

        def test_passes(july):
            with pytest.raises(AssertionError):
                assert july.count() == 2

        def test_fails():
            assert 1 == 2
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    assert "segscope: " not in result.stdout.str()


# --- options and markers --------------------------------------------------------------------------------------------

DEFAULTS = """
import pytest

pytestmark = pytest.mark.segscope(toolchain="nvfuser-0.2.8", card="a100")

@pytest.mark.segscope(toolchain="nvfuser-0.2.36", disable="resize_scheduler")
class TestNear:
    @pytest.mark.segscope(disable=("resize_scheduler", "expr_simplify"))
    def test_nearest(self, segscope):
        assert segscope._defaults == {expected}

def test_far(segscope):
    assert segscope._defaults["toolchain"] == {toolchain!r}
"""


@pytest.mark.parametrize("option", ["", "nvfuser-0.2.8"])
def test_the_nearest_marker_counts_and_the_command_line_before_it(option: str, run: Run) -> None:
    expected = {
        "toolchain": option or "nvfuser-0.2.36",
        "card": "a100",
        "disable": ("resize_scheduler", "expr_simplify"),
    }
    tests = DEFAULTS.format(expected=expected, toolchain="nvfuser-0.2.8")
    result = run(tests, "--strict-markers", *(["--segscope-toolchain", option] if option else []))
    result.assert_outcomes(passed=2)


def test_a_marker_with_an_unknown_option(run: Run) -> None:
    result = run(
        """
        import pytest

        @pytest.mark.segscope("nvfuser-0.2.8", crad="a100")
        def test_it(segscope):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["marker segscope: 'nvfuser-0.2.8', crad not known; valid: toolchain, device, card, disable, enable"]
    )


def test_an_unknown_toolchain(run: Run) -> None:
    result = run("def test_it(): pass", "--segscope-toolchain", "nvfuser-9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --segscope-toolchain: unknown toolchain 'nvfuser-9'; valid: nvfuser-0.2.36, *"]
    )


ROPE = """
def test_it(segscope):
    segscope.rope("tiny-llama-1.1b", bookend=False, toolchain="nvfuser-0.2.36")
"""


def test_a_missing_toolchain_skips(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    result = run(ROPE, "-rs")
    result.assert_outcomes(skipped=1)
    reason = "toolchain nvfuser-0.2.36 is not installed; run: segscope toolchain install nvfuser-0.2.36"
    result.stdout.fnmatch_lines([f"SKIPPED*: {reason}"])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_toolchain_fails_where_it_is_required(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    result = run(ROPE, "--segscope-require")
    result.assert_outcomes(failed=1)
    assert section(result, " test_it ") == [
        "toolchain nvfuser-0.2.36 is not installed; run: segscope toolchain install nvfuser-0.2.36"
    ]


def test_a_wrong_argument_is_no_reason_to_skip(run: Run, need_toolchain: Callable[[str], str]) -> None:
    need_toolchain("nvfuser-0.2.36")
    result = run('def test_it(segscope):\n    segscope.rope("Llama-5")\n')
    result.assert_outcomes(failed=1)
    lines = section(result, " test_it ")
    assert '>       segscope.rope("Llama-5")' in lines or '>   segscope.rope("Llama-5")' in lines
    assert any("SegscopeError: unknown configuration 'Llama-5'; valid: " in line for line in lines)
    assert not any("fixture.py" in line for line in lines)


# --- captures -------------------------------------------------------------------------------------------------------

TWICE = """
import pytest

def test_first(segscope):
    segscope.assert_kernel_groups(segscope.rope("tiny-llama-1.1b", bookend=False), 3)

@pytest.mark.parametrize("timeout", [500.0, 600.0])
def test_again(segscope, timeout):
    capture = segscope.rope("tiny-llama-1.1b", bookend=False, card="h200", timeout=timeout)
    assert capture.provenance.end.outcome == "ok"
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("processes", ["0", "3"])
def test_the_same_capture_runs_one_child(processes: str, run: Run, need_toolchain: Callable[[str], str]) -> None:
    need_toolchain("nvfuser-0.2.36")
    result = run(TWICE, "-n", processes, "-rP")
    result.assert_outcomes(passed=3)
    assert sum(line.startswith(CHILD) for line in result.outlines) == 1


@pytest.mark.toolchain
@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_child_that_crashes(processes: str, run: Run, need_toolchain: Callable[[str], str]) -> None:
    need_toolchain("nvfuser-0.2.36")
    result = run(
        """
        import pytest
        from segscope import CaptureError, TensorSpec

        def crash(x):
            import os
            print("so far", flush=True)
            os.abort()

        def test_it(segscope):
            segscope.capture(crash, TensorSpec((4, 4)))

        def test_again(segscope):
            with pytest.raises(CaptureError, match="SIGABRT"):
                segscope.capture(crash, TensorSpec((4, 4)))
        """,
        "-rP",
        "-n",
        processes,
    )
    result.assert_outcomes(failed=1, passed=1)
    raised = next(line for line in result.outlines if line.startswith("E "))
    assert re.search(r"CaptureError: crash in nvfuser-0.2.36: the child process was ended by SIGABRT before", raised)
    assert "so far" in section(result, "segscope: standard output of the child")
    assert sum(line.startswith("segscope: crash in nvfuser-0.2.36") for line in result.outlines) == 1


@pytest.mark.toolchain
def test_a_function_that_is_captured(run: Run, need_toolchain: Callable[[str], str]) -> None:
    need_toolchain("nvfuser-0.2.36")
    result = run(
        """
        def norm(x, y):
            return (x - x.mean(-1, keepdim=True)) * y

        def test_it(segscope):
            x = segscope.TensorSpec((128, 1024))
            capture = segscope.capture(norm, x, x)
            segscope.assert_groups(capture, 1, inner_persistent=1)
            assert segscope.capture(norm, x, x) is capture
        """
    )
    result.assert_outcomes(passed=1)


def test_a_dump_that_is_parsed(run: Run) -> None:
    result = run(
        f"""
        from pathlib import Path

        def test_it(segscope):
            capture = segscope.parse(Path({str(JULY)!r}).read_text())
            segscope.assert_groups(capture, pointwise=6)
            assert segscope.captures == [capture]
        """
    )
    result.assert_outcomes(passed=1)


def test_what_is_recorded(run: Run) -> None:
    result = run(
        f"""
        import os
        from pathlib import Path

        import pytest
        from segscope import CaptureError

        def test_it(segscope):
            with segscope.record() as recording:
                os.write(1, Path({str(JULY)!r}).read_bytes())
            segscope.assert_kernel_groups(recording.capture, 2)

        def test_nothing(segscope):
            with segscope.record() as recording:
                pass
            with pytest.raises(CaptureError, match="nothing recorded: nvFuser was not used"):
                recording.capture
        """,
        "--segscope-artifacts",
        "kept",
    )
    result.assert_outcomes(failed=1, passed=1)
    assert any(line.endswith("/dump.txt") for line in section(result, "segscope: captures"))


# --- what is kept ---------------------------------------------------------------------------------------------------

KEPT = """
import pytest

@pytest.mark.parametrize("name", ["a/b:c*?", "A/B:C*?", "x" * 200, "ü\\n"])
def test_it(name, july, today, segscope):
    segscope.assert_kernel_groups(july, 2)

def test_that_passes(july):
    pass
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_artifacts_of_failed_tests(processes: str, run: Run, pytester: pytest.Pytester) -> None:
    result = run(KEPT, "-n", processes, "--segscope-artifacts", "kept")
    result.assert_outcomes(failed=4, passed=1)
    folders = sorted((pytester.path / "kept").iterdir())
    assert len({folder.name.lower() for folder in folders}) == 4
    for folder in folders:
        assert re.fullmatch(r"[A-Za-z0-9_-]+-[0-9a-f]{8}", folder.name)
        assert len(folder.name) < 120
        assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
            f"{number}/{name}" for number in "01" for name in ("capture.json", "segments.html", "segments.svg")
        ]
        assert read(folder / "0" / "capture.json").fusion == read(JULY).fusion
        assert (folder / "1" / "segments.svg").read_text().startswith("<?xml")
    assert any(line.endswith("/0/capture.json") for line in section(result, "segscope: captures"))


def test_artifacts_that_cannot_be_written_hide_no_failure(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "kept").write_text("a file")
    result = run(KEPT, "--segscope-artifacts", "kept")
    result.assert_outcomes(failed=4, passed=1)
    lines = section(result, "segscope: captures")
    assert any(line.startswith("not written: ") for line in lines)


# --- snapshots of others --------------------------------------------------------------------------------------------


def test_inline_snapshot_takes_values_as_they_are(run: Run, pytester: pytest.Pytester) -> None:
    tests = """
        from inline_snapshot import snapshot

        def test_it(july):
            assert july.fusion.count("pointwise") == snapshot()
            assert july.fusion.schedulers == snapshot()
            assert [group.label for group in july.fusion.kernel_groups] == snapshot()
    """
    run(tests, "--inline-snapshot=create")
    (path,) = pytester.path.glob("test_*.py")
    written = path.read_text()
    assert '.count("pointwise") == snapshot(6)' in written
    assert '.schedulers == snapshot({"pointwise": 6, "no_op": 5})' in written.replace("'", '"')
    run(dedent(written)).assert_outcomes(passed=1)
    assert path.read_text() == written


def test_syrupy_takes_values_as_they_are(run: Run) -> None:
    tests = """
        def test_it(july, snapshot):
            assert july.fusion.count("pointwise") == snapshot
            assert july.fusion.schedulers == snapshot
            assert july.fusion.groups[7] == snapshot
    """
    run(tests, "--snapshot-update").assert_outcomes(passed=1)
    run(tests).assert_outcomes(passed=1)
    run(tests.replace("groups[7]", "groups[8]")).assert_outcomes(failed=1)
