"""Where an interpreter has torch."""

import json
import subprocess
from pathlib import Path
from typing import Final

from segscope.errors import ToolchainError

_WHERE: Final = """
import importlib.util, json
found = {name: importlib.util.find_spec(name) for name in ("torch", "nvfuser", "nvfuser_direct")}
print(json.dumps({name: spec.origin for name, spec in found.items() if spec and spec.origin}))
"""
_SECONDS: Final = 60


def packages_of(python: Path) -> Path:
    """Return the folder from which an interpreter imports torch; nothing is imported.

    Raises:
        ToolchainError: it does not run, or has no torch or nvFuser.
    """
    try:
        done = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True, timeout=_SECONDS)
        where: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        raise ToolchainError(f"{python} does not run as a Python; correct that") from None
    if "torch" not in where or len(where) == 1:
        missing = "nvFuser" if "torch" in where else "torch"
        raise ToolchainError(f"{python} has no {missing}: install it there")
    return Path(where["torch"]).parent.parent
