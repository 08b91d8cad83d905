"""One linear programme for several premises of a proof that share unknown coefficients.

Every equation says: a fixed formula plus shared unknowns times formulas is a sum of atoms times multipliers that are
not negative. The unknowns that the equations share are the coefficients of a potential, of any sign. Floats propose
which columns take part, rationals decide; that nothing is found says nothing.
"""

# sympy, scipy and python-flint are annotated only in part.

# scipy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from flint import fmpq
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sympy import Add, Expr, Integer, Le, Mul, Rational

from fedaudit.bounds.proofs.atom import Atom
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.method_vectors import Reader
from fedaudit.bounds.proofs.premise_identity import Shown, reader_of
from fedaudit.bounds.proofs.vectors import Coefficient, Key, added
from fedaudit.errors import UserError

from ..proposals.exact_solution import exact_solution

MOST = 12_000  # columns
SMALL = 1e-9
ONE = Integer(1)

Bundle = tuple[tuple[Expr, Atom], ...]  # atoms that are used together, each with its factor
Terms = Mapping[Key, Coefficient]
Row = tuple[int, Key, tuple[int, ...]]  # equation, product of vectors, powers of the parameters
Entries = dict[int, fmpq]  # by the number of its row


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """`fixed` + sum of unknowns times `shared` = sum of multipliers times bundles, for all vectors and parameters.

    `multipliers` are, for each bundle, the products of which its multiplier may be a combination.
    """

    frame: Frame
    at: tuple[Any, Any]
    fixed: Expr
    shared: Mapping[int, Expr]
    bundles: tuple[Bundle, ...]
    multipliers: tuple[tuple[Any, ...], ...]
    times: Expr = ONE  # a positive number that the left side is multiplied by while multipliers are looked for


@dataclass(frozen=True, slots=True)
class Solution:
    """The shared unknowns, and for each equation its multipliers and atoms."""

    shared: Mapping[int, Expr]
    by: tuple[Bundle, ...]
    columns: int = 0


@dataclass(slots=True)
class _Programme:
    """Columns of the programme while they are put together."""

    entries: list[Entries] = field(default_factory=list[Entries])
    labels: list[tuple[int, int, Expr]] = field(
        default_factory=list[tuple[int, int, Expr]]
    )  # equation, bundle, product
    free: dict[int, Entries] = field(default_factory=dict[int, Entries])
    right: Entries = field(default_factory=Entries)
    rows: dict[Row, int] = field(default_factory=dict[Row, int])

    def row(self, row: Row) -> int:
        """Its number: rows are long to compare, and there are a million entries."""
        return self.rows.setdefault(row, len(self.rows))


def solve(equations: Sequence[Equation], signs: Mapping[int, bool] | None = None) -> Solution | None:
    """Values of all unknowns, exactly, or None; `signs`: shared unknowns that must not be negative."""
    columns = _Programme()
    for n, equation in enumerate(equations):
        if not _expand(n, equation, columns) or len(columns.entries) > MOST:
            return None
    signed = signs or {}
    frees = list(columns.free)
    left = [*columns.entries, *({r: -q for r, q in columns.free[u].items()} for u in frees)]
    lower = [0.0] * len(columns.entries) + [0.0 if signed.get(u) else -np.inf for u in frees]
    weights = [1.0 + 0.1 * len(getattr(b, "free_symbols", ())) for _, _, b in columns.labels] + [0.0] * len(frees)
    chosen = vertex(left, columns.right, len(columns.rows), lower, weights)
    if chosen is None:
        return None
    values = exact_solution([left[m] for m in chosen], columns.right)
    if values is None:
        return None
    count = len(columns.entries)
    shared: dict[int, Expr] = dict.fromkeys(frees, Integer(0))
    totals: list[dict[int, Expr]] = [{} for _ in equations]
    for m, value in zip(chosen, values, strict=True):
        x = Rational(int(value.p), int(value.q))
        if m >= count:
            u = frees[m - count]
            if signed.get(u) and x < 0:
                return None
            shared[u] = x
        elif x < 0:
            return None
        else:
            e, bundle, product = columns.labels[m]
            totals[e][bundle] = Add(totals[e].get(bundle, Integer(0)), x * product)
    by = tuple(
        tuple(
            (m * factor / equation.times, atom)
            for b, m in total.items()
            if m != 0
            for factor, atom in equation.bundles[b]
        )
        for equation, total in zip(equations, totals, strict=True)
    )
    return Solution(shared, by, len(left))


def _expand(n: int, equation: Equation, columns: _Programme) -> bool:
    """Add the columns of one equation; whether it could be read."""
    # A reader knows the letters of what it is shown: every product is shown to it once, beside some atom.
    products = tuple(dict.fromkeys(p for ps in equation.multipliers for p in ps))
    everything = (
        *((p, equation.bundles[0][0][1]) for p in (*products, equation.times)),
        *(pair for bundle in equation.bundles for pair in bundle),
    )
    about = Le(0, Add(equation.fixed, *equation.shared.values(), evaluate=False), evaluate=False)
    try:
        reader = reader_of(Shown(about, equation.frame, everything, equation.at))
        times = reader.coefficient(equation.times)
        target = _scaled(reader.expand(reader.formula(equation.fixed)).terms, times)
        shared = {u: _scaled(reader.expand(reader.formula(e)).terms, times) for u, e in equation.shared.items()}
        atoms = [_read(bundle, reader) for bundle in equation.bundles]
        factors = {p: reader.coefficient(p) for p in products}
    except (UserError, ValueError):
        return False
    products_of_atoms = [
        (b, p, {key: factors[p] * c for key, c in atoms[b].items()})
        for b, ps in enumerate(equation.multipliers)
        for p in (ps if atoms[b] else ())
    ]
    common = common_denominator(reader, (target, *shared.values(), *(terms for _, _, terms in products_of_atoms)))

    def rows(terms: Terms) -> Entries:
        return {columns.row((n, *row)): q for row, q in rows_of(terms, common).items()}

    columns.right.update(rows(target))
    for u, terms in shared.items():
        columns.free.setdefault(u, {}).update(rows(terms))
    for b, p, terms in products_of_atoms:
        columns.entries.append(rows(terms))
        columns.labels.append((n, b, p))
    return True


def _read(bundle: Bundle, reader: Reader) -> dict[Key, Coefficient]:
    """The normal form of atoms that are used together; empty if one of them cannot be read beside this claim."""
    try:
        return added(
            _scaled(reader.expand(atom.read(reader)).terms, reader.coefficient(factor)) for factor, atom in bundle
        )
    except (UserError, ValueError):
        return {}


def _scaled(terms: Terms, factor: Coefficient) -> dict[Key, Coefficient]:
    return {key: factor * c for key, c in terms.items()}


def products_of(generators: Sequence[Expr], degree: int) -> tuple[Expr, ...]:
    """All products of at most so many generators, 1 among them."""
    powers = (Mul(*part) for d in range(degree + 1) for part in combinations_with_replacement(generators, d))
    return tuple(dict.fromkeys(powers))


def common_denominator(reader: Reader, parts: Iterable[Terms]) -> Coefficient:
    """The least polynomial that all denominators divide."""
    common = reader.ring.number(1)
    for c in {str(c.below): c for terms in parts for c in terms.values()}.values():
        rest = (common * Coefficient(common.below, c.below)).below  # common is a polynomial: below it is 1
        common = common * Coefficient(rest, common.below)
    return common


def rows_of(terms: Terms, common: Coefficient) -> dict[tuple[Key, tuple[int, ...]], fmpq]:
    """The numbers before products of vectors and powers of the parameters, all times the denominator."""
    return {(key, e): q for key, c in terms.items() for e, q in (common * c).top.to_dict().items()}


def vertex(
    left: Sequence[Entries], right: Entries, count: int, lower: Sequence[float], weights: Sequence[float]
) -> list[int] | None:
    """The columns that take part in a cheapest solution, in floats; `count` is the number of rows."""
    entries = [(int(q.p) / int(q.q), row, m) for m, column in enumerate(left) for row, q in column.items()]
    if not entries:
        return None
    data, where, which = zip(*entries, strict=True)
    matrix = csr_matrix((data, (where, which)), (count, len(left)))
    values = np.zeros(count)
    for row, q in right.items():
        values[row] = int(q.p) / int(q.q)
    bounds = [(low, None) for low in lower]
    # The simplex method ends in a vertex, where few columns take part: rationals can be solved for in these alone.
    solved: Any = linprog(np.array(weights), A_eq=matrix, b_eq=values, bounds=bounds, method="highs-ds")
    return [m for m, x in enumerate(solved.x) if abs(x) > SMALL] if solved.status == 0 else None
