"""The site: it builds without a warning, says all that there is to say, and asks no other host for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import segscope
from segscope.checks import checks
from segscope.cli import segscope as root_command
from tests.docs.documents import ROOT

LOADED = {"img": "src", "link": "href", "script": "src", "source": "src", "iframe": "src"}


class Html(HTMLParser):
    """What a page has: anchors, links, what it loads, and its text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors.add(found.get("id") or "")
        if tag == "a" and (link := found.get("href")):
            self.links.append(link)
        if loaded := found.get(LOADED.get(tag, "")):
            self.loads.append(loaded)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def commands(command: click.Command, path: str = "segscope") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found
            yield from commands(found, f"{path} {name}")


def test_every_public_name_has_an_entry(site: Path) -> None:
    found = set().union(*(Html(page).anchors for page in site.glob("api/*/index.html")))
    assert {f"segscope.{name}" for name in segscope.__all__} <= found


def test_every_rule_has_an_entry(site: Path) -> None:
    assert set(checks()) <= Html(site / "api/rules/index.html").anchors


def test_every_command_and_option_is_there(site: Path) -> None:
    page = Html(site / "cli/index.html")
    parts = re.split(r"\n(segscope[a-z -]*)¶", page.text)
    described = dict(zip(parts[1::2], parts[2::2], strict=True))
    for path, command in commands(root_command):
        missing = [
            name
            for param in command.params
            if isinstance(param, click.Option) and not param.hidden
            for name in (*param.opts, *param.secondary_opts)
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", described[path])
        ]
        assert not missing, f"{path}: {missing}"


def test_no_page_asks_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert pages
    for page in pages:
        elsewhere = [url for url in Html(page).loads if urlsplit(url).netloc]
        assert not elsewhere, f"{page.relative_to(site)}: {elsewhere}"
    for sheet in site.rglob("*.css"):
        elsewhere = re.findall(r"(?:url\(|@import\s+)[\"']?(?:https?:)?//[^)\"']*", sheet.read_text("utf-8"))
        assert not elsewhere, f"{sheet.relative_to(site)}: {elsewhere}"


def test_every_link_leads_to_a_file(site: Path) -> None:
    for page in sorted(site.rglob("*.html")):
        for link in Html(page).links:
            url = urlsplit(link)
            if url.scheme or not url.path:
                continue
            start = site if url.path.startswith("/") else page.parent
            target = start / unquote(url.path).lstrip("/")
            assert (target / "index.html" if target.is_dir() else target).is_file(), f"{page.relative_to(site)}: {link}"
