"""Checks of tensors.py, which need torch: test_tensors.py runs them inside a toolchain.

    python tensor_checks.py FOLDER

FOLDER is that of the files to check.
"""

import importlib
import sys
from types import ModuleType

import torch

sys.modules["executors"] = ModuleType("executors")
sys.modules["executors"].__path__ = [sys.argv[1]]
tensors = importlib.import_module("executors.tensors")


def check_what_an_expanded_dimension_repeats_counts_once():
    x = torch.ones(4, 1, 8)
    assert [tensors.touched(one) for one in (x, x.expand(4, 3, 8), x[1:3], x[0:0], x.bfloat16())] == [
        128,
        128,
        64,
        0,
        64,
    ]
    assert tensors.facts([x.expand(4, 3, 8)]) == [{"dtype": "float32", "shape": [4, 3, 8], "bytes": 128}]


def check_views_of_inputs_do_not_move():
    x, y = torch.ones(4, 8), torch.ones(8)
    assert tensors.least_bytes([x, y], [x[0], x.t(), x + y]) == 128 + 32 + 128
    whole = x * 2
    assert tensors.least_bytes([x], [whole, whole.t()]) == 128 + 128
    assert tensors.least_bytes([x], [x]) == 128


def check_what_is_made_and_what_is_kept_as_it_is():
    x = torch.ones(4, 8, requires_grad=True)
    y = torch.full((4, 8), 2.0)

    def call():
        return [(x.exp() * y).sin()]

    made, as_is = tensors.saved(call, [x, y])
    assert [one["shape"] for one in as_is] == [[4, 8]]
    assert [one["bytes"] for one in made] == [128, 128]
    made, as_is = tensors.saved(lambda: [x.exp()], [x])
    assert (made, len(as_is)) == ([], 1)
    assert tensors.saved(lambda: [y + 1], [y]) == ([], [])


def check_copies_in_float32():
    module = torch.nn.Linear(2, 2, dtype=torch.bfloat16)
    assert tensors.in_float32(module).weight.dtype is torch.float32
    assert module.weight.dtype is torch.bfloat16
    number, (half, whole) = tensors.in_float32([3, (torch.ones(2).half(), torch.arange(2))])
    assert (number, half.dtype, whole.dtype) == (3, torch.float32, torch.int64)


def check_tensors_however_they_are_nested():
    x = torch.ones(1)
    assert len(tensors.leaves([x, {"a": (x, None, 3)}, "x"])) == 2


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(name)
