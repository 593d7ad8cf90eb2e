"""The fixture ``segscope``."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from segscope import asserts, dump
from segscope.capture import toolchain
from segscope.capture.arguments import TensorSpec
from segscope.capture.device import gpu_present
from segscope.errors import CaptureError, ToolchainError
from segscope.model import Capture, SegmentedFusion
from segscope.testing.captures import Captures

if TYPE_CHECKING:
    from segscope.capture.recording import Recording

__tracebackhide__ = True


class Segscope:
    """Captures for a test, and the assertions.

    What ``capture`` and ``rope`` return is made once in a session; ``segscope.capture_function`` and
    ``segscope.capture_rope`` run nvFuser again, which a test that two runs agree needs.

    Options that a call leaves open are those of ``--segscope-toolchain``, then of the marker ``segscope``. Where the
    toolchain is not installed, or there is no GPU for ``device="cuda"``, the test is skipped, or fails with
    ``--segscope-require``; nothing is installed.
    """

    TensorSpec = TensorSpec

    assert_crossing_dtypes = staticmethod(asserts.assert_crossing_dtypes)
    assert_cut_between = staticmethod(asserts.assert_cut_between)
    assert_different_groups = staticmethod(asserts.assert_different_groups)
    assert_group = staticmethod(asserts.assert_group)
    assert_groups = staticmethod(asserts.assert_groups)
    assert_kernel_groups = staticmethod(asserts.assert_kernel_groups)
    assert_no_findings = staticmethod(asserts.assert_no_findings)
    assert_refused = staticmethod(asserts.assert_refused)
    assert_same_group = staticmethod(asserts.assert_same_group)
    assert_same_segmentation = staticmethod(asserts.assert_same_segmentation)

    def __init__(self, captures: Captures, defaults: Mapping[str, Any], *, require: bool) -> None:
        self._captures = captures
        self._defaults = defaults
        self._require = require
        self.captures: list[Capture] = []
        """What this test captured or read, in order."""
        self.counted: Collection[SegmentedFusion | Capture] = ()
        """What it counted, in order."""

    def capture(self, fn: Callable[..., Any] | str, *args: object, **options: Any) -> Capture:
        """Run a function or module through Thunder and nvFuser: ``segscope.capture_function``, with its arguments."""
        from segscope.capture import function

        given = self._ready(options)
        keyed = {name: value for name, value in given.items() if name != "timeout"}
        return self._get(
            lambda: function.key(fn, *args, **keyed), lambda: function.capture_function(fn, *args, **given)
        )

    def rope(self, config: str = "Llama-2-13b-hf", **options: Any) -> Capture:
        """Run RoPE through Thunder and nvFuser: ``segscope.capture_rope``, with its arguments."""
        from segscope.capture.rope import capture_rope

        given = self._ready(options)

        def key() -> str:
            asked = inspect.signature(capture_rope).bind(config, **given)
            asked.apply_defaults()
            values = {name: value for name, value in asked.arguments.items() if name != "timeout"}
            values["toolchain"] = values["toolchain"] or toolchain.default_name()
            return hashlib.sha256(repr(("rope", values)).encode()).hexdigest()

        return self._get(key, lambda: capture_rope(config, **given))

    def parse(self, text: str) -> Capture:
        """Read the dump in a text: ``segscope.parse``."""
        return self._seen(dump.parse(text))

    def read(self, path: str | Path) -> Capture:
        """Read a dump or a capture.json: ``segscope.read``."""
        return self._seen(dump.read(path))

    @contextmanager
    def record(self) -> Iterator[Recording]:
        """Record what nvFuser prints in this process: ``segscope.record``; ``.capture`` is there after the block."""
        from segscope.capture.recording import record

        with record() as recording:
            yield recording
        with suppress(CaptureError):  # nothing was printed: asking for .capture says why
            self._seen(recording.capture)

    def inspect(self, jitted: Callable[..., Any]) -> Capture:
        """Read the segments of what ``thunder.jit`` made and ran: ``segscope.inspect_function``."""
        from segscope.capture.inspecting import inspect_function

        return self._seen(inspect_function(jitted))

    def _ready(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with their defaults, where there is what they need."""
        given = {**self._defaults, **options}
        reason = _missing(given.get("toolchain") or toolchain.default_name(), given.get("device"))
        if reason and self._require:
            pytest.fail(reason, pytrace=False)
        if reason:
            pytest.skip(reason)
        return given

    def _get(self, key: Callable[[], str], make: Callable[[], Capture]) -> Capture:
        return self._seen(self._captures.get(key(), make))

    def _seen(self, capture: Capture) -> Capture:
        if capture not in self.captures:
            self.captures.append(capture)
        return capture


def _missing(name: str, device: str | None) -> str:
    """Say what is not there, and what to do; empty where all is. ToolchainError for a name of no toolchain."""
    if toolchain.state(name) != "installed":
        try:
            toolchain.find(name)
        except ToolchainError as error:
            return str(error)
    return "no CUDA device on this machine" if device == "cuda" and not gpu_present() else ""
