"""Programs that every nvFuser takes as its own FusionDefinition: their names, and their capture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from segscope.capture.rope import rope_options
from segscope.capture.run import Request, run
from segscope.errors import SegscopeError, one_of
from segscope.model import Capture
from segscope.several import several

DEFINITIONS: Final = {
    "rope": "LitGPT's QKV split and rotary embedding: the operations of Thunder's trace without bookending",
    "rope-float32": "the same in float32, so without casts: a control",
    "add-sum-sum": "two sums in a row",
    "slice-rotate-cat": "the halves of sin(x) exchanged: the smallest rotation",
    "slice-rotate-cat-residual": "the same, added to x",
    "cat-between-pointwise": "cos of the concatenation of two sines",
    "reshape-to-slice": "a reshape, then a slice",
    "reshape-to-pad": "a reshape, then a pad",
    "slice-and-index": "a slice of indices, then takeAlongAxis",
    "privatize-upcast": "an up-cast behind a segment_set, read by sums over different axes",
    "forwarded-neg": "a negation read by sums over different axes",
    "not-all-outputs-alias": "a reshape read by a broadcast, which is a view, and by an addition",
    "domain-map-factory": "a broadcast row added to one tensor and multiplied with another: no tensor has all axes",
    "three-sums": "three sums in a row, of which no two fit one kernel",
    "softmax-8x32768": "softmax over few long rows, cut as the card has multiprocessors",
    "softmax-8192x98304": "softmax over rows that fill a multiprocessor, cut as the card has clusters",
}
"""What can be captured, by name; workloads/definitions/cases.py says which of nvFuser's own tests they are."""

_WORKLOAD: Final = Path(__file__).parent / "workloads" / "definitions"
_ROPE: Final = {"rope": "bfloat16", "rope-float32": "float32"}
"""Those that have RoPE's shapes, with their dtype."""


def capture_definition(
    name: str = "rope",
    config: str | None = None,
    *,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    disable: str | Sequence[str] = (),
    enable: str | Sequence[str] = (),
    batch: int | None = None,
    sequence_length: int | None = None,
    dtype: str | None = None,
    timeout: float = 600.0,
) -> Capture:
    """Give nvFuser a program as a FusionDefinition of static shapes, and return what it made of it.

    nvFuser is all that changes from toolchain to toolchain: each gets the same operations, Thunder has no part.

    Args:
        name: a name of ``DEFINITIONS``.
        config: for RoPE a name of ``segscope.ROPE_CONFIGS``; Llama-2-13b-hf if None.
        batch: for RoPE the sequences; 2 if None.
        sequence_length: for RoPE the tokens in a sequence; the model's block size if None.
        dtype: for ``rope`` one of ``bfloat16`` (if None), ``float16`` and ``float32``.
        toolchain: see ``segscope.capture_rope``, as for ``device``, ``card``, ``disable``, ``enable`` and ``timeout``.

    Raises:
        SegscopeError: an argument is not known or not one of the program's, the toolchain or device cannot be had, or
            the child gave no dump, as where the Python API of that nvFuser lacks an operation of the program.
    """
    one_of("definition", name, DEFINITIONS)
    shape: dict[str, str | int | bool | None] = {}
    own_dtype = _ROPE.get(name)
    if own_dtype:
        if name == "rope-float32" and dtype not in (None, own_dtype):
            raise SegscopeError(f"rope-float32 has no dtype {dtype}; use rope")
        shape = rope_options(
            "Llama-2-13b-hf" if config is None else config,
            batch=2 if batch is None else batch,
            sequence_length=sequence_length,
            dtype=own_dtype if dtype is None else dtype,
        )
    elif any(value is not None for value in (config, batch, sequence_length, dtype)):
        raise SegscopeError(f"{name} has one shape and dtype: leave out config, batch, sequence_length and dtype")
    return run(
        Request(
            workload=f"definition {name}",
            file=_WORKLOAD,
            options={"definition": name, **shape},
            disable=several(disable),
            enable=several(enable),
        ),
        toolchain=toolchain,
        device=device,
        card=card,
        timeout=timeout,
    )
