"""The folder that a command writes to."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from segscope.cli.writing import made
from segscope.errors import SegscopeError


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
