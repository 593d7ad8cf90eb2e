"""Stand-ins for the libraries that a tiny wheel, compiled here, links to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from segscope.capture.null_device.build import CCompiler
from segscope.capture.null_device.stand_ins import stand_ins

# What the tiny wheel calls of each library, by the version that the library gives its symbols.
CUDA = {
    "libcublas.so.12": {"libcublas.so.12": ["cublasCreate_v2", "cublasSgemm_v2"]},
    "libcudnn.so.9": {"libcudnn.so.9": ["cudnnGetVersion"], "libcudnn_more.so.9": ["cudnnSetStream"]},
    "libcusparse.so.12": {"libcusparse.so.12": ["cusparseDestroy"]},
    "libcusparseLt.so.0": {"": ["cusparseLtInit"]},
    "libnccl.so.2": {"": ["ncclAllReduce"]},
    "libcudart.so.12": {"libcudart.so.12": ["cudaMalloc"]},
    "libnvrtc.so.12": {"libnvrtc.so.12": ["nvrtcVersion"]},
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def compiled(compiler: CCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CUDA in ``cuda`` and a site-packages whose torch links to all of it."""
    folder = tmp_path_factory.mktemp("compiled")
    cuda, lib = folder / "cuda", folder / "site-packages" / "torch" / "lib"
    cuda.mkdir()
    lib.mkdir(parents=True)
    source, script = folder / "source.c", folder / "versions.map"
    for library, versions in CUDA.items():
        symbols = [symbol for group in versions.values() for symbol in group]
        source.write_text("".join(f"int {symbol}(void) {{ return 1; }}\n" for symbol in symbols))
        script.write_text("".join(f"{node} {{ global: {'; '.join(group)}; }};\n" for node, group in versions.items()))
        options = [] if "" in versions else [f"-Wl,--version-script={script}"]
        compiler.shared_library(cuda / library, source, *options)
    calls = [symbol for versions in CUDA.values() for group in versions.values() for symbol in group]
    source.write_text("".join(f"int {c}(void *);\nint torch_{c}(void *p) {{ return {c}(p); }}\n" for c in calls))
    compiler.shared_library(lib / "libtorch_cuda.so", source, "-Wl,--no-as-needed", *(cuda / name for name in CUDA))
    (lib / "libnot_elf.so").write_text("/* a linker script */ INPUT(libc.so.6)")
    return folder


@pytest.fixture
def site_packages(compiled: Path, tmp_path: Path) -> Path:
    """A site-packages whose torch links to all of CUDA, none of which is installed; CUDA lies beside it."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    # The null device provides these two. Here the tiny torch's own are good enough.
    (tmp_path / "own").mkdir()
    for library in ("libcudart.so.12", "libnvrtc.so.12"):
        (tmp_path / "cuda" / library).rename(tmp_path / "own" / library)
    return tmp_path / "site-packages"


def call(site_packages: Path, function: str, *installed: Path, trace: bool = False) -> subprocess.CompletedProcess[str]:
    """Load the tiny torch in a child, call one function with a pointer, print the result and whether that was set.

    ``installed`` are folders that the child searches too.
    """
    script = f"""
import ctypes
pointer = ctypes.c_void_p(1)
torch = ctypes.CDLL({str(site_packages / "torch/lib/libtorch_cuda.so")!r}, mode={os.RTLD_NOW})
print(torch.torch_{function}(ctypes.byref(pointer)), pointer.value != 1)
"""
    search = [stand_ins(site_packages), site_packages.parent / "own", *installed]
    variables = {"LD_LIBRARY_PATH": ":".join(map(str, search)), "SEGSCOPE_NULL_TRACE": str(int(trace))}
    return subprocess.run([sys.executable, "-c", script], env=os.environ | variables, capture_output=True, text=True)


def libraries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if ".so" in path.name and path.suffix not in (".c", ".map")}


def test_what_is_missing_is_made_but_for_what_the_null_device_provides(site_packages: Path) -> None:
    assert libraries(stand_ins(site_packages)) == set(CUDA) - {"libcudart.so.12", "libnvrtc.so.12"}


@pytest.mark.parametrize(
    ("function", "printed"),
    [
        ("cublasSgemm_v2", "0 False\n"),
        ("cublasCreate_v2", "0 True\n"),
        ("cudnnGetVersion", "91002 False\n"),
        ("cudnnSetStream", "0 False\n"),
        ("cusparseLtInit", "0 False\n"),
    ],
)
def test_libraries_that_a_matrix_product_asks_answer_success(site_packages: Path, function: str, printed: str) -> None:
    done = call(site_packages, function)
    assert (done.stdout, done.stderr) == (printed, "")


def test_any_other_library_ends_the_process_with_its_name(site_packages: Path) -> None:
    done = call(site_packages, "ncclAllReduce")
    assert done.returncode < 0
    assert done.stderr == "segscope stand-in: ncclAllReduce was called, and libnccl.so.2 is not installed\n"


def test_trace_names_the_call(site_packages: Path) -> None:
    assert call(site_packages, "cublasSgemm_v2", trace=True).stderr == "segscope stand-in: cublasSgemm_v2\n"


def test_installed_libraries_are_left_to_the_wheels(site_packages: Path) -> None:
    before = stand_ins(site_packages)
    installed = site_packages / "nvidia" / "nccl" / "lib"
    installed.mkdir(parents=True)
    (site_packages.parent / "cuda" / "libnccl.so.2").rename(installed / "libnccl.so.2")
    after = stand_ins(site_packages)
    assert libraries(before) - libraries(after) == {"libnccl.so.2"}
    assert call(site_packages, "ncclAllReduce", installed).stdout == "1 False\n"


def test_libraries_that_a_wheel_carries_are_not_made(site_packages: Path) -> None:
    (site_packages.parent / "cuda" / "libcudnn.so.9").rename(site_packages / "torch/lib/libcudnn.so.9")
    assert "libcudnn.so.9" not in libraries(stand_ins(site_packages))


def test_stand_ins_are_made_once_and_again_when_a_wheel_changes(site_packages: Path) -> None:
    first = stand_ins(site_packages)
    assert stand_ins(site_packages) == first
    os.utime(site_packages / "torch/lib/libtorch_cuda.so", ns=(1, 1))
    assert stand_ins(site_packages) != first


def test_without_wheels_nothing_is_made(compiler: CCompiler, tmp_path: Path) -> None:
    assert list(stand_ins(tmp_path).iterdir()) == []
