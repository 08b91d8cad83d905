"""A semidefinite form as a sum of squares with short numbers, which Coq adds up in a fraction of the time.

The exact factors of a matrix have numbers as long as its determinants. So they are rounded, and what is left is
diagonally dominant: a sum of squares of two coordinates. A singular matrix is written in as many coordinates as its
rank first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count

from flint import fmpq, fmpq_mat

from ..kernel.core.loss import ldl

__all__ = ["squares"]

Square = tuple[fmpq, tuple[fmpq, ...]]
SHORT = 200  # bits that a number of an exact factor may have
STEP = 12  # bits of precision that the next trial has more


def squares(matrix: Sequence[Sequence[fmpq]]) -> list[Square]:
    """Weights and rows with sum_r weight_r row_r row_r' = matrix, which is symmetric and semidefinite."""
    exact = ldl(matrix)
    if exact is None:
        raise ValueError("got an indefinite matrix, expected what the kernel accepted")
    if all(x.height_bits() <= SHORT for weight, row in exact for x in (weight, *row)):
        return exact
    kept = [next(n for n, x in enumerate(row) if x) for _, row in exact]  # coordinates with a pivot
    rest = [n for n in range(len(matrix)) if n not in kept]
    inner = fmpq_mat([[matrix[a][b] for b in kept] for a in kept])
    reach = inner.solve(fmpq_mat([[matrix[a][b] for b in rest] for a in kept])) if rest else None
    coordinates: list[tuple[fmpq, ...]] = []  # of the kept ones, as rows over all
    for a, name in enumerate(kept):
        row = [fmpq(int(n == name)) for n in range(len(matrix))]
        for b, other in enumerate(rest):
            row[other] = reach[a, b] if reach is not None else fmpq(0)
        coordinates.append(tuple(row))
    short = _rounded([[matrix[a][b] for b in kept] for a in kept])
    return [(weight, _written(row, coordinates)) for weight, row in short]


def _written(row: Sequence[fmpq], coordinates: Sequence[Sequence[fmpq]]) -> tuple[fmpq, ...]:
    return tuple(
        sum((x * c for x, c in zip(row, column, strict=True)), fmpq(0)) for column in zip(*coordinates, strict=True)
    )


def _rounded(matrix: list[list[fmpq]]) -> list[Square]:
    """Squares with short coefficients, at the first precision at which the rest of a definite matrix is diagonally
    dominant.
    """
    size = len(matrix)
    for bits in count(STEP, STEP):
        # So much of the diagonal is kept back, far more than rounding changes, and makes what is left dominant.
        room = fmpq(1, 2 ** (bits // 2))
        less = [[x * (1 - room) if a == b else x for b, x in enumerate(row)] for a, row in enumerate(matrix)]
        exact = ldl(less)
        if exact is None or len(exact) < size:
            continue
        factors = [(_near(weight, bits), tuple(_near(x, bits) for x in row)) for weight, row in exact]
        left = [list(row) for row in matrix]
        for weight, row in factors:
            for a in range(size):
                for b in range(size):
                    left[a][b] -= weight * row[a] * row[b]
        dominant = _dominant(left)
        if dominant is not None:
            return [*factors, *dominant]
    raise AssertionError("some precision is enough for a definite matrix")


def _near(x: fmpq, bits: int) -> fmpq:
    """The number with so many digits after its first, in base 2."""
    if not x:
        return x
    exact = Fraction(int(x.p), int(x.q))
    scale = bits - (abs(exact.numerator).bit_length() - exact.denominator.bit_length())
    whole = round(exact * Fraction(2) ** scale)
    return fmpq(whole) * (fmpq(2) ** -scale if scale < 0 else fmpq(1, 2**scale))


def _dominant(matrix: list[list[fmpq]]) -> list[Square] | None:
    """A diagonally dominant matrix as a sum of squares of one or two coordinates; None for another one."""
    size = len(matrix)
    parts: list[Square] = []
    for a in range(size):
        left = matrix[a][a] - sum((abs(x) for b, x in enumerate(matrix[a]) if b != a), fmpq(0))
        if left < 0:
            return None
        if left:
            parts.append((left, tuple(fmpq(int(n == a)) for n in range(size))))
        for b in range(a):
            if x := matrix[a][b]:
                sign = fmpq(1 if x > 0 else -1)
                parts.append((abs(x), tuple(fmpq(1) if n == a else sign if n == b else fmpq(0) for n in range(size))))
    return parts
