"""Clients that share one function: Jensen's inequality, and devices without dissimilarity."""

from dataclasses import replace

import pytest
from sympy import Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.papers.buttaci.inequalities import ON_POINTS
from fedaudit.bounds.proofs.atoms import Convex
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.hand_premises import shown
from fedaudit.bounds.proofs.premise_identity import Shown, check
from fedaudit.errors import UserError

NAMES = {
    "buttaci/appA-jensen": ("convex", "nonnegative_weights", "weights_sum_to_one"),
    "yuan/def1-homogeneous": ("identical",),
}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved_with_every_assumption_and_not_one_percent_sharper(name: str) -> None:
    known = catalogue()
    printed = known[name]
    assert derive(printed, known, slack=False).proved
    for assumption in NAMES[name]:
        less = replace(printed, let=tuple(a for a in printed.let if a.name != assumption))
        assert not derive(less, {**known, name: less}, slack=False).proved, assumption
    (relation,) = printed.relations
    sharper = replace(printed, then=Le(relation.lhs, Rational(99, 100) * relation.rhs))
    assert not derive(sharper, {**known, name: sharper}, slack=False).proved


def premise(name: str) -> Shown:
    (known,) = shown(catalogue()[name], catalogue())
    return known.rule


def test_with_a_function_of_its_own_for_every_point_there_is_no_such_inequality() -> None:
    """sum_i p_i <grad f_i(mean), x_i - mean> need not vanish."""
    rule = premise("buttaci/appA-jensen")
    assert not check(rule).rest
    assert check(replace(rule, frame=replace(ON_POINTS, same=False))).rest
    other = ((Rational(1), Convex(rule.by[0][1].y, rule.by[0][1].x, over="mean")),)
    assert check(replace(rule, by=other)).rest  # tangents at the points say the opposite


def test_a_weight_is_no_constant() -> None:
    rule = premise("buttaci/appA-jensen")
    weight = ON_POINTS.weight(ON_POINTS.letters[2])
    with pytest.raises(UserError):
        check(replace(rule, by=((weight, rule.by[0][1]),)))
