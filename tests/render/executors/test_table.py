"""A comparison in the terminal."""

from __future__ import annotations

import pytest
from rich.console import Console, RenderableType

from segscope.compare.executors.model import Timing
from segscope.render.executors.table import comparison_table, text, why_not_table

from .samples import THUNDER_711, TODAY, comparison, forward, kernel, real, region, run, with_all

WARM = Timing(l2="warm", calls=9, kernel_us=71.827456, each_us={}, gap_us=0, host_us=45.6)
COLD = WARM.model_copy(update={"l2": "cold", "kernel_us": 99.0})


def lines(renderable: RenderableType, width: int = 100) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize("width", [80, 100])
def test_the_case_of_the_report(width: int) -> None:
    assert lines(comparison_table(real(THUNDER_711), "forward"), width) == [
        "                            nvFuser   kernels  kernels     MB saved      MB read",
        "forward            regions segments generated launched made / as is    / written",
        "torch.compile            1        -         2        2      0 / 0.5  21.5 / 50.3",
        " (reference)",
        "thunder                  1        -         2        2      0 / 0.5  21.5 / 50.3",
        "+torch.compile",
        "thunder                  1        -         4        4     67.1 / 0 88.6 / 117.4",
        "+torch.compile_cat",
        "+nvfuser",
        "Inputs and outputs, each moved once, are 71.8 MB.",
    ]


def test_segments_kernels_and_launches_are_three_things() -> None:
    rows = {row.split()[0]: row.split()[1:] for row in lines(comparison_table(real(TODAY), "forward"))[2:]}
    assert rows["eager"] == ["0", "-", "0", "15", "0", "/", "0.5", "-"]
    assert rows["thunder+nvfuser"][:4] == ["1", "6", "3", "3"]


def test_what_is_saved_is_of_interest_before_a_backward_only() -> None:
    assert "saved" not in lines(comparison_table(real(THUNDER_711), "backward"))[0]


@pytest.mark.parametrize("width", [100, 120])
def test_times_fit_beside_the_rest(width: int) -> None:
    timed = with_all(real(THUNDER_711), "forward", timings=(COLD, WARM))
    rows = lines(comparison_table(timed, "forward"), width)
    assert rows[2].split() == "torch.compile 1 - 2 2 71.8 45.6 0 / 0.5 21.5 / 50.3 1000".split()
    assert rows[4:6] == [
        "thunder                  1        -         2        2    71.8 45.6      0 / 0.5  21.5 / 50.3 1000",
        "+torch.compile",
    ]
    assert " ".join(rows[-2:]).endswith(
        "GB/s are these over the kernels' time. Times are medians with a warm L2 cache."
    )


@pytest.mark.parametrize("width", [80, 90])
def test_what_is_too_wide_is_two_tables(width: int) -> None:
    """No name is broken in mid-word."""
    rows = lines(comparison_table(with_all(real(THUNDER_711), "forward", timings=(COLD, WARM)), "forward"), width)
    assert [row.split()[0] for row in rows if "ward  " in row] == ["forward", "forward"]
    counts, others = (row.split()[1:] for row in rows if row.startswith("torch.compile "))
    assert counts == ["1", "-", "2", "2"]
    assert others == "71.8 45.6 0 / 0.5 21.5 / 50.3 1000".split()
    assert rows.count("+torch.compile_cat") == rows.count("+nvfuser") == rows.count(" (reference)") == 2
    assert max(map(len, rows)) <= width


def test_the_null_device_does_not_count_kernels_of_libraries() -> None:
    product = forward(region(kernel("extern_kernels.mm", ("mm", 0), scheduler="extern")))
    note = " ".join(lines(comparison_table(comparison(run("torch.compile", product, device="null")), "forward")))
    assert "does not launch the kernels of libraries" in note


def test_an_executor_that_failed_says_why() -> None:
    failed = run("thunder+new", problem="no executor [bold]new[/bold] in Thunder\x1b[2J")
    rows = lines(comparison_table(comparison(failed), "forward"))
    assert rows[2].split() == ["thunder+new", "-", "-", "-", "-", "-"]
    assert rows[3:] == ["thunder+new: no executor [bold]new[/bold] in Thunder [2J"]


def test_a_direction_that_an_executor_did_not_reach_says_why() -> None:
    both = real(TODAY)
    failed = both.runs[1].model_copy(update={"passes": both.runs[1].passes[:1], "problem": "no gradient"})
    some = both.model_copy(update={"runs": (both.runs[0], failed)})
    assert lines(comparison_table(some, "backward"))[-1] == "torch.compile: no gradient"
    assert "no gradient" not in "".join(lines(comparison_table(some, "forward")))


def test_launches_or_times_that_are_missing_are_told() -> None:
    kernels = region(kernel("k", ("add", 0)))
    whole, cut_short = forward(kernels, launches=["k"], timings=(WARM,)), forward(kernels, launches=["k"])
    runs = [
        run("eager", whole),
        run("a", forward(kernels), problem="was ended after 9 s"),
        run("b", cut_short, problem="failed"),
    ]
    rows = lines(comparison_table(comparison(*runs), "forward"))
    assert rows[-2:] == ["a: was ended after 9 s", "b: failed"]
    assert not any("eager:" in row for row in rows)
    assert lines(comparison_table(comparison(runs[2]), "forward"))[-1] == "b: failed"


def test_what_is_not_known_is_not_zero() -> None:
    (row,) = [row for row in lines(comparison_table(real(THUNDER_711), "backward")) if row.startswith("thunder ")]
    assert row.split() == ["thunder", "3", "2", "5", "7", "?", "/", "?"]


def test_what_is_not_known_is_explained_where_it_stands() -> None:
    said = "?: the dump of nvFuser 0.2.8.dev20240723 gives symbolic sizes."
    table = {way: " ".join(lines(comparison_table(real(THUNDER_711), way))) for way in ("forward", "backward")}
    assert said in table["backward"]
    assert "symbolic" not in table["forward"]
    assert "symbolic" not in " ".join(lines(comparison_table(real(TODAY), "backward")))


def test_the_whole_text() -> None:
    found = real(THUNDER_711)
    rows = lines(text(found))
    whole = " ".join(" ".join(rows).split())
    assert rows[0] == "RoPE of tiny-llama-1.1b"
    for explanation in found.explanations:
        assert explanation.text in whole
        assert explanation.first_difference is None or f"First difference: {explanation.first_difference}" in whole
    assert [row.split()[0] for row in rows if "(reference)" not in row and "ward  " in row] == ["forward", "backward"]
    assert "      2 ✓          50  without the outputs that are only saved for backward" in rows
    assert "        4          49  with each split written as slices" in rows
    assert "  TorchCompile1        2          30  with converted inputs computed anew for each operation that" in rows


def test_an_ablation_that_does_not_compile_says_why() -> None:
    found = real(THUNDER_711)
    explanation = next(each for each in found.explanations if each.ablations)
    failed = explanation.ablations[1].model_copy(update={"kernels": None, "problem": "KeyError: 'mul'"})
    changed = explanation.model_copy(update={"ablations": (explanation.ablations[0], failed), "causes": ()})
    rows = lines(text(found.model_copy(update={"explanations": (changed,)})), 200)
    assert f"        ?          50  {failed.what}: not compiled: KeyError: 'mul'" in rows


def test_reasons_are_grouped() -> None:
    assert lines(why_not_table(real(THUNDER_711).runs[2])) == [
        "region         times  why they are two  which",
        "forward            9  no shared data    buf0 (set) | buf3 (cat)",
        "TorchCompile0                           buf0 (set) | buf4 (cat)",
        "                                        buf1 (cast) | buf3 (cat)",
        "                                        buf1 (cast) | buf4 (cat)",
        "                                        buf2 (cast) | buf3 (cat)",
        "                                        buf2 (cast) | buf4 (cat)",
        "                                        buf0 (set) | buf3+buf4 (cat)",
        "                                        buf1 (cast) | buf3+buf4 (cat)",
        "                                        buf2 (cast) | buf3+buf4 (cat)",
        "backward           1  no shared data    buf0 (pad, mul, add, neg) | buf1 (set)",
        "TorchCompile1",
    ]


def test_reasons_of_nvfuser_are_for_groups() -> None:
    rows = lines(why_not_table(real(TODAY).runs[2]))
    assert rows[1].endswith("g4 (mul, neg, pad, cat, add) | g3 (mul,")
    assert [row for row in rows if "g0 (reduction) | g2 (pad, cat)" in row]
    told = " ".join(row[18:58].strip() for row in rows[1:])
    assert "resize refused: Broadcasting dimension might be broadcasting to multiple sizes." in told


def test_names_are_never_markup() -> None:
    one = forward(region(kernel("[red]k", ("add", 0)), name="[red]r"))
    (row,) = [row for row in lines(text(comparison(run("[blink]x\x1b[2J", one)))) if "[blink]" in row]
    assert row.split()[:6] == ["[blink]x", "[2J", "1", "-", "1", "0"]
