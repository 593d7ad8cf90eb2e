"""Lines that look like nvFuser's and are not, or only in part."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from segscope.compare import executors, timing
from segscope.dump import parse, read
from segscope.dump.tally import tally
from segscope.errors import NoDumpError, SegscopeError
from tests.conftest import FIXTURES, Cli
from tests.dump.test_linear import steps

TODAY = (FIXTURES / "h200_0.2.36_phi-2_bookend0_forward.txt").read_text()
JULY = (FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").read_text()
LOG = (FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt").read_text()
SEGMENTS = "Segmented_Fusion Dump: -- fusion segments:\n"
REFUSAL = "Scheduler _resize_ ***rejected*** because : Disabled\n"


@pytest.mark.parametrize(
    "line", ["Scheduler _resize_ ***rejec", "Scheduler _transpose_ rejected", "***Acc", "Scheduler _"]
)
def test_half_a_verdict_ends(line: str) -> None:
    with pytest.raises(NoDumpError):
        parse(line)
    whole = parse(TODAY).fusion.groups
    assert parse(f"{line}\n{TODAY}").fusion.groups == whole
    cut = LOG.index("***rejected***", LOG.index("**Segmenter**"))
    assert parse(f"{LOG[: cut + 5]}\n{TODAY}").fusion.groups == whole


@pytest.mark.parametrize(
    ("head", "line"), [(f"{REFUSAL}", "  further\n"), (f"{SEGMENTS}groups: \nedges: \ne{{ (\n", "(\n")]
)
def test_endless_further_lines_take_steps_in_proportion(head: str, line: str) -> None:
    def attempt(text: str) -> None:
        with suppress(SegscopeError):
            parse(text)

    attempt(head + line * 100)
    assert steps(attempt, head + line * 4000) <= 2 * steps(attempt, head + line * 2000) + 100


def test_an_unknown_operator_is_not_counted_in_silence(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "u.txt"
    path.write_text(TODAY.replace("= slice( ", "= zork( "))
    assert tally(path) is None
    assert "unknown operators, kept as text: zork" in cli("count", path).err


@pytest.mark.parametrize("line", ["    foo()", "  warnings.warn('x')", '  File "x.py", line 3, in y', "      ~~~~^^^^"])
@pytest.mark.parametrize("text", [TODAY, JULY], ids=["today", "July"])
def test_an_indented_stranger_is_never_part_of_a_statement(line: str, text: str) -> None:
    lines = text.split("\n")
    begin, end = lines.index("group details:"), lines.index("} //Segmented_Fusion")
    exprs = parse(text).fusion.exprs
    for at in range(begin + 1, end, 7):
        capture = parse("\n".join([*lines[:at], line, *lines[at:]]))
        assert capture.report.foreign or not capture.complete
        assert all(line.strip() not in expr.text for expr in capture.fusion.exprs)
        if capture.complete:
            assert capture.fusion.exprs == exprs


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\n   = -T13_l", " junk\n   = -T13_l", "'junk' beside the outputs"),
        ("inputs: \nT8_g[", "inputs: \nstep 10 loss 0.5\nT8_g[", "not a tensor or a scalar"),
        ("inputs: \nT8_g[", "inputs: \nhello\nT8_g[", "not a tensor or a scalar"),
    ],
)
def test_what_does_not_belong_is_damage(old: str, new: str, says: str) -> None:
    at = JULY.index(old, JULY.index("group details:"))
    capture = parse(JULY[:at] + new + JULY[at + len(old) :])
    assert [place.reason for place in capture.report.damage] == [says]


def test_an_edge_over_what_its_groups_do_not_list_is_damage() -> None:
    at = JULY.index("(T5_g[", JULY.index("edges: "))
    capture = parse(f"{JULY[:at]}(T7777_g[{JULY[at + 6 :]}")
    assert "an edge over T7777 between groups that do not list it, or are not there" in [
        place.reason for place in capture.report.damage
    ]
    assert "T7777" not in {edge.value for edge in capture.fusion.edges}


def test_strict_looks_into_json_too(tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    path.write_text(parse(JULY[: JULY.index("} //Segmented_Fusion")], "x").model_dump_json())
    assert not read(path).complete
    with pytest.raises(SegscopeError, match=r"\(--strict\)"):
        read(path, strict=True)


def test_the_log_behind_an_open_line_of_pytest() -> None:
    glued = LOG.replace(
        "***Runtime***: Try to schedule fusion un-", "tests/x.py .***Runtime***: Try to schedule fusion un-"
    )
    assert parse(glued).fusion.log == parse(LOG).fusion.log


def test_what_nvfuser_says_of_failures_is_shown(cli: Cli) -> None:
    done = cli("show", "-", input=f"{JULY}RuntimeError: Error from segmentation group 3: no luck\n")
    assert done.code == 0
    assert "nvFuser failed: RuntimeError: Error from segmentation group 3: no luck" in done.err


@pytest.mark.parametrize(
    ("reader", "file"),
    [
        (read, FIXTURES / "demo/nvfuser-0.2.36/capture.json"),
        (executors.read, FIXTURES / "executors/thunder-711.json.gz"),
        (timing.read, FIXTURES / "traces/h200_nvfuser_Llama-2-13b-hf_nograd.json.gz"),
    ],
)
def test_what_is_read_whole_has_a_limit(
    reader: Callable[[Path], object], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader(file)
    monkeypatch.setattr("segscope.dump.source.WHOLE", file.stat().st_size - 1)
    with pytest.raises(SegscopeError, match=r"json(\.gz)?: more than 0 MiB, and it is read whole"):
        reader(file)


def test_a_cut_off_archive_says_so(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(TODAY.encode())[:2000])
    with pytest.raises(NoDumpError, match="ends early"):
        read(path)
