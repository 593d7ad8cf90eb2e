"""Edits of graphs, and ablation: the checks of graph_checks.py, in toolchains, on the null device."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture import toolchain, workloads
from segscope.capture.device import choose

CHECKS = Path(__file__).with_name("graph_checks.py")
JULY_2024, TODAY = "thunder-711", "nvfuser-0.2.36"
OF_JULY_2024 = "ablation_check_rope_of_july_2024"


@pytest.mark.toolchain
@pytest.mark.parametrize("prefix", ["check", "ablation_check"])
@pytest.mark.parametrize("name", [JULY_2024, TODAY])
def test_checks(name: str, prefix: str, need_toolchain: Callable[[str], str], tmp_path: Path) -> None:
    checks = re.findall(rf"^def ({prefix}_\w+)\(\)", CHECKS.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [check for check in checks if name == JULY_2024 or check != OF_JULY_2024]
    assert len(wanted) >= 2

    chain = toolchain.find(need_toolchain(name))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TORCH", "TRITON"))}
    kept |= {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    kept |= {"TRITON_CACHE_DIR": str(tmp_path / "triton")}
    environment = choose("null", name, "h200").environment(kept, chain)
    command = [str(chain.python), str(CHECKS), str(Path(workloads.__path__[0], "executors")), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    raised = json.loads(done.stdout.splitlines()[-1])
    assert raised.keys() == set(wanted)
    assert not any(raised.values()), "\n".join(raised.values())
