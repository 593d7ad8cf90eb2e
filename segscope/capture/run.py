"""Run a workload in a toolchain's child process and make a capture of what it printed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from segscope import __version__, dump
from segscope.capture import child
from segscope.capture.complaint import complaint
from segscope.capture.device import Device, choose
from segscope.capture.processes import signals_raise
from segscope.capture.toolchain import Toolchain, default_name, ensure, state
from segscope.errors import CaptureError, NoDumpError
from segscope.model import Capture, ChildEnd, Provenance

_WORKER: Final = Path(__file__).with_name("worker.py")
_INVENTED: Final = "segscope null device: invented answer: "
_STDERR_TAIL: Final = 4000


@dataclass(frozen=True)
class Request:
    """What to run."""

    workload: str
    file: Path
    """A file, or a package's folder, with ``phases(options)``; see worker.py."""
    options: dict[str, str | int | bool | None]
    phases: tuple[str, ...] | None = None
    """The phases whose dump is wanted; None for all."""
    disable: tuple[str, ...] = ()
    enable: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    """What nvFuser is to print besides the segmented fusion."""
    carried: dict[str, Any] = field(default_factory=dict)
    """More options for the workload, as JSON, which the provenance leaves out: a program's text, places."""

    @property
    def key(self) -> str:
        """A digest of what is run, as far as the options define it: equal for requests that ask for the same."""
        facts = (self.workload, self.options, self.phases, self.environment)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def environment(self) -> dict[str, str]:
        """The ``NVFUSER_*`` variables of the child; those of the caller's own environment are not passed on."""
        variables = {"NVFUSER_DUMP": ",".join(dict.fromkeys(("segmented_fusion", *self.dump)))}
        if self.disable:
            variables["NVFUSER_DISABLE"] = ",".join(self.disable)
        if self.enable:
            variables["NVFUSER_ENABLE"] = ",".join(self.enable)
        return variables


@dataclass(frozen=True)
class Finished:
    """A request that was run."""

    chain: Toolchain
    device: Device
    record: Mapping[str, Any]
    """What worker.py recorded; empty where the child did not get that far."""
    stdout: bytes
    stderr: str
    end: ChildEnd


def run(request: Request, *, toolchain: str | None, device: str, card: str, timeout: float) -> Capture:
    """Run the request in a child process and parse what it printed on file descriptor 1.

    Raises ToolchainError, DeviceError, or, where the child printed no segmented fusion, CaptureError.
    """
    finished = execute(request, toolchain=toolchain, device=device, card=card, timeout=timeout)
    record, end = finished.record, finished.end
    text = printed(finished.stdout, record, request.phases)
    source = f"{request.workload} in {finished.chain.name}"
    try:
        parsed = dump.parse(text, source)
    except NoDumpError:
        raise CaptureError(_no_dump(source, end), output=text, stderr=finished.stderr) from None
    chosen = finished.device
    provenance = Provenance(
        workload=request.workload,
        options=request.options,
        environment=request.environment,
        toolchain=finished.chain.name,
        versions={"segscope": __version__, **record.get("versions", {})},
        device=chosen.kind,
        card=record.get("card") or (chosen.card.name if chosen.card else ""),
        command=("python", _WORKER.name, request.file.name, "options.json", "record.json"),
        end=end,
        notes=_notes(finished.stderr),
    )
    return parsed.model_copy(update={"provenance": provenance, "dump": text})


def execute(request: Request, *, toolchain: str | None, device: str, card: str, timeout: float) -> Finished:
    """Run the request in a child process, however that ends.

    Raises ToolchainError, DeviceError, or CaptureError for a time limit that is none.
    """
    if not timeout > 0:
        raise CaptureError(f"time limit {timeout:g} s: must be more than 0")
    chain_name = toolchain or default_name()
    state(chain_name)
    chosen = choose(device, chain_name, card)
    chain = ensure(chain_name)
    print(f"segscope: {request.workload} in {chain.name} on {chosen.what}", file=sys.stderr)
    environment = chosen.environment(_inherited(chain), chain) | request.environment
    with signals_raise(), tempfile.TemporaryDirectory(prefix="segscope-") as name:
        folder = Path(name)
        record_file, options_file = folder / "record.json", folder / "options.json"
        options = request.options | request.carried | {"inductor": chain.inductor}
        options_file.write_text(json.dumps(options), encoding="utf-8")
        command = [str(chain.python), str(_WORKER), str(request.file), str(options_file), str(record_file)]
        ended = child.run(command, environment, folder, timeout)
        record: dict[str, Any] = json.loads(record_file.read_text()) if record_file.exists() else {}
    end = _end(ended, record, timeout, chain)
    return Finished(chain, chosen, record, ended.stdout, ended.stderr, end)


def _inherited(chain: Toolchain) -> dict[str, str]:
    """Return the caller's environment without what would change the dump, or lead a managed toolchain elsewhere."""
    dropped = ("NVFUSER_", "PYTORCH_NVFUSER_") + (("PYTHON",) if chain.managed else ())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    if ignored := sorted(name for name in os.environ if name.startswith("NVFUSER_")):
        print(f"segscope: {', '.join(ignored)} of your environment does not count here: use options", file=sys.stderr)
    return kept | ({"PYTHONNOUSERSITE": "1"} if chain.managed else {})


def printed(stdout: bytes, record: Mapping[str, Any], phases: Sequence[str] | None) -> str:
    """Return the output of the wanted phases; one that did not end reaches to the end of the output."""
    if phases is not None:
        spans = [(p["start"], p.get("end", len(stdout))) for p in record.get("phases", ()) if p["name"] in phases]
        stdout = b"".join(stdout[start:end] for start, end in spans)
    return stdout.decode("utf-8", errors="replace")


def _end(ended: child.Ended, record: Mapping[str, Any], timeout: float, chain: Toolchain) -> ChildEnd:
    message = complaint(record.get("error"), ended.stderr)
    if ended.timed_out:
        outcome, message = "timed out", f"ended after {timeout:g} s"
    elif ended.signal:
        outcome = "crashed"
    elif ended.exit_code:
        outcome = "error"
    else:
        outcome, message = "ok", None
    return ChildEnd.model_validate(
        {
            "outcome": outcome,
            "exit_code": ended.exit_code,
            "signal": None if ended.timed_out else ended.signal,
            "message": message,
            "stderr_tail": "" if outcome == "ok" else _without_places(ended.stderr[-_STDERR_TAIL:], chain),
        }
    )


def _without_places(text: str, chain: Toolchain) -> str:
    """Return text without the folders of this machine that a reader elsewhere has no use for."""
    home = os.environ.get("HOME", "").rstrip("/") or "~"
    return text.replace(str(chain.site_packages), "<site-packages>").replace(f"{home}/", "~/")


def _no_dump(source: str, end: ChildEnd) -> str:
    how = {
        "ok": "ended well, but printed no segmented fusion",
        "error": f"failed with exit code {end.exit_code}",
        "crashed": f"was ended by {end.signal} before it printed a segmented fusion",
        "timed out": f"was {end.message}, before it printed a segmented fusion",
    }[end.outcome]
    return f"{source}: the child process {how}" + (
        f": {end.message}" if end.message and end.outcome in ("error", "crashed") else ""
    )


def _notes(stderr: str) -> tuple[str, ...]:
    invented = {line.removeprefix(_INVENTED) for line in stderr.splitlines() if line.startswith(_INVENTED)}
    return tuple(f"the null device invented the answer of {name}" for name in sorted(invented))
