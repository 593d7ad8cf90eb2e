import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from segscope.capture import toolchain
from segscope.capture.toolchain.folder import MARKER
from segscope.cli.toolchain import command
from segscope.errors import ToolchainError


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_list_shows_every_toolchain_with_its_versions(empty_home: Path) -> None:
    lines = run("list").output.splitlines()
    assert lines[0].split() == ["NAME", "STATE", "PYTHON", "TORCH", "NVFUSER", "THUNDER", "DISK", "OWN"]
    assert [line.split()[0] for line in lines[1:-2]] == toolchain.names()
    default = "nvfuser-0.2.36 (default) not installed 3.12 2.10.0 0.2.36.dev20260301 0.2.6 (1.9 GB) -"
    assert lines[1].split() == default.split()
    assert max(map(len, lines[:-1])) <= 120
    assert str(empty_home / "toolchains") in lines[-1]


def test_list_tells_what_is_shared(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [empty_home / "toolchains" / name for name in ("nvfuser-0.2.8", "thunder-711")]
    for folder in folders:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()
        (folder / MARKER).write_text(json.dumps({"python": "3.10.1", "pins": []}))
    (folders[0] / "library").write_bytes(b"x" * 3_000_000)
    os.link(folders[0] / "library", folders[1] / "library")
    rows = {line.split()[0]: line.split() for line in run("list").output.splitlines() if line}
    for folder in folders:
        assert rows[folder.name][1] == "outdated"
        assert rows[folder.name][-4:] == ["3", "MB", "0", "MB"]


@pytest.mark.parametrize("subcommand", ["path", "remove"])
@pytest.mark.usefixtures("empty_home")
def test_what_is_not_installed_has_no_path_and_cannot_be_removed(subcommand: str) -> None:
    error = run(subcommand, "nvfuser-0.2.8").exception
    assert isinstance(error, ToolchainError)
    assert "nvfuser-0.2.8 is not installed" in str(error)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["nvfuser-0.2.8", "nvfuser-9"], "unknown toolchain 'nvfuser-9'"),
        (["current"], "current is the Python that runs"),
    ],
)
def test_install_checks_every_name_before_it_starts(empty_home: Path, names: list[str], message: str) -> None:
    error = run("install", *names).exception
    assert isinstance(error, ToolchainError)
    assert message in str(error)
    assert not (empty_home / "toolchains").exists()


@pytest.mark.toolchain
def test_path_prints_nothing_but_the_interpreter() -> None:
    installed = [name for name in toolchain.names() if toolchain.installed(name)]
    if not installed:
        pytest.skip("no toolchain is installed")
    assert run("path", installed[0]).output == f"{toolchain.find(installed[0]).python}\n"


def test_add_list_and_remove_a_python(empty_home: Path, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    for package in ("torch", "nvfuser"):
        (packages / package).mkdir(parents=True)
        (packages / package / "__init__.py").touch()
    (packages / "torch-9.8.dist-info").mkdir()
    (packages / "torch-9.8.dist-info" / "METADATA").write_text("Name: torch\nVersion: 9.8\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)

    assert run("add", "mine", "--python", str(python)).output == "added mine\n"
    row = next(line for line in run("list").output.splitlines() if line.startswith("mine "))
    assert row.split()[1] == "installed"
    assert "9.8" in row
    assert run("path", "mine").output == f"{python}\n"
    error = run("install", "mine").exception
    assert isinstance(error, ToolchainError)
    assert str(error) == f"toolchain mine is {python}: install torch and nvFuser there yourself"
    assert run("remove", "mine").output == "removed mine\n"
    assert "mine" not in run("list").output


def test_add_one_like_another(empty_home: Path) -> None:
    result = run("add", "mine", "--like", "nvfuser-0.2.8", "--wheel", "nvfuser-cu121-torch24==0.2.9.dev20240808")
    assert result.output == "added mine; to install it now: segscope toolchain install mine\n"
    row = next(line for line in run("list").output.splitlines() if line.startswith("mine "))
    assert row.split() == "mine not installed 3.10 2.4.0 0.2.9.dev20240808 0.2.1 (1.6 GB) -".split()
    assert run("remove", "mine").exit_code == 0


@pytest.mark.usefixtures("empty_home")
@pytest.mark.parametrize(
    ("version", "options", "date"),
    [
        ("0.2.9.dev20240808", [], "2024-08-08"),
        ("0.2.9.dev20240808", ["--date", "2024-08-11"], "2024-08-11"),
        ("0.2.9", [], ""),
        ("0.2.9", ["--date", "2024-08-11"], "2024-08-11"),
    ],
)
def test_an_nvfuser_has_the_day_that_is_given_or_that_of_its_version(
    version: str, options: list[str], date: str
) -> None:
    assert run("add", "mine", "--like", "nvfuser-0.2.8", "--wheel", f"nvfuser=={version}", *options).exit_code == 0
    assert toolchain.get("mine").date == date


@pytest.mark.usefixtures("empty_home")
def test_another_thunder_leaves_the_day_of_nvfuser() -> None:
    run("add", "mine", "--like", "nvfuser-0.2.8", "--wheel", "lightning-thunder==0.2.0")
    assert toolchain.get("mine").date == "2024-07-23"


def test_a_day_that_is_none() -> None:
    result = run("add", "mine", "--python", sys.executable, "--date", "yesterday")
    assert result.exit_code == 2
    assert "yesterday" in result.output


@pytest.mark.usefixtures("empty_home")
@pytest.mark.parametrize(
    "options",
    [[], ["--like", "nvfuser-0.2.8"], ["--wheel", "a==1"], ["--python", sys.executable, "--like", "nvfuser-0.2.8"]],
)
def test_add_takes_a_python_or_one_like_another(options: list[str]) -> None:
    result = run("add", "mine", *options)
    assert result.exit_code == 2
    assert "either --python, or --like and at least one --wheel" in result.output
