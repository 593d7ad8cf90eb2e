import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture.toolchain.environment import site_packages_of
from segscope.capture.toolchain.folder import MARKER, lock_of
from segscope.capture.toolchain.install import install, remove
from segscope.capture.toolchain.sharing import take_over
from segscope.capture.toolchain.spec import ToolchainSpec

from .conftest import RUNNING_PYTHON, tiny_spec, write_wheel

WHEEL_PIN = "tiny @ file:///somewhere/tiny-1.0-py3-none-any.whl"


def packages(root: Path, name: str) -> Path:
    return site_packages_of(root / name, RUNNING_PYTHON)


def make(root: Path, name: str, wheels: list[Path], pins: tuple[str, ...] | None) -> None:
    """Make the folder of a toolchain: what ``wheels`` hold and, unless ``pins`` is None, a marker."""
    packages(root, name).mkdir(parents=True)
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(packages(root, name))
    if pins is not None:
        marker = {"python": f"{RUNNING_PYTHON}.1", "pins": pins}
        (root / name / MARKER).write_text(json.dumps(marker))


def tiny_of(root: Path, name: str) -> Path:
    return packages(root, name) / "tiny.py"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path, "1.0")


@pytest.fixture
def root(tmp_path: Path, wheel: Path) -> Path:
    """A folder with a toolchain that has the tiny package, and one that is to be filled."""
    root = tmp_path / "toolchains"
    make(root, "first", [wheel], ("tiny==1.0",))
    make(root, "second", [], None)
    return root


def taken(root: Path, *pins: str) -> int:
    return take_over(tiny_spec(*pins, name="second"), root / "second")


def assert_nothing_is_there(root: Path) -> None:
    assert not [path for path in packages(root, "second").rglob("*") if path.is_file()]
    assert not list(packages(root, "second").glob("*.dist-info"))


def test_every_file_of_an_equal_package_is_linked(root: Path) -> None:
    assert taken(root) == 1
    first, second = packages(root, "first"), packages(root, "second")
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert len(files) >= 5
    assert files == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    assert all((first / file).samefile(second / file) for file in files)


def test_what_lies_outside_or_was_compiled_is_left_out(root: Path) -> None:
    first = packages(root, "first")
    outside = ["../../../bin/tiny", "/etc/tiny", "__pycache__/tiny.pyc"]
    (first / "__pycache__").mkdir()
    (first / "__pycache__" / "tiny.pyc").touch()
    with (first / "tiny-1.0.dist-info" / "RECORD").open("a") as record:
        record.writelines(f"{name},,\n" for name in outside)
    assert taken(root) == 1
    assert not (root / "second" / "bin").exists()
    assert not (packages(root, "second") / "__pycache__").exists()


def test_several_toolchains_give_what_each_has(root: Path, tmp_path: Path) -> None:
    make(root, "third", [write_wheel(tmp_path, "1.0", "other")], ("other==1.0",))
    assert taken(root, "absent==1.0", "other==1.0", "tiny==1.0") == 2


def test_what_is_there_is_left_alone(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        content.extractall(packages(root, "second"))
    assert taken(root) == 0
    assert tiny_of(root, "second").stat().st_nlink == 1


def without_marker(root: Path) -> None:
    (root / "first" / MARKER).unlink()


def of_another_python(root: Path) -> None:
    (root / "first" / MARKER).write_text(json.dumps({"python": "3.99.1", "pins": ["tiny==1.0"]}))


def with_a_file_missing(root: Path) -> None:
    (packages(root, "first") / "tiny_data" / "numbers.txt").unlink()


def with_another_version_than_its_marker_says(root: Path) -> None:
    info = packages(root, "first") / "tiny-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 3.0\n")


def without_a_list_of_files(root: Path) -> None:
    (packages(root, "first") / "tiny-1.0.dist-info" / "RECORD").unlink()


@pytest.mark.parametrize(
    "spoil",
    [
        without_marker,
        of_another_python,
        with_a_file_missing,
        with_another_version_than_its_marker_says,
        without_a_list_of_files,
    ],
)
def test_a_toolchain_that_gives_nothing(root: Path, spoil: Callable[[Path], None]) -> None:
    spoil(root)
    assert taken(root) == 0
    assert_nothing_is_there(root)


def test_one_that_is_being_filled_or_removed_gives_nothing(root: Path) -> None:
    with lock_of(root / "first"):
        assert taken(root) == 0
    assert_nothing_is_there(root)
    assert taken(root) == 1


def test_where_the_file_system_refuses_links_nothing_is_left(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link
    made: list[Path] = []

    def refuse_the_third(source: Path, target: Path) -> None:
        if len(made) == 2:
            raise OSError(31, "Too many links")
        link(source, target)
        made.append(target)

    monkeypatch.setattr(os, "link", refuse_the_third)
    assert taken(root) == 0
    assert len(made) == 2
    assert_nothing_is_there(root)


@pytest.mark.parametrize("pin", ["tiny==2.0", WHEEL_PIN])
def test_another_version_or_build_is_not_taken(root: Path, pin: str) -> None:
    assert taken(root, pin) == 0
    assert_nothing_is_there(root)


def test_a_wheel_of_the_users_is_not_given(root: Path) -> None:
    """Two builds of one version are two packages."""
    (root / "first" / MARKER).write_text(json.dumps({"python": f"{RUNNING_PYTHON}.1", "pins": [WHEEL_PIN]}))
    assert taken(root) == 0


@pytest.mark.usefixtures("local_index")
def test_a_toolchain_outlives_the_one_it_shares_with(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = tiny_spec(name="first"), ToolchainSpec("second", RUNNING_PYTHON, 0.001, ("other==1.0", "tiny==1.0"))
    only_other = tmp_path / "only-other"
    only_other.mkdir()
    write_wheel(only_other, "1.0", "other")
    monkeypatch.setenv("PIP_FIND_LINKS", str(only_other))
    install(second, root)
    assert "sharing 1 packages with other toolchains" in capfd.readouterr().err
    remove(first, root)
    command = [root / "second" / "bin" / "python", "-I", "-c", "import tiny, other; print(tiny.version)"]
    assert subprocess.check_output(command, text=True) == "1.0\n"
