"""Users that draw m data points each from one distribution on a line: distances of their empirical distributions."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..arrays.array_checks import Array, summed
from ..losses.meta_functions import batches


def expected_distances(gap: Array, q: Array, n: int, m: int) -> tuple[Array, Array]:
    """E W_1(p_i, p_u)^2 and E (1/n) sum_i W_1(p_i, p)^2, p the users' average, for points with the gaps (..., N - 1).

    On a line W_1 is the integral of |F - G|. By symmetry the first user stands for all.
    """
    shares, chance = batches(q, m)
    below = np.cumsum(shares, axis=-1)[:, :-1]  # (K, N - 1), distribution functions between the points
    true = np.cumsum(q, axis=-1)[..., None, :-1]
    single = summed(np, gap[..., None, :] * np.abs(below - true)) ** 2
    paths = np.array(list(product(range(len(shares)), repeat=n)))  # (P, n)
    off = below[paths[:, 0]] - np.mean(below[paths], axis=1)
    pair = summed(np, gap[..., None, :] * np.abs(off)) ** 2
    return summed(np, chance * single), summed(np, np.prod(chance[..., paths], axis=-1) * pair)
