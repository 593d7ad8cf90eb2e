"""RoPE through the real nvFuser on the null device: the counts, and the text byte for byte as an H200 printed it."""

import re
from collections.abc import Callable
from functools import lru_cache

import pytest

import segscope
from segscope.capture.rope import CONFIGS, capture_rope
from segscope.dump import parse
from segscope.model import Capture, SegmentedFusion
from tests.conftest import FIXTURES

pytestmark = pytest.mark.toolchain
JULY_2024, TODAY = "nvfuser-0.2.8", "nvfuser-0.2.36"
RECORDED = sorted(path.stem for path in FIXTURES.glob("h200_*_bookend*.txt"))
NEEDED_MOST = ("Llama-2-13b-hf", "tiny-llama-1.1b")


@lru_cache
def capture(toolchain: str, config: str, direction: str, bookend: bool, disable: tuple[str, ...]) -> Capture:
    return capture_rope(
        config, toolchain=toolchain, device="null", direction=direction, bookend=bookend, disable=disable
    )


def segments(text: str) -> list[str]:
    """The ``fusion segments`` blocks of a dump."""
    return re.findall(r"^Segmented_Fusion Dump: -- fusion segments:\n.*?^\} //Segmented_Fusion\n", text, re.M | re.S)


def without_numbers(fusion: SegmentedFusion) -> object:
    """Everything about a fusion but the numbers of its expressions."""
    return (
        [
            (group.id, group.scheduler, group.inputs, group.outputs, [expr.text for expr in fusion.exprs_of(group)])
            for group in fusion.groups
        ],
        fusion.edges,
        fusion.tensors,
    )


def test_every_recorded_case_is_tested() -> None:
    assert len(RECORDED) == 22


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if any(config in n for config in NEEDED_MOST) else pytest.mark.slow) for n in RECORDED],
)
def test_the_null_device_gives_the_bytes_of_an_h200(name: str, need_toolchain: Callable[[str], str]) -> None:
    """nvFuser numbers some expressions of a backward pass differently from run to run.

    Where the bytes differ, the fusions must still be equal in everything but those numbers.
    """
    match = re.fullmatch(r"h200_0\.2\.36_(.+)_bookend(\d)(_resize-off)?(?:_log)?_(forward|forward\+backward)", name)
    assert match
    config, bookend, resize_off, direction = match.groups()
    made = capture(
        need_toolchain(TODAY),
        config,
        "forward" if direction == "forward" else "both",
        bookend == "1",
        ("resize_scheduler",) if resize_off else (),
    )
    assert made.dump is not None
    recorded = (FIXTURES / f"{name}.txt").read_text()
    ours, theirs = segments(made.dump), segments(recorded)
    assert len(ours) == len(theirs) > 0
    for position, (our_text, their_text) in enumerate(zip(ours, theirs, strict=True)):
        if our_text != their_text:
            assert direction == "forward+backward"
            assert position == 1
            assert without_numbers(parse(our_text).fusion) == without_numbers(parse(their_text).fusion)


@pytest.mark.parametrize(
    ("toolchain", "config", "disable", "schedulers"),
    [
        (JULY_2024, "Llama-2-13b-hf", (), {"pointwise": 6, "no_op": 5}),
        (TODAY, "Llama-2-13b-hf", (), {"resize": 2, "expr_eval": 4}),
        (TODAY, "Llama-2-13b-hf", ("resize_scheduler",), {"pointwise": 2, "expr_eval": 4}),
        (TODAY, "tiny-llama-1.1b", (), {"resize": 2, "pointwise": 1, "expr_eval": 3}),
        (TODAY, "tiny-llama-1.1b", ("resize_scheduler",), {"pointwise": 4, "expr_eval": 5}),
    ],
)
def test_counts(
    toolchain: str,
    config: str,
    disable: tuple[str, ...],
    schedulers: dict[str, int],
    need_toolchain: Callable[[str], str],
) -> None:
    fusion = capture(need_toolchain(toolchain), config, "forward", False, disable).fusion
    assert fusion.schedulers == schedulers
    assert fusion.count() == sum(n for name, n in schedulers.items() if name not in ("no_op", "expr_eval"))


def test_july_2024_gives_the_recorded_bytes(need_toolchain: Callable[[str], str]) -> None:
    made = capture(need_toolchain(JULY_2024), "Llama-2-13b-hf", "forward", False, ())
    assert made.dump is not None
    recorded = (FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").read_text()
    assert segments(made.dump) == segments(recorded)


def test_thunder_of_july_2024_bookends(need_toolchain: Callable[[str], str]) -> None:
    made = capture(need_toolchain(JULY_2024), "Llama-2-13b-hf", "forward", True, ())
    assert made.fusion.schedulers == {"pointwise": 4}


def test_a_crash_after_the_dump_still_gives_a_capture(need_toolchain: Callable[[str], str]) -> None:
    """nvFuser 0.2.8 divides by zero on tiny-llama, after it has printed the segments."""
    made = capture(need_toolchain(JULY_2024), "tiny-llama-1.1b", "forward", False, ())
    assert made.complete
    assert made.fusion.schedulers == {"pointwise": 8, "no_op": 2, "transpose": 1}
    assert made.provenance is not None
    end = made.provenance.end
    assert (end.outcome, end.signal, end.exit_code) == ("crashed", "SIGFPE", None)
    assert made.provenance.versions == {
        "segscope": segscope.__version__,
        "python": made.provenance.versions["python"],
        "torch": "2.4.0+cu121",
        "nvfuser": "0.2.8.dev20240723",
        "thunder": "0.2.1",
    }


def test_a_capture_says_where_it_came_from(need_toolchain: Callable[[str], str]) -> None:
    made = capture(need_toolchain(TODAY), "tiny-llama-1.1b", "forward", False, ("resize_scheduler",))
    provenance = made.provenance
    assert provenance is not None
    assert (provenance.device, provenance.card, provenance.toolchain) == ("null", "NVIDIA H200", TODAY)
    assert provenance.environment == {"NVFUSER_DUMP": "segmented_fusion", "NVFUSER_DISABLE": "resize_scheduler"}
    assert provenance.options["sequence_length"] == CONFIGS["tiny-llama-1.1b"].block_size
    assert provenance.versions["nvfuser"] == "0.2.36.dev20260301"
    assert (provenance.end.outcome, provenance.end.exit_code) == ("ok", 0)
    assert Capture.model_validate_json(made.model_dump_json()) == made


def test_backward_is_the_second_half_of_both(need_toolchain: Callable[[str], str]) -> None:
    both = capture(need_toolchain(TODAY), "phi-2", "both", False, ())
    backward = capture(need_toolchain(TODAY), "phi-2", "backward", False, ())
    assert len(backward.fusions) == 1
    assert without_numbers(backward.fusion) == without_numbers(both.fusions[1])


@pytest.mark.slow
@pytest.mark.parametrize("config", ["Llama-2-7b-hf", "Llama-2-70b-hf", "Mistral-7B-v0.1", "Llama-3.1-8B"])
def test_configurations_that_no_gpu_recorded(config: str, need_toolchain: Callable[[str], str]) -> None:
    """The heads share keys and values, or do not, as in a recorded configuration: the segmentation is the same."""
    shape = CONFIGS[config]
    alike = "Llama-2-13b-hf" if shape.n_head == shape.n_query_groups else "Llama-3-8B"
    made = capture(need_toolchain(TODAY), config, "forward", False, ()).fusion
    recorded = capture(need_toolchain(TODAY), alike, "forward", False, ()).fusion
    assert [(group.id, group.scheduler) for group in made.groups] == [(g.id, g.scheduler) for g in recorded.groups]
    assert made.edges == recorded.edges
