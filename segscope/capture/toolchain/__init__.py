"""Toolchains: interpreters with one torch + nvFuser + Thunder each.

Those of ``toolchains.toml`` are installed, each in its own virtual environment, under segscope's home; they
have no CUDA libraries and no GPU code, and run on the null device only. ``current`` is the interpreter that
runs segscope.
"""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from segscope.capture.toolchain import environment
from segscope.capture.toolchain import install as _install
from segscope.capture.toolchain.install import State
from segscope.capture.toolchain.spec import CURRENT, ToolchainSpec, load
from segscope.errors import ToolchainError
from segscope.home import home

__all__ = [
    "CURRENT",
    "State",
    "Toolchain",
    "default_name",
    "ensure",
    "find",
    "installed",
    "names",
    "remove",
    "root",
    "state",
]


@dataclass(frozen=True)
class Toolchain:
    """An interpreter with torch and nvFuser in it."""

    name: str
    python: Path
    """The interpreter."""
    site_packages: Path
    """Where torch and nvFuser are."""
    managed: bool
    """Whether segscope installed it: then it has no GPU code, and runs on the null device only."""


def names() -> list[str]:
    """Return the names of all toolchains, the default first and ``current`` last."""
    catalogue = load()
    return [*sorted(catalogue.specs, key=lambda name: name != catalogue.default), CURRENT]


def default_name() -> str:
    """Return the name of the toolchain that is used when none is chosen."""
    return load().default


def root() -> Path:
    """Return the folder that holds the installed toolchains."""
    return home().absolute() / "toolchains"


def state(name: str) -> State:
    """Say whether a toolchain can be used: ``installed``, ``not installed``, or ``outdated`` (other pins).

    Raises:
        ToolchainError: the name is unknown.
    """
    if name == CURRENT:
        try:
            _current()
        except ToolchainError:
            return "not installed"
        return "installed"
    return _install.state(load().get(name), root())


def installed(name: str) -> bool:
    """Say whether `find` finds the toolchain; raises ToolchainError for an unknown name."""
    return state(name) == "installed"


def find(name: str) -> Toolchain:
    """Return an installed toolchain.

    Raises:
        ToolchainError: the name is unknown, or the toolchain is not installed; the message says what to run.
    """
    if name == CURRENT:
        return _current()
    spec = load().get(name)
    if (found := state(name)) != "installed":
        raise ToolchainError(f"toolchain {name} is {found}; run: segscope toolchain install {name}")
    return _managed(spec)


def ensure(name: str) -> Toolchain:
    """Return a toolchain, after installing it when it is missing or outdated.

    Progress goes to standard error.

    Raises:
        ToolchainError: the name is unknown, or the installation failed.
    """
    if name == CURRENT:
        return _current()
    spec = load().get(name)
    _install.install(spec, root())
    return _managed(spec)


def remove(name: str) -> None:
    """Remove an installed toolchain.

    Raises:
        ToolchainError: the name is unknown, not installed, or ``current``.
    """
    if name == CURRENT:
        raise ToolchainError(f"toolchain {CURRENT} is the Python that runs segscope: it cannot be removed")
    _install.remove(load().get(name), root())


def _managed(spec: ToolchainSpec) -> Toolchain:
    folder = root() / spec.name
    return Toolchain(
        name=spec.name,
        python=environment.interpreter_of(folder),
        site_packages=environment.site_packages_of(folder, spec.python),
        managed=True,
    )


def _current() -> Toolchain:
    site_packages = _folder_of("torch")
    nvfuser = _folder_of("nvfuser") or _folder_of("nvfuser_direct")
    if site_packages is None or nvfuser is None:
        missing = "nvFuser" if site_packages else "torch"
        raise ToolchainError(
            f"toolchain {CURRENT} cannot be used: {sys.executable} has no {missing}; "
            f"install it there, or choose another toolchain (segscope toolchain list)"
        )
    return Toolchain(name=CURRENT, python=Path(sys.executable), site_packages=site_packages, managed=False)


def _folder_of(package: str) -> Path | None:
    """Return the folder that a package lies in, or none; a folder without ``__init__.py`` is no package."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent.parent if found and found.origin else None
