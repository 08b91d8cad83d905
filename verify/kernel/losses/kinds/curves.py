"""A user's loss that is separable after a turn: a spline in each coordinate, and what is known of its meta-function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from ...core.budget import summed
from ...core.loss import ONE, ZERO, Matrix, Vector, combine, dot, semidefinite
from ...core.rational import Node, Rejected, affordable
from ..spline import LINE, Spline, bounded, mix
from ..spline import read as read_spline

DIMENSIONS = 20


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
            rows.append(self.turned(tuple(bounded(end)[most] * x for end, x in zip(ends, unit, strict=True))))
        return tuple(rows)


def read(node: Node, d: int) -> Curves:
    """A user's loss."""
    affordable(d, DIMENSIONS, node.where)
    fields = node.fields("kind base eta a b turn")
    base, eta = (tuple(read_spline(part) for part in fields[name].items(d)) for name in ("base", "eta"))
    a, b, turn = (fields[name].vector(d) for name in ("a", "b", "turn"))
    parts = tuple(mix((ONE, x, y), (f, LINE, g)) for x, y, f, g in zip(a, b, base, eta, strict=True))
    return Curves(base, eta, a, b, turn, parts)


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
    if len(bottoms) < len(f) or not one or any(alpha * bounded(part.bends())[1] > 1 for part in f):
        return summed(part.lowest() for part in f) / len(f)
    h = [a * (1 - alpha * a) ** 2 for _, a in bottoms]
    y = dot(h, [c for c, _ in bottoms]) / summed(h) if any(h) else low
    return summed(part.value(y - alpha * part.slope(y)) for part in f) / len(f)


def _knots(f: Spline, low: fmpq, high: fmpq) -> bool:
    return any(low < x < high for x in f.places())
