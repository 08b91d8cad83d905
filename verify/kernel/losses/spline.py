"""Functions of one variable whose second derivative is piecewise linear, exactly: values, derivatives, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from ..core.budget import summed
from ..core.loss import ONE, ZERO, Vector, combine, dot, minus
from ..core.rational import Node, Rejected

KNOTS = 60
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


def bounded(ends: tuple[fmpq, fmpq] | None) -> tuple[fmpq, fmpq]:
    if ends is None:
        raise Rejected("instance: got a curve of unbounded slope or curvature, expected a bounded one")
    return ends


# what bounds separable losses, one spline a coordinate


def steepest2(f: Sequence[Spline]) -> fmpq | None:
    """The largest |grad|^2; None where it is unbounded."""
    ends = [part.slopes() for part in f]
    return None if None in ends else summed(max(x * x for x in bounded(end)) for end in ends)


def spread(eta: Sequence[Spline], q: Vector, a: Sequence[Vector], b: Sequence[Vector]) -> fmpq:
    """sup over w of E|a_z + b_z eta'(w) - its mean|^2: in each coordinate a convex function of eta_j'(w_j)."""
    total = ZERO
    for j, part in enumerate(eta):
        each: list[fmpq] = []
        for end in bounded(part.slopes()):
            xs = [x[j] + y[j] * end for x, y in zip(a, b, strict=True)]
            mean = dot(q, xs)
            each.append(dot(q, [(x - mean) ** 2 for x in xs]))
        total += max(each)
    return total


def hessian_spread(eta: Sequence[Spline], q: Vector, b: Sequence[Vector]) -> fmpq:
    """sup over w of E|b_z eta''(w) - its mean|^2 in the spectral norm: every entry grows with |eta_j''|."""
    scales = [max(map(abs, bounded(part.bends()))) for part in eta]
    mean = combine(q, b)
    off = [[x * s for x, s in zip(minus(row, mean), scales, strict=True)] for row in b]
    return dot(q, [max(x * x for x in row) for row in off])


def read(node: Node) -> Spline:
    fields = node.fields("x s a g")
    x = tuple(entry.rational() for entry in fields["x"].items())
    if len(x) > KNOTS:
        raise fields["x"].malformed(f"at most {KNOTS} knots")
    knots = tuple(zip(x, fields["s"].vector(len(x)), strict=True))
    return Spline(knots, fields["a"].rational(), fields["g"].rational())
