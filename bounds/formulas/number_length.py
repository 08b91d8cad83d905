"""How long a number is that somebody wrote as powers, products and factorials: told before it is computed.

`10 ** 10 ** 8` is a dozen characters, and Python would be busy with it for hours. What is written out of digits alone
is read here from the parsed code, and nothing much longer than `MOST_DIGITS` is ever computed. Names are not followed:
what a file computes by itself is measured where it stands in a statement (`digits`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, lgamma, log, log2

__all__ = ["MOST_DIGITS", "Long", "digits", "long_in_code"]

MOST_DIGITS = 1_000  # the kernel reads no longer number in a claim
BITS = MOST_DIGITS * log2(10)
NUMBERS = ("Integer", "Rational", "Fraction", "Decimal", "S", "int")  # functions that give what they are given
SHOWN = 60  # characters of the code

Values = Mapping[ast.expr, Fraction | None]  # None: not a rational number out of digits


@dataclass(frozen=True, slots=True)
class Long:
    """Code for a number of more than `MOST_DIGITS` digits, and its line."""

    code: str
    line: int


class _TooLong(Exception):
    """What would be computed is."""


def long_in_code(code: str) -> Long | None:
    """The first too long number that is written in Python code; nothing where Python itself will not read it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    values: dict[ast.expr, Fraction | None] = {}
    for node in reversed(list(ast.walk(tree))):  # parts before the whole
        if isinstance(node, ast.expr):
            try:
                values[node] = _value(node, values)
            except _TooLong:
                written = ast.unparse(node)
                return Long(written if len(written) <= SHOWN else f"{written[:SHOWN]}…", node.lineno)
    return None


def digits(numerator: int, denominator: int = 1) -> int:
    """How many decimal digits the longer part of a fraction has, or one less."""
    return int((max(numerator.bit_length(), denominator.bit_length()) - 1) / log2(10)) + 1


def _value(node: ast.expr, values: Values) -> Fraction | None:
    """The number that is written, from the numbers that its parts are."""
    value = _computed(node, values)
    if value is not None and digits(value.numerator, value.denominator) > MOST_DIGITS:
        raise _TooLong
    return value


def _computed(node: ast.expr, values: Values) -> Fraction | None:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Fraction(value)
        case ast.UnaryOp(op=ast.USub(), operand=part):
            number = values[part]
            return None if number is None else -number
        case ast.BinOp(left=left, op=op, right=right):
            one, other = values[left], values[right]
            return None if one is None or other is None else _combined(one, op, other)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(text))]):
            return _read(text) if name in NUMBERS else None
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[part]):
            return _factorial(values[part]) if name == "factorial" else values[part] if name in NUMBERS else None
        case _:
            return None


def _combined(one: Fraction, op: ast.operator, other: Fraction) -> Fraction | None:
    match op:
        case ast.Add():
            return one + other
        case ast.Sub():
            return one - other
        case ast.Mult():
            return one * other
        case ast.Div() if other:
            return one / other
        case ast.Pow() if other.denominator == 1:
            return _power(one, int(other))
        case ast.LShift() if other.denominator == 1:
            return one * _power(Fraction(2), int(other))
        case _:
            return None


def _power(base: Fraction, exponent: int) -> Fraction:
    longest = max(abs(base.numerator), base.denominator)
    if longest == 1:
        return Fraction(1)  # 0 and -1 have one digit as well
    if abs(exponent) > BITS or abs(exponent) * log2(longest) > BITS:
        raise _TooLong
    return base**exponent


def _factorial(value: Fraction | None) -> Fraction | None:
    if value is None or value.denominator != 1 or value < 0:
        return None
    if value > BITS or lgamma(int(value) + 1) / log(10) > MOST_DIGITS:
        raise _TooLong
    return Fraction(factorial(int(value)))


def _read(text: str) -> Fraction | None:
    """A number in a string, such as 1e-3."""
    exponent = text.lower().partition("e")[2] or "0"
    try:
        if abs(int(exponent)) > MOST_DIGITS:
            raise _TooLong
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
