"""A sum of squared hinges: f(w) = r/2 |w - c|^2 + sum_k h_k/2 max(0, <z_k, c - w>)^2, with r >= 0 and h_k >= 0.

Each hinge is convex and flat on one side of a plane through c. Its gradient -h_k max(0, <z_k, c - w>) z_k is continuous
and its Hessian 0 or h_k z_k z_k'; so all Hessians are between r I and r I + sum_k h_k z_k z_k'.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from ...core.budget import summed
from ...core.loss import Matrix, Vector, combine, dot, minus, norm2, semidefinite
from ...core.rational import Node


@dataclass(frozen=True, slots=True, eq=False)
class Hinges:
    """A client's loss, as runs and their assumptions ask for it."""

    ridge: fmpq  # >= 0
    h: Vector  # >= 0, one per hinge
    z: Matrix
    c: Vector
    straight: bool = False  # its gradient is no affine function

    def open(self, w: Vector) -> list[tuple[fmpq, Vector, fmpq]]:
        """h, z and <z, c - w> of the hinges that are not flat at w."""
        back = minus(self.c, w)
        return [(h, z, s) for h, z in zip(self.h, self.z, strict=True) if (s := dot(z, back)) > 0]

    def value(self, w: Vector) -> fmpq:
        return summed((h * s * s / 2 for h, _, s in self.open(w)), self.ridge * norm2(minus(w, self.c)) / 2)

    def gradient(self, w: Vector) -> Vector:
        hinges = self.open(w)
        return combine((self.ridge, *(-h * s for h, _, s in hinges)), (minus(w, self.c), *(z for _, z, _ in hinges)))

    def bend(self, w: Vector, v: Vector) -> Vector:
        """The Hessian at w, times v; on a plane where a hinge begins, that of its flat side."""
        hinges = self.open(w)
        return combine((self.ridge, *(h * dot(z, v) for h, z, _ in hinges)), (v, *(z for _, z, _ in hinges)))

    def hessian(self, most: bool) -> Matrix:
        """A bound on all Hessians: no hinge, or all of them."""
        axes = [tuple(fmpq(r == s) for s in range(len(self.c))) for r in range(len(self.c))]
        hinges = [*zip(self.h, self.z, strict=True)] if most else []
        return tuple(
            combine((self.ridge, *(h * z[r] for h, z in hinges)), (axis, *(z for _, z in hinges)))
            for r, axis in enumerate(axes)
        )

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return mu <= self.ridge

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return semidefinite(self.hessian(most=True), -1, L)


def read(node: Node, d: int) -> Hinges:
    fields = node.fields("kind ridge h z c")
    z = tuple(row.vector(d) for row in fields["z"].items())
    return Hinges(fields["ridge"].rational(0), fields["h"].vector(len(z), least=0), z, fields["c"].vector(d))
