"""The claims in the thesis's text: what is proved, what follows, and what a changed claim would become."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from marks import slow

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.decide.dominance import dominance
from fedaudit.bounds.language.algebra import Eq, Ge, Le, Rational
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.papers.buttaci.symbols import L, alpha
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import hunt

FORMULAS = [
    "sec4.4-contraction-order", "sec4.4-lower-order", "sec4.4-fedavg-lower~formula", "sec4.4-optimal-E",
    "lemB.6-limit",
    "sec4.4-complexity-fedprox", "sec4.4-complexity-perturbed", "sec4.4-complexity-compared",
]  # fmt: skip
THEOREMS = {
    "fedprox-nonconvex": "thm4.3-I", "fedprox-convex": "thm4.1-I", "perturbed-nonconvex": "thm4.6-I",
    "perturbed-convex~repaired": "thm4.4-I",
}  # fmt: skip
RATES = ["fedprox-nonconvex", "fedprox-convex", "perturbed-nonconvex", "perturbed-convex", "perturbed-convex~repaired"]


@pytest.mark.parametrize("label", FORMULAS)
def test_formulas_are_proved(label: str) -> None:
    made = derive(statement(f"buttaci/{label}"), catalogue(), slack=False)
    assert made.proved
    assert not made.premises


@slow("derives the theorems first")
@pytest.mark.parametrize("label", RATES)
def test_rates_follow_from_the_theorems(label: str) -> None:
    assert derive(statement(f"buttaci/sec1.2-{label}"), catalogue(), slack=False).status == "follows"


@pytest.mark.parametrize("label", THEOREMS)
def test_the_introduction_s_displays_are_typed_and_agree_with_the_theorems(label: str) -> None:
    """Two texts, one formula; doubling any term of the theorem would be seen."""
    rate, theorem = statement(f"buttaci/sec1.2-{label}"), statement(f"buttaci/{THEOREMS[label]}")
    typed, proved = rate.relations[0].rhs, theorem.relations[0].rhs
    difference = (theorem.defined(proved) - theorem.defined(typed)).expand().simplify()
    assert difference == 0


def test_the_spectral_display_is_compared_with_its_proposition() -> None:
    made = derive(statement("buttaci/sec1.2-spectral"), catalogue(), slack=False)
    assert (made.status, made.factor) == ("follows", pytest.approx(1))


def test_units_of_the_introduction() -> None:
    """8 + mu beta adds a number and a curvature; the repaired sibling does not."""
    printed = statement("buttaci/sec1.2-perturbed-convex")
    assert any(f.rule == "dimension" and "beta*mu" in f.message for f in lint(printed, catalogue()))
    assert not lint(statement("buttaci/sec1.2-perturbed-convex~repaired"), catalogue())
    assert not lint(statement("buttaci/sec1.2-fedprox-convex"), catalogue())


def test_one_term_of_fedprox_s_complexity_is_never_needed() -> None:
    """alpha L <= (alpha + L)^2/4 and T, E >= 1: the term in accuracy^(-2/3) is below the one in accuracy^(-2)."""
    made = statement("buttaci/sec4.4-complexity-fedprox")
    relation: Any = made.relations[0]
    needed = {term: not dominance(replace(made, then=Le(relation.lhs, relation.rhs - term)))[0].proved
              for term in relation.rhs.args}  # fmt: skip
    (idle,) = (term for term, used in needed.items() if not used)
    assert idle.has(alpha ** Rational(4, 3))


def test_the_first_term_is_needed() -> None:
    made = statement("buttaci/sec4.4-complexity-perturbed")
    relation: Any = made.relations[0]
    (first,) = (term for term in relation.rhs.args if term.has(L))
    row = hunt(replace(made, then=Le(relation.lhs, relation.rhs - first)), 0, 0.1).row()
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


@slow("a long search")
def test_the_comparison_needs_noise_within_the_gradients() -> None:
    made = statement("buttaci/sec4.4-complexity-compared")
    row = hunt(replace(made, when=made.when[1:]), 0, 0.5).row()
    assert row["verdict"] == "refuted"


def test_mutants_fall() -> None:
    order, lower = (statement(f"buttaci/sec4.4-{x}") for x in ("contraction-order", "lower-order"))
    swapped = replace(order, then=Ge(*order.relations[0].args), follows_from=())
    assert hunt(swapped, 0, 0.1).row()["verdict"] == "refuted"
    tighter = replace(lower, then=Le(lower.relations[0].lhs, lower.relations[0].rhs * Rational(9, 10)))
    assert hunt(tighter, 0, 0.1).row()["verdict"] == "refuted"
    optimum = statement("buttaci/sec4.4-optimal-E")
    (best,) = optimum.where
    elsewhere = replace(optimum, where={best: optimum.where[best] * Rational(9, 10)})
    assert hunt(elsewhere, 0, 0.5).row()["verdict"] == "refuted"
    fedavg = statement("buttaci/sec4.4-fedavg-lower~formula")
    equal: Any = fedavg.relations[0]
    other = replace(fedavg, then=Eq(equal.lhs, equal.rhs * 2), follows_from=())
    assert hunt(other, 0, 0.1).row()["verdict"] == "refuted"
