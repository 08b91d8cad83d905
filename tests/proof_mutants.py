"""Proofs with one thing changed: a printed constant, a relation, a multiplier. What is false is never proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sympy import Eq, Ge, Gt, Le, Lt, Rational

from fedaudit.bounds.catalogue.printed_constants import constants, mutate
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.argument import argued
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.hand_premises import shown
from fedaudit.bounds.proofs.premise_identity import check
from fedaudit.bounds.proofs.step_decisions import settle
from fedaudit.errors import UserError
from fedaudit.verify.moves.audit import hunt

FACTORS = (Rational(99, 100), Rational(101, 100))
FLIPPED = {Le: Ge, Ge: Le, Lt: Gt, Gt: Lt}
EFFORT = 0.05


def mutants(statement: Statement) -> Iterator[tuple[str, Statement]]:
    """Every printed constant 1 % smaller and larger, and every relation the other way round."""
    for constant in constants(statement):
        yield from (("constant", mutate(statement, constant, factor)) for factor in FACTORS)
    relations = statement.then if isinstance(statement.then, tuple) else (statement.then,)
    for n, relation in enumerate(relations):
        turned: Any = FLIPPED.get(relation.func)
        if turned is not None and not isinstance(relation, Eq):
            changed = (*relations[:n], turned(*relation.args, evaluate=False), *relations[n + 1 :])
            yield "relation", replace(statement, then=changed if isinstance(statement.then, tuple) else changed[0])


def proved(mutant: Statement, known: Mapping[str, Statement]) -> bool:
    """Whether `derive` proves it; the first line that fails ends a way."""
    if not mutant.follows_from:
        return derive(mutant, known, slack=False).proved
    for way in mutant.follows_from:
        alone = replace(mutant, follows_from=(way,))
        try:
            goal, argument = argued(alone, known)
            whole = all(settle(step, goal.requires).proved for step in argument.steps)
            if whole and derive(alone, known, slack=False).proved:
                return True
        except (UserError, ValueError, ZeroDivisionError):
            continue  # it says no more what its proof needs
    return False


def judged(statement: Statement, known: Mapping[str, Statement]) -> tuple[Counter[str], list[str]]:
    """What became of the mutants of a statement, and those that are proved and false, which nothing excuses."""
    counts, false = Counter[str](), list[str]()
    for kind, mutant in mutants(statement):
        if not proved(mutant, known):
            counts[f"{kind}: not proved"] += 1
            continue
        try:
            verdict = hunt(mutant, 0, EFFORT).row()["verdict"]
        except UserError:
            verdict = "not well formed"
        counts[f"{kind}: proved, {verdict} by hunt"] += 1
        if verdict == "refuted":
            false.append(f"{statement.id}, {kind}: {mutant.then}")
    for premise in shown(statement, known) if statement.follows_from else ():
        rule = premise.rule
        for n, (multiplier, atom) in enumerate(rule.by):
            for factor in FACTORS:
                by = (*rule.by[:n], (factor * multiplier, atom), *rule.by[n + 1 :])
                left = check(replace(rule, by=by)).rest
                counts["multiplier: refused" if left else "multiplier: accepted"] += 1
                if not left:
                    false.append(f"{statement.id}, {premise.because}: {factor} * {multiplier}")
    return counts, false
