"""Reference minimisers from a conic solver (cvxpy with Clarabel), each with a certified optimality gap.

They check the closed forms of `quadratics` and `piecewise`, and serve losses that have none. Any status but optimal
is an error; the answer is judged by its gradient, not by the solver's word: f(w) - f* <= |grad f(w)|^2 / (2 mu).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, fail
from .piecewise import Piecewise
from .quadratics import Quadratics


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A point w (d,) and a bound on f(w) - f*."""

    w: Array
    gap: float


def reference_minimiser(problem: Quadratics | Piecewise) -> Reference:
    """Of f = sum_i p_i f_i for one instance (no batch axes), non-negative weights and a strongly convex f."""
    import cvxpy

    cp: Any = cvxpy  # its atoms are only partly typed

    if problem.batch:
        raise fail(f"batch axes {problem.batch}", "one instance", "take one row of the batch")
    w = cp.Variable(problem.d)
    if isinstance(problem, Quadratics):
        A, b = problem.mean()
        objective: Any = cp.quad_form(w, cp.psd_wrap(np.asarray(A))) / 2 - np.asarray(b) @ w
        constraints: list[Any] = []
    else:
        objective, constraints = _piecewise(cp, problem, w)
    status = _solve(cp, objective, constraints)
    if status != "optimal" or w.value is None:
        raise fail(f"status {status!r} from Clarabel", "optimal", "rescale the problem")
    found = np.asarray(w.value)
    mean = np.asarray(problem.average(problem.grad(np.broadcast_to(found, (problem.C, problem.d)))))
    mu = float(np.asarray(problem.strong_convexity()))
    if mu <= 0:
        raise fail(f"strong convexity {mu:g}", "a positive one", "the gap cannot be certified without it")
    return Reference(found, float(mean @ mean) / (2 * mu))


def _piecewise(cp: Any, problem: Piecewise, w: Any) -> tuple[Any, list[Any]]:
    """phi = a (s^2/2 + hi r_+ + lo r_-) + m (r_+^2 + r_-^2)/2 at w - c = s + r, -lo <= s <= hi, least over s."""
    a, m, lo, hi, c = (np.asarray(getattr(problem, k)) for k in ("a", "m", "lo", "hi", "c"))
    shape = a.shape
    s, up, down = cp.Variable(shape), cp.Variable(shape, nonneg=True), cp.Variable(shape, nonneg=True)
    weight = np.asarray(problem.p)[:, None]
    inner = cp.sum(cp.multiply(weight * a, cp.square(s) / 2 + cp.multiply(hi, up) + cp.multiply(lo, down)))
    outer = cp.sum(cp.multiply(weight * m, cp.square(up) + cp.square(down)) / 2)
    rows = np.ones((shape[0], 1)) @ cp.reshape(w, (1, problem.d), order="C")
    return inner + outer, [rows - c == s + up - down, s >= -lo, s <= hi]


def _solve(cp: Any, objective: Any, constraints: list[Any]) -> str:
    solver = cp.Problem(cp.Minimize(objective), constraints)
    solver.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return str(solver.status)
