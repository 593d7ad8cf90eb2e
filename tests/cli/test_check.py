"""``segscope check``."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from segscope import Finding, check, read
from segscope.model import Edge
from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward.txt"
GPT = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"


@pytest.fixture
def cyclic(tmp_path: Path) -> Path:
    """The July 2024 capture with an edge from the last group to the second."""
    capture = read(JULY)
    found = capture.fusion
    edges = (*found.edges, Edge(source=10, target=1, value="T48"))
    path = tmp_path / "cyclic: 100%.json"
    changed = capture.model_copy(update={"fusions": (found.model_copy(update={"edges": edges}),)})
    path.write_text(changed.model_dump_json())
    return path


def test_warnings_and_notes_break_nothing(cli: Cli) -> None:
    done = cli("check", TODAY)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[-1] == "9 kept, 0 broken"
    assert (
        "warning: broadcast-crossing: fusion 0: g3 reads T25 and T20 from g4: only broadcast and expand of T2 and T1, "
        "and nothing else crosses there (2,097,152 bytes)" in lines
    )
    assert "    let g3 read T2 and T1 and repeat the broadcast and expand" in lines


def test_advice_in_common_is_given_once(cli: Cli) -> None:
    lines = cli("check", JULY, "--select", "resize-boundary").out.splitlines()
    advice = [number for number, line in enumerate(lines) if line.startswith("    ")]
    assert advice[0] > 1
    assert all(lines[one] != lines[other] for one, other in pairwise(advice))
    assert sum(line.startswith("note: ") for line in lines) == len(lines) - len(advice) - 1 == 18


def test_strict_lets_them(cli: Cli) -> None:
    done = cli("check", "--strict", TODAY)
    assert (done.code, done.out.splitlines()[-1]) == (1, "7 kept, 2 broken")
    done = cli("check", "--strict", "--ignore", "resize-boundary", "--ignore", "broadcast-crossing", TODAY)
    assert (done.code, done.out) == (0, "7 kept, 0 broken\n")


def test_an_error_is_exit_code_1(cli: Cli, cyclic: Path) -> None:
    done = cli("check", cyclic, "--select", "cycle", "--select", "fp32-crossing")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("error: cycle: fusion 0: ")
    assert done.out.splitlines()[-1] == "1 kept, 1 broken"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([JULY, "--select", "resize"], "unknown rule 'resize'; valid: cycle, order, resize-boundary"),
        ([JULY, "--ignore", "resize"], "unknown rule 'resize'"),
        ([JULY, "--fusion", "3"], "no fusion 3; the only fusion is 0"),
        (["nowhere.txt"], "nowhere.txt: No such file or directory"),
        ([], "Missing argument 'FILE...'"),
        ([JULY, "--format", "xml"], "'xml' is not one of 'text', 'json', 'github', 'junit'"),
    ],
)
def test_what_cannot_be_checked_is_exit_code_2(cli: Cli, arguments: list[str | Path], says: str) -> None:
    done = cli("check", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert says in done.err


def test_one_fusion(cli: Cli) -> None:
    done = cli("check", "--format", "json", "--fusion", "5", GPT)
    assert {finding["fusion"] for finding in json.loads(done.out)["findings"]} == {5}


def test_standard_input(cli: Cli) -> None:
    done = cli("check", "-", "--select", "fp32-crossing", input=JULY.read_text())
    assert (done.code, done.out.count("warning: fp32-crossing: ")) == (0, 2)


def test_list_explains(cli: Cli) -> None:
    done = cli("check", "--list")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()][:3] == [
        ["cycle", "error"],
        ["order", "error"],
        ["resize-boundary", "note"],
    ]
    assert len(cli("check", "--list", "--ignore", "order").out.splitlines()) == len(done.out.splitlines()) - 1


def test_json_holds_the_findings(cli: Cli, cyclic: Path) -> None:
    done = cli("check", "--format", "json", cyclic)
    assert done.code == 1
    found = json.loads(done.out)
    capture = read(cyclic).model_copy(update={"source": str(cyclic)})
    assert [Finding.model_validate_json(json.dumps(finding)) for finding in found["findings"]] == check(capture)
    assert found["sources"] == [str(cyclic)]
    assert "cycle" in found["broken"]
    assert "fp32-crossing" in found["kept"]


def test_github_shows_each_beside_the_fusion(cli: Cli) -> None:
    done = cli("check", "--format", "github", "--select", "broadcast-crossing", TODAY)
    line = read(TODAY).fusion.first_line
    assert done.out == (
        f"::warning file={TODAY},line={line},title=segscope broadcast-crossing::"
        "fusion 0: g3 reads T25 and T20 from g4: "
        "only broadcast and expand of T2 and T1, and nothing else crosses there; "
        "let g3 read T2 and T1 and repeat the broadcast and expand\n"
    )


def test_github_escapes_what_it_must(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a,b: 100%.txt"
    path.write_bytes(JULY.read_bytes())
    done = cli("check", "--format", "github", "--select", "fp32-crossing", path)
    assert "/a%2Cb%3A 100%25.txt,line=" in done.out


def test_github_without_findings_prints_nothing(cli: Cli) -> None:
    assert cli("check", "--format", "github", "--select", "cycle", JULY).out == ""


def test_junit_is_a_case_a_rule(cli: Cli, cyclic: Path) -> None:
    done = cli("check", "--format", "junit", cyclic)
    assert done.code == 1
    suite = ElementTree.fromstring(done.out.encode())
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    broken = [name for name, case in cases.items() if case.find("failure") is not None]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(broken)))
    assert broken == ["cycle", "order"]
    failure = cases["cycle"].find("failure")
    assert failure is not None
    assert "groups wait for each other" in (failure.get("message") or "")
    output = cases["fp32-crossing"].find("system-out")
    assert output is not None
    assert (output.text or "").count("fp32-crossing") == 2


# --- several files --------------------------------------------------------------------------------------------------

JANUARY = FIXTURES / "history" / "null_0.2.24.dev20250115_Llama-2-13b-hf_definition.txt"
FEBRUARY = FIXTURES / "history" / "null_0.2.25.dev20250201_Llama-2-13b-hf_definition.txt"


def test_several_files_are_compared(cli: Cli) -> None:
    done = cli("check", JANUARY, FEBRUARY, "--select", "nondeterministic", "--select", "cycle")
    assert (done.code, done.err) == (0, "")
    first, *_, last = done.out.splitlines()
    assert first.startswith(f"{FEBRUARY}: warning: nondeterministic: fusion 0: 2 captures, 2 segmentations: ")
    assert last == "2 kept, 0 broken"
    assert cli("check", JANUARY, JANUARY, "--select", "nondeterministic").out == "1 kept, 0 broken\n"


def test_a_rule_is_broken_that_one_file_breaks(cli: Cli, cyclic: Path) -> None:
    done = cli("check", JULY, cyclic, JULY, "--select", "cycle", "--select", "metadata-kernel")
    assert done.code == 1
    assert done.out.startswith(f"{cyclic}: error: cycle: fusion 0: ")
    assert done.out.splitlines()[-1] == "1 kept, 1 broken"


def test_json_has_one_shape(cli: Cli, cyclic: Path) -> None:
    one, two = (json.loads(cli("check", "--format", "json", *files).out) for files in ([JULY], [JULY, cyclic]))
    assert one.keys() == two.keys() == {"sources", "kept", "broken", "findings"}
    assert (one["sources"], two["sources"]) == ([str(JULY)], [str(JULY), str(cyclic)])
    assert {finding["source"] for finding in one["findings"]} == {str(JULY)}
    assert {finding["source"] for finding in two["findings"]} == {str(JULY), str(cyclic)}
    assert one["findings"] == [finding for finding in two["findings"] if finding["source"] == str(JULY)]


def test_github_names_the_file_of_each(cli: Cli) -> None:
    done = cli("check", "--format", "github", "--select", "fp32-crossing", JULY, FEBRUARY)
    files = [line.partition("file=")[2].partition(",")[0] for line in done.out.splitlines()]
    assert files == [str(JULY)] * 2 + [str(FEBRUARY)] * 2
    lines = {line.partition("line=")[2].partition(",")[0] for line in done.out.splitlines()}
    assert lines == {str(read(path).fusion.first_line) for path in (JULY, FEBRUARY)}


def test_junit_is_a_case_a_file_and_rule(cli: Cli, cyclic: Path) -> None:
    done = cli("check", "--format", "junit", JULY, cyclic, "--select", "cycle", "--select", "order")
    suite = ElementTree.fromstring(done.out.encode())
    cases = [(case.get("classname"), case.get("name"), len(case)) for case in suite.iter("testcase")]
    assert cases == [
        (str(JULY), "cycle", 0),
        (str(JULY), "order", 0),
        (str(cyclic), "cycle", 1),
        (str(cyclic), "order", 1),
    ]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")


def test_a_capture_has_the_name_of_its_file(cli: Cli, tmp_path: Path) -> None:
    """What segscope ran has a description for a source, which may be that of another file too."""
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, source in zip(paths, (JANUARY, FEBRUARY), strict=True):
        path.write_text(read(source).model_copy(update={"source": "rope"}).model_dump_json())
    done = cli("check", "--select", "nondeterministic", *paths)
    assert done.out.startswith(f"{paths[1]}: warning: ")
    assert ": a.json (8 no_op, 4 pointwise); b.json (" in done.out


def test_a_file_that_cannot_be_read_keeps_nobody_from_the_others(cli: Cli, cyclic: Path) -> None:
    done = cli("check", "nowhere.txt", cyclic, "--select", "cycle")
    assert (done.code, done.err) == (2, "segscope: error: nowhere.txt: No such file or directory\n")
    assert done.out.startswith("error: cycle: fusion 0: ")


# --- severities -----------------------------------------------------------------------------------------------------


def test_a_project_sets_severities(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "segscope.toml").write_text('[severities]\nfp32-crossing = "error"\nresize-boundary = "warning"\n')
    monkeypatch.chdir(tmp_path)
    listed = dict(line.split()[:2] for line in cli("check", "--list").out.splitlines())
    assert (listed["fp32-crossing"], listed["resize-boundary"], listed["order"]) == ("error", "warning", "error")
    done = cli("check", JULY)
    assert (done.code, done.out.splitlines()[-1]) == (1, "8 kept, 1 broken")
    assert done.out.count("error: fp32-crossing: ") == 2
    assert "note: resize-boundary" not in done.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[severities]\nresize = "note"\n', "unknown rule 'resize'"),
        ('[severities]\norder = "fatal"\n', "order: unknown severity 'fatal'"),
        ("[severities\n", "not TOML: "),
    ],
)
@pytest.mark.parametrize("arguments", [[JULY], ["--list"]])
def test_severities_that_are_none(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str, arguments: list[str | Path]
) -> None:
    (tmp_path / "segscope.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    done = cli("check", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"segscope.toml: {says}" in done.err


def test_half_a_dump_keeps_no_rule(cli: Cli, tmp_path: Path) -> None:
    """What is there is checked and told."""
    half = tmp_path / "half.txt"
    half.write_text((FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt").read_text()[:42_000])
    done = cli("check", half, "--select", "resize-boundary")
    assert done.code == 2
    assert done.out.endswith("1 kept, 0 broken\n")
    assert done.err.splitlines()[-1] == f"segscope: error: {half}: incomplete, so that no rule is known to be kept"


def test_a_check_of_nothing_is_refused(cli: Cli) -> None:
    done = cli("check", JULY, "--select", "cycle", "--ignore", "cycle")
    assert (done.code, done.out) == (2, "")
    assert "no rule is left: --ignore names what --select does" in done.err
