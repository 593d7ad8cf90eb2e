"""Make a virtual environment and put pinned packages into it, with pip."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import Distribution
from pathlib import Path

from segscope.capture.processes import end, start
from segscope.capture.toolchain.interpreters import Interpreter
from segscope.capture.toolchain.spec import ToolchainSpec, package_of, version_of
from segscope.errors import ToolchainError

# The pip settings of the user that say where packages come from; the others (PIP_USER, PIP_TARGET, ...) say
# where they go and what pip does, which is decided here.
_KEPT_PIP_SETTINGS = {
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_CONFIG_FILE",
    "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_KEYRING_PROVIDER",
    "PIP_CACHE_DIR", "PIP_NO_CACHE_DIR", "PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT", "PIP_RETRIES",
}  # fmt: skip


def interpreter_of(folder: Path) -> Path:
    """Return the interpreter of the virtual environment in ``folder``."""
    return folder / "bin" / "python"


def site_packages_of(folder: Path, version: str) -> Path:
    """Return where the virtual environment in ``folder``, of Python ``version``, keeps its packages."""
    return folder / "lib" / f"python{version}" / "site-packages"


def create(folder: Path, interpreter: Interpreter) -> None:
    """Make a virtual environment with pip in it.

    Raises:
        ToolchainError: ``venv`` or ``uv`` failed.
    """
    env = _clean_environment()
    if interpreter.uv:
        uv = str(interpreter.uv)
        _checked([uv, "venv", "--quiet", "--python", str(interpreter.python), str(folder)], env)
        _checked([uv, "pip", "install", "--quiet", "--python", str(interpreter_of(folder)), "pip"], env)
    else:
        _checked([str(interpreter.python), "-I", "-m", "venv", str(folder)], env)


def installed_version(site_packages: Path, package: str) -> str | None:
    """Return the version of a package in ``site_packages``, or none where it is not there."""
    found = next(iter(Distribution.discover(name=package, path=[str(site_packages)])), None)
    return found.version if found else None


def missing_pins(folder: Path, spec: ToolchainSpec) -> list[str]:
    """Return those of ``spec.pins`` that the environment does not have."""
    there = site_packages_of(folder, spec.python)
    return [pin for pin in spec.pins if installed_version(there, package_of(pin)) != version_of(pin)]


def install_pins(folder: Path, spec: ToolchainSpec, say: Callable[[str], None]) -> None:
    """Install what is missing of ``spec.pins``, as wheels, with pip's own progress when standard error is a terminal.

    Raises:
        ToolchainError: pip failed, or installed something else.
    """
    pins = missing_pins(folder, spec)
    if not pins:
        return
    downloads = folder / "tmp"
    downloads.mkdir()
    env = {**_clean_environment(), "TMPDIR": str(downloads)}
    on_terminal = sys.stderr.isatty()
    problems: list[str] = []

    def on_error_line(line: str) -> None:
        if line.startswith("ERROR:"):
            problems.append(line.removeprefix("ERROR:").strip())
        elif "Retrying (" in line and retrying not in problems:
            problems.insert(0, retrying)
            say("no answer from the package index; pip tries again")

    retrying = "the package index did not answer"
    command = [str(interpreter_of(folder)), "-I", "-m", "pip", "install", "--no-deps", "--only-binary=:all:"]
    command += [
        "--no-user",
        "--no-compile",
        "--no-input",
        "--no-warn-script-location",
        "--disable-pip-version-check",
    ]
    progress = sys.stderr.fileno() if on_terminal else subprocess.DEVNULL
    status = _run([*command, *pins], env, on_error_line, progress)
    if status != 0:
        reason = problems[-1] if problems else f"pip ended with status {status}"
        if retrying in problems:
            reason = f"{retrying} ({reason})"
        check = "check the network and pip's index settings"
        if "No space left on device" in reason:
            check = "make room, or set SEGSCOPE_HOME to another disk"
        raise ToolchainError(
            f"cannot install toolchain {spec.name}: {reason}; {check}, then run: segscope toolchain install {spec.name}"
        )
    downloads.rmdir()
    _check_pins(spec, folder)


def _check_pins(spec: ToolchainSpec, folder: Path) -> None:
    for pin in missing_pins(folder, spec):
        site_packages = site_packages_of(folder, spec.python)
        version = installed_version(site_packages, package_of(pin))
        there = f"{package_of(pin)} {version}" if version else "nothing"
        raise ToolchainError(
            f"cannot install toolchain {spec.name}: pip put {there} into {site_packages}, not {pin}; "
            f"look for a target, prefix or extra index in pip's configuration (pip config list)"
        )


def _checked(command: list[str], env: Mapping[str, str]) -> None:
    lines: list[str] = []
    status = _run(command, env, lines.append, subprocess.DEVNULL)
    if status != 0:
        reason = next((line for line in reversed(lines) if line.strip()), f"status {status}")
        raise ToolchainError(f"cannot make a virtual environment: {' '.join(command)} failed: {reason}")


def _run(command: list[str], env: Mapping[str, str], on_error_line: Callable[[str], None], stdout: int) -> int:
    """Run a command, hand over each line of its standard error, and return its exit status."""
    child = start(command, env, stdout, subprocess.PIPE)
    with child:
        try:
            assert child.stderr is not None
            for line in child.stderr:
                on_error_line(line.decode(errors="replace").rstrip())
        except BaseException:
            end(child)
            raise
    return child.returncode


def _clean_environment() -> dict[str, str]:
    """Return the user's environment without what would lead Python, pip or uv elsewhere."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT_PIP_SETTINGS or not name.startswith(("PYTHON", "PIP_", "VIRTUAL_ENV"))
    }
