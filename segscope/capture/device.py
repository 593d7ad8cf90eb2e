"""Which device a child process gets: a real GPU, or the null device."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from dataclasses import dataclass
from typing import Final, Literal

from segscope.capture import null_device
from segscope.capture.null_device import Card
from segscope.capture.toolchain import Toolchain, is_managed
from segscope.errors import DeviceError

CHOICES: Final = ("auto", "cuda", "null")

_HIDING: Final = ("CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
"""Variables that are about the caller's GPUs: they hide the null device, or ask of it what it cannot do."""


@dataclass(frozen=True)
class Device:
    """What a child process runs on."""

    kind: Literal["cuda", "null"]
    card: Card | None
    """The card that the null device plays."""
    what: str
    """What it is, and why it was chosen, for the user."""

    def environment(self, inherited: dict[str, str], toolchain: Toolchain) -> dict[str, str]:
        """Return the child's environment: the inherited one, for the null device with what makes it be found.

        Raises DeviceError where the toolchain's torch is not one that the null device stands in for.
        """
        if self.card is None:
            return inherited
        _check_cuda_version(toolchain)
        kept = {name: value for name, value in inherited.items() if name not in _HIDING}
        return kept | null_device.environment(toolchain.site_packages, self.card)


def choose(asked: str, toolchain: str, card_name: str) -> Device:
    """Return the device for the toolchain of that name, which need not be installed yet.

    Builds the null device where that is what is used and it is not built yet, so that a machine that cannot is told so
    at once. Raises DeviceError for that, and for a device or card that is not known or that the toolchain cannot use.
    """
    if asked not in CHOICES:
        raise DeviceError(f"unknown device {asked!r}; valid: {', '.join(CHOICES)}")
    card = null_device.card(card_name)
    present = gpu_present()
    managed = is_managed(toolchain)
    if asked == "cuda" and managed:
        raise DeviceError(f"toolchain {toolchain} has no GPU code; use --toolchain current with --device cuda")
    if asked == "cuda" and not present:
        raise DeviceError("no CUDA device on this machine; use --device null")
    if asked == "cuda" or (asked == "auto" and present and not managed):
        return Device("cuda", None, "the GPU of this machine")
    if asked == "null":
        reason = "as asked"
    elif present:
        reason = f"{toolchain} has no GPU code; --toolchain current uses the GPU"
    else:
        reason = "no GPU here"
    null_device.null_device()
    return Device("null", card, f"the null device, as {card.name} ({reason}; nothing is computed or timed)")


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
