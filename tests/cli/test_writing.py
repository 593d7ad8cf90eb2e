"""What a command writes to: a folder, and the terminal."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import segscope
from segscope.cli.writing import made
from segscope.errors import SegscopeError
from tests.conftest import FIXTURES, Cli


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    assert made(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()


def test_only_what_an_earlier_run_wrote_is_removed(tmp_path: Path) -> None:
    for name in ("dump.txt", "segments-1.svg", "notes.txt"):
        (tmp_path / name).touch()
    made(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    made(tmp_path, without=("dump.txt", "segments-*.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SegscopeError, match=re.escape(f"cannot write to {tmp_path / 'file'}: File exists")):
        made(tmp_path / "file")


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write to any, so the answer is made up."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(SegscopeError, match=re.escape(f"cannot write to {tmp_path}: Permission denied")):
        made(tmp_path)


@pytest.mark.parametrize("command", ["show", "count", "check", "explain", "assert", "simulate", "diff"])
def test_a_terminal_acts_on_nothing_that_is_read(command: str, cli: Cli, tmp_path: Path) -> None:
    """Neither on what a capture.json says of a fusion, nor on what its run said."""
    hostile = "\x1b]0;title\x07\x1b[2J"
    file = FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt"
    made = json.loads(segscope.read(file).model_dump_json())
    made["report"]["damage"] = [{"line": 1, "reason": hostile, "text": ""}]
    made["fusions"][0]["groups"][1]["scheduler"] = f"pointwise{hostile}"
    capture = tmp_path / "capture.json"
    capture.write_text(json.dumps(made), "utf-8")
    more = {"assert": ["kernel_groups == 1"], "diff": [file]}.get(command, [])
    done = cli(command, capture, *more)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.out + done.err)
    assert "]0;title" in done.out + done.err
