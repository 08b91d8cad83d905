"""Regularisers with proximal points in closed form, and the minimiser of F = f + g.

g(x) = sum_j (up max(x_j, 0) + down max(-x_j, 0) + ridge x_j^2 / 2), one triple of numbers (n,) for each instance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..arrays.array_checks import Array, Namespace, fail, is_numpy, namespace, summed
from .piecewise import Piecewise
from .quadratics import Quadratics, argmin

Thresholds = tuple[Array, Array, Array]  # -s down, s up and 1 + s ridge, each None where nothing is done with it
ROUNDING = 1e-9  # by how much a rounded subgradient may leave the domain of the conjugate


@dataclass(frozen=True, slots=True, eq=False)
class Regulariser:
    up: Array  # (n,)
    down: Array
    ridge: Array
    affine: bool  # up = down = 0
    unit: Array  # (n,): a slope of the problem; subgradients are rounded to a small part of it

    def some(self, rows: slice) -> "Regulariser":
        """The regularisers of some instances."""
        return Regulariser(self.up[rows], self.down[rows], self.ridge[rows], self.affine, self.unit[rows])

    def parts(self, x: Array) -> tuple[Namespace, Array, Array, Array]:
        """The library of x (.., n, c, d), and up, down and ridge with axes that broadcast against x."""
        return namespace(x), *(y[:, None, None] for y in (self.up, self.down, self.ridge))

    def prox(self, x: Array, s: Any) -> Array:
        """argmin_u s g(u) + |x - u|^2 / 2."""
        return self.shrunk(x, self.thresholds(s))

    def thresholds(self, s: Any) -> Thresholds:
        """All of a proximal point that does not depend on where it is taken."""
        xp, up, down, ridge = self.parts(self.up)
        divisor = None if is_numpy(xp) and not ridge.any() else 1 + s * ridge
        return (None, None, divisor) if self.affine else (-s * down, s * up, divisor)

    def shrunk(self, x: Array, thresholds: Thresholds) -> Array:
        """The proximal point."""
        low, high, divisor = thresholds
        if not self.affine:
            xp = namespace(x)
            x = x - xp.minimum(xp.maximum(x, low), high)
        return x if divisor is None else x / divisor

    def coordinates(self, x: Array) -> Array:
        xp, up, down, ridge = self.parts(x)
        none = xp.zeros_like(x)
        return up * xp.maximum(x, none) + down * xp.maximum(-x, none) + 0.5 * ridge * x * x

    def value(self, x: Array) -> Array:
        return namespace(x).sum(self.coordinates(x), axis=-1)

    def conjugate(self, s: Array) -> Array:
        """g*(s) for s (.., n, c, d); infinite outside the domain of g*, up to rounding."""
        xp, up, down, ridge = self.parts(s)
        over = xp.maximum(xp.maximum(s - up, -s - down), xp.zeros_like(s))
        safe = xp.where(ridge > 0, ridge, xp.ones_like(ridge))
        size = up + down + self.unit[:, None, None]
        flat = xp.where(over > ROUNDING * size, xp.full_like(over, float("inf")), xp.zeros_like(over))
        return summed(xp, xp.where(ridge > 0, over * over / (2 * safe), flat))


def minimiser(problem: Any, g: Regulariser) -> Array:
    """x* (n, d): exact up to rounding. Quadratics: the best of all sign patterns. Others on the line: the best of all
    kinks and stationary points. f has to grow in every direction."""
    return _of_quadratic(problem, g) if isinstance(problem, Quadratics) else _on_a_line(problem, g)


def excess(problem: Any, g: Regulariser, origin: Array) -> Callable[[Array], Array]:
    """F(x) - F(origin) for x (.., n, c, d), without cancellation near a minimiser; origin (n, d)."""
    xp, far, at = namespace(origin), problem.gap_from(origin), origin[:, None, :]
    slope = summed(xp, problem.p[..., None] * problem.grad(at), -2)[:, None, :]
    there = g.coordinates(at)

    def above(x: Array) -> Array:
        rest = summed(xp, slope * (x - at) + (g.coordinates(x) - there))
        total = xp.stack([far(x[..., i, :]) for i in range(x.shape[-2])], axis=-1) + rest
        rounding = 1e-14 * g.unit[:, None] * (xp.max(xp.abs(x), axis=-1) + xp.max(xp.abs(at), axis=-1))
        return xp.where(xp.abs(total) > rounding, total, xp.zeros_like(total))  # a flat minimum leaves only rounding

    return above


def least_value(problem: Any, g: Regulariser, x: Array) -> Array:
    """F (n,) at x (n, d)."""
    xp = namespace(x)
    return summed(xp, problem.p * problem.value(x[:, None, :])) + g.value(x[:, None, :])[:, 0]


def _of_quadratic(problem: Quadratics, g: Regulariser) -> Array:
    plain, b = problem.mean()
    xp, d = namespace(plain), b.shape[-1]
    A = plain + g.ridge[:, None, None] * xp.eye(d, dtype=b.dtype)
    if g.affine:
        return argmin(A, b)
    if d > 2:
        raise fail(f"d = {d}", "d = 1 or d = 2", "take fewer coordinates")
    candidates: list[Array] = []
    # A wrong pattern does no harm: F is evaluated at its point as it is, and there it is not the least.
    for signs in product((-1.0, 0.0, 1.0), repeat=d):
        sign = xp.asarray(signs, dtype=b.dtype)
        on = sign != 0
        system = xp.where(on[:, None] & on[None, :], A, xp.eye(d, dtype=b.dtype))
        pull = xp.where(sign > 0, g.up[:, None], -g.down[:, None])
        candidates.append(_solve(system, xp.where(on, b - pull, xp.zeros_like(b))))
    points = xp.stack(candidates, axis=-2)  # (n, patterns, d)
    smooth = summed(xp, points * (0.5 * xp.matmul(points, A) - b[..., None, :]))
    kinks = g.coordinates(points) - 0.5 * g.ridge[:, None, None] * points**2
    return _best(points, smooth + summed(xp, kinks))


def _solve(A: Array, b: Array) -> Array:
    """A (n, d, d), d <= 2, by Cramer's rule; the origin where A is singular (another pattern is then best)."""
    xp = namespace(A)
    if b.shape[-1] == 1:
        det, top = A[..., 0], b
    else:
        det = (A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0])[..., None]
        first = A[..., 1, 1] * b[..., 0] - A[..., 0, 1] * b[..., 1]
        second = A[..., 0, 0] * b[..., 1] - A[..., 1, 0] * b[..., 0]
        top = xp.stack([first, second], axis=-1)
    regular = det != 0
    return xp.where(regular, top / xp.where(regular, det, xp.ones_like(det)), xp.zeros_like(b))


def _kinks(problem: Piecewise) -> Array:
    """The kinks of f, and 0, in rising order (n, 2 C + 1)."""
    xp = namespace(problem.c)
    kinks = xp.concat([problem.c - problem.lo, problem.c + problem.hi, xp.zeros_like(problem.c[..., :1, :])], axis=-2)
    return xp.sort(kinks[..., 0], axis=-1)


def _on_a_line(problem: Piecewise, g: Regulariser) -> Array:
    xp = namespace(problem.c)
    if problem.d != 1:
        raise fail(f"d = {problem.d}", "d = 1 for losses with kinks", "use quadratics, or one dimension")
    inner, up, down, ridge = _kinks(problem), *(y[:, None] for y in (g.up, g.down, g.ridge))
    tail = summed(xp, problem.p * problem.m[..., 0])[..., None] + ridge

    def along(x: Array, of: Callable[[Array], Array]) -> Array:
        """sum_i p_i of_i at k points (n, k)."""
        return xp.stack([summed(xp, problem.p * of(x[..., k, None, None])) for k in range(x.shape[-1])], axis=-1)

    def slope(x: Array) -> Array:
        return along(x, lambda w: problem.grad(w)[..., 0]) + ridge * x

    low, high = inner[..., :1], inner[..., -1:]  # 0 is among them: x < 0 below low, x > 0 above high
    safe = xp.where(tail > 0, tail, xp.ones_like(tail))
    left = low - xp.maximum(slope(low) - down, xp.zeros_like(low)) / safe
    right = high + xp.maximum(-slope(high) - up, xp.zeros_like(high)) / safe
    start, end = inner[..., :-1], inner[..., 1:]
    side = xp.where(start >= 0, up, -down)
    at_start, at_end = slope(start) + side, slope(end) + side
    rise = at_end - at_start
    root = start - at_start * (end - start) / xp.where(rise != 0, rise, xp.ones_like(rise))
    points = xp.concat([left, inner, xp.minimum(xp.maximum(root, start), end), right], axis=-1)
    falls = (tail <= 0) & ((slope(low) - down > 0) | (slope(high) + up < 0))
    best = _best(points[..., None], along(points, problem.value) + g.coordinates(points[..., None])[..., 0])
    return xp.where(falls, xp.full_like(best, float("nan")), best)


def _best(candidates: Array, values: Array) -> Array:
    xp = namespace(values)
    place = xp.argmin(values, axis=-1, keepdims=True)
    return xp.take_along_axis(candidates, place[..., None], axis=-2)[..., 0, :]
