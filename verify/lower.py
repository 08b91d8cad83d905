"""From sympy to expression trees: the one place where a statement becomes data that can be computed with.

A tree is JSON: a rational string, a symbol's name, or a list that starts with an operation. NumPy evaluates it in
`evaluate`, the kernel evaluates it exactly; neither sees sympy.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sympy import (
    Abs,
    Add,
    Basic,
    Eq,
    Expr,
    Ge,
    Gt,
    Indexed,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Pow,
    Rational,
    Sum,
    Symbol,
    erf,
    exp,
    log,
)
from sympy.core.function import AppliedUndef

from fedaudit.bounds.algebra import e as EULER
from fedaudit.bounds.algebra import pi
from fedaudit.bounds.dimension import DimensionError, dimension_of
from fedaudit.bounds.statement import Assumption, Statement

from .kernel import inputs

Tree: TypeAlias = Any  # str | int | list[Tree]

_NARY: dict[type, str] = {Add: "+", Mul: "*", Min: "min", Max: "max"}
_RELATION: dict[type, str] = {Le: "<=", Lt: "<", Ge: ">=", Gt: ">", Eq: "=", Ne: "!="}
_UNARY: dict[type, str] = {exp: "exp", log: "log", Abs: "abs", erf: "erf"}


def tree(expr: Basic) -> Tree:
    """The expression tree of a sympy expression or relation."""
    if isinstance(expr, Rational):
        return str(expr)
    if isinstance(expr, Symbol):
        return expr.name
    if expr is EULER:
        return ["exp", "1"]
    if expr is pi:
        return ["pi"]
    for kinds in (_NARY, _RELATION, _UNARY):
        if type(expr) in kinds:
            return [kinds[type(expr)], *(tree(a) for a in expr.args)]
    if isinstance(expr, Pow):
        return ["^", tree(expr.base), tree(expr.exp)]
    if isinstance(expr, AppliedUndef):
        return ["at", expr.func.__name__, *(tree(a) for a in expr.args)]
    if isinstance(expr, Indexed):
        return ["at", str(cast("Any", expr.base).label), *(tree(j) for j in expr.indices)]
    if isinstance(expr, Sum):
        body = tree(expr.function)
        for variable, low, high in expr.limits:
            body = ["sum", variable.name, tree(low), tree(high), body]
        return body
    raise ValueError(f"got {expr.func.__name__} in {expr}, expected a known operation; do: extend verify/lower.py")


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A statement ready to be computed with. `claim` is what certificates carry and the kernel reads."""

    id: str
    claim: dict[str, Any]
    sweep: dict[str, Tree]  # free symbol or quantity -> its index and value, in constants and knobs
    knobs: tuple[str, ...]
    symbols: dict[str, str]  # free scalar symbols of claim and sweep, with their domains
    starts: bool  # the claim compares with its own start, so that its first index is trivial
    units: tuple[tuple[float, float], ...]  # powers of F and W of each relation's left side, for rounding floors
    replays: tuple[Mapping[str, Any], ...] = ()  # exact runs of which the left side is a closed form
    seen_along: str = ""  # the axis of its picture, where the setting offers more than one


def lower(statement: Statement) -> Lowered:
    """Write out the definitions and turn every part into trees."""

    def lowered(expr: Basic) -> Tree:
        return tree(statement.defined(expr))

    def fixed(pairs: Mapping[Expr, Expr]) -> dict[str, Tree]:
        return {_name(k): {"index": [tree(a) for a in k.args], "value": lowered(v)} for k, v in pairs.items()}

    def assumption(a: Assumption) -> list[str]:
        return [a.name, *(s.name for s in a.args)]

    exprs: list[Any] = [statement.defined(r) for r in (*statement.relations, *statement.when)]
    exprs += [statement.defined(v) for v in (*statement.choose.values(), *statement.sweep.values())]
    used = {s for e in exprs for s in e.free_symbols if isinstance(s, Symbol)}
    bound = {v for e in exprs for sum_ in e.atoms(Sum) for v in sum_.variables} | set(statement.for_all)
    knobs = sorted(s.name for s in used if s.name.startswith(("unit_", "free_")))
    scalars = {s for s in used if s not in bound and s.name not in knobs and s in statement.glossary}
    claim = {
        "id": statement.id,
        "kind": statement.kind,
        "setting": statement.method,
        "let": [assumption(a) for a in statement.let],
        "implicit": [assumption(a) for a in statement.implicit],
        "choose": fixed(statement.choose),
        "when": [lowered(c) for c in statement.when],
        "for_all": {v.name: [lowered(r[0]), lowered(r[1])] for v, r in statement.for_all.items()},
        "then": [lowered(r) for r in statement.relations],
        "domains": _domains(statement, [*exprs[: len(statement.relations) + len(statement.when)]]),
    }
    if statement.form is not None:
        claim["form"] = lower(statement.form.identity).claim
    starts = any(_compares_with_start(statement.defined(r)) for r in statement.relations)
    units = tuple(_unit(statement.defined(r.args[0]), statement) for r in statement.relations)
    symbols = {s.name: _domain(s) for s in sorted(scalars, key=str)}
    replays = statement.form.replays if statement.form is not None else ()
    along = statement.seen_along.name if statement.seen_along is not None else ""
    return Lowered(statement.id, claim, fixed(statement.sweep), tuple(knobs), symbols, starts, units, replays, along)


def _domains(statement: Statement, relations: list[Any]) -> dict[str, str]:
    """The domain of every symbol and quantity that the claim reads, and of what its world reads besides."""
    ends = [statement.defined(end) for both in statement.for_all.values() for end in both]
    chosen = [(statement.defined(v), set(k.args)) for k, v in statement.choose.items()]
    exprs = [(e, set(statement.for_all)) for e in relations] + [(e, set[Any]()) for e in ends] + chosen
    symbols = {s for e, bound in exprs for s in e.free_symbols if isinstance(s, Symbol) and s not in bound}
    symbols |= {s for a in (*statement.let, *statement.implicit) for s in a.args}
    domains = {s.name: _domain(s) for s in symbols}
    for quantity in (f for e, _ in exprs for f in e.atoms(AppliedUndef, Indexed)):
        domains[_name(quantity)] = _narrower(_domain(quantity), domains.get(_name(quantity)))
    known = {s.name: s for s in statement.glossary if isinstance(s, Symbol)}
    for name, least in inputs(statement.method).items():
        domains.setdefault(name, _domain(known[name]) if name in known else least)
    return dict(sorted(domains.items()))


def _compares_with_start(relation: Any) -> bool:
    """E.g. gap(t) <= ... gap(0) ...: at t = 0 both sides are the same quantity."""
    left, right = relation.args[0], relation.args[1]
    heads = {f.func for f in left.atoms(AppliedUndef)}
    return any(f.func in heads and f.args[0] == 0 for f in right.atoms(AppliedUndef))


def _unit(expr: Basic, statement: Statement) -> tuple[float, float]:
    try:
        dim = dimension_of(expr, statement.glossary)
    except DimensionError:  # lint says so; here it only means that no natural scale is known
        dim = None
    return (float(dim.f), float(dim.w)) if dim else (0.0, 0.0)


def _name(head: Basic) -> str:
    if isinstance(head, Indexed):
        return str(cast("Any", head.base).label)
    return head.func.__name__ if isinstance(head, AppliedUndef) else str(head)


def _narrower(domain: str, other: str | None) -> str:
    """Of a quantity that shares its name with a symbol (gamma and gamma(t)), the domain that both have."""
    order = ("real", "nonnegative", "positive")
    return domain if other is None else other if other not in order else max(domain, other, key=order.index)


def _domain(symbol: Basic) -> str:
    if symbol.is_integer:
        return "count" if symbol.is_positive else "index"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"
