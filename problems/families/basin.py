"""Users that differ by straight lines from one parabola around the run, straight far out: a basin.

Gradient and Hessian steps that are short enough stay in it, so that a run's moments are those of quadratics. F, with
gradients at w - alpha grad f_i(w) too, is least at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays.genes import Gene, along
from ..losses.quadratics import Quadratics
from ..losses.splines import Splines, through
from .family import ANY, Array, ClientData, Family, Parts
from .shelf import NAMES, root


@dataclass(frozen=True, slots=True)
class BasinLoss(Family):
    name: str = "basin"
    affine: bool = True
    dimensions: int = 1
    updates: int = ANY
    assumption: str = "basins"  # no statement's: where runs are long they stand beside other curved losses

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        return [along("tilt", "real", sizes, "C"), Gene("fall", "positive")]

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        tilt = (high * scale)[:, None] * (genes["tilt"] - genes["tilt"].sum(axis=1, keepdims=True) / p.shape[1])
        noise = genes["noise"].max(axis=1) if "noise" in genes else 0 * high
        far = 2 * np.abs(tilt).max(axis=1) / high + np.abs(genes["start"][:, 0]) * scale + 3 * noise / high
        reach = far + scale * (far == 0)
        c = (-tilt / high[:, None])[..., None]
        a = high[:, None, None] + 0 * c
        half = 3 * reach + noise / high
        return {"A": a[..., None], "b": a * c, "c": c, "half": half, "fall": genes["fall"] * half,
                "low": -reach[:, None, None] + 0 * c, "high": reach[:, None, None] + 0 * c}  # fmt: skip

    def bounds(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Mapping[str, Array]:
        # Of its weights `parts` reads only how many there are.
        parts = self.parts(genes, genes["tilt"], high, high, scale)
        base, tilt = _base(high, parts["half"], parts["fall"]), parts["b"][..., 0]
        return {
            "smooth": high,
            "lipschitz_hessian": base.steepness,
            "bounded_gradients": np.abs(base.g) + np.abs(tilt).max(axis=1),
            "similar_gradients": root((tilt**2).sum(axis=1) / tilt.shape[1]),
            "similar_hessians": 0 * high,
        }

    def box(self, parts: Parts) -> tuple[Array, Array]:
        return parts["low"], parts["high"]

    def problem(self, parts: Parts, p: Array) -> Quadratics:
        return Quadratics(parts["A"], parts["b"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        a, zero = parts["A"][0, 0, 0], 0 * parts["A"][0, 0, 0]
        base = _base(*(np.array([x], dtype=object) for x in (a, parts["half"], parts["fall"])))
        curve = {name: getattr(base, name)[0] for name in NAMES}
        none: ClientData = {"x": [], "s": [], "a": zero, "g": zero}
        rows = [{"a": [-b[0]], "b": [zero], "turn": [zero]} for b in parts["b"]]
        return [{"kind": "curves", "base": [curve], "eta": [none], **row} for row in rows]


def _base(curve: Array, half: Array, fall: Array) -> Splines:
    """What all users have in common: the curvature is `curve` (n,) from -half to half, and falls to 0 over `fall`."""
    x = np.stack([-half - fall, -half, half, half + fall], axis=-1)
    none = 0 * curve
    return through(x, np.stack([none, curve, curve, none], axis=-1), -curve * (half + fall / 2))


LOSS = BasinLoss()
