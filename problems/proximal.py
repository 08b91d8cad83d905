"""Proximal operators P_s(w) = argmin_u s g(u) + 1/2 |w - u|^2, the parameter s one number for each batch entry.

Every function takes w (..., d) and s (...), which broadcasts over the leading axes: algorithm 1 of zhang evaluates
P_{(t+1) eta} with a parameter that grows along the local steps.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from .arrays import Array, Namespace, fail, namespace

Prox: TypeAlias = Callable[[Array, Array], Array]


def zero(w: Array, s: Array) -> Array:
    """g = 0."""
    del s
    return w


def l1(w: Array, s: Array) -> Array:
    """g = |.|_1: every coordinate moves towards 0 by s and stops there."""
    xp, level = _level(w, s)
    return xp.sign(w) * xp.maximum(xp.abs(w) - level, xp.zeros_like(level))


def l2(w: Array, s: Array) -> Array:
    """g = |.|_2: the whole vector shrinks towards 0."""
    xp, level = _level(w, s)
    length = xp.sqrt(xp.sum(w * w, axis=-1, keepdims=True))
    stays = length > level
    safe = xp.where(stays, length, xp.ones_like(length))
    return xp.where(stays, w * (1 - level / safe), xp.zeros_like(w))


def linf(w: Array, s: Array) -> Array:
    """g = |.|_inf: w less its projection onto the l1 ball of radius s (Moreau)."""
    return w - project_l1(w, s)


def box(low: Array, high: Array) -> Prox:
    """g the indicator of low <= x <= high: the projection, whatever s is."""

    def project(w: Array, s: Array) -> Array:
        del s
        xp = namespace(w)
        return xp.minimum(xp.maximum(w, low), high)

    return project


def group(*sizes: int) -> Prox:
    """g = the sum of |.|_2 over consecutive blocks of these sizes."""

    def shrink(w: Array, s: Array) -> Array:
        if sum(sizes) != w.shape[-1]:
            raise fail(f"blocks of sizes {sizes}", f"sizes that sum to d = {w.shape[-1]}", "name every coordinate once")
        ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
        parts = [l2(w[..., end - size : end], s) for end, size in zip(ends, sizes, strict=True)]
        return namespace(w).concat(parts, axis=-1)

    return shrink


def scaled(prox: Prox, weight: Array) -> Prox:
    """The operator of weight * g from that of g; weight (...) >= 0."""
    return partial(_scaled, prox, weight)


def _scaled(prox: Prox, weight: Array, w: Array, s: Array) -> Array:
    return prox(w, weight * s)


def project_l1(w: Array, radius: Array) -> Array:
    """The nearest point of the l1 ball: soft thresholding at the level that makes the norm equal to the radius."""
    xp, radius = _level(w, radius)
    size = xp.abs(w)
    falling = xp.flip(xp.sort(size, axis=-1), axis=-1)
    count = xp.arange(1, w.shape[-1] + 1, dtype=w.dtype)
    level = (xp.cumulative_sum(falling, axis=-1) - radius) / count
    # the last k for which the k-th largest entry still exceeds its level; with radius 0 none does, and level 1 is right
    support = xp.sum(xp.astype(falling > level, xp.int64), axis=-1, keepdims=True)
    support = xp.maximum(support, xp.ones_like(support))
    chosen = xp.sum(
        xp.where(xp.astype(count, xp.int64) == support, level, xp.zeros_like(level)), axis=-1, keepdims=True
    )
    outside = xp.sum(size, axis=-1, keepdims=True) > radius
    return xp.where(outside, xp.sign(w) * xp.maximum(size - chosen, xp.zeros_like(size)), w)


def _level(w: Array, s: Array) -> tuple[Namespace, Array]:
    xp = namespace(w)
    return xp, xp.asarray(s, dtype=w.dtype)[..., None]
