"""Files that are there whole or not at all."""

import os
from pathlib import Path


def write_in_one_step(path: Path, content: bytes) -> None:
    """Write a file so that it is never there in part, even if the machine stops. OSError where that cannot be."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
