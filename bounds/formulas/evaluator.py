"""sympy expressions as functions: of floats to search, of fractions to confirm, of balls where a root or exp stands.

One tree, three arithmetics. The same point is tried in floating point, then replayed exactly. Fractions and balls are
python-flint's, which are about ten times as fast as Python's own and mpmath's.
"""

# flint has no types of its own (2026-11).
# pyright: reportUnknownVariableType=false, reportOperatorIssue=false, reportArgumentType=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, cast

from flint import arb, ctx, fmpq
from sympy import Basic, Indexed, Sum, Symbol
from sympy.core.function import AppliedUndef

from .lowering import truth
from .trees import Arithmetic, Formula, Tree, read

Number = Any  # float, fmpq or arb: the arithmetic is the same
Point = Mapping[Basic, Fraction]  # quantity or symbol -> value

LONGEST_SUM, LONGEST_EXACT_SUM = 4096, 64
LARGEST_POWER = 20_000  # bits
DIGITS = 60


class Undefined(ArithmeticError):
    """The expression has no (real) value at this point: a zero denominator, a root of a negative number, ..."""


def quantities(*formulas: Basic) -> list[Basic]:
    """What must be given a value: free symbols, applied functions such as gap(t), sums over unknown terms."""
    collected: set[Basic] = set()
    for formula in formulas:
        _collect(formula, collected)
    return sorted(collected, key=lambda q: q.sort_key())


def opaque(expr: Basic) -> bool:
    """A quantity that is drawn whole: gap(t), p[i], or a sum over such things."""
    if isinstance(expr, AppliedUndef | Indexed):
        return True
    return isinstance(expr, Sum) and bool(expr.atoms(AppliedUndef, Indexed))


def entangled(*formulas: Basic) -> bool:
    """Whether a sum is over something that stands elsewhere too: its value cannot be drawn on its own."""
    drawn = [q for q in quantities(*formulas) if opaque(q)]
    heads = {q: {getattr(part, "base", part.func) for part in q.atoms(AppliedUndef, Indexed)} for q in drawn}
    return any(q != r and isinstance(q, Sum) and heads[q] & heads[r] for q in drawn for r in drawn)


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
        if missing := [q for q in quantities(formula) if q not in arguments]:
            raise TypeError(f"got {formula} with {missing[0]}, expected only {arguments}")
        places = dict(zip(arguments, slots(len(arguments)), strict=True))
        self._tree = _placed(truth(formula, places), len(arguments), {})

    @cached_property
    def _float(self) -> Formula[Number]:
        return read(self._tree, _FLOAT)

    @cached_property
    def _exact(self) -> Formula[Number]:
        return read(self._tree, _EXACT)

    @cached_property
    def _precise(self) -> Formula[Number]:
        return read(self._tree, _PRECISE)

    def float(self, values: Sequence[float]) -> Number:
        """In floating point; raises `Undefined`."""
        try:
            value = self._float(values)
        except (ArithmeticError, ValueError) as error:
            raise Undefined(str(error)) from error
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise Undefined("not a finite real")
        return value

    def rational(self, values: Sequence[fmpq]) -> Number:
        """In rational arithmetic; None when a root, an exponential or a huge power stands in the way."""
        try:
            return self._exact(values)
        except (_NotRational, MemoryError):
            return None
        except (ArithmeticError, ValueError) as error:
            raise Undefined(str(error)) from error

    def exact(self, values: Sequence[Fraction]) -> Number:
        """In rational arithmetic, from and to Python's own fractions; None as for `rational`."""
        value = self.rational([fmpq(v.numerator, v.denominator) for v in values])
        return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else value

    def precise(self, values: Sequence[Fraction]) -> arb:
        """A ball of about 60 digits around the value; raises `Undefined`."""
        return self.precise_in(balls([fmpq(v.numerator, v.denominator) for v in values]))

    def precise_in(self, values: Sequence[arb]) -> arb:
        """A ball of about 60 digits, from values that are `balls` already; raises `Undefined`."""
        with ctx.workdps(DIGITS):
            try:
                value = self._precise(values)
            except (ArithmeticError, ValueError) as error:
                raise Undefined(str(error)) from error
        if not value.is_finite():
            raise Undefined("not a finite real")
        return value


@lru_cache(maxsize=256)
def slots(count: int) -> tuple[str, ...]:
    """The names under which a compiled formula looks up its arguments: no name of a summation index."""
    return tuple(f"#{n}" for n in range(count))


def _placed(tree: Tree, count: int, indices: Mapping[str, str]) -> Tree:
    """The tree with the index of every sum in a place of its own, behind `count` others."""
    if not isinstance(tree, list):
        return indices.get(tree, tree)
    op, *args = cast("list[Tree]", tree)
    if op != "sum":
        return [op, *(_placed(arg, count, indices) for arg in args)]
    variable, low, high, body = args
    place = f"#{count}"
    ends = (_placed(end, count, indices) for end in (low, high))
    return [op, place, *ends, _placed(body, count + 1, {**indices, variable: place})]


def balls(values: Sequence[fmpq]) -> list[arb]:
    """Balls of about 60 digits around rational values."""
    with ctx.workdps(DIGITS):
        return [arb(v) for v in values]


@lru_cache(maxsize=4096)
def compiled(formula: Basic, arguments: tuple[Basic, ...]) -> Compiled:
    return Compiled(formula, arguments)


class _NotRational(Exception):
    pass


def _whole(number: Number) -> int:
    """The end of a sum as an integer."""
    if not isinstance(number, arb):
        return int(number)
    if not number.is_integer():
        raise Undefined("a sum whose end is no integer")
    return int(number.unique_fmpz())


def _total(term: Callable[[Number], Number], low: Number, high: Number) -> Number:
    first, last = _whole(low), _whole(high)
    # Exact sums of unlike fractions grow with every term, so that they end earlier than floating ones.
    if abs(last - first) > (LONGEST_EXACT_SUM if isinstance(low, fmpq) else LONGEST_SUM):
        raise _NotRational
    # The number 1 in the arithmetic of the ends: float, fraction or ball.
    one = low - low + 1
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


def _exact_power(base: fmpq, exponent: fmpq) -> fmpq:
    if exponent.q != 1:
        if base < 0:
            raise Undefined("a root of a negative number")
        raise _NotRational
    # Told before it is computed: (3/2)^(10^9) would take all memory.
    size = max(base.p.bit_length(), base.q.bit_length())
    if abs(exponent) * size > LARGEST_POWER:
        raise _NotRational
    return base ** int(exponent)


def _precise_power(base: arb, exponent: arb) -> arb:
    if exponent.is_integer():
        return base ** exponent.unique_fmpz()
    if base < 0:
        raise Undefined("a root of a negative number")
    return base**exponent


def _not_rational(_: fmpq) -> fmpq:
    raise _NotRational


@dataclass(frozen=True, slots=True)
class Numbers:
    """How one kind of number is computed with: from a fraction, to a power, summed over an index, exp and log."""

    number: Callable[[int, int], Number]
    power: Callable[[Number, Number], Number]
    total: Callable[[Callable[[Number], Number], Number, Number], Number]
    exponential: Callable[[Number], Number]
    logarithm: Callable[[Number], Number]


def _scalars(numbers: Numbers) -> Arithmetic[Number]:
    """The arithmetic of one kind of number, whose scope is a list of values."""
    number = numbers.number

    def constant(p: int, q: int) -> Formula[Number]:
        try:
            value = number(p, q)
        except OverflowError:  # no float is so large: said where it is used
            return lambda _: number(p, q)
        return lambda _: value

    def name(slot: str) -> Formula[Number]:
        return operator.itemgetter(int(slot[1:]))

    def at(name: str, indices: Sequence[Tree]) -> Formula[Number]:
        raise TypeError(f"got {name} with the indices {indices}, expected quantities that are given whole")

    def sum_(variable: str, low: Tree, high: Tree, body: Tree) -> Formula[Number]:
        first, last, term = (read(part, arithmetic) for part in (low, high, body))

        def run(values: Sequence[Number]) -> Number:
            # The index stands behind all values, where `_placed` has numbered it.
            inner = [*values, None]

            def at_one(n: Number) -> Number:
                inner[-1] = n
                return term(inner)

            return numbers.total(at_one, first(values), last(values))

        return run

    arithmetic: Arithmetic[Number] = Arithmetic(
        constant=constant,
        name=name,
        at=at,
        total=sum_,
        power=numbers.power,
        fold={"+": operator.add, "*": operator.mul, "min": min, "max": max},
        unary={"exp": numbers.exponential, "log": numbers.logarithm, "abs": abs},
        compare={
            "<=": operator.le,
            "<": operator.lt,
            ">=": operator.ge,
            ">": operator.gt,
            "=": operator.eq,
            "!=": operator.ne,
        },
    )
    return arithmetic


def _quotient(p: int, q: int) -> Number:
    return p / q


def _precise_quotient(p: int, q: int) -> arb:
    with ctx.workdps(DIGITS):
        return arb(fmpq(p, q))


_FLOAT = _scalars(Numbers(_quotient, _float_power, _float_total, math.exp, math.log))
_EXACT = _scalars(Numbers(fmpq, _exact_power, _total, _not_rational, _not_rational))
_PRECISE = _scalars(Numbers(_precise_quotient, _precise_power, _float_total, arb.exp, arb.log))
