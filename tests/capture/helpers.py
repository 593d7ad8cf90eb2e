"""What tests/capture/programs.py uses of another file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SCALE = 2


def rotate(x):
    half = x.size(-1) // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def scaled(x):
    return x * SCALE
