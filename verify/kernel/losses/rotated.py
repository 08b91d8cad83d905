"""Functions of several variables that are sums of functions of one variable along an orthonormal basis, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from ..core.budget import summed
from ..core.loss import ONE, ZERO, Matrix, Vector, combine, dot
from ..core.rational import Node, Rejected, affordable
from . import pieces
from .pieces import Pieces

DENSE = 100  # variables of a basis that is no list of axes


@dataclass(frozen=True, slots=True)
class Rotated:
    """f(w) = sum_j parts_j(<u_j, w>) with the rows u_j of the basis; without a basis they are the axes."""

    parts: tuple[Pieces, ...]
    basis: Matrix = ()

    def along(self, w: Vector) -> Vector:
        """The <u_j, w>."""
        return tuple(dot(u, w) for u in self.basis) if self.basis else w

    def back(self, z: Sequence[fmpq]) -> Vector:
        """sum_j z_j u_j."""
        return combine(z, self.basis) if self.basis else tuple(z)

    def value(self, w: Vector) -> fmpq:
        return summed(f.value(z) for f, z in zip(self.parts, self.along(w), strict=True))

    def gradient(self, w: Vector) -> Vector:
        return self.back([f.gradient(z) for f, z in zip(self.parts, self.along(w), strict=True)])

    def hessian(self, most: bool) -> Matrix:
        """The smallest or the largest one; each is attained on a set with an interior."""
        curvatures = [f.curvatures()[most] for f in self.parts]
        finite = [k for k in curvatures if k is not None]
        if len(finite) < len(curvatures):
            raise Rejected("instance.clients: got a kink, expected a curvature everywhere")
        axes = [tuple(fmpq(r == s) for s in range(len(finite))) for r in range(len(finite))]
        basis = self.basis or axes
        return tuple(combine([k * u[r] for k, u in zip(finite, basis, strict=True)], basis) for r in range(len(finite)))

    def weakly_convex(self, nu: fmpq) -> bool:
        """Whether f + nu |w|^2 / 2 is convex; a negative nu asks for strong convexity."""
        return all(f.weakly_convex(nu) for f in self.parts)

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return all((most := f.curvatures()[1]) is not None and most <= L for f in self.parts)

    def lipschitz(self, G: fmpq) -> bool:
        """Along every direction the slope is as steep as it gets at some place, and at once for all directions."""
        steepest = [f.steepest() for f in self.parts]
        finite = [s for s in steepest if s is not None]
        return len(finite) == len(steepest) and G >= 0 and dot(finite, finite) <= G * G

    def bounded_below(self) -> bool:
        return all(f.bounded_below() for f in self.parts)

    def least(self) -> Vector:
        """A global minimiser."""
        return self.back([f.least() for f in self.parts])

    def plus(self, curvature: fmpq, centre: Vector) -> Rotated:
        """f(w) + curvature/2 |w - centre|^2."""
        centres = zip(self.parts, self.along(centre), strict=True)
        return Rotated(tuple(f.plus(curvature, z) for f, z in centres), self.basis)

    def prox(self, v: Vector, eta: fmpq) -> Vector:
        """argmin_u f(u) + |u - v|^2 / (2 eta), for f + |w|^2/(2 eta) strongly convex."""
        return self.back([f.prox(z, eta) for f, z in zip(self.parts, self.along(v), strict=True)])


def mix(weights: Sequence[fmpq], functions: Sequence[Rotated]) -> Rotated:
    """sum_j weights_j f_j, of functions along one basis."""
    if any(f.basis != functions[0].basis for f in functions):
        raise Rejected("instance.clients: got several bases, expected one, for the claim reads f as a whole")
    lines = zip(*(f.parts for f in functions), strict=True)
    return Rotated(tuple(pieces.mix(weights, line) for line in lines), functions[0].basis)


def read_basis(node: Node, d: int) -> Matrix:
    affordable(d, DENSE, node.where)
    basis = tuple(row.vector(d) for row in node.items(d))
    if any(dot(u, v) != (ONE if r == s else ZERO) for r, u in enumerate(basis) for s, v in enumerate(basis[: r + 1])):
        raise node.malformed("orthonormal rows")
    return basis


def read(node: Node, d: int, basis: Matrix) -> Rotated:
    """One function, or, of several variables, one function per direction."""
    lines = node.items(d) if d > 1 else [node]
    return Rotated(tuple(pieces.read(line) for line in lines), basis)
