"""Vectors, semidefinite matrices, and a client's loss in exact arithmetic: a quadratic; the others are in losses/."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flint import fmpq

from .budget import paid, spend, summed
from .rational import Node, affordable

Vector = tuple[fmpq, ...]
Matrix = tuple[Vector, ...]
ZERO, ONE = fmpq(0), fmpq(1)
DENSE = 100_000  # rational operations on full matrices


def dot(x: Sequence[fmpq], y: Sequence[fmpq]) -> fmpq:
    return summed([a * b for a, b in zip(x, y, strict=True)])


def plus(*vectors: Vector) -> Vector:
    return tuple(map(summed, zip(*vectors, strict=True)))


def scaled(factor: fmpq, x: Vector) -> Vector:
    return tuple([paid(factor * entry) for entry in x])


def combine(weights: Sequence[fmpq], vectors: Sequence[Vector]) -> Vector:
    return tuple([dot(weights, entries) for entries in zip(*vectors, strict=True)])


def minus(x: Vector, y: Vector) -> Vector:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def norm2(x: Vector) -> fmpq:
    return dot(x, x)


def ldl(matrix: Sequence[Sequence[fmpq]]) -> list[tuple[fmpq, Vector]] | None:
    """A symmetric matrix as a sum of D u u' with D > 0; None unless it is positive semidefinite."""
    rest, parts = [list(row[r:]) for r, row in enumerate(matrix)], list[tuple[fmpq, Vector]]()  # the upper triangle
    for r, row in enumerate(rest):
        pivot = row[0]
        if pivot < 0 or (pivot == 0 and any(row)):  # a zero pivot needs a zero row
            return None
        if pivot > 0:
            unit = [x / pivot for x in row]
            parts.append((pivot, (ZERO,) * r + tuple(unit)))
            spend(len(rest))
            for n, a in enumerate(unit[1:], 1):
                if a:
                    rest[r + n] = [paid(x - a * b) for x, b in zip(rest[r + n], row[n:], strict=True)]
    return parts


def semidefinite(matrix: Matrix, sign: int = 1, shift: fmpq = ZERO) -> bool:
    """Whether sign M + shift I is positive semidefinite."""
    shifted = [[sign * x + (shift if r == s else 0) for s, x in enumerate(row)] for r, row in enumerate(matrix)]
    return ldl(shifted) is not None


class ClientLoss(Protocol):
    """What a run and its assumptions ask of any loss: the quadratics below, and those of the layer `losses`."""

    @property
    def straight(self) -> bool: ...  # whether its gradient is an affine function
    def value(self, w: Vector) -> fmpq: ...
    def gradient(self, w: Vector) -> Vector: ...
    def bend(self, w: Vector, v: Vector) -> Vector: ...
    def hessian(self, most: bool) -> Matrix: ...
    def above(self, mu: fmpq) -> bool: ...
    def below(self, L: fmpq) -> bool: ...


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """w'Aw/2 - b'w + constant."""

    A: Matrix
    b: Vector
    constant: fmpq = ZERO
    straight: bool = True  # its gradient is an affine function

    def value(self, w: Vector) -> fmpq:
        return summed(((dot(row, w) / 2 - b) * x for row, b, x in zip(self.A, self.b, w, strict=True)), self.constant)

    def gradient(self, w: Vector) -> Vector:
        return tuple([dot(row, w) - b for row, b in zip(self.A, self.b, strict=True)])

    def bend(self, w: Vector, v: Vector) -> Vector:
        """The Hessian at w, times v."""
        return tuple([dot(row, v) for row in self.A])

    def hessian(self, most: bool) -> Matrix:
        """The smallest or the largest Hessian."""
        return self.A

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return semidefinite(self.A, 1, -mu)

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return semidefinite(self.A, -1, L)


def quadratic(node: Node, d: int) -> Loss:
    """f(w) = w'Aw/2 - b'w."""
    affordable(d**3, DENSE, node.where)
    fields = node.fields("kind A b")
    A = tuple(row.vector(d) for row in fields["A"].items(d))
    if any(A[r][s] != A[s][r] for r in range(d) for s in range(r)):
        raise fields["A"].malformed("a symmetric matrix")
    return Loss(A, fields["b"].vector(d))
