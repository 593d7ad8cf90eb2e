"""What the tests share: real dumps, toolchains, and the command line as a user runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from segscope.capture import toolchain
from segscope.dump import read
from segscope.model import Capture

settings.register_profile("no time limits", deadline=None)
settings.load_profile("no time limits")

FIXTURES = Path(__file__).parent.parent / "fixtures"
DUMPS = sorted(FIXTURES.glob("*.txt")) + sorted(FIXTURES.glob("history/*.txt"))


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    code: int
    out: str
    err: str


Cli = Callable[..., Finished]


@pytest.fixture
def cli() -> Cli:
    """Run ``segscope`` with arguments, in a process of its own; ``input`` is its standard input."""

    def run(*arguments: str | Path, input: str | None = None, env: dict[str, str] | None = None) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "segscope", *map(str, arguments)],
            input=input,
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "120"} | (env or {}),
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def fixture_capture() -> Callable[[str], Capture]:
    """Read a dump of fixtures/ by its name without ``.txt``."""
    return lambda name: read(FIXTURES / f"{name}.txt")


def in_history(name: str) -> str:
    """Return the name of a toolchain that ``make test`` does not install; skip the test where it is not there."""
    if not toolchain.installed(name):
        pytest.skip(f"make test does not install {name}")
    return name


def need_program(name: str) -> str:
    """Return the path of a program; skip the test where it is not there.

    With SEGSCOPE_TEST_REQUIRE_PROGRAMS, which ``make test`` sets, a missing one fails the test.
    """
    path = os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)])
    if program := shutil.which(name, path=path):
        return program
    message = f"{name} is not installed: apt-get install chromium graphviz; pip install segscope[dev]"
    if os.environ.get("SEGSCOPE_TEST_REQUIRE_PROGRAMS"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def need_toolchain() -> Callable[[str], str]:
    """Return the name of a toolchain that is installed; skip the test where it is not.

    ``make test`` installs the toolchains and sets SEGSCOPE_TEST_REQUIRE_TOOLCHAINS: then a missing one fails the test.
    """

    def need(name: str) -> str:
        if not toolchain.installed(name):
            message = f"toolchain {name} is not installed: segscope toolchain install {name}"
            if os.environ.get("SEGSCOPE_TEST_REQUIRE_TOOLCHAINS"):
                pytest.fail(message)
            pytest.skip(message)
        return name

    return need
