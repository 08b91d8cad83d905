"""A convex loss whose slope saturates: f(w) = sum_j h_j z_j^2 / (2 (1 + |z_j|/r_j)) with z = w - c.

With u = |z|/r the slope is h z (1 + u/2) / (1 + u)^2 and the curvature h / (1 + u)^3: it is h at the centre, falls
towards 0 and is never 0 where h > 0, so curvatures are in (0, h], and all is rational at rational points.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from ...core.budget import paid, summed
from ...core.loss import ONE, ZERO, Matrix, Vector
from ...core.rational import Node


@dataclass(frozen=True, slots=True, eq=False)
class Saturating:
    """A client's loss, as runs and their assumptions ask for it."""

    h: Vector  # >= 0
    r: Vector  # > 0
    c: Vector
    straight: bool = False  # its gradient is no affine function

    def centred(self, w: Vector) -> list[tuple[fmpq, fmpq, fmpq]]:
        """h, z and 1 + |z|/r of each coordinate."""
        rows = zip(self.h, self.r, self.c, w, strict=True)
        return [(h, x - c, paid(ONE + abs(x - c) / r)) for h, r, c, x in rows]

    def value(self, w: Vector) -> fmpq:
        return summed(h * z * z / (2 * v) for h, z, v in self.centred(w))

    def gradient(self, w: Vector) -> Vector:
        return tuple(paid(h * z * (1 + v) / (2 * v * v)) for h, z, v in self.centred(w))  # 1 + u/2 = (1 + v)/2

    def bend(self, w: Vector, v: Vector) -> Vector:
        """The Hessian at w, times v."""
        return tuple(paid(h * x / u**3) for (h, _, u), x in zip(self.centred(w), v, strict=True))

    def hessian(self, most: bool) -> Matrix:
        """A bound on all Hessians that holds with equality at the centre (`most`), or far out in the limit."""
        size = len(self.h)
        return tuple(tuple(h if most and r == s else ZERO for s in range(size)) for r, h in enumerate(self.h))

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return mu <= 0

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return max(self.h) <= L


def read(node: Node, d: int) -> Saturating:
    fields = node.fields("kind h r c")
    h, r = fields["h"].vector(d, least=0), fields["r"].vector(d, least=0)
    if min(r) == 0:
        raise fields["r"].malformed("widths above 0")
    return Saturating(h, r, fields["c"].vector(d))
