"""Does a statement follow from what it cites? Every step is decided on its own; then what the proof gives is compared
with what is claimed: *follows*, *claims more* (by which factor), *claims less*, or *not derived*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from sympy import Basic, Eq, Expr, Ge, Indexed, Le, Lt, Min, Rational, Symbol, Tuple
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, true

from .decide import Decision, decide
from .derivation import Argument, Given, Induction, Known, Step, View
from .evaluate import Point, Undefined, compiled, quantities
from .facts import Fact
from .sampling import Sampler
from .statement import Statement

Verdict = Literal["follows", "claims-more", "claims-less", "not-derived"]
TIGHT = 1e-6
CLIMB, POOL = 3000, 600
SEEN = 1e-9


@dataclass(frozen=True, slots=True)
class Decided:
    """A step and what became of it; `decision` is about the step alone, `uses` about what it was allowed to use."""

    claim: Boolean
    where: str
    note: str
    decision: Decision
    because: tuple[str, ...] = ()
    uses: tuple[tuple[str, Decision], ...] = ()  # the requirements of facts and cited statements

    @property
    def holds(self) -> bool:
        return self.decision.status == "true" and all(d.status == "true" for _, d in self.uses)

    @property
    def proved(self) -> bool:
        return self.decision.proved and all(d.proved for _, d in self.uses)


@dataclass(frozen=True, slots=True)
class Derived:
    """`factor` is the largest (what the proof gives) / (what is claimed), inverted for a lower bound."""

    status: Verdict
    factor: float | None = None
    evidence: Literal["proof", "numerical"] = "numerical"
    steps: tuple[Decided, ...] = ()
    findings: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    proved: bool = False
    point: Mapping[Basic, Fraction] | None = field(default=None, compare=False)


# --- a statement as a proof sees it ----------------------------------------------------------------------------------


def view(statement: Statement, substitute: Mapping[Any, Any] | None = None, within: Statement | None = None) -> View:
    """`statement` with its definitions written out; cited `within` another, with that one's values and choices in."""

    def write(expr: Any) -> Any:
        made = statement.defined(expr)
        if within is not None:
            made = within.defined(made.subs(dict(substitute or {}), simultaneous=True))
            made = _choose(made, within)
            return within.defined(made)
        return statement.defined(_choose(made, statement))

    requires = [write(condition) for condition in statement.when]
    for index, (low, high) in statement.for_all.items():
        requires += [write(Le(low, index)), write(Le(index, high))]
    if within is not None:
        for quantity, value in statement.choose.items():
            if quantity in within.choose:
                requires.append(_equal(write(value), within.defined(within.choose[quantity])))
    relations = tuple(r for r in (write(r) for r in statement.relations) if isinstance(r, Relational))
    names = tuple(a.name for a in (*statement.let, *statement.implicit))
    return View(statement.id, relations, tuple(r for r in requires if r is not true), names)


def _equal(left: Expr, right: Expr) -> Boolean:
    return Eq(left, right, evaluate=False) if left != right else true


def _choose(expr: Basic, statement: Statement) -> Basic:
    """Put the chosen step size in, at whatever index it is used."""
    for quantity, value in statement.choose.items():
        if not isinstance(quantity, AppliedUndef):
            expr = expr.subs(quantity, value)
            continue
        for use in expr.atoms(AppliedUndef):
            if use.func == quantity.func:
                index = dict(zip(quantity.args, use.args, strict=True))
                expr = expr.subs(use, value.subs(index, simultaneous=True))
    return expr


# --- deciding the steps ----------------------------------------------------------------------------------------------


def settle(step: Step | Induction, background: Sequence[Boolean] = ()) -> Decided:
    """Decide one step from exactly what it names and the statement's own conditions."""
    if isinstance(step, Induction):
        return _induction(step, background)
    background = [*background, *step.under]
    uses = tuple(_requirements(step.given, background))
    decision = decide(step.claim, [*background, *(g.claim for g in step.given)], bare=step.bare)
    return Decided(step.claim, step.where, step.note, decision, _names(step.given), uses)


def _induction(step: Induction, background: Sequence[Boolean]) -> Decided:
    over, start = step.over, step.start
    fixed = [b for b in background if over not in b.free_symbols]
    at_start = [*fixed, *(b.subs(over, start) for b in background if over in b.free_symbols)]
    base = decide(_at(step.claim, over, start), [*at_start, *(g.claim for g in step.base)], bare=step.bare)
    onward = [*background, *(_at(b, over, over + 1) for b in background if over in b.free_symbols), Le(start, over)]
    given = [*onward, step.claim, *(g.claim for g in step.step)]
    forth = decide(_at(step.claim, over, over + 1), given, bare=step.bare)
    closed = [b for b in background if over in b.free_symbols]
    uses = (
        (f"induction starts at {start}", decide(Le(start, over), background)),
        *((f"{b} holds one step earlier", decide(b, [*fixed, _at(b, over, over + 1), Le(start, over)])) for b in closed),
        *_requirements(step.base, at_start),
        *_requirements(step.step, [*onward, step.claim]),
        (f"induction from {over} to {over} + 1", forth),
    )
    return Decided(step.claim, step.where, step.note, base, _names((*step.base, *step.step)), uses)


def _at(claim: Boolean, over: Symbol, value: Expr | int) -> Boolean:
    made = claim.subs(over, value)
    return made.doit() if isinstance(value, int) else made


def _requirements(given: Sequence[Given], background: Sequence[Boolean]) -> Iterator[tuple[str, Decision]]:
    """What the items of `given` need, each shown from the conditions and from those items that need nothing."""
    free = [g.claim for g in given if not (g.requires if isinstance(g, Known) else getattr(g, "under", ()))]
    known = [*background, *free]
    for item in given:
        if isinstance(item, Known):
            for needed in item.requires:
                if needed.claim is not true:
                    yield f"{item.because} needs {needed.claim}", decide(needed.claim, [*known, *(g.claim for g in needed.given)])
                yield from _requirements(needed.given, known)
        elif isinstance(item, Step):
            yield from ((f"{item.where or item.claim} needs {c}", decide(c, known)) for c in item.under)


def _names(given: Sequence[Given]) -> tuple[str, ...]:
    return tuple(g.because if isinstance(g, Known) else (g.where or str(g.claim)) for g in given)


def _walk(given: Sequence[Given]) -> Iterator[Given]:
    """Everything that `given` rests on."""
    for item in given:
        yield item
        if isinstance(item, Known):
            for needed in item.requires:
                yield from _walk(needed.given)
        else:
            yield from _walk(item.given if isinstance(item, Step) else (*item.base, *item.step))


@lru_cache(maxsize=256)
def prove(fact: Fact) -> tuple[Decided, ...]:
    """The proof of a fact, each step decided under the fact's own conditions; the last must be its conclusion."""
    if fact.proof is None:
        return ()
    steps = fact.proof(*fact.variables)
    if steps[-1].claim != fact.conclusion:
        raise ValueError(f"{fact.name}: got a proof of {steps[-1].claim}, expected {fact.conclusion}; do: end with it")
    return tuple(settle(step, [c for c in fact.conditions if c is not true]) for step in steps)


# --- the verdict -----------------------------------------------------------------------------------------------------


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
        """At most 1 when the claim follows."""
        return self.gives / self.claims if self.upper else self.claims / self.gives

    def sampler(self) -> Sampler:
        return Sampler([self.gives, self.claims], self.conditions)


def derive(statement: Statement, catalogue: Mapping[str, Statement], *, slack: bool = True) -> Derived:
    """Decide every step of the statement's derivation, then compare what it gives with what is claimed."""
    if not statement.follows_from:
        return Derived("not-derived", findings=("no derivation is encoded",))
    derivation = statement.follows_from[0]
    missing = [cited for cited in derivation.cites if cited not in catalogue]
    if missing:
        return Derived("not-derived", findings=tuple(f"cites {cited}, which is not encoded" for cited in missing))
    goal, argument = _argue(statement, catalogue)
    decided = tuple(settle(step, goal.requires) for step in argument.steps)
    findings = [*_overstretched(statement, argument), *_unproved(decided)]
    comparisons = compare(goal, argument)
    status, factor, point = _verdict(goal, argument, decided, comparisons, findings)
    if status in ("follows", "claims-less"):
        findings += _vacuous(goal, comparisons)
        if slack:
            findings += slacks(statement, comparisons)
    evidence = "proof" if all(d.proved for d in decided) and status in ("follows", "claims-less") else "numerical"
    premises = tuple(dict.fromkeys(k.because for k in _knowns(argument) if k.kind == "premise"))
    proved = evidence == "proof" and all(derive(catalogue[c], catalogue, slack=False).proved for c in derivation.cites)
    return Derived(status, factor, evidence, decided, tuple(findings), premises, proved, point)


def _argue(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[View, Argument]:
    derivation = statement.follows_from[0]
    goal = view(statement)
    argument = derivation.proof(goal, *(view(catalogue[c], derivation.substitute, statement) for c in derivation.cites))
    claims = [step.claim for step in argument.steps]
    for relation in goal.relations:
        if relation not in claims:
            raise ValueError(f"{statement.id}: got a proof without {relation}, expected it to end there; do: add the step")
    for item in _walk(argument.steps):
        if not isinstance(item, Known) and item not in argument.steps:
            raise ValueError(f"{statement.id}: got a use of {item.claim}, expected a listed step; do: list it")
    return goal, argument


def _knowns(argument: Argument) -> Iterator[Known]:
    return (item for item in _walk(argument.steps) if isinstance(item, Known))


def _overstretched(statement: Statement, argument: Argument) -> Iterator[str]:
    """Assumptions that the proof uses and the statement does not make."""
    made = {a.name for a in (*statement.let, *statement.implicit)}
    for known in dict.fromkeys(_knowns(argument)):
        for name in known.assumes:
            if name not in made:
                yield f"assumption: {known.because} assumes {name}, which {statement.id} does not"


def _unproved(decided: Sequence[Decided]) -> Iterator[str]:
    for step in decided:
        name = step.where or step.note or str(step.claim)
        for what, decision in (("", step.decision), *step.uses):
            if decision.status != "true":
                yield f"step {name}{f' ({what})' if what else ''}: {decision.status}, {decision.detail}"
            elif not decision.proved:
                yield f"step {name}{f' ({what})' if what else ''}: numerical only, {decision.detail}"


def compare(goal: View, argument: Argument) -> tuple[Comparison, ...]:
    """The printed relations as comparisons of two computable sides; the first uses the proof's own bound."""
    premises = [k.claim for k in _knowns(argument) if k.kind == "premise"]
    made: list[Comparison] = []
    for n, relation in enumerate(goal.relations):
        own = n > 0 or argument.bound is None
        gives = relation.lhs if own else argument.bound.claim.rhs  # type: ignore[union-attr]
        sides = set(quantities(gives, relation.rhs, *goal.requires))
        useful = [p for p in premises if set(quantities(p)) <= sides and not isinstance(p, Eq)]
        conditions = tuple(c for c in (*goal.requires, *useful) if set(quantities(c)) <= sides)
        made.append(Comparison(gives, relation.rhs, isinstance(relation, Le | Lt), conditions, own))
    return tuple(made)


def _verdict(
    goal: View, argument: Argument, decided: Sequence[Decided], comparisons: Sequence[Comparison], findings: list[str]
) -> tuple[Verdict, float | None, Point | None]:
    of = dict(zip(argument.steps, decided, strict=True))
    bound = argument.bound
    leads = [item for item in _walk((bound,)) if not isinstance(item, Known)] if bound is not None else []
    outside = [
        (what, decision) for step in decided for what, decision in step.uses if decision.status == "false" and "/" in what
    ]
    if outside:  # a cited statement is used where its own conditions fail
        return "claims-more", None, outside[0][1].point
    factor: float | None = None
    for comparison in comparisons:
        worst = decide(comparison.relation, comparison.conditions)
        if worst.status == "false":
            sup, _ = supremum(comparison)
            findings.append(f"claims more than the proof gives: {worst.detail}")
            return "claims-more", sup, worst.point
    if any(not of[step].holds for step in leads) or any("assumption:" in f for f in findings):
        return "not-derived", None, None
    factor, _ = supremum(comparisons[0])
    for step, outcome in of.items():
        if isinstance(step.claim, Eq) and outcome.decision.status == "false":
            return "claims-less", factor, outcome.decision.point
    if any(d.decision.status == "unknown" for d in decided):
        return "not-derived", factor, None
    if factor is not None and factor < 1 - TIGHT:
        return "claims-less", factor, None
    return "follows", factor, None


def supremum(comparison: Comparison, count: int = CLIMB) -> tuple[float | None, Point | None]:
    """The largest ratio found, and where; None when the claimed side is not positive."""
    sampler = comparison.sampler()
    ratio = compiled(comparison.ratio, sampler.variables)
    _, point = sampler.climb(ratio, str(comparison.claims)[:100], count)
    if point is None:
        return None, None
    return float(ratio.precise([point[v] for v in sampler.variables])), point


def _vacuous(goal: View, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A minimum in a lower bound of which one argument alone already follows."""
    for comparison in comparisons:
        if comparison.upper or not isinstance(comparison.claims, Min):
            continue
        for part in comparison.claims.args:
            if decide(Ge(comparison.gives, part), comparison.conditions).status == "true":
                yield f"vacuous: the minimum is not needed, {part} alone is a lower bound"


# --- slack -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """One printed number of a statement: in which field it stands, where in that expression, and its value."""

    field: str  # "then", "where", "choose", "when"
    key: Any
    path: tuple[int, ...]
    value: Rational

    def __str__(self) -> str:
        return f"{self.value} in {self.field}{'' if self.key is None else f' {self.key}'}"


def constants(statement: Statement, fields: Sequence[str] = ("then", "where", "choose", "when")) -> list[Constant]:
    """Every number printed in a statement, exponents included; minus signs and divisions are not numbers."""
    found: list[Constant] = []
    for name in fields:
        value = getattr(statement, name)
        if name in ("where", "choose"):
            parts = list(value.items())
        else:
            parts = list(enumerate(value if isinstance(value, tuple) else (value,)))
        for key, expr in parts:
            found += [Constant(name, key, path, number) for path, number in _numbers(expr)]
    return found


def _numbers(expr: Basic, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Rational]]:
    if isinstance(expr, Rational):
        if expr not in (-1, 0):
            yield path, expr
        return
    if isinstance(expr, Indexed | AppliedUndef | Tuple):
        return
    for n, part in enumerate(expr.args):
        yield from _numbers(part, (*path, n))


def mutate(statement: Statement, constant: Constant, factor: Rational) -> Statement:
    """`statement` with one printed number multiplied by `factor`."""
    value = getattr(statement, constant.field)
    changed = constant.value * factor
    if constant.field in ("where", "choose"):
        made: Any = {k: _put(v, constant.path, changed) if k == constant.key else v for k, v in value.items()}
    elif isinstance(value, tuple):
        made = tuple(_put(v, constant.path, changed) if n == constant.key else v for n, v in enumerate(value))
    else:
        made = _put(value, constant.path, changed)
    return replace(statement, **{constant.field: made})


def _put(expr: Basic, path: tuple[int, ...], value: Rational) -> Basic:
    if not path:
        return value
    args = list(expr.args)
    args[path[0]] = _put(args[path[0]], path[1:], value)
    return expr.func(*args)


def slacks(statement: Statement, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Printed constants that could be 1 % stronger and still follow from what the proof gives (numerically)."""
    samplers = [c.sampler() for c in comparisons]
    pools = [list(s.points("slack", POOL)) for s in samplers]
    for constant in constants(statement, ("then", "where")):
        for percent in (-1, 1):
            changed = 1 + Rational(percent, 100)
            mutant = view(mutate(statement, constant, changed))
            if len(mutant.relations) != len(comparisons):
                continue
            for relation, before, sampler, pool in zip(mutant.relations, comparisons, samplers, pools, strict=True):
                after = replace(before, gives=relation.lhs if before.own else before.gives, claims=relation.rhs)
                if not set(quantities(after.gives, after.claims)) <= set(sampler.variables):
                    continue  # another quantity altogether: nothing to compare it with
                if _stronger(after, before, sampler, pool) and not _broken(after, sampler, pool):
                    yield f"slack: {constant} can be strengthened by 1 %, to {constant.value * changed} (numerical)"


def _ratios(comparison: Comparison, sampler: Sampler, pool: Sequence[Point]) -> Iterator[float | None]:
    ratio = compiled(comparison.ratio, sampler.variables)
    for point in pool:
        try:
            yield float(ratio.float([float(point[v]) for v in sampler.variables]))
        except (Undefined, OverflowError):
            yield None


def _stronger(after: Comparison, before: Comparison, sampler: Sampler, pool: Sequence[Point]) -> bool:
    pairs = zip(_ratios(after, sampler, pool), _ratios(before, sampler, pool), strict=True)
    return any(a is not None and b is not None and a > b + SEEN * abs(b) for a, b in pairs)


def _broken(after: Comparison, sampler: Sampler, pool: Sequence[Point]) -> bool:
    if any(a is not None and a > 1 + SEEN for a in _ratios(after, sampler, pool)):
        return True
    value, _ = sampler.climb(compiled(after.ratio, sampler.variables), str(after.claims)[:100], CLIMB)
    return value > 1 + SEEN
