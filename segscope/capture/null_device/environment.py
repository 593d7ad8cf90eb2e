"""The environment in which a child process finds the null device instead of CUDA."""

import os
from pathlib import Path

from segscope.capture.null_device.build import COMPILER, RUNTIME, null_device
from segscope.capture.null_device.cards import Card
from segscope.capture.null_device.stand_ins import stand_ins


def environment(site_packages: Path, card: Card) -> dict[str, str]:
    """Return the variables to set for a child that imports torch and nvFuser from ``site_packages``.

    Builds the null device, and stand-ins for the CUDA libraries that are missing there, if that was not done before.
    ``LD_PRELOAD`` and ``LD_LIBRARY_PATH`` keep their present values, behind the new ones.

    :exc:`DeviceError` if they cannot be built.
    """
    device = null_device()
    return {
        "LD_PRELOAD": _in_front_of("LD_PRELOAD", device / RUNTIME, device / COMPILER),
        "LD_LIBRARY_PATH": _in_front_of("LD_LIBRARY_PATH", device, stand_ins(site_packages)),
        "SEGSCOPE_NULL_CARD": card.variable(),
    }


def _in_front_of(variable: str, *paths: Path) -> str:
    present = os.environ.get(variable)
    return ":".join([*map(str, paths), *([present] if present else [])])
