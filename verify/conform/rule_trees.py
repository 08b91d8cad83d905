"""Rules as trees: their parts, changed copies of them, and how they read in words.

A tree is a vector's name or a list that begins with an operation, as `Method.data` gives it. Some operations take a
scalar first; its tree is one of formulas (bounds/formulas/trees.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

__all__ = [
    "MEANS",
    "Path",
    "Tree",
    "children",
    "factors",
    "is_negative",
    "is_sum",
    "leaves",
    "nodes",
    "op_of",
    "part",
    "product",
    "put",
    "said",
    "swapped",
]

Tree: TypeAlias = Any  # str | list[Tree]
Path: TypeAlias = tuple[int, ...]
SCALAR_FIRST = ("*", "adaptive", "oracle", "prox", "shrunk", "soft", "full_prox")
TEXT_FIRST = ("combine", "block", "previous", "first", "client")  # what follows the operation is a word, not a vector
MEANS = ("mean", "sampled", "shares", "combine")


def op_of(tree: Tree) -> str:
    """The operation at the top of a tree; nothing for a name."""
    return str(cast("list[Any]", tree)[0]) if isinstance(tree, list) else ""


def children(tree: Tree) -> list[Tree]:
    """The parts of a tree, its operation first; none of a name."""
    return cast("list[Any]", tree) if isinstance(tree, list) else []


def is_negative(tree: Tree) -> bool:
    """Whether a tree is -1 times something."""
    return op_of(tree) == "*" and tree[1] == "-1"


def nodes(tree: Tree, at: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Every vector in a tree with the way to it, the whole first."""
    yield at, tree
    first = 2 if op_of(tree) in SCALAR_FIRST or op_of(tree) in TEXT_FIRST else 1
    for n, child in enumerate(children(tree)):
        if n >= first:
            yield from nodes(child, (*at, n))


def leaves(tree: Tree) -> Iterator[tuple[Path, str]]:
    """The names of vectors in a tree."""
    yield from ((path, node) for path, node in nodes(tree) if isinstance(node, str))


def part(tree: Tree, path: Path) -> Tree:
    """The vector at the end of a way."""
    for n in path:
        tree = tree[n]
    return tree


def put(tree: Tree, path: Path, new: Tree) -> Tree:
    """A copy of the tree with something else at the end of a way."""
    if not path:
        return new
    return [put(child, path[1:], new) if n == path[0] else child for n, child in enumerate(tree)]


def swapped(tree: Tree, old: Tree, new: Tree) -> Tree:
    """A copy of the tree with one part replaced wherever it stands."""
    if tree == old:
        return new
    return [swapped(child, old, new) for child in children(tree)] if isinstance(tree, list) else tree


def is_sum(tree: Tree) -> bool:
    return op_of(tree) == "+"


def factors(scalar: Tree) -> list[Tree]:
    """The factors of a scalar."""
    return children(scalar)[1:] if op_of(scalar) == "*" else [scalar]


def product(parts: list[Tree]) -> Tree:
    """The product of scalars; 1 of none."""
    return "1" if not parts else parts[0] if len(parts) == 1 else ["*", *parts]


def said(tree: Tree) -> str:
    """A vector as a formula in plain characters."""
    if isinstance(tree, str):
        return tree
    op, *args = tree
    match op:
        case "+":
            text = said(args[0])
            for arg in args[1:]:
                text += f" - {_inside(arg[2])}" if is_negative(arg) else f" + {said(arg)}"
            return text
        case "*":
            return f"-{_inside(args[1])}" if args[0] == "-1" else f"{_scalar(args[0], tight=True)} {_inside(args[1])}"
        case "noisy":
            return said(args[0])
        case "sampled":
            return f"mean_S({said(args[0])})"
        case "combine" | "previous":
            return f"{args[0]}({said(args[1])})" if op == "combine" else f"{args[0]} one step earlier"
        case _:
            first = 1 if op in SCALAR_FIRST else 0
            parts = [*(_scalar(arg) for arg in args[:first]), *(said(arg) for arg in args[first:])]
            return f"{op}({', '.join(parts[first:] + parts[:first])})" if parts else op


def _inside(tree: Tree) -> str:
    return f"({said(tree)})" if is_sum(tree) else said(tree)


def _scalar(tree: Tree, tight: bool = False) -> str:
    if isinstance(tree, str):
        return tree
    op, *args = tree
    if op == "at":
        return args[0]
    if op == "^" and args[1] == "-1":
        return f"1/{_scalar(args[0], tight=True)}"
    text = {"^": "^", "*": " ", "+": " + "}.get(op, f" {op} ").join(_scalar(arg, tight=op != "+") for arg in args)
    return f"({text})" if tight and op == "+" else text
