"""Squares gathered anew: LDL^T on what the clients' squares say of the clients' deviations from their mean.

M<a, b> = <mean a, mean b> + M<a - mean a, b - mean b>: every square under the mean over the clients is one of the mean
and one of the deviation. The deviations are eliminated one by one, that of the asked quantity last; its pivot is how
much of the quantity the same squares leave over. The signs of the pivots and the identity are checked by others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Integer, cancel

from fedaudit.bounds.language.rule_expressions import Vector, mean
from fedaudit.bounds.proofs.atom import Atom
from fedaudit.bounds.proofs.atoms import Square

from ..prover.atoms_in_reach import Parts, deviation

By = tuple[tuple[Expr, Atom], ...]


@dataclass(frozen=True, slots=True)
class Regrouped:
    """Atoms with multipliers, and `spare`: how often the mean square of the deviation is left over beside them."""

    by: By
    spare: Any


def regrouped(by: By, last: Vector, shared: Collection[Vector]) -> Regrouped | None:
    """`by` with its squares under the mean gathered so that most of M|last - mean last|^2 is left over.

    `shared` are vectors of the server.
    None where no square under the mean reads the vector, or where an elimination would divide by zero.
    """
    rows = [(m, deviation(atom.x, shared), atom) for m, atom in by if isinstance(atom, Square) and atom.over == "mean"]
    names = list(dict.fromkeys(name for _, parts, _ in rows for name in parts))
    if last not in names:
        return None
    names = [name for name in names if name != last] + [last]
    pivots = eliminated(_gram(rows, names))
    if pivots is None:
        return None
    kept = [(m, atom) for m, atom in by if not (isinstance(atom, Square) and atom.over == "mean")]
    kept += [(m, Square(mean(atom.x))) for m, _, atom in rows]
    for pivot, row in pivots[:-1]:
        if pivot != 0:
            x = _combined([(c, name) for c, name in zip(row, names, strict=True) if c != 0])
            kept.append((pivot, Square(x - mean(x), "mean")))
    return Regrouped(tuple(kept), pivots[-1][0])


def _gram(rows: Sequence[tuple[Expr, Parts, Atom]], names: Sequence[Vector]) -> list[list[Expr]]:
    def entry(a: Vector, b: Vector) -> Expr:
        return cancel(Add(*(m * parts.get(a, Integer(0)) * parts.get(b, Integer(0)) for m, parts, _ in rows)))

    return [[entry(a, b) for b in names] for a in names]


def eliminated(gram: list[list[Expr]]) -> list[tuple[Expr, list[Expr]]] | None:
    """Pivots and rows of LDL^T, exactly; None if a pivot is zero and its row is not."""
    size, found = len(gram), list[tuple[Expr, list[Expr]]]()
    rest = [list(row) for row in gram]
    for n in range(size):
        pivot = rest[n][n]
        if pivot == 0:
            if any(rest[n][m] != 0 for m in range(n + 1, size)):
                return None
            found.append((pivot, [Integer(0)] * size))
            continue
        row = [Integer(0)] * n + [cancel(rest[n][m] / pivot) for m in range(n, size)]
        found.append((pivot, row))
        for a in range(n + 1, size):
            for b in range(n + 1, size):
                rest[a][b] = cancel(rest[a][b] - row[a] * row[b] * pivot)
    return found


def _combined(parts: Sequence[tuple[Expr, Vector]]) -> Vector:
    (first, name), *more = parts
    total = name if first == 1 else first * name
    for c, other in more:
        total = total + c * other
    return total
