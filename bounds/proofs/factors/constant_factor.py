"""By which factor two bounds differ: the largest ratio of corresponding coefficients, a number, or "unbounded".

Where both sides are sums of the same terms the answer is exact. Elsewhere it is the largest ratio that a search found,
unless no multiple of the claim would do: the claimed side may be 0 or less, or the ratio grows tenfold and tenfold
again along powers of n, at exact points that meet every condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, lcm
from typing import Literal

from flint import fmpq
from sympy import Add, Basic, Expr, Gt, Le, Max, Symbol, expand
from sympy.logic.boolalg import Boolean

from ...decide.dominance import escape
from ...decide.sample_points import Drawn, Sampler, Values
from ...decide.violation import violates, violation
from ...formulas.evaluator import Compiled, Point, compiled, quantities

Factor = float | Literal["unbounded"] | None
STRETCH = (10**3, 10**6, 10**9)  # values of n along a path
STARTS, POOL = 3, 100  # points that a path starts from, the best of so many
SIGNS = 150  # points at which the claimed side's sign is looked at


def coefficients(gives: Expr, claims: Expr) -> float | None:
    """The largest ratio of corresponding coefficients, where every term of `gives` has its like in `claims`."""
    have, want = _terms(gives), _terms(claims)
    if have is None or want is None or not set(have) <= set(want):
        return None
    return float(Max(*(have[term] / want[term] for term in have)))


def _terms(side: Expr) -> dict[Expr, Expr] | None:
    """Monomial -> coefficient; None unless all coefficients are positive."""
    monomials: dict[Expr, Expr] = {}
    for term in Add.make_args(expand(side)):
        number, rest = term.as_independent(*term.free_symbols, *quantities(term), as_Add=False)
        monomials[rest] = monomials.get(rest, 0) + number
    return monomials if monomials and all(c.is_positive for c in monomials.values()) else None


def unbounded(gives: Expr, claims: Expr, relation: Boolean, conditions: Sequence[Boolean], sampler: Sampler) -> bool:
    """Whether no multiple of `claims` reaches `gives`: it may be 0 or less, or the ratio grows without end."""
    if any(c.is_positive is not True for c in claims.args or (claims,)):
        point = violation(Gt(claims, 0), conditions, sampler, SIGNS)
        if point is not None and violates(Le(gives, 0), conditions, point):
            return True
    ratio = compiled(gives / claims, sampler.variables)
    paths = _escaping(gives, claims, conditions, sampler)
    pool = sampler.pool("grows", POOL)
    for drawn in sorted(pool, key=lambda one: -one.score(ratio))[:STARTS]:
        for powers in (*paths, *_simple(sampler)):
            if _climbs(drawn.raw, powers, ratio, sampler, relation, conditions):
                return True
    return False


def _escaping(
    gives: Expr, claims: Expr, conditions: Sequence[Boolean], sampler: Sampler
) -> tuple[Mapping[Basic, int], ...]:
    """The path that z3 proposes, if there is one: a whole power of n for every parameter."""
    names = {q: Symbol(f"q_{n}", positive=True, integer=q.is_integer) for n, q in enumerate(sampler.variables)}
    path = escape(gives.xreplace(names), claims.xreplace(names), [c.xreplace(names) for c in conditions])
    if path is None:
        return ()
    whole = lcm(*(a.denominator for a in path.values()))
    return ({q: int(path.get(s, Fraction(0)) * whole) for q, s in names.items()},)


def _simple(sampler: Sampler) -> Iterator[Mapping[Basic, int]]:
    """One or two parameters that grow or vanish; those that depend on them follow."""
    ends = [(q, a) for q in sampler.variables for a in ((1,) if q.is_integer else (1, -1))]
    yield from ({q: a} for q, a in ends)
    yield from ({q: a, p: b} for n, (q, a) in enumerate(ends) for p, b in ends[n + 1 :] if p != q)


def _climbs(
    raw: Values,
    powers: Mapping[Basic, int],
    ratio: Compiled,
    sampler: Sampler,
    relation: Boolean,
    conditions: Sequence[Boolean],
) -> bool:
    before, points = 0.0, list[Point]()
    for n in STRETCH:
        grown = [x * fmpq(n) ** powers.get(q, 0) for q, x in zip(sampler.variables, raw, strict=True)]
        values = sampler.complete(grown)
        value = -inf if values is None else Drawn.of(grown, values).score(ratio)
        if values is None or not value > 10 * before:
            return False
        before = value
        points.append(sampler.point(values))
    return all(violates(relation, conditions, point) for point in points)
