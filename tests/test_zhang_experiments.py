"""Experiment 4.1 of zhang: the loss, the data, the baselines, and what the three claims become."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.bounds.catalogue import statement
from fedaudit.figures import draw as figure_of
from fedaudit.figures import image
from fedaudit.figures.zhang import race
from fedaudit.problems.composite import per_client
from fedaudit.problems.composite_baselines import fast_fedda, fedda, fedda_restarted, fedmid
from fedaudit.problems.logistic import Logistic, Reading, draw, prox_gradient, scaled
from fedaudit.problems.proximal import l1, zero
from fedaudit.problems.proximal import scaled as weighted
from fedaudit.verify.audit import audit_row
from fedaudit.verify.experiments.zhang import exact as zhang_exact
from fedaudit.verify.experiments.zhang import fedda as zhang_fedda
from fedaudit.verify.experiments.zhang import logistic as zhang_logistic
from fedaudit.verify.experiments.zhang import rounds as zhang_rounds
from fedaudit.verify.experiments.zhang.logistic import DEFAULT, METHODS, PRINTED, optimality, reached, task

IDS = ("zhang/sec4.1-exact", "zhang/sec4.1-rounds", "zhang/sec4.1-fedda-equal")
ONE = np.float64(1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer readings and data sets."""

    def four(effort: float) -> int:
        del effort
        return 4

    def sizes(how: Reading, draws: int) -> tuple[int, int]:
        return (draws, 1) if how == DEFAULT else (1, 10)

    for module in (zhang_exact, zhang_rounds, zhang_fedda):
        monkeypatch.setattr(module, "READINGS", zhang_logistic.READINGS[:2])
        monkeypatch.setattr(module, "size", sizes)
        monkeypatch.setattr(module, "drawn", four)


def small(seed: int = 0, n: int = 3, m: int = 5, d: int = 4) -> Logistic:
    return draw(np.random.default_rng(seed), n, m, d, 50.0, 50.0, Reading(factor=3.0))


def test_gradients_are_those_of_the_loss() -> None:
    made, rng = small(), np.random.default_rng(1)
    x, h = rng.standard_normal((3, 4)), 1e-6

    def value(z: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -(made.ba @ z[:, :, None])[..., 0]).mean(axis=1)

    steps = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(made.grad(x), np.stack(steps, axis=-1), rtol=1e-7, atol=1e-9)
    point = x[:1]
    np.testing.assert_allclose(made.slopes(point)[0], made.grad(np.repeat(point, 3, axis=0)).mean(axis=0), rtol=1e-12)
    every = np.broadcast_to(np.arange(5), (3, 5))
    np.testing.assert_allclose(made.minibatch(every, x), made.grad(x), rtol=1e-12)


def test_curvature_bounds_differences_of_gradients() -> None:
    made, rng = small(), np.random.default_rng(2)
    x, y = rng.standard_normal((2, 50, 4))
    ratio = np.linalg.norm(made.slopes(x) - made.slopes(y), axis=-1) / np.linalg.norm(x - y, axis=-1)
    low, high = made.curvature()
    assert 0 <= low <= high
    assert (ratio <= high * (1 + 1e-12)).all()


@given(st.integers(0, 1000), st.sampled_from(["unit", "largest", "client columns", "columns"]))
def test_scales(seed: int, how: str) -> None:
    a = scaled(np.random.default_rng(seed).standard_normal((3, 6, 4)), how)  # type: ignore[arg-type]
    norms = {
        "unit": np.linalg.norm(a, axis=-1),
        "largest": np.linalg.norm(a, axis=-1).max(),
        "client columns": np.linalg.norm(a, axis=1),
        "columns": np.sqrt((a**2).sum(axis=(0, 1))),
    }
    np.testing.assert_allclose(norms[how], 1, rtol=1e-12)


def test_data_follow_the_generator() -> None:
    """Means of features over clients have variance beta + 1, or beta^2 + 1 if beta is a deviation."""
    for spread, expected in (("variance", 51.0), ("deviation", 2501.0)):
        how = Reading(scale="none", spread=spread, factor=1.0)  # type: ignore[arg-type]
        made = draw(np.random.default_rng(0), 3000, 4, 2, 50.0, 50.0, how)
        centre = np.abs(made.ba).mean(axis=1)  # a client's labels and features hardly change their signs
        assert (centre**2).mean() == pytest.approx(expected, rel=0.1)


def test_without_a_regulariser_and_local_updates_all_are_gradient_descent() -> None:
    made, w, x = small(), np.full(3, 1 / 3), np.ones(4)
    expected = [x]
    for _ in range(5):
        expected.append(expected[-1] - 0.2 * made.slopes(expected[-1][None])[0])
    for method in (fedmid, fedda, fedda_restarted):
        got = list(islice(method(lambda r, t, z: made.grad(z), zero, x, 0.1 * ONE, 2 * ONE, 1, w), 6))
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_fedda_with_restarts_is_algorithm_1_when_tau_is_1() -> None:
    made, w, x = small(), np.full(3, 1 / 3), np.ones(4)
    prox = weighted(l1, np.float64(0.05))
    ours = [r.P for r in per_client(lambda r, t, z: made.grad(z), prox, x, 0.1 * ONE, 2 * ONE, 1, w, 30)]
    got = list(islice(fedda_restarted(lambda r, t, z: made.grad(z), prox, ours[0], 0.1 * ONE, 2 * ONE, 1, w), 30))
    np.testing.assert_allclose(got, ours, rtol=1e-9, atol=1e-12)


def test_fedda_as_published_is_another_method() -> None:
    """From a start that is not 0 its models differ, and its rate does not."""
    made = task(0, 3, replace(DEFAULT, start="normal"))
    ours, theirs = (optimality(METHODS[name], made, 1, 1500) for name in ("algorithm 1", "FedDA"))
    assert zhang_fedda.apart(0, 3, replace(DEFAULT, start="normal"), METHODS["FedDA"]) > 1e-4
    assert zhang_fedda.rate(ours) == pytest.approx(zhang_fedda.rate(theirs), rel=1e-3)


def test_fast_fedda_minimises_its_model() -> None:
    """One client, one step: the model solves the printed problem, so that 0 is a subgradient there."""
    rng, L, mu, theta = np.random.default_rng(0), 2.0, 0.5, 0.3
    x, g = rng.standard_normal(4), rng.standard_normal(4)
    run = fast_fedda(lambda r, t, z: g[None], weighted(l1, np.float64(theta)), x, mu * ONE, L * ONE, 1, np.ones(1))
    w = list(islice(run, 2))[1]
    a = 6 * L / mu
    slope = a**2 * g + mu / 2 * a**2 * (w - x) + mu * a**3 / 6 * (w - x)
    on = w != 0
    np.testing.assert_allclose(slope[on], -(a**2) * theta * np.sign(w[on]), rtol=1e-9)
    assert (np.abs(slope[~on]) <= a**2 * theta).all()


def test_fast_fedda_with_equal_clients_needs_no_communication() -> None:
    made, x = small(n=1), np.ones(4)
    prox = weighted(l1, np.float64(0.05))

    def models(tau: int, n: int, count: int) -> list[np.ndarray]:
        run = fast_fedda(
            lambda r, t, z: np.repeat(made.grad(z[:1]), n, axis=0), prox, x, 0.1 * ONE, ONE, tau, np.full(n, 1 / n)
        )
        return list(islice(run, count))

    np.testing.assert_allclose(models(5, 2, 3)[2], models(1, 1, 11)[10], rtol=1e-10)


def test_the_measure_vanishes_at_the_minimiser_only() -> None:
    made = task(0, 0, DEFAULT)
    curve = optimality(METHODS["algorithm 1"], made, 10, 80)
    assert curve[0] == 1
    assert reached(curve, 1e-10) is not None
    assert reached(curve, -1.0) is None
    size = prox_gradient(made.problem, made.prox, np.ones((1, 20)), np.float64(600))
    assert size.shape == (1,)
    assert size > 0


def test_tau_1_is_proximal_gradient_descent_and_forgets_no_rounding() -> None:
    """The mean of the corrections is 0 in exact arithmetic; as printed, nothing sets it back to 0."""
    printed, compact = zhang_exact.floors(0, 0)
    assert compact <= 1e-14
    assert compact < printed < 1e-8


def test_features_as_generated_never_converge() -> None:
    for tau, limit in ((1, 400), (10, 40)):
        assert zhang_logistic.run(0, 0, PRINTED, tau, limit).min() > 1e-3
    assert 60 * task(0, 0, PRINTED).problem.curvature()[1] > 1000


@pytest.mark.parametrize("identifier", IDS)
@pytest.mark.usefixtures("few")
def test_rows(identifier: str) -> None:
    row = audit_row(statement(identifier), seed=0, effort=1.0)
    assert row["verdict"] == "reproduced-if"
    assert row["evidence"] == "numerical"
    printed, settled = row["verify"]["seen"]
    assert (printed["reading"], settled["reading"]) == ("features as generated", "largest norm 1/2")
    assert row["verify"]["under"] == ["largest norm 1/2"]
    assert row["reason"].index("as printed (features as generated") < row["reason"].index("settled after looking")
    assert row["verify"]["instances"] == 5


@pytest.mark.usefixtures("few")
def test_data_sets_that_start_optimal_are_counted_apart() -> None:
    """With tiny features the minimiser is 0, the start, on every data set: nothing is shown."""
    idle = replace(DEFAULT, factor=0.01)
    seen = (
        zhang_exact.row("idle", idle, 0, 2, 10),
        zhang_rounds.row("idle", zhang_rounds.ratios(0, idle, 2, 10)),
        zhang_fedda.row("idle", idle, 0, 2, 10),
    )
    for module, row in zip((zhang_exact, zhang_rounds, zhang_fedda), seen, strict=True):
        assert (row["data sets"], row["optimal at the start"]) == (2, 2)
        assert not module.shown(row)


@pytest.mark.usefixtures("few")
def test_a_scale_that_is_too_large_is_not_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(DEFAULT, factor=4.0)
    for module in (zhang_exact, zhang_rounds, zhang_fedda):
        monkeypatch.setattr(module, "DEFAULT", wide)
        monkeypatch.setattr(module, "READINGS", (("wider", replace(wide, factor=5.0)), ("wide", wide)))
        monkeypatch.setattr(module, "LIMIT", {1: 200, 10: 20})
    for module in (zhang_exact, zhang_rounds, zhang_fedda):
        outcome = module.run(0, 1.0)
        assert (outcome.reproduced, outcome.under) == (False, ())


@pytest.mark.usefixtures("few")
def test_the_figures() -> None:
    shown = zhang_exact.picture(0)
    left, right = shown.curves
    assert set(left) == set(METHODS)
    assert left["algorithm 1"].min() < 1e-10
    assert right["algorithm 1"].min() < 1e-10
    assert right["FedDA"].min() > 1e-6  # client drift
    assert left["FedDA"].min() < 1e-10
    assert len(figure_of(shown).axes) == 2
    assert image(figure_of(zhang_rounds.picture(0)), "svg").startswith(b"<?xml")
    assert len(race.plot(zhang_exact.stochastic(0, rounds=2, most=1)).axes) == 2
