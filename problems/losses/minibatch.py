"""Data sets and minibatches from finite sample spaces: expectations are sums over all of them, nothing is drawn.

Losses are `Pieces` of one variable. Leading axes are batch axes; after them M devices, n points of the sample space.
Lemmas 1 to 4 are those of Yuan and Li.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import factorial, prod
from typing import TypeAlias

import numpy as np

from ..arrays.array_checks import Array, namespace, summed
from .pieces import Pieces

Table: TypeAlias = Array  # of indices, on the host


@cache
def multisets(n: int, b: int) -> tuple[Table, Table]:
    """All minibatches of b points out of n, orders put together: how often each point occurs (B, n), orders (B,)."""
    chosen = [Counter(c) for c in combinations_with_replacement(range(n), b)]
    times = np.array([[c[z] for z in range(n)] for c in chosen])
    orders = np.array([factorial(b) // prod(map(factorial, map(int, row))) for row in times], dtype=float)
    return times, orders


@cache
def subsets(M: int, I: int) -> Table:  # noqa: E741 (the paper's letter)
    """Which devices (S, M) each subset of I of them holds."""
    return np.array([[m in c for m in range(M)] for c in combinations(range(M), I)], dtype=float)


@cache
def tuples(n: int, N: int) -> Table:
    """All data sets (n^N, N), in the order of their digits."""
    return np.array(list(product(range(n), repeat=N)))


@cache
def members(n: int, N: int) -> Table:
    """How often each point (n, n^N) is in every data set."""
    return np.array([[S.count(z) for S in product(range(n), repeat=N)] for z in range(n)])


@cache
def neighbours(n: int, N: int) -> tuple[Table, Table]:
    """Places of all pairs of data sets that differ in a single point."""
    sets = tuples(n, N)
    differ = (sets[:, None] != sets[None]).sum(axis=-1) == 1
    first, second = np.nonzero(np.triu(differ))
    return first, second


def likelihood(q: Array, N: int) -> Array:
    """Probability (..., n^N) of every data set; q (..., n)."""
    return namespace(q).prod(q[..., tuples(q.shape[-1], N)], axis=-1)


def solve(risk: Pieces, shift: Array) -> tuple[Array, Array]:
    """The points (...) that lie `shift` from the minimisers of strongly convex risks, and how far from optimal."""
    best = risk.convex_least()
    return best + shift, risk.value(best + shift) - risk.value(best)


def stability(losses: Pieces, curvature: Array, centre: Array, shift: Array) -> tuple[Array, Array]:
    """Lemma 1: |w_S - w_S'| (...) and the larger of both sub-optimalities (...), r a quadratic.

    S holds the first N of N + 1 losses (..., N + 1), S' the last N; curvature and centre of r (...), shift (..., 2).
    """
    xp = namespace(losses.x)
    N = losses.x.shape[-2] - 1
    members = np.array([[1.0] * N + [0.0], [0.0] + [1.0] * N]) / N
    w, gap = solve(_lead(losses).mix(members).plus(curvature[..., None], centre[..., None]), shift)
    return xp.abs(w[..., 0] - w[..., 1]), xp.max(gap, axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Generalisation:
    """The four numbers (...) that lemma 3 is about."""

    bias: Array  # |E grad R(A(S)) - E grad R_S(A(S))|
    variance: Array  # E |grad R(A(S)) - E grad R(A(S))|^2
    about_empirical: Array  # E |grad R(A(S)) - E grad R_S(A(S))|^2
    gamma: Array  # the largest |A(S) - A(S')| over neighbours


def generalisation(losses: Pieces, q: Array, A: Array, N: int) -> Generalisation:
    """Losses (..., n), probabilities q (..., n) and models A (..., n^N)."""
    xp = namespace(A)
    n = q.shape[-1]
    weights = likelihood(q, N)
    each = losses.spread().grad(A[..., None, :])  # (..., n, n^N)
    population = summed(xp, q[..., None] * each, -2)
    empirical = summed(xp, members(n, N) / N * each, -2)
    mean, centre = (summed(xp, weights * g) for g in (population, empirical))
    first, second = neighbours(n, N)
    return Generalisation(
        xp.abs(mean - centre),
        summed(xp, weights * (population - mean[..., None]) ** 2),
        summed(xp, weights * (population - centre[..., None]) ** 2),
        xp.max(xp.abs(A[..., first] - A[..., second]), axis=-1),
    )


def differences(h: Array, q: Array, N: int) -> tuple[Array, Array]:
    """Lemma 2: E|h(S) - E h(S)|^2 (...) and the bound on differences (...); h (..., n^N, d)."""
    xp = namespace(h)
    weights = likelihood(q, N)[..., None]
    centred = h - xp.sum(weights * h, axis=-2, keepdims=True)
    first, second = neighbours(q.shape[-1], N)
    apart = summed(xp, (h[..., first, :] - h[..., second, :]) ** 2)
    return xp.sum(weights * centred**2, axis=(-2, -1)), xp.sqrt(xp.max(apart, axis=-1))


def sampled(directions: Array, size: int) -> tuple[Array, Array]:
    """Lemma 4: E d_t (..., d) and E|d_t - dbar_t|^2 (...) over all subsets of `size` of M directions (..., M, d)."""
    xp = namespace(directions)
    chosen = subsets(directions.shape[-2], size)
    drawn = summed(xp, chosen[..., None] * directions[..., None, :, :], -2) / size
    off = drawn - xp.mean(directions, axis=-2)[..., None, :]
    return xp.mean(drawn, axis=-2), xp.mean(summed(xp, off**2), axis=-1)


def _lead(losses: Pieces) -> Pieces:
    """One more batch axis before the points of the sample space, for several data sets of the same losses."""
    x, jump, bend = (k[..., None, :, :] for k in (losses.x, losses.jump, losses.bend))
    a, s, c = (k[..., None, :] for k in (losses.a, losses.s, losses.c))
    return Pieces(x, jump, bend, a, s, c)
