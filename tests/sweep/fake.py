"""A workload without nvFuser: small dumps by toolchain and option, and failures of each kind.

Run as a program it sweeps a folder, and is ended by SIGKILL at a moment that its arguments choose:
``python -m tests.sweep.fake FOLDER MOMENT``, before the MOMENT-th time that a file of the folder is opened, renamed,
removed, ...; 0 for never.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path

from segscope.dump import parse
from segscope.errors import CaptureError, ToolchainError
from segscope.model import Capture, ChildEnd, Provenance
from segscope.sweep import Point, product, sweep
from segscope.sweep.outputs import write_outputs
from tests.conftest import FIXTURES

OLD, MIDDLE, NEW = "nvfuser-0.2.8", "nvfuser-0.2.25.dev20250201", "nvfuser-0.2.36"
CONFIGS = ("Llama-2-13b-hf", "tiny-llama-1.1b", "phi-2", "Gemma-7b")
_DUMPS = {OLD: "E0", MIDDLE: "E1", NEW: "E5"}


def points() -> list[Point]:
    """Three toolchains, four configurations, two options."""
    return product("rope", toolchains=[NEW, OLD, MIDDLE], configs=CONFIGS, disable=["none", "resize_scheduler"])


def capture(point: Point) -> Capture:
    """Return a dump of the toolchain; phi-2 crashes after it, Gemma-7b's is cut off, and an option fails in the oldest.

    The middle toolchain cannot be had with that option.
    """
    if point.disable and point.toolchain == OLD:
        raise CaptureError(f"{point}: no such option", stderr="Invalid option")
    if point.disable and point.toolchain == MIDDLE:
        raise ToolchainError(f"{point}: no room")
    text = (FIXTURES / "eras" / f"{_DUMPS[point.toolchain]}.txt").read_text()
    if point.config == "Gemma-7b":
        text = text[: len(text) // 2]
    crashed = point.config == "phi-2"
    end = ChildEnd(outcome="crashed", signal="SIGFPE") if crashed else ChildEnd(outcome="ok", exit_code=0)
    provenance = Provenance(
        workload=point.workload,
        options={"config": point.config},
        environment={},
        toolchain=point.toolchain,
        versions={"nvfuser": "0", "torch": "0"},
        device="null",
        card=point.card,
        command=(),
        end=end,
    )
    return parse(text, str(point)).model_copy(update={"provenance": provenance})


def main(folder: str, moment: str) -> None:
    """Sweep, and write table and chart."""
    wanted = points()
    if int(moment):
        seen = count(1)

        def end_at_moment(event: str, arguments: object) -> None:
            if folder in repr(arguments) and next(seen) == int(moment):
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(end_at_moment)
    write_outputs(sweep(wanted, folder=folder, capture=capture), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
