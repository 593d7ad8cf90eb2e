"""``segscope count``."""

import subprocess

import pytest

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
