"""Tight cases: where the bound is attained, the form that is left over is 0 on the worst run; rounding breaks that.

The directions of the worst run are guessed in rationals from its Gram matrix. That the form vanishes on them, and that
constraints with room have no multiplier, are linear equations; inside their solutions there may be room again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from ..kernel.gram.form import Form
from ..kernel.gram.programme import Programme
from ..search.tree_arrays import Array
from .blocks import Blocks, places
from .cone import Cone, Solved, on_face
from .cone import Form as Floats
from .upper import Equations, Proved, balance_rows, rational, sums

__all__ = ["IDLE", "Face", "attained", "distinct", "face", "idle"]

RANK = 1e-6  # of the largest eigenvalue: what is no direction of the run
ROOM = 1e-6  # a constraint with more is not active
DENOMINATORS = (60, 1000, 10**5)
CLOSE = 1e-5
MOST = 6_000  # numbers of the equations of a face: seconds
IDLE = (1e-7, 1e-5, 1e-3)
CLEAR, FINE, REDUNDANT = 1e-5, 1e-9, 1e-13  # of the largest: a number for sure, one at all, and mere rounding


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """Directions of the worst run in rationals (one vector over the leaves each), and where constraints are active."""

    directions: tuple[tuple[Fraction, ...], ...]
    active: Array  # of every row


def face(shape: Blocks, best: Solved) -> Face | None:
    """The face of the worst run, where its directions look rational."""
    gram = shape.gram(best)
    values, vectors = np.linalg.eigh(gram)
    basis = vectors[:, values > RANK * values[-1]]
    directions = _echelon(basis)
    if directions is None:
        return None
    return Face(directions, _room(shape, best) < ROOM * max(best.factor, 1e-3))


def _room(shape: Blocks, best: Solved) -> Array:
    """What is left of every row at the run, of one of the constraints that it stands for."""
    rows = [
        sum(float((f * g).sum()) for f, g in zip(row.gram, best.gram, strict=True))
        + float(row.linear @ best.unknowns)
        + row.constant * best.scale * shape.cone.constant
        for row in shape.cone.rows
    ]
    return np.array(rows) / np.bincount(shape.orbit)


def _echelon(basis: Array, close: float = CLOSE) -> tuple[tuple[Fraction, ...], ...] | None:
    """A rational basis of the same space, each vector with a 1 where the others have 0."""
    rows = basis.T.copy()
    if not len(rows):
        return ()
    used: list[int] = []
    for n in range(len(rows)):
        sizes = np.abs(rows[n:]).max(axis=0)
        sizes[used] = 0.0
        pivot = int(np.argmax(sizes))
        best = n + int(np.argmax(np.abs(rows[n:, pivot])))
        rows[[n, best]] = rows[[best, n]]
        rows[n] /= rows[n, pivot]
        for m in range(len(rows)):
            if m != n:
                rows[m] -= rows[m, pivot] * rows[n]
        used.append(pivot)
    for most in DENOMINATORS:
        exact = tuple(tuple(Fraction(float(x)).limit_denominator(most) for x in row) for row in rows)
        if np.abs(np.array(exact, dtype=float) - rows).max() <= min(close, 0.01 / most):
            return exact
    return None


def idle(shape: Blocks, inside: Solved, least: float) -> Face | None:
    """The face of a proof that cannot stay away from every boundary: runs that cost nothing leave it no room.

    `least`: of the largest eigenvalue or multiplier, what has to be 0.
    """
    cone = shape.cone
    multipliers = inside.multipliers
    directions: list[Array] = []
    for n, (basis, of_rhs, of_lhs) in enumerate(zip(shape.bases, cone.rhs.gram, cone.lhs.gram, strict=True)):
        left = (
            inside.factor * of_rhs
            - of_lhs
            - sum(x * row.gram[n] for x, row in zip(multipliers, cone.rows, strict=True))
        )
        values, vectors = np.linalg.eigh(left)
        directions.append(basis @ vectors[:, values < least * max(float(values[-1]), 1e-300)])
    # A form that is `least` along a direction fixes that direction only up to the root of `least`.
    rational_directions = _echelon(np.linalg.qr(np.hstack(directions))[0], max(CLOSE, least**0.5))
    return (
        None
        if rational_directions is None
        else Face(rational_directions, multipliers > least * float(multipliers.max()))
    )


def distinct(faces: Sequence[Face]) -> list[Face]:
    """The faces without repetitions."""
    return list({(one.directions, one.active.tobytes()): one for one in faces}.values())


def attained(
    programme: Programme,
    shape: Blocks,
    best: Solved,
    on: Face,
    accepted: Callable[[Proved], bool],
    factor: fmpq | None = None,
) -> Proved | None:
    """A proof of the factor that the worst run attains, exactly; or of another factor on this face."""
    if len(on.directions) * len(programme.leaves) * len(on.active) > MOST:
        return None
    rows, right = _vanishing(programme, shape, on, factor is None)
    if factor is not None:
        rows.append([fmpq(int(n == 0)) for n in range(len(on.active) + 1)])
        right.append(factor)
    floats, used = _as_floats(rows, right), [0, *(n + 1 for n, active in enumerate(on.active) if active)]
    near = Near.of(floats[0][:, used], floats[1])
    if near is not None and near.contradict:
        return None
    inside = on_face(_restricted(shape, on), floats, best)
    proposals = [] if inside is None else [(inside, inside.depth)]
    equations, refused = None, set[tuple[fmpq, ...]]()
    for solved, depth in (*proposals, (best, 0.0)):
        x = np.array([solved.factor, *solved.multipliers])[used]
        for guess in _guesses(x, depth):
            if near is not None and near.negative(np.array([float(one) for one in guess])):
                continue
            # Solved here and not before the loop: floats turn most guesses down, and exact elimination takes long.
            equations = equations or Equations.of([[row[n] for n in used] for row in rows], right, len(used))
            if equations is None:
                return None
            exact = tuple(equations.nearest(guess))
            if min(exact) < 0 or exact in refused:
                continue
            active = dict(zip(used, exact, strict=True))
            proof = Proved(exact[0], shape.multipliers([active.get(n + 1, fmpq(0)) for n in range(len(on.active))]))
            if accepted(proof):
                return proof
            refused.add(exact)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Equations in floats: which guesses are not worth exact arithmetic."""

    directions: Array  # that the equations fix, an orthonormal row each
    at: Array  # along each of them
    contradict: bool

    @classmethod
    def of(cls, matrix: Array, right: Array) -> Near | None:
        """None where floats do not tell which equations are redundant."""
        sizes = np.abs(matrix).max(axis=1, initial=0.0)
        if np.abs(right[sizes == 0]).max(initial=0.0) > 0:
            return None
        joined = np.unique((np.column_stack([matrix, right]) / np.where(sizes > 0, sizes, 1.0)[:, None]), axis=0)
        matrix, right = joined[:, :-1], joined[:, -1]
        across, values, directions = np.linalg.svd(matrix, full_matrices=False)
        largest = values.max(initial=0.0)
        kept = values > REDUNDANT * largest
        if (values[kept] < FINE * largest).any():
            return None
        at = (across.T @ right)[kept] / values[kept]
        left = np.abs(matrix @ (directions[kept].T @ at) - right)
        return cls(directions[kept], at, bool((left > CLEAR * max(1.0, np.abs(at).max(initial=0.0))).any()))

    def negative(self, x: Array) -> bool:
        """Whether the solution next to x has a number that is clearly below 0."""
        moved = x + self.directions.T @ (self.at - self.directions @ x)
        return bool(moved.min() < -CLEAR * max(np.abs(moved).max(), np.abs(x).max()))


def _guesses(x: Array, depth: float) -> list[list[fmpq]]:
    short = [[Fraction(float(one)).limit_denominator(most) for one in x] for most in DENOMINATORS]
    guesses = [[fmpq(one.numerator, one.denominator) for one in guess] for guess in short]
    return [*([rational(x, depth)] if depth > 0 else []), *guesses]


def _vanishing(programme: Programme, shape: Blocks, on: Face, exact: bool) -> tuple[list[list[fmpq]], list[fmpq]]:
    """Equations in the factor and the multipliers of rows: factor * rhs - sum of multiplier * row - lhs vanishes."""
    grouped, zero = sums(programme, shape), fmpq(0)
    rows, right = list[list[fmpq]](), list[fmpq]()
    coefficients, sides = balance_rows(programme, shape)
    for of_rows, (of_rhs, of_lhs) in zip(coefficients, sides, strict=True):
        rows.append([of_rhs, *(-x for x in of_rows)])
        right.append(of_lhs)
    place = places(programme.leaves)
    for direction in on.directions:
        v = [fmpq(x.numerator, x.denominator) for x in direction]
        images = [[sum(column, zero) for column in zip(*(_image(f, v, place) for f in own), strict=True)]
                  for own in grouped]  # fmt: skip
        of_rhs, of_lhs = _image(programme.rhs, v, place), _image(programme.lhs, v, place)
        for leaf in place.values():
            rows.append([of_rhs[leaf], *(-image[leaf] for image in images)])
            right.append(of_lhs[leaf])
    for n, active in enumerate(on.active):
        if not active:
            rows.append([fmpq(int(m == n + 1)) for m in range(len(on.active) + 1)])
            right.append(zero)
    if shape.cone.constant and exact:
        rows.append([programme.rhs.constant, *(-sum((f.constant for f in own), zero) for own in grouped)])
        right.append(programme.lhs.constant)
    return rows, right


def _image(form: Form, v: list[fmpq], place: Mapping[str, int]) -> list[fmpq]:
    """The form's matrix times v."""
    image = [fmpq(0)] * len(place)
    for (one, other), x in form.gram.items():
        a, b = place[one], place[other]
        image[a] += x * v[b] / 2
        image[b] += x * v[a] / 2
    return image


def _as_floats(rows: list[list[fmpq]], right: list[fmpq]) -> tuple[Array, Array]:
    return np.array([[float(x) for x in row] for row in rows]), np.array([float(x) for x in right])


def _restricted(shape: Blocks, on: Face) -> Cone:
    """The cone on what is left of every block beside the directions; rows that are not active count nothing."""
    directions = np.array(on.directions, dtype=float).reshape(len(on.directions), len(shape.bases[0]))
    left: list[Array] = []
    for basis in shape.bases:
        inside = np.linalg.pinv(basis) @ directions.T
        _, values, vectors = np.linalg.svd(inside.T)
        left.append(vectors[int((values > 1e-9).sum()) :].T)

    def cut(form: Floats) -> Floats:
        return replace(form, gram=tuple(b.T @ block @ b for b, block in zip(left, form.gram, strict=True)))

    cone = shape.cone
    return Cone(cut(cone.lhs), cut(cone.rhs), tuple(cut(row) for row in cone.rows), cone.solver)
