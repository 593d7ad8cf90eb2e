"""Which kernels a call launches, by the null device's log and by a profiler's trace."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segscope.capture import null_device, workloads
from segscope.capture.null_device.build import c_compiler
from segscope.capture.run import Request, execute
from segscope.errors import DeviceError

LOAD = f"""
import ctypes, importlib, json, os, sys, types
package = sys.modules["executors_alone"] = types.ModuleType("executors_alone")
package.__path__ = [{str(Path(workloads.__path__[0], "executors"))!r}]
launches = importlib.import_module("executors_alone.launches")
launched = launches.launched
"""
"""Loads launches.py without the package around it, which needs torch."""


@pytest.fixture(scope="module")
def launches() -> Any:
    loaded: dict[str, Any] = {}
    exec(LOAD, loaded)
    return loaded["launches"]


@pytest.fixture
def on_null_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Run Python that prints JSON in a process that has the null device."""
    try:
        c_compiler()
    except DeviceError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "no wheels").mkdir()
    variables = os.environ | null_device.environment(tmp_path / "no wheels", null_device.card("h200"))

    def run(script: str) -> Any:
        command = [sys.executable, "-c", LOAD + script]
        return json.loads(subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=True).stdout)

    return run


def test_the_null_device_tells_the_kernels_of_a_call(on_null_device: Callable[[str], Any]) -> None:
    said = on_null_device("""
cuda = ctypes.CDLL(None)
getattr(cuda, "__cudaRegisterFunction")(None, ctypes.c_void_p(16), None, b"_ZN2at6native4fillIfEEvPT_i")
functions = [ctypes.c_void_p() for _ in range(2)]
for function, name in zip(functions, (b"triton_poi_fused_add_0", b"CudaCodeGen::nvfuser_resize_f0_c1_r0_g2")):
    cuda.cuModuleGetFunction(ctypes.byref(function), None, name)
def call():
    cuda.cuLaunchKernel(functions[1])
    cuda.cudaLaunchKernel(ctypes.c_void_p(16))
    cuda.cuLaunchKernelEx(None, functions[0])
def fail():
    call()
    raise KeyError
said = [launched(call), launched(lambda: None)]
try:
    launched(fail)
except KeyError:
    said.append("failed")
call()
print(json.dumps([*said, launched(lambda: cuda.cuLaunchKernel(functions[0]))]))
""")
    names = ["nvfuser_resize_f0_c1_r0_g2", "void at::native::fill<float>(float*, int)", "triton_poi_fused_add_0"]
    assert said == [names, [], "failed", ["triton_poi_fused_add_0"]]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("triton_poi_fused_cat_0", "triton_poi_fused_cat_0"),
        ("_ZN2at6native3addEi", "at::native::add(int)"),
        ("_Zwhat", "_Zwhat"),
        ("i", "i"),
        ("(anonymous namespace)::nvfuser_none_f0_c0_r0_g0(Tensor<float, 1, 1>)", "nvfuser_none_f0_c0_r0_g0"),
        ("_ZN11CudaCodeGen29nvfuser_pointwise_f0_c1_r0_g1ENS_6TensorE", "nvfuser_pointwise_f0_c1_r0_g1"),
        ("void at::native::copy<nv_bfloat16>(int)", "void at::native::copy<nv_bfloat16>(int)"),
    ],
)
def test_kernels_go_by_the_same_name_on_both_devices(launches: Any, symbol: str, name: str) -> None:
    assert launches.kernel_name(symbol) == name


def test_a_profilers_trace_is_cut_down_to_what_the_gpu_did(launches: Any) -> None:
    trace = {
        "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "late", "ts": 30.25, "dur": 1.5, "args": {"correlation": 3}},
            {"ph": "X", "cat": "kernel", "name": "early", "ts": 10.5, "dur": 2.0, "args": {"correlation": 1}},
            {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "ts": 20, "dur": 4},
            {"ph": "X", "cat": "gpu_user_annotation", "name": "a range", "ts": 10.5, "dur": 20},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 9, "dur": 1},
            {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "ts": 29, "dur": 1},
            {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "ts": 1, "dur": 1},
            {"ph": "M", "name": "process_name", "ts": 0, "args": {"name": "python"}},
        ]
    }
    assert [(work.name, work.start, work.end) for work in launches.gpu_work(trace)] == [
        ("early", 10.5, 12.5),
        ("Memcpy DtoD (Device -> Device)", 20, 24),
        ("late", 30.25, 31.75),
    ]


WORKLOAD = (
    LOAD
    + """
def phases(options):
    os.environ |= {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES": "1"}
    os.environ |= {name: options["folder"] for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")}
    import thunder, torch
    from thunder.executors.nvfuserex import nvfuserex
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    CachingAutotuner.bench = lambda self, *arguments, **options: 0.0
    x = torch.ones(64, 64, device="cuda", requires_grad=True)
    def add(x):
        return (x + 1) * 2
    calls = {
        "eager": lambda: add(x),
        "copy": lambda: x.detach().cpu(),
        "backward": lambda: torch.autograd.grad(add(x), x, torch.empty_like(x)),
        "torch.compile": lambda: compiled(x.detach()),
        "nvfuser": lambda: fused(x.detach()),
    }
    compiled, fused = torch.compile(add), thunder.jit(add, executors=[nvfuserex])
    def run():
        for call in calls.values():
            call()
        with open(options["answer"], "w") as answer:
            json.dump({name: launched(call) for name, call in calls.items()}, answer)
    yield "all", run
"""
)


@pytest.mark.toolchain
@pytest.mark.parametrize("toolchain", ["nvfuser-0.2.36", "nvfuser-0.2.8"])
def test_kernels_of_each_executor(tmp_path: Path, need_toolchain: Callable[[str], str], toolchain: str) -> None:
    file, answer = tmp_path / "workload.py", tmp_path / "answer.json"
    file.write_text(WORKLOAD)
    request = Request("test", file, {"answer": str(answer), "folder": str(tmp_path)})
    finished = execute(request, toolchain=need_toolchain(toolchain), device="null", card="h200", timeout=300)
    assert finished.end.outcome == "ok", finished.stderr
    said = json.loads(answer.read_text())
    plus, times = said["eager"]
    assert plus.startswith("void at::native::vectorized_elementwise_kernel<")
    assert "CUDAFunctor" in plus
    assert "MulFunctor" in times
    assert said["copy"] == []
    assert said["backward"][:2] == [plus, times]
    assert len(said["backward"]) == 3
    assert said["torch.compile"] == ["triton_poi_fused_add_mul_0"]
    assert said["nvfuser"] == ["nvfuser_pointwise_f0_c1_r0_g0"]
