"""Whether one kernel can compute a set of expressions: what is asked, and what may be answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from segscope.model.base import Model


class Accepted(Model):
    """A scheduler takes the set."""

    scheduler: str
    """Its name, as a dump has it."""


class Refused(Model):
    """No scheduler takes it."""

    reason: str
    """In one line."""


class Unknown(Model):
    """Nothing is known of it; the segmenter goes on as if it were refused."""

    why: str
    """In one line."""


Answer = Accepted | Refused | Unknown
"""What an oracle says of a set; only the first is a yes."""


class Candidate(NamedTuple):
    """A set of expressions that is offered to the schedulers as a fusion of its own.

    Source: ``tryMerge`` and ``FusionSegmentGuard`` in csrc/fusion_segmenter.cpp.
    """

    nodes: tuple[int, ...]
    """Positions in ``Whole.exprs``, ascending."""
    inputs: tuple[str, ...]
    """Tensors that it reads, in the order in which nvFuser lists them."""
    outputs: tuple[str, ...]
    """Tensors that it must write, likewise."""


class Oracle(Protocol):
    """Answers for the sets of one fusion; the same for the same set, however often it is asked."""

    def answer(self, candidate: Candidate) -> Answer:
        """Say whether a scheduler takes the set, and which."""

    def settle(self) -> bool:
        """Look up what was only guessed since the last call; say whether that was anything.

        Then the segmentation must be made again. Most oracles guess nothing.
        """


OracleOf = Callable[..., Oracle]
"""Makes the oracle of a fusion: takes a ``Whole``, a ``Version`` and ``boundary``, which is True or False.

Without ``boundary``, a slice or pad may read what its kernel computes (nvFuser: ``NVFUSER_ENABLE=memory_promotion``).
"""
