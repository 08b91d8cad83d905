"""The claims in the thesis's text: what is proved, what follows, and what a changed claim would become."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Rational

from fedaudit.bounds.algebra import Eq, Ge, Le
from fedaudit.bounds.catalogue import catalogue, statement
from fedaudit.bounds.derive import derive
from fedaudit.bounds.lint import lint
from fedaudit.verify import kernel
from fedaudit.verify.audit import hunt_row

FORMULAS = [
    "sec4.4-contraction-order", "sec4.4-lower-order", "sec4.4-fedavg-lower", "sec4.4-optimal-E",
    "sec4.4-complexity-fedprox", "sec4.4-complexity-perturbed", "sec4.4-complexity-compared",
]  # fmt: skip
RATES = ["fedprox-nonconvex", "fedprox-convex", "perturbed-nonconvex", "perturbed-convex", "perturbed-convex~repaired"]


@pytest.mark.parametrize("label", FORMULAS)
def test_formulas_are_proved(label: str) -> None:
    made = derive(statement(f"buttaci/{label}"), catalogue(), slack=False)
    assert made.proved
    assert not made.premises


@pytest.mark.slow
@pytest.mark.parametrize("label", RATES)
def test_rates_follow_from_the_theorems(label: str) -> None:
    assert derive(statement(f"buttaci/sec1.2-{label}"), catalogue(), slack=False).status == "follows"


def test_units_of_the_introduction() -> None:
    """8 + mu beta adds a number and a curvature; the repaired sibling does not."""
    printed = statement("buttaci/sec1.2-perturbed-convex")
    assert any(f.rule == "dimension" and "beta*mu" in f.message for f in lint(printed, catalogue()))
    assert not lint(statement("buttaci/sec1.2-perturbed-convex~repaired"), catalogue())
    assert not lint(statement("buttaci/sec1.2-fedprox-convex"), catalogue())


@pytest.mark.parametrize("label", ["sec4.4-complexity-fedprox", "sec4.4-complexity-perturbed"])
def test_no_term_of_a_complexity_can_be_left_out(label: str) -> None:
    made = statement(f"buttaci/{label}")
    (relation,) = made.relations
    for term in relation.rhs.args:
        less = replace(made, then=Le(relation.lhs, relation.rhs - term))
        row = hunt_row(less, 0, 0.1)
        assert row["verdict"] == "refuted", term
        kernel.check(row["certificate"])


def test_the_comparison_needs_noise_within_the_gradients() -> None:
    made = statement("buttaci/sec4.4-complexity-compared")
    row = hunt_row(replace(made, when=made.when[1:]), 0, 0.5)
    assert row["verdict"] == "refuted"


def test_mutants_fall() -> None:
    order, lower = (statement(f"buttaci/sec4.4-{x}") for x in ("contraction-order", "lower-order"))
    swapped = replace(order, then=Ge(*order.relations[0].args), follows_from=())
    assert hunt_row(swapped, 0, 0.1)["verdict"] == "refuted"
    tighter = replace(lower, then=Le(lower.relations[0].lhs, lower.relations[0].rhs * Rational(9, 10)))
    assert hunt_row(tighter, 0, 0.1)["verdict"] == "refuted"
    optimum = statement("buttaci/sec4.4-optimal-E")
    (best,) = optimum.where
    elsewhere = replace(optimum, where={best: optimum.where[best] * Rational(9, 10)})
    assert hunt_row(elsewhere, 0, 0.5)["verdict"] == "refuted"
    fedavg = statement("buttaci/sec4.4-fedavg-lower")
    other = replace(fedavg, then=Eq(fedavg.relations[0].lhs, fedavg.relations[0].rhs * 2), follows_from=())
    assert hunt_row(other, 0, 0.1)["verdict"] == "refuted"
