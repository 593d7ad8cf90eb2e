from __future__ import annotations

import pytest
from rich.console import Console, RenderableType

from segscope.dump import parse, read
from segscope.model import ChildEnd, Provenance, SegmentedFusion
from segscope.render.table import captures_table, fusion_table, fusion_tree

from .conftest import FIXTURES


def lines(renderable: RenderableType, width: int = 80) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_capture_table() -> None:
    capture = read(FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward+backward.txt")
    assert lines(captures_table([capture])) == [
        "fusion  groups  kernel groups  edges  groups by scheduler",
        "     0       6              2     11  4 expr_eval, 2 pointwise",
        "     1       8              3     13  5 expr_eval, 3 pointwise",
    ]


def test_an_incomplete_fusion_stands_out() -> None:
    text = (FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").read_text()
    capture = parse(text[: len(text) // 2])
    assert lines(captures_table([capture]))[1].strip().startswith("0 (incomplete)")


def test_captures_side_by_side() -> None:
    old = read(FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt")
    new = read(FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt")
    provenance = Provenance(
        workload="rope",
        options={"config": "Llama-2-13b-hf"},
        environment={},
        toolchain="nvfuser-0.2.36",
        versions={},
        device="null",
        card="H200",
        command=(),
        end=ChildEnd(outcome="ok"),
    )
    table = captures_table(
        [old.model_copy(update={"source": "july"}), new.model_copy(update={"provenance": provenance})]
    )
    assert lines(table, width=120) == [
        "capture                        fusion  groups  kernel groups  edges  groups by scheduler",
        "july                                0      11              6     18  6 pointwise, 5 no_op",
        "nvfuser-0.2.36 Llama-2-13b-hf       0       6              2     11  4 expr_eval, 2 resize",
    ]


def test_fusion_table(july_2024: SegmentedFusion) -> None:
    rows = lines(fusion_table(july_2024))
    assert max(map(len, rows)) <= 80
    assert rows[0].split() == ["group", "scheduler", "kernel", "operations", "inputs", "outputs"]
    assert "#7     pointwise  yes     slice · 2 cast · neg   T8                   T15" in rows
    assert sum(row.startswith("#") for row in rows) == 11


def test_fusion_tree(july_2024: SegmentedFusion) -> None:
    rows = lines(fusion_tree(july_2024))
    start = rows.index("├── #7 pointwise · reads 83.9 MB · writes 41.9 MB")
    assert rows[start + 1 : start + 6] == [
        "│   ├── T12 = slice T8  [2, 40, 4096, 64]",
        "│   ├── T13 = cast to float T12  [2, 40, 4096, 64]",
        "│   ├── T14 = neg T13  [2, 40, 4096, 64]",
        "│   ├── T15 = cast to bfloat T14  __bfloat [2, 40, 4096, 64] 41.9 MB",
        "│   └── 5 scalar expressions",
    ]
    assert rows[0] == "fusion 0"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_names_are_whole_at_any_width(width: int, july_2024: SegmentedFusion) -> None:
    assert "pointwise" in "\n".join(lines(fusion_table(july_2024), width))


def test_names_are_never_markup(july_2024: SegmentedFusion) -> None:
    group = july_2024.groups[0].model_copy(update={"scheduler": "[red]x\x1b[2J", "inputs": ("[bold]T0",)})
    fusion = july_2024.model_copy(update={"groups": (group,)})
    (row,) = [row for row in lines(fusion_table(fusion), 120) if row.startswith("#0")]
    assert "[red]x [2J" in row
    assert "[bold]T0" in row
    exprs = (july_2024.exprs[0].model_copy(update={"kind": "unknown", "op": "[blink]op\x1b[2J"}), *july_2024.exprs[1:])
    rows = lines(fusion_tree(july_2024.model_copy(update={"groups": (group,), "exprs": exprs})), 120)
    assert any("[red]x [2J" in row for row in rows)
    assert any("T3 = [blink]op [2J T0" in row for row in rows)
