import pytest

from segscope.capture.toolchain.spec import load
from segscope.errors import ToolchainError


def test_the_default_is_a_toolchain() -> None:
    assert load().get(load().default).name == "nvfuser-0.2.36"


@pytest.mark.parametrize(
    ("name", "python", "torch", "nvfuser", "thunder"),
    [
        ("nvfuser-0.2.36", "3.12", "2.10.0", "0.2.36.dev20260301", "0.2.6"),
        ("nvfuser-0.2.8", "3.10", "2.4.0", "0.2.8.dev20240723", "0.2.1"),
    ],
)
def test_versions(name: str, python: str, torch: str, nvfuser: str, thunder: str) -> None:
    spec = load().get(name)
    versions = [spec.version(package) for package in ("torch", "nvfuser", "lightning-thunder", "triton")]
    assert (spec.python, *versions) == (python, torch, nvfuser, thunder, "-")


@pytest.mark.parametrize("name", load().specs)
def test_every_package_is_pinned_once_and_none_is_a_cuda_library(name: str) -> None:
    packages = [pin.split("==")[0].lower() for pin in load().get(name).pins]
    assert len(packages) == len(set(packages))
    assert all(pin.count("==") == 1 for pin in load().get(name).pins)
    assert not [package for package in packages if package.startswith(("nvidia", "triton", "pip"))]


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(ToolchainError, match=r"'nvfuser-9'; valid: nvfuser-0\.2\.36, .*, current$"):
        load().get("nvfuser-9")
