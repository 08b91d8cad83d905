"""A client's loss as the mean over finitely many data points, each made of pieces along the directions of one basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb

from flint import fmpq

from ...core.loss import ZERO, ClientLoss, Matrix, Vector, dot
from ...core.rational import Node, Rejected, affordable
from .. import pieces
from ..draws import batches, probabilities
from ..pieces import Pieces, nonnegative
from ..rotated import Rotated, mix, read_basis
from ..rotated import read as read_point

MINIBATCH, BATCHES = 1_000, 1_000  # points of a minibatch, where there is more than one to draw from, and how many


@dataclass(frozen=True, eq=False)
class Sample:
    """Data points with their probabilities q; `training`: their shares of the training sample."""

    points: tuple[Rotated, ...]
    q: Vector
    training: Vector
    straight: bool = False

    @cached_property
    def risk(self) -> Rotated:
        return mix(self.q, self.points)

    @cached_property
    def empirical(self) -> Rotated:
        return mix(self.training, self.points)

    def value(self, w: Vector) -> fmpq:
        return self.risk.value(w)

    def gradient(self, w: Vector) -> Vector:
        return self.risk.gradient(w)

    def bend(self, w: Vector, v: Vector) -> Vector:
        raise Rejected("instance.clients: got data points, expected losses with a Hessian")

    def hessian(self, most: bool) -> Matrix:
        """The smallest or the largest Hessian."""
        return self.risk.hessian(most)

    def above(self, mu: fmpq) -> bool:
        """Whether every data point's curvature is at least mu."""
        return all(f.weakly_convex(-mu) for f in self.points)

    def below(self, L: fmpq) -> bool:
        return all(f.below(L) for f in self.points)

    def minibatches(self, b: int) -> list[tuple[fmpq, Rotated]]:
        """What a draw of b points may be, with its probability."""
        if len(self.q) == 1:
            return [(fmpq(1), self.risk)]
        if b > MINIBATCH:
            raise Rejected(f"instance.minibatch: got {b} points, expected at most {MINIBATCH}")
        every = range(len(self.q))  # those of probability 0 too: an oracle counts them
        affordable(comb(b + len(every) - 1, b), BATCHES, "instance.minibatch")
        return [(chance, mix(shares, self.points)) for shares, chance in batches(self.q, b, every)]


def read(node: Node, d: int) -> Sample:
    fields = node.fields("kind q points", "training basis")
    basis = read_basis(fields["basis"], d) if "basis" in fields else ()
    points = tuple(read_point(entry, d, basis) for entry in fields["points"].items())
    q = probabilities(fields["q"], len(points))
    training = probabilities(fields["training"], len(points)) if "training" in fields else q
    if any(share > 0 and chance == 0 for share, chance in zip(training, q, strict=True)):
        raise fields["training"].malformed("points that can be drawn")
    return Sample(points, q, training)


def samples(losses: Sequence[ClientLoss]) -> list[Sample]:
    """All of them, or nothing if one has no data points."""
    clients = [loss for loss in losses if isinstance(loss, Sample)]
    return clients if len(clients) == len(losses) else []


def similar(clients: Sequence[Sample], p: Vector, B: fmpq) -> bool:
    """Whether the mean of |grad R_i|^2 is provably at most B^2 |grad f|^2 everywhere: along every direction it is."""
    risks = [client.risk for client in clients]
    if any(f.basis != risks[0].basis for f in risks):
        return False
    return all(similar_slopes(line, p, B) for line in zip(*(f.parts for f in risks), strict=True))


def similar_slopes(risks: Sequence[Pieces], p: Vector, B: fmpq) -> bool:
    """Whether the mean of risks'^2 is at most B^2 f'^2 everywhere, f the mean: on every piece a quadratic."""
    whole = pieces.mix(p, risks)
    if any(None in f.curvatures() for f in risks):
        return False

    def room(x: fmpq) -> fmpq:
        return B**2 * whole.gradient(x) ** 2 - dot(p, [f.gradient(x) ** 2 for f in risks])

    knots = sorted({x for f in risks for x, _, _ in f.knots}) or [ZERO]
    inner = all(nonnegative(room(a), room((a + b) / 2), room(b), bounded=True) for a, b in pairwise(knots))
    ends = ((knots[0], -1), (knots[-1], 1))
    return inner and all(nonnegative(*(room(x + k * side) for k in range(3)), bounded=False) for x, side in ends)
