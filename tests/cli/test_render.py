from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.model import Capture
from tests.conftest import Cli

FIXTURES = Path(__file__).parents[2] / "fixtures"
JULY_2024 = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TWO_FUSIONS = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward.txt"


def segscope(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from segscope.cli import main; main()", *map(str, arguments)]
    env = os.environ | environment
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=env, timeout=120, check=False)


@pytest.mark.parametrize(
    ("suffix", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("dot", b"digraph"), ("SVG", b"<?xml")]
)
def test_the_suffix_says_the_format(suffix: str, magic: bytes, tmp_path: Path) -> None:
    done = segscope("render", JULY_2024, "-o", tmp_path / f"segments.{suffix}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"segments.{suffix}").read_bytes().startswith(magic)
    assert str(tmp_path / f"segments.{suffix}").encode() in done.stdout
    assert b"drawn by" in done.stdout


def test_standard_input_and_output() -> None:
    done = segscope("render", "-", "-o", "-", stdin=JULY_2024.read_bytes())
    assert done.returncode == 0, done.stderr
    assert b"<svg" in done.stdout
    assert done.stdout.rstrip().endswith(b"</svg>")
    assert b"drawn by" in done.stderr


def test_several_fusions_get_a_file_each(tmp_path: Path) -> None:
    done = segscope("render", TWO_FUSIONS, "-o", "a.b.dot", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.b-0.dot", "a.b-1.dot"]
    assert "fusion 1:" in (tmp_path / "a.b-1.dot").read_text("utf-8")


def test_one_of_several_fusions(tmp_path: Path) -> None:
    done = segscope("render", TWO_FUSIONS, "--fusion", "1", "-o", "a.dot", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fusion 1:" in (tmp_path / "a.dot").read_text("utf-8")


def test_a_capture_is_not_overwritten_by_its_picture(tmp_path: Path) -> None:
    content = read(JULY_2024).model_dump_json()
    (tmp_path / "a.json").write_text(content)
    done = segscope("render", "a.json", "-o", "./a.json", cwd=tmp_path)
    assert done.returncode == 2
    assert b"./a.json is FILE itself, and would be overwritten" in done.stderr
    assert (tmp_path / "a.json").read_text() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file", "-o", "a.svg"], "no-such-file: No such file or directory"),
        ([__file__, "-o", "a.svg"], "no segmented fusion found"),
        ([JULY_2024, "-o", "a.gif"], "a.gif: the suffix says the format, one of .svg, .png, .pdf"),
        ([JULY_2024, "-o", "a"], "one of .svg, .png, .pdf"),
        ([JULY_2024, "-o", "nowhere/a.dot"], "nowhere/a.dot: No such file or directory"),
        ([JULY_2024, "-o", "a.svg", "--fusion", "1"], "no fusion 1; the only fusion is 0"),
        ([TWO_FUSIONS, "-o", "a.svg", "--fusion", "-1"], "no fusion -1; fusions are 0 to 1"),
        ([TWO_FUSIONS, "-o", "-"], "2 fusions, name one (0 to 1)"),
        ([JULY_2024], "Missing option '-o'"),
        ([JULY_2024, "-o", "a.md", "--findings"], "--findings marks nothing in .md: write .svg, .png, .pdf, .dot or"),
        ([JULY_2024, "-o", "a.dot", "--fusion", "x"], "'x' is neither the number of a fusion nor all"),
        ([JULY_2024, "-o", "a.dot", "--focus", "g3"], "fusion 0 has no group g3; it has #0 #1"),
        ([JULY_2024, "-o", "a.dot", "--focus", "three"], "'three' names no group: write g3"),
        ([JULY_2024, "-o", "a.dot", "--query", "("], "query '(' is no regular expression: missing )"),
        ([JULY_2024, "-o", "a.dot", "--query", "sdpa"], "query 'sdpa' is found nowhere in fusion 0"),
        ([JULY_2024, "-o", "a.dot", "--radius", "2"], "--radius needs --focus or --query"),
        ([JULY_2024, "-o", "a.dot", "--focus", "#1", "--radius", "-1"], "-1 is not in the range x>=0"),
        ([JULY_2024, "-o", "a.dot", "--level", "tensors"], "'tensors' is not one of 'groups', 'expressions'"),
        ([JULY_2024, "-o", "a.dot", "--rules", "resize"], "--rules needs --grouping proof"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str | Path], message: str, tmp_path: Path) -> None:
    done = segscope("render", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("segscope: error: ")
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_a_failing_engine_is_one_line(tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'Error: out of ink' >&2\nexit 1\n")
    program.chmod(0o755)
    done = segscope("render", JULY_2024, "-o", tmp_path / "a.svg", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 2
    kept = tmp_path / "a.svg.dot"
    assert done.stderr.decode() == f"segscope: error: {program} failed: Error: out of ink; the DOT text is in {kept}\n"
    assert kept.read_text("utf-8").startswith("digraph segmented_fusion {")


def test_a_cut_off_dump_is_drawn_with_a_warning(tmp_path: Path) -> None:
    text = JULY_2024.read_bytes()
    done = segscope("render", "-", "-o", tmp_path / "a.dot", stdin=text[: len(text) // 2])
    assert done.returncode == 0
    assert b"segscope: warning: -: incomplete: line 321: the end of the input comes before" in done.stderr
    assert "dump incomplete" in (tmp_path / "a.dot").read_text("utf-8")


def drawn(tmp_path: Path, *arguments: str | Path) -> tuple[str, str]:
    """The DOT text of a picture, and what was said on standard error."""
    done = segscope("render", *arguments, "-o", tmp_path / "a.dot")
    assert done.returncode == 0, done.stderr
    return (tmp_path / "a.dot").read_text("utf-8"), done.stderr.decode()


def test_the_expression_level(tmp_path: Path) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--level", "expressions")
    assert text.count("subgraph cluster_g") == 11


def test_above_300_nodes_the_group_level_is_drawn_and_it_is_said(tmp_path: Path) -> None:
    capture = Capture.model_validate_json(segscope("show", JULY_2024, "--json").stdout)
    (tmp_path / "large.json").write_text(with_expressions(capture, 301).model_dump_json())
    text, said = drawn(tmp_path, tmp_path / "large.json", "--level", "expressions")
    assert "subgraph cluster_g" not in text
    assert "\\ngroups only: expressions would be " in text
    assert "segscope: warning: fusion 0: groups only: expressions would be " in said
    assert "nodes, more than 300; --focus, --query and --collapse metadata draw less" in said
    text, said = drawn(tmp_path, tmp_path / "large.json", "--level", "expressions", "--focus", "#9", "--radius", "0")
    assert "subgraph cluster_g9" in text
    assert said == ""


def test_focus_and_radius(tmp_path: Path) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--focus", "#7")
    assert "3 of 11 groups drawn: #7 and what is within 1 cut" in text
    text, _ = drawn(tmp_path, JULY_2024, "--focus", "#7", "--focus", "#8", "--radius", "0")
    assert "2 of 11 groups drawn: #7, #8" in text


def test_a_query(tmp_path: Path) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--query", "^cat$", "--radius", "0")
    assert "2 of 11 groups drawn: #9, #10 (query '^cat$')" in text


def test_collapsed_metadata_groups(tmp_path: Path) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--collapse", "metadata")
    assert "#2 #3 · no_op" in text


def test_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--findings")
    assert "warning: fp32-crossing" in text
    assert "resize-boundary" not in text
    (tmp_path / "segscope.toml").write_text('[severities]\nresize-boundary = "warning"\n')
    monkeypatch.chdir(tmp_path)
    text, _ = drawn(tmp_path, JULY_2024, "--findings")
    assert "warning: resize-boundary" in text


def test_fusions_without_what_is_asked_for_are_left_out(tmp_path: Path) -> None:
    done = segscope("render", TWO_FUSIONS, "--focus", "g5", "--fusion", "all", "-o", "a.dot", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a-0.dot"]
    assert done.stderr.decode().startswith("segscope: warning: fusion 1 has no group g5; it has g")
    done = segscope("render", TWO_FUSIONS, "--query", "no such thing", "-o", "a.dot", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"segscope: error: query 'no such thing' is found nowhere in fusion 0\n"


def test_many_fusions_that_are_left_out_are_one_line(tmp_path: Path) -> None:
    gpt = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
    done = segscope("render", gpt, "--focus", "g4", "-o", "a.dot", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.decode().splitlines()
    left_out = 18 - len(list(tmp_path.iterdir()))
    assert line == (
        f"segscope: warning: {left_out} of 18 fusions have nothing that --focus or --query names: not drawn"
    )


def test_a_proof_is_drawn_with_the_same_options(tmp_path: Path) -> None:
    text, _ = drawn(tmp_path, JULY_2024, "--grouping", "proof", "--rules", "boundary", "--level", "expressions")
    assert "subgraph cluster_g" in text


def with_expressions(capture: Capture, count: int) -> Capture:
    """The capture with so many other expressions in the last two groups."""
    (fusion,) = capture.fusions
    one = fusion.exprs[0]
    first = max(expr.id for expr in fusion.exprs) + 1
    more = tuple(
        one.model_copy(update={"id": first + n, "inputs": ("T2",), "outputs": (f"T{1000 + n}",)}) for n in range(count)
    )
    groups = tuple(
        group.model_copy(update={"expr_ids": tuple(e.id for e in more[:250])})
        if group.index == 9
        else group.model_copy(update={"expr_ids": tuple(e.id for e in more[250:])})
        if group.index == 10
        else group
        for group in fusion.groups
    )
    changed = fusion.model_copy(update={"exprs": (*fusion.exprs, *more), "groups": groups})
    return capture.model_copy(update={"fusions": (changed,)})


def test_a_proof_is_called_one(cli: Cli, tmp_path: Path) -> None:
    done = cli("render", JULY_2024, "--grouping", "proof", "-o", tmp_path / "p.dot")
    assert done.code == 0
    text = (tmp_path / "p.dot").read_text()
    assert "the fewest connected kernels, not nvFuser's groups · fusion 0: 5 groups (4 pointwise, 1 no_op)" in text
    resize = cli("render", JULY_2024, "--grouping", "proof", "--rules", "resize", "-o", "-")
    assert "2 kernel groups" in resize.out
