import json
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from segscope.capture.toolchain.folder import MARKER
from segscope.capture.toolchain.install import check_platform, install, remove, state
from segscope.errors import ToolchainError

from .conftest import RUNNING_PYTHON, HeldIndex, start_installer, tiny_spec


def installed_version(root: Path) -> str:
    python = root / "tiny" / "bin" / "python"
    return subprocess.check_output([python, "-I", "-c", "import tiny; print(tiny.version)"], text=True).strip()


@pytest.mark.usefixtures("local_index")
def test_life_of_a_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the user that would lead pip elsewhere are in force all the while."""
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "pip.py").write_text("raise SystemExit('the wrong pip')")
    root = tmp_path / "toolchains"
    spec = tiny_spec()

    assert state(spec, root) == "not installed"
    assert install(spec, root)
    assert state(spec, root) == "installed"
    assert installed_version(root) == "1.0"
    marker = json.loads((root / "tiny" / MARKER).read_text())
    assert (marker["name"], marker["pins"]) == ("tiny", ["tiny==1.0"])
    assert marker["python"].startswith(RUNNING_PYTHON)

    assert not install(spec, root)
    newer = tiny_spec("tiny==2.0")
    assert state(newer, root) == "outdated"
    assert install(newer, root)
    assert installed_version(root) == "2.0"

    assert not (tmp_path / "elsewhere").exists()
    remove(newer, root)
    assert state(newer, root) == "not installed"
    assert not (root / "tiny").exists()
    with pytest.raises(ToolchainError, match="tiny is not installed"):
        remove(newer, root)


@pytest.mark.usefixtures("local_index")
def test_progress_names_the_stages(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    install(tiny_spec(), tmp_path)
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.split("] ")[1].split()[0] for line in err.splitlines()] == [
        "making",
        "installing",
        "freeing",
        "installed",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing(tmp_path: Path, held_index: HeldIndex, number: signal.Signals) -> None:
    with start_installer(tiny_spec(), tmp_path) as process:
        assert held_index.asked.wait(60)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    assert process.returncode == -number
    assert "removing what there is of it" in err
    assert not (tmp_path / "tiny").exists()
    assert held_index.hung_up.wait(60)  # pip has ended too


def test_after_sigkill_the_next_call_installs(tmp_path: Path, held_index: HeldIndex) -> None:
    spec = tiny_spec()
    with start_installer(spec, tmp_path) as process:
        assert held_index.asked.wait(60)
        process.kill()
    assert held_index.hung_up.wait(60)  # pip has ended too
    assert (tmp_path / "tiny").exists()
    assert state(spec, tmp_path) == "not installed"
    held_index.answer()
    assert install(spec, tmp_path)
    assert installed_version(tmp_path) == "1.0"


def test_what_sigkill_left_can_be_removed(tmp_path: Path) -> None:
    (tmp_path / "tiny" / "lib").mkdir(parents=True)
    remove(tiny_spec(), tmp_path)
    assert not (tmp_path / "tiny").exists()


def test_two_processes_at_once_install_once(tmp_path: Path, held_index: HeldIndex) -> None:
    with start_installer(tiny_spec(), tmp_path) as first:
        assert held_index.asked.wait(60)
        with start_installer(tiny_spec(), tmp_path) as second:
            assert second.stderr is not None
            assert "waiting" in second.stderr.readline()
            held_index.answer()
            assert first.communicate(timeout=120)[0] == "True\n"
            assert second.communicate(timeout=120) == ("False\n", "")


@pytest.mark.usefixtures("local_index")
def test_pip_failing_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        install(tiny_spec("tiny==1.0", "absent==1.0"), tmp_path)
    message = str(caught.value)
    assert "No matching distribution found for absent==1.0" in message
    assert message.endswith("then run: segscope toolchain install tiny")
    assert len(message.splitlines()) == 1
    assert not (tmp_path / "tiny").exists()


def test_an_index_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(ToolchainError, match="the package index did not answer"):
        install(tiny_spec(), tmp_path)


def test_a_package_of_another_version_than_its_pin(tmp_path: Path, local_index: None) -> None:
    with pytest.raises(ToolchainError, match=r"pip put tiny 1\.0 into .*, not tiny==1;"):
        install(tiny_spec("tiny==1"), tmp_path)
    assert not (tmp_path / "tiny").exists()


def test_no_room(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"needs 2999999999\.\d GB .* has [\d.]+ GB free"):
        install(tiny_spec(size_gb=1e9), tmp_path)
    assert not (tmp_path / "tiny").exists()


def test_no_such_python(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"no Python 3\.99 found"):
        install(replace(tiny_spec(), python="3.99"), tmp_path)


def test_a_root_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolchainError, match=r"cannot write toolchain tiny: .*SEGSCOPE_HOME"):
        install(tiny_spec(), tmp_path / "file" / "toolchains")


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"pins": null, "python": null}'])
def test_a_damaged_marker_is_not_an_installation(tmp_path: Path, marker: str) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / MARKER).write_text(marker)
    assert state(tiny_spec(), tmp_path) == "not installed"


def test_an_environment_whose_python_is_gone_is_not_an_installation(tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    marker = {"pins": ["tiny==1.0"], "python": f"{RUNNING_PYTHON}.0"}
    (tmp_path / "tiny" / MARKER).write_text(json.dumps(marker))
    assert state(tiny_spec(), tmp_path) == "not installed"


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64"), ("Windows", "AMD64")])
def test_only_linux_on_x86_64(system: str, machine: str) -> None:
    with pytest.raises(ToolchainError, match=f"this is {system} on {machine}"):
        check_platform(system, machine)
