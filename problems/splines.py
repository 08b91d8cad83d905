"""Losses of one variable with exactly known bounds on gradient, curvature and third derivative.

phi'' is piecewise linear, so phi' is piecewise quadratic and phi piecewise cubic. Losses of several variables are sums
over coordinates; leading axes are batch axes. Fractions in object arrays pass through unchanged, but for roots.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, namespace, summed


@dataclass(frozen=True, slots=True, eq=False)
class Splines:
    """phi''(w) = a + sum_j s_j (w - x_j)_+, and phi'(w) = g + a w + sum_j s_j (w - x_j)_+^2 / 2; phi(0) as it falls."""

    x: Array  # (..., J)  knots, in any order
    s: Array  # (..., J)  changes of the third derivative; they sum to 0 where phi'' is bounded
    a: Array  # (...)     phi'' to the left of all knots; 0 where phi' is bounded
    g: Array  # (...)

    def value(self, w: Array) -> Array:  # (...) -> (...)
        past = self._past(w)
        return self.g * w + self.a * w**2 / 2 + namespace(past).sum(self.s * past**3, axis=-1) / 6

    def grad(self, w: Array) -> Array:  # (...) -> (...)
        past = self._past(w)
        return self.g + self.a * w + namespace(past).sum(self.s * past**2, axis=-1) / 2

    def hess(self, w: Array) -> Array:  # (...) -> (...)
        past = self._past(w)
        return self.a + namespace(past).sum(self.s * past, axis=-1)

    def _past(self, w: Array) -> Array:
        apart = w[..., None] - self.x
        return namespace(apart).where(getattr(apart, "real", apart) > 0, apart, 0 * apart)  # a step may be imaginary

    def over(self, axis: int = 1) -> Splines:
        """The same losses with `axis` new batch axes at the end, to be broadcast against points."""
        index = (..., *(None,) * axis)
        return Splines(self.x[(*index, slice(None))], self.s[(*index, slice(None))], self.a[index], self.g[index])

    def before(self, axis: int) -> Splines:
        """The same losses with a new batch axis at `axis` (negative, counted without the knots)."""
        xp = namespace(self.x)
        many = (xp.expand_dims(part, axis=axis - 1) for part in (self.x, self.s))
        return Splines(*many, *(xp.expand_dims(part, axis=axis) for part in (self.a, self.g)))

    def plus(self, tilt: Array, scale: Array, other: Splines) -> Splines:
        """phi + tilt w + scale * other."""
        xp = namespace(self.x)
        bent = self.a + scale * other.a
        one = 0 * (bent + tilt)[..., None]
        x = xp.concat([self.x + one, other.x + one], axis=-1)
        s = xp.concat([self.s + one, scale[..., None] * other.s + one], axis=-1)
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
        bend, left, right = many.hess(x), x[..., :-1], x[..., 1:]
        fall = bend[..., :-1] - bend[..., 1:]
        crosses = bend[..., :-1] * bend[..., 1:] < 0
        root = left + (right - left) * bend[..., :-1] / xp.where(crosses, fall, 1 + 0 * fall)
        found = xp.concat([many.grad(x), many.grad(xp.where(crosses, root, left))], axis=-1)
        found = xp.concat([self.g[..., None], found], axis=-1)
        return xp.min(found, axis=-1), xp.max(found, axis=-1)

    @property
    def lowest(self) -> Array:
        """A lower bound where phi' is bounded and phi too, below: the least Bernstein coefficient of the cubics."""
        xp, many = namespace(self.x), self.over()
        x = xp.sort(self.x, axis=-1)
        value, slope = many.value(x), many.grad(x)
        third = (x[..., 1:] - x[..., :-1]) / 3
        inner = [value[..., :-1] + third * slope[..., :-1], value[..., 1:] - third * slope[..., 1:]]
        return xp.min(xp.concat([value, *inner], axis=-1), axis=-1)


def through(x: Array, bend: Array, g: Array) -> Splines:
    """phi''(x_j) = bend_j at rising knots x (..., J), phi'' = 0 beyond them, and phi' = g to their left."""
    xp = namespace(x)
    none = 0 * x[..., :1]
    third = xp.concat([none, (bend[..., 1:] - bend[..., :-1]) / (x[..., 1:] - x[..., :-1]), none], axis=-1)
    return Splines(x, third[..., 1:] - third[..., :-1], 0 * g, g)
