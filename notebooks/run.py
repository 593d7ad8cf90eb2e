"""Run the notebooks and keep their outputs, made small: ``python notebooks/run.py [NOTEBOOK...]``."""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

HERE = Path(__file__).parent
COLOURS = 64


def run(path: Path) -> None:
    """Run a notebook in its folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        if cell.cell_type == "code":
            cell.outputs = [small(output) for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, path)


def small(output: NotebookNode) -> NotebookNode:
    """Leave an output as it is, but for its pictures, which get few colours."""
    if picture := output.get("data", {}).get("image/png"):
        written = BytesIO()
        Image.open(BytesIO(b64decode(picture))).convert("RGB").quantize(COLOURS).save(written, "png", optimize=True)
        output["data"]["image/png"] = b64encode(written.getvalue()).decode()
    return output


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(HERE.glob("*.ipynb")):
        run(Path(name).absolute())
