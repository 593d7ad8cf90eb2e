"""Functions to capture, as one writes them in a test that runs where there is no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.capture import helpers
from tests.capture.helpers import rotate as turn

if TYPE_CHECKING:
    import torch
    import torch.nn.functional as F  # noqa: N812  (as everybody does)
    from torch import nn

SCALE = 0.5
SHIFTS = (1, 2)
NOWHERE = object()


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Use a helper of another file, a constant, an alias, and modules that are imported for annotations only."""
    return F.silu(x * cos + turn(x) * sin) * SCALE


def plain(a, b):
    """Use torch as every toolchain has it."""
    return torch.cat((a + b, -b), dim=-1)


def with_modules(x):
    """Use modules, installed and one's own."""
    return x * math.tau + helpers.SCALE


def even(n):
    """Call a function that calls back."""
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


class Block:
    """Hold a constant, and use a base."""

    shifts = SHIFTS

    def forward(self, x):
        return helpers.rotate(x) + self.shifts[0]


def make_block(size, bias=False):
    """Make a module; it is defined inside, since there is no torch here."""

    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(size)
            self.linear = nn.Linear(size, size, bias=bias)

        def forward(self, x):
            return F.gelu(self.norm(x)) * SCALE

    return Made().bfloat16()


def uses_an_object(x):
    return x, NOWHERE


def uses_nothing_known(x):
    return x + undefined_name  # noqa: F821
