"""Segmented fusions as models, with what nvFuser prints before their segments.

The mentions of tensors and the statements are written here from docs/dump-format.md, not by ``segscope.dump``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from segscope.dump.eras import ERAS
from segscope.dump.write import segments_text
from segscope.model import Edge, Expr, Group, IdExpr, IterDomain, SegmentedFusion, Tensor, TensorTransforms

NAMES = list(ERAS)
Draw = Callable[[st.SearchStrategy[Any]], Any]
Record = dict[str, Any]

_DTYPES = ["float", "__bfloat", "__half", "double", "int64_t", "bool", "nvfuser_index_t", "std::complex<float>"]
_WORDS = {
    "__bfloat": "bfloat",
    "__half": "half",
    "int64_t": "int64",
    "nvfuser_index_t": "index",
    "std::complex<float>": "complex_float",
}
_SCALARS = {"i0": "int64_t", "i3": "nvfuser_index_t", "d5": "double", "b7": "bool"}
_SCHEDULERS = {
    "no_op": (0, 10),
    "pointwise": (0, 10),
    "reduction": (0, 10),
    "transpose": (0, 10),
    "persistent": (0, 1),
    "inner_persistent": (2, 10),
    "expr_eval": (2, 10),
    "resize": (7, 10),
    "communication": (7, 10),
    "none": (2, 10),
}


@dataclass(frozen=True)
class Generated:
    """A fusion, and the text that tells its inputs and outputs, and in some eras its era."""

    fusion: SegmentedFusion
    around: str

    @property
    def text(self) -> str:
        return f"{self.around}{segments_text(self.fusion)}\n"

    def placed(self, index: int, lines_before: int) -> SegmentedFusion:
        """The fusion as it is read where ``lines_before`` lines stand before this text."""
        first = lines_before + self.around.count("\n") + 1
        return self.fusion.model_copy(update={"index": index, "first_line": first})


# --- extents and tensors -------------------------------------------------------------------------------------------


def _calculated(op: str, a: int, b: int) -> int | None:
    if op in ("/", "%", "ceilDiv") and b == 0:
        return None
    quotient = 0 if b == 0 else math.trunc(a / b)
    return {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "/": quotient,
        "%": a - quotient * b,
        "ceilDiv": 0 if b == 0 else -(-a // b),
        "fmax": max(a, b),
        "fmin": min(a, b),
    }[op]


def _combined(parts: tuple[str, tuple[str, int | None], tuple[str, int | None]]) -> tuple[str, int | None]:
    op, (left, a), (right, b) = parts
    text = f"( {op}({left}, {right}) )" if op.isalpha() else f"( {left} {op} {right} )"
    return text, None if a is None or b is None else _calculated(op, a, b)


_numbers = st.integers(0, 40_000).map(lambda number: (str(number), number))
_extents = st.recursive(
    _numbers | st.sampled_from([("i0", None), ("i3", None)]),
    lambda inner: st.tuples(st.sampled_from("+ - * / % ceilDiv fmax fmin".split()), inner, inner).map(_combined),
    max_leaves=4,
)
_DIMS = ["constant"] * 4 + ["symbol", "nested", "expanded", "reduction", "rfactor", "start", "stop", "symbolic"]


def _iter_domain(draw: Draw, number: int, era: int, on_devices: bool) -> IterDomain:
    form = draw(st.sampled_from(_DIMS))
    extent, size = draw(_extents) if form in ("nested", "rfactor") else draw(_numbers)
    more: Record = {"iter_type": "i", "parallel_type": "S"}
    if form == "symbol":
        extent, size = "i3", None
    elif form == "expanded":
        more["iter_type"] = "b"
        if era >= 3:  # until January 2024 the expanded extent stands alone
            expanded, expanded_size = draw(_extents)
            more |= {"expanded_extent": expanded, "expanded_size": expanded_size}
            extent, size = "1", 1
    elif form == "reduction":
        more["iter_type"] = "r"
    elif form == "rfactor":
        more["rfactor"] = True
    elif form in ("start", "stop"):
        more["start"] = "1"
        if form == "stop":
            more["stop"] = "( i0 - 1 )"
    elif form == "symbolic":
        more |= {"iter_type": "?", "rfactor": True}
    if on_devices and form == "constant":
        more["parallel_type"] = "deviceIdx.x"
    return IterDomain(number=number, extent=extent, size=size, **more)


def dim_text(dim: IterDomain) -> str:
    bounds = [bound for bound in (dim.start, dim.stop) if bound]
    expanded = f" ex {dim.expanded_extent}" if dim.expanded_extent else ""
    inside = " : ".join([*bounds, dim.extent]) + expanded
    return f"{dim.iter_type}{dim.parallel_type}{dim.number}{{{inside}}}{'rf' if dim.rfactor else ''}"


def mention(tensor: Tensor, era: int) -> str:
    dims = ", ".join(map(dim_text, tensor.domain))
    if era < 7:
        dims = f" {dims} " if dims else " " if era >= 2 else " 0 "
    dtype = f"_{tensor.dtype}" if era >= 6 else ""
    mesh = f" (DeviceMesh{tensor.mesh})" if tensor.mesh else ""
    return f"{tensor.name}_{tensor.memory}{dtype}[{dims}]{mesh}"


# --- statements ----------------------------------------------------------------------------------------------------


class Builder:
    """Draws the tensors and the statements of one fusion."""

    def __init__(self, draw: Draw, era: int) -> None:
        self.draw = draw
        self.era = era
        self.tensors: dict[str, Tensor] = {}
        self.scalar_count = 20
        self.exprs: list[Expr] = []
        self._dims = 0
        self._step = draw(st.sampled_from([1, 17, 996]))

    def pick(self, choices: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(choices)))

    def tensor(self, memory: str = "l") -> str:
        on_devices = self.era >= 2 and self.draw(st.integers(0, 9)) == 9
        rank = self.draw(st.integers(0, 3))
        domain = [_iter_domain(self.draw, self._dims + at, self.era, on_devices) for at in range(rank)]
        self._dims += rank
        name = f"T{len(self.tensors)}"
        self.tensors[name] = Tensor(
            name=name,
            memory=memory,
            dtype=self.pick(_DTYPES),
            domain=tuple(domain),
            mesh="{0 1}" if on_devices else None,
        )
        return name

    def scalar(self, letter: str) -> str:
        self.scalar_count += 1
        return f"{letter}{self.scalar_count}"

    def says(self, name: str) -> str:
        return mention(self.tensors[name], self.era) if name in self.tensors else name

    def expr(self, kind: str, op: str, outputs: list[str], inputs: list[str], attributes: Record, text: str) -> Expr:
        """Keep an expression; ``{T1}`` in its text stands for what is printed of T1."""
        number = (len(self.exprs) + 1) * self._step % 997
        text = re.sub(r"«(T\d+)»", lambda match: self.says(match[1]), text)
        self.exprs.append(
            Expr(
                id=number,
                kind=kind,
                op=op,
                outputs=tuple(outputs),
                inputs=tuple(inputs),
                attributes=attributes,
                text=text,
            )
        )
        return self.exprs[-1]

    def index(self, scalars: Sequence[str]) -> str:
        """An integer or the name of a scalar."""
        integers = [name for name in scalars if name.startswith("i")]
        return str(self.draw(st.integers(-9, 9))) if not integers or self.draw(st.booleans()) else self.pick(integers)


Maker = Callable[[Builder, list[str], list[str]], Expr]


def _value(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdecimal() else text


def _names(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text[0].isalpha() and text[-1].isdigit()]


def _operand(b: Builder, tensors: list[str], scalars: list[str]) -> str:
    return b.pick([*tensors, *scalars, "double(3)", "float(-inf)", "4"])


def _printed(operand: str) -> str:
    return f"«{operand}»" if operand.startswith("T") else operand


def _unary(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    op = b.pick(["relu", "exp", "rsqrt", "std::real", "-", "!", "~"])
    operand = f"({_printed(source)})" if op[0].isalpha() else _printed(source)
    return b.expr("unary", op, [out], [source], {}, f"«{out}»\n   = {op}{operand};")


def _cast(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    op, known = b.pick(
        [
            ("__bfloat2float", {"from": "bfloat", "to": "float"}),
            ("__float2half", {"from": "float", "to": "half"}),
            ("__half2int", {"from": "half", "to": "int64"}),
            ("to", {"to": "float"}),
        ]
    )
    if op == "to":  # the operand's dtype says the rest, where it is printed by then: see _known_casts
        op = "__to_float" if b.era >= 8 else "(float)"
    return b.expr("cast", op, [out], [source], known, f"«{out}»\n   = {op}({_printed(source)});")


def _infix(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, left, op = b.tensor(), b.pick(tensors), b.pick(["+", "-", "*", "/", "==", "<=", "<", "&&", ">>", "^"])
    right = _operand(b, tensors, scalars)
    text = f"«{out}»\n   = {_printed(left)}\n   {op} {_printed(right)};"
    return b.expr("binary", op, [out], _names([left, right]), {}, text)


def _function(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, left, op = b.tensor(), b.pick(tensors), b.pick(["pow", "fmax", "remainder", "atan2"])
    right = _operand(b, tensors, scalars)
    text = f"«{out}»\n   = {op}({_printed(left)}\n  , {_printed(right)});"
    return b.expr("binary", op, [out], _names([left, right]), {}, text)


def _where(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, first = b.tensor(), b.pick(tensors)
    rest = [_operand(b, tensors, scalars) for _ in range(2)]
    text = f"«{out}»\n   = where({_printed(first)}\n  , {_printed(rest[0])}\n  , {_printed(rest[1])});"
    return b.expr("ternary", "where", [out], _names([first, *rest]), {}, text)


def _set(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    if b.era == 0:
        return b.expr("set", "", [out], [source], {}, f"«{out}»\n   = «{source}»;")
    return _load(b, "set", "Set", out, source)


def _permute(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    if b.era == 0:
        return b.expr("permute", "transpose", [out], [source], {}, f"«{out}» = transpose( «{source}» )")
    return _load(b, "permute", "Set.Permute", out, source)


def _load(b: Builder, kind: str, op: str, out: str, source: str) -> Expr:
    cached = {"cache_op": b.pick(["Streaming", "AllLevels"])} if b.era >= 2 else {}
    behind = "".join(f", {key}={value}" for key, value in cached.items())
    return b.expr(kind, op, [out], [source], cached, f"«{out}»\n   = {op}( «{source}»{behind} )")


def _segmenter_set(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    return b.expr("segmenter_set", "SegmenterSet", [out], [source], {}, f"«{out}»\n   = SegmenterSet( «{source}» )")


def _reshape(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source, op = b.tensor(), b.pick(tensors), "reshape" if b.era >= 9 else "view"
    return b.expr("reshape", op, [out], [source], {}, f"«{out}» = {op}( «{source}» )")


def _flagged(op: str) -> Maker:
    def make(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
        out, source = b.tensor(), b.pick(tensors)
        flags = b.draw(st.lists(st.booleans(), max_size=4))
        attributes, behind = {}, ""
        if b.era >= 7:
            attributes = {"flags": tuple(flags)}
            behind = f", flags = {{{', '.join('true' if flag else 'false' for flag in flags)}}}"
        return b.expr(op, op, [out], [source], attributes, f"«{out}»\n   = {op}( «{source}»{behind} )")

    return make


def _expand(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    here = [name for name in tensors if b.tensors[name].mesh is None]
    if not here:
        return _unary(b, tensors, scalars)
    out, source = b.tensor(), b.pick(here)
    if b.era >= 8:
        return b.expr("expand", "expand", [out], [source], {}, f"«{out}» = expand( «{source}» )")
    sizes = [b.index(scalars) for _ in range(b.draw(st.integers(0, 3)))]
    text = f"«{out}» = expand( «{source}», {{{', '.join(sizes)}}} )"
    return b.expr("expand", "expand", [out], [source, *_names(sizes)], {"sizes": tuple(map(_value, sizes))}, text)


def _slice(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    ranges = [[b.index(scalars) for _ in range(3)] for _ in range(b.draw(st.integers(1, 3)))]
    pieces = " ".join(f"{{{', '.join(piece)}}}" for piece in ranges)
    inputs = [source, *(name for piece in ranges for name in _names(piece))]
    attributes = {"ranges": tuple(tuple(map(_value, piece)) for piece in ranges)}
    return b.expr("slice", "slice", [out], inputs, attributes, f"«{out}»\n   = slice( «{source}», {{ {pieces} }} )")


def _pad(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    widths = [b.index(scalars) for _ in range(b.draw(st.integers(0, 4)))]
    text = f"«{out}»\n   = pad( «{source}», {{{', '.join(widths)}}} )"
    return b.expr("pad", "pad", [out], [source, *_names(widths)], {"widths": tuple(map(_value, widths))}, text)


def _cat(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, dim = b.tensor(), b.draw(st.integers(0, 4))
    sources = b.draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=4))
    text = f"«{out}»\n   = cat( {', '.join(map(_printed, sources))}, {dim} )"
    return b.expr("cat", "cat", [out], sources, {"dim": dim}, text)


def _reduction(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source, op = b.tensor(), b.pick(tensors), b.pick(["add", "mul", "fmax", "logical_and"])
    initial = b.pick(["float(0)", "double(-inf)", "0", "true"])
    attributes: Record = {"op": op, "initial value": {"0": 0, "true": True}.get(initial, initial), "allreduce": False}
    behind = f"op = {op}, initial value = {initial}, allreduce = false"
    text = f"«{out}»\n   = reduction( «{source}», {behind} )"
    return b.expr("reduction", "reduction", [out], [source], attributes, text)


def _full(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out = b.tensor()
    sizes = [b.index(scalars) for _ in range(b.draw(st.integers(0, 2)))]
    comma = ", " if sizes else ""
    text = f"«{out}»\n   = full({{{', '.join(sizes)}}}{comma}float(1));"
    attributes = {"sizes": tuple(map(_value, sizes)), "value": "float(1)"}
    return b.expr("full", "full", [out], _names(sizes), attributes, text)


def _index_select(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, op, dim = b.tensor(), "indexSelect" if b.era >= 7 else "index_select", b.draw(st.integers(0, 3))
    table, at = b.pick(tensors), b.pick(tensors)
    text = f"«{out}»\n   = {op}( «{table}», dim = {dim}, «{at}» )"
    return b.expr("index_select", op, [out], [table, at], {"dim": dim}, text)


def _linear(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, sources = b.tensor(), [b.pick(tensors) for _ in range(2)]
    text = f"«{out}»\n   = linear(«{sources[0]}»,\n            «{sources[1]}»  )"
    return b.expr("linear", "linear", [out], sources, {}, text)


def _unknown(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    out, source = b.tensor(), b.pick(tensors)
    text = f"«{out}»\n   = frobnicate( «{source}», depth = 3 )"
    return b.expr("unknown", "frobnicate", [out], [source], {"depth": 3}, text)


def _arithmetic(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    """A scalar of scalars; ``tensors`` may be empty."""
    left, right = b.index(scalars), b.index(scalars)
    form = b.pick(["infix", "compare", "function", "negate", "where", "cast"])
    if form == "infix":
        op, out = b.pick("+ - * / %".split()), b.scalar("i")
        return b.expr("binary", op, [out], _names([left, right]), {}, f"{out} = {left} {op} {right};")
    if form == "compare":
        out = b.scalar("b")
        return b.expr("binary", "==", [out], _names([left, right]), {}, f"{out} = {left} == {right};")
    if form == "function":
        op, out = b.pick(["ceilDiv", "fmax"]), b.scalar("i")
        return b.expr("binary", op, [out], _names([left, right]), {}, f"{out} = {op}({left}, {right});")
    if form == "negate":
        out = b.scalar("i")
        return b.expr("unary", "-", [out], ["i0"], {}, f"{out} = -i0;")
    if form == "where":
        out = b.scalar("i")
        text = f"{out} = where(b7, {left}, {right});"
        return b.expr("ternary", "where", [out], _names(["b7", left, right]), {}, text)
    out, op = b.scalar("d"), "__to_double" if b.era >= 8 else "(double)"
    return b.expr("cast", op, [out], ["i0"], {"to": "double"}, f"{out} = {op}(i0);")


def _metadata(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    source, out = b.pick(tensors), b.scalar("s")
    return b.expr("get_metadata", "getMetaData", [out], [source], {}, f"{out} = getMetaData(«{source}»)")


_MAKERS: list[tuple[int, Maker]] = [
    (0, _unary),
    (0, _cast),
    (0, _infix),
    (0, _function),
    (0, _where),
    (0, _set),
    (0, _permute),
    (1, _segmenter_set),
    (0, _reshape),
    (0, _flagged("broadcast")),
    (0, _flagged("squeeze")),
    (0, _expand),
    (1, _slice),
    (1, _pad),
    (1, _cat),
    (0, _reduction),
    (0, _full),
    (0, _index_select),
    (3, _linear),
    (0, _unknown),
    (2, _metadata),
]


# --- fusions -------------------------------------------------------------------------------------------------------


@st.composite
def generated(draw: Draw, eras: Sequence[str] = NAMES, max_groups: int = 4) -> Generated:
    """A fusion of some groups, each fed by the fusion's inputs and by earlier groups."""
    era = NAMES.index(draw(st.sampled_from(eras)))
    b = Builder(draw, era)
    makers = [maker for since, maker in _MAKERS if since <= era]
    inputs = [b.tensor("g") for _ in range(draw(st.integers(1, 3)))]
    shared = _shared(b, inputs)
    groups: list[Group] = []
    edges: list[Edge] = []
    producer: dict[str, int] = {}
    count = draw(st.integers(1, max_groups))
    ids = draw(st.permutations(range(count)))
    empty = draw(st.integers(1, 3 * count))  # the group of this number, if any, has no expressions
    for index in range(count):
        taken = draw(st.lists(st.sampled_from([*inputs, *producer]), min_size=1, max_size=3, unique=True))
        exprs = []
        if index != empty:
            exprs = _group(b, index, taken, shared, makers)
        made = [name for expr in exprs for name in expr.tensor_outputs]
        mine = [name for expr in exprs if expr not in shared for name in expr.tensor_outputs]
        outputs = [name for name in mine if name == mine[-1] or draw(st.booleans())] or taken[:1]
        used = {name for expr in exprs for name in expr.inputs}
        needed = {name for expr in exprs if expr in shared for name in expr.tensor_inputs}
        listed = sorted({*taken, *needed} - set(made), key=lambda name: int(name[1:]))
        edges += [Edge(source=producer[name], target=index, value=name) for name in listed if name in producer]
        groups.append(
            Group(
                index=index,
                id=ids[index] if era >= 4 else None,
                scheduler=draw(st.sampled_from([name for name, (a, z) in _SCHEDULERS.items() if a <= era <= z])),
                inputs=(*listed, *(name for name in _SCALARS if name in used)),
                outputs=tuple(outputs),
                expr_ids=tuple(expr.id for expr in exprs),
            )
        )
        producer |= dict.fromkeys((name for name in outputs if name in mine), index)
    return _finished(b, inputs, groups, edges)


def _shared(b: Builder, inputs: list[str]) -> list[Expr]:
    """Expressions of the fusion's inputs alone: nvFuser replicates them in every group that needs them."""
    shared = [_unary(b, inputs, [])] if b.draw(st.booleans()) else []
    for _ in range(b.draw(st.integers(0, 2))):
        earlier = [name for expr in shared if expr.is_scalar for name in expr.outputs]
        shared.append(_arithmetic(b, [], [*_SCALARS, *earlier]))
    return shared


def _group(b: Builder, index: int, taken: list[str], shared: list[Expr], makers: list[Maker]) -> list[Expr]:
    exprs = shared[: b.draw(st.integers(0, len(shared)))]  # each may need those before it
    scalars = [*_SCALARS, *(name for expr in exprs if expr.is_scalar for name in expr.outputs)]
    tensors = [*taken, *(name for expr in exprs for name in expr.tensor_outputs)]
    first = [_set] if index == 0 else []  # what tells E0, E1 and E2 from each other
    for maker in (*first, *(b.pick(makers) for _ in range(b.draw(st.integers(1, 3))))):
        exprs.append(maker(b, tensors, scalars))
        tensors += exprs[-1].tensor_outputs
    return exprs if exprs[-1].tensor_outputs else [*exprs, _unary(b, tensors, scalars)]


def _finished(b: Builder, inputs: list[str], groups: list[Group], edges: list[Edge]) -> Generated:
    exprs = {number: expr for expr in b.exprs if (number := expr.id) in {i for g in groups for i in g.expr_ids}}
    order = dict.fromkeys(number for group in groups for number in group.expr_ids)
    listed = dict.fromkeys(name for group in groups for name in (*group.inputs, *group.outputs))
    consumed = {edge.value for edge in edges}
    outputs = [name for group in groups for name in group.outputs if name not in consumed]
    outputs = list(dict.fromkeys(outputs))
    mentioned = {*inputs, *outputs, *listed}
    mentioned.update(name for expr in exprs.values() for name in (*expr.inputs, *expr.outputs))
    scalars = {name: dtype for name, dtype in _SCALARS.items() if name in listed}
    whole_inputs = [*inputs, *scalars]
    with_dtype = {*inputs, *outputs, *listed}
    tensors = {name: tensor for name, tensor in b.tensors.items() if name in mentioned}
    transforms, printed = _transforms(b, tensors) if b.era == 10 else ((), "")
    around = _around(b, whole_inputs, outputs, [exprs[number].text for number in order], printed)
    known = {
        n: t if b.era >= 6 or n in with_dtype else t.model_copy(update={"dtype": None}) for n, t in tensors.items()
    }
    ordered = _known_casts([exprs[number] for number in order], known)
    fusion = SegmentedFusion(
        index=0,
        era=_told(b.era, ordered),
        inputs=tuple(whole_inputs),
        outputs=tuple(outputs),
        groups=tuple(groups),
        edges=tuple(edges),
        exprs=tuple(ordered),
        tensors=known,
        scalars=scalars,
        transforms=transforms,
        first_line=around.count("\n") + 1,
    )
    return Generated(fusion, around)


def _known_casts(exprs: list[Expr], tensors: dict[str, Tensor]) -> list[Expr]:
    """Say what casts convert from where only the operand's dtype tells it."""
    known = []
    for expr in exprs:
        source = tensors.get(expr.inputs[0]) if expr.kind == "cast" else None
        if source and source.dtype and "from" not in expr.attributes:
            word = _WORDS.get(source.dtype, source.dtype)
            expr = expr.model_copy(update={"attributes": {"from": word, **expr.attributes}})
        known.append(expr)
    return known


def _told(era: int, exprs: list[Expr]) -> str:
    """The era as far as the text tells it: from September 2024 the earliest that prints all of it."""
    if era not in (8, 9):
        return NAMES[era]
    if any(expr.op == "reshape" for expr in exprs):
        return "E9"
    told = any(expr.op in ("__to_float", "__to_double", "expand") for expr in exprs)
    return "E8" if told else "E7"


def _transforms(b: Builder, tensors: dict[str, Tensor]) -> tuple[tuple[TensorTransforms, ...], str]:
    """Domains of each tensor: as they are, or made from a root by a split or a resize of the first dimension."""
    found, lines = [], []
    for name, tensor in tensors.items():
        loop = list(tensor.domain)
        ids = ", ".join(map(dim_text, loop))
        numbers = tuple(dim.number for dim in loop)
        root, exprs, dims = None, [], list(loop)
        lines.append(b.says(name))
        if loop and b.draw(st.booleans()):
            source = IterDomain(iter_type="i", parallel_type="S", number=9000 + loop[0].number, extent="12", size=12)
            op, attributes, text = b.pick(
                [
                    ("Resize", {"left": -2, "right": "i3"}, f"Resize: {dim_text(source)} by -2 and i3 -> "),
                    ("Split", {"factor": 4}, f"Split: {dim_text(source)} by factor 4 -> "),
                ]
            )
            made = loop[:1] if op == "Resize" else loop[:2]
            text += ", ".join(map(dim_text, made))
            root_dims = [source, *loop[len(made) :]]
            root = tuple(dim.number for dim in root_dims)
            lines += [f"  root domain: ({', '.join(map(dim_text, root_dims))})", f"    {text}"]
            outputs = tuple(dim.number for dim in made)
            kind = op.lower()
            exprs.append(
                IdExpr(kind=kind, op=op, inputs=(source.number,), outputs=outputs, attributes=attributes, text=text)
            )
            dims.append(source)
        contiguity = tuple(b.pick([True, False, None]) for _ in loop)
        letters = {True: "t", False: "f", None: "n"}
        lines += [f"  logical domain: ({ids})", f"  contiguity: {' '.join(letters[mark] for mark in contiguity)}"]
        lines += [f"    {expr.text}" for expr in exprs]
        lines += [f"  loop domain: ({ids})"]
        found.append(
            TensorTransforms(
                tensor=name,
                ids=tuple(dims),
                root=root,
                logical=numbers,
                allocation=None,
                contiguity=contiguity,
                loop=numbers,
                alternate_loop=None,
                exprs=tuple(exprs),
            )
        )
    return tuple(found), "".join(f"{line}\n" for line in lines)


def _around(b: Builder, inputs: list[str], outputs: list[str], statements: list[str], transforms: str) -> str:
    def listed(names: list[str]) -> str:
        dtypes = {name: b.tensors[name].dtype if name in b.tensors else _SCALARS[name] for name in names}
        return "".join(f"  {b.says(name)}{f', {dtypes[name]}' if b.era < 6 else ''}\n" for name in names)

    kernel = "%kernel" if b.era == 10 else "%kernel_math"
    if b.era == 10:
        transforms = f"\nTransformPrinter : \n{transforms}"
    end = "}" if b.era < 3 else f"}} // {kernel}" if b.era == 10 else f"}} // {kernel} "
    return (
        "Segmented_Fusion Dump: -- Re-written complete fusion:{\n"
        f"Inputs:\n{listed(inputs)}Outputs:\n{listed(outputs)}\n"
        f"{kernel} {{\n{''.join(f'{text}{chr(10)}' for text in statements)}{transforms}{end}\n"
        + ("" if b.era == 10 else "\n")
        + "} // {Re-written complete fusion}\n"
        + ("\n" if b.era == 10 else "")
    )
