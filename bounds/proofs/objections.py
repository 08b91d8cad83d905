"""What is wrong with a derivation before its steps are looked at, or although they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sympy import Basic, Ge, Min
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from ..decide.decision import entails
from ..formulas.evaluator import quantities
from ..language.derivation import Argument, Known, Step, View
from ..language.statement import Assumption, Statement
from .argument import knowns_of, walk
from .atoms import Bound
from .citation_rules import parameters
from .findings import NotAssumed, OpenStep, Refused, Uncited, Vacuous
from .hand_premises import shown_in, taken
from .premise_identity import Average, Definition, check, stands
from .step_decisions import Decided, Use, settle


def refusals(statement: Statement, goal: View, argument: Argument, cited: Sequence[View]) -> Iterator[Refused]:
    """Why the derivation may not be used: what it cites, shows or believes is not what it says."""
    views = {v.id: v for v in cited}
    for known in dict.fromkeys(knowns_of(argument)):
        if known.kind == "cited" and not _as_cited(known, views.get(known.because)):
            yield Refused(f"{known.because} is not used as it stands there: {known.claim}, {', '.join(known.assumes)}")
    meant: dict[object, Any] = {}
    for known in shown_in(argument):
        if any(meant.setdefault(name, number) != number for name, number in known.rule.frame.names.items()):
            yield Refused(f"{known.because} gives another meaning to a name of this proof")
        frame = known.rule.frame
        if statement.method is not frame.method and statement.method != frame.method.id:  # a setting has no method
            yield Refused(f"{known.because} is about {frame.method.id}")
        elif not stands(known):
            yield Refused(f"{known.because} does not follow from its atoms, left over: {check(known.rule).rest}")
    for known in dict.fromkeys(knowns_of(argument)):
        rule = known.rule
        if isinstance(rule, Average) and any(meant.setdefault(q, n) != n for q, n in rule.frame.names.items()):
            yield Refused(f"{known.because} gives another meaning to a name of this proof")
        own = isinstance(rule, Definition | Average) and statement.method in (rule.method, rule.method.id)
        if isinstance(rule, Definition | Average) and not own:
            yield Refused(f"{known.because} is about {known.rule.method.id}")
    numbers = parameters(statement)
    for premise in (k for k in dict.fromkeys(knowns_of(argument)) if taken(k)):
        for relation in goal.relations:
            if _suffices(premise, relation, goal.requires, numbers):
                yield Refused(f"what is to be shown follows from one premise alone: {premise.because}")
                break


def _as_cited(known: Known, view: View | None) -> bool:
    """Whether a cited statement is used with its own relation, conditions and assumptions."""
    if view is None or known.citation is None:
        return False
    for values in known.citation.values:
        view = view.at(dict(values))
    own = view.holds(part=known.citation.part, instead=dict(known.citation.instead))
    needed = {r.claim for r in known.requires}
    return (own.claim, own.assumes) == (known.claim, known.assumes) and {r.claim for r in own.requires} <= needed


def _suffices(premise: Known, relation: Relational, conditions: Sequence[Boolean], numbers: Collection[Basic]) -> bool:
    """Whether `relation` follows from one premise, with the conditions where both speak of something measured."""
    if relation in (premise.claim, getattr(premise.claim, "reversed", None)):
        return True
    about, said = ({q for q in quantities(c) if q not in numbers} for c in (relation, premise.claim))
    if about - said - {q for c in conditions for q in quantities(c)} or not (about & said or not about):
        return False
    alone = (premise.claim, *(r.claim for r in premise.requires))
    # What follows from nothing at all, or from the conditions alone, is no objection to a premise.
    if entails(relation, alone):
        return not entails(relation, ())
    return bool(about) and entails(relation, (*conditions, *alone)) and not entails(relation, tuple(conditions))


def idle_citations(goal: View, argument: Argument, cited: Sequence[View]) -> Iterator[Uncited]:
    """Citations that no line on the way to the goal uses, or whose place a premise takes."""
    ends = [step for step in argument.steps if step.claim in goal.relations]
    used = {k.because for k in walk((*ends, *argument.bounds)) if isinstance(k, Known) and k.kind == "cited"}
    premises = [k for k in dict.fromkeys(knowns_of(argument)) if taken(k)]
    for view in cited:
        if view.id not in used:
            yield Uncited(f"{view.id} is cited, and no step on the way to the claim uses it")
        for premise in premises:
            if any(_suffices(premise, relation, goal.requires, set()) for relation in view.relations):
                yield Uncited(f"a premise takes the place of {view.id}: {premise.because}")


def missing_assumptions(statement: Statement, argument: Argument) -> Iterator[NotAssumed]:
    """Assumptions that the proof uses and the statement does not make."""
    lets = (*statement.let, *statement.implicit)
    assumed = {a.name for a in lets}
    for known in dict.fromkeys(knowns_of(argument)):
        for name in known.assumes:
            if name not in assumed:
                yield NotAssumed(f"{known.because} assumes {name}, which {statement.id} does not")
        for assumption in (
            (atom.assumption for _, atom in known.rule.by if isinstance(atom, Bound)) if known.kind == "shown" else ()
        ):
            if not any(_says_the_same(assumption, assumed) for assumed in lets):
                yield NotAssumed(f"{known.because} assumes another {assumption.name} than {statement.id}")
        for name, args in check(known.rule).charges if known.kind == "shown" else ():
            if name in assumed and args and not any(a.name == name and a.args == args for a in lets):
                yield NotAssumed(f"{known.because} assumes {name} with {args}, which {statement.id} does not")


def _says_the_same(one: Assumption, other: Assumption) -> bool:
    return (one.name, one.args, one.means, one.for_all) == (other.name, other.args, other.means, other.for_all)


def open_steps(decided: Sequence[Decided]) -> Iterator[OpenStep]:
    """The steps that are not proved, and the steps that use something that is not."""
    for place, step in enumerate(decided):
        name = step.where or step.note or str(step.claim)
        for use in (Use("", step.decision), *step.uses):
            if not use.decision.proved:
                status = "numerical only" if use.decision.status == "true" else use.decision.status
                yield OpenStep(place, name, use.what, status, use.decision.detail)


def needless_minima(goal: View, argument: Argument) -> Iterator[Vacuous]:
    """A minimum in a lower bound of which one argument alone already follows, from the very same givens."""
    for step in argument.steps:
        claim = step.claim
        if isinstance(step, Step) and claim in goal.relations and isinstance(claim, Ge) and isinstance(claim.rhs, Min):
            for part in claim.rhs.args:
                alone = settle(replace(step, claim=Ge(claim.lhs, part)), goal.requires)
                if alone.proved:
                    yield Vacuous(str(part))
