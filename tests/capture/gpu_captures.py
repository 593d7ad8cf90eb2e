"""Captures of a real H200, made of the dumps in fixtures/ and of what is known of their runs."""

import re

from segscope.capture.rope import rope_options
from segscope.dump import parse
from segscope.model import Capture, ChildEnd, Provenance
from tests.conftest import FIXTURES

ROPE = re.compile(r"h200_0\.2\.36_(?P<config>.+)_bookend(?P<bookend>\d)(?P<off>_resize-off)?_(?P<direction>[a-z+]+)")
NVFUSER = "0.2.36.dev20260301"


def gpu_capture(name: str, *, card: str = "NVIDIA H200", nvfuser: str = NVFUSER) -> Capture:
    """The capture that ``capture_rope`` would have returned of the run whose dump is ``fixtures/<name>.txt``."""
    known = ROPE.fullmatch(name)
    assert known
    options = rope_options(known["config"], batch=2, sequence_length=None, dtype="bfloat16")
    direction = "forward" if known["direction"] == "forward" else "both"
    environment = {"NVFUSER_DUMP": "segmented_fusion"}
    if known["off"]:
        environment["NVFUSER_DISABLE"] = "resize_scheduler"
    provenance = Provenance(
        workload="rope",
        options=options | {"direction": direction, "bookend": known["bookend"] == "1"},
        environment=environment,
        toolchain="current",
        versions={"torch": "2.11.0+cu130", "nvfuser": nvfuser, "thunder": "0.2.6"},
        device="cuda",
        card=card,
        command=("python", "worker.py", "rope.py", "options.json", "record.json"),
        end=ChildEnd(outcome="ok", exit_code=0),
    )
    text = (FIXTURES / f"{name}.txt").read_text()
    return parse(text, "rope in current").model_copy(update={"provenance": provenance, "dump": text})
