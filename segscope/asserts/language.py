"""The expressions of ``segscope assert``: ``pointwise == 2 and not findings(cycle) > 0``.

    expression = all { "or" all }
    all        = single { "and" single }
    single     = "not" single | "(" expression ")" | comparison
    comparison = number compare number { compare number }
    number     = INTEGER | NAME | "findings" [ "(" RULE { "," RULE } ")" ]
    compare    = "==" | "!=" | "<=" | ">=" | "<" | ">"

What names mean is in ``segscope.asserts.counts``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple, NoReturn

from segscope.asserts.bounds import COMPARE
from segscope.errors import SegscopeError

_TOKEN: Final = re.compile(
    r"(?P<integer>[0-9]+)(?![\w-])|(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|(?P<sign>==|!=|<=|>=|[<>(),])|(?P<bad>\S)"
)
_WORDS: Final = ("and", "or", "not")
_DEEPEST: Final = 100
_MOST_DIGITS: Final = 18
_SHOWN: Final = 30
"""Characters that are shown of what is not expected."""


class Term(NamedTuple):
    """A name that stands for a number."""

    name: str
    rules: tuple[str, ...] = ()
    """What ``findings`` counts; empty for all rules."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.rules)})" if self.rules else self.name


Values = Mapping[Term, int]


class Expression(NamedTuple):
    """An expression that was read."""

    text: str
    terms: tuple[Term, ...]
    """The names in it, each once."""
    holds: Callable[[Values], bool]
    """Say whether it is true, from the values of all its terms."""


def read_expression(text: str) -> Expression:
    """Read an expression. SegscopeError, with the column, where it is none."""
    reader = _Reader(text)
    holds = reader.expression(0)
    reader.end()
    return Expression(text, tuple(dict.fromkeys(reader.terms)), holds)


class _Token(NamedTuple):
    kind: str
    """``integer``, ``name``, ``sign``, ``end``."""
    text: str
    column: int


class _Reader:
    """Recursive descent, a method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms: list[Term] = []
        self._tokens = [_Token(m.lastgroup or "", m[0], m.start() + 1) for m in _TOKEN.finditer(text)]
        self._tokens.append(_Token("end", "", len(text) + 1))
        self._at = 0

    def expression(self, depth: int) -> Callable[[Values], bool]:
        parts = [self._all(depth)]
        while self._take("or"):
            parts.append(self._all(depth))
        return lambda values: any(part(values) for part in parts)

    def end(self) -> None:
        if self._next.kind != "end":
            self._fail("'and', 'or' or the end")

    def _all(self, depth: int) -> Callable[[Values], bool]:
        parts = [self._single(depth)]
        while self._take("and"):
            parts.append(self._single(depth))
        return lambda values: all(part(values) for part in parts)

    def _single(self, depth: int) -> Callable[[Values], bool]:
        if depth > _DEEPEST:
            self._fail(f"at most {_DEEPEST} levels of parentheses and 'not'")
        if self._take("not"):
            negated = self._single(depth + 1)
            return lambda values: not negated(values)
        if self._take("("):
            inner = self.expression(depth + 1)
            self._need(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Callable[[Values], bool]:
        numbers, signs = [self._number()], []
        while self._next.text in COMPARE:
            signs.append(COMPARE[self._advance().text])
            numbers.append(self._number())
        if not signs:
            self._fail(f"a comparison ({' '.join(COMPARE)})")

        def holds(values: Values) -> bool:
            found = pairwise(number(values) for number in numbers)
            return all(sign(*pair) for sign, pair in zip(signs, found, strict=True))

        return holds

    def _number(self) -> Callable[[Values], int]:
        token = self._next
        if token.kind == "integer":
            if len(token.text) > _MOST_DIGITS:
                self._fail(f"a number of at most {_MOST_DIGITS} digits")
            number = int(self._advance().text)
            return lambda values: number
        if token.kind != "name" or token.text in _WORDS:
            self._fail("a number or a name")
        self._advance()
        term = Term(token.text, self._rules() if token.text == "findings" else ())
        self.terms.append(term)
        return lambda values: values[term]

    def _rules(self) -> tuple[str, ...]:
        if not self._take("("):
            return ()
        rules = [self._rule()]
        while self._take(","):
            rules.append(self._rule())
        self._need(")")
        return tuple(rules)

    def _rule(self) -> str:
        if self._next.kind != "name":
            self._fail("the name of a rule")
        return self._advance().text

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _advance(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, text: str) -> bool:
        if taken := self._next.text == text:
            self._advance()
        return taken

    def _need(self, text: str) -> None:
        if not self._take(text):
            self._fail(repr(text))

    def _fail(self, expected: str) -> NoReturn:
        token = self._next
        shown = token.text if len(token.text) <= _SHOWN else f"{token.text[:_SHOWN]}..."
        there = repr(shown) if token.text else "the end"
        hint = "; equal is written ==" if token.text == "=" else ""
        raise SegscopeError(f"{self.text!r}, column {token.column}: expected {expected}, found {there}{hint}")
