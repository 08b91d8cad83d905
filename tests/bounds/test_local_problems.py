"""Proximal points of the losses that clients draw: what holds is accepted, in the mean or on every path, no more."""

from dataclasses import replace
from typing import Any

import pytest
from sympy import Eq, Function, Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.rule_expressions import expect, f_i, full_prox, inner, mean
from fedaudit.bounds.papers.yuan.frames import (
    END,
    ON_FEDMSPP,
    after,
    envelope,
    far2,
    risk,
    slope2,
    spread2,
    t,
)
from fedaudit.bounds.papers.yuan.run import move2, near, picked_env2, w, w_m
from fedaudit.bounds.papers.yuan.symbols import G, T, eta, nu, rho
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.kept_vectors import require_kept
from fedaudit.bounds.proofs.premise_identity import Average, Shown, averaged, check
from fedaudit.bounds.proofs.premise_identity import shown as show
from fedaudit.bounds.proofs.proximal_atoms import Largest, Moved, Optimal, Steep
from fedaudit.errors import UserError

NEW = ("yuan/lem8", "yuan/lem12", "yuan/thm2", "yuan/thm4~repaired")


@pytest.mark.parametrize("name", NEW)
def test_it_is_proved_and_neither_with_a_smaller_bound_nor_without_an_assumption(name: str) -> None:
    known = catalogue()
    printed = known[name]
    assert derive(printed, known, slack=False).proved
    (relation,) = printed.relations
    less = replace(printed, then=Le(relation.lhs, Rational(99, 100) * relation.rhs))
    assert not derive(less, {**known, name: less}, slack=False).proved
    for assumption in printed.let:
        if assumption.name in ("exact_oracle", "lipschitz"):
            less = replace(printed, let=tuple(a for a in printed.let if a is not assumption))
            assert not derive(less, {**known, name: less}, slack=False).proved, assumption.name


def test_weak_convexity_sampling_and_equal_weights_are_charged_where_they_are_used() -> None:
    known = catalogue()
    for name in ("weakly_convex", "without_replacement", "equal_weights"):
        printed = known["yuan/thm2"]
        less = replace(printed, let=tuple(a for a in printed.let if a.name != name))
        assert not derive(less, {**known, less.id: less}, slack=False).proved, name


def left_over(claim: Any, *by: Any, frame: Frame = ON_FEDMSPP, **how: Any) -> str:
    return check(Shown(claim, frame, by, **how)).rest


def test_a_largest_is_bounded_on_every_path_and_not_in_expectation() -> None:
    assert not left_over(Le(move2, (eta * G) ** 2), (Rational(1), Moved(w, eta, G)), pathwise=True)
    assert left_over(Le(move2, Rational(99, 100) * (eta * G) ** 2), (Rational(1), Moved(w, eta, G)), pathwise=True)
    with pytest.raises(UserError, match="same in all rounds"):
        left_over(Le(move2, far2(t)), pathwise=True)
    draws = (Rational(1), Steep(w, near, G, eta, draws=True)), (Rational(1), Steep(near, w, G, eta))
    with pytest.raises(UserError, match="in expectation"):  # f_i is only the mean of what is drawn
        left_over(Le(move2, 1), *draws, pathwise=True)
    with pytest.raises(UserError, match="largest"):
        left_over(Le(spread2(t), (eta * G) ** 2), (Rational(1), Moved(w, eta, G, "mean")), pathwise=True)
    assert not left_over(Le(spread2(t), (eta * G) ** 2), (Rational(1), Moved(w, eta, G, "mean")))
    with pytest.raises(UserError, match="largest of something"):
        left_over(Le(spread2(t), 1), (Rational(1), Largest(far2(t), "mean")))


def test_the_loss_that_is_drawn_is_f_in_the_mean_only_where_the_point_was_known_before() -> None:
    room = (G**2 * eta + spread2(t) / eta) / 2
    seen = Function("seen", real=True)  # the population's risk at points that have seen the minibatch
    claim = Le(risk(t), seen(t) + room)
    frame = replace(ON_FEDMSPP, names={**ON_FEDMSPP.names, seen(t): expect(mean(f_i(w_m)))})
    assert left_over(claim, (Rational(1), Steep(w, w_m, G, eta, "mean", draws=True)), frame=frame)
    assert not left_over(claim, (Rational(1), Steep(w, w_m, G, eta, "mean")), frame=frame)


def test_what_depends_on_the_sampled_devices_is_not_averaged_over_them() -> None:
    """E<prox(w_t), w_t> is not E<prox(w_t), mean over all devices>."""
    later = full_prox(after, rho)
    one, all_ = Function("one_", real=True), Function("all_", real=True)
    names = {one(t): expect(inner(later, after)), all_(t): expect(inner(later, mean(w_m)))}
    frame = replace(ON_FEDMSPP, names={**ON_FEDMSPP.names, **names})
    assert left_over(Eq(one(t), all_(t), evaluate=False), frame=frame)
    same = {one(t): expect(inner(near, after)), all_(t): expect(inner(near, mean(w_m)))}
    frame = replace(ON_FEDMSPP, names={**ON_FEDMSPP.names, **same})
    assert not left_over(Eq(one(t), all_(t), evaluate=False), frame=frame)


def _same_point(_: Any) -> Any:
    return w


def test_a_vector_is_kept_only_if_the_rules_of_the_round_make_it() -> None:
    with pytest.raises(UserError, match="does not keep"):
        require_kept(replace(ON_FEDMSPP, kept={w_m: _same_point}))


def test_the_mean_over_rounds_is_that_of_what_is_measured() -> None:
    good = averaged(picked_env2(T), slope2(t), ON_FEDMSPP)
    assert Average(ON_FEDMSPP).says(good.claim)
    assert not Average(ON_FEDMSPP).says(averaged(picked_env2(T), far2(t), ON_FEDMSPP).claim)
    assert not Average(ON_FEDMSPP).says(Eq(good.claim.lhs, 2 * good.claim.rhs, evaluate=False))


def test_the_step_must_be_short_enough_for_a_minimiser() -> None:
    candidate = (1, Optimal(after, near, rho, nu, full=True))
    best = show(Le(envelope(t + 1), risk(t)), "", ON_FEDMSPP, candidate, at=END)
    assert "nu*rho < 1" in [str(r.claim) for r in best.requires]
