"""Compiles the null device, once for each state of its sources."""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from segscope.errors import DeviceError
from segscope.home import home

SOURCES = Path(__file__).with_name("src")
PREBUILT = Path(__file__).with_name("prebuilt")
"""Where a wheel has the null device compiled (wheel_hook.py)."""
FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fPIC", "-shared")

RUNTIME = "libcudart.so.12"
COMPILER = "libnvrtc.so.12"
DRIVER = "libcuda.so.1"
RUNTIME_SOURCES = ("card.c", "device.c", "driver.c", "entry_points.c", "kernel.c", "memory.c", "report.c", "stream.c")
COMPILER_SOURCES = ("card.c", "nvrtc.c", "report.c")


@dataclass(frozen=True)
class CCompiler:
    """A C compiler: the command that runs it, and what it says of its version."""

    command: tuple[str, ...]
    version: str

    def shared_library(self, output: Path, *arguments: str | Path) -> None:
        """Link a shared library named ``output`` with :data:`FLAGS`; :exc:`DeviceError` with the first error."""
        done = subprocess.run(
            [*self.command, *FLAGS, *map(str, arguments), "-o", output, f"-Wl,-soname,{output.name}"],
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            lines = done.stderr.splitlines() or [f"exit status {done.returncode}"]
            error = next((line for line in lines if "error" in line), lines[0])
            raise DeviceError(f"{shlex.join(self.command)} could not build {output.name}: {error}")


def c_compiler() -> CCompiler:
    """Return ``$CC``, or else the first of cc, gcc and clang that is installed.

    :exc:`DeviceError` if there is none, or if the machine is not x86-64 Linux, for which the wheels are made.
    """
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        raise DeviceError(
            f"the null device needs x86-64 Linux, and this is {platform.machine()} {platform.system()}: "
            "run segscope in an x86-64 Linux container"
        )
    chosen = os.environ.get("CC", "").strip()
    for command in [tuple(shlex.split(chosen))] if chosen else [("cc",), ("gcc",), ("clang",)]:
        if shutil.which(command[0]):
            version = subprocess.run([*command, "--version"], capture_output=True, text=True, errors="replace")
            return CCompiler(command, version.stdout)
    if chosen:
        raise DeviceError(f"the null device needs a C compiler, and $CC names none: {chosen}")
    raise DeviceError("the null device needs a C compiler (cc, gcc or clang): install gcc, or set $CC")


def null_device() -> Path:
    """Return the folder with the compiled null device, after compiling it if need be.

    It holds ``libcudart.so.12`` and ``libnvrtc.so.12``, to be preloaded (the wheels find others by their RPATH), and
    ``libcuda.so.1`` with its other name ``libcuda.so``, to be found by name: it is empty and leads to the first.
    """
    if PREBUILT.is_dir() and can_be_preloaded(PREBUILT):
        return PREBUILT
    return made_once(home() / "null-device" / digest(), lambda scratch: compile_into(scratch, c_compiler()))


def can_be_preloaded(path: Path) -> bool:
    """Say whether LD_PRELOAD and LD_LIBRARY_PATH can hold a path."""
    return not set(str(path)) & set(" :;")


def compile_into(folder: Path, compiler: CCompiler) -> None:
    """Compile the null device's libraries into a folder that exists; :exc:`DeviceError` if that fails."""
    for library, sources, exports in (
        (RUNTIME, RUNTIME_SOURCES, "exports.map"),
        (COMPILER, COMPILER_SOURCES, "exports_nvrtc.map"),
    ):
        script = f"-Wl,--version-script={SOURCES / exports}"
        compiler.shared_library(
            folder / library, *(SOURCES / source for source in sources), script, "-ldl", "-lpthread"
        )
    # Not one more name for the runtime: what Triton links to the driver must need libcuda.so.1, for it is kept.
    compiler.shared_library(folder / DRIVER, "-Wl,--no-as-needed", folder / RUNTIME, "-Wl,-rpath,$ORIGIN")
    (folder / "libcuda.so").symlink_to(DRIVER)


def digest(facts: Iterable[object] = ()) -> str:
    """Return a short hash of what decides what is built: sources, recipes and ``facts``.

    The compiler is not among them: what is built once is used wherever it is found, with a compiler there or not.
    """
    hashed = hashlib.sha256(repr(list(facts)).encode())
    for source in sorted([*SOURCES.iterdir(), *Path(__file__).parent.glob("*.py")]):
        hashed.update(source.name.encode() + b"\0" + source.read_bytes())
    return hashed.hexdigest()[:16]


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return ``folder``, after ``make`` has filled it if it did not exist.

    It appears complete or not at all. Of several processes that make it at once, one wins and the others take its
    result. :exc:`DeviceError` where it cannot be made, or not be named in LD_PRELOAD.
    """
    if not can_be_preloaded(folder):
        raise DeviceError(f"{folder} has a space, colon or semicolon, which LD_PRELOAD cannot have: set $SEGSCOPE_HOME")
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as scratch:
            made = Path(scratch, folder.name)
            made.mkdir()
            make(made)
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise
    except OSError as error:
        raise DeviceError(
            f"cannot write {folder}: {error.strerror}; set $SEGSCOPE_HOME to a folder that can be"
        ) from error
    return folder
