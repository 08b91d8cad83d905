"""Does the statement make sense? The cheapest referee: units, satisfiable conditions, limits, signs, step sizes.

A rule reports only what it can establish: a mismatch of dimensions, an unsatisfiable set of conditions, a limit that
comes out otherwise, or an exact point at which a printed step size or bound does what it cannot do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sympy import AccumBounds, Basic, Expr, Ge, Indexed, Le, Lt, PoleError, Symbol, nan
from sympy import Limit as UnevaluatedLimit
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, false, true

from ..decide.decision import decide, proved
from ..language.algebra import (
    And,
    Integer,
    Not,
    Poly,
    Rational,
    Sum,
    diff,
    fraction,
    limit,
    simplify,
    solve,
    together,
)
from ..language.assumptions import loss_class
from ..language.dimension import DimensionError, dimension_of
from ..language.knobs import knob_range
from ..language.method import Method
from ..language.statement import Limit, Statement
from .method_dimensions import mismatches
from .wellformed import faults, misfits

Catalogue = Mapping[str, Statement]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and which rule saw it."""

    rule: str
    message: str


def lint(statement: Statement, catalogue: Catalogue | None = None) -> tuple[Finding, ...]:
    """All findings on one statement; none means that nothing was seen, not that it is true.

    Where fields hold other things than they should, the other rules have nothing to read.
    """
    findings = [Finding("form", str(fault)) for fault in faults(statement)]
    for name, rule in RULES.items() if not any(misfits(statement)) else ():
        findings += (Finding(name, message) for message in rule(statement, catalogue or {}))
    return tuple(findings)


def _dimensions(statement: Statement, _: Catalogue) -> Iterator[str]:
    glossary = statement.glossary
    for part in (*statement.relations, *statement.when):
        yield from _mismatch(part, statement, "{}", part)
    for name, pairs in (("choose", statement.choose), ("where", statement.where)):
        for left, right in pairs.items():
            yield from _mismatch(Le(left, right, evaluate=False), statement, "{} {} = {}", name, left, right)
    for made in statement.limits:
        for relation in statement.relations:
            yield from _mismatch(Le(relation.args[1], made.value, evaluate=False), statement, "limit {}", made.value)
    for assumption in (*statement.let, *statement.implicit):
        for constant in assumption.args:
            if constant not in glossary:
                yield f"{constant} of assumption {assumption.name} is not in the glossary"
        if assumption.means is not None:
            yield from _mismatch(assumption.means, statement, "assumption {}: {}", assumption.name, assumption.means)
    if not isinstance(statement.method, str):
        lines = _of_method(statement.method, tuple(statement.method.measures))
        yield from (f"method {statement.method_id}, {message}" for message in lines)


@lru_cache(maxsize=256)
def _of_method(method: Method, _: tuple[Expr, ...]) -> tuple[str, ...]:
    """Mismatches, found once for all statements about a method. Papers add measures later, so these are a key too."""
    return tuple(mismatches(method))


def _mismatch(part: Basic, statement: Statement, what: str, *about: object) -> Iterator[str]:
    try:
        dimension_of(part, statement.glossary)
    except DimensionError as error:
        yield f"{what.format(*about)}: {error}"


def _satisfiable(statement: Statement, _: Catalogue) -> Iterator[str]:
    conditions = And(*(statement.defined(c) for c in statement.when))
    if conditions is true:
        return
    parts = conditions.args if isinstance(conditions, And) else (conditions,)
    # One condition against all others, for nothing is called proved from conditions that contradict each other.
    excluded = (proved(Not(c), _background(statement, *(o for o in parts if o != c))) for c in parts)
    if conditions is false or any(excluded):
        yield f"no parameters meet {', '.join(map(str, statement.when))}"


def _limits(statement: Statement, _: Catalogue) -> Iterator[str]:
    """The printed limit, at exact parameter values that meet the conditions (a symbolic base decides nothing)."""
    for made in statement.limits:
        for relation in statement.relations:
            bound, value = (statement.defined(e) for e in (relation.args[1], made.value))
            for point in _points(statement, made):
                got, want = (_limit(e.subs(point).doit(), made) for e in (bound, value))
                place = f", at {_shown(point)}" if point else ""
                if got is None or want is None:
                    unknown = "sympy finds no limit, so that the printed one is not checked"
                    yield f"as {made.variable} -> {made.point} {unknown}{place}"
                    break
                if got != want and simplify(got - want) != 0:
                    yield f"as {made.variable} -> {made.point} it tends to {got}, not to {want}{place}"
                    break


def _limit(expr: Expr, made: Limit) -> Expr | None:
    """The limit, or None where sympy finds none: it gives the question back, or raises one of its errors for that."""
    try:
        value = limit(expr, made.variable, made.point)
    except (NotImplementedError, PoleError, ValueError, TypeError):  # the last one of functions without a series
        return None
    return None if value is nan or value.has(UnevaluatedLimit, AccumBounds) else value


def _points(statement: Statement, made: Limit) -> Iterator[dict[Basic, Expr]]:
    """A few exact parameter points through the statement's sweep; indexed quantities get values of their own."""
    exprs = [statement.defined(r) for r in statement.relations] + [statement.defined(made.value)]
    free = {s for e in exprs for s in e.free_symbols if isinstance(s, Symbol) and s is not made.variable}
    indexed = {f for e in exprs for f in e.atoms(AppliedUndef) if made.variable not in f.free_symbols}
    sums = {s for e in exprs for s in e.atoms(Sum)}
    for offset in (0, 1, 2):
        point: dict[Basic, Expr] = {s: Integer(2 + offset) for s in sums}
        knobs = {k for v in statement.sweep.values() for k in v.free_symbols if knob_range(str(k))}
        base: dict[Basic, Expr] = {k: Rational(1, 2 + offset) for k in knobs}
        base |= {s: Integer(1 + offset) for s in _constants(statement) - {made.variable} if s not in statement.sweep}
        base |= {s: Integer(1 + offset) for s in free if s not in statement.sweep and s not in base}
        # L lies above the other constants, because few conditions are met where mu is larger.
        if Symbol("L", positive=True) in base:
            base[Symbol("L", positive=True)] = Integer(3 + offset)
        base.pop(made.variable, None)  # conditions may mention it; it is what goes to the limit
        swept = {
            k: statement.defined(v).subs(base).subs(base) for k, v in statement.sweep.items() if k != made.variable
        }
        point |= base | swept | {f: Integer(5 + offset) for f in indexed}
        if all(statement.defined(c).subs(point) is true for c in statement.when if not c.has(made.variable)):
            yield point


def _constants(statement: Statement) -> set[Symbol]:
    exprs = [*statement.when, *statement.sweep.values()]
    symbols = {s for e in exprs for s in e.free_symbols if not isinstance(s, Indexed)}
    return {s for s in symbols if not knob_range(s.name)}


def _step_size(statement: Statement, catalogue: Catalogue) -> Iterator[str]:
    """The step size that is chosen meets the conditions of every statement that is cited."""
    cited = [catalogue[c] for d in statement.follows_from for c in d.cites if c in catalogue]
    background = _background(statement, *(statement.defined(c) for c in statement.when))
    for lemma in cited:
        for head in statement.choose:
            matched = _match(lemma, statement, head)
            if matched is None:
                yield f"{head} = {statement.choose[head]} has not the form {lemma.choose[head]} of {lemma.id}"
                continue
            about_it = {head.func if isinstance(head, AppliedUndef) else head, *matched}
            for condition in (c for c in lemma.when if c.has(*about_it)):  # derive looks after the others
                asked = statement.defined(_chosen(lemma.defined(condition).subs(matched, simultaneous=True), statement))
                if asked.atoms(AppliedUndef):  # something of the run that the choice does not settle
                    continue
                decision = decide(asked, background, asking="false")
                if decision.status == "false":
                    yield f"the choice here violates {condition} of {lemma.id}: {decision.detail}"


def _match(lemma: Statement, statement: Statement, head: Expr) -> dict[Symbol, Expr] | None:
    """Values of the lemma's parameters for which its step size is the statement's; None if there are none."""
    if head not in lemma.choose:
        return {}
    wanted, form = statement.defined(statement.choose[head]), lemma.defined(lemma.choose[head])
    index = {s for s in head.free_symbols if isinstance(s, Symbol)}
    free = form.free_symbols - wanted.free_symbols - index
    unknown = sorted((s for s in free if not isinstance(s, Indexed)), key=str)  # sympy counts p[j] among them
    top = fraction(together(form - wanted))[0]
    if top == 0:
        return {}
    solved = solve(Poly(top, *index).coeffs() if index else [top], unknown, dict=True)
    return dict(solved[0]) if solved else None


def _chosen(expr: Expr, statement: Statement) -> Expr:
    """`expr` with the statement's choices put in, at every index they occur with."""
    for head, value in statement.choose.items():
        for used in expr.atoms(type(head)) if isinstance(head, AppliedUndef) else ():
            index = dict(zip(head.args, used.args, strict=True))
            expr = expr.subs(used, statement.defined(value).subs(index, simultaneous=True))
    return expr


def _start(statement: Statement, _: Catalogue) -> Iterator[str]:
    """An upper bound on a run holds before the run has begun: at t = 0 it is at least the start."""
    for relation, index in _upper_bounds(statement):
        claim = statement.defined(relation).subs(index, 0)
        background = _background(statement, *(statement.defined(c) for c in statement.when))
        decision = decide(claim, background, asking="false")
        if decision.status == "false":
            yield f"at {index} = 0 the bound is below its own start: {decision.detail}"


def _monotone(statement: Statement, _: Catalogue) -> Iterator[str]:
    """More noise, larger gradients or more heterogeneity cannot make an upper bound smaller: they are only bounds."""
    for relation in statement.relations:
        if not isinstance(relation, Le | Lt) or not relation.args[0].has(AppliedUndef):
            continue
        bound = statement.defined(relation.args[1])
        for assumption in statement.let:
            for constant in assumption.args:
                if constant.is_positive or not bound.has(constant):
                    continue  # L and mu also set the step size: no sign is expected of them
                slope = diff(bound, constant)
                if slope.is_nonnegative:  # as written, by the domains of its symbols: no point can say otherwise
                    continue
                background = _background(statement, *(statement.defined(c) for c in statement.when))
                decision = decide(Ge(slope, 0), background, asking="false")
                if decision.status == "false":
                    yield f"the bound falls when {constant} grows: {decision.detail}"


def _upper_bounds(statement: Statement) -> Iterator[tuple[Relational, Symbol]]:
    for relation in statement.relations:
        left, right = relation.args[0], statement.defined(relation.args[1])
        if isinstance(relation, Le | Lt) and isinstance(left, AppliedUndef) and len(left.args) == 1:
            index = left.args[0]
            if isinstance(index, Symbol) and right.has(left.func(0)):
                yield relation, index


def _background(statement: Statement, *more: Boolean) -> list[Boolean]:
    """What the assumptions say about the constants: mu <= L once both are assumed."""
    conditions = list(more)
    curved = loss_class((*statement.let, *statement.implicit))
    if curved.strong is not None and curved.both is not None and curved.strong.args and curved.both.args:
        conditions.append(Le(curved.strong.args[0], curved.both.args[0]))
    for index, ends in statement.for_all.items():
        conditions.append(Ge(index, ends[0]))
    return [g for g in conditions if g is not true]


def _shown(point: Mapping[Basic, Expr]) -> str:
    return ", ".join(f"{k} = {v}" for k, v in sorted(point.items(), key=str) if isinstance(k, Symbol))


RULES: dict[str, Callable[[Statement, Catalogue], Iterator[str]]] = {
    "dimension": _dimensions,
    "satisfiable": _satisfiable,
    "limit": _limits,
    "step-size": _step_size,
    "start": _start,
    "monotone": _monotone,
}
