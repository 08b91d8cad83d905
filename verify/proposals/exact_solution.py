"""Rational solutions of linear systems in the columns that a solver in floats has chosen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from flint import fmpq, fmpq_mat

Row = TypeVar("Row", bound=Hashable)


def exact_solution(columns: Sequence[Mapping[Row, fmpq]], right: Mapping[Row, fmpq]) -> list[fmpq] | None:
    """Numbers before the columns that add up to the right side, 0 where a column can be missed; None if none do."""
    rows = {row: n for n, row in enumerate(dict.fromkeys(row for column in (right, *columns) for row in column))}
    matrix = fmpq_mat(len(rows), len(columns) + 1)
    for m, column in enumerate((*columns, right)):
        for row, number in column.items():
            matrix[rows[row], m] = number
    reduced, rank = matrix.rref()
    solution = [fmpq(0)] * len(columns)
    for n in range(rank):
        lead = next(m for m in range(len(columns) + 1) if reduced[n, m] != 0)
        if lead == len(columns):
            return None
        solution[lead] = reduced[n, len(columns)]
    return solution
