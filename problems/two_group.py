"""The perturbed-gradient method on the two-group quadratics of appendices B.4 and C.4, in exact expectation.

One round maps where the clients ended to where they end next by an affine map with independent noise, so that a mean
and a covariance are all that is needed.
"""

from __future__ import annotations

from typing import Any

from .arrays import namespace

Array = Any


def averages(C: int, broadcast: bool, xp: Any) -> Array:
    """Row i gives u^i from where the clients ended: their average, or that of the others, (4.6) with equal p_ij."""
    ones = xp.ones((C, C), dtype=xp.float64)
    return ones / C if broadcast else (ones - xp.eye(C, dtype=xp.float64)) / (C - 1)


def expected_gap(
    curve: Array, force: Array, u: Array, w0: Array, beta: Array, gamma: Array, E: int, T: int, sigma: Array
) -> Array:
    """E f(w_{t,0}) - f* for t = 0..T, (n, T+1); f_i = curve_i w^2/2 + force_i w, equal weights, forces that sum to 0.

    curve, force (n, C); u (C, C) as `averages` gives it; w0, beta, gamma, sigma (n,).
    """
    xp = namespace(curve)
    C = curve.shape[-1]
    steps = xp.arange(E, dtype=xp.float64)
    keep = 1 - gamma[:, None] * beta[:, None] * curve  # (n, C): what a local step keeps
    powers = keep[..., None] ** steps  # (n, C, E)
    total, squares = xp.sum(powers, axis=-1), xp.sum(powers**2, axis=-1)
    pull = gamma[:, None] * total
    mix = (1 - beta[:, None]) * curve * pull
    M = (keep**E / C)[..., None] * xp.ones((1, 1, C), dtype=xp.float64) - mix[..., None] * u  # (n, C, C)
    noise = (gamma[:, None] * sigma[:, None]) ** 2 * squares
    m = w0[:, None] * xp.ones((1, C), dtype=xp.float64)
    spread = xp.zeros((len(w0), C, C), dtype=xp.float64)
    second, eye = [w0**2], xp.eye(C, dtype=xp.float64)
    for _ in range(T):
        m = xp.squeeze(xp.matmul(M, m[..., None]), axis=-1) - pull * force
        spread = xp.matmul(xp.matmul(M, spread), xp.matrix_transpose(M)) + noise[..., None] * eye
        second.append(xp.mean(m, axis=-1) ** 2 + xp.sum(spread, axis=(-2, -1)) / C**2)
    return xp.mean(curve, axis=-1)[:, None] / 2 * xp.stack(second, axis=-1)
