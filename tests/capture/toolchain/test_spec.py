import datetime
import re

import pytest

from segscope.capture.toolchain.spec import load

SPECS = load().specs
WITH_TRITON = {"nvfuser-0.2.36": "3.6.0", "nvfuser-0.2.8": "3.0.0", "thunder-711": "3.0.0"}


def test_the_default_is_a_toolchain() -> None:
    assert SPECS[load().default].name == "nvfuser-0.2.36"


@pytest.mark.parametrize(
    ("name", "python", "torch", "nvfuser", "thunder", "inductor"),
    [
        ("nvfuser-0.2.36", "3.12", "2.10.0", "0.2.36.dev20260301", "0.2.6", ""),
        ("nvfuser-0.2.8", "3.10", "2.4.0", "0.2.8.dev20240723", "0.2.1", ""),
        ("thunder-711", "3.10", "2.4.0", "0.2.8.dev20240723", "0.2.0.dev20240728", "july-2024"),
        ("nvfuser-0.2.0.dev20240316", "3.10", "2.2.2", "0.2.0.dev20240316", "-", ""),
        ("nvfuser-0.2.25.dev20250201", "3.10", "2.5.1", "0.2.25.dev20250201", "0.2.1", ""),
    ],
)
def test_versions(name: str, python: str, torch: str, nvfuser: str, thunder: str, inductor: str) -> None:
    spec = SPECS[name]
    versions = [spec.version(package) for package in ("torch", "nvfuser", "lightning-thunder")]
    assert (spec.python, *versions, spec.inductor) == (python, torch, nvfuser, thunder, inductor)


@pytest.mark.parametrize("name", SPECS)
def test_every_package_is_pinned_once_and_none_is_a_cuda_library(name: str) -> None:
    packages = [pin.split("==")[0].lower() for pin in SPECS[name].pins]
    assert len(packages) == len(set(packages))
    assert all(pin.count("==") == 1 for pin in SPECS[name].pins)
    assert not [package for package in packages if package.startswith(("nvidia", "pip"))]
    assert SPECS[name].version("triton") == WITH_TRITON.get(name, "-")


@pytest.mark.parametrize("name", SPECS)
def test_name_and_date_are_those_of_the_nvfuser_in_it(name: str) -> None:
    spec = SPECS[name]
    version, built = spec.version("nvfuser").split(".dev")
    assert datetime.date.fromisoformat(spec.date).strftime("%Y%m%d") == built
    assert name in (f"nvfuser-{version}", f"nvfuser-{version}.dev{built}", "thunder-711")
    assert re.fullmatch(r"E\d+(/E\d+)?", spec.era)


def test_the_history_is_in_the_order_of_its_dates_and_has_both_sides_of_every_change() -> None:
    history = [name for name in SPECS if ".dev" in name]
    assert history == sorted(history, key=lambda name: SPECS[name].date)
    torches = [SPECS[name].version("torch") for name in history]
    assert list(dict.fromkeys(torches)) == ["2.2.2", "2.4.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0"]
    assert {"nvfuser-0.2.24.dev20250115", "nvfuser-0.2.25.dev20250201"} < set(history)
    assert {"nvfuser-0.2.26.dev20250302", "nvfuser-0.2.27.dev20250401"} < set(history)
