"""Separable losses with a piecewise-linear gradient: Huber losses, Huberised quadratics, kinks anywhere.

Per coordinate phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) and phi(c) = 0: curvature a on [c - lo, c + hi],
m outside. m = 0 makes a Huber loss (Lipschitz and smooth).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays.array_checks import (
    Array,
    all_true,
    broadcast_shape,
    check_finite,
    check_weights,
    fail,
    is_numpy,
    namespace,
    summed,
)


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise:
    """f_i(w) = sum_j phi_ij(w_j) and f = sum_i p_i f_i; leading axes are batch axes and broadcast."""

    a: Array  # (..., C, d)  curvature near c, >= 0
    m: Array  # (..., C, d)  curvature beyond the kinks, >= 0
    lo: Array  # (..., C, d)  distance from c to the lower kink, >= 0
    hi: Array  # (..., C, d)  distance from c to the upper kink, >= 0
    c: Array  # (..., C, d)  client minimisers
    p: Array  # (..., C)     weights, sum to 1, may be negative
    bend: Array = field(init=False, repr=False)  # a - m
    below: Array = field(init=False, repr=False)  # -lo
    even: bool = field(init=False, repr=False)  # whether all parts have one shape

    def __post_init__(self) -> None:
        self._checked(("a", "m", "lo", "hi"), "use its absolute value, or another family of losses")

    def _checked(self, positive: Sequence[str], do: str) -> None:
        """Checks, and what every gradient reads; `positive` parts may be 0, and what to `do` where one is not."""
        parts = {"a": self.a, "m": self.m, "lo": self.lo, "hi": self.hi, "c": self.c}
        xp = namespace(*parts.values(), self.p)
        shapes = {x.shape[-2:] for x in parts.values()}
        if len(shapes) > 1 or self.c.ndim < 2 or self.p.ndim < 1 or self.p.shape[-1] != self.c.shape[-2]:
            got = "shapes " + ", ".join(f"{name} {x.shape}" for name, x in {**parts, "p": self.p}.items())
            raise fail(got, "a, m, lo, hi, c (..., C, d) and p (..., C)", "make the trailing axes agree")
        broadcast_shape("batch axes", *(x.shape[:-2] for x in parts.values()), self.p.shape[:-1])
        check_finite(xp, **parts, p=self.p)
        check_weights(xp, self.p)
        for name in positive:
            if not all_true(xp, parts[name] >= 0):
                raise fail(f"a negative {name}", f"{name} >= 0", do)
        even = len({x.shape for x in parts.values()}) == 1
        for name, x in (("bend", self.a - self.m), ("below", -self.lo), ("even", even)):
            object.__setattr__(self, name, x)

    @property
    def batch(self) -> tuple[int, ...]:
        parts = (self.a, self.m, self.lo, self.hi, self.c)
        return broadcast_shape("batch axes", *(x.shape[:-2] for x in parts), self.p.shape[:-1])

    @property
    def C(self) -> int:
        return self.p.shape[-1]

    @property
    def d(self) -> int:
        return self.c.shape[-1]

    def value(self, w: Array) -> Array:  # (..., C, d) -> (..., C)
        x = w - self.c
        u = self._clip(x)
        return namespace(w).sum(0.5 * self.m * x * x + self.bend * u * (x - 0.5 * u), axis=-1)

    def grad(self, w: Array) -> Array:  # (..., C, d) -> (..., C, d)
        x = w - self.c
        u = self._clip(x)
        if not self.even:
            return self.m * x + self.bend * u
        x *= self.m  # both are ours alone
        u *= self.bend
        x += u
        return x

    def stepper(self, keep: Array | float, slope: Array | float) -> Callable[[Array, Array | float, int], Array]:
        """E steps w <- keep w + slope grad(w) + r in few passes, from w and r that broadcast to parts of one shape.

        Steps are taken in x = w - c, and in place: NumPy alone.
        """
        kept, bend, pull = keep + slope * self.m, slope * self.bend, (keep - 1) * self.c

        def advance(w: Array, r: Array | float, E: int) -> Array:
            x, add = w - self.c, pull + r
            u = np.empty_like(x)
            for _ in range(E):
                np.maximum(x, self.below, out=u)
                np.minimum(u, self.hi, out=u)
                u *= bend
                x *= kept
                x += u
                x += add
            x += self.c
            return x

        return advance

    def hess(self, w: Array, v: Array) -> Array:
        """Hess f_i(w) v, (..., C, d); at a kink any one."""
        x = w - self.c
        return namespace(w).where((-self.lo < x) & (x < self.hi), self.a * v, self.m * v)

    def average(self, w: Array) -> Array:  # (..., C, d) -> (..., d)
        return namespace(w).sum(self.p[..., None] * w, axis=-2)

    def smoothness(self) -> Array:
        """L (...): the largest curvature that occurs (a does not where lo = hi = 0)."""
        xp = namespace(self.a)
        inner = xp.where(self.lo + self.hi > 0, self.a, self.m)
        return xp.max(xp.where(inner > self.m, inner, self.m), axis=(-2, -1))

    def strong_convexity(self) -> Array:
        """mu (...): the least curvature that occurs."""
        xp = namespace(self.a)
        inner = xp.where(self.lo + self.hi > 0, self.a, self.m)
        return xp.min(xp.where(inner < self.m, inner, self.m), axis=(-2, -1))

    def minimisers(self) -> Array:
        """w_*^i (..., C, d): c, whatever else may minimise f_i."""
        return self.c

    def minimiser(self) -> Array:
        """w_* (..., d) of f, the least one; NaN where negative weights leave f unbounded below."""
        xp = namespace(self.c)
        if all_true(xp, self.p >= 0):
            return self._root()
        return self._best_candidate()

    def optimum(self) -> Array:
        """f_* (...)."""
        w = self.minimiser()[..., None, :]
        return namespace(w).sum(self.p * self.value(w), axis=-1)

    def gap(self, w: Array, w_star: Array) -> Array:
        """f(w) - f_* for w (..., d): the Bregman distances to w_*, which do not cancel near it."""
        return self.gap_from(w_star)(w)

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        """`gap` with all that does not depend on w done once."""
        x = w_star[..., None, :] - self.c
        u = self._clip(x)
        # From w_* to w the clipped part changes by v = clip(y, -lo - u, hi - u), y = w - w_* + x - u, and the distance
        # of a bend is bend v (y - v/2): few passes over all clients, and 0 without rounding at w_*.
        xp, beyond, low, high = namespace(u), x - u, self.below - u, self.hi - u
        outer = summed(xp, 0.5 * self.p[..., None] * self.m, -2)
        bend = 0.5 * self.p[..., None] * self.bend

        def gap(w: Array) -> Array:
            moved = w - w_star
            y = moved[..., None, :] + beyond
            v = xp.minimum(xp.maximum(y, low), high)
            distance = y - v
            distance += y
            distance *= v
            distance *= bend
            return summed(xp, xp.reshape(distance, (*distance.shape[:-2], -1))) + summed(xp, outer * moved**2)

        return gap

    def heterogeneity(self) -> Array:
        """Gamma = f_* - sum_i p_i f_i(w_*^i) (...); every f_i(w_*^i) is 0."""
        return self.optimum()

    def _clip(self, x: Array) -> Array:
        xp = namespace(x)
        u = xp.maximum(x, self.below)
        return np.minimum(u, self.hi, out=u) if is_numpy(xp) and self.even else xp.minimum(u, self.hi)

    def _segments(self) -> tuple[Array, Array, Array, Array]:
        """Kinks of f' in order (..., 2C, d), f' there, its slope after each, and its slope far out (..., d)."""
        xp = namespace(self.c)
        shape = (*self.batch, self.C, self.d)
        p, a, m, lo, hi, c = (
            xp.broadcast_to(x, shape) for x in (self.p[..., None], self.a, self.m, self.lo, self.hi, self.c)
        )
        bend = p * (a - m)
        z = xp.concat([c - lo, c + hi], axis=-2)
        order = xp.argsort(z, axis=-2)
        z = xp.take_along_axis(z, order, axis=-2)
        bends = xp.take_along_axis(xp.concat([bend, -bend], axis=-2), order, axis=-2)
        outer = summed(xp, p * m, -2)
        slope = outer[..., None, :] + xp.cumulative_sum(bends, axis=-2)
        first = summed(xp, p * (m * (z[..., :1, :] - c)) - bend * lo, -2)[..., None, :]
        rise = xp.cumulative_sum(slope[..., :-1, :] * (z[..., 1:, :] - z[..., :-1, :]), axis=-2)
        return z, xp.concat([first, first + rise], axis=-2), slope, outer

    def _root(self) -> Array:
        """The root of the increasing f', exact up to the rounding of one division."""
        xp = namespace(self.c)
        z, df, slope, outer = self._segments()
        n = z.shape[-2]
        below = xp.sum(xp.astype(df < 0, xp.int64), axis=-2, keepdims=True)  # kinks left of the root
        last = xp.where(below > 0, below - 1, xp.zeros_like(below))
        left = xp.take_along_axis(z, last, axis=-2)
        right = xp.take_along_axis(z, xp.where(below < n, below, below - 1), axis=-2)
        inside = (below > 0) & (below < n)
        slope = xp.where(inside, xp.take_along_axis(slope, last, axis=-2), outer[..., None, :])[..., 0, :]
        left, right, inside = left[..., 0, :], right[..., 0, :], inside[..., 0, :]
        steep = slope > 0
        f1 = self.average(self.grad(left[..., None, :]))  # afresh: df has the rounding of a long sum
        root = left - xp.where(steep, f1 / xp.where(steep, slope, xp.ones_like(slope)), xp.zeros_like(slope))
        return xp.where(inside, xp.minimum(xp.maximum(root, left), right), root)

    def _best_candidate(self) -> Array:
        """With negative weights f' may turn back: compare f at all kinks and all stationary points."""
        xp = namespace(self.c)
        z, df, slope, outer = self._segments()
        outer = outer[..., None, :]
        slopes = xp.concat([outer, slope], axis=-2)
        anchors, starts = xp.concat([z[..., :1, :], z], axis=-2), xp.concat([df[..., :1, :], df], axis=-2)
        steep = slopes > 0
        roots = anchors - xp.where(steep, starts / xp.where(steep, slopes, xp.ones_like(slopes)), xp.zeros_like(slopes))
        low = xp.concat([xp.minimum(roots[..., :1, :], z[..., :1, :]), z], axis=-2)
        high = xp.concat([z, xp.maximum(roots[..., -1:, :], z[..., -1:, :])], axis=-2)
        candidates = xp.concat([z, xp.minimum(xp.maximum(roots, low), high)], axis=-2)
        best = xp.argmin(self._each_coordinate(candidates), axis=-2, keepdims=True)
        w = xp.take_along_axis(candidates, best, axis=-2)[..., 0, :]
        outer = outer[..., 0, :]
        bounded = (outer > 0) | ((outer == 0) & (df[..., 0, :] <= 0) & (df[..., -1, :] >= 0))
        return xp.where(bounded, w, xp.full_like(w, float("nan")))

    def _each_coordinate(self, w: Array) -> Array:
        """sum_i p_i phi_ij at w (..., n, d), for every coordinate j: (..., n, d)."""
        xp = namespace(w)
        a, m, lo, hi, c = (x[..., None, :, :] for x in (self.a, self.m, self.lo, self.hi, self.c))
        x = w[..., :, None, :] - c
        u = xp.minimum(xp.maximum(x, -lo), hi)
        phi = 0.5 * m * x * x + (a - m) * u * (x - 0.5 * u)
        return summed(xp, self.p[..., None, :, None] * phi, -2)
