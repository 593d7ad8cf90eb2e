"""Lines of other programs are known, and no line of nvFuser is taken for one."""

from pathlib import Path

import pytest

from segscope.dump.foreign import HEADINGS, foreign, heading
from tests.conftest import DUMPS

PYTEST = """
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0 -- /usr/bin/python3
cachedir: .pytest_cache
rootdir: /home/user/lightning-thunder
configfile: pyproject.toml
plugins: xdist-3.6.1, anyio-4.4.0
collecting ... collected 12 items
collected 12 items / 3 deselected / 9 selected
tests/test_rope.py::test_rope[phi-2-cuda] PASSED                         [ 50%]
tests/test_rope.py::test_rope[phi-2-cuda]
tests/test_rope.py .F..                                                  [ 12%]
tests/test_rope.py .
....F.s.                                                                 [100%]
.
PASSED
PASSED                                                                   [ 50%]
FAILED tests/test_rope.py::test_rope[phi-2] - AssertionError: assert 6 == 2
SKIPPED [1] tests/test_rope.py:12: needs a GPU
[gw0] [ 50%] PASSED tests/test_rope.py::test_rope
=================================== FAILURES ===================================
________________________________ test_rope[phi-2] ______________________________
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
>       assert count == 2
E       AssertionError: assert 6 == 2
tests/test_rope.py:12: AssertionError
----------------------------- Captured stdout call -----------------------------
------------------------------ Captured log setup ------------------------------
=============================== warnings summary ===============================
-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html
=========================== short test summary info ============================
!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!
================== 1 failed, 11 passed, 2 warnings in 12.34s ===================
========================= 3 passed in 61.00s (0:01:01) =========================
1 passed in 0.12s
"""
OTHERS = {
    "warning": """
/usr/lib/python3.12/site-packages/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.
UserWarning: deprecated
  warnings.warn(
""",
    "torch": """
[W722 12:34:56.123456789 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed
[W socket.cpp:697] [c10d] The client socket has failed to connect
W0722 12:34:56.789000 140 torch/distributed/run.py:779] Setting OMP_NUM_THREADS
Setting OMP_NUM_THREADS environment variable for each process to be 1 in default
*****************************************
""",
    "nccl": "node1:1234:5678 [0] NCCL INFO Bootstrap : Using eth0\nNCCL version 2.20.5+cuda12.4\n",
    "progress": """
 50%|#####     | 5/10 [00:01<00:01,  4.98it/s]
Loading: 100%|██████████| 2/2 [00:00<00:00, 12.34it/s]
8it [00:01, 5.53it/s]
""",
    "traceback": """
Traceback (most recent call last):
  File "/home/user/rope.py", line 12, in <module>
RuntimeError: INTERNAL ASSERT FAILED
torch.cuda.OutOfMemoryError: CUDA out of memory.
AssertionError
    ^^^^^^^^^^^
frame #1: nvfuser::nvfCheckFail(char const*) + 0x5e (0x7f in libnvfuser.so)
""",
    "crash": """
Segmentation fault (core dumped)
run.sh: line 3: 12345 Floating point exception(core dumped) python rope.py
terminate called after throwing an instance of 'nvfuser::nvfError'
  what():  x
srun: error: node1: task 0: Aborted
""",
    "log": "INFO:root:hello\nWARNING something\n[INFO] x\n",
    "ci": "##[group]Run pytest\n::error file=x.py::bad\n",
}
EXAMPLES = [
    (kind, line) for kind, text in {"pytest": PYTEST, **OTHERS}.items() for line in text.strip("\n").split("\n")
]


@pytest.mark.parametrize(("kind", "line"), EXAMPLES)
def test_lines_of_other_programs_are_known(kind: str, line: str) -> None:
    assert foreign(line) == kind


def nvfuser_lines(path: Path) -> list[str]:
    """The lines up to the last dump; after it stand the workload's own."""
    text = path.read_text()
    return text[: text.rindex("} //Segmented_Fusion")].split("\n")


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_no_line_of_nvfuser_is_foreign(path: Path) -> None:
    assert [line for line in nvfuser_lines(path) if foreign(line)] == []


@pytest.mark.parametrize(
    "line", ["", "}", "(12)", "  T0_g_float[iS0{2}]", "T1 is not a test.", "===== Resize Parameters ========"]
)
def test_a_line_of_a_dump_is_not_foreign(line: str) -> None:
    assert foreign(line) is None


@pytest.mark.parametrize("known", HEADINGS)
def test_a_heading_is_found_behind_an_open_line(known: str) -> None:
    for before in ("", ".", "tests/test_rope.py .", "tests/test_rope.py::test_rope[phi-2] ", "100%|##| 2/2 [00:01]"):
        for behind in ("", " ", "\t"):
            assert heading(before + known + behind) == known
    assert heading(known[:-1]) == ""
    assert heading(known + " not found") == ""


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_headings_of_real_dumps_are_found(path: Path) -> None:
    found = [heading(line) for line in nvfuser_lines(path)]
    assert found.count("Segmented_Fusion Dump: -- fusion segments:") == path.read_text().count("-- fusion segments:")
