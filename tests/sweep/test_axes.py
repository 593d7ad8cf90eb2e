"""Axes, toolchains by date, and the points that come of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from segscope.capture.toolchain import AddedInterpreter, added
from segscope.errors import SegscopeError
from segscope.sweep import Point, between, dated, expand, product
from segscope.sweep.toolchains import date_of

OLD, NEW = "nvfuser-0.2.24.dev20250115", "nvfuser-0.2.26.dev20250215"


def test_all_toolchains_with_a_date_are_in_its_order() -> None:
    order = dated()
    assert len(order) >= 24
    assert not {"current", "thunder-711"}.intersection(order)
    assert [date_of(name) for name in order] == sorted(date_of(name) for name in order)
    assert (order[0], order[-1]) == ("nvfuser-0.1.6.dev20240313", "nvfuser-0.2.36")


def test_a_range_goes_from_its_first_to_its_last() -> None:
    order = [OLD, "nvfuser-0.2.25.dev20250201", NEW]
    assert between(OLD, NEW) == order
    assert between(NEW, OLD) == order[::-1]
    assert between(OLD, OLD) == [OLD]


def test_toolchains_are_named_by_range_by_all_or_alone() -> None:
    assert expand([NEW, f"{NEW}..{OLD}", OLD]) == between(OLD, NEW)
    assert expand(["current", "all"]) == [*dated(), "current"]


def test_the_users_own_has_its_place_by_the_date_that_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    added.add(AddedInterpreter("mine", "/python", "2025-02-07"))
    assert between(OLD, NEW)[1:] == ["nvfuser-0.2.25.dev20250201", "mine", NEW]
    added.add(AddedInterpreter("mine", "/python"))
    with pytest.raises(SegscopeError, match=r"toolchain mine has no date: .* toolchain add mine \.\.\. --date"):
        between(OLD, "mine")


def test_an_old_thunder_is_in_no_order_but_can_be_named() -> None:
    assert expand(["thunder-711", NEW]) == ["thunder-711", NEW]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("nvfuser-9", "unknown toolchain 'nvfuser-9'; valid: nvfuser-0.2.36, "),
        (f"{OLD}..nvfuser-9", "unknown toolchain 'nvfuser-9'"),
        (
            f"current..{OLD}",
            r"toolchain current has no date: .* \(segscope toolchain add NAME \.\.\. --date YYYY-MM-DD\)",
        ),
        (f"thunder-711..{OLD}", "toolchain thunder-711 is of an old Thunder"),
        (f"..{OLD}", "unknown toolchain ''"),
    ],
)
def test_what_is_no_toolchain_is_told(asked: str, says: str) -> None:
    with pytest.raises(SegscopeError, match=says):
        expand([asked])


def test_every_combination_is_a_point_toolchains_last() -> None:
    points = product(
        "rope",
        toolchains=[NEW, OLD],
        configs=["phi-2", "Gemma-7b"],
        cards=["H200", "a100"],
        disable=["none", "resize_scheduler, fallback"],
        enable=[""],
    )
    assert len(points) == 16
    assert [(p.config, p.card, p.disable, p.toolchain) for p in points[:5]] == [
        ("phi-2", "h200", (), OLD),
        ("phi-2", "h200", (), NEW),
        ("phi-2", "h200", ("fallback", "resize_scheduler"), OLD),
        ("phi-2", "h200", ("fallback", "resize_scheduler"), NEW),
        ("phi-2", "a100", (), OLD),
    ]


def test_what_is_the_same_is_one_point() -> None:
    points = product(
        "rope", configs=["phi-2", "phi-2"], cards=["h200", "H200"], disable=["a,b", "b,a,a"], enable=["none", ""]
    )
    assert points == [Point(workload="rope", config="phi-2", toolchain="nvfuser-0.2.36", disable=("a", "b"))]
    assert str(points[0]) == "rope phi-2, h200, disable=a,b in nvfuser-0.2.36"


def test_an_option_with_arguments_is_one() -> None:
    (point,) = product("rope", enable=["id_model(index,consistency_check),b"])
    assert point.enable == ("b", "id_model(index,consistency_check)")


def test_only_rope_has_configurations() -> None:
    assert [point.config for point in product("slice-rotate-cat")] == [None]
    assert [point.config for point in product("thunder-rope")] == ["Llama-2-13b-hf"]
    with pytest.raises(SegscopeError, match="workload slice-rotate-cat has no configurations"):
        product("slice-rotate-cat", configs=["phi-2"])


@pytest.mark.parametrize(
    ("workload", "axes", "says"),
    [
        ("rop", {}, "unknown workload 'rop'; valid: rope, rope-float32, .*, thunder-rope"),
        ("rope", {"configs": ["phi-3"]}, "unknown configuration 'phi-3'; valid: Llama-2-7b-hf, "),
        ("rope", {"cards": ["gtx"]}, "unknown card 'gtx'; valid: "),
        ("rope", {"toolchains": ["nvfuser-9"]}, "unknown toolchain 'nvfuser-9'"),
    ],
)
def test_unknown_names_are_told_before_anything_runs(workload: str, axes: dict[str, list[str]], says: str) -> None:
    with pytest.raises(SegscopeError, match=says):
        product(workload, **axes)
