"""The documents that users read, and the blocks of code in them, by the rules in CONTRIBUTING.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "fixtures/README.md")),
    *sorted(ROOT.glob("benchmarks/*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]

_COMMENT = re.compile(r"<!-- (?P<word>needs|not run): (?P<value>.*) -->")


class Block(NamedTuple):
    """A fenced block of code."""

    place: str
    """``README.md:27``, where its first line stands."""
    document: Path
    language: str
    text: str
    needs: tuple[str, ...]
    """Toolchains that it runs."""
    not_run: bool


def tokens(document: Path) -> list[Token]:
    """Return what Markdown makes of a document, tables included."""
    return MarkdownIt("commonmark").enable("table").parse(document.read_text("utf-8"))


def name(document: Path) -> str:
    """Return what a document is called in a test's name."""
    return str(document.relative_to(ROOT))


def blocks(document: Path) -> list[Block]:
    """Return the fenced blocks, each with what the comment before it says."""
    found = []
    comment: re.Match[str] | None = None
    for token in tokens(document):
        if token.type == "fence" and token.map:
            said = {comment["word"]: comment["value"]} if comment else {}
            found.append(
                Block(
                    place=f"{name(document)}:{token.map[0] + 2}",
                    document=document,
                    language=token.info.strip(),
                    text=token.content,
                    needs=tuple(said.get("needs", "").split()),
                    not_run="not run" in said,
                )
            )
        comment = _COMMENT.search(token.content) if token.type == "html_block" else None
    return found
