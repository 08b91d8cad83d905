"""Exact moments against the plain average over every sign path: the two must agree to rounding."""

from itertools import product

import numpy as np
import pytest
from fedaudit.problems.fedprox import ALL, simulate
from fedaudit.problems.moments import expected
from fedaudit.problems.quadratics import Quadratics


def clients(rng, batch, C, d, signed=False):
    R = rng.normal(size=(*batch, C, d, d))
    p = rng.dirichlet(np.ones(C), size=batch)
    if signed:
        p = p * 1.5 - 0.5 / C
    A = R @ R.swapaxes(-1, -2)
    return Quadratics((A + A.swapaxes(-1, -2)) / 2, rng.normal(size=(*batch, C, d)), p)


def sign_paths(v, T, E, shared):
    """All noise paths (..., S, T, E, C, d)."""
    C = v.shape[-2]
    n = 1 if shared else C
    s = np.array(list(product((-1.0, 1.0), repeat=T * E * n))).reshape(-1, T, E, n, 1)
    return s * v[..., None, None, None, :, :]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("C", "d", "T", "E"), [(2, 2, 2, 2), (1, 3, 3, 3), (3, 1, 1, 3), (2, 1, 4, 1), (3, 2, 3, 1)])
def test_agrees_with_every_sign_path(shared, constant, C, d, T, E):
    rng = np.random.default_rng(1)
    problem = clients(rng, (3,), C, d, signed=True)
    v, w0 = rng.normal(size=(3, C, d)), rng.normal(size=(3, d))
    alpha = rng.uniform(size=3)
    gamma = rng.uniform(0.01, 0.2, size=(3, 1 if constant else T)) * np.ones(T)
    exact = expected(problem, w0, alpha, gamma, E, v, shared)
    paths = simulate(problem, w0, alpha, gamma, E, sign_paths(v, T, E, shared))
    for name in ALL:
        a, b = getattr(exact, name), getattr(paths, name)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12, err_msg=name)
