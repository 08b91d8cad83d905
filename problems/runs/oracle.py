"""Answers of clients that solve their local problems: exactly, or as far off as an adversarial oracle may be."""

from typing import Any

from ..arrays.array_checks import Array, Namespace, matvec
from .setup import Place, Setup


def proximal_point(xp: Namespace, A: Array, b: Array, x: Array, step: Array) -> Array:
    """The minimisers of w'Aw/2 - b'w + |w - x|^2/(2 step)."""
    eta = step if isinstance(step, float) else step[..., None]
    inverse = xp.linalg.inv(xp.eye(A.shape[-1], dtype=xp.float64) + eta * A)
    return matvec(xp, inverse, x + step * b)


def answer(xp: Namespace, setup: Setup, risks: Any, x: Array, step: Array, place: Place) -> Array:
    """What the oracle of every client returns for its risk; how far from optimal that is goes to `setup.gaps`."""
    best, gap = setup.problem.solved(risks, x, step)
    if setup.oracle is None:
        return best
    steps, shifts = setup.oracle
    row = min(place.t, steps.shape[1] - 1)
    taken, shift = steps[:, row, :], shifts[:, row, ...]
    if shift.shape[-2] > 1:
        each = [xp.take(shift[:, i, ...], xp.asarray(place.batch[:, i]), axis=1) for i in range(setup.problem.C)]
        moved = xp.permute_dims(xp.stack(each, axis=-2), (1, 0, 2, 3))
    else:
        moved = shift[..., 0, :]
    # In floats x + (best - x) need not be best: a whole step has to leave no gap.
    answer = xp.where(taken[..., None] == 1, best, x + taken[..., None] * (best - x)) + moved
    off = gap(answer)
    # The difference of two rounded values may be negative.
    setup.gaps.append(xp.max(xp.maximum(off, 0 * off), axis=(0, 2)))
    return answer
