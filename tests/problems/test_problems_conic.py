"""Closed-form minimisers against a conic solver (cvxpy with Clarabel). Any status but optimal is a failure."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

from fedaudit.problems.losses.piecewise import Piecewise
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.losses.regularised import Regulariser, minimiser

Array = np.ndarray[Any, Any]
cp: Any = cvxpy  # its atoms are only partly typed


def solved(objective: Any, constraints: list[Any], w: Any) -> Array:
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert problem.status == "optimal"
    return np.asarray(w.value)


def quadratics(rng: np.random.Generator, C: int, d: int) -> tuple[Quadratics, Any, Any]:
    """A problem with full Hessians; for the solver its variable and f."""
    M, b, p = rng.standard_normal((C, d, d)), rng.standard_normal((C, d)), rng.random(C) + 0.1
    A, p, w = M @ M.transpose(0, 2, 1) + np.eye(d), p / p.sum(), cp.Variable(d)
    mean = np.tensordot(p, A, axes=1)
    return Quadratics(A, b, p), w, cp.quad_form(w, cp.psd_wrap(mean)) / 2 - (p @ b) @ w


@pytest.mark.parametrize("seed", range(4))
def test_quadratics(seed: int) -> None:
    problem, w, f = quadratics(np.random.default_rng(seed), 3, 4)
    assert np.asarray(problem.minimiser()) == pytest.approx(solved(f, [], w), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_quadratics_with_an_l1_norm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, w, f = quadratics(rng, 3, 2)
    theta = float(rng.random())
    one = Quadratics(*(np.asarray(x)[None] for x in (problem.A, problem.b, problem.p)))
    g = Regulariser(*(np.array([x]) for x in (theta, theta, 0.0)), affine=False, unit=np.ones(1))
    assert np.asarray(minimiser(one, g))[0] == pytest.approx(solved(f + theta * cp.norm1(w), [], w), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_piecewise_with_either_curvature_larger(seed: int) -> None:
    """phi = a (s^2/2 + hi r_+ + lo r_-) + m (r_+^2 + r_-^2)/2 at w - c = s + r, -lo <= s <= hi, least over s."""
    rng = np.random.default_rng(seed)
    a, m = 0.5 + rng.random((3, 2)), 0.5 + rng.random((3, 2))
    lo, hi, c, p = rng.random((3, 2)), rng.random((3, 2)), 3 * rng.standard_normal((3, 2)), np.full(3, 1 / 3)
    w, s = cp.Variable(2), cp.Variable((3, 2))
    up, down = cp.Variable((3, 2), nonneg=True), cp.Variable((3, 2), nonneg=True)
    inner = cp.sum(cp.multiply(a / 3, cp.square(s) / 2 + cp.multiply(hi, up) + cp.multiply(lo, down)))
    outer = cp.sum(cp.multiply(m / 3, cp.square(up) + cp.square(down)) / 2)
    rows = np.ones((3, 1)) @ cp.reshape(w, (1, 2), order="C")
    best = solved(inner + outer, [rows - c == s + up - down, s >= -lo, s <= hi], w)
    assert np.asarray(Piecewise(a, m, lo, hi, c, p).minimiser()) == pytest.approx(best, abs=1e-4)
