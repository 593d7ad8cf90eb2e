"""Reading takes steps in proportion to the length of the text, however hostile it is."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from segscope.dump import statements, transforms
from segscope.dump.extents import constant
from segscope.dump.values import Tensors, iter_domain, iter_domains
from segscope.errors import SegscopeError

A = "T1_l_float[iS1{8}]"
GROUPED = f"{A} = reduction( i0, op = x, initial value = 0 ) "


def statement(text: str) -> None:
    statements.parse(text, 0, Tensors())


def mention(text: str) -> None:
    Tensors().abbreviate(text)


def block(text: str) -> None:
    transforms.parse(["T0_l[ ]", "  logical domain: ()", f"    {text}"], Tensors())


CASES: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "opening brackets": (statement, lambda n: f"{A}\n   = relu({'(' * n}"),
    "nested brackets": (statement, lambda n: f"{A}\n   = relu({'(' * n}{')' * n})"),
    "operands": (statement, lambda n: f"{A}\n   = cat( {', '.join([A] * n)}, 0 )"),
    "distinct operands": (statement, lambda n: f"{A}\n   = cat( {', '.join(f'T{i}_l[ ]' for i in range(n))}, 0 )"),
    "ranges": (statement, lambda n: f"{A}\n   = slice( {A}, {{ {'{0, i0, 1} ' * n}}} )"),
    "widths": (statement, lambda n: f"{A}\n   = pad( {A}, {{{', '.join(['0'] * n)}}} )"),
    "keywords": (statement, lambda n: f"{A}\n   = foo( {', '.join(['a = b'] * n)} )"),
    "assignments": (statement, lambda n: "T1 = " * n),
    "unclosed assignments": (statement, lambda n: "( = " * n + ") " * n),
    "operators": (statement, lambda n: f"{A}\n   = " + "i0 + " * n + "i0;"),
    "blanks": (statement, lambda n: f"{A}\n   = relu({' ' * n}i0);"),
    "a long name": (statement, lambda n: f"{A}\n   = {'a' * n}(i0);"),
    "a long word": (statement, lambda n: "d1x" + "1" * n + "x"),
    "a long number": (statement, lambda n: f"{A}\n   = cat( {A}, {'1' * n} )"),
    "a long cast": (statement, lambda n: f"{A}\n   = ({'f' * n})(i0);"),
    "casts": (statement, lambda n: f"{A}\n   = {'(float)' * n}(i0);"),
    "roles": (statement, lambda n: f"{A}(Avg)\n = Welford ( {'d1(Avg) ' * n}, initial value = {'d1 ' * n})"),
    "grouped reductions": (statement, lambda n: f"GroupedReductionOp( {GROUPED * n})"),
    "nested reductions": (statement, lambda n: f"GroupedReductionOp( {'T1 = reduction( ' * n}{') ' * n})"),
    "outputs of no reduction": (statement, lambda n: f"GroupedReductionOp( {'T1, ' * n})"),
    "a team": (statement, lambda n: f"Communication 3 (team=({'0 ' * n}))"),
    "dimensions": (mention, lambda n: f"T1_g[ {', '.join(['iS0{2}'] * n)} ]"),
    "distinct dimensions": (mention, lambda n: f"T1_g[{', '.join(f'iS{i}{{{i}}}' for i in range(n))}]"),
    "deep extents": (mention, lambda n: f"T1_g[iS0{{{'( ' * n}i0{' )' * n}}}]"),
    "many operators in an extent": (mention, lambda n: f"T1_g[iS0{{( {'1 + ' * n}1 )}}]"),
    "a large extent": (mention, lambda n: f"T1_g[iS0{{( {'99999999 * ' * n}1 )}}]"),
    "items": (mention, lambda n: f"T1_g[iS0{{( {'(a0)[0] + ' * n}1 )}}]"),
    "bounds": (mention, lambda n: f"T1_g[iS0{{{'1 : ' * n}1}}]"),
    "expansions": (mention, lambda n: f"T1_g[bS0{{1{' ex 2' * n}}}]"),
    "marks": (mention, lambda n: f"T1_g[iS0{{1}}{'rf' * n}]"),
    "unclosed tensors": (mention, lambda n: "T1_g[ " * n),
    "unclosed tensors around closed ones": (mention, lambda n: "T1_g[ " + "T2_g[ ] [" * n),
    "tensors without a domain": (mention, lambda n: "T1_g_float " * n),
    "dtypes": (mention, lambda n: "T1_g_A<" * n),
    "pointers": (mention, lambda n: "T1_g_A<" + "*" * n),
    "structs": (mention, lambda n: "T1_g_struct { " * n),
    "scopes": (mention, lambda n: "T1_g_a:" * n),
    "positions": (mention, lambda n: f"T1_g[ ]{' ca_pos( 1 )' * n}"),
    "unclosed positions": (mention, lambda n: "T1_g[ ] ca_pos( 1" * n),
    "a long position": (mention, lambda n: f"T1_g[ ] compute_with( {'a' * n} )"),
    "consumers": (mention, lambda n: f"T1_g[ ] compute_with( {'T1, ' * n}1 )"),
    "meshes": (mention, lambda n: f"T1_g[ ]{' (DeviceMesh{0 1})' * n}"),
    "a large mesh": (mention, lambda n: f"T1_g[ ] (DeviceMesh{{{'0 ' * n}}})"),
    "brackets in an extent": (constant, lambda n: "(" * n),
    "signs in an extent": (constant, lambda n: "-" * n),
    "blanks in an extent": (constant, lambda n: "1" + " " * n + "x"),
    "iter domains of a step": (block, lambda n: f"Split: iS0{{8}} by factor 2 -> {', '.join(['iS1{2}'] * n)}"),
    "operands of a merge": (block, lambda n: f"Merge: {' and '.join(['iS1{2}'] * n)} -> iS2{{2}}"),
    "swizzles": (block, lambda n: "iS2{2} = Swizzle1D(" * n),
    "arrows": (block, lambda n: "Split: " + " -> " * n),
    "a long domain": (block, lambda n: f"root domain: ({', '.join(['iS1{2}'] * n)})"),
    "an unclosed domain": (block, lambda n: f"root domain: ({'iS1{2}, (' * n}"),
    "contiguity": (block, lambda n: "contiguity:" + " t" * n),
}  # fmt: skip

each_case = pytest.mark.parametrize(("read", "text"), CASES.values(), ids=CASES)


def attempt(read: Callable[[str], Any], text: str) -> None:
    try:
        read(text)
    except SegscopeError:
        return


def steps(read: Callable[[str], Any], text: str) -> int:
    """Count the lines of segscope that run, and the calls of built-in functions."""
    count = 0

    def on_line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return on_line if "segscope" in frame.f_code.co_filename else None

    def on_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "c_call"

    for kept in (constant, iter_domain, iter_domains, statements._read, transforms._step):
        kept.cache_clear()
    tracing, profiling = sys.gettrace(), sys.getprofile()
    sys.settrace(on_line)
    sys.setprofile(on_call)
    try:
        attempt(read, text)
    finally:
        sys.settrace(tracing)
        sys.setprofile(profiling)
    return count


@each_case
def test_twice_the_text_takes_at_most_twice_the_steps(read: Callable[[str], Any], text: Callable[[int], str]) -> None:
    attempt(read, text(10))  # what is compiled once is not counted
    assert steps(read, text(1000)) <= 2 * steps(read, text(500)) + 50


@each_case
def test_a_megabyte(read: Callable[[str], Any], text: Callable[[int], str]) -> None:
    """Steps within a built-in function are not counted above; one that backtracks would not end here."""
    attempt(read, text(1_000_000 // (len(text(1001)) - len(text(1000)))))
