"""One point of a sweep: what is captured, where, and how."""

from __future__ import annotations

from pydantic import field_validator

from segscope.capture.definition import DEFINITIONS, capture_definition
from segscope.capture.rope import capture_rope
from segscope.model import Capture
from segscope.model.base import Model

THUNDER_ROPE = "thunder-rope"
"""RoPE as Thunder traces it, without bookending; the other workloads are nvFuser's own definitions."""

WORKLOADS = (*DEFINITIONS, THUNDER_ROPE)


class Point(Model):
    """What one capture of a sweep is of. Points that ask nvFuser for the same are equal."""

    workload: str
    """A name of WORKLOADS."""
    config: str | None
    """A name of ``segscope.ROPE_CONFIGS`` for the workloads that are RoPE, None for the others."""
    toolchain: str
    """Name of the toolchain."""
    card: str = "h200"
    """The card that the null device plays."""
    disable: tuple[str, ...] = ()
    """``NVFUSER_DISABLE``, sorted."""
    enable: tuple[str, ...] = ()
    """``NVFUSER_ENABLE``, sorted."""

    @field_validator("disable", "enable")
    @classmethod
    def _sorted(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(set(options)))

    @property
    def options(self) -> tuple[str, ...]:
        """The options as text: ``disable=resize_scheduler``."""
        named = {"disable": self.disable, "enable": self.enable}
        return tuple(f"{name}={','.join(options)}" for name, options in named.items() if options)

    @property
    def series(self) -> str:
        """What the point has in common with those that differ from it by toolchain alone, as text."""
        return ", ".join([" ".join(filter(None, [self.workload, self.config])), self.card, *self.options])

    def __str__(self) -> str:
        return f"{self.series} in {self.toolchain}"


def capture_point(point: Point) -> Capture:
    """Capture a point in a child process, on the null device.

    Raises SegscopeError as ``capture_definition`` does.
    """
    options = {"toolchain": point.toolchain, "card": point.card, "disable": point.disable, "enable": point.enable}
    if point.workload == THUNDER_ROPE:
        return capture_rope(point.config or "", device="null", bookend=False, **options)  # type: ignore[arg-type]
    return capture_definition(point.workload, point.config, device="null", **options)  # type: ignore[arg-type]
