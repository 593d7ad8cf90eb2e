"""The value of an extent expression, where it is constant."""

import math
import re
from collections.abc import Callable
from functools import lru_cache

_TOKEN = re.compile(r"\s*(\d{1,18}|ceilDiv|fmax|fmin|max|min|gcd|[-+*/%(),])")
_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "ceilDiv": lambda a, b: -(-a // b),
    "fmax": max,
    "max": max,
    "fmin": min,
    "min": min,
    "gcd": math.gcd,
}
_DEEPEST = 200
_LARGEST = 1 << 63


@lru_cache(maxsize=4096)
def constant(text: str) -> int | None:
    """Return the value of an integer expression such as ``( ceilDiv(( ceilDiv(15360, 40) ), 3) )``, which is 128.

    None where it holds a symbol, an operator that is not integer arithmetic, a division by zero, or a value that does
    not fit into 64 bits. Division rounds towards zero, as in C++.
    """
    if text.isdecimal() and len(text) <= 18:
        return int(text)
    tokens = _tokens(text)
    if tokens is None:
        return None
    try:
        value, end = _sum(tokens, 0, 0)
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    return value if end == len(tokens) and abs(value) < _LARGEST else None


def _tokens(text: str) -> list[str] | None:
    tokens, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        tokens.append(match.group(1))
        position = match.end()
    return tokens


def _sum(tokens: list[str], at: int, depth: int) -> tuple[int, int]:
    value, at = _product(tokens, at, depth)
    while at < len(tokens) and tokens[at] in "+-":
        operand, after = _product(tokens, at + 1, depth)
        value = value + operand if tokens[at] == "+" else value - operand
        at = after
    return value, at


def _product(tokens: list[str], at: int, depth: int) -> tuple[int, int]:
    value, at = _atom(tokens, at, depth)
    while at < len(tokens) and tokens[at] in "*/%":
        operand, after = _atom(tokens, at + 1, depth)
        if tokens[at] == "*":
            value *= operand
            if abs(value) >= _LARGEST:
                raise ValueError("more than 64 bits")
        else:
            quotient = abs(value) // abs(operand) * (1 if (value < 0) == (operand < 0) else -1)
            value = quotient if tokens[at] == "/" else value - quotient * operand
        at = after
    return value, at


def _atom(tokens: list[str], at: int, depth: int) -> tuple[int, int]:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    token = tokens[at]
    if token == "-":
        value, at = _atom(tokens, at + 1, depth + 1)
        return -value, at
    if token == "(":
        value, at = _sum(tokens, at + 1, depth + 1)
        return value, _expect(tokens, at, ")")
    if token in _FUNCTIONS:
        first, at = _sum(tokens, _expect(tokens, at + 1, "("), depth + 1)
        second, at = _sum(tokens, _expect(tokens, at, ","), depth + 1)
        return _FUNCTIONS[token](first, second), _expect(tokens, at, ")")
    return int(token), at + 1


def _expect(tokens: list[str], at: int, token: str) -> int:
    if tokens[at] != token:
        raise ValueError(f"expected {token}")
    return at + 1
