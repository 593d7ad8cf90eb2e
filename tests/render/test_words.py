from __future__ import annotations

import pytest

from segscope.model import SegmentedFusion
from segscope.render import words


def test_operations_leave_scalars_out(july_2024: SegmentedFusion) -> None:
    said = [words.SEPARATOR.join(words.operations(july_2024, g)) for g in july_2024.groups]
    assert said[0] == "reshape · permute · 3 slice · squeeze"
    assert said[7] == said[8] == "slice · 2 cast · neg"
    assert said[10] == "4 pad · 2 cat · 2 cast · mul · add"


def test_expressions(july_2024: SegmentedFusion) -> None:
    assert words.expressions(july_2024, july_2024.groups[1]) == "6 expressions"
    assert words.expressions(july_2024, july_2024.groups[2]) == "1 expression + 4 scalar"


def test_a_tensor_has_dtype_shape_and_bytes(july_2024: SegmentedFusion) -> None:
    assert words.tensor(july_2024, "T23") == "T23 float [2, 40, 4096, 128] 167.8 MB"
    assert words.tensor(july_2024, "T22") == "T22 float [2, 40, 4096, 128] 2.1 MB (expanded)"
    assert words.tensor(july_2024, "i7") == "i7"


def test_traffic(july_2024: SegmentedFusion) -> None:
    assert words.traffic(july_2024, july_2024.groups[1]) == "reads 84.9 MB · writes 253.8 MB"
    assert words.traffic(july_2024, july_2024.groups[2]) == "moves no data"
    unknown = july_2024.tensors["T5"].model_copy(update={"dtype": None})
    some = july_2024.model_copy(update={"tensors": july_2024.tensors | {"T5": unknown}})
    assert words.traffic(some, some.groups[1]) == "reads 1 MB + 1 tensor of unknown size · writes 253.8 MB"
    tensors = {name: tensor.model_copy(update={"dtype": None}) for name, tensor in july_2024.tensors.items()}
    nothing = july_2024.model_copy(update={"tensors": tensors})
    assert words.traffic(nothing, nothing.groups[8]) == (
        "reads 1 tensor of unknown size · writes 1 tensor of unknown size"
    )


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1536, "1.5 kB"),
        (1_000_000, "1 MB"),
        (167_772_160, "167.8 MB"),
        (5_000_000_000, "5000 MB"),
    ],
)
def test_size(n: int, text: str) -> None:
    assert words.size(n) == text
