"""Points that meet a list of conditions, drawn deterministically: simple rationals, extremes, boundaries, small counts.

A condition such as γ ≤ min(1/(2L), 1/(α + μ)) is not left to luck: γ is drawn inside (and often at the end of) the
interval that the values drawn before it allow. What cannot be read that way is checked, and the point rejected.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from flint import fmpq
from sympy import Basic, Eq, Expr, Ge, Gt, Le, Lt, Max, Min, Poly, PolynomialError, Symbol, erf, together
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, BooleanTrue

from ..formulas.evaluator import Compiled, Point, Undefined, balls, compiled, entangled, opaque, quantities

Values = Sequence[fmpq]  # of a sampler's variables, in their order
SMALL = tuple(map(fmpq, (1, 2, 3, 4, 5, 7, 10, 20, 50, 100)))
LONGEST = 512  # bits of an end of an interval; beyond that a nearby float will do, and is checked again
# Of an interval that conditions leave: its upper end, just below it, the middle, near the lower end.
SHARES = (fmpq(1), fmpq(1), fmpq(999_999, 1_000_000), fmpq(1, 2), fmpq(1, 1000), fmpq(1, 10**9))
NEAR = tuple(fmpq(10) ** n for n in range(-3, 3))
FAR = tuple(fmpq(10) ** n for n in (-12, -9, -6, 6, 9, 12))
ZERO = fmpq(0)
LOOKS = 8  # points at which two formulas are compared
# By which the best point so far is moved: a little, by 2, or by a decade, up and down.
FACTORS = (fmpq(11, 10), fmpq(10, 11), fmpq(2), fmpq(1, 2), fmpq(10), fmpq(1, 10))


def conjuncts(*formulas: Boolean) -> list[Boolean]:
    """A conjunction as a list; x ≤ min(a, b) and max(a, b) ≤ x are conjunctions too."""
    parts: list[Boolean] = []
    for formula in formulas:
        if isinstance(formula, And):
            parts += conjuncts(*formula.args)
        elif isinstance(formula, Ge | Gt):
            parts += conjuncts(formula.reversed)
        elif isinstance(formula, Le | Lt) and isinstance(formula.rhs, Min):
            parts += conjuncts(*(formula.func(formula.lhs, part) for part in formula.rhs.args))
        elif isinstance(formula, Le | Lt) and isinstance(formula.lhs, Max):
            parts += conjuncts(*(formula.func(part, formula.rhs) for part in formula.lhs.args))
        elif not isinstance(formula, BooleanTrue):
            parts.append(formula)
    return parts


@dataclass(frozen=True, slots=True)
class _Bound:
    """`variable` is at most, at least or equal to `value`, which uses only what is drawn before."""

    kind: str  # "hi", "lo", "eq"
    strict: bool
    value: Compiled


@dataclass(frozen=True, slots=True)
class _Domain:
    """What a variable declares about itself."""

    integer: bool
    positive: bool
    nonnegative: bool

    @staticmethod
    def of(variable: Basic) -> _Domain:
        return _Domain(bool(variable.is_integer), bool(variable.is_positive), bool(variable.is_nonnegative))


@dataclass(slots=True)
class _Plan:
    order: list[Basic]
    bounds: dict[Basic, list[_Bound]]
    rest: list[Boolean] = field(default_factory=list[Boolean])


@dataclass(frozen=True, slots=True)
class Drawn:
    """An admissible point of a sampler, the raw draws it was made from, and its floats where it has them."""

    raw: Values
    values: Values
    floats: Sequence[float] | None

    @staticmethod
    def of(raw: Values, values: Values) -> Drawn:
        try:
            return Drawn(raw, values, [float(x) for x in values])
        except OverflowError:
            return Drawn(raw, values, None)

    def score(self, score: Compiled) -> float:
        """Its value in floating point; -inf where it has none."""
        try:
            return -math.inf if self.floats is None else float(score.float(self.floats))
        except (Undefined, OverflowError):
            return -math.inf


class Sampler:
    """Draws points for `variables` that satisfy `conditions`; `sweep` fixes some of them through knobs of their own."""

    def __init__(
        self, formulas: Sequence[Basic], conditions: Sequence[Boolean] = (), sweep: Mapping[Expr, Expr] | None = None
    ) -> None:
        conditions = conjuncts(*conditions)
        sweep = {k: v for k, v in (sweep or {}).items() if k in quantities(*formulas, *conditions)}
        conditions = [*conditions, *(Eq(k, v, evaluate=False) for k, v in sweep.items())]
        self.variables = tuple(quantities(*formulas, *conditions))
        self._plan = _plan(self.variables, conditions, tuple(sweep))
        self._rest = [compiled(g, self.variables) for g in self._plan.rest]
        self._domains = [_Domain.of(v) for v in self.variables]
        position, bounds = self.variables.index, self._plan.bounds
        self._order = [(position(v), _Domain.of(v), bounds.get(v, ())) for v in self._plan.order]

    def points(self, seed: str, count: int) -> Iterator[dict[Basic, Fraction]]:
        """At most `count` admissible points (rejection gives up after ten times as many tries)."""
        return (self.point(values) for values in self.draws(seed, count))

    def draws(self, seed: str, count: int) -> Iterator[Values]:
        """Such points, each as the values of `variables` in their order."""
        rng = random.Random(f"fedaudit:{seed}")
        left, tries = count, 10 * count
        while left and tries:
            tries -= 1
            values = self.complete([_raw(domain, rng) for domain in self._domains])
            if values is not None:
                left -= 1
                yield values

    def point(self, values: Values) -> dict[Basic, Fraction]:
        return dict(zip(self.variables, (Fraction(int(x.p), int(x.q)) for x in values), strict=True))

    def pool(self, seed: str, count: int) -> list[Drawn]:
        """Points together with the raw draws they were made from, so that a search can go on from them."""
        rng = random.Random(f"fedaudit:{seed}")
        raws = ([_raw(domain, rng) for domain in self._domains] for _ in range(count))
        return [Drawn.of(raw, values) for raw in raws if (values := self.complete(raw)) is not None]

    def climb(
        self, score: Compiled, pool: Sequence[Drawn], count: int, enough: float = math.inf
    ) -> tuple[float, Point | None]:
        """The largest value of `score` found: the best of the pool, then one or a few of its coordinates at a time."""
        rng = random.Random("fedaudit:climb")
        most, best = -math.inf, cast("Drawn | None", None)
        for drawn in pool:
            value = drawn.score(score)
            if value > most:
                most, best = value, drawn
        if best is None:
            return most, None
        places = range(len(self.variables))
        for _ in range(count):
            if most > enough:
                break
            raw = list(best.raw)
            for n in rng.sample(places, k=min(len(raw), rng.choice((1, 1, 2, 3)))):
                domain = self._domains[n]
                raw[n] = _raw(domain, rng) if rng.random() < 0.5 else _nudge(domain, raw[n], rng)
            values = self.complete(raw)
            drawn = None if values is None else Drawn.of(raw, values)
            value = -math.inf if drawn is None else drawn.score(score)
            if value > most:
                most, best = value, drawn or best
        return most, self.point(best.values)

    def complete(self, raw: Values) -> Values | None:
        """Raw draws moved into the intervals that the conditions leave; None if a condition fails."""
        values = [fmpq(0)] * len(self.variables)
        for n, domain, bounds in self._order:
            placed = _place(domain, raw[n], bounds, values) if bounds else raw[n]
            if placed is None:
                return None
            values[n] = placed
        try:
            return values if all(_holds(rest, values) for rest in self._rest) else None
        except (Undefined, OverflowError):
            return None


def differ(a: Expr, b: Expr) -> bool:
    """Whether two formulas are seen to have different values at a point, exactly; a "no" means nothing."""
    if entangled(a, b) or a.has(erf) or b.has(erf):  # of which there is no exact value
        return False
    sampler = Sampler([a, b])
    sides = [compiled(side, sampler.variables) for side in (a, b)]
    for values in sampler.draws("differ", LOOKS):
        try:
            exact = [side.rational(values) for side in sides]
            left, right = exact if None not in exact else (side.precise_in(balls(values)) for side in sides)
        except (Undefined, OverflowError):
            continue
        if left != right if None not in exact else not left.overlaps(right):
            return True
    return False


def _holds(condition: Compiled, values: Values) -> bool:
    exact = condition.rational(values)
    return bool(condition.float(_floats(values)) if exact is None else exact)


def _floats(values: Values) -> list[float]:
    return [float(x) for x in values]


def _place(domain: _Domain, raw: fmpq, bounds: Sequence[_Bound], values: Values) -> fmpq | None:
    low: fmpq | None = fmpq(0) if domain.nonnegative else None
    low_strict = domain.positive
    high: fmpq | None = None
    high_strict = False
    fixed: fmpq | None = None
    for bound in bounds:
        try:
            end = bound.value.rational(values)
            # An irrational or very long end is taken as a float: a point that this puts outside is turned down when a
            # violation is confirmed.
            if end is None or end.q.bit_length() > LONGEST:
                end = fmpq(*bound.value.float(_floats(values)).as_integer_ratio())
        except (Undefined, OverflowError, ValueError):
            return None
        if bound.kind == "eq" and fixed is None:
            fixed = end
        if bound.kind == "hi" and (high is None or end < high or (end == high and bound.strict)):
            high, high_strict = end, bound.strict
        if bound.kind == "lo" and (low is None or end > low or (end == low and bound.strict)):
            low, low_strict = end, bound.strict
    if fixed is not None:  # an equation leaves one value, which the other bounds may forbid
        if not (low is None or fixed > low or (fixed == low and not low_strict)):
            return None
        if not (high is None or fixed < high or (fixed == high and not high_strict)):
            return None
        low, high, low_strict, high_strict = fixed, fixed, False, False
    if low is not None and high is not None:
        if low > high or (low == high and (low_strict or high_strict)):
            return None
        # A small whole draw picks one of `SHARES`; a draw r of another kind stands for the share |r|/(1 + |r|).
        size = abs(raw)
        share = size / (1 + size) if raw.q != 1 or raw > len(SHARES) else SHARES[int(raw) % len(SHARES)]
        if (high_strict and share == 1) or (low_strict and share == 0):
            share = fmpq(1, 2)
        value = low if low == high else low + (high - low) * share
    elif low is not None:
        # A small draw stands for the end itself, where claims are tight.
        value = low if raw in (1, 2) and not low_strict else low + (abs(low) or 1) * (abs(raw) or 1)
    elif high is not None:
        value = high if raw in (0, 1, 2) and not high_strict else high - (abs(high) or 1) * (abs(raw) or 1)
    else:
        value = raw
    if domain.integer and value.q != 1:
        value = fmpq(int(value))
        if (low is not None and (value < low or (low_strict and value == low))) or (high is not None and value > high):
            return None
    return value


def _raw(domain: _Domain, rng: random.Random) -> fmpq:
    """A simple number: small integers often, powers of ten over many decades, zero where it is allowed."""
    zero = not domain.positive
    if domain.integer:
        if zero and rng.random() < 0.25:
            return ZERO
        return SMALL[_below(rng, 10)] if rng.random() < 0.8 else fmpq(1 + _below(rng, 300))
    kind = rng.random()
    if zero and kind < 0.2:
        value = ZERO
    elif kind < 0.45:
        value = SMALL[_below(rng, 10)]
    elif kind < 0.85:
        value = fmpq(100 + _below(rng, 900), 100) * NEAR[_below(rng, 6)]
    else:
        value = fmpq(1 + _below(rng, 9)) * FAR[_below(rng, 6)]
    if not domain.nonnegative and rng.random() < 0.5:
        value = -value
    return value


def _below(rng: random.Random, count: int) -> int:
    """`rng.randrange(count)`, the same draw: its own checks of the arguments take longer than the draw."""
    bits = count.bit_length()
    drawn = rng.getrandbits(bits)
    while drawn >= count:
        drawn = rng.getrandbits(bits)
    return drawn


def _nudge(domain: _Domain, raw: fmpq, rng: random.Random) -> fmpq:
    if domain.integer:
        moved = raw + rng.choice((-1, 1))
        return moved if moved > 0 or (moved == 0 and not domain.positive) else raw
    moved = raw * rng.choice(FACTORS)
    return moved if abs(moved.p) < 10**18 and moved.q < 10**18 else raw


def _plan(variables: Sequence[Basic], given: Sequence[Boolean], swept: Sequence[Basic]) -> _Plan:
    """Turn as many conditions as possible into intervals, without going in circles."""
    before: dict[Basic, set[Basic]] = {v: set() for v in variables}
    bounds: dict[Basic, list[_Bound]] = {}
    rest: list[Boolean] = []
    # Equations first: a variable that one of them determines must not be drawn from an interval.
    for condition in sorted(given, key=lambda g: not isinstance(g, Eq)):
        for variable, kind, strict, value in _readings(condition, variables, swept):
            needs = set(quantities(value))
            # A bound that waits for its own variable could never be drawn.
            if variable in needs or any(_reaches(before, n, variable) for n in needs):
                continue
            before[variable] |= needs
            bounds.setdefault(variable, []).append(_Bound(kind, strict, compiled(value, tuple(variables))))
            break
        else:
            rest.append(condition)
    order: list[Basic] = []
    waiting = list(variables)
    while waiting:
        ready = [v for v in waiting if before[v] <= set(order)]
        order += ready
        waiting = [v for v in waiting if v not in ready]
    return _Plan(order, bounds, rest)


def _reaches(before: Mapping[Basic, set[Basic]], start: Basic, goal: Basic) -> bool:
    """Whether drawing `start` already waits for `goal`."""
    return start == goal or any(_reaches(before, n, goal) for n in before[start])


def _readings(
    condition: Boolean, variables: Sequence[Basic], swept: Sequence[Basic]
) -> Iterator[tuple[Basic, str, bool, Expr]]:
    """The ways to read a relation as a bound on one of its variables, the most natural first."""
    if not isinstance(condition, Eq | Le | Lt):
        return
    left, right = condition.args
    assert isinstance(left, Expr)
    assert isinstance(right, Expr)
    strict = isinstance(condition, Lt)
    if left in variables:
        yield left, "eq" if isinstance(condition, Eq) else "hi", strict, right
    if right in variables:
        yield right, "eq" if isinstance(condition, Eq) else "lo", strict, left
    # A swept parameter follows its knobs: its equation is not solved for one of them.
    if condition.lhs in swept:
        return
    # `Poly` takes symbols alone, so that quantities such as gap(t) get a name.
    names = {q: Symbol(f"q{n}", **_assumptions(q)) for n, q in enumerate(variables)}
    difference = (right - left).xreplace(names)
    back = {s: q for q, s in names.items()}
    ends = [end.free_symbols for end in difference.atoms(Min, Max)]
    numerator, denominator = together(difference).as_numer_denom()
    for variable in sorted(quantities(condition), key=lambda q: (not opaque(q), not isinstance(q, AppliedUndef))):
        name = names[variable]
        if variable in (left, right) or any(name in end for end in ends):
            continue
        try:
            poly = Poly(numerator, name)
        except PolynomialError:
            continue
        if poly.degree() != 1 or name in denominator.free_symbols:
            continue
        slope, constant = poly.all_coeffs()
        if not (slope / denominator).is_nonzero:
            continue
        rising = (slope / denominator).is_positive
        if not rising and not (slope / denominator).is_negative:
            continue
        value = (-constant / slope).xreplace(back)
        yield variable, "eq" if isinstance(condition, Eq) else ("lo" if rising else "hi"), strict, value


def _assumptions(q: Basic) -> dict[str, bool]:
    keep: dict[str, bool] = {"real": True}
    for name in ("positive", "nonnegative", "integer"):
        if getattr(q, f"is_{name}", None):
            keep[name] = True
    return keep
