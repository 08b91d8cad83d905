"""Squared hinges: f_i(w) = r_i/2 |w - c_i|^2 + sum_k h_ik/2 max(0, <z_ik, c_i - w>)^2, as in support vector machines.

Convex and smooth, flat on one side of every hinge, and with directions z_ik that mix the coordinates: neither separable
nor, for r = 0, strongly convex. A client's loss is least at c_i, and there it is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from ..arrays.array_checks import namespace
from ..arrays.genes import Gene, along
from .family import Array, ClientData, Family, Parts, fractions, one_centre

HINGES = 2  # of each client
NEWTON, HALVINGS = 60, 30  # steps to the minimiser, and lengths that are tried for each
FLAT = 1e-12  # of the largest curvature: added where all hinges are flat in some direction


@dataclass(frozen=True, slots=True, eq=False)
class SquaredHinges:
    """The losses of C clients in d dimensions with K hinges each; leading axes are batch axes."""

    ridge: Array  # (..., C)
    h: Array  # (..., C, K)
    z: Array  # (..., C, K, d)
    c: Array  # (..., C, d)
    p: Array  # (..., C)

    @property
    def C(self) -> int:
        return self.c.shape[-2]

    @property
    def d(self) -> int:
        return self.c.shape[-1]

    def value(self, w: Array) -> Array:  # (..., C, d) -> (..., C)
        xp, back, s = namespace(w), self.c - w, self._open(w)
        return (self.ridge * xp.sum(back * back, axis=-1) + xp.sum(self.h * s * s, axis=-1)) / 2

    def grad(self, w: Array) -> Array:  # (..., C, d) -> (..., C, d)
        pull = (self.h * self._open(w))[..., None] * self.z
        return self.ridge[..., None] * (w - self.c) - namespace(w).sum(pull, axis=-2)

    def hess(self, w: Array, v: Array) -> Array:
        xp = namespace(w)
        along_z = xp.sum(self.z * v[..., None, :], axis=-1)
        bent = (self.h * (self._open(w) > 0) * along_z)[..., None] * self.z
        return self.ridge[..., None] * v + xp.sum(bent, axis=-2)

    def minimiser(self) -> Array:
        """A minimiser (..., d) of f = sum_i p_i f_i for weights above 0, by Newton's method: f is quadratic between
        planes, so that a step that crosses none ends there.
        """
        xp = namespace(self.c)
        w, sizes = xp.mean(self.c, axis=-2), 0.5 ** xp.arange(HALVINGS)
        everything = self._hessian(xp.ones_like(self.h))
        # 1e-300: a Hessian of nothing but zeros has to be invertible, too.
        room = FLAT * (1e-300 + xp.max(xp.abs(everything), axis=(-2, -1)))[..., None, None] * xp.eye(self.d)
        for _ in range(NEWTON):
            each = w[..., None, :]
            slope = xp.sum(self.p[..., None] * self.grad(each), axis=-2)
            bent = self._hessian(1.0 * (self._open(each) > 0)) + room
            step = xp.linalg.solve(bent, slope[..., None])[..., 0]
            tried = [w - size * step for size in sizes]
            values = xp.stack([self._mean(x) for x in (w, *tried)])
            best = xp.argmin(values, axis=0)[None, ..., None]
            w = xp.take_along_axis(xp.stack([w, *tried]), best + xp.zeros_like(w, dtype=best.dtype)[None], axis=0)[0]
        return w

    def optimum(self) -> Array:
        """f_star (...)."""
        return self._mean(self.minimiser())

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        least = self._mean(w_star)
        return lambda w: self._mean(w) - least

    def _mean(self, w: Array) -> Array:
        """f at (..., d)."""
        return namespace(w).sum(self.p * self.value(w[..., None, :]), axis=-1)

    def _hessian(self, counts: Array) -> Array:
        """The Hessian (..., d, d) of f where hinges count so much (..., C, K)."""
        xp = namespace(counts)
        weights = self.p[..., None] * self.h * counts
        outer = self.z[..., :, None] * self.z[..., None, :]
        ridge = xp.sum(self.p * self.ridge, axis=-1)[..., None, None] * xp.eye(self.d)
        return ridge + xp.sum(weights[..., None, None] * outer, axis=(-4, -3))

    def _open(self, w: Array) -> Array:
        """max(0, <z, c - w>), (..., C, K)."""
        xp = namespace(w)
        s = xp.sum(self.z * (self.c - w)[..., None, :], axis=-1)
        return s * (s > 0)


@dataclass(frozen=True, slots=True)
class HingeLoss(Family):
    name: str = "hinges"
    kind: str = "hinges"
    dimensions: int = 3
    assumption: str = "hinges"  # no statement's: they are drawn where they are named

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        each = (sizes["C"], HINGES)
        rows = Gene("row", "real", (*each, sizes["d"]), ("C", "", "d"))
        return [along("centre", "real", sizes, "C", "d"), Gene("curve", "fraction", each, ("C", "")), rows]

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """No direction bends more than all hinges together would along one line: h_k |z_k|^2 adds up to high - r."""
        z: Array = genes["row"]
        square: Array = (z * z).sum(axis=-1)
        ridge: Array = np.where(low < 0, 0 * low, low)
        share = genes["curve"] / (np.where(square == 0, 1 + 0 * square, square) * HINGES)
        ridges = ridge[:, None] + 0 * genes["centre"][..., 0]
        h = (high - ridge)[:, None, None] * share
        return {"ridge": ridges, "h": h, "z": z, "c": scale[:, None, None] * genes["centre"]}

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        return {**parts, "ridge": parts["ridge"] + mu[:, None]}

    def problem(self, parts: Parts, p: Array) -> SquaredHinges:
        return SquaredHinges(parts["ridge"], parts["h"], parts["z"], parts["c"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        rows = zip(parts["ridge"], parts["h"], parts["z"], parts["c"], strict=True)
        return [{"kind": "hinges", "ridge": r, "h": h, "z": z, "c": c} for r, h, z, c in rows]

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        """The centre, if all clients have one: every loss is least there."""
        return one_centre(parts)

    def formula(self, data: Mapping[str, object], axes: Sequence[str]) -> str:
        centre, h, ridge = fractions(data["c"]), fractions(data["h"]), Fraction(str(data["ridge"]))

        def across(z: object) -> str:
            terms = zip(fractions(z), centre, axes, strict=True)
            return " + ".join(f"{x} ({c} - {w})" for x, c, w in terms if x).replace("+ -", "- ") or "0"

        hinges = [
            rf"\frac{{{x}}}{{2}} \max(0, {across(z)})^2"
            for x, z in zip(h, cast("Sequence[object]", data["z"]), strict=True)
            if x
        ]
        around = " + ".join(f"({w} - {c})^2" for c, w in zip(centre, axes, strict=True)).replace("- -", "+ ")
        smooth = [rf"\frac{{{ridge}}}{{2}} ({around})"] if ridge else []
        return " + ".join([*smooth, *hinges]) or "0"


LOSS = HingeLoss()
