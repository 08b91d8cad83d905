"""What a proof gives against what is claimed: the largest ratio of the two, where it is, and what covers what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

from sympy import Expr, Ge, Le, nan, zoo
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from ...decide.sample_points import Drawn, Sampler, conjuncts
from ...decide.violation import violates, violation
from ...formulas.evaluator import Compiled, Point, Undefined, compiled, entangled, opaque, quantities
from ..findings import Status
from .constant_factor import Factor, coefficients, unbounded
from .term_factors import Term, terms, written

TIGHT = 1e-6
SAMPLES, POOL, CLIMB = 300, 400, 500
SEEN = 1e-9
LARGE = 10  # a search over many decades that finds a smaller ratio has not met an unbounded one


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a proof gives for the left-hand side against what is claimed, and the conditions both live under."""

    gives: Expr
    claims: Expr
    upper: bool
    conditions: tuple[Boolean, ...]
    own: bool = False  # `gives` is the printed left-hand side itself

    @property
    def relation(self) -> Boolean:
        return (Le if self.upper else Ge)(self.gives, self.claims)

    @property
    def ratio(self) -> Expr:
        """The ratio that is at most 1 wherever the claim follows."""
        return self.gives / self.claims if self.upper else self.claims / self.gives

    def restated(self, relation: Relational) -> Comparison:
        """What the proof gives, compared with a changed claim."""
        return replace(self, gives=relation.lhs if self.own else self.gives, claims=relation.rhs)

    def sampler(self) -> Sampler:
        return _sampler((self.gives, self.claims), self.conditions)

    def factor(self, largest: float | None, status: Status) -> Factor:
        """The largest ratio of corresponding coefficients, if there is one that agrees with the status."""
        small, large = (self.gives, self.claims) if self.upper else (self.claims, self.gives)
        exact = coefficients(small, large)
        if exact is not None and _agrees(exact, status):
            return exact
        conditions = conjuncts(*self.conditions)
        if status != "claims-more" or (largest is not None and largest < LARGE):
            return largest
        if unbounded(small, large, self.relation, conditions, self.sampler()):
            return "unbounded"
        given, sides = written((small, large), conditions)
        if unbounded(sides[0], sides[1], Le(*sides, evaluate=False), given, Sampler(sides, tuple(given))):
            return "unbounded"
        return largest

    def terms(self, relation: int, equal: bool) -> tuple[Term, ...]:
        """The factor, term by term; nothing where no bound of the proof's own is compared."""
        small, large = (self.gives, self.claims) if self.upper or equal else (self.claims, self.gives)
        return () if self.own else terms(small, large, conjuncts(*self.conditions), relation)


@lru_cache(maxsize=256)
def _sampler(formulas: tuple[Expr, ...], conditions: tuple[Boolean, ...]) -> Sampler:
    return Sampler(formulas, conditions)


def _agrees(factor: float, status: Status) -> bool:
    if status == "claims-more":
        return factor > 1 + TIGHT
    return factor < 1 - TIGHT if status == "claims-less" else abs(factor - 1) <= TIGHT


@lru_cache(maxsize=512)
def supremum(comparison: Comparison) -> tuple[float | None, Point | None]:
    """The largest ratio found, and where; None when the two sides do not speak of the same quantities."""
    if comparison.ratio.has(nan, zoo):  # to a side that is 0
        return None, None
    sampler = comparison.sampler()
    ratio = compiled(comparison.ratio, sampler.variables)
    _, point = sampler.climb(ratio, sampler.pool(str(comparison.claims)[:100], POOL), CLIMB)
    if point is None:
        return None, None
    sides = [{q for q in quantities(side) if opaque(q)} for side in (comparison.gives, comparison.claims)]
    value, claims = (_number(side, point, sampler) for side in (ratio, compiled(comparison.claims, sampler.variables)))
    comparable = claims > 0 and (
        sides[0] <= sides[1] or sides[1] <= sides[0]
    )  # a ratio to a negative side says nothing
    return (value if comparable else None), point


def _number(side: Compiled, point: Point, sampler: Sampler) -> float:
    """Its value at a point, as exactly as it can be had: in floats where 60 digits cannot tell a denominator from 0."""
    values = [point[v] for v in sampler.variables]
    try:
        exact = side.exact(values)
        return float(side.precise(values) if exact is None else exact)
    except (Undefined, OverflowError):
        return float(side.float([float(x) for x in values]))


def violated(comparison: Comparison) -> Point | None:
    """A point where the proof gives less than is claimed: sampled, or where the ratio climbs above 1."""
    relation, conditions = comparison.relation, conjuncts(*comparison.conditions)
    # A sum and the terms that it is over cannot be drawn one without the other.
    if entangled(relation, *conditions):
        return None
    worst = violation(relation, conditions, comparison.sampler(), SAMPLES)
    if worst is None:
        _, best = supremum(comparison)
        worst = best if best is not None and violates(relation, conditions, best) else None
    return worst


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A comparison, a sampler for it, and points with its ratio there: what changed claims are compared with."""

    before: Comparison
    printed: Expr  # its ratio
    sampler: Sampler
    pool: Sequence[tuple[Drawn, float]]

    @staticmethod
    def of(comparison: Comparison) -> Search:
        sampler, printed = comparison.sampler(), comparison.ratio
        ratio = compiled(printed, sampler.variables)
        pool = [(drawn, drawn.score(ratio)) for drawn in sampler.pool("slack", POOL)]
        return Search(comparison, printed, sampler, pool)

    def ratio(self, relation: Relational) -> Compiled | None:
        """The ratio of the changed claim; None if nothing has changed, or if it is about something else altogether."""
        before, after = self.before, self.before.restated(relation)
        if after == before or not set(quantities(after.gives, after.claims)) <= set(self.sampler.variables):
            return None
        ratio = after.ratio
        return None if ratio == self.printed else compiled(ratio, self.sampler.variables)

    def rises(self, ratio: Compiled) -> bool:
        """Whether the changed ratio is larger somewhere, so that the changed claim is stronger there."""
        return any(old > -inf and drawn.score(ratio) > old * (1 + SEEN) for drawn, old in self.pool)

    def breaks(self, ratio: Compiled) -> bool:
        """Whether the changed ratio is found above 1, so that the changed claim does not follow."""
        value, _ = self.sampler.climb(ratio, [drawn for drawn, _ in self.pool], CLIMB, enough=1 + SEEN)
        return value > 1 + SEEN
