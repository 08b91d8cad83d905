"""The atom of Bregman distances (expected smoothness): what it shows, and what the kernel refuses to take from it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sympy import Le
from test_derive_rules import by, ends
from test_proof_attacks import SLOW, SMOOTH, WEIGHED, L, T, accepted, gamma, mu, on, on_runs, t, x

from fedaudit.bounds.language.derivation import Derivation
from fedaudit.bounds.language.rule_expressions import expect, f, f_star, grad, mean, norm2, w_star
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.bounds.proofs.atoms import Bregman
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.verify.kernel import Rejected
from fedaudit.verify.kernel.proofs.proof import check
from fedaudit.verify.moves.kernel_proof import Proof, prove

RUNS = SLOW.glossary
apart2 = RUNS.quantity("apart2", "F^2/W^2", "mean of |grad f_i(x_t) - grad f_i(w*)|^2", nonnegative=True)
over_star = RUNS.quantity("over_star", "F", "f(x_t) - f*", nonnegative=True)
METHOD = replace(SLOW, measures={
    **SLOW.measures, apart2(t): expect(mean(norm2(grad(x) - grad(w_star)))), over_star(t): expect(f(x)) - f_star,
})  # fmt: skip
CONVEX = Assumption("convex", (), "every f_i is convex")
CLAIM = Le(apart2(t), 2 * L * over_star(t))


def claim(*let: Assumption, then: Any = CLAIM, constant: Any = L) -> Statement:
    """Gradients at w* have the mean zero, so that the mean of the distances from w* is f(x) - f*."""
    said = (1, Bregman(x, w_star, constant, "mean"))
    way: Derivation = by(lambda goal: ends(goal, shown(then, "expected smoothness", on(METHOD), said)))
    return on_runs("goal", then, way, method=METHOD, let=(*WEIGHED, *let), for_all={t: (0, T - 1)})


def test_gradients_at_one_point_are_as_near_those_at_the_minimiser_as_the_gap_says() -> None:
    assert accepted(claim(SMOOTH, CONVEX))


@pytest.mark.parametrize(
    "attack",
    [
        claim(SMOOTH),
        claim(CONVEX),
        claim(replace(SMOOTH, args=(mu,)), CONVEX),
        claim(SMOOTH, CONVEX, then=Le(apart2(t), 2 * mu * over_star(t)), constant=mu),
        claim(SMOOTH, CONVEX, then=Le(apart2(t), L * over_star(t))),  # parabolas are met with equality
    ],
    ids=["not convex", "not smooth", "smooth with another constant", "a constant of nothing", "half as much"],
)
def test_what_is_not_assumed_is_not_given(attack: Statement) -> None:
    assert not accepted(attack)


def test_it_has_a_direction_and_is_read_at_the_points_that_it_names() -> None:
    for start, end in ((w_star, x), (x, x), (x, x - gamma(t) * grad(x))):
        assert not stands(shown(CLAIM, "elsewhere", on(METHOD), (1, Bregman(start, end, L, "mean"))))


@pytest.mark.parametrize(
    "let",
    [[["smooth", "L"]], [["convex"]], [["smooth", "mu"], ["convex"]], [["descent", "L"], ["convex"]]],
    ids=["not convex", "not smooth", "another constant", "smooth by another name"],
)
def test_the_kernel_asks_the_claim_itself(let: list[list[str]]) -> None:
    proved = prove(claim(SMOOTH, CONVEX), {})
    assert isinstance(proved, Proof)
    file: dict[str, Any] = json.loads(json.dumps(proved.file))
    weights = [one for one in file["claim"]["let"] if "weights" in one[0]]
    check(file, {})
    file["claim"]["let"] = weights + let
    file["claim"]["domains"]["mu"] = "positive"
    with pytest.raises(Rejected, match=r"expected (an assumption of the claim|a claim that assumes it)"):
        check(file, {})


def test_it_is_told_in_words() -> None:
    said = Bregman(x, w_star, L).said(str)
    assert said.startswith("smoothness and convexity of $f_i$ together, from $")
