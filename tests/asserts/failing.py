"""The message of an assertion that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def failing(assertion: Callable[..., None], *args: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion(*args, **options)
    return str(caught.value)
