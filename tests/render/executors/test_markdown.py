"""A comparison on GitHub."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from segscope.render.executors.markdown import markdown
from tests.render.hostile import TEXTS

from .samples import NAMES, comparison, real, run

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", NAMES)
def test_golden_text(name: str) -> None:
    assert markdown(real(name)) == (GOLDEN / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_whole(name: str) -> None:
    rows = [line.replace("\\|", "") for line in markdown(real(name)).splitlines()]
    for above, below in pairwise(rows):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|")


def test_what_is_to_unfold_stands_apart_from_its_summary() -> None:
    rows = markdown(real("thunder-711")).splitlines()
    summaries = [place for place, row in enumerate(rows) if row.startswith("<details>")]
    assert len(summaries) == 4
    assert all(rows[place - 1] == rows[place + 1] == "" for place in summaries)
    assert rows.count("</details>") == 4


def test_why_not_is_to_unfold_for_each_executor_with_reasons() -> None:
    found = real("tiny-llama-1.1b")
    text = markdown(found, why_not=True)
    assert text.startswith(markdown(found))
    more = text.removeprefix(markdown(found)).splitlines()
    assert [row for row in more if row.startswith("<")] == [
        row
        for name in ("torch.compile", "thunder+nvfuser", "thunder+torch.compile")
        for row in (f"<details><summary>{name}: why not fused</summary>", "</details>")
    ]
    assert more.count("| direction | region | times | why they are two | which |") == 3
    assert any("resize refused: Broadcasting dimension might be broadcasting to multiple sizes." in row for row in more)
    assert any("g0 (reduction) \\| g2 (pad, cat)" in row for row in more)


def test_an_executor_that_failed_has_a_cell_for_why() -> None:
    text = markdown(comparison(run("thunder+new", problem="no executor `new` | none")))
    assert "| thunder+new | - | - | - | - | - | no executor \\`new\\` \\| none |" in text


def test_a_number_is_no_link_to_an_issue() -> None:
    assert "nvFuser's #<!-- -->1 and @<!-- -->somebody" in markdown(
        comparison(run("x", problem="nvFuser's #1 and @somebody"))
    )


@pytest.mark.parametrize("hostile", TEXTS)
def test_hostile_names_are_text(hostile: str) -> None:
    found = real("thunder-711")
    explanation = found.explanations[0].model_copy(update={"executor": hostile, "text": hostile})
    one = found.runs[0].model_copy(update={"executor": hostile})
    plain = markdown(found.model_copy(update={"explanations": found.explanations[:1], "runs": found.runs[:1]}))
    text = markdown(found.model_copy(update={"workload": hostile, "explanations": (explanation,), "runs": (one,)}))
    assert text.count("\n") == plain.count("\n")
    assert not any(tag in text.lower() for tag in ("<script", "<img", "<!--<"))
