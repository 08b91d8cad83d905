"""Proofs about f + g: stationary points, conjugates, the proximal PL inequality for every mu, the least value of F."""

from dataclasses import replace
from typing import Any

import pytest
from marks import slow
from sympy import Eq, Function, Ge, Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.rule_expressions import F, conjugate, expect, f, f_star, w_star
from fedaudit.bounds.language.rule_parts import Number, zero
from fedaudit.bounds.papers.zhang.frames import ON_PROPOSED, ON_STATIONARY
from fedaudit.bounds.papers.zhang.methods import P, c, x
from fedaudit.bounds.papers.zhang.symbols import L, eta_g, eta_t, r
from fedaudit.bounds.proofs.atoms import Minimum
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.kept_vectors import require_kept
from fedaudit.bounds.proofs.premise_identity import Shown, check
from fedaudit.errors import UserError

NAMES = ("zhang/eqA.34", "zhang/eq12", "zhang/appA.2-fixed-point")
Q = Function("Q", real=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved_and_a_stronger_claim_is_not(name: str) -> None:
    known = catalogue()
    printed = known[name]
    assert derive(printed, known, slack=False).proved
    (relation,) = printed.relations
    if isinstance(relation, Le):  # level - mu eta gap: the gain 1 % larger
        stays: Any = next(arg for arg in relation.rhs.args if str(arg).startswith("level"))
        changed: object = Le(relation.lhs, stays + Rational(101, 100) * (relation.rhs - stays))
    else:
        changed = Eq(relation.lhs, Rational(101, 100) * relation.rhs)
    mutant = replace(printed, then=changed)
    assert not derive(mutant, {**known, name: mutant}, slack=False).proved


def test_each_assumption_is_needed_that_is_charged() -> None:
    known = catalogue()
    printed = known["zhang/eqA.34"]
    for name in ("prox_pl", "descent", "bounded_subgradients"):
        less = replace(printed, let=tuple(a for a in printed.let if a.name != name))
        assert not derive(less, {**known, less.id: less}, slack=False).proved, name
    several = replace(known["zhang/appA.2-fixed-point"], when=())
    assert not derive(several, {**known, several.id: several}, slack=False).proved


def meaning(number: Number) -> Frame:
    return replace(ON_PROPOSED, names={**ON_PROPOSED.names, Q(r): number})


def test_with_a_regulariser_the_least_value_is_that_of_f_plus_g() -> None:
    """f alone may lie below F*."""
    least = Number(f_star.terms)
    for number, left in ((F(P) - least, False), (f(P) - least, True)):
        premise = Shown(Ge(Q(r), 0), meaning(number), ((Rational(1), Minimum(P)),))
        assert bool(check(premise).rest) == left


def test_a_conjugate_is_read_only_where_a_proximal_step_gives_a_subgradient() -> None:
    with pytest.raises(UserError, match="conjugate"):
        check(Shown(Eq(Q(r), 0), meaning(expect(conjugate(2 * (x - P) / eta_t)))))


def _star(_: Any) -> Any:
    return w_star


def _zero(_: Any) -> Any:
    return zero


def test_what_moves_is_not_kept() -> None:
    with pytest.raises(UserError, match="does not keep"):
        require_kept(replace(ON_STATIONARY, kept={**ON_STATIONARY.kept, x: _star}))
    with pytest.raises(UserError, match="does not keep"):  # of several clients the corrections are not zero
        require_kept(replace(ON_STATIONARY, alone=False, kept={c: _zero}))


@slow("three proofs of many steps")
def test_the_sum_of_the_drift_holds_under_lemma_a_1_s_own_condition_and_not_under_a_wider_one() -> None:
    """(A.20), which it repeats in print, asks for more; the first steps are short, and that is enough."""
    known = catalogue()
    printed = known["zhang/eqA.21"]
    made = derive(printed, known, slack=False)
    assert (made.status, made.proved) == ("claims-more", True)
    wider = replace(printed, when=(Le(eta_t, eta_g / (Rational(3, 2) * L)),))
    assert not derive(wider, {**known, printed.id: wider}, slack=False).proved
    first, second = printed.relations
    half: Any = first.rhs
    sharper = replace(printed, then=(Le(first.lhs, half / 2), second))
    assert not derive(sharper, {**known, printed.id: sharper}, slack=False).proved
