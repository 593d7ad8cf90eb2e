"""How much a kernel reads through views, against sets of elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from segscope.model import Capture
from segscope.model.traffic import bytes_read
from tests.checks.handmade import fusion, tensor

ELEMENT = 2
"""Bytes."""


@dataclass
class Stored:
    """What lies in memory, and views of it; ``x`` is the whole."""

    elements: dict[str, frozenset[int]] = field(default_factory=dict)
    size: dict[str, int | None] = field(default_factory=dict)
    views: dict[str, list[str]] = field(default_factory=dict)

    def add(self, source: str, elements: frozenset[int], repeated: int = 1) -> str:
        name = f"x{len(self.elements)}"
        self.views.setdefault(source, []).append(name)
        self.elements[name] = elements
        self.size[name] = ELEMENT * len(elements) * repeated
        return name

    def read(self, names: set[str]) -> int | None:
        (whole, *_) = self.elements
        return bytes_read(whole, self.views, self.size, names)

    def truly_read(self, names: set[str]) -> int:
        return ELEMENT * len(frozenset().union(*(self.elements[name] for name in names)))


@st.composite
def stored(draw: st.DrawFn, apart: bool) -> tuple[Stored, set[str]]:
    """Draw what is stored with what is read of it; ``apart``: views of one value share no element or are all of it."""
    found = Stored()
    left = [found.add("", frozenset(range(draw(st.integers(1, 12)))))]
    while left and len(found.elements) < 12:
        source = left.pop(0)
        elements = found.elements[source]
        how = draw(st.sampled_from(["none", "reshape", "expand", "split" if apart else "slices"]))
        if how == "reshape":
            left.append(found.add(source, elements))
        elif how == "expand":
            found.add(source, elements, repeated=3)
        elif how == "split":
            part = {element: draw(st.integers(0, 3)) for element in elements}
            for number in range(1, 4):  # what has number 0 is in no view
                left.append(found.add(source, frozenset(e for e in elements if part[e] == number)))
        elif how == "slices":
            for _ in range(draw(st.integers(1, 3))):
                left.append(found.add(source, draw(st.frozensets(st.sampled_from(sorted(elements or {0})))) & elements))
    return found, draw(st.sets(st.sampled_from(sorted(found.elements))))


@given(stored(apart=True))
def test_views_that_are_apart_are_counted_exactly(drawn: tuple[Stored, set[str]]) -> None:
    found, names = drawn
    assert found.read(names) == found.truly_read(names)


@given(stored(apart=False))
def test_any_views_are_counted_as_what_is_read_up_to_the_whole(drawn: tuple[Stored, set[str]]) -> None:
    found, names = drawn
    count = found.read(names)
    assert count is not None
    assert found.truly_read(names) <= count <= ELEMENT * len(found.elements["x0"])


def test_k_of_tiny_llama_is_a_tenth_of_what_is_stored() -> None:
    """Of a split of q, k and v, k is expanded to 32 heads, and halves of that are read."""
    size: dict[str, int | None] = {"qkv": 2 * 2048 * 2560 * 2, "k": 2 * 4 * 2048 * 64 * 2}
    size |= {"expanded": 2 * 32 * 2048 * 64 * 2, "half": 2 * 32 * 2048 * 32 * 2}
    views = {"qkv": ["heads"], "heads": ["q", "k", "v"], "k": ["expanded"], "expanded": ["half", "other half"]}
    size |= {"heads": size["qkv"], "other half": size["half"]}
    assert bytes_read("qkv", views, size, {"expanded"}) == 2_097_152
    assert bytes_read("qkv", views, size, {"half", "other half"}) == 2_097_152
    assert bytes_read("qkv", views, size, set()) == 0


def test_views_in_a_circle_end() -> None:
    assert bytes_read("x", {"x": ["a"], "a": ["b"], "b": ["a"]}, {"x": 8, "a": 4, "b": 4}, set()) == 0
    assert bytes_read("x", {"x": ["a"], "a": ["b", "a"]}, {"x": 8, "a": 4, "b": 2}, {"b"}) == 2


def test_a_view_of_two_views_is_read_through_both_in_any_order() -> None:
    size = {"x": 8, "a": 4, "b": 4, "c": 2}
    for views in ({"x": ["a", "b"], "a": ["c"], "b": ["c"]}, {"x": ["b", "a"], "a": ["c"], "b": ["c"]}):
        assert bytes_read("x", views, size, {"c"}) == 4
    for views in ({"x": ["a", "c"], "a": ["c"]}, {"x": ["c", "a"], "a": ["c"]}):
        assert bytes_read("x", views, size, {"c"}) == 4


def test_the_kernel_of_k_reads_a_third_of_qkv_and_what_the_other_hands_over(
    fixture_capture: Callable[[str], Capture],
) -> None:
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    k = next(group for group in fusion.kernel_groups if group.label == "g3")
    third, table = 2 * 40 * 4096 * 128 * 2, 4096 * 128 * 2
    reads, writes = fusion.traffic(k)
    assert reads == {"T0": third, "T20": table, "T25": table}
    assert writes == {"T51": third}


def test_a_metadata_group_moves_nothing(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    assert [fusion.traffic(group) for group in fusion.groups if not fusion.launches_kernel(group)] == [({}, {})] * 4


def test_what_no_dump_defines_is_read_as_it_is() -> None:
    found = fusion(["T0"], ["T2"], ("pointwise", "T2 = add(T0, T1)"), tensors=(tensor("T0", (8,)), tensor("T1", (4,))))
    assert found.traffic(found.groups[0]).reads == {"T0": 32, "T1": 16}


def test_what_is_not_known_is_not_guessed() -> None:
    views = {"x": ["a", "b"]}
    size = {"x": None, "a": 4, "b": None}
    assert bytes_read("x", views, size, {"a"}) == 4
    assert bytes_read("x", views, size, {"a", "b"}) is None
    assert bytes_read("x", views, size, {"x"}) is None
    assert bytes_read("x", views, {"a": 4}, {"a"}) == 4
