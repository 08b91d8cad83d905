"""Clients whose losses are means over finitely many data points, each a sum of functions made of pieces along a basis.

Leading axis n of instances; C clients, K data points of each. Points are (.., n, c, d) with c = C or 1. All data points
of a client have one basis, so that its local problems fall apart into lines; f as a whole has to have one basis too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ..arrays.array_checks import Array, fail, matvec, namespace
from .minibatch import multisets
from .pieces import Pieces


@dataclass(frozen=True, eq=False)
class DataPoints:
    losses: Pieces  # (n, d, C, K): along every direction
    q: Array  # (n, C, K): probabilities
    p: Array  # (n, C): weights
    U: Array = None  # (n, C or 1, d, d): orthonormal rows; without them the axes

    @property
    def C(self) -> int:
        return self.p.shape[-1]

    @property
    def d(self) -> int:
        return self.losses.x.shape[1]

    @cached_property
    def risk(self) -> Pieces:  # (n, d, C)
        return self.losses.mix(self.q[:, None, ...])

    @cached_property
    def whole(self) -> Pieces:  # (n, d)
        if self.U is not None and self.U.shape[1] > 1:
            raise fail("a basis for every client", "one for all of them", "minimise f on clients with one basis")
        return self.risk.mix(self.p[:, None, :])

    def along(self, x: Array) -> Array:
        """Points (.., n, c, d) -> what they are along the basis (.., n, d, c)."""
        xp = namespace(x)
        return xp.matrix_transpose(x if self.U is None else matvec(xp, self.U, x))

    def back(self, z: Array) -> Array:
        """(.., n, d, c) -> points (.., n, c, d)."""
        xp = namespace(z)
        y = xp.matrix_transpose(z)
        return y if self.U is None else matvec(xp, xp.matrix_transpose(self.U), y)

    def total(self, f: Pieces, z: Array) -> Array:
        """Values (.., n, c) of functions (.., n, d, c)."""
        return namespace(z).sum(f.value(z), axis=-2)

    def value(self, x: Array) -> Array:
        return self.total(self.risk, self.along(x))

    def grad(self, x: Array) -> Array:
        return self.slope(self.risk, x)

    def slope(self, f: Pieces, x: Array) -> Array:
        """Gradients (.., n, C, d) of functions (.., n, d, C)."""
        return self.back(f.grad(self.along(x)))

    def minimiser(self) -> Array:
        return self.back(self.whole.least()[..., None])[:, 0, :]

    def optimum(self) -> Array:
        return self.total(self.whole.spread(), self.whole.least()[..., None])[..., 0]

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        def of(x: Array) -> Array:
            return self.total(self.whole.spread(), self.along(x[..., None, :]))[..., 0]

        least = of(w_star)
        return lambda x: of(x) - least

    def full_prox(self, x: Array, step: Array) -> Array:
        """The proximal points of f at (.., n, c, d); step (n, 1, 1) or a number."""
        return self.back(self.whole.spread().prox(self.along(x), _array(x, step)))

    def minibatches(self, b: int, shared: bool) -> tuple[np.ndarray, Array]:
        """Which one each client draws (Q, C), and how probable that is (Q, n)."""
        xp = namespace(self.q)
        times, orders = _table(self.q.shape[-1], b)
        powers = self.q[..., None, :] ** xp.asarray(times, dtype=xp.float64)
        each = xp.asarray(orders, dtype=xp.float64) * xp.prod(powers, axis=-1)  # (n, C, B)
        if shared:
            rows = np.repeat(np.arange(len(orders))[:, None], self.C, axis=1)
            return rows, xp.permute_dims(each[:, 0, :], (1, 0))
        rows = np.array(list(product(range(len(orders)), repeat=self.C)))
        chance = xp.ones((len(rows), self.q.shape[0]), dtype=xp.float64)
        for i in range(self.C):
            chance = chance * xp.permute_dims(xp.take(each[:, i, :], xp.asarray(rows[:, i]), axis=1), (1, 0))
        return rows, chance

    def drawn(self, batch: np.ndarray | None, b: int) -> Pieces:
        """The risks (S, n, d, C) of minibatches (S, C) of b points; of all points (n, d, C)."""
        if batch is None or self.q.shape[-1] == 1:
            return self.risk
        xp, f = namespace(self.q), self.losses
        shares = xp.asarray(_table(self.q.shape[-1], b)[0][batch] / b, dtype=xp.float64)[:, None, None, ...]
        lead = Pieces(*(x[None, ...] for x in (f.x, f.jump, f.bend, f.a, f.s, f.c)))
        return lead.mix(shares)  # of (S, 1, 1, C, K)

    def solved(self, local: Pieces, x: Array, step: Array) -> tuple[Array, Callable[[Array], Array]]:
        """The minimisers (.., n, C, d) of local + |. - x|^2/(2 step); how far from optimal a point is (.., n, C)."""
        curvature, centre = 1 / _array(x, step), self.along(x)
        best = local.plus(curvature, centre).convex_least()

        def gap(y: Array) -> Array:
            at = self.along(y)
            near = curvature * (at - best) * ((at - centre) + (best - centre)) / 2  # squares of long ways would cancel
            return self.total(local, at) - self.total(local, best) + namespace(near).sum(near, axis=-2)

        return self.back(best), gap


def count(K: int, b: int) -> int:
    """How many minibatches of b points there are."""
    return len(_table(K, b)[1])


def _table(K: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    return multisets(K, b) if K > 1 else (np.array([[b]]), np.ones(1))


def _array(x: Array, step: Array) -> Array:
    xp = namespace(x)
    return xp.asarray(step, dtype=xp.float64) if isinstance(step, float) else step
