"""Functions of one variable whose second derivative is piecewise linear, exactly: values, derivatives, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from .loss import ZERO, dot
from .rational import Node
from .work import summed

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

    def smoothness(self) -> fmpq | None:
        """The largest |f''|; None where it is unbounded."""
        if summed(s for _, s in self.knots) != 0:
            return None
        return max(abs(b) for b in (self.a, *map(self.bend, self.places())))

    def slopes(self) -> tuple[fmpq, fmpq] | None:
        """The least and the largest f'; None where it is unbounded. f' turns only where f'' crosses zero."""
        places = self.places()
        if self.smoothness() is None or self.a != 0 or (places and self.bend(places[-1]) != 0):
            return None
        found = [self.g, *map(self.slope, places)]
        for left, right in pairwise(places):
            p, q = self.bend(left), self.bend(right)
            if p * q < 0:
                found.append(self.slope(left + (right - left) * p / (p - q)))
        return min(found), max(found)

    def places(self) -> list[fmpq]:
        return sorted({x for x, _ in self.knots})


def mix(weights: Sequence[fmpq], functions: Sequence[Spline]) -> Spline:
    """sum_j weights_j f_j."""
    pairs = list(zip(weights, functions, strict=True))
    knots = tuple((x, q * s) for q, f in pairs for x, s in f.knots)
    return Spline(knots, *(dot(weights, [getattr(f, name) for f in functions]) for name in ("a", "g")))


def read(node: Node) -> Spline:
    given = node.fields("x s a g")
    x = tuple(entry.rational() for entry in given["x"].items())
    if len(x) > KNOTS:
        raise given["x"].malformed(f"at most {KNOTS} knots")
    return Spline(tuple(zip(x, given["s"].vector(len(x)), strict=True)), given["a"].rational(), given["g"].rational())
