"""Closed-form minimisers against a conic solver, within the gap that the gradient certifies."""

from __future__ import annotations

import numpy as np
import pytest

from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics, spectra
from fedaudit.problems.reference import reference_minimiser


def weights(rng: np.random.Generator, C: int) -> np.ndarray:
    p = rng.random(C) + 0.1
    return p / p.sum()


@pytest.mark.parametrize("seed", range(4))
def test_quadratics(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = spectra(1 + rng.random((3, 4)), rng.standard_normal((3, 4)), p=weights(rng, 3))
    found = reference_minimiser(problem)
    assert found.gap < 1e-12
    assert np.asarray(problem.minimiser()) == pytest.approx(found.w, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_piecewise_with_either_curvature_larger(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, m = 0.5 + rng.random((3, 2)), 0.5 + rng.random((3, 2))
    lo, hi, c = rng.random((3, 2)), rng.random((3, 2)), 3 * rng.standard_normal((3, 2))
    problem = Piecewise(a, m, lo, hi, c, weights(rng, 3))
    found = reference_minimiser(problem)
    exact = np.asarray(problem.minimiser())
    assert exact == pytest.approx(found.w, abs=1e-4)
    below = problem.average(problem.value(np.broadcast_to(found.w, (3, 2)))[:, None])
    assert float(np.asarray(problem.optimum())) <= float(below[0]) + 1e-12
    assert float(below[0]) - float(np.asarray(problem.optimum())) <= found.gap + 1e-12


def test_a_batch_is_refused() -> None:
    problem = Quadratics(np.ones((2, 1, 1, 1)), np.ones((2, 1, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="expected one instance"):
        reference_minimiser(problem)
