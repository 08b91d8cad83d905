"""Draws of data: minibatches of finitely many data points, each with its probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

from flint import fmpq

from ..core.budget import paid, spend, summed
from ..core.loss import ONE, Vector
from ..core.randomness import STATES, Draw, Draws
from ..core.rational import BITS, Malformed, Node, Rejected, affordable, shown

POINTS = 10  # that a client may draw


def drawn(clients: list[tuple[tuple[int, ...], fmpq]], chances: list[list[fmpq]], shared: bool, where: str) -> Draws:
    """Who takes part and what each client draws; independent of one another, or one minibatch for all."""
    if not chances:
        return [(Draw(counts), chance) for counts, chance in clients]
    if shared and any(row != chances[0] for row in chances):
        raise Malformed(f"{where}: got different probabilities, expected the same for all where minibatches are shared")
    if shared:
        batches = [((n,) * len(chances), chance) for n, chance in enumerate(chances[0])]
    else:
        affordable(len(clients) * prod(len(row) for row in chances), STATES, where)
        each = product(*(list(enumerate(row)) for row in chances))
        batches = [(tuple(n for n, _ in one), prod((q for _, q in one), start=ONE)) for one in each]
    return [(Draw(counts, batch), chance * q) for counts, chance in clients for batch, q in batches]


def probabilities(node: Node, n: int) -> Vector:
    q = node.vector(n, least=0)
    if n > POINTS:
        raise Rejected(f"{node.where}: got {n} points, expected at most {POINTS}")
    if summed(q) != 1:
        raise Rejected(f"{node.where}: got probabilities of sum {shown(summed(q))}, expected 1")
    return q


def support(q: Vector) -> list[int]:
    """Points that are drawn with some probability."""
    return [z for z, x in enumerate(q) if x > 0]


def number(q: Vector, b: int) -> int:
    """How many different minibatches of b points there are."""
    return comb(b + len(support(q)) - 1, b)


def batches(q: Vector, b: int, points: Sequence[int] | None = None) -> Iterator[tuple[Vector, fmpq]]:
    """Every multiset of b of the points, by default of all that may be drawn: the share of each, and its chance."""
    for chosen in combinations_with_replacement(support(q) if points is None else points, b):
        times = [chosen.count(z) for z in range(len(q))]
        spend(10 * len(q) + b)
        orders = fmpq(factorial(b) // prod(map(factorial, times)))
        chance = paid(prod((powered(x, k) for x, k in zip(q, times, strict=True)), start=orders))
        yield tuple(fmpq(k, b) for k in times), chance


def powered(x: fmpq, n: int) -> fmpq:
    """x^n, n >= 0; refused before it is built where it is too long."""
    if n * (x.height_bits() - 1) > BITS:
        raise Rejected(f"claim: got a number of over {BITS} bits, expected at most {BITS}")
    return paid(x**n)
