"""Limits: parameters follow paths as in `order`, and "lhs <= rhs" compares the limits of both sides, n -> infinity.

A claim about a limit is refuted by certified limits that differ, never by one finite instance. In `network_limit` the
quantities of `network` are growths too, from the moments of a sum over C (C - 1) / 2 pairs in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import ctx, fmpq

from ..core.claim import Claim
from ..core.expression import PRECISIONS, Value, outcome
from ..core.rational import Node, Rejected
from ..core.world import Reader
from .order import Growth, Paths, add, compare, constant, error_function, limit, multiply, raised
from .order import read as read_paths

HALF = fmpq(1, 2)
INPUTS = {"C": "count", "theta": "positive", "phi": "positive", "epsilon": "real", "delta": "real"}


def limits(name: str, sides: Callable[[], list[Growth]]) -> tuple[Value, Value, bool]:
    """The limits of both sides and whether the relation between them is left standing, for certain."""
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            left, right = map(limit, sides())
            if (holds := outcome(name, left, right)) is not None:
                return left, right, holds
    raise Rejected(f"claim: got limits undecided at {PRECISIONS[-1]} bits, expected a decision")


@dataclass(frozen=True, slots=True)
class Moments:
    """A network and its alteration, drawn independently: of C clients, and of the step of one weight."""

    C: Growth
    ordered: Growth  # C (C - 1) ordered pairs
    mean: Growth
    variance: Growth

    def probability(self) -> Growth:
        """P(tr L~ < tr L): the trace adds every weight twice, so that its variance is 2 C (C - 1) times a weight's."""
        mean = multiply(self.ordered, self.mean)
        variance = multiply(constant(fmpq(2)), multiply(self.ordered, self.variance))
        spread = raised(multiply(constant(fmpq(2)), variance), constant(HALF))
        z = multiply(multiply(constant(fmpq(-1)), mean), raised(spread, constant(fmpq(-1))))
        return multiply(constant(HALF), add(constant(fmpq(1)), error_function(z)))

    def sad(self) -> Growth:
        """Between |E tr (L~ - L)| / (C - 1) (Jensen) and the root of E tr (L~ - L)^2 / (C - 1) (Hoffman-Wielandt)."""
        centre = multiply(self.C, self.mean)
        low = multiply(constant(fmpq(centre.sign or 1)), centre)
        noise = multiply(constant(fmpq(2)), multiply(self.C, self.variance))
        high = raised(add(multiply(low, low), noise), constant(HALF))
        width = add(high, multiply(low, constant(fmpq(-1))))
        return Growth(low.terms, max(low.rest, width.top))


def moments(paths: dict[str, Growth]) -> Moments:
    C, theta, phi, epsilon, delta = (paths[name] for name in INPUTS)
    mean = multiply(constant(fmpq(-1)), multiply(theta, epsilon))
    variance = multiply(add(constant(fmpq(2)), delta), multiply(phi, phi))
    if variance.sign <= 0 or compare(delta, constant(fmpq(-1))) <= 0:
        raise Rejected("instance: got no variance, expected phi > 0 and delta > -1 for large n")
    return Moments(C, multiply(C, add(C, constant(fmpq(-1)))), mean, variance)


def read_network(node: Node, claim: Claim) -> Paths:
    paths = read_paths(node, claim).paths
    if set(paths) != set(INPUTS):
        raise node.malformed(f"paths of {', '.join(INPUTS)}")
    network = moments(paths)
    quantities = {"probability": network.probability, "sad": network.sad}
    return Paths(paths, quantities, ("independent_networks",), limits)


WORLDS = {"network_limit": Reader(read_network, INPUTS)}
