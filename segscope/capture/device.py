"""Which device a child process gets: a real GPU, or the null device."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from segscope.capture import null_device
from segscope.capture.toolchain import Toolchain
from segscope.errors import DeviceError

CHOICES: Final = ("auto", "cuda", "null")


@dataclass(frozen=True)
class Device:
    """What a child process runs on."""

    kind: Literal["cuda", "null"]
    card: str
    """The card that the null device plays; empty for a real GPU, which names itself."""
    what: str
    """What it is, and why it was chosen, for the user."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What to set in the child."""


def choose(asked: str, toolchain: Toolchain, card_name: str) -> Device:
    """Return the device to use; builds the null device where that is what is used and it is not built yet.

    Raises DeviceError for a device or card that is not known, or that the toolchain cannot use.
    """
    if asked not in CHOICES:
        raise DeviceError(f"unknown device {asked!r}; valid: {', '.join(CHOICES)}")
    card = null_device.card(card_name)
    if asked == "cuda":
        return _cuda(toolchain)
    present = gpu_present()
    if asked == "auto" and present and not toolchain.managed:
        return Device("cuda", "", "the GPU of this machine")
    if asked == "null":
        reason = "as asked"
    elif present:
        reason = f"{toolchain.name} has no GPU code; --toolchain current uses the GPU"
    else:
        reason = "no GPU here"
    _check_cuda_version(toolchain)
    return Device(
        "null",
        card.name,
        f"the null device, as {card.name} ({reason}; nothing is computed or timed)",
        null_device.environment(toolchain.site_packages, card),
    )


def _cuda(toolchain: Toolchain) -> Device:
    if toolchain.managed:
        raise DeviceError(f"toolchain {toolchain.name} has no GPU code; use --toolchain current with --device cuda")
    if not gpu_present():
        raise DeviceError("no CUDA device on this machine; use --device null")
    return Device("cuda", "", "the GPU of this machine")


def gpu_present() -> bool:
    """Ask the CUDA driver, if there is one, whether it has a device."""
    if not sys.platform.startswith("linux") or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def _check_cuda_version(toolchain: Toolchain) -> None:
    """The null device answers for CUDA 12; torch writes the version that it was built for into its version file."""
    version_file = toolchain.site_packages / "torch" / "version.py"
    match = re.search(r"^cuda\b[^=]*= *'([\d.]+)'", version_file.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise DeviceError(f"torch in toolchain {toolchain.name} is built without CUDA: nvFuser cannot run there")
    if not match.group(1).startswith("12."):
        raise DeviceError(
            f"torch in toolchain {toolchain.name} is built for CUDA {match.group(1)}; "
            "the null device stands in for CUDA 12"
        )
