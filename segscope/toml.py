"""Read segscope's own data files."""

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's content."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
