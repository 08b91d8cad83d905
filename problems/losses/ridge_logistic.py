"""Logistic regression with a ridge on clients' data: smooth, strongly convex, and each client's minimum is known.

f_i(x) = 1/m sum_l ln(1 + exp(-b_il a_il'x)) + lam/2 |x|^2. `value` counts from the client's own minimum, as
methods with weights F_i(w) - F_i* read it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..arrays.array_checks import Array, matvec, namespace, norm2

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

    def curve(self, x: Array) -> Array:
        """Hessians (.., n, C, d, d) at (.., n, C or 1, d), on the host."""
        share = 1 / (1 + np.exp(matvec(np, self.ba, x)))
        curved = np.swapaxes(self.ba, -1, -2) @ (self.ba * (share * (1 - share))[..., None]) / self.ba.shape[-2]
        return curved + self.lam * np.eye(self.d)

    def minimisers(self) -> Array:
        """w_*^i (n, C, d), on the host."""
        free = RidgeLogistic(self.ba, self.p, self.lam)
        return _newton(np.zeros((*self.ba.shape[:-2], self.d)), free.value, free.grad, free.curve)

    def minimiser(self) -> Array:
        """w_* (n, d) of sum_i p_i f_i, on the host."""
        free = RidgeLogistic(self.ba, self.p, self.lam)

        def mean(of: Callable[[Array], Array]) -> Callable[[Array], Array]:
            """The mean (n, 1, ..) over the clients of a function that is (n, C, ..) at (n, 1, d)."""

            def at(x: Array) -> Array:
                parts = of(x)
                p = self.p.reshape(self.p.shape + (1,) * (parts.ndim - self.p.ndim))
                return (p * parts).sum(axis=1, keepdims=True)

            return at

        start: Array = np.zeros((len(self.ba), 1, self.d))
        return _newton(start, mean(free.value), mean(free.grad), mean(free.curve))[:, 0]

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        """f(w) - f(w_*) for w (.., n, d)."""
        least = self.value(w_star[..., None, :])

        def gap(w: Array) -> Array:
            return namespace(w).sum(self.p * (self.value(w[..., None, :]) - least), axis=-1)

        return gap

    def optimum(self) -> Array:
        """f_* (n,)."""
        w = self.minimiser()[:, None, :]
        return namespace(w).sum(self.p * self.value(w), axis=-1)

    def heterogeneity(self) -> Array:
        """Gamma = f_* - sum_i p_i f_i(w_*^i) (n,)."""
        own = self.value(self.minimisers())
        return self.optimum() - namespace(own).sum(self.p * own, axis=-1)


def _newton(x: Array, value: Callable[..., Array], grad: Callable[..., Array], curve: Callable[..., Array]) -> Array:
    """Newton steps that halve until the value falls."""
    for _ in range(NEWTON):
        step: Array = cast("Any", np.linalg).solve(curve(x), grad(x)[..., None])[..., 0]
        if np.abs(step).max() < 1e-13:
            break
        before, size = value(x), np.ones(x.shape[:-1])
        for _ in range(20):
            worse = value(x - size[..., None] * step) > before
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
    # b a has the law N(v_i, I) for both classes, so that no class has to be drawn.
    return (centres[:, None, :] + rng.standard_normal((len(centres), m, centres.shape[-1])))[None]
