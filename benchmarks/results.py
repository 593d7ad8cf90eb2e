"""benchmarks/RESULTS.md: a section for each benchmark, which writes its own."""

from __future__ import annotations

import re
from pathlib import Path

FILE = Path(__file__).parent / "RESULTS.md"


def write_section(title: str, text: str) -> None:
    """Put ``text`` below ``## title``, for what stands there or, where there is no such section, at the end."""
    head, *sections = re.split(r"^(?=## )", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    heading = f"## {title}\n"
    new = f"{heading}\n{text.strip()}\n"
    if any(section.startswith(heading) for section in sections):
        sections = [new if section.startswith(heading) else section for section in sections]
    else:
        sections.append(new)
    parts = (part.strip() for part in (head, *sections))
    FILE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
