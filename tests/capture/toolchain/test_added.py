import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from segscope.capture import toolchain
from segscope.capture.toolchain import added
from segscope.capture.toolchain.added import AddedInterpreter
from segscope.capture.toolchain.probe import nvfuser_libraries
from segscope.capture.toolchain.spec import ToolchainSpec
from segscope.errors import ToolchainError

from .conftest import tiny_spec, write_wheel


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SEGSCOPE_HOME", str(home))
    return home


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that has torch and nvFuser, and must import neither."""
    folder = tmp_path / "packages"
    for package in ("torch", "nvfuser_direct"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("raise AssertionError('must not be imported')")
    path = tmp_path / "bin" / "my python"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_an_interpreter_is_used_as_and_where_it_is(python: Path) -> None:
    toolchain.add_interpreter("mine", python)
    assert toolchain.names()[-2:] == ["mine", "current"]
    assert toolchain.installed("mine")
    assert not toolchain.is_managed("mine")
    found = toolchain.find("mine")
    assert (found.python, found.site_packages, found.managed) == (python, python.parent.parent / "packages", False)
    assert toolchain.ensure("mine") == found

    toolchain.remove("mine")
    assert python.exists()
    assert toolchain.names()[-1] == "current"
    with pytest.raises(ToolchainError, match="unknown toolchain 'mine'"):
        toolchain.find("mine")


def test_an_interpreter_that_is_gone(python: Path) -> None:
    toolchain.add_interpreter("mine", python)
    python.unlink()
    assert not toolchain.installed("mine")
    with pytest.raises(ToolchainError, match=r"toolchain mine cannot be used: .* does not run as a Python"):
        toolchain.find("mine")
    toolchain.remove("mine")
    assert "mine" not in toolchain.names()


def test_an_interpreter_has_to_have_torch_and_nvfuser(python: Path, empty_home: Path) -> None:
    with pytest.raises(ToolchainError, match="has no torch"):
        toolchain.add_interpreter("mine", Path(sys.executable))
    (python.parent.parent / "packages" / "nvfuser_direct" / "__init__.py").unlink()
    with pytest.raises(ToolchainError, match="has no nvFuser"):
        toolchain.add_interpreter("mine", python)
    with pytest.raises(ToolchainError, match="does not run as a Python"):
        toolchain.add_interpreter("mine", Path("/bin/true"))
    assert not empty_home.exists()


@pytest.mark.usefixtures("local_index")
def test_a_toolchain_like_another_is_installed_with_the_users_wheel(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "1.0")
    added.add(tiny_spec("tiny==2.0", name="base"))
    toolchain.add_like("mine", "base", (str(wheel),))
    assert toolchain.state("mine") == "not installed"
    found = toolchain.ensure("mine")
    assert "1.0" in (found.site_packages / "tiny.py").read_text()
    assert found.managed
    assert toolchain.find("mine") == found

    write_wheel(tmp_path, "1.0").write_bytes(b"not what was added")
    toolchain.add_like("mine", "base", (str(wheel),))
    assert toolchain.state("mine") == "outdated"

    toolchain.remove("mine")
    assert not (toolchain.root() / "mine").exists()
    assert "mine" not in toolchain.names()


@pytest.mark.usefixtures("local_index")
def test_a_wheel_that_changed_is_not_installed(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "1.0")
    added.add(tiny_spec("tiny==2.0", name="base"))
    toolchain.add_like("mine", "base", (str(wheel),))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(ToolchainError, match=r"cannot install toolchain mine: .*(?i:hash)"):
        toolchain.ensure("mine")


def test_what_is_written_is_read(empty_home: Path) -> None:
    spec = tiny_spec("tiny @ file:///a%20b/tiny-1.0-py3-none-any.whl#sha256=0", name="spec-1.0+x")
    interpreter = AddedInterpreter("python", '/a "quoted" \\ pfad/für/😀/python', "2026-03-01")
    added.add(spec)
    added.add(interpreter)
    assert added.read() == {"spec-1.0+x": spec, "python": interpreter}
    added.forget("python")
    assert added.read() == {"spec-1.0+x": spec}


def test_two_that_add_at_once_both_do(empty_home: Path) -> None:
    names = [f"python{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: added.add(AddedInterpreter(name, "/python")), names))
    assert set(added.read()) == set(names)


@pytest.mark.parametrize("pin", ["lightning_thunder==9.0", "Lightning.Thunder==9.0"])
def test_another_thunder_is_one(pin: str) -> None:
    toolchain.add_like("mine", "nvfuser-0.2.36", (pin, "torch-tb-profiler==0.4.3"))
    spec = toolchain.get("mine")
    assert isinstance(spec, ToolchainSpec)
    assert (spec.version("lightning-thunder"), spec.version("torch")) == ("9.0", "2.10.0")
    toolchain.require_thunder("mine")


def test_a_date_of_toml_is_a_date(empty_home: Path) -> None:
    empty_home.mkdir()
    (empty_home / "toolchains.toml").write_text('[toolchain.mine]\ninterpreter = "/python"\ndate = 2026-03-01\n')
    assert added.read() == {"mine": AddedInterpreter("mine", "/python", "2026-03-01")}


def test_the_libraries_of_an_nvfuser_are_where_it_was_built(python: Path) -> None:
    nvfuser = python.parent.parent / "packages" / "nvfuser_direct"
    (nvfuser / "lib").mkdir()
    (nvfuser / "lib" / "libnvfuser.so").touch()
    assert nvfuser_libraries(python) == [nvfuser / "lib" / "libnvfuser.so"]


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b", 'a"', "ä"])
def test_names_that_no_folder_can_have(name: str, python: Path) -> None:
    with pytest.raises(ToolchainError, match="cannot name a toolchain"):
        toolchain.add_interpreter(name, python)


@pytest.mark.parametrize("name", ["current", "nvfuser-0.2.36"])
def test_names_that_are_taken(name: str, python: Path) -> None:
    with pytest.raises(ToolchainError, match=f"has a toolchain {name} of its own: choose another name"):
        toolchain.add_interpreter(name, python)


@pytest.mark.parametrize("like", ["mine", "current"])
def test_nothing_can_be_like_what_segscope_does_not_install(like: str, python: Path) -> None:
    toolchain.add_interpreter("mine", python)
    with pytest.raises(ToolchainError, match=f"does not install toolchain {like}"):
        toolchain.add_like("second", like, ("torch==2.10.0",))


@pytest.mark.parametrize("text", ["[", "toolchain = 1", "[toolchain]\na = 1", "[toolchain.a]\nunknown = 1"])
def test_a_damaged_file_is_one_line(empty_home: Path, text: str) -> None:
    empty_home.mkdir()
    (empty_home / "toolchains.toml").write_text(text)
    with pytest.raises(ToolchainError, match=r"cannot read .*toolchains\.toml: .*; correct it, or remove it"):
        toolchain.names()
