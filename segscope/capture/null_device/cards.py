"""The cards that the null device can play: cards.toml, as Python."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType

from segscope.errors import DeviceError
from segscope.toml import read_toml

TABLE = Path(__file__).with_name("cards.toml")


@dataclass(frozen=True)
class Card:
    """What a GPU model answers when asked about itself: sizes in bytes, clocks in kHz, the bus in bits.

    ``compute_capability`` is 10 * major + minor.
    """

    name: str
    compute_capability: int
    multiprocessors: int
    shared_memory_per_multiprocessor: int
    shared_memory_per_block_optin: int
    l2_cache: int
    clock_rate: int
    memory_clock_rate: int
    memory_bus_width: int
    global_memory: int
    max_threads_per_multiprocessor: int
    max_blocks_per_multiprocessor: int

    def variable(self) -> str:
        """Return the card as the null device reads it from ``SEGSCOPE_NULL_CARD``."""
        return ";".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))


@cache
def _table() -> MappingProxyType[str, Card]:
    return MappingProxyType({key: Card(**entry) for key, entry in read_toml(TABLE).items()})


def cards() -> dict[str, Card]:
    """Return every known card by its short name, such as ``h200``."""
    return dict(_table())


def card(name: str) -> Card:
    """Return the card with this short name, in any case; :exc:`DeviceError` if there is none."""
    known = _table()
    if name.lower() not in known:
        raise DeviceError(f"unknown card {name!r}; valid: {', '.join(known)}")
    return known[name.lower()]
