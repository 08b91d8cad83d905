"""The argument of a statement: its first derivation's proof of it from what it cites, and all that this rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sympy import Le, Symbol
from sympy.logic.boolalg import true

from fedaudit.errors import UserError

from ..decide.decision import entails
from ..decide.facts import Instance, termwise
from ..language.derivation import Argument, Given, Known, Step, View
from ..language.statement import Statement
from .statement_view import view


def walk(given: Sequence[Given]) -> Iterator[Given]:
    """Everything that `given` rests on."""
    for item in given:
        yield item
        if isinstance(item, Known):
            yield from walk((item.of,) if item.of else ())
            yield from walk(tuple(given for _, given in item.citation.instead) if item.citation else ())
            for needed in item.requires:
                yield from walk(needed.given)
        else:
            yield from walk(item.given if isinstance(item, Step) else (*item.base, *item.step))


def knowns_of(argument: Argument) -> Iterator[Known]:
    return (item for item in walk(argument.steps) if isinstance(item, Known))


def _closed(statement: Statement, within: Statement) -> Statement:
    """`statement` without the definitions that the proof of `within` leaves closed; both must have the same ones."""
    closed = within.follows_from[0].closed
    if any(statement.where.get(name) not in (None, within.where[name]) for name in closed):
        raise UserError(f"{within.id}: got another definition in {statement.id}, expected the same; do: write it out")
    kept = {name: value for name, value in statement.where.items() if name not in closed}
    return replace(statement, where=kept) if closed else statement


def cited_views(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[View, ...]:
    """What the statement's first derivation cites, with its values in."""
    return _cited_views(statement, _cited(statement, catalogue))


def _cited(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Statement, ...]:
    return tuple(catalogue[c] for c in statement.follows_from[0].cites)


@lru_cache(maxsize=512)
def _cited_views(statement: Statement, cited: tuple[Statement, ...]) -> tuple[View, ...]:
    within = _closed(statement, statement)
    return tuple(view(_closed(c, statement), statement.follows_from[0].substitute, within) for c in cited)


def argued(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[View, Argument]:
    """The statement as its first derivation sees it, and that derivation's proof of it."""
    return _argued(statement, _cited(statement, catalogue))


@lru_cache(maxsize=512)
def _argued(statement: Statement, cited: tuple[Statement, ...]) -> tuple[View, Argument]:
    goal = view(_closed(statement, statement))
    argument = statement.follows_from[0].proof(goal, *_cited_views(statement, cited))
    claims = [step.claim for step in argument.steps if not step.under]
    for relation in goal.relations:
        if relation not in claims:
            expected = "it as a step that holds under no further condition"
            raise UserError(f"{statement.id}: got a proof without {relation}, expected {expected}; do: add it")
    for item in walk((*argument.steps, *argument.bounds)):
        if not isinstance(item, Known) and item not in argument.steps:
            raise UserError(f"{statement.id}: got a use of {item.claim}, expected a listed step; do: list it")
        index = _bound_index(item, statement, goal) if isinstance(item, Known) else None
        # It is used at every value of the index, so that no condition of the statement may restrict that.
        if any(index in condition.free_symbols for condition in goal.requires):
            raise UserError(f"{statement.id}: got a condition on {index}, expected a free index; do: rename it")
    return goal, argument


def _bound_index(known: Known, statement: Statement, goal: View) -> Symbol | None:
    """The index for all values of which it is used, that of an induction or of a sum whose terms are compared; None for
    an index over whose range the statement makes its conditions, where the sum stays inside this range.
    """
    if known.of is not None:
        return known.of.over
    if not isinstance(known.rule, Instance) or known.rule.make is not termwise:
        return None
    _, index, low, high, *_ = known.rule.arguments
    if index not in statement.for_all:
        return index
    first, last = (statement.defined(end) for end in statement.for_all[index])
    others = tuple(condition for condition in goal.requires if index not in condition.free_symbols)
    inside = all(entails(claim, others) for claim in (Le(first, low), Le(high, last)) if claim is not true)
    return None if inside else index
