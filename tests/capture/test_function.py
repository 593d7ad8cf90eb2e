"""Captures of functions and modules, and what defines them."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segscope import TensorSpec, capture_function
from segscope.capture.arguments import as_json
from segscope.capture.function import key, request
from segscope.errors import CaptureError, SegscopeError, ToolchainError
from tests.capture import programs

TODAY, JULY_2024 = "nvfuser-0.2.36", "nvfuser-0.2.8"
MODULES = Path(__file__).with_name("modules.py")
MATRIX = TensorSpec((64, 128))
HEADS = (TensorSpec((2, 8, 64)), TensorSpec((8, 64)), TensorSpec((8, 64)))
WHOLE = {"nv_enable_bookend": False}


@pytest.fixture
def capture(need_toolchain: Callable[[str], str]) -> Callable[..., Any]:
    """Capture on the null device, in today's toolchain where none is named."""

    def run(*args: Any, toolchain: str = TODAY, **options: Any) -> Any:
        return capture_function(*args, toolchain=need_toolchain(toolchain), device="null", **options)

    return run


@pytest.mark.toolchain
@pytest.mark.parametrize(("toolchain", "groups"), [(TODAY, {"resize": 1}), (JULY_2024, {"pointwise": 2})])
def test_a_function_forward_and_backward(capture: Callable[..., Any], toolchain: str, groups: dict[str, int]) -> None:
    got = capture(programs.rope, *HEADS, toolchain=toolchain, jit=WHOLE, grad=True, dump="segmenter_logging")
    forward, backward = got.fusions
    assert {name: forward.count(name) for name in groups} == groups
    assert forward.log is not None
    assert forward.complete
    assert len(backward.exprs) > len(forward.exprs)
    assert got.source == f"rope in {toolchain}"
    provenance = got.provenance
    assert provenance.end.outcome == "ok"
    assert provenance.environment == {"NVFUSER_DUMP": "segmented_fusion,segmenter_logging"}
    assert provenance.options["arguments"].count("TensorSpec(shape=(") == 3
    assert provenance.options["grad"] is True


@pytest.mark.toolchain
@pytest.mark.parametrize("toolchain", [TODAY, JULY_2024])
def test_a_module_made_by_a_function(capture: Callable[..., Any], toolchain: str) -> None:
    got = capture(programs.make_block, TensorSpec((4, 64)), init={"size": 64}, grad=True, toolchain=toolchain)
    assert got.fusions[0].count("inner_persistent") == 1
    assert len(got.fusions) == 2


@pytest.mark.toolchain
def test_a_class_of_a_file_and_strides(capture: Callable[..., Any]) -> None:
    turned = TensorSpec((64, 64), stride=(1, 64))
    got = capture(f"{MODULES}:Scaled", turned, init=(3.0,))
    assert got.fusion.count("reduction") == 1
    assert got.provenance.workload == "modules.py:Scaled"
    assert "  allocation domain: (iS2{64}, iS1{64})" in got.dump.splitlines()
    assert str(MODULES.parent) not in got.provenance.model_dump_json()


@pytest.mark.toolchain
def test_a_module_by_its_import_name(capture: Callable[..., Any]) -> None:
    got = capture("tests.capture.modules:Scaled", TensorSpec((64, 64)))
    assert got.fusion.count("reduction") == 1


@pytest.mark.toolchain
def test_a_function_of_its_own_fusion(capture: Callable[..., Any]) -> None:
    got = capture(defines_a_fusion, TensorSpec((16, 32), "float32"), jit=None)
    assert got.fusion.count("pointwise") == 1


def defines_a_fusion(x: Any) -> Any:
    from nvfuser_direct import FusionDefinition

    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.neg(t0))
    return fd.execute([x])


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("fn", "options", "says"),
    [
        ("tests.capture.nowhere:f", {}, "ModuleNotFoundError: No module named 'tests.capture.nowhere'"),
        (f"{MODULES}:Nothing", {}, "AttributeError: module 'modules' has no attribute 'Nothing'"),
        (programs.plain, {}, "TypeError: .*missing 1 required positional argument"),
    ],
)
def test_what_fails_over_there_is_one_line(
    capture: Callable[..., Any], fn: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(CaptureError, match=says) as caught:
        capture(fn, MATRIX, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.toolchain
def test_what_a_file_imports_has_to_be_in_the_toolchain(capture: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import hypothesis\ndef f(x):\n    return x + 1\n")
    says = "No module named 'hypothesis': what defines the function is imported where .*; keep it in a file of its own"
    with pytest.raises(CaptureError, match=says):
        capture(f"{tmp_path / 'own.py'}:f", MATRIX)


@pytest.mark.parametrize(
    ("fn", "args", "says"),
    [
        ("rope", (), '\'rope\': must be "file.py:name" or "package.module:name"'),
        ("nowhere.py:f", (), "nowhere.py: no such file"),
        (
            programs.plain,
            (MATRIX, object()),
            "argument 2 of plain: object cannot be passed to another process; valid:",
        ),
        (programs.Block().forward, (), 'a method cannot be captured: give a function, a class, or "file.py:name"'),
        (lambda x: x, (), "a lambda cannot be captured"),
        (
            programs.plain,
            ((4, 8),),
            r"argument 1 of plain: \(4, 8\) is no tensor, .*give segscope.TensorSpec\(\(4, 8\)\)",
        ),
        (programs.plain, (2.0, [64]), r"argument 2 of plain: \[64\] is no tensor, .*TensorSpec\(\(64,\)\)"),
    ],
)
def test_what_cannot_travel(fn: Any, args: tuple[object, ...], says: str) -> None:
    with pytest.raises(SegscopeError, match=says) as caught:
        capture_function(fn, *args, toolchain=TODAY)
    assert "\n" not in str(caught.value)


def test_thunder_is_needed_unless_the_function_goes_without() -> None:
    with pytest.raises(ToolchainError, match=r"toolchain nvfuser-0\.2\.0\.dev20240316 has no Thunder"):
        request(programs.plain, MATRIX, 1.0, toolchain="nvfuser-0.2.0.dev20240316")
    request(programs.plain, MATRIX, 1.0, toolchain="nvfuser-0.2.0.dev20240316", jit=None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"shape": (2,), "dtype": "bf16"}, "TensorSpec: unknown dtype 'bf16'; valid: bfloat16"),
        ({"shape": (-2,)}, r"TensorSpec: shape \(-2,\): must not be negative"),
        ({"shape": 2}, "TensorSpec: shape 2: must be whole numbers"),
        ({"shape": (2, 3), "stride": (1,)}, "TensorSpec: 2 dimensions, but 1 strides"),
    ],
)
def test_specs_are_checked(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(SegscopeError, match=says):
        TensorSpec(**arguments)


def test_specs_are_equal_by_value() -> None:
    assert TensorSpec([2, 3], "torch.float32") == TensorSpec((2, 3), "float32")  # type: ignore[arg-type]
    assert len({TensorSpec([2, 3]), TensorSpec((2, 3))}) == 1


OTHERS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (programs.with_modules, (MATRIX, MATRIX), {}),
    (programs.plain, (MATRIX, TensorSpec((64, 128), stride=(1, 64))), {}),
    (programs.plain, (MATRIX, TensorSpec((64, 128), requires_grad=True)), {}),
    (programs.plain, (MATRIX, [MATRIX]), {}),
    (programs.plain, (MATRIX, 1), {}),
    (programs.plain, (MATRIX, 1.0), {}),
    (programs.plain, (MATRIX, MATRIX), {"grad": True}),
    (programs.plain, (MATRIX, MATRIX), {"disable": "resize_scheduler"}),
    (programs.plain, (MATRIX, MATRIX), {"dump": ["segmenter_logging"]}),
    (programs.plain, (MATRIX, MATRIX), {"jit": WHOLE}),
    (programs.plain, (MATRIX, MATRIX), {"jit": None}),
    (programs.plain, (MATRIX, MATRIX), {"init": ()}),
    (programs.plain, (MATRIX, MATRIX), {"toolchain": JULY_2024}),
    (programs.plain, (MATRIX, MATRIX), {"card": "a100"}),
    (programs.plain, (MATRIX, MATRIX), {"device": "null"}),
]


def test_the_key_is_what_defines_a_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = key(programs.plain, MATRIX, MATRIX)
    assert key(programs.plain, MATRIX, TensorSpec([64, 128]), toolchain=TODAY) == base
    keys = [key(fn, *args, **options) for fn, args, options in OTHERS]
    assert len({base, *keys}) == len(OTHERS) + 1
    monkeypatch.syspath_prepend(str(tmp_path))
    assert key(programs.plain, MATRIX, MATRIX) == base


def test_the_key_knows_what_a_function_uses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = key(programs.rope, *HEADS)
    monkeypatch.setattr(programs, "SCALE", 0.25)
    assert key(programs.rope, *HEADS) != before
    file = tmp_path / "program.py"
    file.write_text("def f(x): return x + 1\n")
    first = key(f"{file}:f", MATRIX)
    file.write_text("def f(x): return x + 2\n")
    assert key(f"{file}:f", MATRIX) != first


@pytest.mark.parametrize(
    ("args", "options"),
    [((MATRIX, (64, 128)), {}), (((64, 128), {"x": [MATRIX]}), {}), (((64, 128),), {"jit": None}), ((3, ()), {})],
)
def test_sizes_are_arguments_beside_a_tensor(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    assert request(programs.plain, *args, **options).carried["given"] == as_json(list(args))


def test_an_installed_function_goes_by_its_name() -> None:
    assert request(textwrap.dedent, "x").options["function"] == "textwrap:dedent"


def test_a_request_says_what_is_run() -> None:
    asked = request(programs.plain, MATRIX, {"a": [1, None]}, init=None, grad=True)
    assert asked.options == {
        "function": "plain",
        "source": asked.options["source"],
        "arguments": f"{MATRIX!r}, {{'a': [1, None]}}",
        "init": None,
        "jit": "{}",
        "grad": True,
    }
