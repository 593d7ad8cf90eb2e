"""A toolchain like another, with wheels of one's own."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from segscope.capture.toolchain.spec import ToolchainSpec, compared, version_of
from segscope.errors import ToolchainError

_PIN: Final = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.+!-]+", re.ASCII)
_WHEEL: Final = re.compile(r"(?P<name>[^-]+)-[^-]+(-[^-]+){3,4}\.whl")
"""The file name of a wheel: name, version, perhaps a build number, and three tags."""
_BUILT: Final = re.compile(r"\.dev(\d{4})(\d\d)(\d\d)(?!\d)", re.ASCII)
"""What nvFuser's published versions say of their day: ``0.2.36.dev20260301``."""


def with_wheels(like: ToolchainSpec, name: str, wheels: tuple[str, ...], date: str = "") -> ToolchainSpec:
    """Return a spec with packages of ``like`` replaced, or others added: wheel files, or ``NAME==VERSION``.

    A wheel of nvFuser takes the place of the one that is there, whatever torch its name says it is for. A file is
    pinned with its content: a toolchain is not installed from a file that has changed since. Where no date is given,
    that of another nvFuser is read from its version, which has it or not.

    Raises:
        ToolchainError: one of ``wheels`` is neither.
    """
    own = {compared(pin): pin for pin in map(_pin, wheels)}
    kept = {compared(pin): pin for pin in like.pins}
    pins = tuple(sorted((kept | own).values(), key=str.lower))
    if "nvfuser" in own:
        return replace(like, name=name, pins=pins, date=date or _built(version_of(own["nvfuser"])), era="")
    return replace(like, name=name, pins=pins, date=date or like.date)


def _built(version: str) -> str:
    found = _BUILT.search(version)
    return "-".join(found.groups()) if found else ""


def _pin(wheel: str) -> str:
    if _PIN.fullmatch(wheel):
        return wheel
    file = Path(wheel).expanduser().absolute()
    parts = _WHEEL.fullmatch(file.name)
    if parts is None or not file.is_file():
        raise ToolchainError(f"{wheel} is neither a wheel file (NAME-VERSION-TAGS.whl) nor NAME==VERSION")
    return f"{parts['name']} @ {file.as_uri()}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}"
