"""A worst case as a cone programme, in floats: a solver proposes, the kernel decides.

The bound `factor * rhs - lhs` has to be a sum of multipliers times constraints and of a form that is never negative.
So the smallest factor is a semidefinite programme in the factor and the multipliers; its dual solution is the Gram
matrix of the worst run. Matrices are given on a few blocks, on which a form of this symmetry is never negative exactly
if its restrictions are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

from ..search.tree_arrays import Array
from .solvers import OWN, Conic, solved, triangle

__all__ = ["Cone", "Form", "Solved", "deepest", "eased", "on_face", "smallest"]

LITTLE = 1e-3
_linalg: Any = linalg


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A linear form of Gram matrix, unknowns and 1: one symmetric matrix per block."""

    gram: tuple[Array, ...]
    linear: Array
    constant: float


@dataclass(frozen=True, slots=True, eq=False)
class Cone:
    """max lhs subject to rows >= 0, rhs <= 1; and who solves it."""

    lhs: Form
    rhs: Form
    rows: tuple[Form, ...]
    solver: str = OWN

    @property
    def constant(self) -> bool:
        """Whether a number stands in any form: then the scale of the run matters."""
        return any(form.constant for form in (self.lhs, self.rhs, *self.rows))


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The factor with its multipliers, and the run: Gram matrix by blocks, unknowns, and the scale of 1."""

    factor: float
    multipliers: Array
    gram: tuple[Array, ...]
    unknowns: Array
    scale: float
    depth: float = 0.0  # of a point inside: how far


def smallest(cone: Cone, shave: float = 0.0) -> Solved | None:
    """The smallest factor; None where there is none. Of the run, every constraint is met with `shave` to spare."""
    columns = (cone.rhs, *(_minus(row) for row in cone.rows))
    # What a multiplier costs is the room that the dual, which is the run, leaves in its constraint.
    cost = np.array([1.0, *(-shave for _ in cone.rows)])
    solution = _solve(cone, columns, _minus(cone.lhs), cost, np.zeros((len(cost), len(cost))))
    if solution is None:
        return None
    x, gram, unknowns, scale = solution
    return Solved(float(x[0]), x[1:], gram, unknowns, scale)


def eased(cone: Cone) -> Cone:
    """The cone with a right side that is a little larger: then there is a worst case."""
    little = Form(tuple(LITTLE * np.eye(len(block)) for block in cone.rhs.gram), np.zeros(len(cone.rhs.linear)), 0.0)
    return replace(cone, rhs=_plus(cone.rhs, little))


def deepest(cone: Cone, factor: float, weights: Array) -> Solved | None:
    """At a fixed factor, the multipliers that stay furthest from every boundary.

    `weights`: of a depth of 1, how large each multiplier is at least.
    """
    inside = Form(_minus_one(cone), np.zeros(len(cone.rhs.linear)), -float(cone.constant))
    columns = (*(_minus(row) for row in cone.rows), inside)
    fixed = _plus(_times(cone.rhs, factor), _minus(cone.lhs))
    count = len(columns)
    least = np.zeros((count, count))
    least[:, -1] = [*weights, 0.0]
    cost = np.zeros(count)
    cost[-1] = -1.0
    # A limit, because the depth has none where some sum of rows is negative definite.
    solution = _solve(cone, columns, fixed, cost, least, most=1.0)
    if solution is None:
        return None
    x, gram, unknowns, scale = solution
    return Solved(factor, x[:-1], gram, unknowns, scale, float(x[-1]))


def on_face(cone: Cone, equations: tuple[Array, Array], best: Solved) -> Solved | None:
    """The factor and multipliers that meet the equations and stay furthest from every other boundary."""
    matrix, right = equations
    zeros = (np.abs(matrix).sum(axis=1) == np.abs(matrix).max(axis=1, initial=0.0)) & (right == 0)
    fixed = np.unique(np.argmax(np.abs(matrix[zeros]), axis=1)) - 1  # multipliers that are 0
    weight = max(float(np.abs(best.multipliers).mean()), 1e-6)
    weights = np.where(np.isin(np.arange(len(cone.rows)), fixed), 0.0, weight)
    inside = Form(_minus_one(cone), np.zeros(len(cone.rhs.linear)), 0.0)
    columns = (cone.rhs, *(_minus(row) for row in cone.rows), inside)
    least = np.zeros((len(columns), len(columns)))
    least[1:-1, -1] = weights
    cost = np.zeros(len(columns))
    cost[-1] = -1.0
    exact = np.hstack([matrix, np.zeros((len(matrix), 1))]), right
    solution = _solve(cone, columns, _minus(cone.lhs), cost, least, most=1.0, exact=exact)
    if solution is None:
        return None
    x, gram, unknowns, scale = solution
    return Solved(float(x[0]), x[1:-1], gram, unknowns, scale, float(x[-1]))


def _minus_one(cone: Cone) -> tuple[Array, ...]:
    return tuple(-np.eye(len(block)) for block in cone.rhs.gram)


def _times(form: Form, by: float) -> Form:
    return Form(tuple(by * block for block in form.gram), by * form.linear, by * form.constant)


def _minus(form: Form) -> Form:
    return _times(form, -1.0)


def _plus(a: Form, b: Form) -> Form:
    gram = tuple(x + y for x, y in zip(a.gram, b.gram, strict=True))
    return Form(gram, a.linear + b.linear, a.constant + b.constant)


def _solve(
    cone: Cone,
    columns: Sequence[Form],
    fixed: Form,
    cost: Array,
    least: Array,
    most: float | None = None,
    exact: tuple[Array, Array] | None = None,
) -> tuple[Array, tuple[Array, ...], Array, float] | None:
    """min cost x with fixed + sum x_j column_j never negative, x >= least x, its last at most `most`, and equations."""
    everything = np.array([column.linear for column in columns]).T.reshape(len(fixed.linear), len(columns))
    own = _independent(everything)
    free, linear = len(own), everything[own]
    constants = np.array([[column.constant for column in columns]])
    count = len(columns)
    bounds = [least - np.eye(count)] if most is None else [least - np.eye(count), np.eye(count)[-1:]]
    limits = [np.zeros(count)] if most is None else [np.zeros(count), np.array([most])]
    few = int(cone.constant)
    parts = [-linear, *bounds, *[-constants] * few]
    right = [fixed.linear[own], *limits, *[np.array([fixed.constant])] * few]
    positive = sum(len(part) for part in parts[1:])
    cones = [("zero", free), ("nonnegative", positive)]
    for number, block in enumerate(fixed.gram):
        parts.append(-_packed(np.array([column.gram[number] for column in columns])).T)
        right.append(_packed(block))
        cones.append(("semidefinite", len(block)))
    # They come last, so that the places of all other duals, which are read below, do not depend on them.
    if exact is not None:
        parts.append(exact[0])
        right.append(exact[1])
        cones.append(("zero", len(exact[1])))
    answer = solved(Conic(cost, np.vstack(parts), np.concatenate(right), tuple(cones)), cone.solver)
    if answer is None:
        return None
    x, z = answer
    unknowns, at, gram = np.zeros(len(fixed.linear)), free + positive, list[Array]()
    unknowns[own] = z[:free]
    # The row of the constants is the last one before the matrices, and its dual is the weight of 1.
    scale = float(z[at - 1]) if cone.constant else 1.0
    for block in fixed.gram:
        length = len(block) * (len(block) + 1) // 2
        gram.append(_unpacked(z[at : at + length], len(block)))
        at += length
    return x, tuple(gram), unknowns, scale


def _independent(rows: Array) -> Array:
    """Enough of the rows to give all others: where values count by differences alone, rows depend on each other."""
    if not rows.size:
        return np.arange(0)
    _, triangle, order = _linalg.qr(rows.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return np.sort(order[: len(sizes)][sizes > 1e-9 * max(float(sizes[0]), 1e-300)])


def _packed(block: Array) -> Array:
    """The upper triangle by columns, what is off the diagonal times the root of 2; of one matrix or of several."""
    rows, columns = triangle(block.shape[-1])
    # With the root of 2, the inner product of two packed matrices is that of the matrices.
    return cast(Array, block[..., rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2)))


def _unpacked(packed: Array, size: int) -> Array:
    rows, columns = triangle(size)
    block = np.zeros((size, size))
    block[rows, columns] = packed / np.where(rows == columns, 1.0, np.sqrt(2))
    return block + np.triu(block, 1).T
