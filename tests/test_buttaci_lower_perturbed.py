"""Theorem 4.5: its simulator against the kernel, its proof, its mutants, and what rule (4.6) makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedaudit.bounds.algebra import Ge
from fedaudit.bounds.catalogue import catalogue, statement
from fedaudit.bounds.derive import derive
from fedaudit.bounds.papers.buttaci.symbols import Delta, gap, t
from fedaudit.bounds.papers.buttaci.symbols_perturbed import beta
from fedaudit.bounds.statement import Statement
from fedaudit.problems.perturbed import expected
from fedaudit.problems.quadratics import two_group
from fedaudit.problems.two_group import averages, expected_gap
from fedaudit.verify import kernel
from fedaudit.verify.audit import hunt_row, read
from fedaudit.verify.check import genes_of, tabulate
from fedaudit.verify.claims import lower
from fedaudit.verify.curves import curves
from fedaudit.verify.genome import draw, exactly
from fedaudit.verify.settings.base import Shape
from fedaudit.verify.settings.two_group_perturbed import losses

THEOREM, BY_RULE = (statement(f"buttaci/thm4.5{suffix}") for suffix in ("", "~rule4.6"))


@pytest.mark.parametrize("printed", [THEOREM, BY_RULE], ids=lambda s: s.id)
@pytest.mark.parametrize("C", [2, 3, 4])
def test_simulator_against_kernel(C: int, printed: Statement) -> None:
    reading, world = read(printed)
    shape = Shape.of({"averages": "equal" if printed is BY_RULE else "broadcast"}, C=C, E=3, T=3)
    assert shape.flags == world.shapes(reading)[0].flags
    genes = genes_of(reading, world, shape)
    genome = draw(genes, 6, np.random.default_rng(C))
    for row in range(6):
        exact = exactly(genes, genome, row, 3)
        floats = {k: np.asarray(v, dtype=float)[None] for k, v in exact.items()}
        table = tabulate(reading, world, shape, floats)
        scalars: dict[str, Any] = {k: exact[k][()] for k in ("mu", "beta", "sigma", "G_lin")}
        scalars["gamma"] = exact["unit_gamma"][()] / (3 * scalars["mu"])
        made = kernel.world(reading.claim, world.instance(reading, shape, exact, {"scalars": scalars}))
        found = [float(made.at("gap", (t,))) for t in range(4)]  # pyright: ignore[reportArgumentType]
        assert np.allclose(table.quantities["gap"].values[0], found, rtol=1e-9, atol=1e-14 * found[0])


def test_equal_similarities_are_the_perturbed_method() -> None:
    """Another simulator of rule (4.6), which knows nothing of two groups."""
    mu, beta, sigma, C, E, T = np.array([2.0]), np.array([0.3]), np.array([0.7]), 4, 3, 5
    gamma = np.full((1, T), 0.1)
    pairs = (np.ones((C, C)) - np.eye(C))[None] / (C * (C - 1))
    v = np.full((1, C, 1), sigma[0])
    other = expected(two_group(1.0, 2.0, 0.5, C), pairs, np.array([[1.5]]), beta, gamma, E, v, record=("gap",))
    curve, force = losses(C, mu, np.array([0.5]))
    ours = expected_gap(curve, force, averages(C, False, np), np.array([1.5]), beta, gamma[:, 0], E, T, sigma)
    assert np.allclose(other.gap, ours, rtol=1e-12)


@pytest.mark.slow
def test_its_second_case_is_false_as_printed_and_not_needed() -> None:
    findings = derive(THEOREM, catalogue()).findings
    assert [f.split(":")[0] for f in findings if "false" in f] == ["step C.45"]
    assert any(f.startswith("another way") and "follows (proof)" in f for f in findings)
    assert any("the minimum is not needed" in f for f in findings)


def test_it_survives() -> None:
    assert hunt_row(THEOREM, 0, 0.5)["verdict"] == "survived"


@pytest.mark.slow
def test_rule_4_6_breaks_it() -> None:
    row = hunt_row(BY_RULE, 0, 8)
    assert (row["verdict"], row["certificate"]) == ("undecided", None)  # the witness fails, and another one may do
    assert kernel.check(row["counterexample"]).dropped == ()
    assert row["counterexample"]["instance"]["averages"] == "equal"


def test_rule_4_6_by_hand() -> None:
    """mu = 1, beta = gamma = 1/2, C = E = 2, w = 1: the average of round 2 is (0.174 - 0.101 G)/2, 0 near G = 7/4."""
    numbers = {"C": 2, "E": 2, "T": 2, "mu": "1", "beta": "1/2", "sigma": "1/1000", "G_lin": "7/4", "w0": "1"}
    claim, free, at = read(THEOREM)[0].claim, read(BY_RULE)[0].claim, {"relation": 0, "t": 2}
    instance = {**numbers, "averages": "equal", "parameters": {"gamma": "1/2"}}
    lhs, rhs, holds = kernel.evaluate(free, instance, (), at)
    assert not holds
    assert lhs * 100 < rhs
    assert kernel.evaluate(claim, {**instance, "averages": "broadcast"}, (), at)[2]
    with pytest.raises(kernel.Rejected, match="broadcast"):
        kernel.evaluate(claim, instance, (), at)


def test_fedavg_keeps_a_sixteenth_of_its_gap_a_round() -> None:
    """gamma = 1/(E mu), E = C = 2: the mean contracts by (1/4 + 9/16)/2, the force of size 1 adds 1/16."""
    printed = statement("buttaci/sec4.4-fedavg-lower")
    assert hunt_row(printed, 0, 0.5)["verdict"] == "survived"
    made = derive(printed, catalogue(), slack=False)
    assert made.status == "claims-more"  # theorem 4.5 leaves out beta = 1 and has a second term
    assert made.findings[-1].endswith("follows (proof)")
    numbers = {"C": 2, "E": 2, "T": 1, "mu": "1", "beta": "1", "sigma": "0", "G_lin": "1", "w0": "1"}
    instance = {**numbers, "averages": "equal", "parameters": {"gamma": "1/2"}}
    one = kernel.world(lower(printed).claim, instance)
    assert one.at("gap", (1,)) == one.at("gap", (0,)) * fmpq(15, 32) ** 2
    faster = replace(printed, then=Ge(gap(t), Delta / 2 ** (2 * t)), follows_from=())
    assert hunt_row(faster, 0, 0.1)["reason"].startswith("the witness fails")


def test_a_mutant_falls() -> None:
    """Without the minimum and with 1 - beta/16 for beta/4: the run loses its start faster than that."""
    first, *rest = THEOREM.relations
    faster = Delta * (1 - beta / 16) ** (2 * t)
    broken = replace(THEOREM, then=(Ge(first.lhs, faster), *rest), follows_from=())
    row = hunt_row(broken, 0, 0.1)
    assert (row["verdict"], row["certificate"]) == ("undecided", None)
    assert row["reason"].startswith("the witness fails")
    assert isinstance(kernel.check(row["counterexample"]), kernel.Accepted)


def test_its_picture() -> None:
    made = curves(THEOREM)
    low, exact, high = (np.asarray(made.extra[k]) for k in ("lower bound", "exact expectation", "upper bound"))
    assert (low <= exact * (1 + 1e-12)).all()
    assert (exact <= high).all()
    assert (made.lhs[1] < low).any()  # rule (4.6) falls below the bound
