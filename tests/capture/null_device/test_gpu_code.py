import ctypes
import os
from pathlib import Path

import pytest

from segscope.capture.null_device import free_gpu_code
from segscope.capture.null_device.build import CCompiler

SIZE = 4 << 20


@pytest.fixture
def library(compiler: CCompiler, tmp_path: Path) -> Path:
    """A library of torch's with 4 MiB of GPU code, between data that must stay."""
    source = tmp_path / "source.c"
    source.write_text(
        f'__attribute__((section(".nv_fatbin"))) char gpu_code[{SIZE}] = {{1}};\n'
        'char before[] = "data", after[] = "more data";\n'
    )
    made = tmp_path / "torch" / "lib" / "libtorch_cuda.so"
    made.parent.mkdir(parents=True)
    compiler.shared_library(made, source)
    with made.open("rb+") as file:  # compilers may leave holes in zeros; this has none
        text = file.read()
        start = text.index(b"\1" + bytes(1000))
        file.seek(start)
        file.write(b"\1" * SIZE)
        os.fsync(file.fileno())
    return made


def _punches_holes(folder: Path) -> bool:
    probe = folder / "probe"
    probe.write_bytes(b"\1" * 8192)
    with probe.open("rb+") as file:
        return int(ctypes.CDLL(None).fallocate64(file.fileno(), 3, ctypes.c_int64(0), ctypes.c_int64(4096))) == 0


def test_gpu_code_is_freed_and_the_library_still_loads(library: Path, tmp_path: Path) -> None:
    if not _punches_holes(tmp_path):
        assert free_gpu_code(tmp_path) == 0
        pytest.skip("this file system cannot free a part of a file")
    length = library.stat().st_size
    freed = free_gpu_code(tmp_path)
    assert SIZE - 8192 <= freed <= SIZE
    assert library.stat().st_size == length
    loaded = ctypes.CDLL(str(library))
    assert (ctypes.c_char * 4).in_dll(loaded, "before").value == b"data"
    assert (ctypes.c_char * 9).in_dll(loaded, "after").value == b"more data"
    assert (ctypes.c_char * SIZE).in_dll(loaded, "gpu_code").raw == bytes(SIZE)


def test_freeing_again_frees_nothing(library: Path, tmp_path: Path) -> None:
    free_gpu_code(tmp_path)
    assert free_gpu_code(tmp_path) == 0


def test_a_file_with_another_name_elsewhere_is_left_alone(library: Path, tmp_path: Path) -> None:
    os.link(library, tmp_path / "in_a_cache.so")
    text = library.read_bytes()
    assert free_gpu_code(tmp_path) == 0
    assert library.read_bytes() == text


def test_without_gpu_code_nothing_is_freed(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "script.so").write_text("INPUT(libc.so.6)")
    assert free_gpu_code(tmp_path) == 0
