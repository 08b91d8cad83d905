"""Weights that an instance chooses, or that go to the clients whose values are the largest."""

from __future__ import annotations

from flint import fmpq

from ..core.budget import spend
from ..core.loss import Vector
from ..core.method import Method, Weights
from ..core.problem import Here
from ..core.rational import Malformed, Node, Rejected


def rows_of(node: Node | None, method: Method, C: int, rounds: int) -> tuple[Vector, ...] | None:
    """The weights that an instance chooses: one row per round, or (None) the clients with the largest values."""
    if method.weighs("chosen") != (node is not None):
        raise Malformed(
            "instance.weights: got both or neither of it and a method whose weights are chosen, expected both"
        )
    if node is None or node.kind(("rows", "largest")) == "largest":
        return None
    return tuple(row.vector(C) for row in node.fields("kind rows")["rows"].items(rounds))


def weights_of(weights: Weights, place: Here) -> Vector:
    """Equal weights for the clients of the largest value, or for the first k of them."""
    if weights.op == "softmax":
        raise Rejected("method: got softmax weights, which are irrational; expected weights that are replayed exactly")
    n = len(place.algebra.p)
    by = [place.total(weights.by, i) for i in range(n)]
    spend(n)
    if weights.factor is None:
        best = max(by)
        return tuple(fmpq(x == best, by.count(best)) for x in by)
    k = place.scalar(weights.factor)
    if k.q != 1 or not 1 <= k <= n:
        raise Rejected(f"method: got the first {k} clients, expected a whole number from 1 to {n}")
    first = sorted(range(n), key=lambda i: (-by[i], i))[: int(k.p)]
    return tuple(fmpq(i in first, k.p) for i in range(n))
