"""Clients whose losses are means over finitely many data points, each a function of one variable made of pieces.

Leading axis n of instances; C clients, K data points of each. Points are (.., n, c, 1) with c = C or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from .arrays import Array, namespace
from .minibatch import multisets
from .pieces import Pieces


@dataclass(frozen=True, eq=False)
class DataPoints:
    losses: Pieces  # (n, C, K)
    q: Array  # (n, C, K): probabilities
    p: Array  # (n, C): weights
    d: int = 1

    @property
    def C(self) -> int:
        return self.p.shape[-1]

    @cached_property
    def risk(self) -> Pieces:  # (n, C)
        return self.losses.mix(self.q)

    @cached_property
    def whole(self) -> Pieces:  # (n,)
        return self.risk.mix(self.p)

    def value(self, x: Array) -> Array:
        return self.risk.value(x[..., 0])

    def grad(self, x: Array) -> Array:
        return self.risk.grad(x[..., 0])[..., None]

    def minimiser(self) -> Array:
        return self.whole.least()[:, None]

    def optimum(self) -> Array:
        return self.whole.value(self.whole.least())

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        least = self.whole.value(w_star[..., 0])
        return lambda x: self.whole.value(x[..., 0]) - least

    def full_prox(self, x: Array, step: Array) -> Array:
        """Of f, at points (.., n, c, 1); step (n, 1, 1) or a number."""
        return self.whole.spread().prox(x[..., 0], _flat(x, step))[..., None]

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
        """The risks (S, n, C) of minibatches (S, C) of b points; of all points (n, C)."""
        if batch is None or self.q.shape[-1] == 1:
            return self.risk
        xp, f = namespace(self.q), self.losses
        shares = xp.asarray(_table(self.q.shape[-1], b)[0][batch] / b, dtype=xp.float64)[:, None, ...]  # (S, 1, C, K)
        lead = Pieces(*(x[None, ...] for x in (f.x, f.jump, f.bend, f.a, f.s, f.c)))
        return lead.mix(shares)

    def solved(self, local: Pieces, x: Array, step: Array) -> tuple[Array, Callable[[Array], Array]]:
        """The minimisers (.., n, C, 1) of local + |. - x|^2/(2 step); how far from optimal a point is (.., n, C)."""
        regularised = local.plus(1 / _flat(x, step), x[..., 0])
        best = regularised.convex_least()
        return best[..., None], lambda y: regularised.value(y[..., 0]) - regularised.value(best)


def count(K: int, b: int) -> int:
    """How many minibatches of b points there are."""
    return len(_table(K, b)[1])


def _table(K: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    return multisets(K, b) if K > 1 else (np.array([[b]]), np.ones(1))


def _flat(x: Array, step: Array) -> Array:
    """A step without its last axis."""
    xp = namespace(x)
    return xp.asarray(step, dtype=xp.float64) if isinstance(step, float) else step[..., 0]
