"""Exact moments against the plain average over every sign path: the two must agree to rounding."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedaudit.problems.fedprox import ALL, simulate
from fedaudit.problems.moments import expected
from fedaudit.problems.quadratics import Quadratics


def two_group(h, H, G, C):
    """Appendix B.4: f_i = H w^2/2 + G w, then h w^2/2 - G w; odd C: a last f_i = 0."""
    half, rest = C // 2, C % 2
    a, b = np.array([H] * half + [h] * half + [0.0] * rest), np.array([-G] * half + [G] * half + [0.0] * rest)
    return Quadratics(a[:, None, None], b[:, None], np.full(C, 1 / C))


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


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(1, 1), (2, 2), (3, 1), (2, 3)]), st.integers(1, 3), st.integers(1, 3))
def test_covariance_of_the_paths_is_the_covariance_given(seed, shape, T, E):
    """Noise v_i s and noise with covariance v_i v_i' are the same to second moments."""
    C, d = shape
    rng = np.random.default_rng(seed)
    problem = clients(rng, (2,), C, d)
    v, w0 = rng.normal(size=(2, C, d)), rng.normal(size=(2, d))
    gamma = rng.uniform(0.01, 0.2, size=(2, T))
    signs = expected(problem, w0, 0.3, gamma, E, v)
    other = expected(problem, w0, 0.3, gamma, E, covariance=v[..., :, None] * v[..., None, :])
    for name in ALL:
        np.testing.assert_allclose(getattr(other, name), getattr(signs, name), rtol=1e-9, atol=1e-11, err_msg=name)


def test_covariance_of_full_rank_by_enumeration():
    """Independent signs in two directions: each step draws one of four noise vectors a client."""
    rng = np.random.default_rng(3)
    T, E, d = 2, 2, 2
    problem = clients(rng, (), 1, d)
    F = rng.normal(size=(d, d))
    s = np.array(list(product((-1.0, 1.0), repeat=T * E * d))).reshape(-1, T, E, 1, d)
    gamma = np.array([0.1, 0.2])
    paths = simulate(problem, np.ones(d), 0.5, gamma, E, s @ F.T)
    exact = expected(problem, np.ones(d), 0.5, gamma, E, covariance=(F @ F.T)[None])
    for name in ALL:
        np.testing.assert_allclose(getattr(exact, name), getattr(paths, name), rtol=1e-11, atol=1e-12, err_msg=name)


def test_without_noise_moments_are_the_run():
    rng = np.random.default_rng(4)
    problem = clients(rng, (2,), 3, 2)
    gamma = np.full(150, 0.05)
    run, exact = simulate(problem, np.ones(2), 0.1, gamma, 3), expected(problem, np.ones(2), 0.1, gamma, 3)
    for name in ALL:
        np.testing.assert_allclose(getattr(exact, name), getattr(run, name), rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("C", [2, 5])
def test_two_group_recursion_of_appendix_b4(C):
    """a, b, c, d of the proof of theorem 4.2 (with 1/C weights), and its second moment (B.36) before it is bounded."""
    h, H, G, alpha, gamma, sigma, E, T, w0 = 0.5, 1.0, 2.0, 0.3, 0.2, 0.7, 3, 90, 1.5
    share = (C // 2) / C
    k_h, k_H = 1 - gamma * (alpha + h), 1 - gamma * (alpha + H)
    k_0 = 1 - gamma * alpha  # the client with f_i = 0 of odd C
    power = lambda kappa: kappa**E + alpha * gamma * sum(kappa**k for k in range(E))  # noqa: E731
    noise = lambda kappa: gamma**2 * sigma**2 * sum(kappa ** (2 * k) for k in range(E)) / C**2  # noqa: E731
    rest = C - 2 * (C // 2)
    a = share * (power(k_h) + power(k_H)) + rest / C * power(k_0)
    b = share * gamma * G * sum(k_h**k - k_H**k for k in range(E))
    added = (C // 2) * (noise(k_h) + noise(k_H)) + rest * noise(k_0)
    mean, variance, gaps = w0, 0.0, []
    for _ in range(T + 1):
        gaps.append(share * (h + H) / 2 * (mean**2 + variance))
        mean, variance = a * mean + b, a * a * variance + added
    problem = two_group(h, H, G, C)
    run = expected(problem, np.array([w0]), alpha, np.full(T, gamma), E, np.full((C, 1), sigma), record=("gap",))
    np.testing.assert_allclose(run.gap, gaps, rtol=1e-12)
