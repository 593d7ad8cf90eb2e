"""What executors run in tests: it needs torch."""

import os

import torch
import torch.nn.functional as F  # noqa: N812


class Block(torch.nn.Module):
    """A matrix product between two kernels of a compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(64, 64, bias=False, dtype=torch.bfloat16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmax(self.linear(F.layer_norm(x, (64,))), dim=-1)


class Crashing:
    """Ends the process in its second call."""

    called = False

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.called:
            os.abort()
        self.called = True
        return x + 1


def crashing() -> Crashing:
    return Crashing()
