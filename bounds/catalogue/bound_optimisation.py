"""What to choose, and what matters: the best value of one symbol, elasticities, and where two bounds cross."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from fedaudit.errors import UserError

from .bound_values import Bound, Plan

__all__ = ["Best", "Crossing", "crossings", "minimise", "sensitivity"]

MOST_COUNTS = 1000  # integers that are tried where no range is given
LEAST, MOST, GRID = 1e-9, 1e9, 361  # the reals that are scanned: twenty to a decade
GOLDEN = (math.sqrt(5) - 1) / 2
NARROW = 1e-13  # of a golden section, in the logarithm
SHORT = (1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 200, 500, 1000, 10**4, 10**6, 10**9)  # denominators that read well
AS_GOOD = 1e-9  # relative: what a value that reads well may cost
STEP = Fraction(1, 10**15)  # of a central difference, in numbers of 60 digits


@dataclass(frozen=True, slots=True)
class Best:
    """The best value of a symbol under the conditions, the bound there, and how it was found."""

    name: str
    value: Fraction
    bound: Bound
    how: str


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two bounds change places between two neighbouring values of an axis."""

    lower_before: str
    lower_after: str
    last: Fraction
    first: Fraction


def minimise(plan: Plan, name: str, values: Mapping[str, Fraction], among: Sequence[Fraction] = ()) -> Best:
    """The value of `name` with the smallest bound (of a lower bound: the largest) where no condition fails.

    Counts are tried one by one, exactly; of reals, a grid and a golden section in floats propose, and the bound is
    exact at the value that is returned.
    """
    plan.known(name)
    sign = -1.0 if plan.sides[0].relation in (">=", ">") else 1.0
    others = {k: x for k, x in values.items() if k != name}
    if not any(needed.name == name for needed in plan.missing(others)):
        raise UserError(f"--minimise {name}, on which the bound of {plan.statement.id} does not depend",
                        "a symbol of its right-hand side", f"pick one of {plan.names()}")  # fmt: skip

    def cost(x: Fraction) -> float:
        result = _tried(plan, {**others, name: x})
        return math.inf if result is None or result.failing else sign * result.value.approx

    plan.at({**others, name: among[0] if among else Fraction(1)})  # what is missing is said here
    if among or plan.domains[name] in ("count", "index"):
        first = 1 if plan.domains[name] == "count" else 0
        tried = list(among) or [Fraction(n) for n in range(first, MOST_COUNTS + 1)]
        costs = [cost(x) for x in tried]
        best = min(range(len(tried)), key=costs.__getitem__)
        how = f"each of {len(tried)} values from {tried[0]} to {tried[-1]}, exactly"
        if best == len(tried) - 1 and len(tried) > 1:
            how += "; the last one is the best, so try a wider range"
        best_value = tried[best]
    else:
        best_value, how = _golden(cost), "a grid and a golden section in floats, between 1e-9 and 1e9"
    if math.isinf(cost(best_value)):
        raise UserError(f"--minimise {name}", f"a value of {name} that meets every condition", "change the others")
    return Best(name, best_value, plan.at({**others, name: best_value}), how)


def _tried(plan: Plan, values: Mapping[str, Fraction]) -> Bound | None:
    try:
        return plan.at(values)
    except UserError:  # no number there
        return None


def _golden(cost: Callable[[Fraction], float]) -> Fraction:
    """The lowest point: the best of a grid in the logarithm, then a golden section around it, then a short rational."""

    def at(u: float) -> float:
        return cost(Fraction(math.exp(u)))

    low, high = math.log(LEAST), math.log(MOST)
    grid = [low + (high - low) * n / (GRID - 1) for n in range(GRID)]
    costs = [at(u) for u in grid]
    best = min(range(GRID), key=costs.__getitem__)
    a, b = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    left, right = at(c), at(d)
    while b - a > NARROW:
        if left <= right:
            b, d, right = d, c, left
            c = b - GOLDEN * (b - a)
            left = at(c)
        else:
            a, c, left = c, d, right
            d = a + GOLDEN * (b - a)
            right = at(d)
    # With the grid's point: where a condition cuts the bound off, the section may have left it.
    nearest = min((Fraction(math.exp(u)) for u in (a, c, d, b, grid[best])), key=cost)
    return _short(nearest, cost)


def _short(x: Fraction, cost: Callable[[Fraction], float]) -> Fraction:
    """A value near x that reads better and is as good."""
    most = cost(x) + AS_GOOD * abs(cost(x))
    scale = Fraction(10) ** math.floor(math.log10(x))
    tries = [y for q in SHORT for y in (x.limit_denominator(q), (x / scale).limit_denominator(q) * scale)]
    return next((y for y in tries if y > 0 and cost(y) <= most), x)


def sensitivity(plan: Plan, values: Mapping[str, Fraction]) -> dict[str, float | None]:
    """d log(bound) / d log(constant) of each constant, largest first; None where the bound has no logarithm there.

    What the statement chooses moves along. Counts move as reals do; None where a sum ends at one.
    """
    constants = [name for name in values if plan.domains[name.partition("(")[0]] != "index"]
    elasticities = {name: _elasticity(plan, values, name) for name in constants}
    return dict(sorted(elasticities.items(), key=lambda pair: -abs(pair[1] or 0.0)))


def _elasticity(plan: Plan, values: Mapping[str, Fraction], name: str) -> float | None:
    x = values[name]
    if x == 0:
        return 0.0
    try:
        above, below = (plan.near({**values, name: x * (1 + h)}) for h in (STEP, -STEP))
        middle = plan.near(values)
    except UserError:
        return None
    return float((above - below) / (2 * STEP.numerator * middle) * STEP.denominator) if middle > 0 else None


def crossings(names: Sequence[str], axis: Sequence[Fraction], bounds: Sequence[Sequence[float]]) -> list[Crossing]:
    """Where two of the bounds, each along the axis, change places; a tie counts for neither."""
    crossings: list[Crossing] = []
    for m in range(len(names)):
        for n in range(m + 1, len(names)):
            pairs = zip(bounds[m], bounds[n], strict=True)
            signs = [(x, a < b) for x, (a, b) in zip(axis, pairs, strict=True) if a != b and not math.isnan(a + b)]
            for (x, before), (y, after) in pairwise(signs):
                if before != after:
                    lower = (names[m], names[n]) if before else (names[n], names[m])
                    crossings.append(Crossing(*lower, x, y))
    return crossings
