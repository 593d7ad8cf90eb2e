"""Every command, every output and every line of Python in the documents is real."""

from __future__ import annotations

import doctest
import linecache
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from segscope.cli import segscope
from tests.conftest import in_history, need_program
from tests.docs import console
from tests.docs.documents import DOCUMENTS, ROOT, Block, blocks, name

BLOCKS = [block for document in DOCUMENTS for block in blocks(document)]
INSTALLED_BY_MAKE = set(re.findall(r"(?:nvfuser|thunder)-[\w.]+", (ROOT / "Makefile").read_text("utf-8")))

Need = Callable[[str], str]


def marks(chosen: list[Block]) -> list[pytest.MarkDecorator]:
    needed = {toolchain for block in chosen for toolchain in block.needs}
    return [pytest.mark.toolchain] * bool(needed) + [pytest.mark.slow] * (not needed <= INSTALLED_BY_MAKE)


def of_a_document(*languages: str, toolchains: bool) -> list[Any]:
    """Return a parameter for each document: its blocks in these languages, those that run toolchains too or not."""
    chosen = {
        document: [
            block
            for block in BLOCKS
            if block.document == document and block.language in languages and (toolchains or not block.needs)
        ]
        for document in DOCUMENTS
    }
    return [pytest.param(found, id=name(document), marks=marks(found)) for document, found in chosen.items() if found]


def toolchains_of(block: Block, need_toolchain: Need) -> None:
    """Skip where a toolchain of nvFuser's history is not here; ``make test`` installs the others."""
    for needed in block.needs:
        (need_toolchain if needed in INSTALLED_BY_MAKE else in_history)(needed)


@pytest.mark.parametrize("chosen", of_a_document("console", toolchains=False))
def test_commands(chosen: list[Block], tmp_path: Path) -> None:
    """The blocks of a document share a folder."""
    if any("drawn by Graphviz" in block.text for block in chosen):
        need_program("dot")
    problems = [problem for block in chosen for problem in console.problems(block, tmp_path)]
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, id=b.place, marks=marks([b])) for b in BLOCKS if b.language == "console" and b.needs],
)
def test_commands_that_run_nvfuser(block: Block, tmp_path: Path, need_toolchain: Need) -> None:
    toolchains_of(block, need_toolchain)
    problems = console.problems(block, tmp_path)
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("chosen", of_a_document("pycon", "python", toolchains=True))
def test_python(chosen: list[Block], tmp_path: Path, need_toolchain: Need, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a document share their names, so all of them run, or none."""
    for block in chosen:
        toolchains_of(block, need_toolchain)
    needing = next((block for block in chosen if block.needs), chosen[0])
    for variable, value in console.without_network(needing, tmp_path).items():
        monkeypatch.setenv(variable, value)
    console.with_fixtures(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in chosen:
        if block.language == "pycon":
            doctested(block, names)
        else:
            code = compile(block.text, block.place, "exec")
            linecache.cache[block.place] = (len(block.text), None, block.text.splitlines(True), block.place)
            if not block.not_run:
                exec(code, names)


def doctested(block: Block, names: dict[str, Any]) -> None:
    example = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.place, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    names.update(example.globs)


@pytest.mark.parametrize("block", [pytest.param(b, id=b.place) for b in BLOCKS if b.language == "sh"])
def test_what_is_not_run_can_be_parsed(block: Block) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["segscope"]:
            parse(block.place, words[1:])


def parse(place: str, words: list[str]) -> None:
    """Fail where a command or an option does not exist."""
    command: click.Command = segscope
    while isinstance(command, click.Group):
        word = words.pop(0)
        found = command.get_command(click.Context(command), word)
        assert found is not None, f"{place}: no command {word}"
        command = found
    context = click.Context(command, info_name=place)
    try:
        _, left, _ = command.make_parser(context).parse_args(words)
    except click.UsageError as error:
        pytest.fail(f"{place}: {error.format_message()}")
    assert not left, f"{place}: {left}"
