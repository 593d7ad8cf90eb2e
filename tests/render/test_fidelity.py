"""The report of ``segscope verify-device``."""

from segscope.capture.fidelity import Fidelity, Place, compare
from segscope.render.fidelity import markdown
from tests.capture.gpu_captures import gpu_capture


def test_a_report_has_a_row_for_each_workload() -> None:
    llama = gpu_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")
    off = gpu_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward")
    fidelity = Fidelity(
        card="NVIDIA H200",
        gpu=Place(toolchain="current", versions={"torch": "2.11.0"}),
        null=None,
        comparisons=(compare([llama], [llama]), compare([off], [], ["it failed | badly"])),
    )
    page = markdown(fidelity)
    assert "| GPU | current | torch 2.11.0 |" in page
    assert "2 workloads on NVIDIA H200: 1 identical, 1 failed." in page
    assert "| rope Llama-2-13b-hf forward | 4 expr_eval, 2 resize (1 run) | 4 expr_eval, 2 resize (1 run) |" in page
    assert "| 4 expr_eval, 2 pointwise (1 run) | - | failed | it failed \\| badly |" in page
    assert "* *identical*: " in page
    assert "* *different*: " not in page
    assert Fidelity.model_validate_json(fidelity.model_dump_json()) == fidelity
