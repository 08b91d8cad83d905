"""The atom of co-coercive gradients: what it shows, and what the kernel refuses to take from it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sympy import Le
from test_derive_rules import by, ends
from test_proof_attacks import SLOW, SMOOTH, WEIGHED, L, T, accepted, gamma, mu, on, on_runs, slope2, t, x

from fedaudit.bounds.language.derivation import Derivation
from fedaudit.bounds.language.rule_expressions import expect, grad, inner, mean, w_star
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.bounds.proofs.atoms import Cocoercive, Square
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.verify.kernel import Rejected
from fedaudit.verify.kernel.proofs.proof import check
from fedaudit.verify.moves.kernel_proof import Proof, prove

RUNS = SLOW.glossary
toward = RUNS.quantity("toward", "F", "<mean of grad f_i(x_t), x_t - w*>", real=True)
METHOD = replace(SLOW, measures={**SLOW.measures, toward(t): expect(inner(mean(grad(x)), x - w_star))})
CONVEX = Assumption("convex", (), "every f_i is convex")
CLAIM = Le(slope2(t) / L, toward(t))


def proof(claim: Any, constant: Any) -> Derivation:
    """The gradients at w* have the mean zero, and the mean is no longer than what is averaged."""
    apart = grad(x) - grad(w_star) - mean(grad(x))
    atoms = (1 / constant, Cocoercive(x, w_star, constant, "mean")), (1 / constant, Square(apart, "mean"))
    return by(lambda goal: ends(goal, shown(claim, "co-coercive", on(METHOD), *atoms)))


def claim(*let: Assumption, then: Any = CLAIM, constant: Any = L) -> Statement:
    way = proof(then, constant)
    return on_runs("goal", then, way, method=METHOD, let=(*WEIGHED, *let), for_all={t: (0, T - 1)})


def test_the_gradient_leads_to_the_minimiser() -> None:
    assert accepted(claim(SMOOTH, CONVEX))


@pytest.mark.parametrize(
    "attack",
    [
        claim(SMOOTH),  # f_i = -w^2/2 is smooth, and leads away
        claim(CONVEX),
        claim(replace(SMOOTH, args=(mu,)), CONVEX),
        claim(SMOOTH, CONVEX, then=Le(slope2(t) / mu, toward(t)), constant=mu),
        claim(SMOOTH, CONVEX, then=Le(2 * slope2(t) / L, toward(t))),
    ],
    ids=["not convex", "not smooth", "smooth with another constant", "a constant of nothing", "twice as much"],
)
def test_what_is_not_assumed_is_not_given(attack: Statement) -> None:
    assert not accepted(attack)


def test_it_is_read_at_the_points_that_it_names() -> None:
    """At one point twice it says 0 >= 0, and nothing about another."""
    said = shown(CLAIM, "nothing", on(METHOD), (1 / L, Cocoercive(x, x, L, "mean")))
    assert not stands(said)
    moved = shown(CLAIM, "elsewhere", on(METHOD), (1 / L, Cocoercive(x, x - gamma(t) * grad(x), L, "mean")))
    assert not stands(moved)


@pytest.mark.parametrize(
    "let",
    [[["smooth", "L"]], [["convex"]], [["smooth", "mu"], ["convex"]], [["smooth", "L"], ["strongly_convex", "mu"]]],
    ids=["not convex", "not smooth", "another constant", "strongly convex by name"],
)
def test_the_kernel_asks_the_claim_itself(let: list[list[str]]) -> None:
    honest = claim(SMOOTH, CONVEX)
    proved = prove(honest, {})
    assert isinstance(proved, Proof)
    file: dict[str, Any] = json.loads(json.dumps(proved.file))
    weights = [one for one in file["claim"]["let"] if "weights" in one[0]]
    check(file, {})
    file["claim"]["let"] = weights + let
    file["claim"]["domains"]["mu"] = "positive"
    with pytest.raises(Rejected, match=r"expected (an assumption of the claim|a claim that assumes it)"):
        check(file, {})
