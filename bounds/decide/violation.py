"""Points where a claim fails: looked for in floating point, confirmed exactly or with 60 digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from flint import arb, fmpq
from sympy import (
    Basic,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
    Sum,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, Implies, Not, Or

from ..formulas.evaluator import Point, Undefined, balls, compiled
from .sample_points import Sampler, Values
from .smt_encoding import uniform

Floats = Sequence[float]


CLEAR = 1e-6  # a difference beyond what rounding of an equation's solution makes


ALIKE = arb("1e-45")  # numbers of 60 digits that differ by less: nobody knows which is larger


SLACK = 1e-10  # a violation this small in floating point is looked at again in exact arithmetic


@dataclass(slots=True)
class Count:
    """How many admissible points were tried, and how many of them say nothing for sure."""

    tried: int = 0
    unsettled: int = 0  # the claim clearly fails, but a condition that is an equation holds up to rounding only


def violation(
    claim: Boolean, given: Sequence[Boolean], sampler: Sampler, count: int, seen: Count | None = None
) -> Point | None:
    """An admissible point where the claim fails, confirmed exactly (or with 60 digits where exp or a root stands)."""
    arguments = sampler.variables
    ordered = isinstance(claim, Le | Lt | Ge | Gt)
    sides = [compiled(side, arguments) for side in ((claim.lts, claim.gts) if ordered else (claim,))]
    clearly = _clearly(claim, arguments)
    fails, nearly = _Checked(claim, given, arguments), _Nearly(given, arguments)
    # The claim's own text is the seed, so that the same question draws the same points in every run.
    for values in sampler.draws(str(claim)[:200], count):
        try:
            floats = [float(v) for v in values]
            if ordered:
                low, high = sides[0].float(floats), sides[1].float(floats)
                # What rounding may hide goes to exact arithmetic too: a claim may fail by less than floats see.
                suspect = low >= high - SLACK * (abs(low) + abs(high))
            else:
                suspect = not sides[0].float(floats) or isinstance(claim, Eq | Ne)
        except (Undefined, OverflowError):
            continue
        if suspect and fails(values):
            return sampler.point(values)
        if seen is not None:
            seen.tried += 1
            seen.unsettled += suspect and clearly(floats) and nearly(values, floats)
    return None


def _clearly(claim: Boolean, arguments: Sequence[Basic]) -> Callable[[Floats], bool]:
    """Whether floats see a relation fail by more than rounding."""
    if not isinstance(claim, Le | Lt | Ge | Gt | Eq):
        return lambda floats: False
    low, high = claim.args if isinstance(claim, Eq) else (claim.lts, claim.gts)
    left, right = compiled(low, tuple(arguments)), compiled(high, tuple(arguments))

    def fails(floats: Floats) -> bool:
        a, b = left.float(floats), right.float(floats)
        return (abs(a - b) if isinstance(claim, Eq) else a - b) > CLEAR * (abs(a) + abs(b))

    return fails


def _alike(arguments: Sequence[Basic]) -> tuple[tuple[Basic, ...], Callable[[Any], Any]]:
    """The quantities that a point gives, and how formulas are written in which they are looked for.

    Equal sums look equal where constants stand before them; not where a quantity is itself a sum with constants inside.
    """
    moved = tuple(uniform(q) for q in arguments)
    whole = all(isinstance(m, Sum) for m, q in zip(moved, arguments, strict=True) if isinstance(q, Sum))
    return (moved, uniform) if whole else (tuple(arguments), lambda formula: formula)


class _Nearly:
    """Whether the conditions hold, equations up to rounding, because no rational point meets an irrational equation."""

    def __init__(self, given: Sequence[Boolean], arguments: Sequence[Basic]) -> None:
        self._given, self._arguments = given, arguments

    @cached_property
    def _read(self) -> tuple[list[Callable[[Floats], bool]], list[_Truth]]:
        """For each equation whether it clearly fails, and for each other condition whether it holds."""
        arguments, alike = _alike(self._arguments)
        equations = [_clearly(alike(g), arguments) for g in self._given if isinstance(g, Eq)]
        others = [g for g in self._given if not isinstance(g, Eq)] if equations else []
        return equations, [_truth(alike(g), arguments) for g in others]

    def __call__(self, values: Values, floats: Floats) -> bool:
        equations, others = self._read
        where = _Exactly(values)
        try:
            rest = bool(equations) and all(truth(where) is True for truth in others)
            return rest and not any(fails(floats) for fails in equations)
        except (Undefined, OverflowError):
            return False


def violates(claim: Boolean, given: Sequence[Boolean], point: Point) -> bool:
    """Whether the conditions hold and the claim fails at `point`, in exact or 60-digit arithmetic."""
    values = [fmpq(v.numerator, v.denominator) for v in point.values()]
    return _Checked(claim, given, tuple(point))(values)


class _Checked:
    """`violates` at many points of the same arguments: the claim and its conditions are read once, when needed."""

    def __init__(self, claim: Boolean, given: Sequence[Boolean], arguments: Sequence[Basic]) -> None:
        self._claim, self._given, self._arguments = claim, given, arguments
        self._domains = [_domain(q) for q in arguments]

    @cached_property
    def _alike(self) -> tuple[tuple[Basic, ...], Callable[[Any], Any]]:
        return _alike(self._arguments)

    @cached_property
    def _holds(self) -> _Truth:
        arguments, alike = self._alike
        return _truth(alike(self._claim), arguments)

    @cached_property
    def _admitted(self) -> list[_Truth]:
        arguments, alike = self._alike
        return [_truth(alike(g), arguments) for g in self._given]

    def __call__(self, values: Values) -> bool:
        if not all(inside(v) for inside, v in zip(self._domains, values, strict=True)):
            return False
        where = _Exactly(values)
        try:
            fails = self._holds(where) is False  # one formula; the conditions are many
            return fails and all(condition(where) is True for condition in self._admitted)
        except Undefined:
            return False


@lru_cache(maxsize=1024)
def _domain(q: Basic) -> Callable[[fmpq], bool]:
    """Whether a value is one that the quantity's declaration allows."""
    integer, positive = bool(q.is_integer), bool(q.is_positive)
    nonnegative, negative = bool(q.is_nonnegative), bool(q.is_negative)

    def inside(value: fmpq) -> bool:
        if (integer and value.q != 1) or (positive and value <= 0):
            return False
        return not (nonnegative and value < 0) and not (negative and value >= 0)

    return inside


class _Exactly:
    """A point in rationals and, once somebody asks, in balls of 60 digits."""

    def __init__(self, values: Values) -> None:
        self.values = values

    @cached_property
    def balls(self) -> Sequence[arb]:
        return balls(self.values)


_Truth = Callable[[_Exactly], bool | None]


def _truth(formula: Boolean, arguments: tuple[Basic, ...]) -> _Truth:
    """True, False, or None when 60 digits cannot tell."""
    if isinstance(formula, And | Or | Not | Implies):
        parts = [_truth(part, arguments) for part in formula.args]
        return lambda where: _combined(formula, [part(where) for part in parts])
    exactly = compiled(formula, arguments)
    sides = [compiled(side, arguments) for side in formula.args] if isinstance(formula, Relational) else []

    def holds(where: _Exactly) -> bool | None:
        exact = exactly.rational(where.values)
        if exact is not None:
            return bool(exact)
        if not sides:
            return None
        left, right = (side.precise_in(where.balls) for side in sides)
        if left.overlaps(right) or abs(left - right) <= ALIKE * (abs(left) + abs(right)):
            return None
        match formula:
            case Le() | Lt():
                return bool(left < right)
            case Ge() | Gt():
                return bool(left > right)
            case _:
                return isinstance(formula, Ne)

    return holds


def _combined(formula: Boolean, parts: list[bool | None]) -> bool | None:
    if isinstance(formula, Not):
        return None if parts[0] is None else not parts[0]
    if isinstance(formula, And):
        return False if False in parts else (None if None in parts else True)
    if isinstance(formula, Implies):
        parts = [None if parts[0] is None else not parts[0], parts[1]]
    return True if True in parts else (None if None in parts else False)
