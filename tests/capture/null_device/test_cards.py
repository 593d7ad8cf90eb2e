import re
from pathlib import Path

import pytest

from segscope.capture.null_device import Card, card, cards
from segscope.errors import DeviceError
from tests.conftest import Cli


def test_cards_are_found_by_name_in_any_case() -> None:
    assert card("H200") is cards()["h200"]
    assert card("h200").name == "NVIDIA H200"


def test_the_table_has_the_cards_that_the_documentation_names() -> None:
    assert list(cards()) == ["a100", "h100", "h200", "b200", "l4"]


@pytest.mark.parametrize("entry", cards().values(), ids=cards())
def test_shared_memory_of_a_block_leaves_what_cuda_reserves(entry: Card) -> None:
    assert entry.shared_memory_per_multiprocessor - entry.shared_memory_per_block_optin == 1024


@pytest.mark.parametrize("entry", cards().values(), ids=cards())
def test_the_variable_can_hold_the_name(entry: Card) -> None:
    assert not set(";=") & set(entry.name)
    assert entry.variable().split(";")[0] == f"name={entry.name}"


def test_an_unknown_card_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match=r"^unknown card 'h300'; valid: a100, h100, h200, b200, l4$"):
        card("h300")


def test_changing_what_cards_returns_changes_no_table() -> None:
    cards().clear()
    assert Path(cards()["l4"].name).name == "NVIDIA L4"


@pytest.mark.parametrize("command", ["rope", "capture", "executors", "sweep", "bisect"])
def test_help_names_every_card(command: str, cli: Cli) -> None:
    (text,) = re.findall(r"card that the null device plays:(.*?)\.", " ".join(cli(command, "--help").out.split()))
    assert re.findall(r"[a-z]+\d+\w*", text) == list(cards())
