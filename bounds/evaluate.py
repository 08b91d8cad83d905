"""sympy expressions as Python functions: of floats to search, of fractions to confirm, of mpmath where exp stands.

One source, three number types. The same point is tried in floating point, then replayed exactly.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
from sympy import (
    Abs,
    Add,
    Basic,
    E,
    Eq,
    Ge,
    Gt,
    Indexed,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Pow,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
)  # fmt: skip
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue, Implies, Not, Or

Number = Any  # float, Fraction or mpf: the arithmetic is the same
Point = Mapping[Basic, Fraction]  # quantity or symbol -> value

LONGEST_SUM, LONGEST_EXACT_SUM = 4096, 64
LARGEST_POWER = 20_000  # bits
DIGITS = 60
_RELATIONS: dict[type[Relational], str] = {Le: "<=", Lt: "<", Ge: ">=", Gt: ">", Eq: "==", Ne: "!="}


class Undefined(ArithmeticError):
    """The expression has no (real) value at this point: a zero denominator, a root of a negative number, ..."""


def quantities(*formulas: Basic) -> list[Basic]:
    """What must be given a value: free symbols, applied functions such as gap(t), sums over unknown terms."""
    found: set[Basic] = set()
    for formula in formulas:
        _collect(formula, found)
    return sorted(found, key=lambda q: q.sort_key())


def opaque(expr: Basic) -> bool:
    """A quantity that is drawn whole: gap(t), p[i], or a sum over such things."""
    if isinstance(expr, AppliedUndef | Indexed):
        return True
    return isinstance(expr, Sum) and bool(expr.atoms(AppliedUndef, Indexed))


def entangled(*formulas: Basic) -> bool:
    """Whether a sum is over something that stands elsewhere too: its value cannot be drawn on its own."""
    found = [q for q in quantities(*formulas) if opaque(q)]
    heads = {q: {getattr(part, "base", part.func) for part in q.atoms(AppliedUndef, Indexed)} for q in found}
    return any(q != r and isinstance(q, Sum) and heads[q] & heads[r] for q in found for r in found)


def _collect(expr: Basic, found: set[Basic], bound: frozenset[Basic] = frozenset()) -> None:
    if opaque(expr):
        found.add(expr)
    elif isinstance(expr, Sum):
        names = frozenset(limit[0] for limit in expr.limits)
        _collect(expr.function, found, bound | names)
        for limit in expr.limits:
            for end in limit[1:]:
                _collect(end, found, bound)
    elif isinstance(expr, Symbol):
        if expr not in bound:
            found.add(expr)
    else:
        for part in expr.args:
            _collect(part, found, bound)


class Compiled:
    """A formula as a function of the values of `arguments`, in any of the three arithmetics."""

    def __init__(self, formula: Basic, arguments: Sequence[Basic]) -> None:
        names = {q: f"v{n}" for n, q in enumerate(arguments)}
        body = _source(formula, names)
        code = compile(f"lambda {', '.join(names.values())}: {body}", str(formula)[:60], "eval")
        self._float: Callable[..., Any] = eval(code, _FLOAT)
        self._exact: Callable[..., Any] = eval(code, _EXACT)
        self._precise: Callable[..., Any] = eval(code, _PRECISE)

    def float(self, values: Sequence[float]) -> Any:
        """In floating point; raises `Undefined`."""
        try:
            value = self._float(*values)
        except (ArithmeticError, ValueError) as error:
            raise Undefined(str(error)) from error
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise Undefined("not a finite real")
        return value

    def exact(self, values: Sequence[Fraction]) -> Any:
        """In rational arithmetic; None when a root, an exponential or a huge power stands in the way."""
        try:
            return self._exact(*values)
        except (_NotRational, MemoryError):
            return None
        except (ArithmeticError, ValueError) as error:
            raise Undefined(str(error)) from error

    def precise(self, values: Sequence[Fraction]) -> Any:
        """With 60 digits."""
        with mpmath.workdps(DIGITS):
            try:
                value = self._precise(*(mpmath.mpf(v.numerator) / v.denominator for v in values))
            except (ArithmeticError, ValueError) as error:
                raise Undefined(str(error)) from error
        if isinstance(value, mpmath.mpc) or (isinstance(value, mpmath.mpf) and not mpmath.isfinite(value)):
            raise Undefined("not a finite real")
        return value


@lru_cache(maxsize=4096)
def compiled(formula: Basic, arguments: tuple[Basic, ...]) -> Compiled:
    return Compiled(formula, arguments)


class _NotRational(Exception):
    pass


def _source(expr: Basic, names: Mapping[Basic, str]) -> str:
    """Python source; every literal goes through Q, every power, exp and sum through the arithmetic's own function."""
    if expr in names:
        return names[expr]
    if isinstance(expr, BooleanTrue | BooleanFalse):
        return str(bool(expr))
    if isinstance(expr, Rational):
        return f"Q({int(expr.p)}, {int(expr.q)})"
    if expr is E:
        return "exp(Q(1, 1))"
    if type(expr) in _RELATIONS:
        left, right = (_source(side, names) for side in expr.args)
        return f"({left} {_RELATIONS[type(expr)]} {right})"
    if isinstance(expr, Sum):
        source = _source(expr.function, names | {limit[0]: f"s_{limit[0]}" for limit in expr.limits})
        for variable, low, high in expr.limits:
            source = f"total(lambda s_{variable}: {source}, {_source(low, names)}, {_source(high, names)})"
        return source
    parts = [_source(part, names) for part in expr.args]
    match expr:
        case Add():
            return f"({' + '.join(parts)})"
        case Mul():
            return f"({' * '.join(parts)})"
        case Pow():
            return f"power({parts[0]}, {parts[1]})"
        case And():
            return f"({' and '.join(parts)})"
        case Or():
            return f"({' or '.join(parts)})"
        case Not():
            return f"(not {parts[0]})"
        case Implies():
            return f"((not {parts[0]}) or {parts[1]})"
        case _ if isinstance(expr, Min | Max | exp | log | Abs):
            return f"{type(expr).__name__.lower()}({', '.join(parts)})"
        case _:
            raise TypeError(f"got {type(expr).__name__} in {expr}, expected arithmetic, min, max, exp, log or Sum")


def _total(term: Callable[[Number], Number], low: Number, high: Number) -> Number:
    first, last = int(low), int(high)
    if abs(last - first) > (LONGEST_EXACT_SUM if isinstance(low, Fraction) else LONGEST_SUM):
        raise _NotRational
    one = low - low + 1 if not isinstance(low, Fraction) else Fraction(1)
    if last < first - 1:  # Karr's convention, which is sympy's
        return -sum((term(one * n) for n in range(last + 1, first)), 0 * one)
    return sum((term(one * n) for n in range(first, last + 1)), 0 * one)


def _float_total(term: Callable[[Number], Number], low: Number, high: Number) -> Number:
    try:
        return _total(term, low, high)
    except _NotRational:
        raise Undefined("a sum too long to evaluate") from None


def _float_power(base: float, exponent: float) -> float:
    value = base**exponent
    if isinstance(value, complex):
        raise Undefined("a root of a negative number")
    return value


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        if base < 0:
            raise Undefined("a root of a negative number")
        raise _NotRational
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * size > LARGEST_POWER:
        raise _NotRational
    return base ** int(exponent)


def _precise_power(base: Number, exponent: Number) -> Number:
    if exponent == int(exponent):
        return base ** int(exponent)
    if base < 0:
        raise Undefined("a root of a negative number")
    return mpmath.power(base, exponent)


def _not_rational(_: Fraction) -> Fraction:
    raise _NotRational


_FLOAT: dict[str, Any] = {
    "Q": lambda p, q: p / q, "power": _float_power, "total": _float_total,
    "exp": math.exp, "log": math.log, "abs": abs, "min": min, "max": max,
}  # fmt: skip
_EXACT: dict[str, Any] = {
    "Q": Fraction, "power": _exact_power, "total": _total,
    "exp": _not_rational, "log": _not_rational, "abs": abs, "min": min, "max": max,
}  # fmt: skip
_PRECISE: dict[str, Any] = {
    "Q": lambda p, q: mpmath.mpf(p) / q, "power": _precise_power, "total": _float_total,
    "exp": mpmath.exp, "log": mpmath.log, "abs": abs, "min": min, "max": max,
}  # fmt: skip
