"""What a toolchain is made of: the pins in ``toolchains.toml``."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from segscope.errors import ToolchainError
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
    """``name==version`` of every package except pip."""

    def version(self, package: str) -> str:
        """Return the pinned version of the package whose name starts with ``package``, or ``-``."""
        return next((pin.split("==")[1] for pin in self.pins if pin.startswith(package)), "-")


@dataclass(frozen=True)
class Catalogue:
    """Every toolchain of a data file."""

    default: str
    specs: dict[str, ToolchainSpec]

    def get(self, name: str) -> ToolchainSpec:
        """Return the toolchain called ``name``.

        Raises:
            ToolchainError: no toolchain has that name; the message lists those there are.
        """
        if name in self.specs:
            return self.specs[name]
        raise ToolchainError(f"unknown toolchain {name!r}; valid: {', '.join([*self.specs, CURRENT])}")


@cache
def load(path: Path = DATA) -> Catalogue:
    """Read a data file such as ``toolchains.toml``."""
    data = read_toml(path)
    specs = {
        name: ToolchainSpec(
            name=name,
            python=entry["python"],
            size_gb=entry["size_gb"],
            pins=tuple(sorted([*data["shared"], *entry["pins"]], key=str.lower)),
        )
        for name, entry in data["toolchain"].items()
    }
    return Catalogue(default=data["default"], specs=specs)
