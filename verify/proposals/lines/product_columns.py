"""Products of constraints, as the columns of a linear programme: those that share terms with the goal.

Polynomials are arrays here: a monomial is a row of exponents, and its key is a sum of fixed random numbers, so that the
keys of a product are sums too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from .line_system import LineSystem
from .sparse_polynomials import Powers, Terms, minus, times, translated, unit, whole

SMALL = 100  # terms of all bounds of a line for which more products are tried
LONGEST = 4000  # pairs of terms of a product that is multiplied out
TARGETS = 4  # multiples of the goal that are aimed at
TARGET_TERMS = 3000  # of such a multiple, as pairs of terms
SQUARED = 12  # terms of a goal whose square is aimed at

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Factors = tuple[int, ...]  # places of bounds, and -1 - n for the square of the line's n-th polynomial


@dataclass(frozen=True, slots=True)
class Column:
    """Factors times a monomial of the shifted atoms; or an equation times one, with a sign."""

    factors: Factors
    times: Powers
    strict: bool
    keys: Integers  # of its monomials
    numbers: Floats
    exact: list[fmpq]
    equation: int | None = None
    sign: int = 1

    @classmethod
    def bare(cls, factors: Factors, monomial: Powers, *, strict: bool) -> Column:
        """A product that is only written down, in no programme."""
        return cls(factors, monomial, strict, np.zeros(0, dtype=np.int64), np.zeros(0), [])


@dataclass(frozen=True, slots=True)
class Table:
    """A polynomial as arrays."""

    rows: Integers
    keys: Integers
    numbers: Floats
    exact: list[fmpq]

    @classmethod
    def of(cls, terms: Terms) -> Table:
        rows = np.array(list(terms), dtype=np.int64)
        return cls(rows, keys_of(rows), np.array([float(c) for c in terms.values()]), list(terms.values()))

    def both_signs(self, equation: int, monomial: Powers) -> list[Column]:
        """An equation times a monomial, and minus that: it may be added and taken off."""
        keys = self.keys + keys_of(np.array(monomial, dtype=np.int64))
        return [Column((), monomial, False, keys, sign * self.numbers, self.exact, equation, sign) for sign in (1, -1)]


# Products and sums wrap around, so that two monomials may share a key. That hardly ever happens and does no harm: what
# is found with a wrong key is given up when its certificate is written from the exact terms.
WEIGHTS = np.random.default_rng(0).integers(1, 2**62, size=4096, dtype=np.int64)


def keys_of(rows: Integers) -> Integers:
    return (rows * WEIGHTS[: rows.shape[-1]]).sum(axis=-1)


def distinct(rows: Integers) -> Integers:
    """The rows, each once."""
    return rows[np.unique(keys_of(rows), return_index=True)[1]]


@dataclass(slots=True)
class ColumnSearch:
    """The bounds and equations of a line with counts shifted, ready to be multiplied."""

    line: LineSystem
    bounds: list[Terms]
    strict: list[bool]
    equations: list[Terms]
    goal: int | None
    even: Flags  # atoms that are only multiplied with in even powers
    positive: Flags
    tables: dict[Factors, tuple[Table, bool] | None] = field(default_factory=dict[Factors, "tuple[Table, bool] | None"])

    @classmethod
    def of(cls, line: LineSystem) -> ColumnSearch:
        bounds = [translated(b.terms, line.from_one, 1) for b in line.bounds]
        equations = [translated(whole(e.terms), line.from_one, 1) for e in line.equations]
        size = len(line.atoms)
        even = np.array([not line.nonnegative(n) for n in range(size)], dtype=bool)
        positive = np.array([line.positive(n) and n not in line.from_one for n in range(size)], dtype=bool)
        return cls(line, bounds, [b.strict for b in line.bounds], equations, line.goal, even, positive)

    @property
    def small(self) -> bool:
        return sum(map(len, self.bounds)) <= SMALL

    def table(self, factors: Factors) -> tuple[Table, bool] | None:
        """The product of factors and whether it is positive; None where it is too long, or 0."""
        if factors not in self.tables:
            terms: Terms = {(0,) * len(self.line.atoms): fmpq(1)}
            for part in map(self.factor, factors):
                if len(terms) * len(part) > LONGEST:
                    self.tables[factors] = None
                    return None
                terms = times(terms, part)
            strict = all(n >= 0 and self.strict[n] for n in factors)
            self.tables[factors] = (Table.of(terms), strict) if terms else None
        return self.tables[factors]

    def factor(self, n: int) -> Terms:
        if n >= 0:
            return self.bounds[n]
        one = translated(self.line.squares[-1 - n], self.line.from_one, 1)
        return times(one, one)

    def column(self, factors: Factors, monomial: Powers) -> Column:
        """The product of factors that have a table, times a monomial."""
        product, row = self.table(factors), np.array(monomial, dtype=np.int64)
        assert product is not None
        table, strict = product
        sure = strict and bool(np.all(self.positive[row > 0]))
        return Column(factors, monomial, sure, table.keys + keys_of(row), table.numbers, table.exact)

    def monomials(self, rows: Integers) -> Iterator[Column]:
        """Those of the rows that are not negative by the signs of their atoms."""
        fits = np.all(rows >= 0, axis=1) & ~np.any((rows % 2 == 1) & self.even, axis=1)
        sure = ~np.any((rows > 0) & ~self.positive, axis=1)
        for row, key, strict in zip(rows[fits].tolist(), keys_of(rows[fits]), sure[fits].tolist(), strict=True):
            yield Column((), tuple(row), strict, np.array([key]), np.array([1.0]), [fmpq(1)])


def multipliers(wanted: Integers, rows: Integers, even: Flags | None) -> list[Powers]:
    """The monomials that take a term of a product to one that is wanted."""
    differences = (wanted[:, None, :] - rows[None, :, :]).reshape(len(wanted) * len(rows), wanted.shape[1])
    fits = np.all(differences >= 0, axis=1)
    if even is not None:
        fits &= ~np.any((differences % 2 == 1) & even, axis=1)
    return sorted(map(tuple, distinct(differences[fits]).tolist()))


def targets(search: ColumnSearch) -> Iterator[Terms]:
    """The goal times what other bounds have before the atoms that they share with it, and times itself."""
    if search.goal is None:
        return
    goal, line = search.bounds[search.goal], search.line
    shared = {n for m in goal for n, power in enumerate(m) if power and not line.letters[n]}
    marks: set[frozenset[Powers]] = set()
    cofactors: list[Terms] = []
    for bound in (*(b for n, b in enumerate(search.bounds) if n != search.goal), *search.equations):
        for atom in shared:
            cofactor = {minus(m, unit(atom, len(m))): c for m, c in bound.items() if m[atom] == 1}
            mark = frozenset(cofactor)
            if cofactor and mark not in marks and set(mark) != {(0,) * len(line.atoms)}:
                marks.add(mark)
                cofactors.append(cofactor)
    for cofactor in sorted(cofactors, key=len)[:TARGETS]:
        if len(cofactor) * len(goal) <= TARGET_TERMS:
            yield times(goal, cofactor)
    if len(goal) <= SQUARED:
        # Only the monomials of a target are read, so that its coefficients may be anything.
        yield {**times(goal, goal), **goal}


def sharing_columns(
    search: ColumnSearch, level: int, rounds: int, most: int, target: Terms | None = None
) -> list[Column]:
    """Products of at most `level` constraints and a monomial that share a monomial with the target, which is the goal
    if none is named; in later rounds, with a product of the round before."""
    wanted = np.array(list(_beginning(search, target)), dtype=np.int64)
    products = list(_products(search, level))
    equations = [Table.of(e) for e in search.equations]
    columns: list[Column] = []
    used: set[tuple[Factors | int, Powers]] = set()
    for _ in range(rounds):
        fresh = [wanted]
        for n, table in enumerate(equations):
            for monomial in multipliers(wanted, table.rows, None):
                if (n, monomial) not in used:
                    used.add((n, monomial))
                    columns += table.both_signs(n, monomial)
                    fresh.append(table.rows + np.array(monomial))
        for factors, table in products:
            for monomial in multipliers(wanted, table.rows, search.even):
                if (factors, monomial) in used:
                    continue
                used.add((factors, monomial))
                columns.append(search.column(factors, monomial))
                fresh.append(table.rows + np.array(monomial))
            if len(columns) > most:
                break
        wanted = distinct(np.concatenate(fresh))
        if len(columns) > most:
            break
    return [*columns, *search.monomials(wanted)]


def _beginning(search: ColumnSearch, target: Terms | None) -> Sequence[Powers]:
    """The monomials that are wanted first: the target's; without a goal, those of all equations."""
    if search.goal is None:
        constant = (0,) * len(search.line.atoms)
        return list(dict.fromkeys((constant, *(m for e in search.equations for m in e))))
    return list(search.bounds[search.goal] if target is None else target)


def _products(search: ColumnSearch, level: int) -> Iterator[tuple[Factors, Table]]:
    """The products that are tried, of those that are not too long: with squares of short bounds and of polynomials."""
    bounds = range(len(search.bounds))
    plain: list[Factors] = [f for r in range(1, level + 1) for f in combinations_with_replacement(bounds, r)]
    if level > 1 and search.goal is not None:
        short = [n for n in bounds if n != search.goal and search.strict[n] and len(search.bounds[n]) == 2]
        plain += [(m, n, n) for n in short for m in bounds if m not in (n, search.goal)]
    plain = [factors for factors in plain if search.table(factors) is not None]
    squares: list[Factors] = [(-1 - n,) for n in range(len(search.line.squares))]
    for factors in (*plain, *squares, *((*f, *s) for f in plain for s in squares)):
        product = search.table(factors)
        if product is not None:
            yield factors, product[0]
