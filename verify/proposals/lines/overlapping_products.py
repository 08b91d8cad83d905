"""Products of constraints that overlap with the goal in several terms, and squares of differences.

They make fewer columns than all products that share one term, so that products of several rounds are in reach: sums of
inequalities between fractions whose denominators differ, and of what was multiplied with a bound that is a sum itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement

import numpy as np
from flint import fmpq

from .line_system import SQUARES
from .product_columns import Column, ColumnSearch, Factors, Flags, Integers, Table, distinct, keys_of, multipliers
from .sparse_polynomials import Powers, Terms, minus, translated

MANY = 4000  # columns of one programme
ROUNDS = 3  # of overlapping products
FEW = 12  # terms of a product that is tried wherever all of them are wanted; squares of differences
PLACES = 80  # at which such a product is tried
PAIRS = 40_000  # of terms that are compared to see where products overlap


def overlapping_columns(search: ColumnSearch, level: int, target: Terms | None = None) -> Iterator[list[Column]]:
    """Products of at most `level` bounds, each times the monomials that take most of its terms to those of the goal and
    of what was there before; and squares of differences whose three terms are there.
    """
    if search.goal is None:
        return
    goal = np.array(list(search.bounds[search.goal]), dtype=np.int64)
    wanted = np.array(list(target), dtype=np.int64) if target else goal
    bounds = range(len(search.bounds))
    tried: list[Factors] = [f for r in range(1, level + 1) for f in combinations_with_replacement(bounds, r)]
    equations = [Table.of(e) for e in search.equations]
    below = search.positive if level == 1 else np.zeros_like(search.positive)
    places: dict[tuple[Factors, Powers], None] = {}
    multiples: dict[tuple[int, Powers], None] = {}
    for n in range(ROUNDS):
        fresh = [wanted]
        for place, table in enumerate(equations):
            reaching = multipliers(wanted, table.rows, None)
            multiples |= dict.fromkeys((place, monomial) for monomial in reaching)
            fresh += [table.rows + np.array(monomial) for monomial in reaching]
        for factors in tried:
            product = search.table(factors)
            if product is None or len(wanted) * len(product[0].rows) > PAIRS:
                continue
            for monomial in _overlaps(search, wanted, product[0].rows, len(factors), below):
                places[factors, tuple(monomial.tolist())] = None
                fresh.append(product[0].rows + monomial)
        wanted = distinct(np.concatenate(fresh))
        squares = _square_places(search, wanted if len(wanted) ** 2 <= 4 * PAIRS else goal)
        places |= dict.fromkeys(squares)
        if level > 1:
            new = list(dict.fromkeys(factors for factors, _ in squares))[:SQUARES]
            tried += [p for f in new for m in bounds if (p := (m, *f)) not in tried]
        if len(places) + 2 * len(multiples) > MANY:
            return
        if n:
            yield _placed(search, places, multiples, wanted)


def _overlaps(search: ColumnSearch, wanted: Integers, rows: Integers, factors: int, below: Flags) -> Integers:
    """The monomials that take most terms of a product to those that are wanted; of a short one, all terms.

    `below` are atoms whose exponents may be negative.
    """
    differences = (wanted[:, None, :] - rows[None, :, :]).reshape(-1, wanted.shape[1])
    fits = np.all((differences >= 0) | below, axis=1)
    fits &= ~np.any((differences % 2 == 1) & search.even, axis=1)
    if not fits.any():
        return differences[:0]
    ratios, counts = np.unique(differences[fits], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    complete = int((counts == len(rows)).sum()) if len(rows) <= FEW else 0
    best = order[: max(4 if factors == 1 else 2, min(complete, PLACES))]
    return ratios[best[counts[best] >= min(factors, 2)]]


def _square_places(search: ColumnSearch, wanted: Integers) -> list[tuple[Factors, Powers]]:
    """Squares (p - q)^2 times monomials m for which m p^2, m p q and m q^2 are all wanted, the most frequent first."""
    line, keys = search.line, keys_of(wanted)
    thirds = np.isin(2 * keys[None, :] - keys[:, None], keys)  # of m p^2 and m p q
    np.fill_diagonal(thirds, False)
    first, middle = np.nonzero(thirds)
    steps = wanted[middle] - wanted[first]
    p, q = np.maximum(steps, 0), np.maximum(-steps, 0)
    rest = wanted[middle] - p - q
    fits = np.all(rest >= 0, axis=1) & ~np.any((rest % 2 == 1) & search.even, axis=1)
    monomials: dict[tuple[Powers, Powers], list[Powers]] = {}
    for row in zip(*(part[fits].tolist() for part in (p, q, rest)), strict=True):
        one, other, monomial = map(tuple, row)
        if one > other:  # each pair comes up twice
            monomials.setdefault((one, other), []).append(monomial)
    places: list[tuple[Factors, Powers]] = []
    for (one, other), times in sorted(monomials.items(), key=lambda item: -len(item[1]))[:FEW]:
        unsigned = np.any(np.array(one) + np.array(other) > 0, where=search.even)
        for sign in (-1, 1) if unsigned else (-1,):
            terms = translated({one: fmpq(1), other: fmpq(sign)}, line.from_one, -1)
            if terms not in line.squares:
                line.squares.append(terms)
            places += [((-1 - line.squares.index(terms),), m) for m in times]
    return places


def _placed(
    search: ColumnSearch,
    places: Mapping[tuple[Factors, Powers], None],
    multiples: Mapping[tuple[int, Powers], None],
    wanted: Integers,
) -> list[Column]:
    """The columns, times a monomial of positive atoms that leaves no powers below 0."""
    powers = np.array([m for _, m in (*places, *multiples)], dtype=np.int64)
    low = np.minimum(0, np.minimum(powers.min(axis=0), wanted.min(axis=0)))
    lowest: Powers = tuple(low.tolist())
    columns = [search.column(factors, minus(m, lowest)) for factors, m in places]
    for n, m in multiples:
        columns += Table.of(search.equations[n]).both_signs(n, minus(m, lowest))
    return [*columns, *search.monomials(wanted - low)]
