from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file", "-o", "a.svg"], "no-such-file: No such file or directory"),
        ([__file__, "-o", "a.svg"], "no segmented fusion found"),
        ([JULY_2024, "-o", "a.gif"], "a.gif: the suffix says the format, one of .svg, .png, .pdf, .dot"),
        ([JULY_2024, "-o", "a"], "one of .svg, .png, .pdf, .dot"),
        ([JULY_2024, "-o", "nowhere/a.dot"], "nowhere/a.dot: No such file or directory"),
        ([JULY_2024, "-o", "a.svg", "--fusion", "1"], "no fusion 1; the only fusion is 0"),
        ([TWO_FUSIONS, "-o", "a.svg", "--fusion", "-1"], "no fusion -1; fusions are 0 to 1"),
        ([TWO_FUSIONS, "-o", "-"], "2 fusions, name one (0 to 1)"),
        ([JULY_2024], "Missing option '-o'"),
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
    assert done.stderr.decode() == f"segscope: error: {program} failed: Error: out of ink\n"


def test_a_cut_off_dump_is_drawn_with_a_warning(tmp_path: Path) -> None:
    text = JULY_2024.read_bytes()
    done = segscope("render", "-", "-o", tmp_path / "a.dot", stdin=text[: len(text) // 2])
    assert done.returncode == 0
    assert b"segscope: warning: -: incomplete: line 321: the end of the input comes before" in done.stderr
    assert "dump incomplete" in (tmp_path / "a.dot").read_text("utf-8")
