from pathlib import Path

import pytest

from segscope.capture.toolchain.spec import ToolchainSpec, is_exact, package_of, version_of
from segscope.capture.toolchain.wheels import with_wheels
from segscope.errors import ToolchainError

LIKE = ToolchainSpec(
    "like",
    "3.12",
    1.8,
    ("lightning-thunder==0.2.6", "nvfuser_cu128_torch210==0.2.36.dev20260301", "torch==2.10.0"),
    date="2026-03-01",
    era="E10",
    inductor="july-2024",
)


@pytest.fixture
def nvfuser(tmp_path: Path) -> Path:
    folder = tmp_path / "my builds=="
    folder.mkdir()
    path = folder / "nvfuser-0.2.37+git0abc123-cp312-cp312-linux_x86_64.whl"
    path.write_bytes(b"content")
    return path


def test_an_nvfuser_of_any_name_takes_the_place_of_the_one_that_is_there(nvfuser: Path) -> None:
    spec = with_wheels(LIKE, "mine", (str(nvfuser),))
    assert (spec.name, spec.python, spec.size_gb, spec.inductor) == ("mine", "3.12", 1.8, "july-2024")
    assert [package_of(pin) for pin in spec.pins] == ["lightning-thunder", "nvfuser", "torch"]
    assert spec.version("nvfuser") == "0.2.37+git0abc123"
    assert (spec.date, spec.era) == ("", "")  # of another nvFuser


def test_the_pin_of_a_file_tells_its_content(nvfuser: Path) -> None:
    (pin,) = set(with_wheels(LIKE, "mine", (str(nvfuser),)).pins) - set(LIKE.pins)
    assert not is_exact(pin)
    assert version_of(pin) == "0.2.37+git0abc123"
    nvfuser.write_bytes(b"another content")
    assert pin not in with_wheels(LIKE, "mine", (str(nvfuser),)).pins


def test_pins_replace_and_add(nvfuser: Path) -> None:
    spec = with_wheels(LIKE, "mine", ("Lightning_Thunder==0.2.5", "triton==3.6.0"))
    assert spec.pins == ("Lightning_Thunder==0.2.5", LIKE.pins[1], LIKE.pins[2], "triton==3.6.0")
    assert (spec.date, spec.era) == (LIKE.date, LIKE.era)


@pytest.mark.parametrize("wheel", ["torch", "torch>=2", "torch==2.*", "absent-1.0-py3-none-any.whl", "--pre", ""])
def test_what_is_neither_file_nor_exact_pin(wheel: str) -> None:
    with pytest.raises(ToolchainError, match=r"neither a wheel file \(.*\) nor NAME==VERSION"):
        with_wheels(LIKE, "mine", (wheel,))


def test_a_file_that_is_not_called_as_wheels_are(tmp_path: Path) -> None:
    (tmp_path / "nvfuser.whl").touch()
    with pytest.raises(ToolchainError, match="neither a wheel file"):
        with_wheels(LIKE, "mine", (str(tmp_path / "nvfuser.whl"),))
