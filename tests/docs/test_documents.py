"""What holds for every document: nothing escapes the checks, and every link leads somewhere."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it.token import Token

from tests.docs.documents import DOCUMENTS, blocks, name, tokens

CHECKED = {"console", "pycon", "python", "sh"}
ANY = {"", "c", "csv", "dot", "ini", "json", "mermaid", "text", "toml", "xml", "yaml"}
COMMAND = re.compile(r"^\s*(\$ |segscope |>>> |pip install )", re.MULTILINE)


def inline(found: list[Token]) -> list[Token]:
    return [child for token in found for child in token.children or ()]


def anchors(document: Path) -> set[str]:
    """Return the anchors of headings, as GitHub and Python-Markdown's toc make them."""
    found = tokens(document)
    titles = [after.content for token, after in pairwise(found) if token.type == "heading_open"]
    plain = (re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in plain}


def generated(document: Path) -> bool:
    """Say whether the site makes a page, and its anchors, from the code."""
    return ":::" in document.read_text("utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_no_command_escapes(document: Path) -> None:
    for token in tokens(document):
        if token.type == "code_block":
            assert not COMMAND.search(token.content), (
                f"{name(document)}: a command that is not in a fence:\n{token.content}"
            )
    for block in blocks(document):
        assert block.language in CHECKED | ANY, f"{block.place}: {block.language!r} is no language of these documents"
        assert block.language in CHECKED or not COMMAND.search(block.text), (
            f"{block.place}: a command in {block.language}"
        )


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for token in inline(tokens(document)):
        target = token.attrs.get("href") or token.attrs.get("src")
        url = urlsplit(str(target or ""))
        if url.scheme or not target:
            continue
        file = (document.parent / unquote(url.path)).resolve() if url.path else document
        assert file.exists(), f"{name(document)}: {target} leads nowhere"
        if url.fragment and file.suffix == ".md" and not generated(file):
            assert url.fragment in anchors(file), f"{name(document)}: {target}: no such heading"
