"""Meta-functions F_i(w) = f_i(w - alpha grad f_i(w)) of Per-FedAvg (Fallah et al.), data, and estimates of grad F_i.

A data point z has the loss l_z(w) = base(w) + a_z'w + sum_j b_zj eta_j(w_j) on a finite sample space, and user i draws
z with probability p_i(z). All losses are separable: a Hessian is diagonal, and its spectral norm is its largest entry.
Gradients l_z' are affine in eta', so that the worst w of a variance is where eta' is least or largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np

from ..arrays.array_checks import Array, namespace, summed
from .splines import Splines


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    base: Splines  # (..., d)
    eta: Splines  # (..., d)
    p: Array  # (..., n, m)
    a: Array  # (..., m, d)
    b: Array  # (..., m, d)

    @property
    def points(self) -> Splines:
        """The losses l_z, (..., m, d)."""
        return self.base.before(-2).plus(self.a, self.b, self.eta.before(-2))

    @property
    def users(self) -> Splines:
        """The losses f_i, (..., n, d)."""
        return self.base.before(-2).plus(self.p @ self.a, self.p @ self.b, self.eta.before(-2))

    def slopes(self, w: Array) -> Slopes:
        """The slopes that all losses l_z consist of, at points w (..., K, d)."""
        return Slopes(self.base.before(-2).grad(w), self.eta.before(-2).grad(w))

    def drawn(self) -> Drawn:
        """A data point as the first user draws it."""
        q = self.p[..., 0, :, None]
        a, b = (summed(np, q * x, -2)[..., None, :] for x in (self.a, self.b))
        return Drawn(q, a, b, self.a - a, self.b - b)

    @property
    def L(self) -> Array:
        return _most(self.users.smoothness)

    @property
    def rho(self) -> Array:
        return _most(self.users.steepness)

    @property
    def B(self) -> Array:
        return _length(self.users)

    @property
    def point_B(self) -> Array:
        return _length(self.points)

    @property
    def point_L(self) -> Array:
        return _most(self.points.smoothness)

    @property
    def sigma_G(self) -> Array:  # over the users, as everything above
        """The constant of assumption 4, (11): the largest standard deviation of grad l_z, over all users and points."""
        a, b = (x[..., None, :, :] - (self.p @ x)[..., :, None, :] for x in (self.a, self.b))
        return np.sqrt(np.max(self._spread(self.p, a, b), axis=-1))

    @property
    def sigma_H(self) -> Array:
        """The constant of (12), for Hessians: their norm is the largest entry, and every entry grows with |eta''|."""
        b = self.b[..., None, :, :] - (self.p @ self.b)[..., :, None, :]
        square = np.max((b * self.eta.smoothness[..., None, None, :]) ** 2, axis=-1)
        return np.sqrt(np.max(summed(np, self.p * square), axis=-1))

    @property
    def gamma_G(self) -> Array:
        """The constant of (13): how far the users' gradients are from their average."""
        a, b = (x - np.mean(x, axis=-2, keepdims=True) for x in (self.p @ self.a, self.p @ self.b))
        n = self.p.shape[-2]
        return np.sqrt(self._spread(np.full((1, n), 1 / n), a[..., None, :, :], b[..., None, :, :])[..., 0])

    @property
    def gamma_H(self) -> Array:
        users = self.p @ self.b
        b = (users - np.mean(users, axis=-2, keepdims=True)) * self.eta.smoothness[..., None, :]
        return np.sqrt(np.mean(np.max(b**2, axis=-1), axis=-1))

    def _spread(self, p: Array, a: Array, b: Array) -> Array:
        """sup over w of sum_z p_z |a_z + b_z eta'(w)|^2, by coordinates; p (..., n, m), a and b (..., n, m, d)."""
        ends = self.eta.slopes
        each = [summed(np, p[..., None] * (a + b * end[..., None, None, :]) ** 2, -2) for end in ends]
        return summed(np, np.maximum(*each))

    def in_z(self, metric: Array) -> tuple[Array, Array]:
        """L_Z and rho_Z of (15) for distances (..., m, m)."""
        a, b = (x[..., :, None, :] - x[..., None, :, :] for x in (self.a, self.b))
        ends = [(a + b * end[..., None, None, :]) ** 2 for end in self.eta.slopes]
        # On the diagonal 0 is divided: any distance but 0 will do.
        apart = metric + np.eye(metric.shape[-1])
        gradient = np.sqrt(summed(np, np.maximum(*ends))) / apart
        hessian = np.max(np.abs(b) * self.eta.smoothness[..., None, None, :], axis=-1) / apart
        return np.max(gradient, axis=(-2, -1)), np.max(hessian, axis=(-2, -1))


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """base' and eta' (..., K, d): the gradients of all l_z are base' + a_z + b_z eta'."""

    base: Array
    eta: Array

    def of(self, a: Array, b: Array) -> Array:
        """Where a_z and b_z, or their means, are a and b."""
        return self.base + a + b * self.eta


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A point z of probability q (..., m, 1): the means (..., 1, d) of a_z and b_z, and how far each is off."""

    q: Array
    a: Array
    b: Array
    off_a: Array
    off_b: Array

    @property
    def variance(self) -> Array:
        """The variance of b_z, (..., 1, d)."""
        return summed(np, self.q * self.off_b**2, -2)[..., None, :]

    @property
    def covariance(self) -> Array:
        """The covariance of a_z and b_z, (..., 1, d)."""
        return summed(np, self.q * self.off_a * self.off_b, -2)[..., None, :]

    def spread(self, eta: Array) -> Array:
        """E|a_z + b_z eta - E(a_z + b_z eta)|^2 (..., K, d) for eta (..., K, d)."""
        total: Array = 0.0
        for z in range(self.q.shape[-2]):
            q, a, b = (x[..., z : z + 1, :] for x in (self.q, self.off_a, self.off_b))
            off = a + b * eta
            total = total + q * (off * off)
        return total


def _most(x: Array) -> Array:
    return namespace(x).max(x, axis=(-2, -1))


def _length(f: Splines) -> Array:
    """The largest |grad| of separable losses (..., n, d)."""
    ends = f.slopes
    return np.sqrt(np.max(summed(np, np.maximum(*(end**2 for end in ends))), axis=-1))


def meta_gradient(f: Splines, w: Array, alpha: Array) -> Array:
    """(5): (I - alpha Hess f(w)) grad f(w - alpha grad f(w)), all (..., d)."""
    return (1 - alpha * f.hess(w)) * f.grad(w - alpha * f.grad(w))


def meta_derivative(f: Splines, w: Array, alpha: Array) -> Array:
    """d/dw of f(w - alpha f'(w)) (..., d) without the chain rule: the imaginary part after a step i h, h tiny."""
    # Nothing is subtracted: h may be so small that the error, of order h^2, is beyond all digits.
    h = 1e-30
    moved = w + 1j * h
    return f.value(moved - alpha * f.grad(moved)).imag / h


@cache
def counts(m: int, size: int) -> tuple[Array, Array]:
    """How often each of m points may stand in a batch (K, m), and the number of such batches (K,)."""
    picks = list(combinations_with_replacement(range(m), size))
    table = np.array([np.bincount(pick, minlength=m) for pick in picks])
    return table, np.array([factorial(size) // prod(factorial(int(c)) for c in row) for row in table])


def batches(q: Array, size: int) -> tuple[Array, Array]:
    """Shares of the points in a batch (K, m) and its probability (..., K), for probabilities q (..., m)."""
    table, ways = counts(q.shape[-1], size)
    powers = [1 + 0 * q]
    for _ in range(size):
        powers.append(powers[-1] * q)
    each = np.stack(powers, axis=0)  # (size + 1, ..., m)
    chance = ways[(slice(None), *(None,) * (q.ndim - 1))]
    for z in range(q.shape[-1]):
        chance = chance * each[..., z][table[:, z]]
    return table / size, np.moveaxis(chance, 0, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """|E[estimate - grad F]|^2 and E|estimate - grad F|^2, (...)."""

    bias2: Array
    mse: Array


def _errors(mean: Array, square: Array, target: Array) -> Errors:
    """From E estimate and E estimate^2, coordinate by coordinate (..., d)."""
    off = mean - target
    return Errors(summed(np, off**2), summed(np, square - 2 * target * mean + target**2))


def _moved(tasks: Tasks, w: Array, alpha: Array, shares: Array) -> Slopes:
    """Gradients after a step along the mean gradient of each batch, with shares (K, m) of the points."""
    here = w[..., None, :]
    return tasks.slopes(here - alpha[..., None, None] * (shares @ tasks.slopes(here).of(tasks.a, tasks.b)))


def _outer(tasks: Tasks, w: Array, alpha: Array, D: int, D1: int) -> tuple[Array, Array]:
    """First and second moment (..., d) of the mean of D1 outer gradients, after a step with any batch D."""
    shares, chance = batches(tasks.p[..., 0, :], D)
    after, drawn = _moved(tasks, w, alpha, shares), tasks.drawn()
    mean, chance = after.of(drawn.a, drawn.b), chance[..., None]
    square = mean * mean + drawn.spread(after.eta) / D1
    return summed(np, chance * mean, -2), summed(np, chance * square, -2)


def three_batches(tasks: Tasks, w: Array, alpha: Array, D: int, D1: int, D2: int) -> Errors:
    """The estimate (8) of user 1; the factors are independent, so that only the inner batch is enumerated."""
    f, drawn = _first(tasks), tasks.drawn()
    g, g2 = _outer(tasks, w, alpha, D, D1)
    factor = 1 - alpha[..., None] * f.hess(w)
    spread = drawn.variance[..., 0, :] * tasks.eta.hess(w) ** 2
    factor2 = factor**2 + alpha[..., None] ** 2 * spread / D2
    return _errors(factor * g, factor2 * g2, meta_gradient(f, w, alpha[..., None]))


def shared_batch(tasks: Tasks, w: Array, alpha: Array, D: int, D1: int) -> Array:
    """|E[estimate - grad F]|^2 of (8) whose Hessian shares the batch D', as algorithm 1 prints it."""
    f, drawn = _first(tasks), tasks.drawn()
    shares, chance = batches(tasks.p[..., 0, :], D)
    after = _moved(tasks, w, alpha, shares)
    covariance = (drawn.covariance + drawn.variance * after.eta) * tasks.eta.hess(w)[..., None, :] / D1
    factor = (1 - alpha[..., None] * f.hess(w))[..., None, :]
    each = factor * after.of(drawn.a, drawn.b) - alpha[..., None, None] * covariance
    estimate = summed(np, chance[..., None] * each, -2)
    return summed(np, (estimate - meta_gradient(f, w, alpha[..., None])) ** 2)


def first_order(tasks: Tasks, w: Array, alpha: Array, D: int, D1: int) -> Errors:
    """The estimate (112) of user 1."""
    g, g2 = _outer(tasks, w, alpha, D, D1)
    return _errors(g, g2, meta_gradient(_first(tasks), w, alpha[..., None]))


def hessian_free(tasks: Tasks, w: Array, alpha: Array, delta: Array, D: int, D1: int, D2: int) -> Errors:
    """The estimate (120), (121) of user 1; the first two batches are enumerated."""
    q, f, drawn = tasks.p[..., 0, :], _first(tasks), tasks.drawn()
    shares, chance = batches(q, D)
    shares1, chance1 = batches(q, D1)
    after = _moved(tasks, w, alpha, shares)
    a, b = ((shares1 @ x)[..., None, :, :] for x in (tasks.a, tasks.b))  # (..., 1, K', d)
    g = Slopes(after.base[..., :, None, :], after.eta[..., :, None, :]).of(a, b)
    g = g.reshape(*q.shape[:-1], -1, w.shape[-1])  # (..., K K', d)
    both = (chance[..., :, None] * chance1[..., None, :]).reshape(*q.shape[:-1], -1, 1)
    here, step = w[..., None, :], delta[..., None, None] * g
    ahead, behind = tasks.slopes(here + step), tasks.slopes(here - step)
    eta = (ahead.eta - behind.eta) / (2 * delta[..., None, None])
    mean = (ahead.base - behind.base) / (2 * delta[..., None, None]) + drawn.b * eta
    whole = g - alpha[..., None, None] * mean
    square = whole * whole + alpha[..., None, None] ** 2 * drawn.variance / D2 * (eta * eta)
    first, second = (summed(np, both * x, -2) for x in (whole, square))
    return _errors(first, second, meta_gradient(f, w, alpha[..., None]))


def hessian_error(tasks: Tasks, w: Array, alpha: Array, D2: int) -> Array:
    """E|e_1|^2 of (30b), e_1 = alpha (Hess f - estimate of it), in the spectral norm."""
    shares, chance = batches(tasks.p[..., 0, :], D2)
    off = (shares @ tasks.drawn().off_b) * tasks.eta.hess(w)[..., None, :]
    return alpha**2 * summed(np, chance * np.max(off**2, axis=-1))


def _first(tasks: Tasks) -> Splines:
    f = tasks.users
    return Splines(f.x[..., 0, :, :], f.s[..., 0, :, :], f.a[..., 0, :], f.g[..., 0, :])


def variation(p: Array) -> Array:
    """Total variation distances of the users' p_i (..., n, m) from their average."""
    return summed(np, np.abs(p - np.mean(p, axis=-2, keepdims=True))) / 2


def trees(m: int) -> list[list[tuple[int, int, list[int]]]]:
    """The spanning trees of m points, each edge (u, v) with the points on the side of u."""
    pairs = [(u, v) for v in range(m) for u in range(v)]
    spanning: list[list[tuple[int, int, list[int]]]] = []
    for edges in product(pairs, repeat=m - 1):
        if list(edges) != sorted(set(edges)):
            continue
        sides = [_side(m, [e for e in edges if e != edge], edge[0]) for edge in edges]
        if all(v not in side for (_, v), side in zip(edges, sides, strict=True)) and len(_side(m, edges, 0)) == m:
            spanning.append([(u, v, side) for (u, v), side in zip(edges, sides, strict=True)])
    return spanning


def _side(m: int, edges: list[tuple[int, int]] | tuple[tuple[int, int], ...], start: int) -> list[int]:
    reached = [start]
    for here in reached:
        reached += [v for e in edges for u, v in (e, e[::-1]) if u == here and v not in reached]
    return sorted(reached)


def wasserstein(p: Array, metric: Array) -> Array:
    """W_1 of the users' p_i (..., n, m) from their average for distances (..., m, m).

    By the triangle inequality an optimal plan may be taken as a flow on a spanning tree, which the masses determine.
    """
    off = p - np.mean(p, axis=-2, keepdims=True)
    costs = [
        sum(metric[..., None, u, v] * np.abs(summed(np, off[..., side])) for u, v, side in tree)
        for tree in trees(p.shape[-1])
    ]
    return np.min(np.stack(costs), axis=0) if p.shape[-1] > 1 else 0 * p[..., 0]
