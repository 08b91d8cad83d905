"""The kernel's losses: semidefinite matrices, and wells."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.verify.kernel.core.loss import ONE, semidefinite
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.losses.kinds.bent import Bent, read
from fedaudit.verify.kernel.losses.minimum import lines
from fedaudit.verify.kernel.losses.regulariser import Regulariser


@given(st.integers(1, 4), st.integers(0, 4), st.data())
def test_semidefinite_on_grams_and_on_their_perturbations(n: int, rank: int, data: st.DataObject) -> None:
    B = [[data.draw(st.integers(-3, 3)) for _ in range(rank)] for _ in range(n)]
    gram = tuple(tuple(fmpq(sum(x * y for x, y in zip(B[r], B[s], strict=True))) for s in range(n)) for r in range(n))
    assert semidefinite(gram)
    x = [data.draw(st.integers(-3, 3)) for _ in range(n)]
    quad = sum(x[r] * x[s] * gram[r][s] for r in range(n) for s in range(n))
    length = sum(y * y for y in x)
    if length:  # x'(gram - c I)x < 0 for c above the Rayleigh quotient
        assert not semidefinite(gram, 1, -(quad / length) - fmpq(1, 1000))


@pytest.mark.parametrize(
    ("matrix", "answer"),
    [([[0, 1], [1, 5]], False), ([[0, 0], [0, 5]], True), ([[1, 1], [1, 1]], True), ([[1, 1], [1, 0]], False),
     ([[1, 2], [2, 4]], True), ([[1, 2, 0], [2, 4, 1], [0, 1, 9]], False), ([[-1]], False), ([[0]], True)],
)  # fmt: skip
def test_semidefinite_pivots(matrix: list[list[int]], answer: bool) -> None:
    assert semidefinite(tuple(tuple(fmpq(x) for x in row) for row in matrix)) is answer


def well(a: str, m: str) -> Bent:
    return read(Node({"kind": "bent", "a": [a], "m": [m], "lo": ["1"], "hi": ["1"], "c": ["0"]}, "loss"), 1)


def test_the_infimum_of_a_double_well() -> None:
    """phi' = w - 2 clip(w, -1, 1): a hump at 0 between wells at -2 and 2, where phi = -1."""
    loss = well("-1", "1")
    (line,) = lines((loss,), (ONE,), Regulariser())
    least = line.lowest()
    assert least is not None
    assert abs(least) == 2
    assert loss.value((least,)) == -1
    assert semidefinite(loss.hessian(most=False), 1, ONE)
    (falling,) = lines((well("-1", "0"),), (ONE,), Regulariser())
    assert falling.lowest() is None
