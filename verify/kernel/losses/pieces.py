"""Functions of one variable made of quadratic pieces, exactly: minimisers, one-sided slopes, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from ..core.budget import paid, spend, summed
from ..core.loss import ZERO, dot
from ..core.rational import Node, Rejected

KNOTS, MIXED = 20, 200


@dataclass(frozen=True, slots=True)
class Pieces:
    """f(w) = c + s w + a w^2/2 + sum over knots (x, jump, bend) of jump (w - x)_+ + bend (w - x)_+^2 / 2."""

    knots: tuple[tuple[fmpq, fmpq, fmpq], ...]
    a: fmpq
    s: fmpq
    c: fmpq

    def value(self, w: fmpq) -> fmpq:
        spend(len(self.knots))
        past = ((jump + bend * (w - x) / 2) * (w - x) for x, jump, bend in self.knots if w > x)
        return summed(past, self.c + (self.s + self.a * w / 2) * w)

    def slopes(self, w: fmpq) -> tuple[fmpq, fmpq]:
        """The left and the right derivative."""
        spend(2 * len(self.knots))
        left = summed((jump + bend * (w - x) for x, jump, bend in self.knots if w > x), self.s + self.a * w)
        return left, summed((jump for x, jump, _ in self.knots if w == x), left)

    def gradient(self, w: fmpq) -> fmpq:
        left, right = self.slopes(w)
        if left != right:
            raise Rejected(f"instance: got a kink at {w}, expected a point with a gradient")
        return left

    def segments(self) -> list[tuple[fmpq | None, fmpq | None, fmpq]]:
        """(from, to, curvature) from left to right; None is infinity. Each has an interior."""
        spend(4 * len(self.knots))
        places, after = list[fmpq](), [self.a]
        for x, _, bend in sorted(self.knots):
            if places and places[-1] == x:
                after[-1] += bend
            else:
                places.append(x)
                after.append(after[-1] + bend)
        ends = pairwise([None, *places, None])
        return [(low, high, paid(curvature)) for (low, high), curvature in zip(ends, after, strict=True)]

    def curvatures(self) -> tuple[fmpq | None, fmpq | None]:
        """The least and the largest curvature; None where a concave or a convex kink makes it infinite."""
        curvatures = [curvature for _, _, curvature in self.segments()]
        gains = [right - left for left, right in (self.slopes(x) for x, _, _ in self.knots)]
        concave, convex = any(gain < 0 for gain in gains), any(gain > 0 for gain in gains)
        return None if concave else min(curvatures), None if convex else max(curvatures)

    def smooth(self, L: fmpq) -> bool:
        least, most = self.curvatures()
        return least is not None and most is not None and least >= -L and most <= L

    def weakly_convex(self, nu: fmpq) -> bool:
        """Whether f + nu w^2 / 2 is convex; a negative nu asks for strong convexity."""
        least, _ = self.curvatures()
        return least is not None and least >= -nu

    def lipschitz(self, G: fmpq) -> bool:
        steepest = self.steepest()
        return steepest is not None and steepest <= G

    def steepest(self) -> fmpq | None:
        """The largest size of a slope, if both ends are straight: between two knots slopes are monotone."""
        parts = self.segments()
        slopes = [self.s, *(side for x, _, _ in self.knots for side in self.slopes(x))]
        return max(map(abs, slopes)) if parts[0][2] == 0 and parts[-1][2] == 0 else None

    def bounded_below(self) -> bool:
        parts = self.segments()
        if len(parts) == 1:
            return self.a > 0 or (self.a == 0 and self.s == 0)
        left, right = self.slopes(parts[0][1] or ZERO)[0], self.slopes(parts[-1][0] or ZERO)[1]
        ends = ((parts[0][2], -left), (parts[-1][2], right))
        return all(curvature > 0 or (curvature == 0 and rise >= 0) for curvature, rise in ends)

    def least(self) -> fmpq:
        """A global minimiser, the first one: the best knot or stationary point."""
        spend(20)
        if not self.bounded_below():
            raise Rejected("instance: got a function that falls for ever, expected one with a minimum")
        candidates = [x for x, _, _ in self.knots]
        for low, high, curvature in self.segments():
            if curvature > 0:
                anchor = low if low is not None else high if high is not None else ZERO
                slope = self.slopes(anchor)[1 if low is not None else 0]
                root = anchor - slope / curvature
                if (low is None or root >= low) and (high is None or root <= high):
                    candidates.append(root)
        return min(sorted(candidates or [ZERO]), key=self.value)

    def plus(self, curvature: fmpq, centre: fmpq) -> Pieces:
        """f(w) + curvature/2 (w - centre)^2."""
        constant = self.c + curvature * centre * centre / 2
        return Pieces(self.knots, self.a + curvature, self.s - curvature * centre, constant)

    def prox(self, v: fmpq, eta: fmpq) -> fmpq:
        """argmin_u f(u) + (u - v)^2 / (2 eta), for f + w^2/(2 eta) strongly convex: otherwise it need not be unique."""
        problem = self.plus(1 / eta, v)
        least, _ = problem.curvatures()
        if least is None or least <= 0:
            raise Rejected("instance: got a proximal problem that is not strongly convex, expected a unique solution")
        return problem.least()


def nonnegative(p: fmpq, q: fmpq, r: fmpq, bounded: bool) -> bool:
    """Whether the quadratic with values p, q, r at 0, 1, 2 is >= 0 on [0, 2], or on [0, inf)."""
    a, b = (p - 2 * q + r) / 2, (4 * q - 3 * p - r) / 2  # a s^2 + b s + p
    if p < 0 or (bounded and r < 0) or (not bounded and (a < 0 or (a == 0 and b < 0))):
        return False
    inside = a > 0 and b < 0 and (not bounded or -b < 4 * a)
    return not inside or 4 * a * p >= b * b


def mix(weights: Sequence[fmpq], functions: Sequence[Pieces]) -> Pieces:
    """sum_j weights_j f_j."""
    pairs = list(zip(weights, functions, strict=True))
    if sum(len(f.knots) for f in functions) > MIXED:
        raise Rejected(f"instance: got more than {MIXED} knots in a sum, expected fewer")
    knots = tuple((x, q * jump, q * bend) for q, f in pairs for x, jump, bend in f.knots)
    return Pieces(knots, *(dot(weights, [getattr(f, name) for f in functions]) for name in ("a", "s", "c")))


def read(node: Node) -> Pieces:
    fields = node.fields("x jump bend a s c")
    x = tuple(entry.rational() for entry in fields["x"].items())
    if len(x) > KNOTS:
        raise fields["x"].malformed(f"at most {KNOTS} knots")
    jump, bend = (fields[name].vector(len(x)) for name in ("jump", "bend"))
    return Pieces(tuple(zip(x, jump, bend, strict=True)), *(fields[name].rational() for name in ("a", "s", "c")))
