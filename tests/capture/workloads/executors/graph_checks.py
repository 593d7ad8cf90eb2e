"""Checks of edits and of ablation, which need torch: test_edits.py runs them inside a toolchain.

    python graph_checks.py FOLDER [CHECK ...]

FOLDER is that of the files to check. Prints a JSON object: for each check, what it raised, or an empty text.
"""

import copy
import importlib
import json
import random
import sys
import traceback
from collections import Counter
from types import ModuleType

import torch
from torch.fx import Interpreter
from torch.fx.experimental.proxy_tensor import make_fx

sys.modules["executors"] = ModuleType("executors")
sys.modules["executors"].__path__ = [sys.argv[1]]
edits = importlib.import_module("executors.edits")

aten, prims = torch.ops.aten, torch.ops.prims
LARGEST = 100  # so that all values are whole numbers that bfloat16 has


def traced(function, *inputs, converts=False):
    """Return the graph of a function, as AOTAutograd makes it; with ``converts``, as Inductor decomposes it."""
    table = {aten._to_copy.default: lambda x, dtype: prims.convert_element_type(x, dtype)} if converts else {}
    module = make_fx(function, decomposition_table=table, tracing_mode="fake")(*inputs)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


class Values(Interpreter):
    """The value of each node, by name."""

    def __init__(self, module, inputs):
        super().__init__(module)
        self.by_name = {}
        self.outputs = list(self.run(*inputs))

    def run_node(self, node):
        self.by_name[node.name] = super().run_node(node)
        return self.by_name[node.name]


def same(ours, theirs):
    return ours.shape == theirs.shape and torch.equal(ours.double(), theirs.double())


def counted(module):
    """Return how often each operation is there."""
    return Counter(str(node.target) for node in module.graph.nodes if node.op == "call_function")


def names(module, saved=()):
    return [edit.name for edit in edits.applicable(module, saved)]


def numbers(generator, *shape, dtype=torch.bfloat16):
    return torch.tensor([generator.randint(-2, 2) for _ in range(torch.Size(shape).numel())]).reshape(shape).to(dtype)


def step(generator, pool):
    """Return an operation at random, with the places of what it reads; it need not fit."""
    dim, part = generator.randint(-2, 1), generator.randrange(2)
    first, second = generator.randrange(len(pool)), generator.randrange(len(pool))
    one = [
        lambda x: x.to(torch.float32),
        lambda x: x.to(torch.bfloat16),
        lambda x: prims.convert_element_type(x, torch.float32),
        lambda x: x.to(torch.float16),
        lambda x: -x,
        lambda x: x * 2,
        lambda x: x.clone(),
        lambda x: x.unsqueeze(0),
        lambda x: x.expand(2, *x.shape),
        lambda x: x.unsqueeze(1).expand(x.shape[0], 3, *x.shape[1:]),
        lambda x: x.transpose(0, 1),
        lambda x: x.reshape(-1),
        lambda x: x.reshape(2, -1),
        lambda x: x.sum(dim),
        lambda x: x > 0,
        lambda x: x.split([1, x.shape[dim] - 1], dim)[part],
        lambda x: x.split(2, dim)[-1],
        lambda x: torch.cat([x, x[..., 0:0]], -1),
        lambda x: torch.cat([x[0:0].double(), x]),
        lambda x: torch.cat([x[..., 1:], x[..., 0:0], -x[..., :1]], -1),
    ]
    two = [torch.mul, torch.add, torch.add, torch.maximum, torch.mm, lambda x, y: torch.cat([x, y], dim)]
    return (generator.choice(two), (first, second)) if generator.random() < 0.5 else (generator.choice(one), (first,))


def example(seed):
    """Return a graph at random, inputs for it, and which of its outputs are to be those saved for backward."""
    generator = random.Random(seed)
    inputs = [numbers(generator, 2, 3, 4), numbers(generator, 3, 4), numbers(generator, 4, dtype=torch.float32)]
    pool, program = list(inputs), []
    starts = [(lambda x: x.expand(2, *x.shape), (1,)), (lambda x: x.to(torch.float32), (generator.choice([0, 1, 3]),))]
    while len(program) < 14:
        operation, places = starts.pop(0) if starts else step(generator, pool)
        try:
            value = operation(*(pool[place] for place in places))
        except (RuntimeError, IndexError):
            continue
        if value.numel() and value.numel() < 1000 and value.dim() < 6 and value.double().abs().max() <= LARGEST:
            pool.append(value)
            program.append((operation, places))
    outputs = generator.sample(range(len(inputs), len(pool)), 4)

    def function(*given):
        values = list(given)
        for operation, places in program:
            values.append(operation(*(values[place] for place in places)))
        return tuple(values[place] for place in outputs)

    module = traced(function, *inputs, converts=generator.random() < 0.5)
    return module, inputs, sorted(generator.sample(range(4), generator.randrange(3)))


def check_random_graphs():
    seen = Counter()
    for seed in range(60):
        module, inputs, saved = example(seed)
        code, before = module.code, Values(module, inputs)
        for edit in edits.applicable(module, saved):
            seen[edit.name.partition(":")[0]] += 1
            edited, still_saved = edits.apply(module, [edit.name], saved)
            check_edited(module, before, saved, edit, edited, still_saved, inputs)
            again = edits.applicable(edited, still_saved)
            assert edit.name not in [other.name for other in again], (seed, edit.name)
            for other in again:
                twice = edits.apply(module, [edit.name, other.name], saved)
                middle = Values(edited, inputs)
                check_edited(edited, middle, still_saved, other, *twice, inputs)
        assert module.code == code
    assert len(seen) == 8, seen
    assert min(seen.values()) > 4, seen


def check_edited(module, before, saved, edit, edited, still_saved, inputs):
    assert set(edit.nodes) <= before.by_name.keys()
    assert edit.nodes
    after = Values(edited, inputs)
    for node in edited.graph.nodes:
        if isinstance(value := node.meta.get("val"), torch.Tensor):
            assert value.shape == after.by_name[node.name].shape
            assert value.dtype == after.by_name[node.name].dtype
    expected = dict(enumerate(before.outputs))
    if edit.name.startswith(("nothing-saved", "save-only")):
        outputs = list(module.graph.nodes)[-1].args[0]
        expected = {place: value for place, value in expected.items() if outputs[place].name not in edit.nodes}
    elif edit.name == "save-upcasts":
        expected = dict(enumerate([*before.outputs, *(before.by_name[name] for name in edit.nodes)]))
        saved = [*saved, *range(len(before.outputs), len(expected))]
    assert len(after.outputs) == len(expected), edit
    for ours, theirs in zip(after.outputs, expected.values(), strict=True):
        assert same(ours, theirs), (edit, module.code, edited.code)
        assert ours.dtype == theirs.dtype or edit.name == "no-float32", edit
    assert list(still_saved) == [new for new, old in enumerate(expected) if old in saved], edit


def rope(qkv, cos, sin):
    """The forward pass as Thunder writes it: in float32, with cos and sin expanded, used twice, and saved."""
    up, down = (lambda x: x.to(torch.float32)), (lambda x: x.to(torch.bfloat16))
    batch, length, _ = qkv.shape
    size = cos.shape[1]
    groups, in_group = 2, 4
    heads = qkv.reshape(batch, length, groups, in_group + 2, size).permute(0, 2, 3, 1, 4).split((in_group, 1, 1), 2)
    each = (batch, groups, in_group, length, size)
    q, k, v = (
        x.reshape(batch, groups * in_group, length, size) for x in (heads[0], *(x.expand(each) for x in heads[1:]))
    )
    cos, sin = (up(x.unsqueeze(0).unsqueeze(1).expand(*q.shape)) for x in (cos, sin))
    rotated = []
    for x in (q, k):
        turned = torch.cat([down(-up(x[..., size // 2 :])), x[..., : size // 2]], -1)
        rotated.append(torch.cat([down(up(x) * cos + up(turned) * sin), x[..., 0:0]], -1))
    return v, cos, sin, *rotated


def rope_graph(device="cpu"):
    """Return the graph of `rope`, whose outputs 1 and 2 are saved, and its inputs."""
    form = {"dtype": torch.bfloat16, "device": device}
    inputs = [torch.ones(shape, **form) for shape in ((2, 64, 12 * 16), (64, 16), (64, 16))]
    return traced(rope, *inputs, converts=True), inputs


def check_rope():
    module, inputs = rope_graph()
    offered = edits.applicable(module, [1, 2])
    cos, sin = (node.name for node in list(module.graph.nodes)[-1].args[0][1:3])
    saved_edits = ["nothing-saved", f"save-only:{cos}", f"save-only:{sin}"]
    assert [edit.name for edit in offered] == [
        *saved_edits,
        "no-empty-cat",
        "no-float32",
        "split-as-slices",
        "no-sharing",
    ]
    assert offered[1].nodes == (sin,)
    assert offered[-1].nodes == (cos, sin)

    def after(*names):
        return edits.apply(module, names, [1, 2])

    nothing, saved = after("nothing-saved")
    assert (len(nothing(*inputs)), saved) == (3, ())
    assert len(after(f"save-only:{cos}")[0](*inputs)) == 4
    assert after(f"save-only:{cos}")[1] == (1,)
    assert counted(module)["aten.cat.default"] == 4
    assert counted(after("no-empty-cat")[0])["aten.cat.default"] == 2
    low = after("no-float32")[0]
    assert counted(module)["prims.convert_element_type.default"] == 12
    assert counted(low)["prims.convert_element_type.default"] == 0
    assert [x.dtype for x in low(*inputs)] == [torch.bfloat16] * 5
    assert low(*inputs)[1].stride() == (0, 0, 16, 1)
    slices = after("split-as-slices")[0]
    assert counted(slices)["aten.split_with_sizes.default"] == 0
    assert counted(slices)["aten.slice.Tensor"] == counted(module)["aten.slice.Tensor"] + 3
    alone = after("no-sharing")[0]
    assert counted(alone)["aten.unsqueeze.default"] == 8
    assert counted(alone)["prims.convert_element_type.default"] == 14
    results = list(alone.graph.nodes)[-1].args[0]
    assert [node.name for node in results[1:3]] == [cos, sin]
    assert "no-expand" in names(nothing)
    assert counted(after("nothing-saved", "no-expand")[0])["aten.expand.default"] == 2
    again, saved = edits.apply(nothing, ["save-upcasts"], ())
    assert saved == (3, 4)
    assert [node.name for node in list(again.graph.nodes)[-1].args[0][3:]] == [cos, sin]
    assert counted(edits.apply(copy.deepcopy(again), ["nothing-saved"], saved)[0]) == counted(nothing)


def check_nothing_for_it():
    module = traced(lambda x: [y for view in [x.unsqueeze(0)] for y in (view + 1, view * 2)], torch.ones(2))
    assert names(module) == names(module, [0])[1:] == []
    for name in ("no-expand", "save-only:x", "misspelt"):
        said = ""
        try:
            edits.apply(module, [name], [])
        except ValueError as error:
            said = str(error)
        assert said == f"the graph has nothing for the edit {name}"


def check_saved_as_it_is():
    """An input, or a result, that is saved too costs nothing."""

    def function(x):
        y = x + 1
        return y, y, x

    assert names(traced(function, torch.ones(2)), [1, 2]) == []


def check_writes_and_strides_are_left_alone():
    low = torch.ones(2, 2, dtype=torch.bfloat16)
    for function in (
        lambda x: (x.float() * 2, x.copy_(x + 1)),
        lambda x: (x.float().as_strided((2,), (2,)) * 2,),
        lambda x: (x.float().view(torch.int32) * 2,),
    ):
        assert names(traced(function, low), [0]) == []
    assert names(traced(lambda x: (x.float() * 2,), low), [0]) == ["nothing-saved", "no-float32"]


def check_float32_that_stays():
    low, full = torch.ones(4, 4, dtype=torch.bfloat16), torch.ones(4, 4)
    half = low.to(torch.float16)

    def converts(function, *inputs):
        module = traced(function, *inputs, converts=True)
        if "no-float32" in names(module):
            module = edits.apply(module, ["no-float32"], [])[0]
        converted = [node.meta["val"] for node in module.graph.nodes if "convert" in node.name]
        return [str(value.dtype).removeprefix("torch.") for value in converted]

    assert converts(lambda x: ((x.float() * 2).bfloat16(),), low) == []
    assert converts(lambda x, y: ((x.float() * y).bfloat16(),), low, full) == ["float32", "bfloat16"]
    assert converts(lambda x, y: (x.float() * y.float(),), low, half) == ["float32", "float32"]
    assert converts(lambda x: ((-x.float()).sum(0),), low) == ["float32"]
    assert converts(lambda x, y: [z for up in [x.float()] for z in (up @ y, -up)], low, full) == ["float32"]
    assert converts(lambda x, y: [y @ z @ z for z in [x.float()]], low, full) == ["float32"]
    assert converts(lambda x, y: [y @ z @ z for z in [-x.float()]], low, full) == ["float32"]
    assert converts(lambda x: ((-x.float()).half(),), low) == ["float16"]
    moved = traced(lambda x: (aten._to_copy(x, dtype=torch.float32, device="cpu") * 2,), low)
    assert names(moved) == []


def check_expands_that_stay():
    row, column, zero = torch.ones(1, 4), torch.ones(3, 1), torch.ones((), dtype=torch.float32)
    table, low = torch.ones(3, 4), torch.ones(3, 4, dtype=torch.bfloat16)

    def expands(function, *inputs):
        module = traced(function, *inputs)
        if "no-expand" in names(module):
            module = edits.apply(module, ["no-expand"], [])[0]
        return counted(module)["aten.expand.default"]

    assert expands(lambda x, y: (x.expand(3, 4) * y,), row, table) == 0
    assert expands(lambda x, y: (x.expand(3, 4) * y.expand(3, 4),), row, column) == 0
    assert expands(lambda x, y: (-x.expand(3, 4) * y,), row, table) == 0
    assert expands(lambda x, y: (-x.expand(3, 4) * y.expand(3, 4),), row, row) == 1
    assert expands(lambda x, y: (-x.expand(3, 4) * -y.expand(3, 4),), row, row) == 1
    assert expands(lambda x, y: (x.expand(3, 4).expand(2, 3, 4) * y,), row, torch.ones(2, 3, 4)) == 0
    assert expands(lambda x: (-x.expand(3, 4),), row) == 1
    assert expands(lambda x, y: (x.expand(3, 4).sum(0) * y,), row, table) == 1
    assert expands(lambda x, y: (x.expand(3, 4) * y,), zero, low) == 1


def check_views_of_what_has_other_strides_now():
    def function(x):
        return (torch.cat([x.t(), x.t()[:, 0:0]], 1).view(6),)

    x = torch.arange(6.0).reshape(2, 3)
    edited, _ = edits.apply(traced(function, x), ["no-empty-cat"], [])
    assert same(edited(x)[0], function(x)[0])


def check_empty_operand_that_decides_the_dtype():
    def function(x):
        return torch.cat([x, x[0:0].double()]), torch.cat([x[0:0], x[0:0]])

    assert names(traced(function, torch.ones(2))) == []


def kernels(compile_graph):
    """Count as Inductor itself does."""
    from torch._inductor import metrics

    metrics.reset()
    compile_graph()
    return metrics.generated_kernel_count


def ablation():
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    CachingAutotuner.bench = lambda *arguments, **options: 0.0  # the null device does not tell times
    return importlib.import_module("executors.ablation")


def ablation_check_rope_of_july_2024():
    importlib.import_module("executors.july_2024").install()
    module, _ = rope_graph("cuda")
    cos, sin = (node.name for node in list(module.graph.nodes)[-1].args[0][1:3])
    rows = ablation().ablate(module, [1, 2], [], kernels)
    assert [row["problem"] for row in rows] == [None] * len(rows), rows
    assert {tuple(row["edits"]): row["kernels"] for row in rows} == {
        (): 4,
        ("nothing-saved",): 2,
        (f"save-only:{cos}",): 3,
        (f"save-only:{sin}",): 3,
        ("no-empty-cat",): 2,
        ("no-float32",): 2,
        ("split-as-slices",): 4,
        ("no-sharing",): 5,
        ("no-opaque-index",): 2,
        ("new-cat",): 2,
    }


def ablation_check_rows():
    def function(x, y):
        up = x.to(torch.float32)
        return up * y, (up + y).sum(0)

    inputs = [torch.ones(64, 64, dtype=dtype, device="cuda") for dtype in (torch.bfloat16, torch.float32)]
    module = traced(function, *inputs)
    calls = []

    def count(compile_graph):
        calls.append(compile_graph)
        if len(calls) == 2:
            raise RuntimeError("one\n  two")
        return kernels(compile_graph)

    first, second, _, fourth, *others = ablation().ablate(module, [], ["save-upcasts"], count)
    assert first == {
        "edits": ["save-upcasts"],
        "what": "with the float32 up-casts that several operations use as further outputs",
        "operations": 4,
        "kernels": first["kernels"],
        "problem": None,
    }
    assert first["kernels"] >= 1
    assert second["edits"] == ["save-upcasts", "nothing-saved"]
    assert (second["kernels"], second["problem"]) == (None, "RuntimeError: one two")
    assert (fourth["edits"], fourth["operations"]) == (["save-upcasts", "no-sharing"], 5)
    found = ["save-upcasts", "loop-ordering"] in [row["edits"] for row in others]
    assert found == hasattr(torch._inductor.config, "loop_ordering_after_fusion")
    (none,) = ablation().ablate(module, [], ["save-upcasts", "no-empty-cat"], kernels)
    assert (none["kernels"], none["problem"]) == (None, "the graph has nothing for the edit no-empty-cat")


def ablation_check_strides_of_inputs():
    zeros = ablation().zeros
    for shape, strides in (((2, 3), (3, 1)), ((4, 5), (0, 2)), ((0, 3), (7, 1)), ((), ())):
        made = zeros(torch.empty_strided(shape, strides, dtype=torch.int64, device="cuda"))
        assert (made.shape, made.stride(), made.dtype, made.device.type) == (shape, strides, torch.int64, "cuda")
    assert zeros(3) == 3


def main():
    found = {}
    for name in sys.argv[2:]:
        try:
            globals()[name]()
            found[name] = ""
        except Exception:
            found[name] = traceback.format_exc()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
