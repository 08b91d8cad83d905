"""Regularisers g with exact proximal points.

All of them are g(x) = sum_j (up max(x_j, 0) + down max(-x_j, 0) + ridge x_j^2 / 2) with nonnegative numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from ..core.budget import summed
from ..core.loss import ZERO, Vector
from ..core.rational import Node
from .kinds.table import Penalty, read_penalty


@dataclass(frozen=True, slots=True)
class Regulariser:
    up: fmpq = ZERO
    down: fmpq = ZERO
    ridge: fmpq = ZERO

    @property
    def affine(self) -> bool:
        """Whether its proximal point is an affine function."""
        return not self.up and not self.down

    def value(self, x: Vector) -> fmpq:
        return summed(self.up * max(y, ZERO) + self.down * max(-y, ZERO) + self.ridge * y * y / 2 for y in x)

    def prox(self, w: Vector, s: fmpq) -> Vector:
        """argmin_u s g(u) + |w - u|^2 / 2."""
        up, down, shrink = s * self.up, s * self.down, 1 + s * self.ridge
        return tuple((y - up if y > up else y + down if y < -down else ZERO) / shrink for y in w)

    def conjugate(self, s: Vector) -> fmpq | None:
        """sup_x <s, x> - g(x); None where it is infinite."""
        over = [max(y - self.up, -y - self.down, ZERO) for y in s]
        if not self.ridge:
            return None if any(over) else ZERO
        return summed(y * y for y in over) / (2 * self.ridge)

    def slope(self, x: fmpq, right: bool) -> fmpq:
        """The one-sided derivative in a coordinate."""
        return (self.up if x > 0 or (x == 0 and right) else -self.down) + self.ridge * x

    def subgradient(self, x: Vector, s: Vector) -> bool:
        """Whether s is a subgradient at x."""
        return all(self.slope(y, False) <= z <= self.slope(y, True) for y, z in zip(x, s, strict=True))

    def bounded(self, B: fmpq, d: int) -> bool:
        """Whether no subgradient in d dimensions is longer than B."""
        return B >= 0 and not self.ridge and d * max(self.up, self.down) ** 2 <= B**2


def read(node: Node, d: int) -> Regulariser | Penalty:
    kind = node.kind(("l1", "pinball", "ridge", "table"))
    if kind == "table":
        return read_penalty(node, d)
    if kind == "pinball":
        fields = node.fields("kind up down")
        return Regulariser(fields["up"].rational(least=0), fields["down"].rational(least=0))
    theta = node.fields("kind theta")["theta"].rational(least=0)
    return Regulariser(theta, theta) if kind == "l1" else Regulariser(ridge=theta)
