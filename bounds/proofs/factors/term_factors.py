"""By which factor two bounds differ, term by term.

Terms with a minus are moved to the other side first. A term that both bounds have differs by the ratio of its two
numbers. One that only the source has is set against the claimed term that covers it best, or else against the whole
claim, by a search for the largest ratio: "unbounded" if nothing that is claimed covers it. One that only the claim has
makes the claim weaker, by the factor 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from sympy import Add, Eq, Expr, Ge, Gt, Le, Lt, Rational, Symbol, expand, factor_terms
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, true

from ...decide.decision import Decision
from ...decide.dominance import dominance
from ...decide.sample_points import Sampler, conjuncts
from ...formulas.evaluator import compiled, quantities
from ...formulas.printer import PYTHON, text
from ...language.statement import Statement
from .constant_factor import unbounded

POOL, CLIMB = 200, 200
LARGE = 10  # a search over many decades that finds a smaller ratio has not met an unbounded one
MOST_TERMS, MOST_PAIRS = 24, 16
Share = float | Literal["unbounded", "bounded"] | None  # "bounded": of an order claim, by some constant


@dataclass(frozen=True, slots=True)
class Term:
    """A term, with its sign, and its factor over what covers it: `against`, or the whole claim (None)."""

    relation: int
    term: Expr
    against: Expr | None
    factor: Share

    def __str__(self) -> str:
        if self.factor == 0:
            return f"{_said(self.term)}: {'subtracted only by the source' if _negative(self.term) else 'only claimed'}"
        if self.factor == "unbounded":
            covers = "nothing given" if _negative(self.term) else "nothing claimed"
            return f"{_said(self.term)}: unbounded, {covers} covers it"
        if self.factor == "bounded":
            return f"{_said(self.term)}: O({_said(self.against)})"
        said = f"{self.factor:.4g}" if isinstance(self.factor, float) else self.factor or "undecided"
        whole = "the whole claim" if self.against is None else _said(self.against)
        return f"{_said(self.term)}: {said}{'' if self.against == self.term else f' of {whole}'}"

    def row(self) -> dict[str, Any]:
        against = None if self.against is None else _said(self.against)
        return {"relation": self.relation, "term": _said(self.term), "against": against, "factor": self.factor}


def _said(term: Expr | None) -> str:
    """A term as text, in the usual order."""
    return text(cast("Expr", term), PYTHON)


def _negative(term: Expr) -> bool:
    return term.as_coeff_Mul()[0] < 0


def terms(small: Expr, large: Expr, conditions: Sequence[Boolean], relation: int = 0) -> tuple[Term, ...]:
    """What `small` has over `large`, term by term; empty where there are too many of them."""
    conditions, (small, large) = written((small, large), conditions)
    have, want = _monomials(small), _monomials(large)
    if len(have) + len(want) > MOST_TERMS:
        return ()
    left, right = _moved(have, want), _moved(want, have)
    alone = [t for t in right if t not in left]
    unlike = [t for t in left if t not in right]
    whole = Add(*(c * t for t, c in right.items()))
    compared = [
        Term(relation, _shown(t, have), _shown(t, have), float(left[t] / right[t])) for t in left if t not in unlike
    ]
    covering: set[Expr] = set()
    for t in unlike:
        # Every pair is a search of its own: of too many, each term is set against the whole claim alone.
        others = alone if len(alone) * len(unlike) <= MOST_PAIRS else []
        against, factor = _covered(left[t] * t, {o: right[o] * o for o in others}, whole, conditions)
        covering |= set() if against is None else {against}
        shown = None if against is None else _shown(against, want)
        compared.append(Term(relation, _shown(t, have), shown, factor))
    only = [_shown(t, want) for t in alone if t not in covering]
    return (*compared, *(Term(relation, t, t, 0.0) for t in only))


def _moved(side: Mapping[Expr, Rational], other: Mapping[Expr, Rational]) -> dict[Expr, Rational]:
    """The positive terms of one side, and the negative ones of the other."""
    positive_terms = {t: c for t, c in side.items() if c > 0}
    for t, c in other.items():
        if c < 0:
            positive_terms[t] = cast("Rational", positive_terms.get(t, Rational(0)) - c)
    return positive_terms


def _shown(term: Expr, side: Mapping[Expr, Rational]) -> Expr:
    """A term as it is told: one that was moved to the other side has a minus where it stood."""
    plain = factor_terms(term)
    return plain if side.get(term, Rational(0)) > 0 else -plain


def written(sides: Sequence[Expr], conditions: Sequence[Boolean]) -> tuple[list[Boolean], list[Expr]]:
    """The conditions and the sides, without the symbols that an equation among the conditions defines."""
    unsolved = list(conjuncts(*conditions))
    both: list[Expr] = list(sides)
    for c in list(unsolved):
        if isinstance(c, Eq) and isinstance(c.lhs, Symbol) and c.lhs not in c.rhs.free_symbols:
            name, value = c.lhs, c.rhs
            unsolved = [d.subs(name, value) for d in unsolved if d != c]
            both = [side.subs(name, value) for side in both]
    return [c for c in unsolved if c is not true], both


def _monomials(side: Expr) -> dict[Expr, Rational]:
    """Every term of a sum without its number -> that number."""
    numbers: dict[Expr, Rational] = {}
    for term in Add.make_args(expand(side)):
        number, rest = term.as_coeff_Mul()
        if not isinstance(number, Rational):  # a float, pi: part of the term
            number, rest = Rational(1), term
        numbers[rest] = cast("Rational", numbers.get(rest, Rational(0)) + number)
    return {rest: number for rest, number in numbers.items() if number != 0}


def _covered(
    part: Expr, others: Mapping[Expr, Expr], whole: Expr, conditions: Sequence[Boolean]
) -> tuple[Expr | None, Share]:
    """What covers `part` by the smallest factor: one other term, or else all of them together (None)."""
    tried = [(_largest(part, other, conditions), n, term) for n, (term, other) in enumerate(others.items())]
    finite = [(ratio, n, term) for ratio, n, term in tried if isinstance(ratio, float)]
    if finite:
        ratio, _, term = min(finite, key=lambda found: found[:2])
        return term, ratio
    return None, "unbounded" if whole == 0 else _largest(part, whole, conditions)


def _largest(part: Expr, other: Expr, conditions: Sequence[Boolean]) -> Share:
    both = set(quantities(part, other))
    about = tuple(c for c in conjuncts(*conditions) if set(quantities(c)) <= both)
    sampler = Sampler([part, other], about)
    ratio = compiled(part / other, sampler.variables)
    value, point = sampler.climb(ratio, sampler.pool(str(other)[:100], POOL), CLIMB)
    if point is None:
        return None
    if value >= LARGE and unbounded(part, other, Le(part, other, evaluate=False), about, sampler):
        return "unbounded"
    return float(value)


def orders(statement: Statement, decisions: Sequence[Decision]) -> tuple[Term, ...]:
    """A claim lhs = O(rhs) term by term: whether each term of lhs is O(rhs). `decisions` are about the whole claim."""
    shares: list[Term] = []
    for n, (relation, decision) in enumerate(zip(statement.relations, decisions, strict=True)):
        lhs, rhs = (statement.defined(side) for side in relation.args)
        sides = [] if isinstance(relation, Ge | Gt) else [(lhs, rhs)]
        sides += [(rhs, lhs)] if isinstance(relation, Ge | Gt | Eq) else []
        for small, large in sides:
            for part in Add.make_args(small):
                alone = part == small and not isinstance(relation, Eq)
                decided = (
                    decision
                    if alone
                    else _dominated(statement, Lt if isinstance(relation, Lt | Gt) else Le, part, large)
                )
                shares.append(Term(n, part, large, "bounded" if decided.proved else None))
    return tuple(shares)


def _dominated(statement: Statement, relation: type[Relational], part: Expr, whole: Expr) -> Decision:
    if part == 0:
        return Decision("true", "identity", "0 is dominated")
    return dominance(replace(statement, then=relation(part, whole, evaluate=False)))[0]
