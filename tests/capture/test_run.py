"""What happens when a capture cannot be made, or ends badly."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture.rope import CONFIGS, capture_rope
from segscope.capture.run import Request, run
from segscope.errors import CaptureError, SegscopeError

TODAY = "nvfuser-0.2.36"
DUMP = Path(__file__).parent.parent.parent / "fixtures" / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"config": "Llama-5"}, "unknown configuration 'Llama-5'; valid: " + ", ".join(CONFIGS)),
        ({"dtype": "int8"}, "unknown dtype 'int8'; valid: bfloat16, float16, float32"),
        ({"direction": "sideways"}, "unknown direction 'sideways'; valid: forward, backward, both"),
        ({"batch": 0}, "batch 0: must be at least 1"),
        ({"sequence_length": -4}, "sequence length -4: must be at least 1"),
    ],
)
def test_unknown_arguments_list_the_valid_ones(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(SegscopeError) as caught:
        capture_rope(**arguments)  # type: ignore[arg-type]
    assert str(caught.value) == says


def test_an_unknown_toolchain_lists_the_valid_ones() -> None:
    with pytest.raises(SegscopeError, match=r"nvfuser-9.*nvfuser-0\.2\.36.*nvfuser-0\.2\.8.*current"):
        capture_rope(toolchain="nvfuser-9")


@pytest.fixture
def run_workload(tmp_path: Path, need_toolchain: Callable[[str], str]) -> Callable[..., object]:
    """Run ``body`` as the only phase of a workload in today's toolchain."""
    need_toolchain(TODAY)

    def start(body: str, timeout: float = 120) -> object:
        file = tmp_path / "workload.py"
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        file.write_text(f"import os, signal, sys\ndef phases(options):\n    def go():\n{lines}\n    yield 'all', go\n")
        request = Request(workload="test", file=file, options={})
        return run(request, toolchain=TODAY, device="null", card="h200", timeout=timeout)

    return start


PRINT = f"os.write(1, open({str(DUMP)!r}, 'rb').read())\n"


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("pass", "the child process ended well, but printed no segmented fusion"),
        ("raise RuntimeError('no luck')", "the child process failed with exit code 1: RuntimeError: no luck"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV before it printed a segmented fusion"),
    ],
)
def test_a_child_without_a_dump_is_an_error(run_workload: Callable[..., object], body: str, says: str) -> None:
    with pytest.raises(CaptureError, match=says) as caught:
        run_workload("print('something', flush=True)\n" + body)
    assert caught.value.output == "something\n"
    assert "\n" not in str(caught.value)


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("body", "outcome", "signal", "message"),
    [
        ("pass", "ok", None, None),
        ("raise RuntimeError('no luck')", "error", None, "RuntimeError: no luck"),
        ("os.kill(os.getpid(), signal.SIGABRT)", "crashed", "SIGABRT", None),
    ],
)
def test_a_child_with_a_dump_is_a_capture(
    run_workload: Callable[..., object], body: str, outcome: str, signal: str | None, message: str | None
) -> None:
    capture = run_workload(PRINT + body)
    assert capture.complete  # type: ignore[attr-defined]
    end = capture.provenance.end  # type: ignore[attr-defined]
    assert (end.outcome, end.signal, end.message) == (outcome, signal, message)


@pytest.mark.toolchain
def test_a_child_that_takes_too_long_is_ended_with_all_it_started(
    run_workload: Callable[..., object], tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    body = f"""{PRINT}
import subprocess
grandchild = subprocess.Popen(['sleep', '1000'])
open({str(pid_file)!r}, 'w').write(str(grandchild.pid))
grandchild.wait()"""
    capture = run_workload(body, timeout=15)
    end = capture.provenance.end  # type: ignore[attr-defined]
    assert (end.outcome, end.message) == ("timed out", "ended after 15 s")
    state = Path(f"/proc/{pid_file.read_text()}/stat")
    assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.toolchain
def test_the_callers_nvfuser_variables_are_not_passed_on(
    run_workload: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVFUSER_DISABLE", "resize_scheduler")
    with pytest.raises(CaptureError) as caught:
        run_workload("print(sorted(name for name in os.environ if name.startswith('NVFUSER')), flush=True)")
    assert caught.value.output == "['NVFUSER_DUMP']\n"


@pytest.mark.toolchain
def test_an_unknown_nvfuser_option_is_told_with_the_valid_ones(need_toolchain: Callable[[str], str]) -> None:
    with pytest.raises(CaptureError, match=r"bogus.*resize_scheduler") as caught:
        capture_rope(toolchain=need_toolchain(TODAY), device="null", disable=["bogus"])
    assert "\n" not in str(caught.value)


def test_this_process_never_gets_the_null_device() -> None:
    assert "SEGSCOPE_NULL_CARD" not in os.environ
    assert "libcudart" not in Path("/proc/self/maps").read_text()
