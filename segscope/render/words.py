"""What pictures and tables say about groups, tensors and cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from segscope.model import Capture, Expr, Group, SegmentedFusion

SEPARATOR: Final = " · "


def operation_detail(expr: Expr) -> str:
    """Return the word for an expression, and what it does where that is short: ``cast to float``."""
    to = expr.attributes.get("to") if expr.kind == "cast" else None
    return f"cast to {to}" if to else expr.operation


def heading(fusion: SegmentedFusion, group: Group) -> str:
    """Return ``g3 · pointwise · kernel``, without the last word where the group launches none."""
    parts = [group.label, group.scheduler, *(["kernel"] if fusion.launches_kernel(group) else [])]
    return SEPARATOR.join(parts)


def operations(fusion: SegmentedFusion, *groups: Group) -> tuple[str, ...]:
    """Return what the groups compute on tensors, in order of first appearance: ``2 slice``, ``neg``, ``3 cast``."""
    counts = Counter(e.operation for group in groups for e in fusion.exprs_of(group) if not e.is_scalar)
    return tuple(name if n == 1 else f"{n} {name}" for name, n in counts.items())


def expressions(fusion: SegmentedFusion, group: Group) -> str:
    """Return how many expressions the group has: ``7 expressions + 9 scalar``."""
    scalars = sum(e.is_scalar for e in fusion.exprs_of(group))
    tensors = len(group.expr_ids) - scalars
    text = count(tensors, "expression")
    return f"{text} + {scalars} scalar" if scalars else text


def traffic(fusion: SegmentedFusion, group: Group) -> str:
    """Return ``reads 85 MB · writes 167.8 MB``, each element in memory once. A metadata group moves no data."""
    if not fusion.launches_kernel(group):
        return "moves no data"
    reads, writes = fusion.traffic(group)
    return f"reads {_sizes(reads)}{SEPARATOR}writes {_sizes(writes)}"


def _sizes(sizes: Mapping[str, int | None]) -> str:
    unknown = sum(each is None for each in sizes.values())
    known = sum(filter(None, sizes.values()))
    parts = [size(known)] if known or not unknown else []
    if unknown:
        parts.append(f"{count(unknown, 'tensor')} of unknown size")
    return " + ".join(parts)


def capture_name(capture: Capture) -> str:
    """Return ``nvfuser-0.2.36 Llama-2-13b-hf`` for what segscope ran, the source for what it read.

    What is not as usual follows: direction, dtype, and NVFUSER options.
    """
    made = capture.provenance
    if made is None:
        return capture.source
    usual = {"direction": "forward", "dtype": "bfloat16"}
    unusual = [str(made.options[name]) for name, value in usual.items() if made.options.get(name, value) != value]
    unusual += [f"{name}={value}" for name, value in made.environment.items() if name != "NVFUSER_DUMP"]
    return " ".join([made.toolchain, *filter(None, [made.options.get("config")]), *unusual])  # type: ignore[list-item]


def tensor(fusion: SegmentedFusion, name: str) -> str:
    """Return ``T23 float [2, 40, 4096, 128] 167.8 MB``, as far as it is known; the name alone for a scalar."""
    return " ".join([name, *tensor_facts(fusion, name)])


def tensor_facts(fusion: SegmentedFusion, name: str) -> tuple[str, ...]:
    """Return dtype, shape and size in memory of a tensor, each as text, as far as they are known.

    ``(expanded)`` says that the size is smaller than the shape: expanded dimensions take no memory.
    """
    known = fusion.tensors.get(name)
    if known is None:
        return ()
    shape = "[" + ", ".join("?" if n is None else str(n) for n in known.shape) + "]"
    facts = [known.dtype] if known.dtype else []
    facts.append(shape)
    if known.stored_bytes is not None:
        expanded = any(d.expanded_extent is not None for d in known.domain)
        facts.append(size(known.stored_bytes) + (" (expanded)" if expanded else ""))
    return tuple(facts)


def stored_bytes(fusion: SegmentedFusion, names: tuple[str, ...]) -> int:
    """Return the bytes that the tensors take in memory, those of unknown size left out."""
    known = (fusion.tensors[name].stored_bytes for name in names if name in fusion.tensors)
    return sum(n for n in known if n is not None)


def size(n: int) -> str:
    """Return bytes as ``167.8 MB``, ``84 MB``, ``1.5 kB``, ``8 B``: in powers of 1000, as the GB/s of bandwidths."""
    if n < 1000:
        return f"{n} B"
    unit, name = (1e6, "MB") if n >= 1e6 else (1e3, "kB")
    return f"{n / unit:.1f}".removesuffix(".0") + f" {name}"


def count(n: int, noun: str) -> str:
    """Return ``1 group``, ``2 groups``, ``2 boxes``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}{'es' if noun.endswith('x') else 's'}"
