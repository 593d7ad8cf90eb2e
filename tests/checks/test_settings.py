"""The severities that a project sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from segscope import SegscopeError
from segscope.checks.settings import find_severities

PYPROJECT = '[tool.segscope.severities]\nresize-boundary = "warning"\n'


def test_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n\n{PYPROJECT}')
    assert find_severities(tmp_path) == {"resize-boundary": "warning"}


def test_segscope_toml_wins_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "segscope.toml").write_text('[severities]\norder = "note"\ncycle = "warning"\n')
    assert find_severities(tmp_path) == {"order": "note", "cycle": "warning"}


def test_the_nearest_file_upwards_holds_alone(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "segscope.toml").write_text('[severities]\norder = "note"\n')
    (inner.parent / "pyproject.toml").write_text(PYPROJECT)
    assert find_severities(inner) == {"resize-boundary": "warning"}
    assert find_severities(tmp_path / "a") == {"order": "note"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 120\n"),
        ("pyproject.toml", "[tool.segscope]\n"),
        ("segscope.toml", ""),
    ],
)
def test_a_file_without_the_table_is_passed_over(tmp_path: Path, name: str, text: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    assert find_severities(inner) == {"resize-boundary": "warning"}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("segscope.toml", '[severities]\nresize = "note"\n', "unknown rule 'resize'; valid: cycle, order"),
        ("segscope.toml", '[severities]\norder = "fatal"\n', "order: unknown severity 'fatal'; valid: error, warning"),
        ("segscope.toml", "[severities]\norder = 3\n", "order: unknown severity 3; valid"),
        ("segscope.toml", 'severities = "note"\n', "'severities' must be a table"),
        ("segscope.toml", '[severity]\norder = "note"\n', "unknown setting 'severity'; valid: severities"),
        ("segscope.toml", "[severities\n", "not TOML: "),
        ("segscope.toml", "order = '\xff'\n", "not TOML: "),
        ("pyproject.toml", "tool = 3\n", "'tool' must be a table"),
        ("pyproject.toml", "[tool.segscope]\nseverities = []\n", "'severities' must be a table"),
        ("pyproject.toml", "[tool.segscope.severities]\norder = 'no'\n", "order: unknown severity 'no'"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(SegscopeError) as caught:
        find_severities(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}: {says}")
    assert "\n" not in str(caught.value)
