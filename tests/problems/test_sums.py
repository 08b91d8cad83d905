"""Short cuts of the array code give what the plain way gives, to the last bit where they say so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fedaudit.problems.arrays.array_checks import LARGE, matvec, summed
from fedaudit.problems.runs.affine_rounds import Mapped

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", range(1, 10))
@pytest.mark.parametrize("axis", [-1, -2])
def test_few_numbers_are_summed_to_the_bit_as_numpy_does(size: int, axis: int) -> None:
    x = RNG.standard_normal((50, size, 3) if axis == -2 else (50, 3, size))
    assert np.array_equal(summed(np, x, axis), np.sum(x, axis=axis))


def test_an_empty_sum_is_zero() -> None:
    assert np.array_equal(summed(np, np.ones((4, 0))), np.zeros(4))


@pytest.mark.parametrize("d", [2, 3])
def test_products_of_many_vectors_are_to_the_bit_those_of_each(d: int) -> None:
    A, x = RNG.standard_normal((30, 4, d, d)), RNG.standard_normal((40, 30, 4, d))
    assert x.size > LARGE > x[0].size
    assert np.array_equal(matvec(np, A, x), np.stack([matvec(np, A, one) for one in x]))


@pytest.mark.parametrize("columns", [3, 9])
@pytest.mark.parametrize("rounds", [1, 5])
def test_the_spread_is_the_sum_over_all_pairs_of_columns(columns: int, rounds: int) -> None:
    x, y = RNG.standard_normal((2, columns, rounds, 7, 2, 3))
    covariance = RNG.standard_normal((5, 7, columns, columns))
    mapped = Mapped(cast(Any, SimpleNamespace(xp=np, setup=SimpleNamespace(problem=None))))
    wide = [np.broadcast_to(v, (columns, 5, 7, 2, 3)) for v in (x, y)]
    pairs = np.einsum("jtncd,ltncd,tnjl->tnc", *wide, covariance)
    assert np.allclose(mapped.spread("inner", [x, y], covariance), pairs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("T", [16, 20, 31, 32, 40])
def test_rounds_by_doubling_are_those_taken_one_by_one_and_no_more(T: int) -> None:
    z, after = RNG.standard_normal((7, 3)), 0.4 * RNG.standard_normal((1 + 3 + 2, 1, 7, 3))
    mapped = Mapped(cast(Any, SimpleNamespace(xp=np, setup=SimpleNamespace(T=T))))
    doubled, stepped = mapped.rounds(z, after), mapped.rounds(z, np.repeat(after, T, axis=1))
    assert [len(part) for part in doubled] == [T + 1, T + 1]
    assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(doubled, stepped, strict=True))
