"""Printed constants and conditions that have room: changed by one per cent, the statement still follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Rational
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from ...catalogue.printed_constants import Slack, constants, mutate
from ...decide.decision import decide
from ...language.derivation import Argument
from ...language.dimension import DimensionError, dimension_of
from ...language.statement import Statement
from ..argument import argued, knowns_of
from ..statement_view import relations_of, view, write_out
from ..step_decisions import all_hold
from .comparison import Comparison, Search
from .condition_strength import tighter


def slacks(statement: Statement, comparisons: Sequence[Comparison]) -> Iterator[Slack]:
    """Printed constants that could be 1 % stronger and still follow from what the proof gives (numerically)."""
    searches = [Search.of(comparison) for comparison in comparisons]
    compared = [
        n for n, r in enumerate(statement.relations) if isinstance(write_out(r, statement, (), None), Relational)
    ]
    if len(compared) != len(comparisons):
        return
    for constant in constants(statement, ("then", "where")):
        for changed in (Rational(99, 100), Rational(101, 100)):
            stated = mutate(statement, constant, changed, evaluate=False)
            if not dimensions_agree(stated):
                continue
            relations = [_unevaluated(stated.relations[n], stated) for n in compared]
            moved = [(search, search.ratio(relation)) for search, relation in zip(searches, relations, strict=True)]
            ratios = [(search, ratio) for search, ratio in moved if ratio is not None]
            stronger = [(search, ratio) for search, ratio in ratios if search.rises(ratio)]
            if not stronger or any(search.breaks(ratio) for search, ratio in stronger):
                continue
            if len(relations_of(mutate(statement, constant, changed))) == len(comparisons):  # none is true as written
                yield Slack(constant, changed)


def _unevaluated(relation: Relational, statement: Statement) -> Relational:
    """A relation as in the statement's `view`. Whether it is true as written is not asked: that takes sympy long."""
    return relation.func(*(write_out(side, statement, (), None) for side in relation.args), evaluate=False)


def relaxations(statement: Statement, closure: tuple[Statement, ...]) -> Iterator[Slack]:
    """Printed conditions that could be 1 % wider and the statement still follows."""
    for constant in constants(statement, ("when",)):
        printed = statement.defined(statement.when[constant.key])
        for factor in (Rational(99, 100), Rational(101, 100)):
            mutant = mutate(statement, constant, factor)
            if not tighter(printed, mutant.defined(mutant.when[constant.key])):
                continue
            goal, argument = argued(mutant, {s.id: s for s in closure})
            if all_hold(argument.steps, goal.requires):
                yield Slack(constant, factor)


def room(statement: Statement, argument: Argument, closure: tuple[Statement, ...]) -> Iterator[Slack]:
    """Conditions of cited statements that are met with room: they could be 1 % tighter."""
    goal, derivation = view(statement), statement.follows_from[0]
    taken_claims = [k.claim for k in knowns_of(argument) if k.kind in ("premise", "shown")]
    premises = [claim for claim in taken_claims if not claim.atoms(AppliedUndef)]
    for cited in (s for s in closure if s.id in derivation.cites):
        for constant in constants(cited, ("when",)):
            for factor in (Rational(99, 100), Rational(101, 100)):
                mutant, n = mutate(cited, constant, factor), int(constant.key)
                if not tighter(mutant.when[n], cited.when[n]):
                    continue
                needed = view(mutant, derivation.substitute, statement).requires
                if all(decide(c, [*goal.requires, *premises]).status == "true" for c in needed[: len(cited.when)]):
                    yield Slack(constant, factor, cited.id)


def dimensions_agree(statement: Statement) -> bool:
    """Whether both sides have one dimension: a change that breaks the units is no stronger claim, it is no claim."""
    try:
        for relation in statement.relations:
            sides = (statement.defined(side) for side in relation.args)
            dimension_of(relation.func(*sides, evaluate=False), statement.glossary)
    except DimensionError:
        return False
    return True
