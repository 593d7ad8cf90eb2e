"""Install a toolchain into a folder, whole or not at all, and remove it."""

import platform
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from segscope.capture.processes import Stopped, signals_raise
from segscope.capture.toolchain import environment
from segscope.capture.toolchain.folder import MARKER, disk_use, lock_of, read_marker, write_marker
from segscope.capture.toolchain.interpreters import find_interpreter
from segscope.capture.toolchain.sharing import take_over
from segscope.capture.toolchain.spec import ToolchainSpec
from segscope.errors import ToolchainError

State = Literal["installed", "not installed", "outdated"]

_ROOM = 3
"""How many times its finished size an installation takes while it runs: the wheels, and all that is in them."""


def state(spec: ToolchainSpec, root: Path) -> State:
    """Say whether ``root / spec.name`` holds the toolchain; outdated: with pins other than ``spec``'s."""
    folder = root / spec.name
    marker = read_marker(folder)
    if marker is None or not environment.interpreter_of(folder).exists():  # the Python that it was made with is gone
        return "not installed"
    current = marker.pins == spec.pins and marker.has_python(spec.python)
    return "installed" if current else "outdated"


def install(spec: ToolchainSpec, root: Path) -> bool:
    """Install ``spec`` into ``root / spec.name`` and return true, or false when it was there already.

    Progress goes to standard error. When it does not end well, for any reason, the folder is removed; after a
    SIGKILL the next call does so. A second process that asks for the same toolchain waits for the first.

    Raises:
        ToolchainError: no suitable machine, Python or disk space, or pip failed.
    """
    if state(spec, root) == "installed":
        return False
    check_platform(platform.system(), platform.machine())
    with _locked(spec, root):
        if state(spec, root) == "installed":
            return False
        _install(spec, root / spec.name)
    return True


def remove(spec: ToolchainSpec, root: Path) -> None:
    """Remove ``root / spec.name``, even when it is only half there.

    Raises:
        ToolchainError: there is nothing to remove.
    """
    folder = root / spec.name
    if not folder.exists():
        raise ToolchainError(f"toolchain {spec.name} is not installed: {folder} does not exist")
    with _locked(spec, root):
        _wipe(folder)


def check_platform(system: str, machine: str) -> None:
    """Raise ToolchainError unless nvFuser has wheels for this operating system and processor."""
    if (system, machine) != ("Linux", "x86_64"):
        raise ToolchainError(
            f"toolchains need Linux on x86-64, where nvFuser has wheels; this is {system} on {machine}"
        )


def _install(spec: ToolchainSpec, folder: Path) -> None:
    from segscope.capture.null_device.gpu_code import free_gpu_code

    start = time.monotonic()

    def say(text: str) -> None:
        _say(f"{spec.name} [{time.monotonic() - start:3.0f} s] {text}")

    interpreter = find_interpreter(spec.python)
    with signals_raise():
        try:
            _wipe(folder)
            say(f"making an environment with {interpreter.python}")
            environment.create(folder, interpreter)
            if shared := take_over(spec, folder):
                say(f"sharing {shared} packages with other toolchains")
            _check_room(spec, folder)
            say(f"installing {len(environment.missing_pins(folder, spec))} packages")
            environment.install_pins(folder, spec, say)
            say("freeing the GPU code in the libraries, which no kernel will run")
            freed = free_gpu_code(environment.site_packages_of(folder, spec.python))
            write_marker(folder, spec.pins)
            use = disk_use(folder)
            say(f"installed in {folder}: {_gb(use.total)} GB, of which {_gb(use.own)} its own; freed {_gb(freed)} GB")
        except BaseException as error:
            if not isinstance(error, ToolchainError):
                reason = error if isinstance(error, Stopped) else type(error).__name__
                say(f"stopped by {reason}; removing what there is of it")
            _wipe(folder)
            raise


def _check_room(spec: ToolchainSpec, folder: Path) -> None:
    """Ask for room for what is not in ``folder`` yet."""
    free = shutil.disk_usage(folder).free
    needed = _ROOM * max(0, spec.size_gb * 1e9 - disk_use(folder).total)
    if free < needed:
        raise ToolchainError(
            f"toolchain {spec.name} needs {_gb(needed)} GB of disk space to install, and "
            f"{folder.parent} has {_gb(free)} GB free: make room, or set SEGSCOPE_HOME to a folder on another disk"
        )


def _wipe(folder: Path) -> None:
    """Remove a folder, its marker first: a removal that stops halfway leaves no toolchain."""
    (folder / MARKER).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)


@contextmanager
def _locked(spec: ToolchainSpec, root: Path) -> Iterator[None]:
    """Hold the lock of a toolchain, and turn refusals of the file system into one line."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = lock_of(root / spec.name)
        try:
            lock.acquire(timeout=0)
        except TimeoutError:
            _say(f"{spec.name}: another process is installing or removing it; waiting")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()
    except OSError as error:
        raise ToolchainError(
            f"cannot write toolchain {spec.name}: {error.strerror or error} ({error.filename or root}); "
            f"set SEGSCOPE_HOME to a folder that you can write to"
        ) from error


def _say(text: str) -> None:
    with suppress(OSError):  # a terminal that was closed must not keep the folder from being removed
        print(f"segscope: {text}", file=sys.stderr, flush=True)


def _gb(size: float) -> str:
    return f"{size / 1e9:.1f}"
