"""Collects what nvFuser says of the regions of a function that Thunder has compiled and run.

Standard library + torch + Thunder, so that it runs inside a toolchain too.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any


def regions(jitted: Any) -> list[dict[str, str]]:
    """Return what is known of each nvFuser region of the last call, forward regions first.

    A region has its ``name`` and either ``problem``, why nothing is known, or ``scheduled``: the text of
    ``FusionExecutorCache::getMostRecentScheduledIr``, which holds the segments where there are several. Where it does
    not, ``definition`` is what was handed to nvFuser, and ``kernels`` the CUDA code, or ``problem`` says why there is
    none. Raises TypeError for a function that Thunder has not compiled, or that was not called.
    """
    return [region(name, wrapper, symbol) for name, wrapper, symbol in wrappers(jitted)]


def wrappers(jitted: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield each region's name, what runs it, and its call in Thunder's trace."""
    import thunder

    traces = {"": thunder.last_traces(jitted)[-1:]}
    with suppress(TypeError):  # there is none
        traces["backward "] = (thunder.last_backward_traces(jitted) or [])[-1:]
    for pass_name, last in traces.items():
        for trace in last:
            for symbol in trace.bound_symbols:
                for name, called in (symbol._call_ctx or {}).items():
                    if type(called).__name__ == "FusionDefinitionWrapper":
                        yield pass_name + name, called, symbol


def region(name: str, wrapper: Any, symbol: Any) -> dict[str, str]:
    """Return what is known of one region."""
    definition = wrapper.last_used
    if definition is None:
        return {"name": name, "problem": "it has not run"}
    direct = hasattr(definition, "fec")
    found = {"name": name}
    try:
        cache = definition.fec if direct else None
        found["scheduled"] = cache.get_most_recent_scheduled_ir() if cache else definition.last_scheduled_fusion_ir()
        if found["scheduled"].strip() and "Segmented_Fusion{" not in found["scheduled"]:
            found["definition"] = cache.fusion().print_math() if cache else definition.fusion_ir()
            found["kernels"] = (
                kernels(cache, inputs(wrapper, symbol, found["definition"])) if cache else definition.last_cuda_code()
            )
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        found["problem"] = " ".join(str(error).split("Exception raised from")[0].split())
    return found


def kernels(cache: Any, given: list[Any]) -> str:
    """Return the CUDA code of a region, which nvFuser finds by its inputs."""
    try:
        code: str = cache.get_cuda_kernel(given) if cache.is_compiled(given) else ""
    except RuntimeError:
        code = ""
    if not code:
        raise ValueError("the strides of its inputs are not known: give thunder.jit nv_store_fusion_inputs=True")
    return code


def inputs(wrapper: Any, symbol: Any, definition: str) -> list[Any]:
    """Return a region's inputs: those that Thunder kept, else tensors without storage.

    The latter have stride 0 where the definition says that a dimension is expanded, and are contiguous otherwise.
    """
    if wrapper.last_inputs:
        return list(wrapper.last_inputs)
    import torch
    from thunder.core.dtypes import to_torch_dtype

    listed = re.findall(r"^  T\d+\w*\[(.*)\]$", definition.partition("Outputs:")[0], re.MULTILINE)
    made = []
    for given, domains in zip(symbol.args, listed, strict=True):
        shape, strides, step = tuple(given.shape), [], 1
        for size, domain in zip(reversed(shape), reversed(domains.split(", ")), strict=True):
            strides.append(0 if " ex " in domain else step)
            step *= 1 if " ex " in domain else size
        made.append(torch.empty_strided(shape, strides[::-1], dtype=to_torch_dtype(given.dtype), device="meta"))
    return made
