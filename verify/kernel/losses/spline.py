"""Functions of one variable whose second derivative is piecewise linear, exactly: values, derivatives, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from ..core.budget import summed
from ..core.loss import ONE, ZERO, Matrix, Vector, combine, dot, minus, semidefinite
from ..core.rational import Node, Rejected, affordable

KNOTS, DIMENSIONS = 60, 20
Cubic = tuple[fmpq, fmpq, fmpq, fmpq]  # coefficients, constant first


@dataclass(frozen=True, slots=True)
class Spline:
    """f(w) = g w + a w^2/2 + sum over knots (x, s) of s (w - x)_+^3 / 6."""

    knots: tuple[tuple[fmpq, fmpq], ...]
    a: fmpq
    g: fmpq

    def value(self, w: fmpq) -> fmpq:
        return summed((s * (w - x) ** 3 / 6 for x, s in self.knots if w > x), (self.g + self.a * w / 2) * w)

    def slope(self, w: fmpq) -> fmpq:
        return summed((s * (w - x) ** 2 / 2 for x, s in self.knots if w > x), self.g + self.a * w)

    def bend(self, w: fmpq) -> fmpq:
        return summed((s * (w - x) for x, s in self.knots if w > x), self.a)

    def local(self, w: fmpq) -> Cubic:
        """f(w + h) as a polynomial in small h > 0."""
        third = summed(s for x, s in self.knots if w >= x)
        return self.value(w), self.slope(w), self.bend(w) / 2, third / 6

    def steepness(self) -> fmpq:
        """The Lipschitz constant of f'': the largest |f'''|."""
        return max(abs(summed(s for x, s in self.knots if x <= w)) for w in (ZERO, *self.places()))

    def bends(self) -> tuple[fmpq, fmpq] | None:
        """The least and the largest f''; None where it is unbounded."""
        if summed(s for _, s in self.knots) != 0:
            return None
        curvatures = [self.a, *map(self.bend, self.places())]
        return min(curvatures), max(curvatures)

    def smoothness(self) -> fmpq | None:
        """The largest |f''|; None where it is unbounded."""
        ends = self.bends()
        return None if ends is None else max(map(abs, ends))

    def slopes(self) -> tuple[fmpq, fmpq] | None:
        """The least and the largest f'; None where it is unbounded. f' turns only where f'' crosses zero."""
        places = self.places()
        if self.smoothness() is None or self.a != 0 or (places and self.bend(places[-1]) != 0):
            return None
        slopes = [self.g, *map(self.slope, places)]
        for left, right in pairwise(places):
            p, q = self.bend(left), self.bend(right)
            if p * q < 0:
                slopes.append(self.slope(left + (right - left) * p / (p - q)))
        return min(slopes), max(slopes)

    def places(self) -> list[fmpq]:
        return sorted({x for x, _ in self.knots})

    def rises(self) -> bool:
        """Whether it is bounded below: slopes are bounded, and do not point down far out."""
        return self.slopes() is not None and self.g <= 0 <= self.slope(max(self.places(), default=ZERO))

    def lowest(self) -> fmpq:
        """A lower bound: the least Bernstein coefficient of its cubics."""
        bounds = [self.value(x) for x in self.places()] or [self.value(ZERO)]
        for x, y in pairwise(self.places()):
            third = (y - x) / 3
            bounds += [self.value(x) + third * self.slope(x), self.value(y) - third * self.slope(y)]
        return min(bounds)

    def bottom(self) -> tuple[fmpq, fmpq] | None:
        """Minimiser and curvature of a convex one that is a parabola there; None where it is not."""
        ends = self.bends()
        for x, y in pairwise(self.places() if ends is not None and ends[0] >= 0 else ()):
            a = self.bend(x)
            if self.slope(x) <= 0 <= self.slope(y) and a == self.bend(y) > 0:
                return x - self.slope(x) / a, a
        return None


def mix(weights: Sequence[fmpq], functions: Sequence[Spline]) -> Spline:
    """sum_j weights_j f_j."""
    pairs = list(zip(weights, functions, strict=True))
    knots = tuple((x, q * s) for q, f in pairs for x, s in f.knots)
    return Spline(knots, *(dot(weights, [getattr(f, name) for f in functions]) for name in ("a", "g")))


LINE = Spline((), ZERO, ONE)


@dataclass(frozen=True, slots=True)
class Curves:
    """sum_j base_j(y_j) + a_j y_j + b_j eta_j(y_j), y = w reflected at the plane across `turn` (at none if that is 0).

    Users with one base, eta and turn differ by a and b alone.
    """

    base: tuple[Spline, ...]
    eta: tuple[Spline, ...]
    a: Vector
    b: Vector
    turn: Vector
    parts: tuple[Spline, ...]  # all of it, by coordinates of y
    straight: bool = False

    def turned(self, w: Vector) -> Vector:
        """The reflection, which is its own inverse."""
        if not any(self.turn):
            return w
        return combine((ONE, -2 * dot(self.turn, w) / dot(self.turn, self.turn)), (w, self.turn))

    def value(self, w: Vector) -> fmpq:
        return summed(part.value(y) for part, y in zip(self.parts, self.turned(w), strict=True))

    def gradient(self, w: Vector) -> Vector:
        return self.turned(tuple(part.slope(y) for part, y in zip(self.parts, self.turned(w), strict=True)))

    def bend(self, w: Vector, v: Vector) -> Vector:
        bent = zip(self.parts, self.turned(w), self.turned(v), strict=True)
        return self.turned(tuple(part.bend(y) * x for part, y, x in bent))

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return semidefinite(self.hessian(most=False), 1, -mu)

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return semidefinite(self.hessian(most=True), -1, L)

    def hessian(self, most: bool) -> Matrix:
        ends = [part.bends() for part in self.parts]
        rows: list[Vector] = []
        for r in range(len(ends)):
            unit = self.turned(tuple(fmpq(r == s) for s in range(len(ends))))
            rows.append(self.turned(tuple(_bounded(end)[most] * x for end, x in zip(ends, unit, strict=True))))
        return tuple(rows)


def _bounded(ends: tuple[fmpq, fmpq] | None) -> tuple[fmpq, fmpq]:
    if ends is None:
        raise Rejected("instance: got a curve of unbounded slope or curvature, expected a bounded one")
    return ends


def curves(node: Node, d: int) -> Curves:
    """A user's loss."""
    affordable(d, DIMENSIONS, node.where)
    fields = node.fields("kind base eta a b turn")
    base, eta = (tuple(read(part) for part in fields[name].items(d)) for name in ("base", "eta"))
    a, b, turn = (fields[name].vector(d) for name in ("a", "b", "turn"))
    parts = tuple(mix((ONE, x, y), (f, LINE, g)) for x, y, f, g in zip(a, b, base, eta, strict=True))
    return Curves(base, eta, a, b, turn, parts)


# what bounds separable losses, one spline a coordinate


def steepest2(f: Sequence[Spline]) -> fmpq | None:
    """The largest |grad|^2; None where it is unbounded."""
    ends = [part.slopes() for part in f]
    return None if None in ends else summed(max(x * x for x in _bounded(end)) for end in ends)


def spread(eta: Sequence[Spline], q: Vector, a: Sequence[Vector], b: Sequence[Vector]) -> fmpq:
    """sup over w of E|a_z + b_z eta'(w) - its mean|^2: in each coordinate a convex function of eta_j'(w_j)."""
    total = ZERO
    for j, part in enumerate(eta):
        each: list[fmpq] = []
        for end in _bounded(part.slopes()):
            xs = [x[j] + y[j] * end for x, y in zip(a, b, strict=True)]
            mean = dot(q, xs)
            each.append(dot(q, [(x - mean) ** 2 for x in xs]))
        total += max(each)
    return total


def hessian_spread(eta: Sequence[Spline], q: Vector, b: Sequence[Vector]) -> fmpq:
    """sup over w of E|b_z eta''(w) - its mean|^2 in the spectral norm: every entry grows with |eta_j''|."""
    scales = [max(map(abs, _bounded(part.bends()))) for part in eta]
    mean = combine(q, b)
    off = [[x * s for x, s in zip(minus(row, mean), scales, strict=True)] for row in b]
    return dot(q, [max(x * x for x in row) for row in off])


def meta_gap(users: Sequence[Curves], w: Vector, alpha: fmpq) -> fmpq:
    """F(w) - inf F, or more, where F is the mean of f_i(. - alpha grad f_i(.)), coordinate by coordinate.

    F_i >= inf f_i. If f_i is convex and alpha f_i'' <= 1, F_i falls towards the minimiser c_i of f_i from both sides,
    so that F is least between the c_i; where every f_i is a parabola there, F is one too.
    """
    if not all(part.rises() for user in users for part in user.parts):
        raise Rejected("instance.clients: got a loss that falls for ever, expected losses bounded below")
    values = [user.value(combine((ONE, -alpha), (w, user.gradient(w)))) for user in users]
    least = [_meta_least([user.parts[j] for user in users], alpha) for j in range(len(w))]
    return summed(values) / len(users) - summed(least)


def _meta_least(f: Sequence[Spline], alpha: fmpq) -> fmpq:
    """A lower bound of the mean of f_i(y - alpha f_i'(y)); the least value where that is easy to see."""
    bottoms_or_none = [part.bottom() for part in f]
    bottoms = [pair for pair in bottoms_or_none if pair is not None]
    low, high = (pick((c for c, _ in bottoms), default=ZERO) for pick in (min, max))
    one = all(part.bend(low) == part.bend(high) and not _knots(part, low, high) for part in f)
    if len(bottoms) < len(f) or not one or any(alpha * _bounded(part.bends())[1] > 1 for part in f):
        return summed(part.lowest() for part in f) / len(f)
    h = [a * (1 - alpha * a) ** 2 for _, a in bottoms]
    y = dot(h, [c for c, _ in bottoms]) / summed(h) if any(h) else low
    return summed(part.value(y - alpha * part.slope(y)) for part in f) / len(f)


def _knots(f: Spline, low: fmpq, high: fmpq) -> bool:
    return any(low < x < high for x in f.places())


def read(node: Node) -> Spline:
    fields = node.fields("x s a g")
    x = tuple(entry.rational() for entry in fields["x"].items())
    if len(x) > KNOTS:
        raise fields["x"].malformed(f"at most {KNOTS} knots")
    knots = tuple(zip(x, fields["s"].vector(len(x)), strict=True))
    return Spline(knots, fields["a"].rational(), fields["g"].rational())


LOSSES = {"curves": curves}
