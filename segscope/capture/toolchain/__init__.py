"""Toolchains: interpreters with one torch + nvFuser + Thunder each.

Those of ``toolchains.toml``, and what users make of them, are installed, each in its own virtual environment, under
segscope's home; they have no CUDA libraries and no GPU code, and run on the null device only. ``current`` is the
interpreter that runs segscope; users add other interpreters that are there.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from segscope.capture.toolchain import added, environment, wheels
from segscope.capture.toolchain import install as _install
from segscope.capture.toolchain.added import AddedInterpreter
from segscope.capture.toolchain.install import State
from segscope.capture.toolchain.probe import packages_of
from segscope.capture.toolchain.spec import CURRENT, ToolchainSpec, load
from segscope.errors import ToolchainError
from segscope.home import home

__all__ = [
    "CURRENT",
    "AddedInterpreter",
    "State",
    "Toolchain",
    "ToolchainSpec",
    "add_interpreter",
    "add_like",
    "default_name",
    "ensure",
    "find",
    "get",
    "installed",
    "is_managed",
    "names",
    "remove",
    "require_thunder",
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
    inductor: str = ""
    """The state that torch's Inductor is brought to in the child process; empty: as it is."""


def names() -> list[str]:
    """Return the names of all toolchains: the default, the others, those that the user added, ``current``."""
    return list(_known())


def default_name() -> str:
    """Return the name of the toolchain that is used when none is chosen."""
    return load().default


def root() -> Path:
    """Return the folder that holds the installed toolchains."""
    return home() / "toolchains"


def get(name: str) -> ToolchainSpec | AddedInterpreter:
    """Return what a toolchain is: packages to install, or a Python that is there.

    Raises:
        ToolchainError: the name is unknown; the message lists the valid ones.
    """
    known = _known()
    if name not in known:
        raise ToolchainError(f"unknown toolchain {name!r}; valid: {', '.join(names())}")
    return known[name]


def is_managed(name: str) -> bool:
    """Say whether segscope installs the toolchain, so that it has no GPU code; ToolchainError for an unknown name."""
    return isinstance(get(name), ToolchainSpec)


def state(name: str) -> State:
    """Say whether a toolchain can be used: ``installed``, ``not installed``, or ``outdated`` (other pins).

    Raises:
        ToolchainError: the name is unknown.
    """
    if isinstance(spec := get(name), ToolchainSpec):
        return _install.state(spec, root())
    try:
        find(name)
    except ToolchainError:
        return "not installed"
    return "installed"


def installed(name: str) -> bool:
    """Say whether `find` finds the toolchain; raises ToolchainError for an unknown name."""
    return state(name) == "installed"


def find(name: str) -> Toolchain:
    """Return an installed toolchain.

    Raises:
        ToolchainError: the name is unknown, or the toolchain is not installed; the message says what to run.
    """
    known = get(name)
    if isinstance(known, AddedInterpreter):
        return _as_it_is(known)
    if (found := state(name)) != "installed":
        raise ToolchainError(f"toolchain {name} is {found}; run: segscope toolchain install {name}")
    return _managed(known)


def ensure(name: str) -> Toolchain:
    """Return a toolchain, after installing it when it is missing or outdated.

    Progress goes to standard error.

    Raises:
        ToolchainError: the name is unknown, or the installation failed.
    """
    spec = get(name)
    if isinstance(spec, AddedInterpreter):
        return _as_it_is(spec)
    _install.install(spec, root())
    return _managed(spec)


def add_interpreter(name: str, python: Path, date: str = "") -> None:
    """Let ``name`` be a Python that has torch and nvFuser; it stays as and where it is.

    ``date`` is the day its nvFuser was built, such as ``2026-03-01``, where that is known.

    Raises:
        ToolchainError: the name is taken or not possible, or the Python does not run or lacks one of them.
    """
    _check_free(name)
    packages_of(python)
    added.add(AddedInterpreter(name, str(python.absolute()), date))


def add_like(name: str, like: str, own: tuple[str, ...], date: str = "") -> None:
    """Let ``name`` be a toolchain to install that is like another but for some packages.

    Args:
        name: one that the user added before is replaced.
        like: the name of a toolchain that segscope installs.
        own: wheel files, or ``NAME==VERSION``.
        date: the day its nvFuser was built; if empty, what the version says (``.dev20260301``).

    Raises:
        ToolchainError: a name or package is not possible.
    """
    _check_free(name)
    spec = get(like)
    if isinstance(spec, AddedInterpreter):
        raise ToolchainError(f"segscope does not install toolchain {like}: it cannot make another like it")
    added.add(wheels.with_wheels(spec, name, own, date))


def require_thunder(name: str) -> None:
    """Raise ToolchainError where a toolchain that segscope installs has no Thunder, and for an unknown name."""
    if isinstance(spec := get(name), ToolchainSpec) and spec.version("lightning-thunder") == "-":
        raise ToolchainError(f"toolchain {name} has no Thunder; use one that has: see segscope toolchain list")


def remove(name: str) -> None:
    """Remove a toolchain: what is installed of it, and, where the user added it, its name.

    Raises:
        ToolchainError: the name is unknown, not installed, or ``current``.
    """
    if name == CURRENT:
        raise ToolchainError(f"toolchain {CURRENT} is the Python that runs segscope: it cannot be removed")
    known, users = get(name), name in added.read()
    if isinstance(known, ToolchainSpec) and (not users or (root() / name).exists()):
        _install.remove(known, root())
    if users:
        added.forget(name)


def _known() -> dict[str, ToolchainSpec | AddedInterpreter]:
    specs = sorted(load().specs.values(), key=lambda spec: spec.name != default_name())
    own = {spec.name: spec for spec in specs} | added.read()
    return {**own, CURRENT: AddedInterpreter(CURRENT, sys.executable)}


def _check_free(name: str) -> None:
    if name == CURRENT or name in load().specs:
        raise ToolchainError(f"segscope has a toolchain {name} of its own: choose another name")


def _managed(spec: ToolchainSpec) -> Toolchain:
    folder = root() / spec.name
    return Toolchain(
        name=spec.name,
        python=environment.interpreter_of(folder),
        site_packages=environment.site_packages_of(folder, spec.python),
        managed=True,
        inductor=spec.inductor,
    )


def _as_it_is(known: AddedInterpreter) -> Toolchain:
    python = Path(known.interpreter)
    try:
        return Toolchain(known.name, python, packages_of(python), managed=False)
    except ToolchainError as error:
        raise ToolchainError(
            f"toolchain {known.name} cannot be used: {error}, or choose another toolchain (segscope toolchain list)"
        ) from None
