"""Lemma B.8 from independence: sums with any weights, whose variances add."""

from dataclasses import replace

import pytest
from sympy import Ge, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.rule_expressions import vector
from fedaudit.bounds.papers.buttaci.symbols import sigma
from fedaudit.bounds.proofs.atoms import Variance
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.hand_premises import shown
from fedaudit.bounds.proofs.premise_identity import check
from fedaudit.errors import UserError

NAME = "buttaci/lemB.8"


def test_it_is_proved_from_independence_alone() -> None:
    known = catalogue()
    printed = known[NAME]
    assert derive(printed, known, slack=False).proved
    less = replace(printed, let=())
    assert not derive(less, {**known, NAME: less}, slack=False).proved
    (relation,) = printed.relations
    larger = replace(printed, then=Ge(relation.lhs, 4 * relation.rhs))  # at lambda = 1/E and E = 100 a third is left
    assert not derive(larger, {**known, NAME: larger}, slack=False).proved


def test_the_weights_need_not_sum_to_one_and_no_rule_says_so() -> None:
    for premise in shown(catalogue()[NAME], catalogue()):
        assert {name for name, _ in check(premise.rule).charges} <= {"independent"}


def test_a_variance_from_below_is_asked_of_an_assumption_that_gives_it() -> None:
    with pytest.raises(UserError, match="what a variance is"):
        _ = Variance(vector("Z"), sigma, least="bounded_variance").number
    premise = next(p for p in shown(catalogue()[NAME], catalogue()) if "variances" in p.because)
    ((multiplier, _),) = premise.rule.by
    above = ((multiplier, Variance(vector("Z"), sigma, "squares")),)
    with pytest.raises(UserError, match="gradient"):  # E|noise|^2 <= sigma^2 is about gradients, and the other way
        check(replace(premise.rule, by=above))
    assert check(replace(premise.rule, by=((multiplier * Rational(99, 100), premise.rule.by[0][1]),))).rest
