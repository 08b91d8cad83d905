"""Constants as far as a run tells them: its points with the gradients that were taken there.

Two points of one client with exact gradients are a secant: |grad f_i(u) - grad f_i(v)|/|u - v| is at most L, and
<grad f_i(u) - grad f_i(v), u - v>/|u - v|^2 is at least mu. So the largest of the first is a limit of L from below and
the smallest of the second one of mu from above; elsewhere the losses may bend more, or less. A gradient is no longer
than G. With noise, |g - grad f_i|^2 and |g|^2 have an expectation of at most sigma^2 and G^2 given what was before,
which is what `lower_limit` asks for: a constant below that limit is contradicted, but with a small chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fedaudit.errors import UserError

from .client_data import Estimate
from .mean_band import lower_limit
from .trajectory import Array

__all__ = ["run_constants", "taken_apart"]

RECORDED = ("y", "grad", "full_grad")  # points, gradients as the steps took them, and without their noise
NEAR = 1e-6  # of the largest coordinate: what is closer would divide the rounding of gradients by its distance
LEVEL = 1e-3  # the chance that noise alone puts a limit of G or sigma above the constant


def taken_apart(raw: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Array]]:
    """What a run holds beside its local steps, and these as arrays."""
    steps: dict[str, Array] = {}
    for name in RECORDED:
        try:
            if np.ndim(cast("ArrayLike", raw.get(name, 0))) > 2:  # of fewer axes it may be a quantity of the statement
                steps[name] = np.asarray(raw[name], dtype=float)
        except (TypeError, ValueError) as error:
            raise UserError(f"{name}, which is no array of numbers", "(T, K, C, d)", "mend it") from error
    return {name: value for name, value in raw.items() if name not in steps}, steps


def run_constants(arrays: Mapping[str, Array], *, noisy: bool) -> dict[str, Estimate]:
    """L, mu, G and sigma as limits, from what a run holds of `y`, `grad` and `full_grad`; those that it tells.

    `y` is (T, K + 1, C, d) or (T, K, C, d) and gradients are (T, K, C, d), as `conform` reads them; all may have an
    axis of runs in front. `noisy`: `grad` are draws, so that their secants say nothing of L and mu.
    """
    taken, full = (_by_client(name, arrays) for name in ("grad", "full_grad"))
    exact = full if full is not None else None if noisy else taken
    estimates: dict[str, Estimate] = {}
    if exact is not None and "y" in arrays:
        points = _by_client("y", arrays, steps=arrays["full_grad" if full is not None else "grad"].shape[-3])
        assert points is not None
        if points.shape != exact.shape:
            raise UserError(
                f"y of shape {arrays['y'].shape} beside gradients of other sizes",
                "y (T, K + 1, C, d) and grad (T, K, C, d)",
                "record a gradient for every local step",
            )
        estimates |= _secants(points, exact)
    lengths = [np.linalg.norm(g, axis=-1) for g in (exact,) if g is not None]
    if lengths:
        longest = float(np.nanmax(lengths[0]))
        estimates["G"] = Estimate(longest, "the longest recorded gradient", "at least")
    if taken is not None and noisy:
        estimates |= _drawn("G", "recorded gradients", taken, estimates.get("G"))
        if full is not None and full.shape == taken.shape:
            estimates |= _drawn("sigma", "what recorded gradients are off the full ones", taken - full, None)
    return estimates


def _by_client(name: str, arrays: Mapping[str, Array], steps: int | None = None) -> Array | None:
    """An array of a run as (C, n, d), with at most `steps` entries of each round; None where it was not recorded."""
    if name not in arrays:
        return None
    array = arrays[name]
    if array.ndim not in (4, 5):
        raise UserError(f"{name} of shape {array.shape}", "(T, K, C, d), or (seeds, T, K, C, d)", "give it four axes")
    array = array[..., :steps, :, :]
    return np.moveaxis(array, -2, 0).reshape(array.shape[-2], -1, array.shape[-1])


def _secants(points: Array, gradients: Array) -> dict[str, Estimate]:
    slopes, bends = list[float](), list[float]()
    least = NEAR * float(np.nanmax(np.abs(points)))
    for u, g in _pairs(points, gradients):
        apart = np.linalg.norm(u, axis=-1)
        kept = apart > least  # not where a client was idle, which compares as false
        if kept.any():
            slopes.append(float((np.linalg.norm(g[kept], axis=-1) / apart[kept]).max()))
            bends.append(float(((g * u).sum(axis=-1)[kept] / apart[kept] ** 2).min()))
    if not slopes:
        return {}
    return {
        "L": Estimate(max(slopes), "largest |grad f_i(u) - grad f_i(v)|/|u - v| along the run", "at least"),
        "mu": Estimate(min(bends), "smallest <grad f_i(u) - grad f_i(v), u - v>/|u - v|^2 along the run", "at most"),
    }


def _pairs(points: Array, gradients: Array) -> Iterator[tuple[Array, Array]]:
    """Differences of points and of their gradients 1, 2, 4, ... entries apart: every scale of the run, in n log n."""
    lag = 1
    while lag < points.shape[1]:
        yield points[:, lag:] - points[:, :-lag], gradients[:, lag:] - gradients[:, :-lag]
        lag *= 2


def _drawn(name: str, what: str, draws: Array, other: Estimate | None) -> dict[str, Estimate]:
    """The root of the noisiest client's mean square, and a limit below it that counts against a given constant."""
    squares = [row[np.isfinite(row)] for row in (draws**2).sum(axis=-1)]
    squares = [row for row in squares if len(row)]
    if not squares:
        return {}
    sure = max(float(lower_limit(row[:, None], LEVEL / len(squares))[0]) for row in squares)
    value = max(float(row.mean()) for row in squares)
    how = f"root of the mean square of {what}, of the client with the largest"
    mean = Estimate(float(np.sqrt(value)), how, "at least", sure=float(np.sqrt(sure)))
    return {name: mean if other is None or other.value < mean.value else other}
