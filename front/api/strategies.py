"""Hypothesis' strategies of genes: rationals that shrink to 1 or 0, and arrays of them."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import strategies as st

from fedaudit.problems.arrays.genes import Gene
from fedaudit.problems.families.family import Array

__all__ = ["values"]

LARGEST, FINEST = 100, 20  # numerators and denominators


def _share(part: int, rest: int) -> Fraction:
    # Always at most 1, so that Hypothesis need not throw any draw away.
    return Fraction(part, part + rest)


def _rational(kind: str) -> st.SearchStrategy[Fraction]:
    below = st.integers(1, FINEST)
    match kind:
        case "positive":
            return st.builds(Fraction, st.integers(1, LARGEST), below)
        case "nonnegative":
            return st.builds(Fraction, st.integers(0, LARGEST), below)
        case "unit":
            return st.builds(_share, below, st.integers(0, FINEST))
        case "fraction":
            return st.builds(_share, st.integers(0, FINEST), below) | st.just(Fraction(1))
        case _:
            return st.builds(Fraction, st.integers(-LARGEST, LARGEST), below)


def values(gene: Gene) -> st.SearchStrategy[Array]:
    """Every value of a gene."""
    size = prod(gene.shape)

    def shaped(numbers: list[Fraction]) -> Array:
        array = np.empty(size, dtype=object)
        array[:] = numbers
        return array.reshape(gene.shape)

    return st.lists(_rational(gene.kind), min_size=size, max_size=size).map(shaped)
