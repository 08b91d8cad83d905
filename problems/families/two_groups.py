"""Two groups of quadratics that pull in opposite directions: a construction that lower bounds are proved on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays.genes import Gene
from .family import Array, Parts
from .quadratic import QuadraticLoss


@dataclass(frozen=True, slots=True)
class TwoGroups(QuadraticLoss):
    """f_i = mu w^2/2 + G w in the first half of the clients, mu w^2/4 - G w in the second; odd C: a last f_i = 0.

    The signs of the linear terms are the other way round where the run starts below 0.
    """

    name: str = "two_groups"
    dimensions: int = 1
    assumption: str = "two_groups"

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        return [Gene("pull", "positive")]

    def constants(self, genes: Mapping[str, Array], high: Array, scale: Array) -> tuple[Array, ...]:
        return high, high * scale * genes["pull"]

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        C = p.shape[1]
        mu, G = (x[:, None] for x in self.constants(genes, high, scale))
        group = np.array([1] * (C // 2) + [-1] * (C // 2) + [0] * (C % 2))
        force = np.where(genes["start"] < 0, -G, G) * group
        b, curve = -force[..., None], mu * np.abs(group) * (3 + group) / 4
        c = b / np.where(group == 0, 1 + 0 * curve, curve)[..., None]
        return {"A": curve[..., None, None], "b": b, "c": c}


LOSS = TwoGroups()
