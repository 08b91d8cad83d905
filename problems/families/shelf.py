"""Users of bounded gradients that differ by straight lines and by multiples of one spline: a shelf, and a bowl.

On a shelf the common part rises steadily where the run is, far steeper than users differ; in a bowl it is a parabola
there. Far out it is straight, so that all gradients are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from ..arrays.genes import Gene, along
from ..losses.curved import Curved
from ..losses.splines import Splines, through
from .family import Array, ClientData, Family, Parts

KNOTS = 4
NAMES = ("x", "s", "a", "g")


@dataclass(frozen=True, slots=True)
class CurvedLoss(Family):
    name: str = "shelf"
    dimensions: int = 3
    updates: int = 3
    assumption: str = "lipschitz_hessian"

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        d = sizes["d"]
        users = [along(name, "real", sizes, "C", "d") for name in ("tilt", "twist")]
        eta = [Gene("gap", "positive", (d, KNOTS - 1), ("d", "")), Gene("bend", "real", (d, KNOTS - 2), ("d", ""))]
        each = [along("left", "real", sizes, "d"), along("slope", "real", sizes, "d")]
        each += [along("fall", "positive", sizes, "d"), along("steep", "positive", sizes, "d")]
        return [*users, *eta, *each, *([along("turn", "real", sizes, "d")] if d > 1 else [])]

    def constants(self, genes: Mapping[str, Array], high: Array, scale: Array) -> tuple[Array, ...]:
        return (self.bounds(genes, high, scale)["lipschitz_hessian"],)

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """`high` is the curvature of the common part, at most."""
        unit, F = scale[:, None], (high * scale)[:, None]
        gap, bend = unit[..., None] * genes["gap"], high[:, None, None] * genes["bend"]
        x = unit[..., None] * genes["left"][..., None] + np.concatenate(
            [0 * gap[..., :1], np.cumsum(gap, axis=-1)], axis=-1
        )
        none = 0 * bend[..., :1]
        eta = through(x, np.concatenate([none, bend, none], axis=-1), F * genes["slope"])
        a, b = F[..., None] * genes["tilt"], genes["twist"]
        far = np.abs(genes["start"]) * unit + np.abs(unit * genes["left"]) + gap.sum(axis=-1)
        base, top = self._base(genes, eta, a, b, high[:, None] + 0 * far, far)
        turn = genes["turn"] if "turn" in genes else 0 * genes["start"]
        beyond = eta.over().grad(eta.x)[..., -1]  # to the right of all knots
        pace = top + (a.sum(axis=1) + b.sum(axis=1) * beyond) / a.shape[1]
        named = {f"base_{k}": getattr(base, k) for k in NAMES} | {f"eta_{k}": getattr(eta, k) for k in NAMES}
        parts = {**named, "tilt": a, "twist": b, "turn": turn, "c": 0 * a}
        return {**parts, "pace": reflected(pace, turn)}

    def _base(
        self, genes: Mapping[str, Array], eta: Splines, a: Array, b: Array, curve: Array, far: Array
    ) -> tuple[Splines, Array]:
        """A trapezoid of curvature: around the run (bowl), or so far to the left that the run never sees it (shelf).

        And the slope of the shelf.
        """
        least, most = eta.slopes
        need = np.abs(a).max(axis=1) + np.abs(b).max(axis=1) * np.maximum(np.abs(least), np.abs(most))
        if self.name == "shelf":
            apart = np.abs(b).max(axis=1) * eta.smoothness
            curve = (curve / (curve + apart + 1 * (apart == 0))) * (apart + 1 * (apart == 0))
            half = need / curve + far
            top = need * (1 + genes["steep"] ** 2) + curve * far * genes["fall"]
            width, right = (top + need) / (2 * curve), -(top + need) / curve - half
            x, left = np.stack([right - 3 * width, right - 2 * width, right - width, right], axis=-1), -need
        else:
            half, top = need / curve + far, 0 * far
            fall = genes["fall"] * half
            x = np.stack([-half - fall, -half, half, half + fall], axis=-1)
            left = -curve * (half + fall / 2)
        none = 0 * curve
        return through(x, np.stack([none, curve, curve, none], axis=-1), left), top

    def bounds(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Mapping[str, Array]:
        # `parts` reads neither weights nor the least curvature.
        parts = self.parts(genes, high[:, None], high, high, scale)
        users, eta = _users(parts), _spline(parts, "eta")
        ends = users.slopes
        length2 = np.maximum(ends[0] ** 2, ends[1] ** 2).sum(axis=-1).max(axis=-1)
        a, b = (parts[k] - parts[k].sum(axis=1, keepdims=True) / parts[k].shape[1] for k in ("tilt", "twist"))
        each = [((a + b * end[:, None]) ** 2).sum(axis=1) / a.shape[1] for end in eta.slopes]
        bent = ((b * eta.smoothness[:, None]) ** 2).max(axis=-1)
        L: Array = users.smoothness.max(axis=(1, 2))
        smooth: Array = np.where(L == 0, 1 + 0 * L, L)
        return {
            "smooth": smooth,
            "lipschitz_hessian": users.steepness.max(axis=(1, 2)),
            "bounded_gradients": root(length2),
            "similar_gradients": root(np.maximum(*each).sum(axis=-1)),
            "similar_hessians": root(bent.sum(axis=-1) / a.shape[1]),
        }

    def downhill(self, parts: Parts) -> Array | None:
        return parts["pace"] if self.name == "shelf" else None

    def problem(self, parts: Parts, p: Array) -> Curved:
        return Curved(_users(parts), parts["turn"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        d = range(parts["turn"].shape[-1])
        both = {name: [{k: parts[f"{name}_{k}"][j] for k in NAMES} for j in d] for name in ("base", "eta")}
        rows = zip(parts["tilt"], parts["twist"], strict=True)
        return [{"kind": "curves", **both, "a": a, "b": b, "turn": parts["turn"]} for a, b in rows]


def _spline(parts: Parts, name: str) -> Splines:
    return Splines(*(parts[f"{name}_{k}"] for k in NAMES))


def _users(parts: Parts) -> Splines:
    return _spline(parts, "base").before(-2).plus(parts["tilt"], parts["twist"], _spline(parts, "eta").before(-2))


def reflected(x: Array, turn: Array) -> Array:
    """Vectors (n, d) at the planes across `turn`."""
    square: Array = (turn * turn).sum(axis=-1, keepdims=True)
    below: Array = np.where(square == 0, 1 + 0 * square, square)
    share: Array = (turn * x).sum(axis=-1, keepdims=True) / below
    return x - 2 * share * turn


def root(x: Array) -> Array:
    """The square root; of rationals one just above it, unless it is rational itself."""
    return np.vectorize(_above, otypes=[object])(x) if x.dtype == object else np.sqrt(x)


def _above(number: str | Fraction) -> Fraction:
    x = Fraction(number)
    exact = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if exact * exact == x or x == 0:
        return exact
    # The smaller the number, the larger the denominator: what the root is off by stays small beside it.
    size = 10**14 * (x.denominator // x.numerator + 1)
    return Fraction(isqrt(x.numerator * size * size // x.denominator) + 1, size)


LOSS = CurvedLoss()
