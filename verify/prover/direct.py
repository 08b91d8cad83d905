"""Claims that one premise shows: about one round or one local step, by multipliers and atoms in reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sympy import Expr, Ge, Integer, Le, Pow, factor
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.decide.facts import bernoulli, power_le_base, power_le_one, power_sign
from fedaudit.bounds.language.derivation import Argument, Known, Step, View
from fedaudit.bounds.language.dimension import DimensionError, dimension_of
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.frame import Frame, others
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.errors import UserError

from .atoms_in_reach import multipliers_of
from .attempts import Attempts, FoundArgument, Tried
from .framing import frames_of, meaning
from .points import bundles, power_of, reach_here, reach_of
from .potentials import generators
from .shared_programme import Equation, products_of, solve

DEGREES = (1, 2, 3)


def by_one_premise(statement: Statement, goal: View, relation: Relational) -> Attempts:
    """The claim as one shown premise, or as an identity."""
    for form in _forms(statement, relation):
        for at in _places(relation, form):
            yield from _identity(form, at, relation)
            yield from _round(form, at, statement, goal, relation)
            yield from _in_reach(form, at, statement, goal, relation)


def by_lines_alone(statement: Statement, goal: View, relation: Relational) -> Attempts:
    """The claim as a line about numbers."""
    facts: tuple[Known, ...] = ()
    if not decide(relation, goal.requires).proved:
        facts = tuple(_facts(relation, goal))
        if not facts or not decide(relation, [*goal.requires, *(fact.claim for fact in facts)]).proved:
            return
    yield FoundArgument(Argument((step := Step(relation, facts, note="what is claimed"),), step), Tried())


def _facts(relation: Relational, goal: View) -> Iterator[Known]:
    """Facts about the powers that a claim speaks of, where their conditions hold."""
    for power in sorted(relation.atoms(Pow), key=str):
        x, n = power.args
        if n.is_integer is not True or n.is_number:
            continue
        offered = (power_sign(x=x, n=n), power_le_one(x=x, n=n), bernoulli(x=x - 1, n=n), power_le_base(x=x, n=n))
        for fact in offered:
            if all(decide(needed.claim, goal.requires).proved for needed in fact.requires):
                yield fact


def _forms(statement: Statement, relation: Relational) -> Iterator[Frame]:
    """Frames in which every quantity of the claim has a meaning, plain ones last."""
    for frame in frames_of(statement):
        spoken = [q for q in relation.atoms(AppliedUndef) if q.func not in {s.func for s in frame.method.steps()}]
        if isinstance(statement.method, str) and not all(_means(frame, q) for q in spoken):
            continue
        yield frame
        if frame.chosen:
            yield replace(frame, chosen={})
        if frame.single:
            yield replace(frame, chosen={}, single=False)


def _means(frame: Frame, quantity: Expr) -> bool:
    return meaning(frame, quantity) is not None or frame.is_weight(quantity)


def _places(relation: Relational, frame: Frame) -> Iterator[tuple[Expr, Expr]]:
    """Rounds and local steps that the claim may be about."""
    t, k, _, _ = frame.letters
    if frame.one or not frame.method.local:
        yield t, k
        return
    spoken = [q.args for q in relation.atoms(AppliedUndef) if meaning(frame, q) is not None]
    last = Integer(0) if frame.single else frame.sizes[0]
    if any(k + 1 in args for args in spoken):
        yield t, k
    elif any(t + 1 in args for args in spoken):
        yield t, last
    elif any(args[:1] == (Integer(1),) for args in spoken):
        yield Integer(0), last
    else:
        yield t, k


def _line(premise: Known, relation: Relational, tried: Tried) -> FoundArgument:
    step = Step(relation, (premise,), note="what is claimed")
    return FoundArgument(Argument((step,), step), tried)


def _identity(frame: Frame, at: tuple[Any, Any], relation: Relational) -> Attempts:
    """Both sides are equal; of a sample out of n also with max(n - 1, 1) for n - 1, which is what the law of it has."""
    claims, n = [relation], frame.sizes[1]
    if frame.sample is not None:
        claims.append(
            relation.func(*(factor(side).xreplace({n - 1: others(n)}) for side in relation.args), evaluate=False)
        )
    for claim in claims:
        try:
            premise = shown(claim, "by definition", frame, at=at)
        except (UserError, ValueError):
            continue
        if stands(premise):
            yield _line(premise, relation, Tried())


def _round(frame: Frame, at: tuple[Any, Any], statement: Statement, goal: View, relation: Relational) -> Attempts:
    """A round of one local step: the points that its rules make."""
    moved = frame.single and at[0] + 1 in {q.args[0] for q in relation.atoms(AppliedUndef) if q.args}
    if not isinstance(relation, Le | Ge):
        return
    reach = reach_of(frame, statement) if moved else None
    moved, reach = (False, reach_here(frame, statement, relation)) if reach is None else (True, reach)
    if isinstance(at[0], Integer) and not moved:
        return
    glossary = frame.method.glossary
    try:
        wanted = dimension_of(relation.lts, glossary) or dimension_of(relation.gts, glossary)
    except DimensionError:
        return
    letters, bounds = generators(reach, goal.requires, relation)
    sized = bundles(reach, at[0], next_round=moved) if wanted is not None else []
    kept = [(b, power_of(reach.scale, size, wanted)) for b, size in sized]
    kept = [(b, power) for b, power in kept if power is not None]
    if not kept:
        return
    for degree in DEGREES:
        factors = products_of([*letters, *bounds], degree)
        multipliers = tuple(tuple(power * p for p in factors) for _, power in kept)
        fixed = relation.gts - relation.lts
        solution = solve((Equation(frame, at, fixed, {}, tuple(b for b, _ in kept), multipliers),))
        tried = Tried(len(kept), len(letters) + len(bounds), degree)
        if solution is None:
            yield tried
            continue
        premise = shown(relation, "one round", frame, *solution.by[0], at=at)
        yield _line(premise, relation, replace(tried, columns=solution.columns))
        return


def _in_reach(frame: Frame, at: tuple[Any, Any], statement: Statement, goal: View, relation: Relational) -> Attempts:
    """Atoms that the quantities of the claim and the assumptions suggest, for any number of clients and steps."""
    try:
        premise = shown(relation, "what is claimed", frame, at=at)
        again = multipliers_of(premise, statement, goal.requires)
    except (UserError, ValueError):
        return
    yield Tried() if again is None else _line(again, relation, Tried(len(again.rule.by)))
