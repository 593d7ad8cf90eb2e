"""The points of a sweep, from its axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as every

from segscope.capture.configs import CONFIGS
from segscope.capture.null_device import card
from segscope.capture.options import words
from segscope.capture.toolchain import default_name
from segscope.errors import SegscopeError, one_of
from segscope.sweep.point import THUNDER_ROPE, WORKLOADS, Point
from segscope.sweep.toolchains import expand

_ROPES = ("rope", "rope-float32", THUNDER_ROPE)
_NO_OPTIONS = ("", "none")


def product(
    workload: str,
    *,
    toolchains: Sequence[str] = (),
    configs: Sequence[str] = (),
    cards: Sequence[str] = ("h200",),
    disable: Sequence[str] = ("",),
    enable: Sequence[str] = ("",),
) -> list[Point]:
    """Return the points of every combination, each once: by configuration, card, options, and toolchains by date.

    Args:
        workload: a name of ``segscope.sweep.point.WORKLOADS``.
        toolchains: names, ranges ``A..B`` in date order, or ``all`` (those with a date); the default toolchain if
            empty.
        configs: names of ``segscope.ROPE_CONFIGS``; ``Llama-2-13b-hf`` if empty. Of RoPE only.
        cards: cards that the null device plays.
        disable: values of ``NVFUSER_DISABLE``, of which each may name several options with commas; empty or ``none``
            for none, so that with and without an option is an axis.
        enable: the same of ``NVFUSER_ENABLE``.

    Raises:
        SegscopeError: a name is not known; the message lists the valid ones.
    """
    one_of("workload", workload, WORKLOADS)
    if configs and workload not in _ROPES:
        raise SegscopeError(f"workload {workload} has no configurations; those of {', '.join(_ROPES)} are RoPE's")
    for config in configs:
        one_of("configuration", config, CONFIGS)
    for name in cards:
        card(name)
    axes = every(
        (configs or ("Llama-2-13b-hf",)) if workload in _ROPES else (None,),
        cards or ("h200",),
        disable or ("",),
        enable or ("",),
        expand(toolchains or (default_name(),)),
    )
    points = (
        Point(
            workload=workload,
            config=config,
            toolchain=toolchain,
            card=name.lower(),
            disable=_options(disabled),
            enable=_options(enabled),
        )
        for config, name, disabled, enabled, toolchain in axes
    )
    return list(dict.fromkeys(points))


def _options(value: str) -> tuple[str, ...]:
    return () if value in _NO_OPTIONS else tuple(words(value))
