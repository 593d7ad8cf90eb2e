"""The kernels of executors beside each other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from segscope.compare.executors.model import Direction, Timing
from segscope.render.engine import draw
from segscope.render.executors.fills import work_style
from segscope.render.executors.picture import SHOWN, picture
from tests.conftest import need_program
from tests.render.hostile import TEXTS

from .samples import THUNDER_711, TODAY, comparison, forward, kernel, real, region, run, with_all

GOLDEN = Path(__file__).parent / "golden"


def boxes(text: str) -> dict[str, str]:
    """The label of each box of the columns, by its node."""
    return dict(re.findall(r'^\t+(c\d+\w*) \[label="?(.*?)"? (?:color|fontcolor)=', text, re.MULTILINE))


def frames(text: str) -> list[str]:
    return re.findall(r'^\t\tgraph \[color="#999999".*? label="(.*?)" ', text, re.MULTILINE)


@pytest.mark.parametrize("name", [TODAY, THUNDER_711])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_golden_text(name: str, direction: Direction) -> None:
    assert picture(real(name), direction) == (GOLDEN / f"{name}_{direction}.dot").read_text("utf-8")


def test_a_column_for_each_executor() -> None:
    found = boxes(picture(real(TODAY), "forward"))
    assert {node: label for node, label in found.items() if node in ("c0", "c1", "c2", "c3", "c4")} == {
        "c0": "eager\\n15 launched",
        "c1": "torch.compile (the reference)\\n3 kernels generated · 3 launched",
        "c2": "thunder+nvfuser\\n3 kernels generated · 3 launched",
        "c3": "thunder+torch.compile\\n3 kernels generated · 3 launched",
    }
    assert found["c0_torch"].startswith("15 kernels of torch\\n4 mul · 3 direct_copy · ")


def test_a_box_says_what_a_kernel_is_does_and_moves() -> None:
    found = boxes(picture(real(THUNDER_711), "forward"))
    assert found["c2"].endswith("makes 67.1 MB to keep for backward")
    assert found["c2_r0_k0"].startswith("A · triton_poi_fused_clone_0\\nreshape · permute · slice · expand · set\\n")
    assert found["c2_r0_k1"] == (
        "C · triton_poi_fused__to_copy_1\\ncast\\nfor results 0 and 1\\nreads 0.3 MB · writes 33.6 MB"
    )
    assert found["c2_r0_k3"] == (
        "B · triton_poi_fused_cat_2\\ncast · mul · neg · cat · add\\nfor results 0 and 1\\n"
        "reads 86.0 MB, 67.1 of it written above\\nwrites 33.6 MB"
    )


def test_letters_and_fills_go_together() -> None:
    text = picture(real(THUNDER_711), "forward")
    for letter, fill in re.findall(r'label="([A-Z]+) · .*? fillcolor="(.*?)"', text):
        assert fill == work_style(ord(letter) - ord("A")).fill


def test_regions_are_framed_and_say_what_they_are_cut_into() -> None:
    assert frames(picture(real(THUNDER_711), "backward")) == [
        "graph0 (Inductor): 4 kernels",
        "TorchCompile0 (Inductor): 4 kernels",
        "TorchCompile0 (Inductor): 1 kernel",
        "nvFusion0 (nvFuser): 2 segments, 2 kernels",
        "TorchCompile1 (Inductor): 2 kernels",
    ]


def test_names_of_nvfuser_have_their_scheduler_and_long_ones_keep_their_end() -> None:
    found = boxes(picture(real(TODAY), "forward"))
    assert found["c2_r0_k0"].startswith("A · g2 · pointwise\\n")
    assert found["c1_r0_k2"].split("\\n")[0] == "C · triton_poi_fused__unsafe_view_a…zes_view_2"


def test_times_are_of_a_warm_cache() -> None:
    names = {"triton_poi_fused_clone_0": 3.0, "triton_poi_fused__to_copy_1": 7.5, "triton_poi_fused_cat_2": 20.0}
    warm = Timing(l2="warm", calls=9, kernel_us=30.5, each_us=names, gap_us=1, host_us=40)
    cold = warm.model_copy(update={"l2": "cold", "each_us": dict.fromkeys(names, 99.0)})
    found = boxes(picture(with_all(real(THUNDER_711), "forward", timings=(cold, warm)), "forward"))
    assert found["c2"].endswith("\\nkernels 30.5 µs · host 40.0 µs")
    assert found["c2_r0_k0"].endswith("\\n3.0 µs")
    assert found["c2_r0_k1"].endswith("\\n7.5 µs for 2 launches")
    assert "µs" not in found["c0_r0_k1"]


def test_an_executor_that_failed_has_a_column() -> None:
    failed = run("thunder+new", problem="the child ended with signal 11 after a very long time of saying nothing")
    found = boxes(picture(comparison(run("eager", forward(launches=["a"])), failed), "forward"))
    assert found["c1"] == "thunder+new\\nthe child ended with signal 11 after a\\nvery long time of saying nothing"


@pytest.mark.parametrize("executors", [1, 8])
@pytest.mark.parametrize("kernels", [SHOWN, SHOWN + 5])
def test_more_kernels_than_can_be_read_are_one_box(executors: int, kernels: int) -> None:
    names = [f"k{n}" for n in range(kernels)]
    regions = [region(*(kernel(name, (name, 0)) for name in part)) for part in (names[:20], names[20:33], names[33:])]
    runs = [run(f"x{n}", forward(*regions, launches=names)) for n in range(executors)]
    text = picture(comparison(*runs), "forward")
    found = boxes(text)
    for place in range(executors):
        assert sum(node.startswith(f"c{place}_r") and "_k" in node for node in found) == SHOWN
        assert found.get(f"c{place}_more") == ("… 5 more kernels" if kernels > SHOWN else None)
    assert draw(text, "svg").data.startswith(b"<?xml")


def test_a_region_without_kernels_says_so() -> None:
    text = picture(comparison(run("x", forward(region(segments=2)))), "forward")
    assert boxes(text)["c0_r0"] == "no kernel"


def test_columns_stand_beside_each_other_in_order(engine: str) -> None:
    svg = draw(picture(real(THUNDER_711), "forward"), "svg").data.decode()
    heads = [re.search(rf'x="([\d.]+)"[^>]*>{name}<', svg) for name in ("torch.compile \\(the reference\\)", *NAMES)]
    places = [float(found.group(1)) for found in heads if found]
    assert len(places) == 3
    assert places == sorted(places)


NAMES = [re.escape(name) for name in ("thunder+torch.compile", "thunder+torch.compile_cat+nvfuser")]


@pytest.mark.parametrize("hostile", TEXTS)
def test_hostile_names_are_text(hostile: str) -> None:
    one = forward(region(kernel(hostile, (hostile, 0), scheduler=hostile), name=hostile), launches=["void x", hostile])
    text = picture(comparison(run(hostile, one), run("y", problem=hostile)), "forward")
    done = subprocess.run([need_program("dot"), "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert b"<script" not in done.stdout
    assert done.stderr == b""
