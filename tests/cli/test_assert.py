"""``segscope assert``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
GPT = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"


def test_what_is_true_is_exit_code_0(cli: Cli) -> None:
    done = cli(
        "assert", TODAY, "resize == 2", "kernel_groups<=4 and not findings(cycle) > 0", "cuts == 6 or groups > 0"
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "true   resize == 2",
        "true   kernel_groups<=4 and not findings(cycle) > 0",
        "true   cuts == 6 or groups > 0",
    ]


def test_what_is_false_is_exit_code_1_and_shows_the_groups(cli: Cli) -> None:
    done = cli("assert", JULY, "groups == 11", "pointwise == 2", "1 <= kernel_groups <= 4 or cuts < findings")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[:4] == [
        "true   groups == 11",
        "false  pointwise == 2: pointwise is 6",
        "false  1 <= kernel_groups <= 4 or cuts < findings: kernel_groups is 6, cuts is 18, findings is 2",
        "",
    ]
    assert "fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups" in lines
    assert [line.split()[:3] for line in lines if line.startswith("#7 ")] == [["#7", "pointwise", "yes"]]
    assert any(line.startswith("  warning: fp32-crossing: fusion 0: T22") for line in lines)


def test_none_of_a_scheduler_is_told_of_what_is_false(cli: Cli) -> None:
    done = cli("assert", TODAY, "pointwise == 2", "transpose == 0 and matmul <= 3", "pointwise > 0", "groups == 6")
    assert (done.code, done.err) == (
        1,
        "segscope: warning: no pointwise group here; the kernel groups are 2 resize\n",
    )


def test_none_of_a_scheduler_where_none_is_asked_for_is_no_news(cli: Cli) -> None:
    done = cli("assert", TODAY, "transpose == 0", "pointwise <= 2")
    assert (done.code, done.err) == (0, "")


def test_fusions_are_counted_together_or_one_by_number(cli: Cli) -> None:
    assert cli("assert", GPT, "fusions == 18", "resize == 10").code == 0
    assert cli("assert", GPT, "--fusion", "1", "fusions == 1", "resize == 3").code == 0


def test_standard_input(cli: Cli) -> None:
    assert cli("assert", "-", "pointwise == 6", input=JULY.read_text()).code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([JULY, "pointwise = 2"], "'pointwise = 2', column 11: expected a comparison"),
        ([JULY, "pointwize == 2"], "unknown name 'pointwize'; valid: kernel_groups, groups, cuts, fusions, findings"),
        ([JULY, "groups == 0 and pointwize == 2"], "unknown name 'pointwize'"),
        ([JULY, "findings(cycl) == 0"], "unknown rule 'cycl'; valid: cycle, order"),
        ([JULY, "groups == 1", "--fusion", "3"], "no fusion 3; the only fusion is 0"),
        (["nowhere.txt", "groups == 1"], "nowhere.txt: No such file or directory"),
        ([JULY], "Missing argument 'EXPRESSION...'"),
    ],
)
def test_what_cannot_be_said_is_exit_code_2(cli: Cli, arguments: list[str | Path], says: str) -> None:
    done = cli("assert", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert says in done.err


def test_half_a_dump_is_neither_true_nor_false(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "half.txt"
    text = JULY.read_text()
    path.write_text(text[: text.index("fusion segments") + 2000])
    done = cli("assert", path, "pointwise <= 6")
    assert (done.code, done.out) == (2, "")
    assert f"segscope: error: {path}: nothing can be asserted of half a dump: fusion 0: " in done.err
