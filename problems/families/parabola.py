"""One data point per client: parabolas of one curvature between the outermost minimisers, and straight beyond.

Exact proximal steps from between them stay between them, so that a run's moments are those of quadratics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays.genes import Gene, along
from ..losses.quadratics import Quadratics
from .family import Array, ClientData, Family, Parts


@dataclass(frozen=True, slots=True)
class ParabolaLoss(Family):
    name: str = "parabola"
    affine: bool = True
    dimensions: int = 1
    assumption: str = "parabolas"  # no statement's: where runs are long they stand beside other losses of data points

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        """Where slopes may jump the claim bounds no curvature from above: then `curve` may exceed 1."""
        curve = Gene("curve", "positive" if sizes["kinks"] else "unit")
        return [curve, Gene("between", "fraction"), along("centre", "real", sizes, "C")]

    def steepest(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Array:
        low, up = _ends(genes, scale)
        return high * genes["curve"] * (up - low)

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        c = (scale[:, None] * genes["centre"])[..., None]
        a = (high * genes["curve"])[:, None, None] + 0 * c
        left, right = _ends(genes, scale)
        ends = {"low": left[:, None, None] + 0 * c, "high": right[:, None, None] + 0 * c}
        return {"A": a[..., None], "b": a * c, "c": c, **ends}

    def start(self, genes: Mapping[str, Array], scale: Array) -> Array:
        """Between the ends (n, 1)."""
        low, high = _ends(genes, scale)
        return (low + genes["between"] * (high - low))[:, None]

    def box(self, parts: Parts) -> tuple[Array, Array]:
        return parts["low"], parts["high"]

    def problem(self, parts: Parts, p: Array) -> Quadratics:
        return Quadratics(parts["A"], parts["b"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        clients: list[ClientData] = []
        for A, c, low, high in zip(*(parts[name] for name in ("A", "c", "low", "high")), strict=True):
            a, zero = A[0, 0], 0 * A[0, 0]
            bends = {"x": [low[0], high[0]], "jump": [zero, zero], "bend": [a, -a]}
            point = {**bends, "a": zero, "s": a * (low[0] - c[0]), "c": zero}
            clients.append({"kind": "sample", "q": [zero + 1], "points": [point]})
        return clients


def _ends(genes: Mapping[str, Array], scale: Array) -> tuple[Array, Array]:
    """The outermost minimisers (n,)."""
    centres = scale[:, None] * genes["centre"]
    return np.min(centres, axis=1), np.max(centres, axis=1)


LOSS = ParabolaLoss()
