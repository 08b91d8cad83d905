"""Sentences beside the theorems: counterexamples that were found are counterexamples still, and numbers by hand."""

from __future__ import annotations

import json
from fractions import Fraction as F
from pathlib import Path

import pytest
from places import TESTS

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify import kernel
from fedaudit.verify.experiments import experiment
from fedaudit.verify.experiments.papers.benmansour import faster, tightness
from fedaudit.verify.search.lowered_claim import lower

FOUND = sorted((TESTS / "certificates" / "record").glob("*.json"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_golden_certificates(path: Path) -> None:
    certificate = json.loads(path.read_text())
    assert certificate["claim"] == lower(statement(certificate["statement"])).claim
    assert kernel.check(certificate)


def test_a_figure_may_read_the_last_relation_of_a_chain_alone() -> None:
    """Q at an eigenvector needs a drawn vector, although no other relation is read with it."""
    assert fa.plot("buttaci/sec3.1-quadratic-form").figure.axes


def test_the_homogeneity_of_three_clients_by_hand() -> None:
    """The mean of three independent weights, halved: its variance is phi^2/12, the print has phi^2/24."""
    weight = F(2) / (2 * 3 * 2)  # of one of the three pairs in hom(C): each stands there twice
    assert 3 * weight**2 == F(1, 12) != F(1, 4 * 3 * 2)


def test_one_concave_parabola_has_the_upper_bound_and_no_lipschitz_gradient() -> None:
    """f = -5 w^2: f(w) <= f(v) + f'(v) (w - v) + (w - v)^2/2, but |f'(1) - f'(0)| = 10."""
    w, v = F(1), F(0)
    assert -5 * w**2 <= -5 * v**2 - 10 * v * (w - v) + (w - v) ** 2 / 2
    assert abs(-10 * w + 10 * v) > abs(w - v)


def test_with_the_steps_of_table_2_nothing_moves_enough_to_tell_fedsoftmax_from_fedavg() -> None:
    seen = experiment(faster.ID).observe(0, 1.0)
    printed = [row for row in seen.rows if row["steps"].endswith("(table 2)")]
    assert len(printed) == len(faster.APART)
    assert all(row["FedAvg: rounds"] is None for row in printed)
    assert not seen.reproduced


def test_the_bound_of_theorem_3_is_near_what_it_bounds_only_where_nothing_moves() -> None:
    seen = experiment(tightness.ID).observe(0, 1.0)
    assert not seen.reproduced
    assert seen.under == tightness.SETTLED_AFTER  # no reading of the steps but table 2's
    for row in seen.rows:
        assert row["bound / distance"] >= row["largest of one step"] - 1e-9 >= 1 - 2e-9  # a theorem's bound
        still = row["distance that is left"] > 0.9
        assert (row["bound / distance"] < tightness.QUITE) == still
    assert experiment(tightness.ID).picture(0).figure == "benmansour.faster"
