"""Blocks of commands with their output: run in a shell, and compared."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.docs.documents import ROOT, Block

_PROMPT = "$ "
_PROGRESS = re.compile(r"segscope: (?!error|warning)")
"""What is done, on standard error: a document need not show it."""


class Command(NamedTuple):
    """A command, and the output that a document shows."""

    text: str
    expected: list[str]


def commands(text: str) -> list[Command]:
    """Return the commands of a block: lines behind a prompt, continued by a backslash, each with its output."""
    found: list[Command] = []
    continued = False
    for line in text.splitlines():
        if continued:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
        elif line.startswith(_PROMPT):
            found.append(Command(line.removeprefix(_PROMPT), []))
        elif found:
            found[-1].expected.append(line.rstrip())
        else:
            raise ValueError(f"output without a command: {line}")
        continued = (continued or line.startswith(_PROMPT)) and line.endswith("\\")
    return found


def problems(block: Block, folder: Path) -> list[str]:
    """Run a block in a folder that has the fixtures, and return what is not as the document says."""
    with_fixtures(folder)
    wanted = commands(block.text)
    script = "\n".join(
        f"{{ {command.text}\n}} >$OUTPUTS/{number} 2>&1; echo $? >$OUTPUTS/{number}.code"
        for number, command in enumerate(wanted)
    )
    outputs = folder / f"outputs-{block.place.rpartition(':')[2]}"
    outputs.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "OUTPUTS": str(outputs)}
    environment |= without_network(block, folder)
    subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False)
    found = []
    for number, command in enumerate(wanted):
        printed = (outputs / str(number)).read_text("utf-8")
        code = int((outputs / f"{number}.code").read_text())
        found += [f"{block.place}: $ {command.text}\n{problem}" for problem in _problem(command, printed, code)]
    return found


def with_fixtures(folder: Path) -> None:
    """Put the fixtures into a folder, where they are not there yet."""
    if not (folder / "fixtures").exists():
        (folder / "fixtures").symlink_to(ROOT / "fixtures")


def without_network(block: Block, folder: Path) -> dict[str, str]:
    """Return an environment in which no toolchain is downloaded, and none is there unless the block says so."""
    return {"PIP_NO_INDEX": "1"} | ({} if block.needs else {"SEGSCOPE_HOME": str(folder / "home")})


def _problem(command: Command, printed: str, code: int) -> list[str]:
    expected = command.expected
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if not any(map(_PROGRESS.match, expected)):
        lines = [line for line in lines if not _PROGRESS.match(line)]
    while expected and not expected[-1]:
        expected = expected[:-1]
    if expected and not matches(expected, lines):
        return ["\n".join(difflib.ndiff(expected, lines))]
    if code > 1 and not any(line.startswith("segscope: error: ") for line in expected):
        return [f"exit code {code}: {printed}"]
    return [] if expected or code == 0 else [f"exit code {code}, and no output is shown: {printed}"]


def matches(expected: list[str], lines: list[str]) -> bool:
    """Say whether lines are as expected, where a line ``...`` stands for any lines and ``...`` in one for anything."""
    patterns = [
        r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n" for line in expected
    ]
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in lines)) is not None
