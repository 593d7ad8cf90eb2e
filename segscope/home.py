"""Where segscope keeps what it makes: toolchains, the built null device."""

import os
from pathlib import Path

from segscope.errors import SegscopeError


def home() -> Path:
    """Return segscope's folder: ``$SEGSCOPE_HOME``, else ``$XDG_CACHE_HOME/segscope``, else ``~/.cache/segscope``.

    SegscopeError where ``~`` is nobody's.
    """
    chosen = os.environ.get("SEGSCOPE_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "segscope")
    try:
        return Path(chosen).expanduser().absolute()
    except RuntimeError:
        raise SegscopeError(
            f"{chosen}: no such user's folder; set SEGSCOPE_HOME to one that you can write to"
        ) from None
