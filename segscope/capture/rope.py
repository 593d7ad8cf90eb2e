"""The RoPE workload: its configurations, and its capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

from segscope.capture.configs import CONFIGS
from segscope.capture.run import Request, run
from segscope.capture.toolchain import default_name, require_thunder
from segscope.errors import SegscopeError, one_of
from segscope.model import Capture
from segscope.several import several

Direction = Literal["forward", "backward", "both"]
Dtype = Literal["bfloat16", "float16", "float32"]

_WORKLOAD = Path(__file__).parent / "workloads" / "rope.py"


def capture_rope(
    config: str = "Llama-2-13b-hf",
    *,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    batch: int = 2,
    sequence_length: int | None = None,
    dtype: str = "bfloat16",
    direction: str = "forward",
    bookend: bool = True,
    disable: str | Sequence[str] = (),
    enable: str | Sequence[str] = (),
    dump: str | Sequence[str] = (),
    timeout: float = 600.0,
) -> Capture:
    """Run RoPE through Thunder and nvFuser, and return what nvFuser made of it.

    Args:
        config: a name of ``segscope.ROPE_CONFIGS``.
        toolchain: a name of ``segscope toolchain list``, or ``current``; the default toolchain if None. It is
            installed if it is not there yet, which takes minutes and gigabytes.
        device: ``cuda``, ``null``, or ``auto``: a GPU where there is one that the toolchain can use, else the null
            device.
        card: the card that the null device plays.
        batch: sequences.
        sequence_length: tokens in a sequence; the model's block size if None.
        dtype: ``bfloat16``, ``float16`` or ``float32``.
        direction: ``forward`` (no gradient asked for), ``both`` (forward and backward with gradients), or ``backward``
            (the backward part of ``both``). The backward pass is that of ``q.sum() + k.sum()``.
        bookend: Thunder's ``nv_enable_bookend``, which keeps metadata operations at the ends out of the fusion
            (heeded by Thunder up to 0.2.4).
        disable: one option or several for ``NVFUSER_DISABLE``, such as ``resize_scheduler``.
        enable: options for ``NVFUSER_ENABLE``.
        dump: what to print besides the segmented fusion, such as ``segmenter_logging``.
        timeout: seconds after which the child process is ended.

    Raises:
        SegscopeError: an argument is not known (the message lists the valid ones), the toolchain or device cannot be
            had, or the child gave no dump. A child that ends badly after its dump still gives a capture, and
            ``capture.provenance.end`` tells how it ended.
    """
    one_of("direction", direction, get_args(Direction))
    require_thunder(toolchain or default_name())
    options = rope_options(config, batch=batch, sequence_length=sequence_length, dtype=dtype)
    return run(
        Request(
            workload="rope",
            file=_WORKLOAD,
            options=options | {"direction": direction, "bookend": bookend},
            phases=("backward",) if direction == "backward" else None,
            disable=several(disable),
            enable=several(enable),
            dump=several(dump),
        ),
        toolchain=toolchain,
        device=device,
        card=card,
        timeout=timeout,
    )


def rope_options(
    config: str, *, batch: int, sequence_length: int | None, dtype: str
) -> dict[str, str | int | bool | None]:
    """Return what defines RoPE's shape, for ``workloads/rope.py``; SegscopeError for what is not known."""
    shape = CONFIGS[one_of("configuration", config, CONFIGS)]
    one_of("dtype", dtype, get_args(Dtype))
    length = shape.block_size if sequence_length is None else sequence_length
    for name, value in (("batch", batch), ("sequence length", length)):
        if value < 1:
            raise SegscopeError(f"{name} {value}: must be at least 1")
    return {
        "config": config,
        **{name: value for name, value in asdict(shape).items() if name != "block_size"},
        "batch": batch,
        "sequence_length": length,
        "dtype": dtype,
    }
