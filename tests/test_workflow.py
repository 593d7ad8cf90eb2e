"""GitHub's workflow does what ``.ci/run`` does, and may do no more than read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parent.parent


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-1] == ".ci/run"
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    assert not any("pytest" in command or "make" in command for command in commands)
    assert workflow["permissions"] == {"contents": "read"}
    assert job["timeout-minutes"] >= 60
