"""Limits of an expectation from recorded runs, valid in all rounds at once, whatever the law of the runs is.

Let X_1, ..., X_n be non-negative and, given those before it, X_j have an expectation of at most m. For every c in
[0, 1] each factor of K_c = prod_j (1 + c (X_j/m - 1)) is non-negative, and its expectation given those before it is at
most 1. So the mean K of K_c over several c is non-negative with an expectation of at most 1, and by Markov's inequality
it reaches 1/level with a chance of at most `level`. K falls as m grows: every m at which it reaches 1/level lies below
the expectation, but with that chance. (Betting against m; Waudby-Smith and Ramdas 2023.)

Nothing else is asked for: no bound from above, no variance, no identical laws. The limit from above is the same of
most - X where no run can be above `most`. Where nothing bounds X there is none: a value that is seen once in a million
runs may carry any part of the expectation, and no finite number of runs rules it out.
"""

from __future__ import annotations

import numpy as np

from .trajectory import Array

__all__ = ["band", "lower_limit"]

STAKES = tuple(2.0**-j for j in range(8))  # c: large ones for few runs, small ones for many runs that differ
HALVINGS = 50  # of the interval in which the limit lies


def lower_limit(samples: Array, level: float) -> Array:
    """(draws, rounds) of non-negative numbers: below the expectation in all rounds, but with chance `level`."""
    draws: Array = np.maximum(samples, 0)
    needed = np.log(len(STAKES) * draws.shape[1] / level)  # a union over the rounds
    low: Array = np.zeros(draws.shape[1])
    high: Array = draws.mean(axis=0)  # never ruled out: there the mean of the factors' logarithms is at most 0
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(HALVINGS):
            m: Array = (low + high) / 2
            won = [np.log1p(c * (draws / m - 1)).sum(axis=0) for c in STAKES]
            ruled_out: Array = np.logaddexp.reduce(won, axis=0) >= needed
            low, high = np.where(ruled_out, m, low), np.where(ruled_out, high, m)
    return low


def band(samples: Array, level: float, most: float | None) -> tuple[Array, Array | None]:
    """Limits below and above the expectation of (draws, rounds) of non-negative numbers, in all rounds at once.

    Both hold together, but with chance `level`. The upper one is None where no `most` is given.
    """
    if most is None:
        return lower_limit(samples, level), None
    return lower_limit(samples, level / 2), most - lower_limit(most - samples, level / 2)
