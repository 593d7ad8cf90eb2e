"""Regular expressions of users, with a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from segscope.errors import RenderError

TIME_LIMIT: Final = 5.0
"""Seconds."""

_SEARCH: Final = """
import json, re, sys
pattern, texts = json.load(sys.stdin)
try:
    search = re.compile(pattern).search
    json.dump([n for n, text in enumerate(texts) if search(text)], sys.stdout)
except (re.error, OverflowError, RecursionError) as error:
    json.dump(str(error) or "nested too deeply", sys.stdout)
"""


def found_in(pattern: str, texts: Sequence[str], timeout: float = TIME_LIMIT) -> list[int]:
    """Return the positions of the texts in which a regular expression (of Python's ``re``) is found.

    Some patterns take longer than anybody waits, and ``re`` knows no limit: it searches in a process of its own. Raises
    RenderError for what is no regular expression, and where the search takes longer than ``timeout`` seconds.
    """
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _SEARCH]
    try:
        done = subprocess.run(
            command, input=json.dumps([pattern, texts]), capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise RenderError(f"query {pattern!r} takes longer than {timeout:g} s: nest no repeats as in (a+)+") from None
    if done.returncode != 0:
        raise RenderError(f"query {pattern!r} cannot be searched for: exit code {done.returncode}")
    answer: list[int] | str = json.loads(done.stdout)
    if isinstance(answer, str):
        raise RenderError(f"query {pattern!r} is no regular expression: {answer}")
    return answer
