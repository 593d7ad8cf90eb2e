"""What a toolchain is made of: the pins in ``toolchains.toml``."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from segscope.toml import read_toml

CURRENT = "current"
"""The name of the interpreter that runs segscope, when torch and nvFuser are installed there."""

DATA = Path(__file__).with_name("toolchains.toml")


@dataclass(frozen=True)
class ToolchainSpec:
    """One toolchain to install: a Python version and every package in it."""

    name: str
    python: str
    """Major and minor version, such as ``3.12``."""
    size_gb: float
    """Disk space of the finished environment, in GB (10**9 bytes), approximately."""
    pins: tuple[str, ...]
    """``name==version``, or ``name @ file:///....whl#sha256=...``, of every package except pip."""
    date: str = ""
    """The day nvFuser was built, such as ``2026-03-01``."""
    era: str = ""
    """The form of nvFuser's dumps, such as ``E10`` (docs/dump-format.md)."""
    inductor: str = ""
    """The state that torch's Inductor is brought to in the child process; empty: as it is."""

    def version(self, package: str) -> str:
        """Return the pinned version of a package (``compared``), or ``-``."""
        return next((version_of(pin) for pin in self.pins if compared(pin) == package), "-")


def is_exact(pin: str) -> bool:
    """Say whether a pin names a version that is the same wherever it comes from, and not a file."""
    return "==" in pin


def package_of(pin: str) -> str:
    """Return the name of the package that is pinned."""
    return pin.partition("==")[0] if is_exact(pin) else pin.partition(" @ ")[0]


def compared(pin: str) -> str:
    """Return the package's name as names are compared, ``lightning-thunder``; ``nvfuser`` for that of any torch."""
    name = re.sub("[-_.]+", "-", package_of(pin)).lower()
    return "nvfuser" if name.startswith("nvfuser") else name


def version_of(pin: str) -> str:
    """Return the version that is pinned; a wheel has it in its file's name."""
    return pin.partition("==")[2] if is_exact(pin) else unquote(pin.rpartition("/")[2]).split("-")[1]


@dataclass(frozen=True)
class Catalogue:
    """Every toolchain of a data file."""

    default: str
    specs: dict[str, ToolchainSpec]


@cache
def load(path: Path = DATA) -> Catalogue:
    """Read a data file such as ``toolchains.toml``."""
    data = read_toml(path)
    specs = {
        name: ToolchainSpec(
            name=name,
            python=entry["python"],
            size_gb=entry["size_gb"],
            pins=tuple(sorted([*data["shared"], *data["python"][entry["python"]], *entry["pins"]], key=str.lower)),
            date=str(entry["date"]),
            era=entry["era"],
            inductor=entry.get("inductor", ""),
        )
        for name, entry in data["toolchain"].items()
    }
    return Catalogue(default=data["default"], specs=specs)
