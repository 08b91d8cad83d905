"""The terms of a bound, and the bound with some of them scaled.

A place is a path to a summand: into sums, into factors that are sums, into the larger of several; of a statement, also
into the definitions of its `where`. Powers and functions are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sympy import Add, Expr, Max, Mul, Rational, Symbol

from fedaudit.bounds.language.statement import Statement

Path = tuple[int, ...]
Scales = Mapping[Path, Expr]


def summands(expr: Expr, path: Path = ()) -> Iterator[tuple[Path, Expr]]:
    """Paths to the terms of a side that are not subtracted."""
    if isinstance(expr, Add | Max):
        for n, part in enumerate(expr.args):
            yield from summands(part, (*path, n))
        return
    if isinstance(expr, Mul):
        inner = [n for n, part in enumerate(expr.args) if isinstance(part, Add | Max)]
        if expr.as_coeff_Mul()[0] > 0 and inner:
            for n in inner:
                yield from summands(expr.args[n], (*path, n))
            return
    if expr.as_coeff_Mul()[0] > 0:
        yield path, expr


def scaled(expr: Any, scales: Scales) -> Any:
    """The expression with the parts at these paths multiplied, all at once: products may order themselves anew."""
    if () in scales:
        return scales[()] * expr
    if not scales:
        return expr
    below: dict[int, dict[Path, Any]] = {}
    for (first, *rest), factor in scales.items():
        below.setdefault(first, {})[tuple(rest)] = factor
    return expr.func(*(scaled(part, below.get(n, {})) for n, part in enumerate(expr.args)))


@dataclass(frozen=True, slots=True)
class BoundTerm:
    """One term of a statement's right-hand side: in which relation or definition, where, and what it is."""

    key: Any  # the number of a relation, or a name of `where`
    path: Path
    term: Any

    def at(self, factor: Any) -> str:
        return str(factor * self.term)


def places(statement: Statement) -> list[BoundTerm]:
    """The terms of the larger sides, those of definitions that a larger side adds up included."""
    by_place: dict[tuple[Any, Path], BoundTerm] = {}
    for n, relation in enumerate(statement.relations):
        for path, term in summands(relation.rhs):
            for place in _written(statement, BoundTerm(n, path, term)):
                by_place.setdefault((place.key, place.path), place)
    return list(by_place.values())


def _written(statement: Statement, place: BoundTerm) -> Iterator[BoundTerm]:
    """The terms of a definition, where the term is that name times something, and a sum by its definition."""
    fixed = {s for e in (*statement.when, *statement.choose.values()) for s in e.free_symbols}
    for name in Mul.make_args(place.term):
        meant = statement.where.get(name) if isinstance(name, Symbol) and name not in fixed else None
        inside = [] if meant is None else list(summands(meant))
        if len(inside) > 1:
            for path, term in inside:
                yield from _written(statement, BoundTerm(name, path, term))
            return
    yield place


def stated(statement: Statement, scales: Mapping[BoundTerm, Any]) -> Statement:
    """The statement with these terms multiplied."""
    of: dict[Any, dict[Path, Any]] = {}
    for place, factor in scales.items():
        of.setdefault(place.key, {})[place.path] = factor
    then = tuple(
        relation.func(relation.lhs, scaled(relation.rhs, of.get(n, {})), evaluate=False)
        for n, relation in enumerate(statement.relations)
    )
    where = {name: scaled(value, of.get(name, {})) for name, value in statement.where.items()}
    return replace(statement, then=then if isinstance(statement.then, tuple) else then[0], where=where)


def simplest(low: Any, high: Any) -> Any:
    """The fraction with the smallest denominator in (low, high]."""
    below = 1
    while True:
        top = (high * below) // 1
        if Rational(top, below) > low:
            return Rational(top, below)
        below += 1
