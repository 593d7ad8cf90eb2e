from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from segscope.capture import toolchain
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
    assert [line.split()[0] for line in lines[1:4]] == ["nvfuser-0.2.36", "nvfuser-0.2.8", "current"]
    default = "nvfuser-0.2.36 (default) not installed 3.12 2.10.0 0.2.36.dev20260301 0.2.6 (1.1 GB)"
    assert lines[1].split() == default.split()
    assert str(empty_home / "toolchains") in lines[-1]


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
