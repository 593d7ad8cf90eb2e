"""A null device that is built once for these tests, and child processes that ask it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from segscope.capture.null_device import build
from segscope.capture.null_device.cards import card


@pytest.fixture(scope="session")
def compiler() -> build.CCompiler:
    """The C compiler; skips where there is none, as on a machine that only reads dumps."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler: install gcc")
    return build.c_compiler()


@pytest.fixture(scope="session")
def device(compiler: build.CCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built null device."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEGSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return build.null_device()


@dataclass(frozen=True)
class Answer:
    """What a child said: its ``answer`` as JSON, its lines on stderr, its exit status."""

    value: Any
    stderr: list[str]
    status: int


Ask = Callable[..., Answer]

BEGIN = """
import ctypes, json, sys
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint64, c_void_p, create_string_buffer
cuda, nvrtc = map(ctypes.CDLL, sys.argv[1:])
answer = None
"""
END = "\nprint(json.dumps(answer))\n"


@pytest.fixture
def ask(device: Path) -> Ask:
    """Run Python in a child that has the null device as ``cuda`` and ``nvrtc``; return what it sets ``answer`` to."""

    def run(script: str, played: str = "h200", **environment: str | None) -> Answer:
        variables = os.environ | {"SEGSCOPE_NULL_CARD": card(played).variable()} | environment
        done = subprocess.run(
            [sys.executable, "-c", BEGIN + script + END, device / build.RUNTIME, device / build.COMPILER],
            env={name: value for name, value in variables.items() if value is not None},
            capture_output=True,
            text=True,
        )
        return Answer(json.loads(done.stdout or "null"), done.stderr.splitlines(), done.returncode)

    return run
