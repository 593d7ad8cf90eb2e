"""Policies by name, as the command line has them; several can be had at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from segscope.errors import SegscopeError
from segscope.segmenter.policy import (
    Policy,
    deepest_first,
    front,
    largest_first,
    last_found_first,
    reversed_order,
    shallowest_first,
    smallest_first,
)

POLICIES: Final[dict[str, tuple[str, object]]] = {
    "reversed": ("order", reversed_order),
    "deepest-first": ("order", deepest_first),
    "shallowest-first": ("order", shallowest_first),
    "smallest-first": ("order", smallest_first),
    "largest-first": ("order", largest_first),
    "consumers-first": ("candidates", last_found_first),
    "new-in-front": ("place", front),
    "operand-sets": ("whole_operand_sets", True),
    "one-pair": ("one_pair_a_round", True),
    "casts-first": ("casts_first", True),
}
"""For each name the field of ``Policy`` that it sets, and to what."""


def policy(names: Iterable[str]) -> Policy:
    """Return the policy with all these names; nvFuser's own where there is none.

    Raises SegscopeError for a name that is not in ``POLICIES``, and for two that choose the same thing.
    """
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(names):
        if name not in POLICIES:
            raise SegscopeError(f"no policy {name!r}; valid: {', '.join(POLICIES)}")
        field = POLICIES[name][0]
        if field in chosen:
            raise SegscopeError(f"policies {chosen[field]} and {name} both choose the {field}; name one")
        chosen[field] = name
    values: dict[str, object] = {field: POLICIES[name][1] for field, name in chosen.items()}
    return replace(Policy(), **values)  # type: ignore[arg-type]


def merge_named(text: str) -> frozenset[str]:
    """Return the tensors of ``T8+T21``. Raises SegscopeError where that is no merge."""
    names = [name.strip() for name in text.split("+")]
    if len(names) < 2 or not all(name[:1] == "T" and name[1:].isdigit() for name in names):
        raise SegscopeError(f"{text!r} is no merge; write the tensors that it would define: T8+T21")
    return frozenset(names)
