"""Logistic regression with a ridge on clients' data: smooth, strongly convex, and each client's minimum is known.

f_i(x) = 1/m sum_l ln(1 + exp(-b_il a_il'x)) + lam/2 |x|^2. `value` counts from the client's own minimum, as
methods with weights F_i(w) - F_i* read it.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .arrays import Array, matvec, namespace, norm2

NEWTON = 60  # steps at most; a damped step halves what is left at least


@dataclass(frozen=True, slots=True, eq=False)
class RidgeLogistic:
    """Clients (n, C) with samples b_il a_il (n, C, m, d), weights p (n, C), and the ridge `lam`."""

    ba: Array
    p: Array
    lam: float
    least: Array = None  # (n, C): the clients' minima; None: values count from 0

    @property
    def C(self) -> int:
        return self.ba.shape[-3]

    @property
    def d(self) -> int:
        return self.ba.shape[-1]

    def grad(self, x: Array) -> Array:
        """(.., n, C or 1, d) -> (.., n, C, d)."""
        xp = namespace(x)
        weight = (-1 / self.ba.shape[-2]) / (1 + xp.exp(matvec(xp, self.ba, x)))
        return matvec(xp, xp.matrix_transpose(self.ba), weight) + self.lam * x

    def value(self, x: Array) -> Array:
        """(.., n, C or 1, d) -> (.., n, C)."""
        xp = namespace(x)
        loss = xp.mean(xp.logaddexp(xp.zeros_like(margin := matvec(xp, self.ba, x)), -margin), axis=-1)
        total = loss + 0.5 * self.lam * norm2(xp, x)
        return total if self.least is None else total - self.least

    def smoothness(self) -> Array:
        """L (n,): a constant that serves every client."""
        xp = namespace(self.ba)
        squares = xp.matmul(xp.matrix_transpose(self.ba), self.ba) / (4 * self.ba.shape[-2])
        return xp.max(xp.linalg.eigvalsh(squares)[..., -1], axis=-1) + self.lam

    def minimisers(self) -> Array:
        """w_*^i (n, C, d), by Newton steps that halve until the value falls; on the host."""
        x: Array = np.zeros((*self.ba.shape[:-2], self.d))
        free = RidgeLogistic(self.ba, self.p, self.lam)
        for _ in range(NEWTON):
            share = 1 / (1 + np.exp(matvec(np, self.ba, x)))
            curve = np.swapaxes(self.ba, -1, -2) @ (self.ba * (share * (1 - share))[..., None]) / self.ba.shape[-2]
            slope, size = free.grad(x), np.ones(x.shape[:-1])
            step: Array = cast("Any", np.linalg).solve(curve + self.lam * np.eye(self.d), slope[..., None])[..., 0]
            if np.abs(step).max() < 1e-13:
                break
            before = free.value(x)
            for _ in range(20):
                worse = free.value(x - size[..., None] * step) > before
                if not worse.any():
                    break
                size = np.where(worse, size / 2, size)
            x = x - size[..., None] * step
        return x


def clients(ba: Array, p: Array, lam: float) -> RidgeLogistic:
    """The problem with its clients' minima."""
    bare = RidgeLogistic(ba, p, lam)
    return RidgeLogistic(ba, p, lam, bare.value(bare.minimisers()))


def two_classes(rng: np.random.Generator, centres: Array, m: int) -> Array:
    """Samples b a (1, C, m, d): the classes b = 1, -1 of client i have features N(b v_i, I); `centres` (C, d) is v."""
    return (centres[:, None, :] + rng.standard_normal((len(centres), m, centres.shape[-1])))[None]
