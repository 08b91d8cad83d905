"""The least value of a separable f = sum_i p_i f_i, convex or not, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import fmpq

from .loss import ZERO, Loss, Vector, dot


def separable(losses: Sequence[Loss]) -> bool:
    """Whether no coordinate is mixed with another one."""
    rows = range(len(losses[0].b))
    return not any(loss.A[r][s] for loss in losses for r in rows for s in rows if r != s)


def lowest(losses: Sequence[Loss], p: Vector) -> Vector | None:
    """A minimiser: in each coordinate the best of all kinks and stationary points; None where f falls for ever."""
    entries = [_lowest(losses, p, j) for j in range(len(losses[0].b))]
    return None if None in entries else tuple(x for x in entries if x is not None)


def _lowest(losses: Sequence[Loss], p: Vector, j: int) -> fmpq | None:
    d = len(losses[0].b)

    def at(x: fmpq) -> Vector:
        return tuple(x if r == j else ZERO for r in range(d))

    def slope(x: fmpq) -> fmpq:
        return dot(p, [loss.gradient(at(x))[j] for loss in losses])

    outer = dot(p, [loss.A[j][j] for loss in losses])
    bends = [loss.bends[j] for loss in losses if loss.bends]
    kinks = sorted({x for _, lo, hi, c in bends for x in (c - lo, c + hi)} or {ZERO})
    left, right = slope(kinks[0]), slope(kinks[-1])
    if outer < 0 or (outer == 0 and (left > 0 or right < 0)):
        return None
    places = list(kinks)
    places += [kinks[0] - left / outer] if left > 0 else []
    places += [kinks[-1] - right / outer] if right < 0 else []
    for low, high in pairwise(kinks):  # between two kinks the slope is linear
        down, up = slope(low), slope(high)
        places += [low - down * (high - low) / (up - down)] if down < 0 < up else []
    return min(places, key=lambda x: dot(p, [loss.value(at(x)) for loss in losses]))
