"""The segments of a fusion that was not segmented, made of what nvFuser says of it without NVFUSER_DUMP."""

from __future__ import annotations

import re
from typing import Final

from segscope.vocabulary import KERNEL_NAME

_KERNEL: Final = re.compile(rf"__global__ void {KERNEL_NAME}\((?P<parameters>[^)]*)\)")
_PARAMETER: Final = re.compile(r"Tensor<(?P<dtype>\w+), \d+, \d+> T(?P<number>\d+)")
_SCALAR: Final = re.compile(r"\w+ [bdi]\d+\b")
_BODY: Final = re.compile(r"%kernel(?:_math)? \{\n(.*?)\} // %kernel", re.DOTALL)
_STATEMENT: Final = re.compile(r"\S(?:, *\n|\n(?= )|[^\n])*\n")
"""Lines, of which all but the first are indented or stand behind a comma."""
_WITHOUT_DTYPE: Final = re.compile(r"T(?P<number>\d+)_[a-z]+\[ [^][]* \]")
"""A tensor as it is printed until 2024."""
_DTYPE: Final = re.compile(r"T\d+_[a-z]+_(\w+)\[")

_Ends = list[tuple[str, str]]
"""Inputs or outputs: each as it is printed, and its dtype."""


def one_group(definition: str, kernels: str) -> str | None:
    """Return the segments of a fusion that is one group, as nvFuser of the same time prints them.

    ``definition`` is the text of the fusion's statements (``Fusion::printMath``), ``kernels`` the CUDA code, of which
    the kernel's name tells the scheduler. Expressions get ids in the order of the text. None where there is not one
    kernel, or an input or output is a scalar or not one of the definition's tensors.
    """
    found, body = list(_KERNEL.finditer(kernels)), _BODY.search(definition)
    if len(found) != 1 or body is None:
        return None
    scheduler, statements = found[0]["scheduler"], [match[0] for match in _STATEMENT.finditer(body[1])]
    with_dtypes = "Outputs:" in definition
    ends = _listed(definition) if with_dtypes else _of_kernel(found[0]["parameters"], body[1], statements)
    if ends is None:
        return None
    inputs, outputs = ("".join(f"{place} {dtype}\n" for place, dtype in listed) for listed in ends)
    of_fusion = [
        "".join(f"  {place}\n" if with_dtypes else f"  {place}, {dtype}\n" for place, dtype in listed)
        for listed in ends
    ]
    ids = ", ".join(map(str, range(len(statements))))
    group_line = f"  {scheduler}{{{ids}}}" if with_dtypes else f"g{{{ids}}}\n"
    heading = "group id: 0\n" if with_dtypes else ""
    numbered = "".join(f"{text}({number})\n" for number, text in enumerate(statements))
    return (
        "Segmented_Fusion Dump: -- Re-written complete fusion:{\n"
        f"Inputs:\n{of_fusion[0]}Outputs:\n{of_fusion[1]}\n"
        f"%kernel_math {{\n{body[1]}}} // %kernel_math \n\n}} // {{Re-written complete fusion}}\n"
        "Segmented_Fusion Dump: -- fusion segments:\n"
        f"Segmented_Fusion{{ \ngroups: \n{group_line}\nedges: \n\ngroup details:\n"
        f"g{{({scheduler})\n{heading}inputs: \n{inputs}outputs: \n{outputs}\n\n{numbered}}}\n\n}} //Segmented_Fusion\n"
    )


def _listed(definition: str) -> tuple[_Ends, _Ends] | None:
    """Return the inputs and outputs that a definition lists; their names end in a dtype."""
    inputs, _, rest = definition.partition("Outputs:")
    both: list[_Ends] = []
    for listed in (inputs.partition("Inputs:")[2], rest.partition("%")[0]):
        places = [line.strip() for line in listed.splitlines() if line.strip()]
        both.append([(place, dtype[1]) for place in places if (dtype := _DTYPE.match(place))])
        if len(both[-1]) < len(places):
            return None
    return both[0], both[1]


def _of_kernel(parameters: str, body: str, statements: list[str]) -> tuple[_Ends, _Ends] | None:
    """Return inputs and outputs by a kernel's parameters: until 2024 the definition has neither list nor dtypes."""
    places = {place["number"]: place[0] for place in _WITHOUT_DTYPE.finditer(body)}
    results = {place["number"] for text in statements if (place := _WITHOUT_DTYPE.match(text))}
    inputs: _Ends = []
    outputs: _Ends = []
    for parameter in _PARAMETER.finditer(parameters):
        if parameter["number"] not in places:
            return None
        ends = outputs if parameter["number"] in results else inputs
        ends.append((places[parameter["number"]], parameter["dtype"]))
    return None if _SCALAR.search(parameters) else (inputs, outputs)
