"""Continuous functions of one variable made of quadratic pieces, with kinks and concave pieces where wanted.

f(w) = c + s w + a w^2/2 + sum_k (jump_k (w - x_k)_+ + bend_k (w - x_k)_+^2 / 2): at the knot x_k the slope jumps by
jump_k and the curvature changes by bend_k; left of all knots the curvature is a. Knots need no order and may coincide,
so that a weighted sum of functions is their knots side by side. All leading axes are batch axes.

`staircase` and `mix` are plain arithmetic and take rationals (object arrays) as well as floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..arrays.array_checks import FEW, Array, Namespace, namespace, summed
from .splines import outermost

ROUNDING = 1e-13  # of the largest bend or slope: what is smaller is 0 that was added up


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    x: Array  # (..., K)  knots, K >= 1
    jump: Array  # (..., K)  what the slope gains at a knot; > 0 is a convex kink
    bend: Array  # (..., K)  what the curvature gains at a knot
    a: Array  # (...)     curvature left of all knots
    s: Array  # (...)     slope at 0 of the piece left of all knots
    c: Array  # (...)     its value at 0

    def value(self, w: Array) -> Array:  # (...) -> (...)
        xp = namespace(w)
        past = xp.maximum(w[..., None] - self.x, 0.0)
        return self.c + (self.s + self.a * w / 2) * w + xp.sum((self.jump + self.bend * past / 2) * past, axis=-1)

    def slopes(self, w: Array) -> tuple[Array, Array]:
        """The left and the right derivative at w (...): the ends of the subdifferential where f is weakly convex."""
        xp = namespace(w)
        past = w[..., None] - self.x
        smooth = self.s + self.a * w + xp.sum(self.bend * xp.maximum(past, 0.0), axis=-1)
        if not bool(xp.any(self.jump != 0)):
            return smooth, smooth
        left = smooth + xp.sum(xp.where(past > 0, self.jump, 0.0), axis=-1)
        return left, smooth + xp.sum(xp.where(past >= 0, self.jump, 0.0), axis=-1)

    def grad(self, w: Array) -> Array:
        """The derivative at w (...); at a kink the right one."""
        return self.slopes(w)[1]

    def spread(self, axes: int = 1) -> Pieces:
        """These functions with `axes` more batch axes of length 1 at the end: for several points a function."""
        place = (..., *(None,) * axes)
        x, jump, bend = (k[(*place, slice(None))] for k in (self.x, self.jump, self.bend))
        return Pieces(x, jump, bend, self.a[place], self.s[place], self.c[place])

    def mix(self, weights: Array) -> Pieces:
        """sum_j weights_j f_j over the last batch axis; weights (..., J)."""
        xp = namespace(self.x)
        x, jump, bend = (xp.broadcast_to(k, (*_batch(k[..., 0], weights), k.shape[-1])) for k in self._knots())
        scaled = (x, weights[..., None] * jump, weights[..., None] * bend)
        places = [(..., j, k) for j in range(x.shape[-2]) for k in range(x.shape[-1])]
        flat = (outermost(xp, [part[place] for place in places]) for part in scaled)
        return Pieces(*flat, *(summed(xp, weights * part) for part in (self.a, self.s, self.c)))

    def plus(self, curvature: Array, centre: Array) -> Pieces:
        """f(w) + curvature/2 (w - centre)^2."""
        constant = self.c + curvature * centre * centre / 2
        x, jump, bend = self._knots()
        return Pieces(x, jump, bend, self.a + curvature, self.s - curvature * centre, constant)

    def least(self) -> Array:
        """A point (...) of least value, the first among equals; NaN where f falls for ever."""
        xp = namespace(self.x)
        z, root, falls = self._candidates()
        points = xp.concat([z, root], axis=-1)
        best = xp.argmin(self.spread().value(points), axis=-1, keepdims=True)
        w = xp.take_along_axis(points, best, axis=-1)[..., 0]
        return xp.where(falls, xp.full_like(w, float("nan")), w)

    def convex_least(self) -> Array:
        """The minimiser (...) of a strictly convex f: where the slope changes sign, free of the cancellation of values;
        NaN where f falls for ever.

        Between the last knot at which f goes on falling and the next one; slopes rise from knot to knot, so that the
        largest one that is not positive is the slope at that knot.
        """
        xp = namespace(self.x)
        x, _, bend = self._knots()
        left, right = self.spread().slopes(x)
        falling, inf = right <= 0, float("inf")
        start = _most(xp, xp.where(falling, x, -inf))
        end = -_most(xp, xp.where(falling, -inf, -x))
        first = start == -inf  # left of all knots
        slope = xp.where(first, -_most(xp, -left), _most(xp, xp.where(falling, right, -inf)))
        passed, whole = xp.where(x <= start[..., None], bend, 0 * bend), self.a + xp.sum(bend, axis=-1)
        curvature, most = self.a + xp.sum(passed, axis=-1), xp.abs(self.a) + xp.sum(xp.abs(bend), axis=-1)
        bent, level = curvature > ROUNDING * most, ROUNDING * _most(xp, xp.abs(right))
        way = xp.where(bent, slope, 0 * slope) / xp.where(bent, curvature, 1 + 0 * curvature)
        w = xp.minimum(xp.maximum(xp.where(first, end, start) - way, start), end)
        falls = ~bent & ((first & (slope > level)) | ((end == inf) & (slope < -level)))
        falls = falls | (xp.minimum(self.a, whole) < -ROUNDING * most)
        return xp.where(falls, float("nan"), w)

    def prox(self, v: Array, eta: Array) -> Array:
        """argmin_u f(u) + (u - v)^2 / (2 eta) (...), for f + w^2/(2 eta) convex (eta < 1/nu)."""
        return self.plus(1 / eta, v).convex_least()

    def envelope(self, w: Array, rho: Array) -> Array:
        """min_u f(u) + (u - w)^2 / (2 rho) (...), rho < 1/nu."""
        whole = self.plus(1 / rho, w)
        return whole.value(whole.convex_least())

    def envelope_slope(self, w: Array, rho: Array) -> Array:
        """The right derivative (...) of the envelope, from its values alone: three of them on one quadratic piece.

        The pieces change where w is x + rho (a slope of f at x).
        """
        xp = namespace(w)
        x = self._knots()[0]
        turns = xp.concat([x + rho[..., None] * side for side in self.spread().slopes(x)], axis=-1)
        ahead = turns - w[..., None]
        room = xp.min(xp.where(ahead > 0, ahead, xp.full_like(ahead, float("inf"))), axis=-1)
        # A quarter of the room: the third point, two steps ahead, is still well inside of the piece.
        h = xp.where(room < float("inf"), room, 1 + xp.abs(w)) / 4
        points = w[..., None] + h[..., None] * xp.asarray([0.0, 1.0, 2.0])
        e = self.spread().envelope(points, rho[..., None])
        return (4 * e[..., 1] - 3 * e[..., 0] - e[..., 2]) / (2 * h)

    def reach(self, eps: Array) -> tuple[Array, Array]:
        """The ends (...) of the interval where f <= min f + eps, of a strictly convex f."""
        w = self.convex_least()
        return self._reach(w, eps, -1), self._reach(w, eps, 1)

    def curvatures(self) -> tuple[Array, Array]:
        """The least and the largest curvature (...) that occur: -inf with a concave kink, inf with a convex one."""
        xp = namespace(self.x)
        z, curvature = self._segments()
        wide = xp.concat([xp.ones_like(z[..., :1]), z[..., 1:] - z[..., :-1], xp.ones_like(z[..., :1])], axis=-1) > 0
        left, right = self.spread().slopes(z)
        inf = xp.full_like(curvature, float("inf"))
        least = xp.min(xp.where(wide, curvature, inf), axis=-1)
        most = xp.max(xp.where(wide, curvature, -inf), axis=-1)
        none = xp.full_like(least, float("inf"))
        down, up = xp.any(right < left, axis=-1), xp.any(right > left, axis=-1)
        return xp.where(down, -none, least), xp.where(up, none, most)

    def lipschitz(self) -> Array:
        """The Lipschitz constant (...) of an f with straight ends."""
        xp = namespace(self.x)
        left, right = self.spread().slopes(self.x)
        return xp.max(xp.maximum(xp.abs(left), xp.abs(right)), axis=-1)

    def _knots(self) -> tuple[Array, Array, Array]:
        """x, jump, bend, broadcast to one shape with all batch axes."""
        xp = namespace(self.x)
        shape = (*_batch(self.x[..., 0], self.jump[..., 0], self.bend[..., 0], self.a, self.s), self.x.shape[-1])
        x, jump, bend = (xp.broadcast_to(k, shape) for k in (self.x, self.jump, self.bend))
        return x, jump, bend

    def _segments(self) -> tuple[Array, Array]:
        """The knots in order (..., K) and the curvature (..., K + 1) before, between and after them."""
        xp = namespace(self.x)
        x, _, bend = self._knots()
        order = xp.argsort(x, axis=-1)
        bends = xp.take_along_axis(bend, order, axis=-1)
        first = xp.broadcast_to(self.a[..., None], (*x.shape[:-1], 1))
        after = self.a[..., None] + xp.cumulative_sum(bends, axis=-1)
        return xp.take_along_axis(x, order, axis=-1), xp.concat([first, after], axis=-1)

    def _candidates(self) -> tuple[Array, Array, Array]:
        """Knots (..., K), stationary points (..., K + 1), and whether f falls for ever on either side (...)."""
        xp = namespace(self.x)
        z, curvature = self._segments()
        most = (xp.abs(self.a) + summed(xp, xp.abs(self.bend)))[..., None]
        curvature = xp.where(xp.abs(curvature) > ROUNDING * most, curvature, 0 * curvature)
        left, right = self.spread().slopes(z)
        start = xp.concat([z[..., :1], z], axis=-1)
        slope = xp.concat([left[..., :1], right], axis=-1)
        steep = curvature > 0
        root = start - xp.where(steep, slope, 0 * slope) / xp.where(steep, curvature, xp.ones_like(curvature))
        low = xp.concat([xp.minimum(root[..., :1], z[..., :1]), z], axis=-1)
        high = xp.concat([z, xp.maximum(root[..., -1:], z[..., -1:])], axis=-1)
        first, last = curvature[..., 0], curvature[..., -1]
        steep = ROUNDING * xp.max(xp.abs(right), axis=-1)
        falls_left = (first < 0) | ((first == 0) & (left[..., 0] > steep))
        falls = falls_left | (last < 0) | ((last == 0) & (right[..., -1] < -steep))
        return z, xp.minimum(xp.maximum(root, low), high), falls

    def _reach(self, w: Array, eps: Array, side: int) -> Array:
        """From the furthest knot (or w itself) that is still within eps, a quadratic's root."""
        xp = namespace(w)
        f, best = self.spread(), self.value(w)
        points = xp.concat([w[..., None], self._knots()[0]], axis=-1)
        rise = f.value(points) - best[..., None]
        inside = (side * (points - w[..., None]) >= 0) & (rise <= eps[..., None])
        none = xp.full_like(points, -float("inf"))
        last = xp.argmax(xp.where(inside, side * points, none), axis=-1, keepdims=True)
        z, rise = (xp.take_along_axis(k, last, axis=-1)[..., 0] for k in (points, rise))
        slope = side * self.slopes(z)[1 if side > 0 else 0]
        beyond = self.x < z[..., None] if side < 0 else self.x <= z[..., None]
        curvature = self.a + summed(xp, xp.where(beyond, self.bend + 0 * self.x, 0 * self.x))
        slope, left = xp.maximum(slope, 0 * slope), xp.maximum(eps - rise, 0 * rise)
        # The root of slope u + curvature u^2/2 = left is 2 left / below: nothing cancels, and the curvature may be 0.
        below = slope + xp.sqrt(xp.maximum(slope * slope + 2 * curvature * left, 0 * left))
        return z + side * xp.where(below > 0, 2 * left / xp.where(below > 0, below, xp.ones_like(below)), 0 * left)


def staircase(
    start: Array, first: Array, jump: Array, ramp: Array, limit: Array, stretch: Array, flat: Array
) -> Pieces:
    """A function with straight ends from the course of its slope: `first` (...) up to `start` (...), then, J times, a
    jump, a rise by `ramp` with curvature at most `limit` (divided by 1 + stretch), and a stretch `flat` of constant
    slope; all (..., J) but limit (...). With jump >= 0 it is limit-weakly convex, with jump = 0 limit-smooth; it is
    G-Lipschitz if no partial sum of the slope leaves [-G, G].
    """
    xp = namespace(ramp)
    curvature = ((ramp > 0) * 1 - (ramp < 0) * 1) * limit[..., None] / (1 + stretch)
    width = xp.where(ramp != 0, ramp, 0 * ramp) / xp.where(ramp != 0, curvature, 1 + 0 * curvature)
    ends = start[..., None] + xp.cumulative_sum(width + flat, axis=-1) - flat
    x = xp.concat([ends - width, ends], axis=-1)
    zero = 0 * first
    return Pieces(
        x,
        xp.concat([jump + 0 * ramp, 0 * ramp], axis=-1),
        xp.concat([curvature, -curvature], axis=-1),
        zero,
        first + zero,
        zero,
    )


def _most(xp: Namespace, x: Array) -> Array:
    """The largest along the last axis; few entries are compared one by one, which is quicker."""
    if x.shape[-1] >= FEW:
        return xp.max(x, axis=-1)
    return reduce(xp.maximum, [x[..., k] for k in range(x.shape[-1])])


def _batch(*arrays: Array) -> tuple[int, ...]:
    return np.broadcast_shapes(*(x.shape for x in arrays))
