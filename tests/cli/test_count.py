"""``segscope count``."""

import subprocess
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.dump.tally import tally
from tests.conftest import DUMPS, FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
BOTH = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward.txt"


@pytest.mark.parametrize("path", DUMPS[::4], ids=lambda path: path.stem)
def test_pointwise_is_what_grep_counts(cli: Cli, path: str) -> None:
    grep = subprocess.run(["grep", "-c", "g{(pointwise", path], capture_output=True, text=True)
    done = cli("count", path, "--scheduler", "pointwise")
    assert (done.code, done.out) == (0, grep.stdout)


def test_kernel_groups_of_all_fusions_or_one(cli: Cli) -> None:
    assert cli("count", JULY).out == "6\n"
    assert cli("count", TODAY).out == "2\n"
    assert cli("count", BOTH).out == "5\n"
    assert cli("count", BOTH, "--fusion", "1").out == "3\n"


def test_standard_input(cli: Cli) -> None:
    assert cli("count", "-", "--scheduler", "no_op", input=JULY.read_text()).out == "5\n"


def test_zero_of_a_renamed_scheduler_says_what_is_there(cli: Cli) -> None:
    done = cli("count", TODAY, "--scheduler", "pointwise")
    assert (done.code, done.out) == (0, "0\n")
    assert done.err == "segscope: warning: no pointwise group here; the kernel groups are 2 resize\n"


def test_a_file_without_a_dump(cli: Cli) -> None:
    done = cli("count", "-", input="nothing here\n")
    assert (done.code, done.out) == (2, "")
    assert "no segmented fusion found (looked for 'Segmented_Fusion Dump: -- fusion segments:'" in done.err


def test_a_dump_that_is_cut_off(cli: Cli) -> None:
    lines = JULY.read_text().splitlines(keepends=True)
    done = cli("count", "-", "--scheduler", "pointwise", input="".join(lines[:560]))
    assert (done.code, done.out) == (0, "2\n")
    assert done.err == (
        "segscope: warning: -: incomplete: line 560: "
        "the end of the input comes before the end of fusion 0: 7 of its 11 groups are there\n"
    )


@pytest.mark.parametrize("path", [*DUMPS, *(FIXTURES / "eras").glob("*.txt")], ids=lambda path: path.stem)
def test_counting_without_models_counts_the_same(path: Path) -> None:
    capture = read(path)
    assert tally(path) == [
        [(group.scheduler, fusion.launches_kernel(group)) for group in fusion.groups] for fusion in capture.fusions
    ]


def test_what_is_not_whole_is_left_to_the_models(tmp_path: Path) -> None:
    text = JULY.read_text()
    for name, damaged in (
        ("cut", text[: text.index("} //Segmented_Fusion")]),
        ("lied", text.replace("\ng{0, ", "\ng{99, ")),
        ("json", "{}"),
    ):
        (tmp_path / name).write_text(damaged)
    assert [tally(tmp_path / name) for name in ("cut", "lied", "json")] == [None, None, None]


def test_strict_makes_damage_fatal(cli: Cli, tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt"
    cut.write_text(JULY.read_text().partition("} //Segmented_Fusion")[0])
    assert cli("count", cut).code == 0
    for command in (["count"], ["show"], ["render", "-o", tmp_path / "x.dot"]):
        done = cli(*command, cut, "--strict")
        assert (done.code, done.out) == (2, "")
        assert "of its 11 groups are there (--strict)" in done.err
    assert cli("count", JULY, "--strict").out == "6\n"
