"""Users that draw m points each from a distribution on a line, every draw enumerated."""

from __future__ import annotations

from itertools import product
from math import prod

from flint import fmpq

from ..core.budget import paid, spend, summed
from ..core.claim import Claim
from ..core.loss import ONE, ZERO, Vector, combine, minus
from ..core.rational import Node, affordable
from ..core.world import Reader, World, tabled
from ..losses.draws import batches, number
from .meta import COUNT, SIZE

WORK = 400_000


def distance(x: Vector, q: Vector, r: Vector) -> fmpq:
    """W_1 on a line: the integral of the difference of the distribution functions."""
    total, below = ZERO, ZERO
    spend(3 * len(x))
    for left, right, off in zip(x, x[1:], minus(q, r), strict=False):
        below += off
        total += (right - left) * abs(below)
    return paid(total)


def read(node: Node, claim: Claim) -> World:
    fields = node.fields("x q C b constants")
    N = len(fields["x"].items())
    x, q = fields["x"].vector(N), fields["q"].vector(N, least=0)
    if not 1 <= N <= COUNT or list(x) != sorted(set(x)) or summed(q) != 1:
        raise fields["x"].malformed(f"from 1 to {COUNT} rising points and their probabilities")
    n, m = fields["C"].integer(1, COUNT), fields["b"].integer(1, SIZE)
    affordable(number(q, m) ** n * n * N, WORK)
    draws = list(batches(q, m))
    single = summed(P * distance(x, shares, q) ** 2 for shares, P in draws)
    pair = ZERO
    for users in product(draws, repeat=n):
        mean = combine((fmpq(1, n),) * n, [shares for shares, _ in users])
        pair += prod((P for _, P in users), start=ONE) * distance(x, users[0][0], mean) ** 2
    values = {"C": fmpq(n), "b": fmpq(m), "R": x[-1] - x[0], "W_u2": single, "W_mean2": pair}
    values |= claim.parameters(fields["constants"], set(values))
    return tabled(values, {}, {"on_a_line": True, "homogeneous": True})


WORLDS = {"samples": Reader(read)}
