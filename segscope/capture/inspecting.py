"""Read the segments of a function that Thunder has compiled in this process, without NVFUSER_DUMP."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from segscope import __version__, dump
from segscope.capture import scheduled_ir
from segscope.capture.toolchain import CURRENT
from segscope.capture.worker import package_versions
from segscope.errors import CaptureError
from segscope.model import Capture, ChildEnd, Provenance

_END: Final = "} //Segmented_Fusion"
_KERNEL: Final = re.compile(r"__global__ void nvfuser_(?P<scheduler>\w+?)_f\d+_c\d+_r\d+_g\d+\((?P<parameters>[^)]*)\)")
_PARAMETER: Final = re.compile(r"Tensor<(?P<dtype>\w+), \d+, \d+> T(?P<number>\d+)")
_SCALAR: Final = re.compile(r"\w+ [bdi]\d+\b")
_BODY: Final = re.compile(r"%kernel(?:_math)? \{\n(.*?)\} // %kernel", re.DOTALL)
_STATEMENT: Final = re.compile(r"\S(?:, *\n|\n(?= )|[^\n])*\n")
"""Lines, of which all but the first are indented or stand behind a comma."""
_PLACE: Final = re.compile(r"T(?P<number>\d+)_[a-z]+\[ [^][]* \]")
"""A tensor as it is printed until 2024."""
_DTYPE: Final = re.compile(r"T\d+_[a-z]+_(\w+)\[")


def inspect_function(jitted: Any) -> Capture:
    """Return the segments of every nvFuser region of a ``thunder.jit`` function or module, as of its last call.

    They are read from nvFuser's executor cache (``getMostRecentScheduledIr``), which prints segments as the dump does,
    where there are several. Of a region that was not segmented it prints the scheduled kernel only; its one group is
    then made of the definition that Thunder handed over, before nvFuser's own passes, with the scheduler from the
    kernel's name and ids in the order of the text. ``capture.provenance.notes`` say which regions those are, and which
    could not be read: that have not run, or of which there is no kernel.

    Raises CaptureError for a function that Thunder has not compiled or that was not called, and where no region can be
    read.
    """
    try:
        regions = scheduled_ir.regions(jitted)
    except TypeError as error:
        raise CaptureError(f"inspect: {error}") from None
    name = getattr(jitted, "__name__", type(jitted).__name__)
    return capture_of(regions, name).model_copy(update={"provenance": _provenance(name, tuple(_notes(regions)))})


def capture_of(regions: Iterable[Mapping[str, str]], name: str) -> Capture:
    """Return the capture of what ``scheduled_ir.py`` collected, without provenance.

    CaptureError where no region can be read.
    """
    regions = list(regions)
    text = "\n".join(filter(None, map(_segments, regions)))
    if not text:
        why = "; ".join(_notes(regions)) or "Thunder gave nvFuser nothing to do"
        raise CaptureError(f"inspect: no nvFuser region of {name} can be read: {why}")
    return dump.parse(text, f"{name} in this process").model_copy(update={"dump": text})


def _notes(regions: Iterable[Mapping[str, str]]) -> Iterator[str]:
    for region in regions:
        if _END in region.get("scheduled", ""):
            continue
        if _segments(region):
            yield f"{region['name']} was not segmented: its group is its definition, before nvFuser's own passes"
        elif region.get("scheduled", "?").strip():
            yield f"{region['name']} is left out: {region.get('problem') or 'its definition does not fit its kernel'}"
        else:
            yield f"{region['name']} is left out: it has no kernel, which would name its scheduler"


def _segments(region: Mapping[str, str]) -> str | None:
    """Return a region's segments as nvFuser prints them, or None where they cannot be known."""
    scheduled = region.get("scheduled", "")
    if _END in scheduled:
        return scheduled[: scheduled.index(_END) + len(_END)] + "\n"
    return _one_group(region.get("definition", ""), region.get("kernels", ""))


def _one_group(definition: str, kernels: str) -> str | None:
    """Return the segments of a fusion that is one group, in the form of the definition's nvFuser."""
    found, body = list(_KERNEL.finditer(kernels)), _BODY.search(definition)
    if len(found) != 1 or body is None:
        return None
    statements = [match[0] for match in _STATEMENT.finditer(body[1])]
    with_dtypes = "Outputs:" in definition
    ends = _listed_ends(definition) if with_dtypes else _ends_of_kernel(found[0]["parameters"], body[1], statements)
    if ends is None:
        return None
    scheduler, ids = found[0]["scheduler"], ", ".join(map(str, range(len(statements))))
    written = "".join(f"{text}({number})\n" for number, text in enumerate(statements))
    inputs, outputs = ("".join(f"{line}\n" for line in lines) for lines in ends)
    groups = f"  {scheduler}{{{ids}}}" if with_dtypes else f"g{{{ids}}}\n"
    heading = "group id: 0\n" if with_dtypes else ""
    return (
        f"Segmented_Fusion Dump: -- fusion segments:\nSegmented_Fusion{{ \ngroups: \n{groups}\nedges: \n\n"
        f"group details:\ng{{({scheduler})\n{heading}inputs:\n{inputs}outputs:\n{outputs}\n\n{written}}}\n\n{_END}\n"
    )


def _listed_ends(definition: str) -> tuple[list[str], list[str]] | None:
    """Return the inputs and outputs that a definition lists, by names that end in a dtype; None for scalars."""
    inputs, _, rest = definition.partition("Outputs:")
    both = [
        [line.strip() for line in text.splitlines()[1:] if line.strip()] for text in (inputs, rest.partition("%")[0])
    ]
    dtypes = [[_DTYPE.match(line) for line in lines] for lines in both]
    if not all(all(found) for found in dtypes):
        return None
    first, second = (
        [f"  {line} {dtype[1]}" for line, dtype in zip(lines, found, strict=True) if dtype]
        for lines, found in zip(both, dtypes, strict=True)
    )
    return first, second


def _ends_of_kernel(parameters: str, body: str, statements: list[str]) -> tuple[list[str], list[str]] | None:
    """Return inputs and outputs by a kernel's parameters: until 2024 the definition has neither list nor dtypes."""
    places = {place["number"]: place[0] for place in _PLACE.finditer(body)}
    results = {place["number"] for text in statements if (place := _PLACE.match(text))}
    inputs: list[str] = []
    outputs: list[str] = []
    for parameter in _PARAMETER.finditer(parameters):
        if parameter["number"] not in places:
            return None
        ends = outputs if parameter["number"] in results else inputs
        ends.append(f"{places[parameter['number']]} {parameter['dtype']}")
    return None if _SCALAR.search(parameters) else (inputs, outputs)


def _provenance(name: str, notes: tuple[str, ...]) -> Provenance:
    import torch

    return Provenance(
        workload=name,
        options={},
        environment={key: value for key, value in sorted(os.environ.items()) if key.startswith("NVFUSER_")},
        toolchain=CURRENT,
        versions={"segscope": __version__, "python": sys.version.split()[0], "torch": torch.__version__}
        | package_versions(),
        device="null" if "SEGSCOPE_NULL_CARD" in os.environ else "cuda",
        card=torch.cuda.get_device_name(0),
        command=(),
        end=ChildEnd(outcome="ok"),
        notes=notes,
    )
