"""Trees in numbers that stay rational as long as they can, and are balls of 60 digits where a root or exp stands.

A scope says what names and indexed quantities are; `Missing` names the first one that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, ctx, fmpq

from .evaluator import DIGITS, LARGEST_POWER, Undefined
from .trees import Arithmetic, Formula, Tree, read

__all__ = ["Missing", "Scope", "Truth", "Value", "computed", "formula", "total", "value_of"]

Number = Any  # fmpq, or arb where no rational will do
Truth = bool | None  # None: the balls of both sides overlap
LONGEST_SUM = 20_000


class Missing(KeyError):
    """A name without a value."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Value:
    """A number: exactly where it is rational, and as the float next to it."""

    exact: Fraction | None
    approx: float

    def __float__(self) -> float:
        return self.approx

    def __str__(self) -> str:
        return f"{self.approx:.6g}"

    @property
    def text(self) -> str:
        """The rational where it is short, else six digits."""
        exact = self.exact
        return str(exact) if exact is not None and len(str(exact)) <= 12 else str(self)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a statement fixes: the indices, and the value in terms of them."""

    index: tuple[str, ...]
    value: Formula[Number]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Values by name ("L", "gap(0)"), definitions, and rules for quantities; indices are bound as sums go."""

    given: Mapping[str, Number]
    rules: Mapping[str, Rule]  # of quantities; without an index, of symbols
    bound: Mapping[str, Number] = field(default_factory=dict[str, Number])
    computed: dict[str, Number] = field(default_factory=dict[str, Number])  # what the rules gave

    def name(self, name: str) -> Number:
        if name in self.bound:
            return self.bound[name]
        if name in self.given:
            return self.given[name]
        if name in self.computed and not self.bound:
            return self.computed[name]
        rule = self.rules.get(name)
        if rule is None or rule.index:
            raise Missing(name)
        value = rule.value(self)
        # Kept outside of sums alone: inside, the value may depend on the index.
        if not self.bound:
            self.computed[name] = value
        return value

    def at(self, name: str, indices: Sequence[Formula[Number]]) -> Number:
        places = tuple(_whole(index(self)) for index in indices)
        written = f"{name}({','.join(map(str, places))})"
        if written in self.given:
            return self.given[written]
        rule = self.rules.get(name)
        if rule is not None and rule.index:
            return rule.value(self.inside(dict(zip(rule.index, map(fmpq, places), strict=True))))
        raise Missing(written)

    def constant(self, name: str) -> Number | None:
        """The one value that a quantity was given for all its indices."""
        rule = self.rules.get(name)
        if name not in self.given or (rule is not None and rule.index):
            return None
        return None if any(one.startswith(f"{name}(") for one in self.given) else self.given[name]

    def inside(self, bound: Mapping[str, Number]) -> Scope:
        return Scope(self.given, self.rules, {**self.bound, **bound}, self.computed)


def formula(tree: Tree) -> Formula[Number]:
    """The tree as a function of a `Scope`."""
    return read(tree, _MIXED)


def computed(made: Formula[Number], scope: Scope) -> Number:
    """Its value; raises `Missing` and `Undefined`."""
    with ctx.workdps(DIGITS):
        try:
            value = made(scope)
        except (ArithmeticError, ValueError) as error:
            raise Undefined(str(error)) from error
    if isinstance(value, arb) and not value.is_finite():
        raise Undefined("not a finite real")
    return value


def total(numbers: Sequence[Number]) -> Number:
    """The sum of numbers that are rational or balls: rational where all of them are."""
    with ctx.workdps(DIGITS):
        return reduce(_sum, numbers, fmpq(0))


def value_of(number: Number) -> Value:
    if isinstance(number, fmpq):
        exact = Fraction(int(number.p), int(number.q))
        try:
            return Value(exact, float(exact))
        except OverflowError:
            raise Undefined("too large for a float") from None
    return Value(None, float(number))


def _whole(index: Number) -> int:
    if isinstance(index, fmpq) and index.q == 1:
        return int(index.p)
    raise Undefined("an index that is no integer")


def _ball(number: Number) -> arb:
    return number if isinstance(number, arb) else arb(number)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, fmpq) and isinstance(exponent, fmpq):
        if base == 0 and exponent < 0:
            raise Undefined("a division by 0")
        if base < 0 and exponent.q != 1:
            raise Undefined("a root of a negative number")
        # The root of a square stays rational, so that a bound with sqrt(4) is exact.
        if exponent.q == 2 and (root := _root(base)) is not None:
            base, exponent = root, exponent * 2
        size = max(base.p.bit_length(), base.q.bit_length())
        if exponent.q == 1 and abs(exponent) * size <= LARGEST_POWER:
            return base ** int(exponent.p)
        if base == 0:
            return base
    base = _ball(base)
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return base**exponent.p
    if base < 0:
        raise Undefined("a root of a negative number")
    return base ** _ball(exponent)


def _root(x: fmpq) -> fmpq | None:
    roots = x.p.isqrt(), x.q.isqrt()
    return fmpq(*roots) if roots[0] ** 2 == x.p and roots[1] ** 2 == x.q else None


def _least(a: Number, b: Number) -> Number:
    return min(a, b) if isinstance(a, fmpq) and isinstance(b, fmpq) else _ball(a).min(_ball(b))


def _most(a: Number, b: Number) -> Number:
    return max(a, b) if isinstance(a, fmpq) and isinstance(b, fmpq) else _ball(a).max(_ball(b))


def _sum(a: Number, b: Number) -> Number:
    return a + b if isinstance(a, type(b)) else _ball(a) + _ball(b)


def _product(a: Number, b: Number) -> Number:
    return a * b if isinstance(a, type(b)) else _ball(a) * _ball(b)


def _total(variable: str, low: Tree, high: Tree, body: Tree) -> Formula[Number]:
    first, last, term = (formula(part) for part in (low, high, body))

    def run(scope: Scope) -> Number:
        start, end = _whole(first(scope)), _whole(last(scope))
        if end - start > LONGEST_SUM:
            raise Undefined(f"a sum of more than {LONGEST_SUM:,} terms")
        whole: Number = fmpq(0)
        for n in range(start, end + 1):
            whole = _sum(whole, term(scope.inside({variable: fmpq(n)})))
        return whole

    return run


def _exponential(x: Number) -> Number:
    return fmpq(1) if x == 0 else _ball(x).exp()


def _logarithm(x: Number) -> Number:
    if x <= 0:
        raise Undefined("a logarithm of a number that is not positive")
    return fmpq(0) if x == 1 else _ball(x).log()


def _three(
    holds: Callable[[Number, Number], bool], fails: Callable[[Number, Number], bool]
) -> Callable[[Number, Number], Truth]:
    def answer(a: Number, b: Number) -> Truth:
        if isinstance(a, fmpq) and isinstance(b, fmpq):
            return bool(holds(a, b))
        left, right = _ball(a), _ball(b)
        return True if holds(left, right) else False if fails(left, right) else None

    return answer


def _constant(p: int, q: int) -> Formula[Number]:
    value = fmpq(p, q)
    return lambda _: value


def _named(name: str) -> Formula[Number]:
    return lambda scope: scope.name(name)


def _at(name: str, indices: Sequence[Tree]) -> Formula[Number]:
    places = [formula(index) for index in indices]

    def run(scope: Scope) -> Number:
        whole = scope.constant(name)
        return scope.at(name, places) if whole is None else whole

    return run


_MIXED: Arithmetic[Number] = Arithmetic(
    constant=_constant,
    name=_named,
    at=_at,
    total=_total,
    power=_power,
    fold={"+": _sum, "*": _product, "min": _least, "max": _most},
    unary={"exp": _exponential, "log": _logarithm, "abs": abs, "erf": lambda x: _ball(x).erf()},
    compare={
        "<=": _three(lambda a, b: a <= b, lambda a, b: a > b),
        "<": _three(lambda a, b: a < b, lambda a, b: a >= b),
        ">=": _three(lambda a, b: a >= b, lambda a, b: a < b),
        ">": _three(lambda a, b: a > b, lambda a, b: a <= b),
        "=": _three(lambda a, b: a == b, lambda a, b: a != b),
        "!=": _three(lambda a, b: a != b, lambda a, b: a == b),
    },
    pi=lambda _: arb.pi(),
)
