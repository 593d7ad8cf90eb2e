"""Statements of every kind as expressions, and the text of each in an era (docs/dump-format.md 1.5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from segscope.model import Expr, Tensor
from tests.dump.generate_tensors import Draw, Record, iter_domain, mention

_DTYPES = ["float", "__bfloat", "__half", "double", "int64_t", "bool", "nvfuser_index_t", "std::complex<float>"]
SCALARS = {"i0": "int64_t", "i3": "nvfuser_index_t", "d5": "double", "b7": "bool"}


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
        domain = [iter_domain(self.draw, self._dims + at, self.era, on_devices) for at in range(rank)]
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
        """Keep an expression; ``«T1»`` in its text stands for what is printed of T1."""
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


def unary(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
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


def set_(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
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
        return unary(b, tensors, scalars)
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


def arithmetic(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
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


def _welford(b: Builder, tensors: list[str], scalars: list[str]) -> Expr:
    outs, source = [b.tensor() for _ in range(3)], b.pick(tensors)
    lines = ",\n".join(f"«{out}»({role})" for out, role in zip(outs, ("Avg", "Var", "Count"), strict=True))
    text = f"{lines}\n = Welford ( «{source}»(Avg), \n  allreduce = false )"
    attributes = {"avg": outs[0], "var": outs[1], "count": outs[2], "allreduce": False}
    return b.expr("welford", "Welford", outs, [source], attributes, text)


MAKERS: list[tuple[int, Maker]] = [
    (0, unary),
    (0, _cast),
    (0, _infix),
    (0, _function),
    (0, _where),
    (0, set_),
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
    (0, _welford),
    (0, _full),
    (0, _index_select),
    (3, _linear),
    (0, _unknown),
    (2, _metadata),
]
