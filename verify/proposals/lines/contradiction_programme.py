"""The linear programme of a line: non-negative numbers before products that add up to a contradiction."""

# scipy and flint have no types of their own (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from flint import fmpq
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_matrix

from ..exact_solution import exact_solution
from .product_columns import Column, Floats, Integers

BALANCED = 3  # times that rows and columns are scaled
SECONDS = 5  # that the solver has for one programme
USED = 1e-9  # a number above this one is not rounding
POSITIVE = None  # the row that says that something positive takes part; those of monomials are numbers


def contradiction(columns: Sequence[Column], goal: int | None) -> list[tuple[int, fmpq]] | None:
    """Places of columns and non-negative numbers before them, one of a positive column not 0, that add up to 0.

    The solver may find a positive monomial that is 0 within its tolerance; then the goal's own products are asked for.
    """
    useful = _useful(columns)
    columns = [columns[n] for n in useful]
    strict = np.array([column.strict for column in columns], dtype=float)
    with_goal = np.array([column.strict and goal in column.factors for column in columns], dtype=float)
    if not strict.any():
        return None
    places = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    _, rows = np.unique(np.concatenate([column.keys for column in columns]), return_inverse=True)
    numbers = _balanced(np.concatenate([column.numbers for column in columns]), rows, places)
    height = int(rows.max()) + 1
    rows = np.concatenate([rows, np.full(len(columns), height)])
    right = np.zeros(height + 1)
    right[-1] = 1
    for positive in (strict, with_goal):
        if not positive.any():
            return None
        matrix = csc_matrix(
            (np.concatenate([numbers, positive]), (rows, np.concatenate([places, np.arange(len(columns))]))),
            shape=(height + 1, len(columns)),
        )
        answer = milp(  # without whole numbers: `linprog` has the same solver and prepares three times as long
            np.ones(len(columns)),
            constraints=LinearConstraint(cast("Any", matrix), cast("Any", right), cast("Any", right)),
            bounds=Bounds(0, np.inf),
            options={"time_limit": SECONDS},
        )
        if answer.status != 0:
            return None
        weights = _exact_weights(columns, [n for n, x in enumerate(answer.x) if x > USED])
        if weights is not None:
            return [(int(useful[n]), c) for n, c in weights]
    return None


def _useful(columns: Sequence[Column]) -> Integers:
    """Places of the columns that may take part: a monomial that all columns have with one sign has nothing that cancels
    it, so that none of them does; without these, others are of one sign.
    """
    lengths = [len(column.keys) for column in columns]
    places = np.repeat(np.arange(len(columns)), lengths)
    _, rows = np.unique(np.concatenate([column.keys for column in columns]), return_inverse=True)
    above = np.concatenate([column.numbers for column in columns]) > 0
    kept: NDArray[np.bool_] = np.ones(len(columns), dtype=bool)
    while True:
        positive, all_of_row = np.bincount(rows, above), np.bincount(rows)
        lonely = (positive == 0) | (positive == all_of_row)
        kept[places[lonely[rows]]] = False
        left = kept[places]
        if left.all():
            return np.flatnonzero(kept)
        places, rows, above = places[left], rows[left], above[left]


def _balanced(numbers: Floats, *lines: Integers) -> Floats:
    """The entries with rows and columns multiplied so that their largest and smallest numbers are about 1.

    Right sides are 0, so that nothing else changes; what the solver takes for 0 would hide 1/150^4 beside 1.
    """
    for line in lines * BALANCED:
        size = np.log(np.abs(numbers))
        most: NDArray[np.float64] = np.full(line.max() + 1, -np.inf)
        least: NDArray[np.float64] = np.full(line.max() + 1, np.inf)
        np.maximum.at(most, line, size)
        np.minimum.at(least, line, size)
        numbers = numbers / np.exp((most + least) / 2)[line]
    return numbers


def _exact_weights(columns: Sequence[Column], used: Sequence[int]) -> list[tuple[int, fmpq]] | None:
    """Rational numbers before the columns that are used; None if there are none, or negative ones."""
    parts: list[dict[int | None, fmpq]] = []
    for column in (columns[n] for n in used):
        part: dict[int | None, fmpq] = {
            int(key): column.sign * c for key, c in zip(column.keys, column.exact, strict=True)
        }
        parts.append({**part, POSITIVE: fmpq(int(column.strict))})
    solution = exact_solution(parts, {POSITIVE: fmpq(1)})
    if solution is None or any(x < 0 for x in solution):
        return None
    return [(n, x) for n, x in zip(used, solution, strict=True) if x != 0]
