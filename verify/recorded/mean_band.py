"""A lower limit of an expectation from recorded runs, valid in all rounds at once, whatever their law is.

Anderson's inequality: with confidence 1 - d the distribution function of n independent draws lies nowhere further than
e = sqrt(log(1/d)/(2 n)) below the observed one (Dvoretzky, Kiefer, Wolfowitz; Massart), so that the mean of a
non-negative variable is at least the sum of the gaps between sorted draws times max(0, 1 - i/n - e). A union over the
rounds makes it valid in all of them. There is no upper limit without knowing how large the variable can be.
"""

from __future__ import annotations

import numpy as np

from .trajectory import Array

__all__ = ["lower_limit"]


def lower_limit(samples: Array, level: float) -> Array:
    """(seeds, rounds) of non-negative numbers: below the expectation in all rounds, but with chance `level`."""
    seeds, rounds = len(samples), int(samples.shape[1])
    epsilon = float(np.sqrt(np.log(rounds / level) / (2 * seeds)))
    ordered = np.sort(np.maximum(samples, 0), axis=0)
    gaps: Array = np.diff(ordered, axis=0, prepend=0)
    above = np.maximum(0.0, 1 - np.arange(seeds, dtype=float) / seeds - epsilon)
    return (gaps * above[:, None]).sum(axis=0)
