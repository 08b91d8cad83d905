"""Claims about the last round, by a potential: a combination of measures that no round raises.

From V(t + 1) + l(t) <= V(t) + c for every round follows, by induction, what is claimed of round N: the potential at the
start is at most what the claim allows, at the end at least what it bounds. The coefficients of V are polynomials in t
and in the constants; they and the multipliers of all premises are the unknowns of one linear programme. A rate r^N is
the same with V(t + 1) <= r V(t).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from sympy import (
    Add,
    Expr,
    Function,
    Ge,
    Integer,
    Le,
    Lt,
    Poly,
    Pow,
    Rational,
    Sum,
    Symbol,
    cancel,
    expand,
    fraction,
    together,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fedaudit.bounds.decide.sample_points import conjuncts
from fedaudit.bounds.language.dimension import ONE, Dimension, DimensionError, dimension_of
from fedaudit.bounds.language.rule_expressions import expect, f, f_star, full_grad, inner, norm2, w_star
from fedaudit.bounds.language.rule_parts import Number, Vector
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.frame import Frame, others
from fedaudit.bounds.proofs.premise_identity import by_form

from .framing import frame_of, meaning
from .points import LENGTH2, SLOPE2, VALUE, Reach, power_of, reach_of

START = Integer(0)


@dataclass(frozen=True, slots=True)
class LastRoundClaim:
    """What is claimed of round `end`: `rate`^end `first` + c(end) - `last` - [sum of `each` over earlier rounds] >= 0.

    `first` speaks of round 0, `last` of round `end`; `per_round` and `rest` are c(end) = per_round * end + rest.
    """

    end: Any
    first: Any
    last: Any
    each: Any = START  # at `index`
    index: Symbol | None = None
    per_round: Any = START
    rest: Any = START
    rate: Any = None
    inclusive: bool = False


def last_round_claim(relation: Relational, frame: Frame) -> LastRoundClaim | None:
    """The claim as something about a last round; None if it is not."""
    if not isinstance(relation, Le | Ge):
        return None
    total = relation.gts - relation.lts
    meant = [q for q in total.atoms(AppliedUndef) if meaning(frame, q) is not None]
    indices = {q.args[0] for q in meant if len(q.args) == 1}
    ends = [a for a in indices if a != 0 and isinstance(a, Symbol) and not _bound_in(a, total)]
    if any(len(q.args) != 1 for q in meant) or len(ends) > 1:
        return None
    sums = list(total.atoms(Sum))
    if not ends and sums:
        ends = list(sums[0].limits[0][2].free_symbols)
    if len(ends) != 1 or len(sums) > 1:
        return None
    end = ends[0]
    powers = [p for p in total.atoms(Pow) if end in p.exp.free_symbols]
    if powers:
        return _geometric(total, end, powers, frame) if not sums else None
    marks = {q: Symbol(f"_q{n}") for n, q in enumerate(sorted((q for q in meant if q.args[0] in (0, end)), key=str))}
    marks |= {s: Symbol(f"_s{n}") for n, s in enumerate(sums)}
    flat = cancel(together(total.xreplace(marks)))
    top, below = fraction(flat)
    poly = Poly(top, *marks.values()) if marks else None
    if poly is None or poly.total_degree() > 1:
        return None
    parts = {mark: poly.coeff_monomial(mark) / below for mark in marks.values()}
    const = poly.coeff_monomial(1) / below
    starts = {q: parts[m] for q, m in marks.items() if isinstance(q, AppliedUndef) and q.args[0] == 0}
    if not starts:
        return None
    lead = cancel(next(iter(starts.values())))
    _, moving = lead.as_independent(end, as_Add=False)
    # One point tells the sign of a factor that has one; with any other the last line of the proof would not stand.
    moving = moving if moving.subs(dict.fromkeys(moving.free_symbols, Rational(1, 2))) > 0 else -moving
    scaled = {q: cancel(parts[m] / moving) for q, m in marks.items()}
    const = cancel(const / moving)
    if any(end in scaled[q].free_symbols for q in starts):
        return None
    if sums and end in scaled[sums[0]].free_symbols:
        return None
    top, below = fraction(const)
    if end in below.free_symbols or Poly(top, end).degree() > 1:
        return None
    per_round = Poly(top, end).coeff_monomial(end) / below
    rest = Poly(top, end).coeff_monomial(1) / below
    first = Add(*(c * q for q, c in scaled.items() if q in starts))
    last = -Add(*(c * q for q, c in scaled.items() if isinstance(q, AppliedUndef) and q not in starts))
    each, index, inclusive = START, None, False
    if sums:
        (index, low, high), *more = sums[0].limits
        if more or low != 0 or high not in (end, end - 1):
            return None
        each, inclusive = -scaled[sums[0]] * sums[0].function, high == end
    return LastRoundClaim(end, first, last, each, index, per_round, rest, None, inclusive)


def _bound_in(symbol: Expr, expr: Expr) -> bool:
    return any(symbol in {limit[0] for limit in s.limits} for s in expr.atoms(Sum))


def _geometric(total: Any, end: Any, powers: Sequence[Any], frame: Frame) -> LastRoundClaim | None:
    bases = {(p.base, p.exp) for p in powers}
    if len(bases) != 1:
        return None
    ((base, exponent),) = bases
    rate = base ** (exponent / end)
    if end in rate.free_symbols:
        return None
    power = Symbol("_power")
    linear = expand(total.subs(base**exponent, power))
    first, others = linear.coeff(power, 1), linear.coeff(power, 0)
    if expand(linear - first * power - others) != 0:
        return None
    quantities = [q for q in others.atoms(AppliedUndef) if meaning(frame, q) is not None]
    last = -Add(*(term for term in Add.make_args(others) if any(term.has(q) for q in quantities)))
    rest = expand(others + last)
    if any(q.args[0] != end for q in quantities) or end in rest.free_symbols:
        return None
    return LastRoundClaim(end, first, last, rest=rest, rate=rate)


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Potential:
    """A frame with names of the proof's own, and the quantities that a potential may be made of, with dimensions."""

    frame: Frame
    reach: Reach
    quantities: tuple[tuple[Any, Dimension], ...]  # heads


def potential_of(statement: Statement, *, more: bool) -> Potential | None:
    """A potential of measures at a round; with `more`, of values, distances, slopes of server vectors too."""
    plain = frame_of(statement)
    if plain is None:
        return None
    t, method = plain.letters[0], plain.method
    kept = [(q, n) for q, n in method.measures.items() if getattr(q, "args", ()) == (t,) and n.law in ("", "expect")]
    names: dict[Expr, Number] = {}
    if more:
        own = [number for _, number in kept]
        offered = _offered(list(method.server), method.composite)
        names = {Function(name, real=True)(t): number for name, number, _ in offered if number not in own}
    sizes = {name: size for name, _, size in _offered(list(method.server), method.composite)}
    frame = frame_of(statement, names)
    reach = None if frame is None else reach_of(frame, statement)
    if frame is None or reach is None:
        return None
    heads = [(q.func, dimension_of(q, method.glossary) or ONE) for q, _ in kept]
    heads += [(q.func, sizes[q.func.__name__]) for q in names]
    return Potential(frame, reach, tuple(heads))


def _offered(server: Sequence[Vector], composite: bool) -> Iterator[tuple[str, Number, Dimension]]:
    for x in server:
        yield f"dist2_{x.name}", expect(norm2(x - w_star)), LENGTH2
        if not composite:
            yield f"gap_{x.name}", expect(f(x)) - f_star, VALUE
            yield f"grad2_{x.name}", expect(norm2(full_grad(x))), SLOPE2
            yield f"along_{x.name}", expect(inner(full_grad(x), x - w_star)), VALUE
    for x, y in permutations(server, 2):
        if server.index(x) < server.index(y):
            yield f"apart2_{x.name}_{y.name}", expect(norm2(x - y)), LENGTH2
        if not composite:
            yield f"toward_{x.name}_{y.name}", expect(inner(full_grad(x), x - y)), VALUE


def generators(reach: Reach, conditions: Sequence[Any], spoken: Any) -> tuple[list[Any], list[Any]]:
    """Numbers without dimension that are not negative: letters, and what the conditions say."""
    glossary, scale = reach.frame.method.glossary, reach.scale
    symbols = set(spoken.free_symbols)
    for value in (*reach.frame.chosen.values(), *(a for one in reach.assumed.values() for a in one.args)):
        symbols |= getattr(value, "free_symbols", set())
    letters: list[Any] = []
    for s in sorted(symbols, key=str):
        if not isinstance(s, Symbol) or s == scale or not by_form(s) or s.is_integer:
            continue
        without_dimension = _sized(s, scale, glossary)
        if without_dimension is not None and without_dimension != 1 and by_form(without_dimension):
            letters.append(without_dimension)
    for step in sorted(reach.frame.method.steps(), key=str):
        if step not in reach.frame.chosen and step.is_positive:
            without_dimension = _sized(step, scale, glossary)
            letters += [without_dimension] if without_dimension is not None else []
    bounds: list[Any] = []
    if reach.frame.sample is not None:
        n, m = reach.frame.sizes[1], reach.frame.sample
        # (n - m)/(m (n - 1)) is how much of the variance is left in a sample of m out of n, and at most 1.
        bounds.append(1 - (n - m) / (m * others(n)))
    for condition in conjuncts(*conditions):
        if isinstance(condition, Le | Ge | Lt) and not condition.free_symbols & {*reach.frame.sizes}:
            small, large = (condition.lts, condition.gts)
            top, below = fraction(cancel(together(large - small)))
            without_dimension = _sized(top, scale, glossary) if by_form(below, strict=True) else None
            if without_dimension is not None and not by_form(without_dimension) and condition.free_symbols <= symbols:
                bounds.append(expand(without_dimension))
    return list(dict.fromkeys(letters)), list(dict.fromkeys(bounds))


def _sized(expr: Any, scale: Any, glossary: Any) -> Any:
    try:
        size = dimension_of(expr, glossary) or ONE
    except DimensionError:
        return None
    power = power_of(scale, size, ONE)
    return None if power is None else expr * power
