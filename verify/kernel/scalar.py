"""A claim about numbers alone: every symbol and every indexed quantity is given."""

from __future__ import annotations

from flint import fmpq

from .claim import Claim
from .expression import World
from .rational import Node


class Scalar(World):
    def __init__(self, values: dict[str, fmpq], lists: dict[str, tuple[fmpq, ...]]) -> None:
        self.values, self.lists, self.facts, self.bounds = values, lists, {}, {}
        self.ranges = {name: ((0, len(entries) - 1),) for name, entries in lists.items()}
        self.listed = tuple(lists)

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        return self.lists[name][indices[0]]


def read(node: Node, claim: Claim) -> Scalar:
    given = node.fields("values", "quantities")
    lists = given["quantities"].mapping() if "quantities" in given else {}
    read = {name: tuple(claim.number(name, x) for x in entry.items()) for name, entry in lists.items()}
    return Scalar(claim.parameters(given["values"], set()), read)
