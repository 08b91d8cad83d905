"""Families of regularisers g, each a line of the table: its genes, its numbers, its JSON.

g(x) = sum_j (up max(x_j, 0) + down max(-x_j, 0) + ridge x_j^2 / 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isqrt

import numpy as np

from ..arrays.genes import Gene
from .family import Array, Parts
from .quadratic import solved


@dataclass(frozen=True, slots=True)
class RegulariserFamily:
    name: str
    names: tuple[str, ...] = ()  # of its genes, in (up, down) or theta
    ridge: bool = False

    @property
    def affine(self) -> bool:
        """Whether its proximal point is an affine function."""
        return not self.names or self.ridge

    def genes(self) -> Sequence[Gene]:
        return [Gene(name, "positive") for name in self.names]

    def parts(self, genes: Mapping[str, Array], slope: Array, curvature: Array) -> dict[str, Array]:
        """up, down and ridge (n,), from units of slope and of curvature."""
        none = 0 * slope
        if not self.names:
            return {"up": none, "down": none, "ridge": none}
        if self.ridge:
            return {"up": none, "down": none, "ridge": curvature * genes["theta"]}
        sides = {"up": slope * genes[self.names[0]], "down": slope * genes[self.names[-1]]}
        return {**sides, "ridge": none}

    def written(self, parts: Mapping[str, object]) -> dict[str, object]:
        """One instance in the kernel's format."""
        if self.name == "pinball":
            return {"kind": "pinball", "up": parts["up"], "down": parts["down"]}
        return {"kind": "ridge" if self.ridge else "l1", "theta": parts["ridge" if self.ridge else "up"]}


FAMILIES = {
    family.name: family
    for family in (
        RegulariserFamily("none"),
        RegulariserFamily("l1", ("theta",)),
        RegulariserFamily("pinball", ("up", "down")),
        RegulariserFamily("ridge", ("theta",), ridge=True),
    )
}


def longest(parts: Mapping[str, Array], d: int) -> Array:
    """A bound on all subgradients in d dimensions, for floats and rationals: just above sqrt(d) times the steepest."""
    root = Fraction(isqrt(10**12 * d) + (isqrt(d) ** 2 != d), 10**6)
    steepest = np.maximum(parts["up"], parts["down"])
    return steepest * (root if steepest.dtype == object else float(root))


def minimiser(A: Array, b: Array, g: Parts) -> Array | None:
    """The minimiser of w'Aw/2 - b'w + g(w) in rationals, by the one consistent sign pattern; None if there is none."""
    d = len(b)
    H = A + g["ridge"] * np.eye(d, dtype=int)
    for signs in product((0, 1, -1), repeat=d) if g["up"] or g["down"] else [(1,) * d]:
        on = [j for j in range(d) if signs[j]]
        x = np.array([Fraction(0)] * d, dtype=object)
        right = np.array([b[j] - (g["up"] if signs[j] > 0 else -g["down"]) for j in on], dtype=object)
        inside = solved(H[np.ix_(on, on)], right) if on else np.array([], dtype=object)
        if inside is None:
            continue
        x[on] = inside
        slope = b - (H * x).sum(axis=1)
        free = not (g["up"] or g["down"])
        if free or all(x[j] * signs[j] > 0 if signs[j] else -g["down"] <= slope[j] <= g["up"] for j in range(d)):
            return x
    return None
