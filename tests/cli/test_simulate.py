"""``segscope simulate`` as a user runs it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.segmenter.policies import POLICIES
from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
JULY_LOG = FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt"
GPT = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
BOOKENDED = FIXTURES / "null_0.2.8_llama2-13b_bookend1_forward.txt"
WITHOUT = ("--refuse", "T8+T21", "--refuse", "T39+T9")


def test_standard_output_is_no_file(cli: Cli) -> None:
    done = cli("simulate", JULY, "-o", "-")
    assert (done.code, done.out) == (2, "")
    assert "-o names a file" in done.err


@pytest.mark.parametrize("oracle", ["rules", "log"])
def test_by_its_own_choices_the_dump_is_met(oracle: str, cli: Cli) -> None:
    done = cli("simulate", JULY_LOG, "--oracle", oracle)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "as segmented: fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups",
        "as simulated: fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups (nvFuser 0.2.8, 200 trials)",
        "the partition is the same as in the dump",
    ]


def test_a_version_that_was_guessed_is_told_where_the_dump_is_not_given_back(cli: Cli) -> None:
    dump = FIXTURES / "history" / "null_0.2.24.dev20250115_Llama-2-13b-hf_definition.txt"
    done = cli("simulate", dump)
    assert done.code == 1
    assert done.err == (
        "segscope: warning: fusion 0 may be of another nvFuser: a dump names none, "
        "and nvFuser 0.2.27 is the last that prints its form; name it by --version\n"
    )
    named = cli("simulate", dump, "--version", "0.2.24.dev20250115")
    assert (named.code, named.err) == (0, "")
    assert cli("simulate", dump, "--policy", "reversed").err == ""


def test_what_is_written_goes_into_other_commands(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "four.json"
    done = cli("simulate", JULY, *WITHOUT, "-o", out)
    assert done.code == 1
    assert "the partition is another one than in the dump" in done.out
    assert done.err == f"wrote {out}\n"
    assert cli("count", out).out == "4\n"
    assert cli("check", out).code == 0
    assert "6 kernel groups -> 4" in cli("diff", JULY, out).out
    assert cli("diff", out, out).code == 0
    assert cli("render", out, "-o", tmp_path / "four.dot").code == 0
    assert "digraph" in (tmp_path / "four.dot").read_text()
    assert cli("simulate", out, *WITHOUT).code == 0
    assert read(out).provenance is None


def test_a_capture_keeps_where_it_came_from_and_tells_its_version(cli: Cli, tmp_path: Path) -> None:
    real = FIXTURES / "demo" / "nvfuser-0.2.36" / "capture.json"
    out = tmp_path / "simulated.json"
    done = cli("simulate", real, "-o", out)
    made = read(out).provenance
    assert made is not None
    assert made.toolchain == "nvfuser-0.2.36"
    assert f"nvFuser {made.versions['nvfuser']}" in done.out
    assert "not nvFuser's segmentation: segscope simulate made it" in cli("count", out).err


def test_other_choices(cli: Cli) -> None:
    for options, counts in (
        (["--policy", "operand-sets", "--policy", "new-in-front", "--policy", "deepest-first"], "5 pointwise, 3 no_op"),
        (["--no-boundary"], "1 pointwise"),
        (["--version", "0.2.36"], "nvFuser 0.2.36"),
        (["--policy", "reversed", "--oracle", "log"], "unknown: "),
    ):
        done = cli("simulate", JULY_LOG, *options)
        assert counts in done.out, options
        assert done.err == ""


def test_a_forced_merge_is_made(cli: Cli) -> None:
    done = cli("simulate", JULY, "--force", "T11+T17")
    assert (done.code, done.err) == (1, "")


def test_a_merge_that_is_not_offered_is_told(cli: Cli) -> None:
    done = cli("simulate", JULY, "--refuse", "T8+T52")
    assert done.code == 0
    assert "warning: fusion 0: no trial offered T8+T52 as a merge" in done.err


def test_all_fusions_or_one(cli: Cli, tmp_path: Path) -> None:
    every = cli("simulate", GPT)
    assert every.code == 0
    assert every.out.count("as simulated: ") == len(read(GPT).fusions)
    out = tmp_path / "one.json"
    one = cli("simulate", GPT, "--fusion", "12", "-o", out)
    assert one.out.startswith("as segmented: fusion 12: ")
    assert [fusion.index for fusion in read(out).fusions] == [12]


def test_random_orders(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "best.json"
    done = cli("simulate", JULY, "--explore", "20", "--seed", "3", "-o", out)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[1] == "20 random orders; kernel groups + other groups:"
    assert [line.split("  ")[1] for line in lines[2:5]] == ["4 + 1", "5 + 3", "6 + 5"]
    assert "as in its own order" in lines[4]
    assert "the first merge in its own order that the best has apart is trial 5: T8 + T21" in done.out or (
        "trial 12: T9 + T39" in done.out
    )
    assert cli("count", out).out == "4\n"
    assert cli("simulate", JULY, "--explore", "20", "--seed", "3").out == done.out


def test_a_policy_over_a_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    shutil.copy(JULY, tmp_path / "below" / "july.txt")
    shutil.copy(BOOKENDED, tmp_path / "bookended.txt")
    (tmp_path / "other.log").write_text("nothing of nvFuser\n")
    done = cli("simulate", "--corpus", tmp_path, "--policy", "deepest-first")
    assert (done.code, done.err) == (1, "")
    table = [line.split(None, 10)[:11] for line in done.out.splitlines()]
    assert table[1] == ["better", *"6 + 5 6 + 5 4 + 1".split(), "below/july.txt, fusion 0"]
    assert table[2] == ["worse", *"4 + 0 4 + 0 5 + 0".split(), "bookended.txt, fusion 0"]
    assert table[3][0] == "failed"
    assert "1 better, 1 worse, 1 failed" in done.out
    assert "2 fusions judged: 10 kernel groups by nvFuser's own choices, 9 by the policy" in done.out
    (tmp_path / "other.log").unlink()
    assert cli("simulate", "--corpus", tmp_path).code == 0


def test_a_policy_is_not_judged_where_the_dump_is_not_met(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(JULY, tmp_path / "july.txt")
    done = cli("simulate", "--corpus", tmp_path, "--policy", "reversed", "--version", "0.2.36")
    assert done.code == 1
    assert "1 not exact" in done.out
    assert "0 fusions judged" in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name FILE or --corpus DIR"),
        ([JULY, "--corpus", FIXTURES], "name FILE or --corpus DIR"),
        ([JULY, "--policy", "fastest"], "no policy 'fastest'; valid: reversed, deepest-first"),
        ([JULY, "--policy", "reversed", "--policy", "deepest-first"], "reversed and deepest-first both choose"),
        ([JULY, "--refuse", "T8"], "'T8' is no merge; write the tensors that it would define: T8+T21"),
        ([JULY, "--refuse", "T8+T999"], "T8+T999: nothing defines T999"),
        ([JULY, "--version", "newest"], "'newest' is no version of nvFuser"),
        ([JULY, "--oracle", "log"], "fusion 0: no log in the dump"),
        ([JULY_LOG, "--oracle", "log", "--no-boundary"], "keep the boundary rule; use the oracle rules"),
        ([JULY, "--toolchain", "nvfuser-0.2.8"], "--toolchain needs --oracle real"),
        ([JULY, "--seed", "1"], "--seed needs --explore"),
        ([JULY, "--fusion", "7"], "no fusion 7; the only fusion is 0"),
        (["--corpus", FIXTURES / "demo" / "none"], "none: no such folder"),
        (["--corpus", FIXTURES.parent / "docs" / "stylesheets"], "no capture there"),
        (["--corpus", FIXTURES, "--explore", "3"], "--corpus takes --version, --oracle and what makes the policy"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(cli: Cli, arguments: list[str | Path], says: str) -> None:
    done = cli("simulate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_version_of_tomorrow_is_taken_for_the_last_that_is_known(cli: Cli) -> None:
    done = cli("simulate", FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt", "--version", "9.9")
    assert "warning: nvFuser 9.9 is later than 0.2.36.dev20260301, the last that is known: taken for that" in done.err
    assert (
        done.out.replace("9.9", "0.2.36")
        == cli("simulate", FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt", "--version", "0.2.36").out
    )


def test_half_a_dump_is_not_segmented(cli: Cli, tmp_path: Path) -> None:
    half = tmp_path / "half.txt"
    half.write_text(JULY.read_text()[:6000])
    done = cli("simulate", half)
    assert (done.code, done.out) == (2, "")


def test_help_names_every_policy(cli: Cli) -> None:
    words = " ".join(cli("simulate", "--help").out.split()).replace("- ", "-")
    assert [name for name in POLICIES if name not in words] == []


@pytest.mark.toolchain
def test_nvfuser_itself_is_asked(cli: Cli, need_toolchain: Callable[[str], str]) -> None:
    chain = need_toolchain("nvfuser-0.2.8")
    done = cli("simulate", JULY, *WITHOUT, "--oracle", "real", "--toolchain", chain)
    assert done.code == 1
    assert "fusion 0: 5 groups (4 pointwise, 1 no_op), 4 kernel groups" in done.out
