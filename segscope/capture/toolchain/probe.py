"""Where an interpreter has torch and nvFuser."""

import json
import subprocess
from pathlib import Path
from typing import Final

from segscope.errors import ToolchainError

_WHERE: Final = """
import importlib.util, json
found = {name: importlib.util.find_spec(name) for name in ("torch", "nvfuser", "nvfuser_direct", "nvfuser_common")}
print(json.dumps({name: spec.origin for name, spec in found.items() if spec and spec.origin}))
"""
_SECONDS: Final = 60


def packages_of(python: Path) -> Path:
    """Return the folder from which an interpreter imports torch; nothing is imported.

    Raises:
        ToolchainError: it does not run, or has no torch or nvFuser.
    """
    return _where(python)["torch"].parent


def nvfuser_libraries(python: Path) -> list[Path]:
    """Return the shared libraries of an interpreter's nvFuser, wherever it was built; raises as `packages_of`."""
    folders = [folder for name, folder in _where(python).items() if name != "torch"]
    return sorted(path for folder in folders for path in folder.rglob("*.so*"))


def _where(python: Path) -> dict[str, Path]:
    """Return the folder of each package that is there."""
    try:
        done = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True, timeout=_SECONDS)
        where: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        raise ToolchainError(f"{python} does not run as a Python; correct that") from None
    if "torch" not in where or not {"nvfuser", "nvfuser_direct"}.intersection(where):
        missing = "nvFuser" if "torch" in where else "torch"
        raise ToolchainError(f"{python} has no {missing}: install it there")
    return {name: Path(origin).parent for name, origin in where.items()}
