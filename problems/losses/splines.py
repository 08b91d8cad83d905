"""Losses of one variable with exactly known bounds on gradient, curvature and third derivative.

phi'' is piecewise linear, so phi' is piecewise quadratic and phi piecewise cubic. Losses of several variables are sums
over coordinates; leading axes are batch axes. Fractions in object arrays pass through unchanged, but for roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..arrays.array_checks import Array, Namespace, namespace, summed

MANY = 8  # points of every loss: then knots are taken one by one, else all at once


@dataclass(frozen=True, slots=True, eq=False)
class Splines:
    """phi''(w) = a + sum_j s_j (w - x_j)_+, and phi'(w) = g + a w + sum_j s_j (w - x_j)_+^2 / 2; phi(0) as it falls."""

    x: Array  # (..., J)  knots, in any order; broadcast to s
    s: Array  # (..., J)  changes of the third derivative; they sum to 0 where phi'' is bounded
    a: Array  # (...)     phi'' to the left of all knots; 0 where phi' is bounded
    g: Array  # (...)

    def value(self, w: Array) -> Array:  # (...) -> (...)
        return self.g * w + self.a * w**2 / 2 + self._sum(self.s, w, 3) / 6

    def grad(self, w: Array) -> Array:  # (...) -> (...)
        return self.g + self.a * w + self._sum(self.s / 2, w, 2)

    def hess(self, w: Array) -> Array:  # (...) -> (...)
        return self.a + self._sum(self.s, w, 1)

    def value_and_grad(self, w: Array) -> tuple[Array, Array]:
        """Both of many points: they read the same distances to the knots."""
        if not self._many(w):
            return self.value(w), self.grad(w)
        xp, half = namespace(self.x, w), self.s / 2
        cubes: Array = None
        squares: Array = None
        for j in range(self.x.shape[-1]):
            past = _past(xp, w - self.x[..., j], 1)
            square = past * past
            cube, square = self.s[..., j] * (square * past), half[..., j] * square
            cubes, squares = (cube, square) if cubes is None else (cubes + cube, squares + square)
        return self.g * w + self.a * w**2 / 2 + cubes / 6, self.g + self.a * w + squares

    def _many(self, w: Array) -> bool:
        return self.x.shape[-1] > 0 and prod(w.shape) >= MANY * prod(self.x.shape[:-1])

    def _sum(self, s: Array, w: Array, power: int) -> Array:
        """sum_j s_j (w - x_j)_+^power."""
        xp, J = namespace(self.x, w), self.x.shape[-1]
        if self._many(w):
            total = s[..., 0] * _past(xp, w - self.x[..., 0], power)
            for j in range(1, J):
                total = total + s[..., j] * _past(xp, w - self.x[..., j], power)
            return total
        return xp.sum(s * _past(xp, w[..., None] - self.x, power), axis=-1)

    def over(self, axis: int = 1) -> Splines:
        """These losses with `axis` new batch axes at the end, to be broadcast against points."""
        index = (..., *(None,) * axis)
        return Splines(self.x[(*index, slice(None))], self.s[(*index, slice(None))], self.a[index], self.g[index])

    def before(self, axis: int) -> Splines:
        """These losses with a new batch axis at `axis` (negative, counted without the knots)."""
        xp = namespace(self.x)
        many = (xp.expand_dims(part, axis=axis - 1) for part in (self.x, self.s))
        return Splines(*many, *(xp.expand_dims(part, axis=axis) for part in (self.a, self.g)))

    def plus(self, tilt: Array, scale: Array, other: Splines) -> Splines:
        """phi + tilt w + scale * other; losses that differ in these alone have one set of knots."""
        xp = namespace(self.x)
        bent = self.a + scale * other.a
        one, knots = 0 * (bent + tilt), 0 * (self.a + other.a)
        x = [f.x[..., j] + knots for f in (self, other) for j in range(f.x.shape[-1])]
        s = [self.s[..., j] + one for j in range(self.s.shape[-1])]
        s += [scale * other.s[..., j] + one for j in range(other.s.shape[-1])]
        x, s = (outermost(xp, each) if each else one[..., None][..., :0] for each in (x, s))
        return Splines(x, s, bent + 0 * tilt, self.g + tilt + scale * other.g)

    @property
    def smoothness(self) -> Array:
        """The largest |phi''|: at a knot, or to the left of all."""
        xp = namespace(self.x)
        bends = xp.abs(self.over().hess(self.x))
        return xp.max(xp.concat([xp.abs(self.a)[..., None], bends], axis=-1), axis=-1)

    @property
    def steepness(self) -> Array:
        """The largest |phi'''| where it exists."""
        xp = namespace(self.x)
        after = summed(xp, xp.where(self.x[..., None] >= self.x[..., None, :], self.s[..., None, :], 0))
        return xp.max(xp.abs(xp.concat([0 * self.a[..., None], after], axis=-1)), axis=-1)

    @property
    def slopes(self) -> tuple[Array, Array]:
        """The least and the largest phi' where a = 0 and sum s = sum s x = 0: at a knot or where phi'' crosses 0."""
        xp, many = namespace(self.x), self.over()
        x = xp.sort(self.x, axis=-1)
        bend, slope, left, right = many.hess(x), many.grad(x), x[..., :-1], x[..., 1:]
        fall = bend[..., :-1] - bend[..., 1:]
        crosses = bend[..., :-1] * bend[..., 1:] < 0
        way = (right - left) * bend[..., :-1] / xp.where(crosses, fall, 1 + 0 * fall)  # from a knot to the zero
        turn = slope[..., :-1] + xp.where(crosses, bend[..., :-1] * way / 2, 0 * way)
        slopes = xp.concat([self.g[..., None], slope, turn], axis=-1)
        return xp.min(slopes, axis=-1), xp.max(slopes, axis=-1)

    @property
    def lowest(self) -> Array:
        """A lower bound where phi' is bounded and phi too, below: the least Bernstein coefficient of the cubics."""
        xp, many = namespace(self.x), self.over()
        x = xp.sort(self.x, axis=-1)
        value, slope = many.value(x), many.grad(x)
        third = (x[..., 1:] - x[..., :-1]) / 3
        inner = [value[..., :-1] + third * slope[..., :-1], value[..., 1:] - third * slope[..., 1:]]
        return xp.min(xp.concat([value, *inner], axis=-1), axis=-1)


def _past(xp: Namespace, apart: Array, power: int) -> Array:
    """apart_+^power, by products: powers of extended numbers are slow."""
    imaginary = getattr(apart.dtype, "kind", "") == "c"  # a step may be
    past = xp.where(apart.real > 0, apart, 0 * apart) if imaginary else xp.maximum(apart, 0)
    return past if power == 1 else past * past if power == 2 else past * past * past


def outermost(xp: Namespace, knots: Sequence[Array]) -> Array:
    """Numbers (..., J) of J knots (...), all instances of a knot side by side in memory: loops over them are long."""
    return xp.moveaxis(xp.stack(knots, axis=0), 0, -1)


def through(x: Array, bend: Array, g: Array) -> Splines:
    """phi''(x_j) = bend_j at rising knots x (..., J), phi'' = 0 beyond them, and phi' = g to their left."""
    xp = namespace(x)
    x, bend = (outermost(xp, [part[..., j] for j in range(part.shape[-1])]) for part in (x, bend))
    none = 0 * x[..., :1]
    third = xp.concat([none, (bend[..., 1:] - bend[..., :-1]) / (x[..., 1:] - x[..., :-1]), none], axis=-1)
    return Splines(x, third[..., 1:] - third[..., :-1], 0 * g, g)
