"""What nvFuser's segmenter does in which version (versions.toml)."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from segscope.errors import SegscopeError
from segscope.model import SegmentedFusion
from segscope.model.base import Model
from segscope.toml import read_toml

_NAME: Final = re.compile(r"(\d+(?:\.\d+){1,2})(?:\.dev(\d{8}))?(?:\+.*)?")
_LAST_OF_ERA: Final = {
    "E0": "0.1.6",
    "E1": "0.1.6",
    "E2": "0.2.0",
    "E3": "0.2.8",
    "E4": "0.2.9",
    "E5": "0.2.9",
    "E6": "0.2.22",
    "E7": "0.2.27",
    "E8": "0.2.34",
    "E9": "0.2.35",
    "E10": "0.2.36",
}
"""The last version in the table that prints each form of the dump (``segscope.dump.eras``), or the first after it."""


class Version(Model):
    """A version of nvFuser, as far as segmentation goes."""

    name: str
    """As it was asked for."""
    steps: frozenset[str]
    """Names from versions.toml."""
    newest: str = ""
    """Where it is later than every version in the table, the last of these, as which it counts."""
    guessed: bool = False
    """Whether nobody named it, and it is the last that prints such a dump."""

    def __contains__(self, step: str) -> bool:
        return step in self.steps

    def having(self, step: str, has: bool) -> Version:
        """Return the same version with a step, or without it.

        ``having("resize_scheduler", False)`` is nvFuser with ``NVFUSER_DISABLE=resize_scheduler``.
        Raises SegscopeError for a step that no version has.
        """
        every = known_steps()
        if step not in every:
            raise SegscopeError(f"unknown step {step!r}; known: {', '.join(sorted(every))}")
        return self.model_copy(update={"steps": self.steps | {step} if has else self.steps - {step}})


def version(name: str) -> Version:
    """Return what a version does: that of the last one in the table that is not later.

    A name without a day, such as ``0.2.27``, is the last day of that version; ``nvfuser-0.2.8`` is a toolchain's name.
    Raises SegscopeError for what is no version, or comes before all that are in the table.
    """
    match = _NAME.fullmatch(name.removeprefix("nvfuser-"))
    if match is None:
        raise SegscopeError(f"{name!r} is no version of nvFuser; write 0.2.8 or 0.2.27.dev20250415")
    asked = _key(match)
    before = [entry for entry in _table() if entry.key <= asked]
    if not before:
        raise SegscopeError(f"nvFuser {name} is older than the segmenters that are known, which begin with 0.1.6")
    last = _table()[-1]
    later = asked[0] > last.key[0] or (match[2] is not None and asked > last.key)
    return Version(name=name, steps=before[-1].steps, newest=last.name if later else "")


def version_told_by(fusion: SegmentedFusion) -> Version:
    """Return the latest version that prints such a dump; the resize scheduler was disabled where no group has it.

    A dump does not name its version: where it is known, it should be given instead.
    """
    found = version(_LAST_OF_ERA.get(fusion.era, "0.2.36")).model_copy(update={"guessed": True})
    schedulers = {group.scheduler for group in fusion.groups}
    return found if "resize" in schedulers else found.having("resize_scheduler", False)


def known_steps() -> frozenset[str]:
    """Return the names of all steps."""
    return _table()[-1].steps


class _Entry(NamedTuple):
    """A version in the table."""

    name: str
    key: tuple[tuple[int, ...], str]
    steps: frozenset[str]


def _key(match: re.Match[str]) -> tuple[tuple[int, ...], str]:
    return tuple(map(int, match[1].split("."))), match[2] or "99999999"


@lru_cache(maxsize=1)
def _table() -> list[_Entry]:
    steps: frozenset[str] = frozenset()
    table = []
    for entry in read_toml(Path(__file__).with_name("versions.toml"))["version"]:
        match = _NAME.fullmatch(entry["nvfuser"])
        assert match is not None
        steps |= set(entry["adds"])
        table.append(_Entry(entry["nvfuser"], _key(match), steps))
    return table
