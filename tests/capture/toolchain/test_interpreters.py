import os
import sys
from pathlib import Path

import pytest

from segscope.capture.toolchain.interpreters import find_interpreter
from segscope.errors import ToolchainError

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
NEVER = "3.99"
"""A version that no machine has: only the fake executables of a test can claim it."""


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake_python(path: Path, can_make: bool = True) -> Path:
    """Write an executable that answers as a Python of the asked-for version would."""
    return write_script(path, f'echo {can_make} "{path}"')


def environ(tmp_path: Path, *folders: Path) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join(map(str, folders)),
        "HOME": str(tmp_path),
        "PYENV_ROOT": str(tmp_path / "pyenv"),
    }


def test_the_running_python_is_found_without_any_on_path(tmp_path: Path) -> None:
    found = find_interpreter(RUNNING, environ(tmp_path))
    assert found.python.samefile(sys.executable)
    assert found.uv is None


def test_a_python_of_another_version_under_the_right_name_is_skipped(tmp_path: Path) -> None:
    write_script(tmp_path / "bin" / f"python{NEVER}", f'exec "{sys.executable}" "$@"')
    with pytest.raises(ToolchainError, match=f"no Python {NEVER} found"):
        find_interpreter(NEVER, environ(tmp_path, tmp_path / "bin"))


def test_a_shim_that_fails_is_skipped_for_the_next_on_path(tmp_path: Path) -> None:
    write_script(tmp_path / "shims" / f"python{NEVER}", "echo 'pyenv: command not found' >&2; exit 127")
    real = fake_python(tmp_path / "bin" / f"python{NEVER}")
    found = find_interpreter(NEVER, environ(tmp_path, tmp_path / "shims", tmp_path / "bin"))
    assert found.python == real


def test_python3_counts_when_it_has_the_version(tmp_path: Path) -> None:
    real = fake_python(tmp_path / "bin" / "python3")
    assert find_interpreter(NEVER, environ(tmp_path, tmp_path / "bin")).python == real


def test_pyenv_gives_its_newest_patch_release(tmp_path: Path) -> None:
    for patch in (2, 10, 9):
        fake_python(tmp_path / "pyenv" / "versions" / f"{NEVER}.{patch}" / "bin" / f"python{NEVER}")
    found = find_interpreter(NEVER, environ(tmp_path))
    assert found.python.parent.parent.name == f"{NEVER}.10"


def test_uv_is_asked(tmp_path: Path) -> None:
    managed = fake_python(tmp_path / "managed" / "python")
    write_script(tmp_path / "bin" / "uv", f'[ "$*" = "python find {NEVER}" ] && echo "{managed}"')
    assert find_interpreter(NEVER, environ(tmp_path, tmp_path / "bin")).python == managed


def test_a_python_without_venv_gives_way_to_one_with_it(tmp_path: Path) -> None:
    fake_python(tmp_path / "bare" / f"python{NEVER}", can_make=False)
    whole = fake_python(tmp_path / "whole" / f"python{NEVER}")
    assert find_interpreter(NEVER, environ(tmp_path, tmp_path / "bare", tmp_path / "whole")).python == whole


def test_a_python_without_venv_needs_uv(tmp_path: Path) -> None:
    bare = fake_python(tmp_path / "bin" / f"python{NEVER}", can_make=False)
    with pytest.raises(ToolchainError, match=f"{bare} cannot make .*: python{NEVER}-venv"):
        find_interpreter(NEVER, environ(tmp_path, tmp_path / "bin"))
    uv = write_script(tmp_path / "bin" / "uv", "exit 1")
    found = find_interpreter(NEVER, environ(tmp_path, tmp_path / "bin"))
    assert (found.python, found.uv) == (bare, uv)


def test_none_found_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=f"no Python {NEVER} found .* uv python install {NEVER}"):
        find_interpreter(NEVER, environ(tmp_path))
