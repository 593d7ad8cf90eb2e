"""What is kept of a failed test: its captures as dump, JSON and pictures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from segscope.errors import RenderError
from segscope.model import Capture
from segscope.render import draw
from segscope.render.words import capture_name

_LONGEST: Final = 100


def write_artifacts(folder: Path, test: str, captures: Sequence[Capture]) -> list[str]:
    """Write a folder of files for each capture of a test, and return a line for each file, or for why there is none.

    ``dump.txt`` (of what was run), ``capture.json``, and for each fusion ``segments.svg`` and ``segments.html``.
    """
    lines = []
    for number, capture in enumerate(captures):
        place = folder / safe_name(test) / (str(number) if len(captures) > 1 else "")
        try:
            place.mkdir(parents=True, exist_ok=True)
            lines += [f"wrote {path}" for path in _texts(place, capture)]
        except OSError as error:
            lines.append(f"not written: {error}")
            continue
        lines += _pictures(place, capture)
    return lines


def safe_name(test: str) -> str:
    """Return a file name for a test that no file system objects to, and that no other test has.

    It ends in a digest, for what differs only in case, in signs that cannot stand in a name, or late in a long one.
    """
    digest = hashlib.sha256(test.encode(errors="surrogateescape")).hexdigest()[:8]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", test).strip("_")
    return f"{plain[:_LONGEST]}-{digest}"


def _texts(place: Path, capture: Capture) -> Iterator[Path]:
    texts = {"dump.txt": capture.dump, "capture.json": capture.model_dump_json(indent=1)}
    for name, text in texts.items():
        if text is not None:
            (place / name).write_text(text, encoding="utf-8", errors="replace")
            yield place / name


def _pictures(place: Path, capture: Capture) -> Iterator[str]:
    for fusion in capture.fusions:
        which = f"-{fusion.index}" if len(capture.fusions) > 1 else ""
        for suffix in (".svg", ".html"):
            path = place / f"segments{which}{suffix}"
            try:
                draw(fusion, path, capture_name(capture))
            except RenderError as error:
                yield f"not drawn: {path.name}: {error}"
            else:
                yield f"wrote {path}"
