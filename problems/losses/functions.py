"""Single functions of any curvature, for statements about functions: quadratics, and quadratics with a bend.

Nothing is assumed convex: a curvature may be negative. Leading axes are batch axes.
"""

from dataclasses import dataclass

from ..arrays.array_checks import Array, namespace, summed


@dataclass(frozen=True, slots=True, eq=False)
class Bent:
    """f(w) = x'Ax/2 + sum_j h_j u_j (x_j - u_j/2) with x = w - c and u = clip(x, -lo, hi); f(c) = 0."""

    A: Array  # (..., d, d)  symmetric: the Hessian outside the bends
    h: Array  # (..., d)     curvature added between c - lo and c + hi
    lo: Array  # (..., d)    >= 0
    hi: Array  # (..., d)    >= 0
    c: Array  # (..., d)     a stationary point

    def value(self, w: Array) -> Array:  # (..., d) -> (...)
        x, u = self._parts(w)
        xp = namespace(x)
        return summed(xp, 0.5 * x * self._times(x) + self.h * u * (x - 0.5 * u))

    def grad(self, w: Array) -> Array:  # (..., d) -> (..., d)
        x, u = self._parts(w)
        return self._times(x) + self.h * u

    def _times(self, x: Array) -> Array:
        return namespace(x).sum(self.A * x[..., None, :], axis=-1)

    def _parts(self, w: Array) -> tuple[Array, Array]:
        x = w - self.c
        xp = namespace(x)
        return x, xp.minimum(xp.maximum(x, -self.lo), self.hi)


def smoothness(m: Array, h: Array, lo: Array, hi: Array, c: Array, weights: Array) -> Array:
    """The least L (...) for which sum_i weights_i f_i is L-smooth, all f_i separable with parameters (..., N, d).

    It is the largest |slope of f'|. The slope is constant between neighbouring kinks: the middles and far out show all.
    """
    xp = namespace(m)
    kinks = xp.sort(xp.concat([c - lo, c + hi], axis=-2), axis=-2)
    left, right = kinks[..., :-1, :], kinks[..., 1:, :]
    inner = 0.5 * (left + right)[..., :, None, :]  # (..., 2N-1, 1, d)
    inside = (inner > (c - lo)[..., None, :, :]) & (inner < (c + hi)[..., None, :, :])
    bend = xp.where(inside, h[..., None, :, :], xp.zeros_like(inner))
    slopes = summed(xp, weights[..., None, :, None] * (m[..., None, :, :] + bend), -2)
    slopes = xp.where(right > left, slopes, xp.zeros_like(slopes))
    outer = summed(xp, weights[..., :, None] * m, -2)
    return xp.max(xp.concat([xp.abs(slopes), xp.abs(outer)[..., None, :]], axis=-2), axis=(-2, -1))
