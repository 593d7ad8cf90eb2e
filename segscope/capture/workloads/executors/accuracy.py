"""How far an executor's results are from those of eager PyTorch in float32."""

from __future__ import annotations

from collections.abc import Iterable

import torch


def largest_errors(outputs: Iterable[torch.Tensor], reference_outputs: Iterable[torch.Tensor]) -> list[float]:
    """Return the largest absolute difference of each output from its reference, both taken as float32.

    NaN where a difference is NaN, 0 for an output without elements; :exc:`ValueError` if numbers or shapes of outputs
    differ.
    """
    return [largest_error(output, reference) for output, reference in zip(outputs, reference_outputs, strict=True)]


def largest_error(output: torch.Tensor, reference: torch.Tensor) -> float:
    """Return the largest absolute difference of two tensors of one shape."""
    if output.shape != reference.shape:
        raise ValueError(f"an output has the shape {tuple(output.shape)}, its reference {tuple(reference.shape)}")
    if output.numel() == 0:
        return 0.0
    return float((output.detach().float() - reference.detach().float()).abs().max())
