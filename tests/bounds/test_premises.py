"""Premises of derivations: none of them is the goal that it serves, under other names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

from marks import slow
from sympy import Add, And, Basic, Eq, Ge, Le, Mul, Pow, Sum, Symbol, cancel, expand
from sympy.core.relational import Relational

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.formulas.evaluator import quantities
from fedaudit.bounds.language.derivation import Known
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.buttaci.inequalities import gap, mu
from fedaudit.bounds.proofs.citation_rules import parameters
from fedaudit.bounds.proofs.hand_premises import premises
from fedaudit.bounds.proofs.statement_view import view


def same_up_to_names(premise: Relational, goal: Relational, fixed: set[Basic]) -> bool:
    """Whether one is the other with other names for what is measured, up to a positive factor."""
    if {type(premise), type(goal)} - {Le, Ge} and type(premise) is not type(goal):
        return False
    own, wanted = (sorted(set(quantities(claim)) - fixed, key=str) for claim in (premise, goal))
    if len(own) != len(wanted) or len(own) > 5:
        return False
    less, more = (_difference(claim) for claim in (premise, goal))
    for order in permutations(wanted):
        renamed = less.xreplace(dict(zip(own, order, strict=True)))
        factor = cancel(renamed / more) if more != 0 else renamed
        if factor.is_number and (factor.is_positive or (isinstance(goal, Eq) and factor != 0)):
            return True
    return False


def _difference(claim: Relational) -> Any:
    return expand(claim.lhs - claim.rhs if isinstance(claim, Eq) else claim.gts - claim.lts)


def by_hand(made: Statement, known: Mapping[str, Statement]) -> Iterator[Known]:
    """What any of its derivations takes for granted."""
    for way in made.follows_from:
        if all(cited in known for cited in way.cites):
            yield from premises(replace(made, follows_from=(way,)), known)


# of the same form by chance: what stands for the claim's quantity is another one, and more is needed for the claim
COINCIDENCES = {
    "fallah/eq5: the chain rule, with the Jacobian I - alpha H": "H' g, which is H g because Hessians are symmetric",
    "yuan/lem2: N differences of at most beta": "the sum over the points; Efron and Stein make it the spread",
    "buttaci/appA-combination~repaired: the triangle inequality: "
    "|grad f(w) - grad f(v)| <= sum_i lambda_i |grad f_i(w) - grad f_i(v)|": "slopes, which L_i bounds",
    "buttaci/lem4.3: definition (4.6), averaged": "the average at the step, which the claim has at the round's start",
}


@slow("every derivation of the catalogue is built")
def test_no_premise_of_the_catalogue_is_its_statement_s_claim_under_other_names() -> None:
    """But for relations between two bare names, which have no form."""
    known = catalogue()
    tried_, found = 0, list[str]()
    for name, made in known.items():
        if made.quoted or not made.follows_from:
            continue
        goals = [goal for goal in view(made).relations if goal.atoms(Add, Mul, Pow, Sum)]
        fixed = parameters(made)
        for premise in by_hand(made, known):
            for part in And.make_args(premise.claim):
                tried_ += 1
                if part.atoms(Add, Mul, Pow, Sum) and any(same_up_to_names(part, goal, fixed) for goal in goals):
                    found.append(f"{name}: {premise.because}")
    assert set(found) <= set(COINCIDENCES)
    assert tried_ > 200


def test_a_goal_under_another_name_is_seen() -> None:
    y = Symbol("y", real=True)
    goal = statement("buttaci/appA-strong-gap").relations[0]
    (other,) = [q for q in quantities(goal) if q == gap]
    fixed = {mu}
    assert same_up_to_names(goal.xreplace({other: y}), goal, fixed)
    assert same_up_to_names(Le(3 * goal.lts, 3 * goal.gts), goal, fixed)
    assert not same_up_to_names(Le(2 * goal.lts, goal.gts), goal, fixed)
