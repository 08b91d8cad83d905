"""Vectors, and a client's loss in exact arithmetic: a quadratic, with bends where its slope changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from flint import fmpq

from .budget import paid, paid_each, spend, summed
from .expression import FOLD, Value, least
from .rational import Node, Rejected, affordable

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


def clipped(x: Value, low: fmpq, high: fmpq) -> fmpq:
    """`x` between these ends; of a ball, one that holds all that its numbers become."""
    if isinstance(x, fmpq):
        return max(low, min(high, x))
    return cast("fmpq", FOLD["max"](low, least(high, x)))


def ldl(matrix: Sequence[Sequence[fmpq]]) -> list[tuple[fmpq, Vector]] | None:
    """A symmetric matrix as a sum of D u u' with D > 0; None unless it is positive semidefinite."""
    return ldl_of_upper([list(row[r:]) for r, row in enumerate(matrix)])


def ldl_of_upper(rest: list[list[fmpq]]) -> list[tuple[fmpq, Vector]] | None:
    """`ldl` from each row's diagonal entry and what stands right of it: nothing else is read."""
    size, parts = len(rest), list[tuple[fmpq, Vector]]()
    for r, row in enumerate(rest):
        pivot = row[0]
        if pivot < 0 or (pivot == 0 and any(row)):  # a zero pivot needs a zero row
            return None
        if pivot > 0:
            unit = [x / pivot for x in row]
            parts.append((pivot, (ZERO,) * r + tuple(unit)))
            spend(size)
            for n, a in enumerate(unit[1:], 1):
                if a:
                    rest[r + n] = paid_each([x - a * b for x, b in zip(rest[r + n], row[n:], strict=True)])
    return parts


def semidefinite(matrix: Matrix, sign: int = 1, shift: fmpq = ZERO) -> bool:
    """Whether sign M + shift I is positive semidefinite."""
    shifted = [[sign * x + (shift if r == s else 0) for s, x in enumerate(row)] for r, row in enumerate(matrix)]
    return ldl(shifted) is not None


class ClientLoss(Protocol):
    """What a run and its assumptions ask of any loss: the quadratics of this file, and those of the layer `losses`."""

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
    """w'Aw/2 - b'w + constant + sum over bends of h times the integral of clip(w_j - c, -lo, hi) from 0."""

    A: Matrix
    b: Vector
    constant: fmpq = ZERO
    bends: tuple[tuple[fmpq, fmpq, fmpq, fmpq], ...] = ()  # (h, lo, hi, c), one a coordinate, or none at all

    @property
    def straight(self) -> bool:
        return not self.bends

    def clips(self, w: Vector) -> list[tuple[fmpq, fmpq, fmpq]]:
        """(h, u, clipped u) of each bend, u = w_j - c."""
        pairs = zip(self.bends, w, strict=True) if self.bends else ()
        return [(h, x - c, clipped(x - c, -lo, hi)) for (h, lo, hi, c), x in pairs]

    def value(self, w: Vector) -> fmpq:
        smooth = summed(((dot(row, w) / 2 - b) * x for row, b, x in zip(self.A, self.b, w, strict=True)), self.constant)
        return summed((h * (u - v / 2) * v for h, u, v in self.clips(w)), smooth)

    def gradient(self, w: Vector) -> Vector:
        plain = tuple([dot(row, w) - b for row, b in zip(self.A, self.b, strict=True)])
        if self.bends:
            plain = tuple(g + h * v for g, (h, _, v) in zip(plain, self.clips(w), strict=True))
        return plain

    def bend(self, w: Vector, v: Vector) -> Vector:
        """The Hessian at w, times v."""
        bent = [dot(row, v) for row in self.A]
        for j, (h, lo, hi, c) in enumerate(self.bends):
            if h and w[j] - c in (-lo, hi):
                raise Rejected("claim: got a point where a slope changes, expected a Hessian there")
            bent[j] += h * v[j] * (-lo < w[j] - c < hi)
        return tuple(bent)

    def hessian(self, most: bool) -> Matrix:
        """The smallest or the largest Hessian; each is attained on a set with an interior."""
        pick = max if most else min
        bent = [pick(h, ZERO) if lo + hi > 0 else ZERO for h, lo, hi, _ in self.bends] or [ZERO] * len(self.b)
        return tuple(tuple(x + bent[r] * (r == s) for s, x in enumerate(row)) for r, row in enumerate(self.A))

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return semidefinite(self.hessian(most=False), 1, -mu)

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return semidefinite(self.hessian(most=True), -1, L)


def quadratic(node: Node, d: int) -> Loss:
    """f(w) = w'Aw/2 - b'w."""
    affordable(d**3, DENSE, node.where)
    fields = node.fields("kind A b")
    A = tuple(row.vector(d) for row in fields["A"].items(d))
    if any(A[r][s] != A[s][r] for r in range(d) for s in range(r)):
        raise fields["A"].malformed("a symmetric matrix")
    return Loss(A, fields["b"].vector(d))


def piecewise(node: Node, d: int) -> Loss:
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) in each coordinate, and phi(c) = 0."""
    fields = node.fields("kind a m lo hi c")
    a, m = (fields[name].vector(d) for name in ("a", "m"))
    lo, hi = (fields[name].vector(d, least=0) for name in ("lo", "hi"))
    c = fields["c"].vector(d)
    A = tuple(tuple(m[r] * (r == s) for s in range(d)) for r in range(d))
    bends = tuple((a[j] - m[j], lo[j], hi[j], c[j]) for j in range(d))
    return Loss(A, tuple(x * y for x, y in zip(m, c, strict=True)), dot(m, [x * x / 2 for x in c]), bends)
