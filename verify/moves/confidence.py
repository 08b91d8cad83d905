"""Confidence bounds for a mean that stay valid however often one looks.

Empirical Bernstein (Audibert, Munos, Szepesvári, "Exploration-exploitation tradeoff using variance estimates in
multi-armed bandits", 2009, theorem 1): for n independent values in an interval of length R, with probability at least
1 - δ, |mean - expectation| <= sqrt(2 V ln(3/δ) / n) + 3 R ln(3/δ) / n. Look j spends δ / (j (j + 1)): δ in all.
"""

from __future__ import annotations

import numpy as np

from ..search.tree_arrays import Array

DELTA = 1e-9


def interval(values: Array, width: Array, look: int, delta: float = DELTA) -> tuple[Array, Array]:
    """Bounds (low, high) on the expectation of `values` (..., n), each in [0, width] (...), at the look-th look."""
    if look < 1 or not 0 < delta < 1:
        raise ValueError(f"got look {look}, delta {delta}, expected look >= 1 and 0 < delta < 1; do: count from 1")
    n = values.shape[-1]
    bits = np.log(3 * look * (look + 1) / delta)
    # V of the theorem divides by n, as numpy's variance does, and not by n - 1.
    mean, variance = values.mean(axis=-1), values.var(axis=-1)
    radius = np.sqrt(2 * variance * bits / n) + 3 * width * bits / n
    return np.maximum(mean - radius, 0.0), np.minimum(mean + radius, width)
