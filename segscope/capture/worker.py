"""Runs one workload inside a toolchain.

    python worker.py WORKLOAD OPTIONS RECORD

WORKLOAD is a file, or a package's folder, with ``phases(options) -> iterable of (name, callable)``, OPTIONS a file with
a JSON object, RECORD the file to keep as a JSON record of how far it got. nvFuser prints its dump on file descriptor 1,
which must be a regular file; the record says where in it each phase begins and ends.

This file imports nothing of segscope: any Python 3.10 or later with torch, nvFuser and Thunder runs it.
"""

import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

_LINE_BUFFERED = 1


class Record:
    """How far the run got, on disk after every step, so that a crash loses nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.data: dict[str, Any] = {"versions": {"python": sys.version.split()[0]}, "phases": []}
        self.save()

    def save(self) -> None:
        """Write the record to its file, in one step."""
        partial = Path(f"{self._path}.partial")
        partial.write_text(json.dumps(self.data), encoding="utf-8")
        partial.replace(self._path)


def main() -> None:
    """Run the workload's phases, one after the other."""
    workload, options, path = sys.argv[1:]
    record = Record(path)
    libc = ctypes.CDLL(None)
    # nvFuser may end the process by a signal; whole lines must be out by then.
    libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, _LINE_BUFFERED, 0)
    try:
        _prepare(record)
        for name, run in _phases(workload)(json.loads(Path(options).read_text(encoding="utf-8"))):
            phase = {"name": name, "start": _written(libc)}
            record.data["phases"].append(phase)
            record.save()
            run()
            phase["end"] = _written(libc)
            record.save()
    except BaseException as error:
        record.data["error"] = f"{type(error).__name__}: {error}"
        record.save()
        raise


def _prepare(record: Record) -> None:
    versions = record.data["versions"]
    versions |= package_versions()
    import torch

    versions["torch"] = torch.__version__
    record.save()
    record.data["card"] = torch.cuda.get_device_name(0)
    _let_thunder_find_nvfuser()
    record.save()


def package_versions() -> dict[str, str]:
    """Return the versions of ``nvfuser`` and ``thunder`` that are installed."""
    versions = {}
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name == "nvfuser" or name.startswith("nvfuser-cu"):
            versions["nvfuser"] = distribution.version
        elif name == "lightning-thunder":
            versions["thunder"] = distribution.version
    return versions


def _let_thunder_find_nvfuser() -> None:
    """Thunder 0.2.6 asks the retired ``nvfuser`` package for a function that only ``nvfuser_direct`` still has."""
    if importlib.util.find_spec("nvfuser") or not importlib.util.find_spec("nvfuser_direct"):
        return
    import nvfuser_direct
    from nvfuser_direct import _C_DIRECT

    if not hasattr(nvfuser_direct, "compute_tensor_descriptor"):
        nvfuser_direct.compute_tensor_descriptor = _C_DIRECT.compute_tensor_descriptor
    sys.modules["nvfuser"] = nvfuser_direct


def _phases(path: str) -> Callable[[dict[str, Any]], Iterable[tuple[str, Callable[[], None]]]]:
    package = sys.modules["workloads"] = ModuleType("workloads")
    package.__path__ = [str(Path(path).parent)]
    module = importlib.import_module(f"workloads.{Path(path).stem}")
    phases: Callable[[dict[str, Any]], Iterable[tuple[str, Callable[[], None]]]] = module.phases
    return phases


def _written(libc: ctypes.CDLL) -> int:
    sys.stdout.flush()
    libc.fflush(None)
    return os.fstat(1).st_size


if __name__ == "__main__":
    main()
