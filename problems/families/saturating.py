"""Convex losses whose slopes saturate: f_i(w) = sum_j h_ij z_ij^2 / (2 (1 + |z_ij|/r_ij)) with z_i = w - c_i.

With u = |z|/r the slope is h z (1 + u/2) / (1 + u)^2 and the curvature h / (1 + u)^3: smooth, Lipschitz, strictly
convex where h > 0, but flatter and flatter far out, and, unlike bent losses, nowhere a quadratic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..arrays.array_checks import namespace, summed
from ..arrays.genes import Gene, along
from .family import Array, ClientData, Family, Parts, fractions, one_centre

HALVINGS = 200  # of an interval that holds the minimiser: more than floats can tell apart


@dataclass(frozen=True, slots=True, eq=False)
class Saturating:
    """The losses of C clients in d dimensions; leading axes are batch axes."""

    h: Array  # (..., C, d)
    r: Array
    c: Array
    p: Array  # (..., C)

    @property
    def C(self) -> int:
        return self.c.shape[-2]

    @property
    def d(self) -> int:
        return self.c.shape[-1]

    def value(self, w: Array) -> Array:  # (..., C, d) -> (..., C)
        z, far = self._centred(w)
        return summed(namespace(w), self.h * z * z / (2 * far))

    def grad(self, w: Array) -> Array:  # (..., C, d) -> (..., C, d)
        z, far = self._centred(w)
        return self.h * z * (1 + far) / (2 * far * far)

    def hess(self, w: Array, v: Array) -> Array:
        return self.h / self._centred(w)[1] ** 3 * v

    def minimiser(self) -> Array:
        """The minimiser (..., d) of f = sum_i p_i f_i for weights above 0, by halving: slopes of f rise."""
        xp = namespace(self.c)
        low, high = xp.min(self.c, axis=-2), xp.max(self.c, axis=-2)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            falls = xp.sum(self.p[..., None] * self.grad(middle[..., None, :]), axis=-2) < 0
            low, high = xp.where(falls, middle, low), xp.where(falls, high, middle)
        return (low + high) / 2

    def optimum(self) -> Array:
        """f_star (...)."""
        return self._mean(self.minimiser())

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        least = self._mean(w_star)
        return lambda w: self._mean(w) - least

    def _mean(self, w: Array) -> Array:
        """f at (..., d)."""
        return summed(namespace(w), self.p * self.value(w[..., None, :]))

    def _centred(self, w: Array) -> tuple[Array, Array]:
        z = w - self.c
        return z, 1 + namespace(w).abs(z) / self.r


@dataclass(frozen=True, slots=True)
class SaturatingLoss(Family):
    name: str = "saturating"
    kind: str = "saturating"
    dimensions: int = 2
    updates: int = 3  # a step multiplies the digits of a number by seven
    assumption: str = "saturating"  # no statement's: they are drawn where they are named

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        curve, width = along("curve", "fraction", sizes, "C", "d"), along("width", "positive", sizes, "C", "d")
        return [along("centre", "real", sizes, "C", "d"), curve, width]

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        high, scale = high[:, None, None], scale[:, None, None]
        return {"h": high * genes["curve"], "r": scale * genes["width"], "c": scale * genes["centre"]}

    def steepest(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Array:
        slopes = (high * scale)[:, None, None] * genes["curve"] * genes["width"] / 2
        return slopes.sum(axis=-1).max(axis=-1)

    def problem(self, parts: Parts, p: Array) -> Saturating:
        return Saturating(parts["h"], parts["r"], parts["c"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        rows = zip(parts["h"], parts["r"], parts["c"], strict=True)
        return [{"kind": "saturating", "h": h, "r": r, "c": c} for h, r, c in rows]

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        """The centre, if all clients have one: between several the minimiser need not be rational."""
        return one_centre(parts)

    def formula(self, data: Mapping[str, object], axes: Sequence[str]) -> str:
        rows = zip(*(fractions(data[name]) for name in ("h", "r", "c")), axes, strict=True)
        return " + ".join(
            rf"\frac{{{h / 2} ({w} - {c})^2}}{{1 + |{w} - {c}| / {r}}}".replace("- -", "+ ") for h, r, c, w in rows
        )


LOSS = SaturatingLoss()
