"""Where segscope keeps what it makes: toolchains, the built null device."""

import os
from pathlib import Path


def home() -> Path:
    """Return segscope's folder: ``$SEGSCOPE_HOME``, else ``$XDG_CACHE_HOME/segscope``, else ``~/.cache/segscope``."""
    if chosen := os.environ.get("SEGSCOPE_HOME"):
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "segscope"
