"""Segmented fusions as models, with what nvFuser prints before their segments.

The mentions of tensors and the statements are written from docs/dump-format.md, not by ``segscope.dump``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from segscope.dump.eras import ERAS
from segscope.dump.write import segments_text
from segscope.model import Edge, Expr, Group, IdExpr, IterDomain, SegmentedFusion, Tensor, TensorTransforms
from tests.dump.generate_statements import MAKERS, SCALARS, Builder, Maker, arithmetic, set_, unary
from tests.dump.generate_tensors import Draw, dim_text, mention

NAMES = list(ERAS)
_WORDS = {
    "__bfloat": "bfloat",
    "__half": "half",
    "int64_t": "int64",
    "nvfuser_index_t": "index",
    "std::complex<float>": "complex_float",
}
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


@st.composite
def generated(draw: Draw, eras: Sequence[str] = NAMES, max_groups: int = 4) -> Generated:
    """A fusion of some groups, each fed by the fusion's inputs and by earlier groups."""
    era = NAMES.index(draw(st.sampled_from(eras)))
    b = Builder(draw, era)
    makers = [maker for since, maker in MAKERS if since <= era]
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
                inputs=(*listed, *(name for name in SCALARS if name in used)),
                outputs=tuple(outputs),
                expr_ids=tuple(expr.id for expr in exprs),
            )
        )
        producer |= dict.fromkeys((name for name in outputs if name in mine), index)
    return _finished(b, inputs, groups, edges)


def _shared(b: Builder, inputs: list[str]) -> list[Expr]:
    """Expressions of the fusion's inputs alone: nvFuser replicates them in every group that needs them."""
    shared = [unary(b, inputs, [])] if b.draw(st.booleans()) else []
    for _ in range(b.draw(st.integers(0, 2))):
        earlier = [name for expr in shared if expr.is_scalar for name in expr.outputs]
        shared.append(arithmetic(b, [], [*SCALARS, *earlier]))
    return shared


def _group(b: Builder, index: int, taken: list[str], shared: list[Expr], makers: list[Maker]) -> list[Expr]:
    exprs = shared[: b.draw(st.integers(0, len(shared)))]  # each may need those before it
    scalars = [*SCALARS, *(name for expr in exprs if expr.is_scalar for name in expr.outputs)]
    tensors = [*taken, *(name for expr in exprs for name in expr.tensor_outputs)]
    first = [set_] if index == 0 else []  # what tells E0, E1 and E2 from each other
    for maker in (*first, *(b.pick(makers) for _ in range(b.draw(st.integers(1, 3))))):
        exprs.append(maker(b, tensors, scalars))
        tensors += exprs[-1].tensor_outputs
    return exprs if exprs[-1].tensor_outputs else [*exprs, unary(b, tensors, scalars)]


def _finished(b: Builder, inputs: list[str], groups: list[Group], edges: list[Edge]) -> Generated:
    exprs = {number: expr for expr in b.exprs if (number := expr.id) in {i for g in groups for i in g.expr_ids}}
    order = dict.fromkeys(number for group in groups for number in group.expr_ids)
    listed = dict.fromkeys(name for group in groups for name in (*group.inputs, *group.outputs))
    consumed = {edge.value for edge in edges}
    outputs = [name for group in groups for name in group.outputs if name not in consumed]
    outputs = list(dict.fromkeys(outputs))
    mentioned = {*inputs, *outputs, *listed}
    mentioned.update(name for expr in exprs.values() for name in (*expr.inputs, *expr.outputs))
    scalars = {name: dtype for name, dtype in SCALARS.items() if name in listed}
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
        dtypes = {name: b.tensors[name].dtype if name in b.tensors else SCALARS[name] for name in names}
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


# --- long ones, without choices ------------------------------------------------------------------------------------


def chain(groups: int) -> Generated:
    """A fusion of today whose every group reads the one before."""
    tensors = [Tensor(name=f"T{n}", memory="g", dtype="float", domain=(_number_dim(n),)) for n in range(groups + 1)]
    says = [mention(tensor, 10) for tensor in tensors]
    exprs = [
        Expr(
            id=n, kind="unary", op="sin", outputs=(f"T{n}",), inputs=(f"T{n - 1}",), attributes={},
            text=f"{says[n]}\n   = sin({says[n - 1]});",
        )
        for n in range(1, groups + 1)
    ]  # fmt: skip
    fusion = SegmentedFusion(
        index=0,
        era="E7",
        inputs=(),
        outputs=(),
        groups=tuple(
            Group(index=n, id=n, scheduler="pointwise", inputs=(f"T{n}",), outputs=(f"T{n + 1}",), expr_ids=(n + 1,))
            for n in range(groups)
        ),
        edges=tuple(Edge(source=n, target=n + 1, value=f"T{n + 1}") for n in range(groups - 1)),
        exprs=tuple(exprs),
        tensors={tensor.name: tensor for tensor in tensors},
        first_line=1,
    )
    return Generated(fusion, "")


def _number_dim(number: int) -> IterDomain:
    return IterDomain(iter_type="i", parallel_type="S", number=number, extent="8", size=8)
