"""A toolchain like another, with wheels of one's own."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from segscope.capture.toolchain.spec import ToolchainSpec, package_of
from segscope.errors import ToolchainError

_PIN: Final = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.+!-]+", re.ASCII)
_WHEEL: Final = re.compile(r"(?P<name>[^-]+)-[^-]+(-[^-]+){3,4}\.whl")
"""The file name of a wheel: name, version, perhaps a build number, and three tags."""


def with_wheels(like: ToolchainSpec, name: str, wheels: tuple[str, ...]) -> ToolchainSpec:
    """Return a spec with packages of ``like`` replaced, or others added: wheel files, or ``NAME==VERSION``.

    A wheel of nvFuser takes the place of the one that is there, whatever torch its name says it is for. A file is
    pinned with its content: a toolchain is not installed from a file that has changed since.

    Raises:
        ToolchainError: one of ``wheels`` is neither.
    """
    own = {_replaces(pin): pin for pin in map(_pin, wheels)}
    kept = {_replaces(pin): pin for pin in like.pins}
    pins = tuple(sorted((kept | own).values(), key=str.lower))
    if "nvfuser" in own:
        return replace(like, name=name, pins=pins, date="", era="")
    return replace(like, name=name, pins=pins)


def _replaces(pin: str) -> str:
    name = re.sub("[-_.]+", "-", package_of(pin)).lower()
    return "nvfuser" if name.startswith("nvfuser") else name


def _pin(wheel: str) -> str:
    if _PIN.fullmatch(wheel):
        return wheel
    file = Path(wheel).expanduser().absolute()
    parts = _WHEEL.fullmatch(file.name)
    if parts is None or not file.is_file():
        raise ToolchainError(f"{wheel} is neither a wheel file (NAME-VERSION-TAGS.whl) nor NAME==VERSION")
    return f"{parts['name']} @ {file.as_uri()}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}"
