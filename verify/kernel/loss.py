"""A client's loss, quadratic with optional bends, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from .rational import Node

Vector = tuple[fmpq, ...]
ZERO = fmpq(0)


def dot(x: Sequence[fmpq], y: Sequence[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(x, y, strict=True)), ZERO)


def combine(weights: Sequence[fmpq], vectors: Sequence[Vector]) -> Vector:
    """sum_n weights[n] vectors[n]."""
    return tuple(dot(weights, entries) for entries in zip(*vectors, strict=True))


def diagonal(x: Sequence[fmpq]) -> fmpq_mat:
    return fmpq_mat([[a if r == s else ZERO for s in range(len(x))] for r, a in enumerate(x)])


def semidefinite(m: fmpq_mat) -> bool:
    """Whether a symmetric matrix is positive semidefinite: LDL', where a zero pivot needs a zero row."""
    rows = m.tolist()
    for r, row in enumerate(rows):
        if row[r] < 0 or (row[r] == 0 and any(row[r:])):
            return False
        for below in rows[r + 1 :] if row[r] else []:
            factor = below[r] / row[r]
            below[r:] = [b - factor * a for a, b in zip(row[r:], below[r:], strict=True)]
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """f(w) = w'Aw/2 - b'w + constant + sum over bends of h times the integral of clip(w_j - c_j, -lo, hi)."""

    A: tuple[Vector, ...]
    b: Vector
    constant: fmpq = ZERO
    bends: tuple[tuple[fmpq, fmpq, fmpq, fmpq], ...] = ()  # (h, lo, hi, c), one a coordinate, or none at all

    def clips(self, w: Vector) -> list[tuple[fmpq, fmpq, fmpq]]:
        """(h, u, clipped u) of each bend, u = w_j - c_j."""
        pairs = zip(self.bends, w, strict=True) if self.bends else ()
        return [(h, x - c, max(-lo, min(hi, x - c))) for (h, lo, hi, c), x in pairs]

    def value(self, w: Vector) -> fmpq:
        smooth = dot([dot(row, w) / 2 - b for row, b in zip(self.A, self.b, strict=True)], w) + self.constant
        return sum((h * (u - v / 2) * v for h, u, v in self.clips(w)), smooth)

    def gradient(self, w: Vector) -> Vector:
        plain = tuple(dot(row, w) - b for row, b in zip(self.A, self.b, strict=True))
        return tuple(g + h * v for g, (h, _, v) in zip(plain, self.clips(w), strict=True)) if self.bends else plain

    def hessian(self, most: bool) -> fmpq_mat:
        """The smallest or the largest Hessian; each is attained on a set with an interior."""
        pick = max if most else min
        bent = [pick(h, ZERO) if lo + hi > 0 else ZERO for h, lo, hi, _ in self.bends]
        return fmpq_mat([list(row) for row in self.A]) + diagonal(bent or [ZERO] * len(self.b))


def quadratic(node: Node, d: int) -> Loss:
    """f(w) = w'Aw/2 - b'w."""
    given = node.fields("kind A b")
    A = tuple(row.vector(d) for row in given["A"].items(d))
    if any(A[r][s] != A[s][r] for r in range(d) for s in range(r)):
        raise given["A"].malformed("a symmetric matrix")
    return Loss(A, given["b"].vector(d))


def piecewise(node: Node, d: int) -> Loss:
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) in each coordinate, and phi(c) = 0."""
    given = node.fields("kind a m lo hi c")
    a, m, lo, hi = (given[name].vector(d, least=0) for name in ("a", "m", "lo", "hi"))
    c = given["c"].vector(d)
    A = tuple(tuple(m[r] if r == s else ZERO for s in range(d)) for r in range(d))
    bends = tuple((a[j] - m[j], lo[j], hi[j], c[j]) for j in range(d))
    return Loss(A, tuple(x * y for x, y in zip(m, c, strict=True)), dot(m, [x * x / 2 for x in c]), bends)


KINDS = {"quadratic": quadratic, "piecewise": piecewise}
