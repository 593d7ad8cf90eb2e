from __future__ import annotations

import sys
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.model import SegmentedFusion
from tests.conftest import need_program

FIXTURES = Path(__file__).parents[2] / "fixtures"


def real_fusion(name: str, number: int = 0) -> SegmentedFusion:
    return read(FIXTURES / f"{name}.txt").fusions[number]


@pytest.fixture
def july_2024() -> SegmentedFusion:
    return real_fusion("null_0.2.8_llama2-13b_bookend0_forward")


@pytest.fixture
def no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no drawing program: neither on PATH nor beside the interpreter."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))


@pytest.fixture(params=["dot", "graphviz-pure"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Leave one drawing program of those that this machine has."""
    name: str = request.param
    program = need_program(name)
    only = tmp_path / "only"
    only.mkdir()
    (only / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(only))
    return name
