"""Limits: parameters follow paths as in `order`, and "lhs <= rhs" compares the limits of both sides, n -> infinity.

A claim about a limit is refuted by certified limits that differ, never by one finite instance. In `network_limit` the
quantities of `network` are growths too, from the moments of a sum over C (C - 1) / 2 pairs in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import ctx, fmpq

from .claim import Claim
from .expression import OPPOSITE, PRECISIONS, RELATIONS, Domains, Op, Relation, Tree, Value
from .order import Growth, Paths, add, compare, constant, error_function, limit, multiply, raised
from .order import read as read_paths
from .rational import Node, Rejected
from .work import spend

HALF = fmpq(1, 2)
INPUTS = {"C": "count", "theta": "positive", "phi": "positive", "epsilon": "real", "delta": "real"}


class Limits(Paths):
    def settle(self, relation: Relation, scope: Mapping[str, int], domains: Domains) -> tuple[Value, Value, bool]:
        """The limits of both sides and whether the relation between them is left standing, for certain."""
        name, *sides = relation
        for bits in PRECISIONS:
            with ctx.workprec(bits):
                left, right = (limit(self.grow(side)) for side in sides)
                for outcome, test in ((True, RELATIONS[name]), (False, RELATIONS[OPPOSITE[name]])):
                    if test(left, right):  # of balls: true only when certain
                        return left, right, outcome
        raise Rejected(f"claim: got limits undecided at {PRECISIONS[-1]} bits, expected a decision")


class NetworkLimits(Limits):
    """A network and its alteration, drawn independently: probability and sad of `network`, at the path of C."""

    def __init__(self, paths: dict[str, Growth]) -> None:
        super().__init__(paths)
        C, theta, phi, epsilon, delta = (paths[name] for name in INPUTS)
        self.ordered = multiply(C, add(C, constant(fmpq(-1))))  # C (C - 1) ordered pairs
        self.mean = multiply(constant(fmpq(-1)), multiply(theta, epsilon))  # of the step of one weight
        self.variance = multiply(add(constant(fmpq(2)), delta), multiply(phi, phi))
        if self.variance.sign <= 0 or compare(delta, constant(fmpq(-1))) <= 0:
            raise Rejected("instance: got no variance, expected phi > 0 and delta > -1 for large n")
        self.ranges = dict.fromkeys(("probability", "sad"), ((0, 0),))

    def assume(self, name: str, args: tuple[str, ...] = ()) -> None:
        if name != "independent_networks" or args:
            super().assume(name, args)

    def inhabit(self, name: str, kind: str) -> None:
        if name not in self.ranges:  # probability and sad are not negative by what they are
            super().inhabit(name, kind)
        elif kind not in ("real", "nonnegative"):
            raise Rejected(f"{name}: got a quantity that may be 0, expected it {kind}")

    def grow(self, tree: Tree) -> Growth:
        if not isinstance(tree, Op) or tree.name != "at":
            return super().grow(tree)
        spend(1000)
        if tree.args[1:] != ("C",) or tree.args[0] not in self.ranges:
            raise Rejected(f"claim: got {tree.args}, expected one of {sorted(self.ranges)} at C")
        return self.probability() if tree.args[0] == "probability" else self.sad()

    def probability(self) -> Growth:
        """P(tr L~ < tr L): the trace adds every weight twice, so that its variance is 2 C (C - 1) times a weight's."""
        mean = multiply(self.ordered, self.mean)
        variance = multiply(constant(fmpq(2)), multiply(self.ordered, self.variance))
        spread = raised(multiply(constant(fmpq(2)), variance), constant(HALF))
        z = multiply(multiply(constant(fmpq(-1)), mean), raised(spread, constant(fmpq(-1))))
        return multiply(constant(HALF), add(constant(fmpq(1)), error_function(z)))

    def sad(self) -> Growth:
        """Between |E tr (L~ - L)| / (C - 1) (Jensen) and the root of E tr (L~ - L)^2 / (C - 1) (Hoffman-Wielandt)."""
        C = self.paths["C"]
        centre = multiply(C, self.mean)
        low = multiply(constant(fmpq(centre.sign or 1)), centre)
        noise = multiply(constant(fmpq(2)), multiply(C, self.variance))
        high = raised(add(multiply(low, low), noise), constant(HALF))
        width = add(high, multiply(low, constant(fmpq(-1))))
        return Growth(low.terms, max([low.rest, width.rest, *width.terms]))


def read_network(node: Node, claim: Claim) -> NetworkLimits:
    paths = read_paths(node, claim).paths
    if set(paths) != set(INPUTS):
        raise node.malformed(f"paths of {', '.join(INPUTS)}")
    return NetworkLimits(paths)
