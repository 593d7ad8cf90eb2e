"""nvFuser's FusionDefinitions: the counts that its own tests assert, RoPE as Thunder traces it, in any version."""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from shutil import copytree

import pytest

from segscope.capture import definition
from segscope.capture.definition import DEFINITIONS, capture_definition
from segscope.capture.rope import capture_rope
from segscope.capture.run import Request, run
from segscope.errors import CaptureError, SegscopeError
from segscope.model import Capture
from tests.conftest import FIXTURES, in_history

FIRST, JULY_2024, TODAY = "nvfuser-0.1.6.dev20240313", "nvfuser-0.2.8", "nvfuser-0.2.36"
WORKLOADS = Path(definition.__file__).parent / "workloads"
OF_NVFUSER = sorted(name for name in DEFINITIONS if not name.startswith(("rope", "softmax")))


@lru_cache
def capture(name: str, config: str | None, chain: str, card: str = "h200", disable: tuple[str, ...] = ()) -> Capture:
    return capture_definition(name, config, toolchain=chain, device="null", card=card, disable=disable)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "rape"}, "unknown definition 'rape'; valid: " + ", ".join(DEFINITIONS)),
        ({"config": "Llama-5"}, "unknown configuration 'Llama-5'; valid: Llama-2-7b-hf"),
        ({"dtype": "int8"}, "unknown dtype 'int8'; valid: bfloat16, float16, float32"),
        ({"batch": 0}, "batch 0: must be at least 1"),
        ({"name": "rope-float32", "dtype": "bfloat16"}, "rope-float32 has no dtype bfloat16; use rope"),
        ({"name": "three-sums", "config": "phi-2"}, "three-sums has one shape and dtype: leave out config, batch"),
        ({"toolchain": "nvfuser-9"}, "unknown toolchain 'nvfuser-9'"),
    ],
)
def test_unknown_arguments_list_the_valid_ones(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(SegscopeError) as caught:
        capture_definition(**arguments)  # type: ignore[arg-type]
    assert str(caught.value).startswith(says)


GROUPS_TODAY = {
    "add-sum-sum": {"reduction": 2},
    "slice-rotate-cat": {"resize": 1},
    "slice-rotate-cat-residual": {"resize": 1},
    "cat-between-pointwise": {"resize": 1},
    "reshape-to-slice": {"expr_eval": 1},
    "reshape-to-pad": {"resize": 1},
    "slice-and-index": {"expr_eval": 2},
    "privatize-upcast": {"reduction": 2, "expr_eval": 1},
    "forwarded-neg": {"reduction": 2},
    "not-all-outputs-alias": {"expr_eval": 1, "pointwise": 1},
    "domain-map-factory": {"pointwise": 2},
    "three-sums": {"reduction": 3},
}
"""As nvFuser's own tests assert, but for reshape-to-slice, whose shapes are not static there."""


@pytest.mark.toolchain
@pytest.mark.parametrize("name", OF_NVFUSER)
def test_groups_of_today(name: str, need_toolchain: Callable[[str], str]) -> None:
    made = capture(name, None, need_toolchain(TODAY))
    assert made.fusion.schedulers == GROUPS_TODAY[name]
    assert made.provenance is not None
    assert (made.provenance.workload, made.provenance.options) == (f"definition {name}", {"definition": name})
    assert made.provenance.end.outcome == "ok"


@pytest.mark.toolchain
def test_the_rotation_was_five_kernels_in_july_2024(need_toolchain: Callable[[str], str]) -> None:
    assert capture("slice-rotate-cat", None, need_toolchain(JULY_2024)).fusion.schedulers == {"pointwise": 5}


@pytest.mark.toolchain
def test_a_negation_is_in_both_groups_that_read_it(need_toolchain: Callable[[str], str]) -> None:
    fusion = capture("forwarded-neg", None, need_toolchain(TODAY)).fusion
    (neg,) = (expr.id for expr in fusion.exprs if expr.kind == "unary")
    assert [neg in group.expr_ids for group in fusion.groups] == [True, True]


ON_AN_H200 = sorted(FIXTURES.glob("h200_0.2.36_*_bookend0_forward.txt"))


@pytest.mark.toolchain
@pytest.mark.parametrize("path", ON_AN_H200, ids=lambda path: path.stem)
def test_rope_is_what_thunder_traced_on_an_h200(path: Path, need_toolchain: Callable[[str], str]) -> None:
    """Byte for byte: heads that share keys and values, some or all, and heads that are rotated in part."""
    assert capture("rope", path.stem.split("_")[2], need_toolchain(TODAY)).dump == path.read_text()


@pytest.mark.toolchain
@pytest.mark.parametrize("config", ["Llama-2-13b-hf", "phi-2"])
def test_rope_is_what_thunder_traced_in_july_2024(config: str, need_toolchain: Callable[[str], str]) -> None:
    thunder = capture_rope(config, toolchain=need_toolchain(JULY_2024), device="null", bookend=False)
    assert capture("rope", config, JULY_2024).dump == thunder.dump


@pytest.mark.toolchain
def test_rope_in_float32_is_what_thunder_traces(need_toolchain: Callable[[str], str]) -> None:
    thunder = capture_rope(toolchain=need_toolchain(TODAY), device="null", bookend=False, dtype="float32")
    made = capture("rope-float32", None, TODAY)
    assert made.dump == thunder.dump
    assert {expr.kind for expr in made.fusion.exprs}.isdisjoint({"cast"})


RECORDED = sorted(FIXTURES.glob("history/*_definition*.txt"))


@pytest.mark.toolchain
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_versions_give_the_recorded_bytes(path: Path) -> None:
    _, version, config, program = path.stem.split("_")
    name = {"definition": "rope", "definition-float32": "rope-float32"}[program]
    made = capture(name, config, in_history(f"nvfuser-{version}"))
    assert made.dump == re.sub(r"^(torch|executed) .*\n", "", path.read_text(), flags=re.M)


@pytest.mark.toolchain
def test_a_toolchain_without_thunder_is_enough() -> None:
    made = capture("rope", "tiny-llama-1.1b", in_history(FIRST))
    assert made.fusion.schedulers == {"pointwise": 9, "no_op": 3}
    assert made.provenance is not None
    assert made.provenance.versions["torch"] == "2.2.2+cu121"
    assert "thunder" not in made.provenance.versions


@pytest.mark.toolchain
def test_an_operation_that_is_missing_is_one_line(tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    copytree(WORKLOADS / "definitions", tmp_path / "definitions")
    (tmp_path / "missing.py").write_text(
        "from .definitions.definition import Definition\n"
        "def phases(options):\n"
        "    yield 'missing', lambda: Definition().rotate_half()\n"
    )
    request = Request(workload="definition missing", file=tmp_path / "missing.py", options={})
    with pytest.raises(CaptureError) as caught:
        run(request, toolchain=need_toolchain(TODAY), device="null", card="h200", timeout=300)
    assert str(caught.value) == (
        f"definition missing in {TODAY}: the child process failed with exit code 1: "
        "NotImplementedError: the Python API of this nvFuser has no operation rotate_half"
    )


@pytest.mark.toolchain
def test_an_option_that_a_version_does_not_know_is_one_line(need_toolchain: Callable[[str], str]) -> None:
    with pytest.raises(CaptureError, match=r"SIGABRT.*Invalid option: 'resize_scheduler'") as caught:
        capture("slice-rotate-cat", None, need_toolchain(JULY_2024), "h200", ("resize_scheduler",))
    assert "\n" not in str(caught.value)


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("name", "card", "kernel_groups", "asked"),
    [
        ("softmax-8x32768", "h200", 3, ()),
        ("softmax-8x32768", "l4", 1, ()),
        ("softmax-8192x98304", "a100", 3, ()),
        ("softmax-8192x98304", "h200", 1, ("cuOccupancyMaxActiveClusters", "cuOccupancyMaxPotentialClusterSize")),
    ],
)
def test_softmax_depends_on_the_card(
    name: str, card: str, kernel_groups: int, asked: tuple[str, ...], need_toolchain: Callable[[str], str]
) -> None:
    """A capture that hangs on an answer that the null device invents says so."""
    made = capture(name, None, need_toolchain(TODAY), card)
    assert made.fusion.count() == kernel_groups
    assert made.provenance is not None
    assert made.provenance.notes == tuple(f"the null device invented the answer of {function}" for function in asked)


def test_every_program_is_offered() -> None:
    text = (WORKLOADS / "definitions" / "cases.py").read_text("utf-8")
    written = {name.replace("_", "-") for name in re.findall(r"^def (\w+)\(define: Definition\)", text, re.MULTILINE)}
    assert written == {name for name in DEFINITIONS if not name.startswith("rope")}
