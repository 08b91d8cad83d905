"""What is inside the trees of a claim: names, quantities, operations, sums. Nothing is evaluated here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from fedaudit.problems.runs.compiled_method import Tree

__all__ = [
    "Data",
    "Node",
    "Tree",
    "explicit",
    "heads",
    "moves",
    "names",
    "parts_at",
    "quantity",
    "shares",
    "subtrees",
    "words",
]

Node: TypeAlias = "list[Tree]"
Data: TypeAlias = "str | int | float | bool | list[Data] | dict[str, Data] | None"  # JSON with trees in it


def names(tree: Tree) -> set[tuple[str, bool]]:
    """(name, indexed?) of everything a tree uses, numbers among them."""
    if isinstance(tree, str):
        return {(tree, False)}
    if isinstance(tree, int):
        return set()
    own, parts = ({(quantity(tree), True)}, tree[2:]) if tree[0] == "at" else (set[tuple[str, bool]](), tree[1:])
    return own.union(*(names(part) for part in parts))


def subtrees(tree: Tree) -> Iterator[Node]:
    """A tree and all that is inside it, but names, numbers and what is empty."""
    if isinstance(tree, list):
        if tree:
            yield tree
        for part in tree:
            yield from subtrees(part)


def parts_at(tree: Tree) -> Iterator[Node]:
    """Every indexed quantity in a tree: ["at", its name, its indices ...]."""
    return (part for part in subtrees(tree) if part[0] == "at")


def quantity(part: Node) -> str:
    """The name in ["at", name, ...], ["point", name] and the like."""
    return str(part[1])


def moves(tree: Tree, index: str) -> bool:
    """Whether a side depends on the index; a sum over it does not."""
    return any(moves(part, index) for part in _inside(tree, index)) if isinstance(tree, list) else tree == index


def explicit(tree: Tree, index: str) -> bool:
    """Whether a side names the index itself, (1 - x)^t or 1/(t + 8): not only a quantity at it."""
    if not isinstance(tree, list):
        return tree == index
    return tree[0] != "at" and any(explicit(part, index) for part in _inside(tree, index))


def _inside(tree: Node, index: str) -> Node:
    """The parts of a tree in which a name stands for this index: of a sum over it, the ends alone."""
    return tree[2:4] if tree[0] == "sum" and tree[1] == index else tree[1:]


def shares(tree: Tree, sources: frozenset[str]) -> list[Tree]:
    """A side as the parts that come from different sources (the start, noise, heterogeneity): they add up to it.

    A product is written out where a factor is a sum over several sources; what no source is in is a part too.
    """
    by_source: dict[frozenset[str], Node] = {}
    for term in _terms(tree, sources):
        by_source.setdefault(_sources(term, sources), []).append(term)
    return [terms[0] if len(terms) == 1 else ["+", *terms] for terms in by_source.values()]


def _sources(tree: Tree, sources: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, _ in names(tree)) & sources


def _terms(tree: Tree, sources: frozenset[str]) -> Node:
    """What a side is the sum of, as far as sources differ."""
    if not isinstance(tree, list) or not tree:
        return [tree]
    if tree[0] == "+":
        return [term for part in tree[1:] for term in _terms(part, sources)]
    if tree[0] == "*":
        for place, factor in enumerate(tree[1:], 1):
            inside = _terms(factor, sources)
            if len({_sources(term, sources) for term in inside}) > 1:
                return [["*", *tree[1:place], term, *tree[place + 1 :]] for term in inside]
    return [tree]


def words(data: Data) -> frozenset[str]:
    """All strings in JSON data, the keys of objects among them."""
    if isinstance(data, str):
        return frozenset([data])
    parts = [*data, *data.values()] if isinstance(data, dict) else data if isinstance(data, list) else []
    return frozenset[str]().union(*map(words, parts))


def heads(data: Data) -> frozenset[str]:
    """The operations in JSON data: what lists begin with."""
    parts = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
    own = [data[0]] if isinstance(data, list) and data and isinstance(data[0], str) else []
    return frozenset(own).union(*map(heads, parts))
