"""Measured times in pictures of every format, and on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from segscope.compare.timing import Overlay, overlay, read
from segscope.render import picture
from segscope.render.dot import to_dot
from segscope.render.view import View
from tests.checks.handmade import fusion
from tests.conftest import Cli

from .conftest import FIXTURES, real_fusion

GOLDEN = Path(__file__).parent / "golden" / "tiny-llama_times.dot"
DUMP = "h200_0.2.36_tiny-llama-1.1b_bookend0_forward"
TINY_LLAMA = FIXTURES / "traces" / "h200_nvfuser_tiny-llama-1.1b_nograd.json.gz"
LLAMA_2 = FIXTURES / "traces" / "h200_nvfuser_Llama-2-13b-hf_nograd.json.gz"
INDUCTOR = FIXTURES / "traces" / "h200_inductor_tiny-llama-1.1b_nograd.json.gz"
BOTH = FIXTURES / "h200_0.2.36_tiny-llama-1.1b_bookend0_forward+backward.txt"
TIME = "11.6 µs · 43% · 2,979 GB/s"


@pytest.fixture
def timed() -> View:
    return View(times=overlay(real_fusion(DUMP), read(TINY_LLAMA)))


def test_golden_text(timed: View) -> None:
    assert to_dot(real_fusion(DUMP), view=timed) == GOLDEN.read_text("utf-8"), (
        f"if better: segscope render fixtures/{DUMP}.txt --timing fixtures/traces/{TINY_LLAMA.name} -o GOLDEN"
    )


def test_a_box_has_its_time_and_what_it_moves(timed: View) -> None:
    text = to_dot(real_fusion(DUMP), view=timed)
    (g4,) = re.findall(r'^\tg1 \[label="([^"]*)".* tooltip="([^"]*)"', text, re.MULTILINE)
    label, tooltip = (text.split("\\n") for text in g4)
    assert label[:2] == ["g4 · resize · kernel", TIME]
    assert "reads 17.3 MB · writes 17.3 MB" in label
    assert tooltip[1:3] == [TIME, "median of 5 launches of nvfuser_resize_f0_c1_r0_g4"]


def test_the_title_has_the_sum(timed: View) -> None:
    (title,) = re.findall(r'^\tgraph \[.*?label="([^"]*)"', to_dot(real_fusion(DUMP), "today", timed), re.MULTILINE)
    assert title.split("\\n")[1] == f"kernels 27.2 µs ({TINY_LLAMA.name})"


def test_a_group_without_a_time_says_so() -> None:
    texts = ("T1 = exp(T0)", "T2 = exp(T1)")
    one = fusion(["T0"], ["T2"], *(("pointwise", text) for text in texts), ("no_op", "T3 = set(T0)"))
    times = Overlay(fusion=0, source="a/trace.json", groups=(), untimed=(0, 1))
    text = to_dot(one, view=View(times=times))
    assert "\\nkernels 0.0 µs (trace.json) · 2 kernel groups without a time" in text
    assert len(re.findall(r'label="g\d · pointwise · kernel\\nno time\\nexp\\n', text)) == 2
    assert 'label="g2 · no_op\\nset\\nmoves no data\\n' in text


@pytest.mark.parametrize("level", ["groups", "expressions"])
@pytest.mark.parametrize("collapse", [False, True])
def test_times_are_on_every_level(level: str, collapse: bool, timed: View) -> None:
    view = View(level=level, collapse=collapse, times=timed.times)  # type: ignore[arg-type]
    labels = re.findall(r'label="(g\d[^"]*kernel[^"]*)"', to_dot(real_fusion(DUMP), view=view))
    assert sorted(label.split("\\n")[1].split(" · ")[0] for label in labels) == ["11.6 µs", "6.2 µs", "9.4 µs"]


@pytest.mark.parametrize("format", ["svg", "mmd", "html", "json"])
def test_times_are_in_every_format(format: str, timed: View) -> None:
    text = picture(real_fusion(DUMP), format, view=timed)[0].decode()
    if format == "html":
        (facts,) = re.findall(r"<script[^>]*json[^>]*>(.*?)</script>", text, re.DOTALL)
        text = json.loads(facts)["groups"][1]["size"]
    text = text.replace("&#160;", " ").replace("\N{NO-BREAK SPACE}", " ")
    assert (TIME if format != "mmd" else "11.6 #181;s · 43#37; · 2,979 GB#47;s") in text


def test_the_command_draws_times(cli: Cli, tmp_path: Path) -> None:
    done = cli("render", FIXTURES / f"{DUMP}.txt", "--timing", TINY_LLAMA, "-o", tmp_path / "a.dot")
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "a.dot").read_text("utf-8") == GOLDEN.read_text("utf-8")


def test_a_fusion_without_times_is_warned_of(cli: Cli, tmp_path: Path) -> None:
    done = cli("render", BOTH, "--timing", TINY_LLAMA, "-o", tmp_path / "a.dot")
    assert done.code == 0
    assert done.err == f"segscope: warning: {TINY_LLAMA}: no kernel of fusion 1: it is drawn without times\n"
    assert TIME in (tmp_path / "a-0.dot").read_text("utf-8")
    assert "µs" not in (tmp_path / "a-1.dot").read_text("utf-8")


def test_doubts_are_warned_of(cli: Cli, tmp_path: Path) -> None:
    """One of the kernels of another model's RoPE fits by its name and arguments."""
    done = cli("render", FIXTURES / f"{DUMP}.txt", "--timing", LLAMA_2, "-o", tmp_path / "a.dot")
    assert done.code == 0
    assert done.err.endswith("fusion 0: no kernel fits g4 g2: are the times of the same fusion?\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [BOTH, "--fusion", "1", "--timing", TINY_LLAMA],
            "no kernel of fusion 1; it has nvfuser_pointwise_f0_c1_r0_g2",
        ),
        ([BOTH, "--timing", INDUCTOR], "no kernel of nvFuser whose name has a group"),
        ([BOTH, "--timing", "no-such-file"], "no-such-file: No such file or directory"),
        ([BOTH, "--timing", BOTH], "no kernel times: neither JSON, nor CSV of nsys"),
        ([BOTH, "--timing", TINY_LLAMA, "--grouping", "proof"], "--timing is of nvFuser's own groups"),
    ],
    ids=["other fusion", "no kernel", "no file", "no times", "proof"],
)
def test_what_cannot_be_is_one_line(arguments: list[str | Path], message: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("render", *arguments, "-o", tmp_path / "a.dot")
    (line,) = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert line.startswith("segscope: error: ")
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_which_of_alike_fusions_is_said_with_fusion(cli: Cli, tmp_path: Path) -> None:
    """Fusions 1 and 5 are RoPE in the first and the second layer."""
    two_layers = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
    trace = tmp_path / "trace.json"
    name = "nvfuser_resize_f0_c1_r0_g2"
    trace.write_text(json.dumps([{"ph": "X", "cat": "kernel", "name": name, "ts": 1, "dur": 2}]))
    done = cli("render", two_layers, "--timing", trace, "-o", tmp_path / "a.dot")
    several = r"fusion 1 or 5( or \d+)*: choose with --fusion\n"
    assert re.fullmatch(f"segscope: error: {trace}: {name} may be of {several}", done.err)
    done = cli("render", two_layers, "--fusion", "5", "--timing", trace, "-o", tmp_path / "a.dot")
    assert done.code == 0
    assert "2.0 µs · 100% · " in (tmp_path / "a.dot").read_text("utf-8")
