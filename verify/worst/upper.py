"""The upper end: multipliers that prove a bound for all functions and dimensions, exact and checked by the kernel.

Floats find multipliers that stay away from every boundary. They are rounded and moved, in rationals, onto the linear
equations that a proof has to meet; what the kernel then accepts is a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import fmpq, fmpq_mat

from ..kernel.gram.form import Form
from ..kernel.gram.programme import Programme
from ..search.tree_arrays import Array
from .blocks import Blocks
from .cone import Solved, deepest

__all__ = ["LITTLE", "Equations", "Proved", "proofs"]

SPARE = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # of the smallest factor: how much more is tried to be proved
BEYOND = (10.0, 100.0, 1000.0)  # and where that factor is 0 or nearly so
LITTLE = 1e-3  # of a smallest factor that is 0 or nearly so: the spare is a part of this
DEPTH = 1e-10
FINE = 10**4  # parts of the depth that multipliers are rounded to
LIFTED: Final = "dixon"  # how equations are solved: modulo powers of a prime, which suits long rationals


@dataclass(frozen=True, slots=True)
class Proved:
    """A factor and the multipliers that prove it."""

    factor: fmpq
    multipliers: Mapping[str, fmpq]


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """Linear equations in rationals, solved for one unknown each: x[own] = right - matrix x[free]."""

    own: tuple[int, ...]
    free: tuple[int, ...]  # all other unknowns
    matrix: fmpq_mat
    right: fmpq_mat
    normal: fmpq_mat  # 1 + the products of the columns of the matrix, or of its rows, whichever are fewer

    @classmethod
    def of(cls, rows: Sequence[Sequence[fmpq]], right: Sequence[fmpq], wide: int) -> Equations | None:
        """In so many unknowns; redundant ones are left out. None where they contradict each other."""
        joined = fmpq_mat(len(rows), wide + 1, [x for row, b in zip(rows, right, strict=True) for x in (*row, b)])
        reduced, rank = joined.rref()
        kept = reduced.tolist()[:rank]
        own = tuple(next(n for n, x in enumerate(row) if x) for row in kept)
        if wide in own:
            return None
        free = tuple(n for n in range(wide) if n not in own)
        matrix = fmpq_mat(rank, len(free), [row[n] for row in kept for n in free])
        across = matrix.transpose()
        normal = _one(len(free)) + across * matrix if len(free) < rank else _one(rank) + matrix * across
        return cls(own, free, matrix, fmpq_mat(rank, 1, [row[wide] for row in kept]), normal)

    def nearest(self, x: Sequence[fmpq]) -> list[fmpq]:
        """The solution next to x: by what is free, or by how far it is, whichever has fewer numbers."""
        own, free = (fmpq_mat(len(at), 1, [x[n] for n in at]) for at in (self.own, self.free))
        across = self.matrix.transpose()
        if len(self.free) < len(self.own):
            free = self.normal.solve(free + across * (self.right - own), LIFTED)
        else:
            missing = self.right - own - self.matrix * free
            free += across * self.normal.solve(missing, LIFTED)
        own = self.right - self.matrix * free
        placed = dict(zip((*self.own, *self.free), (*own.entries(), *free.entries()), strict=True))
        return [placed[n] for n in range(len(x))]


def _one(size: int) -> fmpq_mat:
    return fmpq_mat(size, size, [int(r == s) for r in range(size) for s in range(size)])


def proofs(
    programme: Programme,
    shape: Blocks,
    best: Solved,
    accepted: Callable[[Proved], bool],
    beside: Callable[[fmpq, Solved], Proved | None],
) -> Iterator[Proved]:
    """The first factor, from the smallest on, that the kernel accepts a proof of.

    `beside`: what to try where multipliers cannot stay away from every boundary.
    """
    balanced = _balance(programme, shape)

    def rounded(factor: fmpq, inside: Solved) -> Proved | None:
        equations = balanced(factor)
        if equations is None:
            return None
        # Coarse roundings first: their numbers are shorter, and the kernel checks them sooner.
        for finer in (1, FINE):
            exact = equations.nearest(rational(inside.multipliers, inside.depth / finer))
            proof = Proved(factor, shape.multipliers(exact))
            if min(exact) >= 0 and accepted(proof):
                return proof
        return None

    for spare in (*SPARE, *(BEYOND if best.factor < LITTLE else ())):
        factor = _above(best.factor + spare * max(best.factor, LITTLE), spare)
        inside = deepest(shape.cone, float(factor), _weights(best))
        if inside is None:
            continue
        proof = rounded(factor, inside) if inside.depth > DEPTH else None
        proof = proof or beside(factor, inside)
        if proof is not None:
            yield proof
            return


def _weights(best: Solved) -> Array:
    """Multipliers are kept away from 0 by as much as suits their size."""
    return np.full(len(best.multipliers), max(float(np.abs(best.multipliers).mean()), 1e-6))


def _above(factor: float, spare: float) -> fmpq:
    """A short rational that is at least the factor, and above it by a small part of what is spare."""
    parts = 10 ** max(3, 3 - int(np.floor(np.log10(max(factor * spare, 1e-15)))))
    return fmpq(int(np.ceil(max(factor, 0.0) * parts)), parts)


def rational(x: Array, depth: float) -> list[fmpq]:
    """The numbers as rationals, rounded to a small part of the depth."""
    parts = 10 ** max(3, int(np.ceil(-np.log10(depth))) + 4)
    return [fmpq(round(Fraction(float(one)) * parts), parts) for one in x]


def sums(programme: Programme, shape: Blocks) -> list[list[Form]]:
    """The constraints that every row stands for."""
    forms: list[list[Form]] = [[] for _ in shape.cone.rows]
    for name, row in zip(shape.names, shape.orbit, strict=True):
        forms[int(row)].append(programme.constraints[name])
    return forms


def balance_rows(programme: Programme, shape: Blocks) -> tuple[list[list[fmpq]], list[tuple[fmpq, fmpq]]]:
    """How much of every unknown each row has, and how much the right and the left side have."""
    free = [programme.unknowns[int(n)] for n in np.unique(shape.unknown, return_index=True)[1]]
    grouped, zero = sums(programme, shape), fmpq(0)
    rows = [[sum((form.linear.get(u, zero) for form in row), zero) for row in grouped] for u in free]
    return rows, [(programme.rhs.linear.get(u, zero), programme.lhs.linear.get(u, zero)) for u in free]


def _balance(programme: Programme, shape: Blocks) -> Callable[[fmpq], Equations | None]:
    """The equations that multipliers meet at a factor: nothing is left of any unknown."""
    (rows, sides), wide = balance_rows(programme, shape), len(shape.cone.rows)
    return lambda factor: Equations.of(rows, [factor * of_rhs - of_lhs for of_rhs, of_lhs in sides], wide)
