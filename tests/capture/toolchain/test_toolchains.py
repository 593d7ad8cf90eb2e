import subprocess
import sys
from pathlib import Path

import pytest

from segscope.capture import toolchain
from segscope.capture.toolchain.spec import load
from segscope.errors import SegscopeError, ToolchainError
from segscope.home import home


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    return tmp_path


def test_the_home_is_a_whole_path_from_wherever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEGSCOPE_HOME", "relative")
    assert home() == tmp_path / "relative"
    monkeypatch.delenv("SEGSCOPE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert home() == Path("/cache/segscope")


def test_nobodys_home_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", "~nosuchuser/x")
    with pytest.raises(SegscopeError, match="~nosuchuser/x: no such user's folder; set SEGSCOPE_HOME"):
        toolchain.names()


def test_names_start_with_the_default() -> None:
    assert toolchain.names()[0] == toolchain.default_name() == "nvfuser-0.2.36"
    assert toolchain.names()[-1] == "current"


@pytest.mark.usefixtures("empty_home")
def test_a_missing_toolchain_says_how_to_install_it() -> None:
    assert not toolchain.installed("nvfuser-0.2.8")
    with pytest.raises(ToolchainError, match=r"not installed; run: segscope toolchain install nvfuser-0\.2\.8"):
        toolchain.find("nvfuser-0.2.8")


@pytest.mark.parametrize("use", [toolchain.find, toolchain.ensure, toolchain.remove, toolchain.installed])
def test_an_unknown_name_lists_the_valid_ones(use: "object") -> None:
    assert callable(use)
    with pytest.raises(ToolchainError, match=r"unknown toolchain 'x'; valid: nvfuser-0\.2\.36, .*, current$"):
        use("x")


def _package(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise AssertionError('must not be imported')")


_FIND_CURRENT = """
from segscope.capture import toolchain
from segscope.errors import ToolchainError
try:
    found = toolchain.find("current")
    print(found.site_packages, found.python, found.managed, toolchain.installed("current"))
except ToolchainError as error:
    print(error, toolchain.installed("current"))
"""


def _find_current(folder: Path) -> str:
    """Look for `current` in a Python whose packages include those in a folder."""
    command = [sys.executable, "-c", _FIND_CURRENT]
    return subprocess.check_output(command, env={"PYTHONPATH": f"{folder}:{Path.cwd()}"}, text=True).strip()


def test_current_needs_torch_and_nvfuser_and_imports_neither(tmp_path: Path) -> None:
    _package(tmp_path, "torch")
    assert "has no nvFuser" in _find_current(tmp_path)
    _package(tmp_path, "nvfuser_direct")
    assert _find_current(tmp_path) == f"{tmp_path} {sys.executable} False True"


def test_current_cannot_be_removed() -> None:
    with pytest.raises(ToolchainError, match="cannot be removed"):
        toolchain.remove("current")


@pytest.mark.toolchain
@pytest.mark.parametrize("name", load().specs)
def test_an_installed_toolchain_holds_its_pins_and_nothing_else(name: str) -> None:
    if not toolchain.installed(name):
        pytest.skip(f"{name} is not installed")
    python = toolchain.find(name).python
    listed = subprocess.check_output([python, "-I", "-m", "pip", "list", "--format=freeze"], text=True)
    assert {pin for pin in listed.split() if not pin.startswith("pip==")} == set(load().specs[name].pins)
