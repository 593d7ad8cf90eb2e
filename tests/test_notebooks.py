"""The notebooks, run from top to bottom: with toolchains and from fixtures/ they show what is committed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

ROOT = Path(__file__).parent.parent
TOOLCHAINS: Final = {
    "01_rope_segmentation": ("nvfuser-0.2.8", "nvfuser-0.2.36"),
    "02_thunder_and_torch_compile": ("thunder-711",),
    "03_regression_asserts": ("nvfuser-0.2.8", "nvfuser-0.2.24.dev20250115", "nvfuser-0.2.25.dev20250201"),
}
LARGEST: Final = 600_000
OF_ONE_RUN: Final = re.compile(r"/home/|/root/|/tmp/|0x[0-9a-f]{6}|\x1b|\bin \d+\.\d+s\b")
"""Paths of a machine, addresses, colours, pytest's times."""
OUTER: Final = re.compile("PYTEST_|CI$|BUILD_NUMBER$|GITHUB_ACTIONS$")
"""Variables of the run of this test, for which the pytest that a notebook runs, or a plugin of it, prints more."""
REFUSED: Final = re.compile(r"(?<=trial )\d+(?= offered both as one)")
"""nvFuser 0.2.8 does not always try the same pairs in the same order."""

pytestmark = pytest.mark.parametrize("name", TOOLCHAINS)


def cells(path: Path) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def shown(path: Path) -> list[dict[str, str]]:
    """Return what each cell prints and displays, by type; of a picture only that it is there."""
    return [_shown(cell["outputs"]) for cell in cells(path)]


def _shown(outputs: list[dict[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for output in outputs:
        if output["output_type"] == "stream":
            data = {} if output["name"] == "stderr" else {"printed": output["text"]}
        else:
            data = output["data"]
        for kind, text in data.items():
            found[kind] = "" if kind == "image/png" else found.get(kind, "") + REFUSED.sub("N", "".join(text))
    return found


def run(name: str, folder: Path, home: Path | None = None) -> Path:
    """Run a copy of a notebook, in a folder like the repository, and return it; ``home`` is segscope's."""
    copy = folder / "notebooks" / f"{name}.ipynb"
    copy.parent.mkdir()
    shutil.copy(ROOT / "notebooks" / copy.name, copy)
    for beside in ("fixtures", "benchmarks"):
        (folder / beside).symlink_to(ROOT / beside)
    environment = {name: value for name, value in os.environ.items() if not OUTER.match(name)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbmake", "--overwrite", "-p", "no:cacheprovider", copy],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment | ({"SEGSCOPE_HOME": str(home)} if home else {}),
    )
    assert done.returncode == 0, done.stdout
    return copy


def test_from_fixtures_it_shows_what_is_committed(name: str, tmp_path: Path) -> None:
    """Without toolchains; and none is installed."""
    home = tmp_path / "home"
    assert shown(run(name, tmp_path, home)) == shown(ROOT / f"notebooks/{name}.ipynb")
    assert not list(home.glob("toolchains/*"))


@pytest.mark.toolchain
def test_with_toolchains_it_shows_what_is_committed(
    name: str, tmp_path: Path, need_toolchain: Callable[[str], str]
) -> None:
    for toolchain in TOOLCHAINS[name]:
        need_toolchain(toolchain)
    copy = run(name, tmp_path)
    assert shown(copy) == shown(ROOT / f"notebooks/{name}.ipynb")
    told = str([output for cell in cells(copy) for output in cell["outputs"] if output.get("name") == "stderr"])
    assert [toolchain for toolchain in TOOLCHAINS[name] if f"in {toolchain} on the null device" not in told] == []


def test_what_is_committed_is_small_and_of_no_one_run(name: str) -> None:
    path = ROOT / f"notebooks/{name}.ipynb"
    assert path.stat().st_size < LARGEST
    for cell in cells(path):
        assert cell["metadata"] == {}
        assert cell["execution_count"] is not None
        assert "error" not in {output["output_type"] for output in cell["outputs"]}
        assert not OF_ONE_RUN.search("".join(_shown(cell["outputs"]).values()))


def test_every_picture_shows_on_github(name: str) -> None:
    pictures = 0
    for output in (output for cell in cells(ROOT / f"notebooks/{name}.ipynb") for output in cell["outputs"]):
        data = output.get("data", {})
        assert "image/svg+xml" not in data
        assert "<svg" not in "".join(data.get("text/html", ""))
        if "image/png" in data:
            pictures += 1
            assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert pictures >= 2
