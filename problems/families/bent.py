"""Separable losses with a piecewise-linear gradient: Huber losses, Huberised quadratics, and, where allowed, wells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..arrays.array_checks import all_true, namespace
from ..arrays.genes import Gene, along
from ..losses.piecewise import Piecewise
from ..losses.wells import Wells
from .family import Array, ClientData, Family, Parts

NAMES = ("a", "m", "lo", "hi", "c")


@dataclass(frozen=True, slots=True)
class BentLoss(Family):
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi): curvature a near c, m >= 0 beyond."""

    name: str = "bent"
    dimensions: int = 2
    straight: str = "quadratic"

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        fractions = [along(name, "fraction", sizes, "C", "d") for name in ("curve", "tail")]
        widths = [along(name, "nonnegative", sizes, "C", "d") for name in ("lo", "hi")]
        return [along("centre", "real", sizes, "C", "d"), *fractions, *widths]

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        low, high, scale = low[:, None, None], high[:, None, None], scale[:, None, None]
        outer: Array = np.where(low < 0, 0 * low, low)
        curvatures: dict[str, Array] = {
            "a": low + (high - low) * genes["curve"],
            "m": outer + (high - outer) * genes["tail"],
        }
        return {**curvatures, **{name: scale * genes[name] for name in ("lo", "hi")}, "c": scale * genes["centre"]}

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        return {**parts, "a": parts["a"] + mu[:, None, None], "m": parts["m"] + mu[:, None, None]}

    def lengths(self, parts: Parts) -> list[Array]:
        return [abs(parts[name]).max(axis=(1, 2)) for name in ("c", "lo", "hi")]

    def problem(self, parts: Parts, p: Array) -> Piecewise:
        convex = all_true(namespace(parts["a"]), (parts["a"] >= 0) & (parts["m"] >= 0))
        a, m, lo, hi, c = (parts[name] for name in NAMES)
        return Piecewise(a, m, lo, hi, c, p) if convex else Wells(a, m, lo, hi, c, p)

    def clients(self, parts: Parts) -> list[ClientData]:
        rows = zip(*(parts[name] for name in NAMES), strict=True)
        return [{"kind": "bent", **dict(zip(NAMES, row, strict=True))} for row in rows]

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        if any(Fraction(x) < 0 for x in np.ravel(parts["a"])):
            return None
        columns = [[parts[name][:, j] for name in NAMES] for j in range(parts["a"].shape[-1])]
        return np.array([root(p, *column) for column in columns], dtype=object)


def root(p: Array, a: Array, m: Array, lo: Array, hi: Array, c: Array) -> Fraction:
    """The zero of the increasing piecewise-linear sum_i p_i phi_i'."""

    def slope(w: Fraction) -> Fraction:
        z = w - c
        return Fraction((p * (m * z + (a - m) * np.minimum(np.maximum(z, -lo), hi))).sum())

    knots = sorted({Fraction(x) for x in (*c, *(c - lo), *(c + hi))})
    # A point on each outer line, from which the root beyond the knots is found as between them.
    knots = [knots[0] - 1, *knots, knots[-1] + 1]
    for left, right in pairwise(knots):
        below, above = slope(left), slope(right)
        inside = below <= 0 <= above or (left == knots[0] and below > 0) or (right == knots[-1] and above < 0)
        if inside and above != below:
            return left - below * (right - left) / (above - below)
    return knots[1]  # flat everywhere: any point will do, and the arrays take the first knot


LOSS = BentLoss()
