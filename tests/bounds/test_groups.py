"""Two groups of parabolas in proofs: the lower bounds of the thesis, and what the construction does not say."""

from dataclasses import replace

import pytest
from marks import only
from sympy import Eq, Ge, Integer, Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.papers.buttaci.lower import G_lin
from fedaudit.bounds.papers.buttaci.symbols import C, gap, k, mu, t
from fedaudit.bounds.papers.buttaci.two_groups import (
    begins,
    perturbed,
    position,
    proximal,
    rest,
    second,
    steep,
    u_steep,
)
from fedaudit.bounds.proofs.atoms import Idle
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.premise_identity import check
from fedaudit.errors import UserError

PROVED = ("buttaci/thm4.2", "buttaci/thm4.5", "buttaci/sec4.4-fedavg-lower")


@pytest.mark.parametrize("name", only(["buttaci/sec4.4-fedavg-lower"], PROVED, "several long proofs each"))
def test_a_lower_bound_is_proved_and_no_larger_one_nor_without_an_assumption(name: str) -> None:
    known = catalogue()
    printed = known[name]
    assert derive(printed, known, slack=False).proved
    first, *more = printed.relations
    larger = replace(printed, then=(Ge(first.lhs, Rational(101, 100) * first.rhs), *more))
    assert not derive(larger, {**known, name: larger}, slack=False).proved
    for assumption in printed.let:
        if assumption.name in ("two_groups", "equal_weights", "exact_variance", "broadcast"):
            less = replace(printed, let=tuple(a for a in printed.let if a is not assumption))
            assert not derive(less, {**known, name: less}, slack=False).proved, assumption.name


def left_over(made: object, claim: object, *by: object, **how: object) -> str:
    return check(made.says(claim, "", *by, **how).rule).rest  # pyright: ignore


def test_what_the_construction_says_and_what_it_does_not() -> None:
    made, local = proximal(G_lin)
    assert not check(local(steep, mu, G_lin).rule).rest
    assert check(local(steep, mu, -G_lin).rule).rest  # the other force
    assert check(local(steep, mu / 2, G_lin).rule).rest  # the other curvature
    assert not left_over(made, Eq(gap(t), (1 - rest) * 3 * mu / 8 * second(t)))
    assert left_over(made, Eq(gap(t), 3 * mu / 8 * second(t)))  # an idle client counts
    assert not left_over(made, Le(C * rest, 1), (1, Idle()))
    assert left_over(made, Le(C * rest, Rational(99, 100)), (1, Idle()))
    assert left_over(made, Eq(position(t), begins))  # that is so at the start alone
    assert not left_over(made, Eq(position(0), begins), at=(Integer(0), k))
    with pytest.raises(UserError):
        left_over(made, Eq(gap(t), second(t) * position(t)))


def test_a_neighbour_average_is_the_broadcast_only_where_that_is_assumed() -> None:
    for sent in (True, False):
        made, _ = perturbed(G_lin, sent)
        assert bool(left_over(made, Eq(u_steep(k), position(t)))) != sent
