"""mkdocs' hooks: links to files of the repository outside docs/ work on the site as they do on GitHub.

Such a file becomes a part of the site, below ``repository/``: Markdown as a page, anything else as it is.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parent.parent
_ADDED = "repository"
_LINK = re.compile(r"(?P<text>!?\[[^]]*\])\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the files outside docs/ that pages link to, and those that these link to."""
    pages = [file for file in files if file.is_documentation_page()]
    while pages:
        page = pages.pop()
        for match in _LINK.finditer(page.content_string):
            source = _source(page, match["target"])
            if not source.is_file() or files.get_file_from_path(_place(source)):
                continue
            added = File.generated(
                config, _place(source), abs_src_path=str(source), inclusion=InclusionLevel.NOT_IN_NAV
            )
            files.append(added)
            if added.is_documentation_page():
                pages.append(added)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where the site has their files; of a link to a folder only the text stays."""

    def link(match: re.Match[str]) -> str:
        source = _source(page.file, match["target"])
        if source.is_dir():
            return match["text"][1:-1]
        if not source.is_file():
            return match[0]  # for mkdocs to warn of
        there = posixpath.relpath(_place(source), posixpath.dirname(page.file.src_uri))
        return f"{match['text']}({there}{match['anchor'] or ''})"

    return _LINK.sub(link, markdown)


def _source(page: File, target: str) -> Path:
    return Path(os.path.normpath(Path(str(page.abs_src_path)).parent / target))


def _place(source: Path) -> str:
    """Return the path of a file of the repository in the site's sources."""
    inside = source.relative_to(_ROOT)
    return inside.relative_to("docs").as_posix() if inside.parts[0] == "docs" else f"{_ADDED}/{inside.as_posix()}"
