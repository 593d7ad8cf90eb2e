"""Facts about tensors: the checks of tensor_checks.py, in a toolchain, on its CPU."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture import toolchain, workloads
from segscope.capture.device import choose

CHECKS = Path(__file__).with_name("tensor_checks.py")
TODAY = "nvfuser-0.2.36"


@pytest.mark.toolchain
def test_checks(need_toolchain: Callable[[str], str]) -> None:
    wanted = re.findall(r"^def (check_\w+)\(\)", CHECKS.read_text(encoding="utf-8"), re.MULTILINE)
    chain = toolchain.find(need_toolchain(TODAY))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(chain.python), str(CHECKS), str(Path(workloads.__path__[0], "executors"))]
    environment = choose("null", TODAY, "h200").environment(kept, chain)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == wanted
