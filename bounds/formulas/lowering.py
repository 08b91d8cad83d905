"""From sympy to expression trees: the one place where a statement becomes data that can be computed with.

A tree is JSON: a rational string, a symbol's name, or a list that starts with an operation. NumPy evaluates it in
`verify`, the kernel evaluates it exactly; neither sees sympy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from sympy import (
    Abs,
    Add,
    Basic,
    Expr,
    Indexed,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    S,
    Sum,
    Symbol,
    erf,
    exp,
    log,
    sympify,
)
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Implies, Not, Or, false, true

from fedaudit.errors import UserError

from ..language.algebra import e as EULER
from ..language.algebra import pi
from ..language.dimension import DimensionError, dimension_of
from ..language.knobs import knob_range
from ..language.statement import Assumption, Formula, Statement
from .formula import RELATIONS
from .free_ends import swept_below_ends
from .trees import Tree

Inputs = Callable[[str], Mapping[str, str]]  # method -> names and domains

_NARY: dict[type, str] = {Add: "+", Mul: "*", Min: "min", Max: "max"}
_RELATION: dict[type, str] = {head: sign for sign, head in RELATIONS.items()}
_UNARY: dict[type, str] = {exp: "exp", log: "log", Abs: "abs", erf: "erf"}
_LOGIC: dict[type, str] = {And: "and", Or: "or", Not: "not"}
NO_NAMES: Mapping[Basic, str] = {}
# values of formulas that are no real numbers
NO_NUMBERS: tuple[Expr, ...] = (S.ImaginaryUnit, S.NaN, S.Infinity, S.NegativeInfinity, S.ComplexInfinity)


def tree(expr: Basic, names: Mapping[Basic, str] = NO_NAMES) -> Tree:
    """The expression tree of a sympy expression or relation; what has a name in `names` goes by that."""
    if expr in names:
        return names[expr]
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
            return [kinds[type(expr)], *(tree(a, names) for a in expr.args)]
    if isinstance(expr, Pow):
        return ["^", tree(expr.base, names), tree(expr.exp, names)]
    if isinstance(expr, AppliedUndef):
        return ["at", expr.func.__name__, *(tree(a, names) for a in expr.args)]
    if isinstance(expr, Indexed):
        return ["at", str(expr.base.label), *(tree(j, names) for j in expr.indices)]
    if isinstance(expr, Sum):
        bound = {limit[0] for limit in expr.limits}
        body = tree(expr.function, {q: name for q, name in names.items() if q not in bound})
        # sympy's first limit is the innermost sum.
        for variable, low, high in expr.limits:
            body = ["sum", variable.name, tree(low, names), tree(high, names), body]
        return body
    raise UserError(
        f"got {expr.func.__name__} in {expr}, expected a known operation; do: extend bounds/formulas/lowering.py"
    )


def unreadable(expr: Basic) -> Iterator[Basic]:
    """The parts of a claim that have no tree: operations and numbers that the kernel does not know."""
    if isinstance(expr, Rational | Symbol) or expr is EULER:
        return
    if type(expr) in _NARY | _RELATION | _UNARY or isinstance(expr, Pow | AppliedUndef):
        parts = expr.args
    elif isinstance(expr, Indexed):
        parts = expr.indices
    elif isinstance(expr, Sum):
        parts = (expr.function, *(end for _, *ends in expr.limits for end in ends))
    else:
        yield expr
        return
    for part in parts:
        yield from unreadable(part)


def _limit(end: Expr | int) -> Tree:
    return tree(cast("Basic", sympify(end, strict=True)))


def truth(expr: Basic, names: Mapping[Basic, str] = NO_NAMES) -> Tree:
    """The tree of a relation, or of relations with and, or, not. Claims hold no logic: the kernel reads none."""
    if expr is true or expr is false:
        return ["and" if expr is true else "or"]
    if isinstance(expr, Implies):
        return ["or", ["not", truth(expr.args[0], names)], truth(expr.args[1], names)]
    if type(expr) in _LOGIC:
        return [_LOGIC[type(expr)], *(truth(a, names) for a in expr.args)]
    return tree(expr, names)


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A statement ready to be computed with. `claim` is what certificates carry and the kernel reads."""

    id: str
    claim: dict[str, Tree]
    sweep: dict[str, Tree]  # free symbol or quantity -> its index and value, in constants and knobs
    knobs: tuple[str, ...]
    symbols: dict[str, str]  # free scalar symbols of claim and sweep, with their domains
    starts: bool  # the claim compares with its own start, so that its first index is trivial
    units: tuple[tuple[float, float], ...]  # powers of F and W of each relation's left side, for rounding floors
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    # powers of F and W of the symbols and quantities that a method's run reads
    replays: tuple[Mapping[str, object], ...] = ()  # exact runs of which the left side is a closed form


def lower(statement: Statement, inputs: Inputs) -> Lowered:
    """Write out the definitions and turn every part into trees. `inputs`: what a method's world reads besides."""

    def lowered(expr: Basic) -> Tree:
        return tree(written(statement, expr))

    def fixed(pairs: Mapping[Expr, Expr]) -> dict[str, Tree]:
        return {name_of(k): {"index": [tree(a) for a in k.args], "value": lowered(v)} for k, v in pairs.items()}

    def assumption(a: Assumption) -> list[str]:
        return [a.name, *(s.name for s in a.args)]

    # A sweep that somebody wrote goes before one that the conditions give.
    drawn = {**swept_below_ends(statement), **statement.sweep}
    exprs: list[Basic] = [written(statement, r) for r in (*statement.relations, *statement.when)]
    exprs += [written(statement, v) for v in (*statement.choose.values(), *drawn.values())]
    used = {s for e in exprs for s in e.free_symbols if isinstance(s, Symbol)}
    bound = {v for e in exprs for sum_ in e.atoms(Sum) for v in sum_.variables} | set(statement.for_all)
    knobs = sorted(s.name for s in used if knob_range(s.name))
    scalars = {s for s in used if s not in bound and s.name not in knobs and s in statement.glossary}
    claim: dict[str, Tree] = {
        "id": statement.id,
        "kind": statement.kind,
        "setting": statement.setting,
        "let": [assumption(a) for a in statement.let],
        "implicit": [assumption(a) for a in statement.implicit],
        "choose": fixed(statement.choose),
        "when": [lowered(c) for c in statement.when],
        "for_all": {v.name: [lowered(r[0]), lowered(r[1])] for v, r in statement.for_all.items()},
        "then": [lowered(r) for r in statement.relations],
        # Not the choices, which `_domains` reads with their own indices, nor what is drawn, which no claim reads.
        "domains": _domains(
            statement, [*exprs[: len(statement.relations) + len(statement.when)]], inputs(statement.setting)
        ),
    }
    if not isinstance(statement.method, str):
        claim["method"] = statement.method.data(tree, set(claim["domains"]))
        claim["means"] = {
            a.name: {
                "relation": tree(a.means),
                "for_all": {index.name: [_limit(low), _limit(high)] for index, low, high in a.for_all},
            }
            for a in (*statement.let, *statement.implicit)
            if a.means is not None
        }
    if statement.form is not None:
        claim["form"] = lower(statement.form.identity, inputs).claim
    starts = any(_compares_with_start(statement.defined(r)) for r in statement.relations)
    units = tuple(_unit(statement.defined(r.args[0]), statement) for r in statement.relations)
    symbols = {s.name: domain_of(s) for s in sorted(scalars, key=str)}
    replays = statement.form.replays if statement.form is not None else ()
    scales = _scales(statement, claim["domains"]) if "method" in claim else {}
    swept = fixed(drawn)
    return Lowered(statement.id, claim, swept, tuple(knobs), symbols, starts, units, scales, replays)


def written(statement: Statement, expr: Basic) -> Formula:
    """`expr` with every definition of the statement, and every formula of its method, written out."""
    defined = statement.defined(expr)
    return defined if isinstance(statement.method, str) else statement.method.written(defined)


def _domains(statement: Statement, relations: list[Basic], inputs: Mapping[str, str]) -> dict[str, str]:
    """The domain of every symbol and quantity that the claim reads, and of what its world reads besides."""
    ends = [statement.defined(end) for both in statement.for_all.values() for end in both]
    chosen = [(statement.defined(v), set(k.args)) for k, v in statement.choose.items()]
    exprs = [(e, set(statement.for_all)) for e in relations] + [(e, set[Expr]()) for e in ends] + chosen
    if not isinstance(statement.method, str):
        meant = [a for a in (*statement.let, *statement.implicit) if a.means is not None]
        exprs += [(a.means, {index for index, *_ in a.for_all}) for a in meant]
        exprs += [(sympify(end, strict=True), set[Expr]()) for a in meant for _, *both in a.for_all for end in both]
        read = {name_of(f) for e, _ in exprs for f in e.atoms(AppliedUndef, Symbol)}
        inside = [sympify(e, strict=True) for e in statement.method.scalars(read)]
        letters = statement.method.names
        exprs += [(e, {s for s in e.free_symbols if letters.get(s, str(s)) in ("t", "k", "i")}) for e in inside]
    symbols = {s for e, bound in exprs for s in e.free_symbols if isinstance(s, Symbol) and s not in bound}
    symbols |= {s for a in (*statement.let, *statement.implicit) for s in a.args}
    domains = {s.name: domain_of(s) for s in symbols}
    for quantity in (f for e, _ in exprs for f in e.atoms(AppliedUndef, Indexed)):
        domains[name_of(quantity)] = _narrower(domain_of(quantity), domains.get(name_of(quantity)))
    symbols_by_name = {s.name: s for s in statement.glossary if isinstance(s, Symbol)}
    for name, least in inputs.items():
        domains.setdefault(name, domain_of(symbols_by_name[name]) if name in symbols_by_name else least)
    return dict(sorted(domains.items()))


def _scales(statement: Statement, domains: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Powers of F and W of everything that the claim reads, by name."""
    entries = {name_of(head) if isinstance(head, Symbol) else str(head): e for head, e in statement.glossary.items()}
    return {name: (float(entries[name].dim.f), float(entries[name].dim.w)) for name in domains if name in entries}


def _compares_with_start(relation: Expr) -> bool:
    """Whether its right side reads the left one at 0: of gap(t) <= ... gap(0) ... both are the same at t = 0."""
    left, right = relation.args[0], relation.args[1]
    heads = {f.func for f in left.atoms(AppliedUndef)}
    return any(f.func in heads and f.args[0] == 0 for f in right.atoms(AppliedUndef))


def _unit(expr: Basic, statement: Statement) -> tuple[float, float]:
    try:
        dim = dimension_of(expr, statement.glossary)
    except DimensionError:  # lint says so; here it only means that no natural scale is known
        dim = None
    return (float(dim.f), float(dim.w)) if dim else (0.0, 0.0)


def name_of(head: Basic) -> str:
    if isinstance(head, Indexed):
        return str(head.base.label)
    return head.func.__name__ if isinstance(head, AppliedUndef) else str(head)


def _narrower(domain: str, other: str | None) -> str:
    """The domain that a quantity and a symbol of the same name (gamma(t) and gamma) both have."""
    order = ("real", "nonnegative", "positive")
    return domain if other is None else other if other not in order else max(domain, other, key=order.index)


def domain_of(symbol: Basic) -> str:
    if symbol.is_integer:
        return "count" if symbol.is_positive else "index"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"
