"""The expressions of ``segscope assert``, against Python's own reading of them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope import SegscopeError
from segscope.asserts.language import Term, read_expression

NAMES = ["kernel_groups", "pointwise", "cuts"]
VALUES = {Term("kernel_groups"): 2, Term("pointwise"): 0, Term("cuts"): 5}

numbers = st.sampled_from([*NAMES, "0", "2", "5", "17"])
signs = st.sampled_from(["==", "!=", "<=", ">=", "<", ">"])
comparisons = st.builds(
    lambda first, rest: " ".join([first, *(f"{sign} {number}" for sign, number in rest)]),
    numbers,
    st.lists(st.tuples(signs, numbers), min_size=1, max_size=3),
)
texts = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("not {}".format, inner),
        st.builds("{} and {}".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
    ),
    max_leaves=12,
)


@given(texts)
def test_expressions_mean_what_they_mean_in_python(text: str) -> None:
    names = {term.name: value for term, value in VALUES.items()}
    expected = eval(text, {"__builtins__": {}}, names)
    assert read_expression(text).holds(VALUES) is bool(expected)


@given(st.text())
def test_any_text_is_an_expression_or_one_error(text: str) -> None:
    with suppress(SegscopeError):
        read = read_expression(text)
        assert read.holds(dict.fromkeys(read.terms, 1)) in (True, False)


def test_terms_are_the_names_each_once() -> None:
    read = read_expression("cuts==cuts and findings(cycle,fp32-crossing)<=findings or (3 > resize)")
    assert [str(term) for term in read.terms] == ["cuts", "findings(cycle, fp32-crossing)", "findings", "resize"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'', column 1: expected a number or a name, found the end"),
        ("pointwise = 2", "column 11: expected a comparison (== != <= >= < >), found '='; equal is written =="),
        ("pointwise", "column 10: expected a comparison (== != <= >= < >), found the end"),
        ("pointwise == and", "column 14: expected a number or a name, found 'and'"),
        ("(cuts == 2", "column 11: expected ')', found the end"),
        ("cuts == 2)", "column 10: expected 'and', 'or' or the end, found ')'"),
        ("cuts == 2 cuts == 3", "column 11: expected 'and', 'or' or the end, found 'cuts'"),
        ("findings() == 0", "column 10: expected the name of a rule, found ')'"),
        ("findings(cycle order) == 0", "column 16: expected ')', found 'order'"),
        ("cuts == -1", "column 9: expected a number or a name, found '-'"),
        ("cuts == 2.5", "column 10: expected 'and', 'or' or the end, found '.'"),
        ("2cuts == 2", "column 1: expected a number or a name, found '2'"),
        ("cuts == " + "9" * 19, f"column 9: expected a number of at most 18 digits, found '{'9' * 19}'"),
        ("cuts == " + "9" * 5000, f"column 9: expected a number of at most 18 digits, found '{'9' * 30}...'"),
        ("(" * 5000, "expected at most 100 levels of parentheses and 'not'"),
        ("not " * 5000, "expected at most 100 levels of parentheses and 'not'"),
        ("__import__('os')", "column 11: expected a comparison"),
    ],
)
def test_what_is_no_expression(text: str, says: str) -> None:
    with pytest.raises(SegscopeError) as caught:
        read_expression(text)
    assert says in str(caught.value)
