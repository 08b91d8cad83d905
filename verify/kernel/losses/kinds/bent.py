"""A quadratic with bends where its slope changes: kinks of the curvature, double wells, Huber's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flint import fmpq

from ...core.budget import summed
from ...core.expression import FOLD, Value, least
from ...core.loss import ZERO, Loss, Matrix, Vector, dot, semidefinite
from ...core.rational import Node, Rejected


def clipped(x: Value, low: fmpq, high: fmpq) -> fmpq:
    """`x` between these ends; of a ball, one that holds all that its numbers become."""
    if isinstance(x, fmpq):
        return max(low, min(high, x))
    return cast("fmpq", FOLD["max"](low, least(high, x)))


@dataclass(frozen=True, slots=True, eq=False)
class Bent:
    """A quadratic, plus the sum over coordinates of h times the integral of clip(w_j - c, -lo, hi) from 0."""

    smooth: Loss
    bends: tuple[tuple[fmpq, fmpq, fmpq, fmpq], ...]  # (h, lo, hi, c), one a coordinate, or none at all
    straight: bool = False  # its gradient is no affine function

    def clips(self, w: Vector) -> list[tuple[fmpq, fmpq, fmpq]]:
        """(h, u, clipped u) of each bend, u = w_j - c."""
        pairs = zip(self.bends, w, strict=True) if self.bends else ()
        return [(h, x - c, clipped(x - c, -lo, hi)) for (h, lo, hi, c), x in pairs]

    def value(self, w: Vector) -> fmpq:
        return summed((h * (u - v / 2) * v for h, u, v in self.clips(w)), self.smooth.value(w))

    def gradient(self, w: Vector) -> Vector:
        plain = self.smooth.gradient(w)
        return tuple(g + h * v for g, (h, _, v) in zip(plain, self.clips(w), strict=True)) if self.bends else plain

    def bend(self, w: Vector, v: Vector) -> Vector:
        """The Hessian at w, times v."""
        bent = list(self.smooth.bend(w, v))
        for j, (h, lo, hi, c) in enumerate(self.bends):
            if h and w[j] - c in (-lo, hi):
                raise Rejected("claim: got a point where a slope changes, expected a Hessian there")
            bent[j] += h * v[j] * (-lo < w[j] - c < hi)
        return tuple(bent)

    def hessian(self, most: bool) -> Matrix:
        """The smallest or the largest Hessian; each is attained on a set with an interior."""
        pick, A = max if most else min, self.smooth.A
        bent = [pick(h, ZERO) if lo + hi > 0 else ZERO for h, lo, hi, _ in self.bends] or [ZERO] * len(A)
        return tuple(tuple(x + bent[r] * (r == s) for s, x in enumerate(row)) for r, row in enumerate(A))

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return semidefinite(self.hessian(most=False), 1, -mu)

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return semidefinite(self.hessian(most=True), -1, L)


def read(node: Node, d: int) -> Bent:
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) in each coordinate, and phi(c) = 0."""
    fields = node.fields("kind a m lo hi c")
    a, m = (fields[name].vector(d) for name in ("a", "m"))
    lo, hi = (fields[name].vector(d, least=0) for name in ("lo", "hi"))
    c = fields["c"].vector(d)
    A = tuple(tuple(m[r] * (r == s) for s in range(d)) for r in range(d))
    smooth = Loss(A, tuple(x * y for x, y in zip(m, c, strict=True)), dot(m, [x * x / 2 for x in c]))
    return Bent(smooth, tuple((a[j] - m[j], lo[j], hi[j], c[j]) for j in range(d)))
