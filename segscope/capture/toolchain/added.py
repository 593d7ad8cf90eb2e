"""The user's own toolchains: ``toolchains.toml`` in segscope's home."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from segscope.capture.toolchain.folder import lock_of
from segscope.capture.toolchain.spec import ToolchainSpec
from segscope.errors import ToolchainError
from segscope.files import write_in_one_step
from segscope.home import home
from segscope.toml import read_toml

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)


@dataclass(frozen=True)
class AddedInterpreter:
    """A Python of the user's, which segscope uses and leaves as it is."""

    name: str
    interpreter: str
    """Its path."""
    date: str = ""
    """The day nvFuser was built, such as ``2026-03-01``; empty: not known."""


Added = AddedInterpreter | ToolchainSpec


def read() -> dict[str, Added]:
    """Return what the user added, by name.

    Raises:
        ToolchainError: the file cannot be read.
    """
    file = _file()
    if not file.exists():
        return {}
    try:
        return {name: _from_table(name, table) for name, table in read_toml(file).get("toolchain", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolchainError(
            f"cannot read {file}: {error}; correct it, or remove it and add toolchains again"
        ) from None


def add(added: Added) -> None:
    """Write a toolchain down, in place of what had its name.

    Raises:
        ToolchainError: no folder can have that name, or the file cannot be written.
    """
    if not _NAME.fullmatch(added.name):
        raise ToolchainError(f"{added.name!r} cannot name a toolchain: use letters, digits and . _ + -")
    _change(lambda toolchains: toolchains | {added.name: added})


def forget(name: str) -> None:
    """Strike a toolchain out.

    Raises:
        ToolchainError: the file cannot be written.
    """
    _change(lambda toolchains: {kept: added for kept, added in toolchains.items() if kept != name})


def _file() -> Path:
    return home() / "toolchains.toml"


def _from_table(name: str, table: dict[str, object]) -> Added:
    table = table | {"date": str(table.get("date", ""))}  # TOML has dates of its own
    if "interpreter" in table:
        return AddedInterpreter(name=name, **table)  # type: ignore[arg-type]
    return ToolchainSpec(name=name, **table | {"pins": tuple(table["pins"])})  # type: ignore[arg-type]


def _change(change: Callable[[dict[str, Added]], dict[str, Added]]) -> None:
    """Read the file, and write it changed, while no other process does."""
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with lock_of(file):
            write_in_one_step(file, _text(change(read())).encode())
    except OSError as error:
        raise ToolchainError(
            f"cannot write {file}: {error.strerror}; set SEGSCOPE_HOME to a folder that you can write to"
        ) from error


def _text(toolchains: dict[str, Added]) -> str:
    lines = ["# What segscope toolchain add wrote down."]
    for name, added in toolchains.items():
        lines += ["", f'[toolchain."{name}"]']
        # What JSON writes for strings, numbers and lists of strings, TOML reads.
        lines += [
            f"{field} = {json.dumps(value, ensure_ascii=False)}"
            for field, value in asdict(added).items()
            if field != "name" and value != ""
        ]
    return "\n".join(lines) + "\n"
