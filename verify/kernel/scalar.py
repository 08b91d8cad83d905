"""A claim about numbers alone: every symbol and every indexed quantity is given."""

from __future__ import annotations

from flint import fmpq

from .claim import Claim
from .expression import World
from .rational import Malformed, Node


class Scalar(World):
    def __init__(self, values: dict[str, fmpq], lists: dict[str, tuple[fmpq, ...]]) -> None:
        self.values, self.lists, self.facts, self.bounds = values, lists, {}, {}
        self.ranges = {name: ((0, len(entries) - 1),) for name, entries in lists.items()}

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        return self.lists[name][indices[0]]


def read(node: Node, claim: Claim) -> Scalar:
    given = node.fields("values", "quantities")
    lists: dict[str, tuple[fmpq, ...]] = {}
    for name, entry in given["quantities"].mapping().items() if "quantities" in given else ():
        if (name, 1) not in claim.needs:
            raise entry.malformed("only quantities of the claim")
        lists[name] = tuple(x.rational() for x in entry.items())
    if claim.choose:
        raise Malformed("claim.choose: got a choice in a scalar claim, expected it written out")
    return Scalar(claim.parameters(given["values"], set()), lists)
