"""The numbers that lead to both sides of a counterexample: what the claim reads, and the terms of each side.

The kernel has accepted the certificate before; here its world is asked again, term by term, as `explain` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from .. import kernel
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import Evaluator, parse
from ..kernel.core.rational import Malformed, Node, Rejected
from ..kernel.worlds.order import Paths
from ..results.json_fields import Json, JsonObject
from ..search.claim_trees import Tree

__all__ = ["Part", "Rank", "Sides", "sides"]

READ = 8  # quantities that are listed


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a claim, as its tree, and its value."""

    tree: Tree
    value: str


@dataclass(frozen=True, slots=True)
class Rank:
    """What a side grows like: n^power (log n)^log; `level` is not 0 where no power of n says it (-2: it is 0)."""

    level: int
    power: str
    log: str


@dataclass(frozen=True, slots=True)
class Sides:
    """The relation that fails: what it reads, the terms of both sides, or what the sides grow like."""

    relation: str
    read: tuple[Part, ...] = ()
    left: tuple[Part, ...] = ()
    right: tuple[Part, ...] = ()
    ranks: tuple[Rank, Rank] | None = None


def sides(certificate: Json) -> Sides | None:
    """The parts of an accepted certificate's relation; None where the kernel does not say them."""
    try:
        # Worlds differ in what they answer term by term, and what one of them cannot say is left out.
        return _sides(certificate)
    except (Malformed, Rejected, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return None


def _sides(certificate: Json) -> Sides:
    claim = read_claim(Node(certificate["claim"], "claim"))
    world = kernel.world(certificate["claim"], certificate["instance"])
    at = dict(certificate["at"])
    relation, left, right = certificate["claim"]["then"][at.pop("relation")]
    if isinstance(world, Paths):
        if claim.setting != "order":  # limits: both sides are the certificate's own numbers
            return Sides(relation)
        x, y = (world.grow(parse(Node(side, "claim.then"))).rank for side in (left, right))
        return Sides(relation, ranks=(Rank(x[0], str(x[1]), str(x[2])), Rank(y[0], str(y[1]), str(y[2]))))
    evaluator = Evaluator(world, claim.domains)

    def part(tree: Tree) -> Part:
        return Part(tree, kernel.claimed(evaluator.value(parse(Node(tree, "claim.then")), at)))

    named = {*_given(certificate["instance"]), *at}
    read = [x for x in _unique([*_read(left), *_read(right)]) if not isinstance(x, str) or x not in named]
    return Sides(
        relation,
        tuple(part(tree) for tree in read) if len(read) <= READ else (),
        tuple(part(term) for term in _terms(left)),
        tuple(part(term) for term in _terms(right)),
    )


def _given(instance: Json) -> set[str]:
    """Symbols whose numbers the instance states."""
    named = {name for name, value in instance.items() if not isinstance(value, dict | list)}
    for group in ("constants", "parameters", "values", "sizes"):
        named |= set(cast("JsonObject", instance.get(group) or {}))
    return named


def _read(tree: Tree) -> Iterator[Tree]:
    """Symbols and quantities of a tree; what a sum runs over has no number of its own."""
    if isinstance(tree, str):
        if tree[:1].isalpha():
            yield tree
    elif isinstance(tree, list):
        head, *rest = tree
        if head == "at":
            yield tree
        elif head != "sum":
            for arg in rest:
                yield from _read(arg)


def _unique(trees: list[Tree]) -> list[Tree]:
    return [tree for n, tree in enumerate(trees) if tree not in trees[:n]]


def _terms(tree: Tree) -> list[Tree]:
    """What a side is the sum of."""
    return tree[1:] if isinstance(tree, list) and tree[0] == "+" else [tree]
