"""Expression trees and their one evaluator. A tree is read once for an arithmetic; what comes out computes with it.

A tree is JSON: a rational string, a name, or a list that starts with an operation. An arithmetic says what numbers are
(floats, fractions, balls, arrays) and how names, indexed quantities and sums are looked up in a scope. (The kernel has
an evaluator of its own, which shares nothing with this one.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

__all__ = ["Arithmetic", "Formula", "Tree", "read"]

Tree: TypeAlias = Any  # str | int | list[Tree]
N = TypeVar("N")
R = TypeVar("R")
Formula: TypeAlias = Callable[[Any], N]  # from a scope to a value; a relation's value is a truth


@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[N]):
    """What the parts of a tree mean for one kind of number. `at` and `total` read the trees below them themselves."""

    constant: Callable[[int, int], Formula[N]]
    name: Callable[[str], Formula[N]]
    at: Callable[[str, Sequence[Tree]], Formula[N]]
    total: Callable[[str, Tree, Tree, Tree], Formula[N]]
    power: Callable[[N, N], N]
    fold: Mapping[str, Callable[[N, N], N]]  # + * min max
    unary: Mapping[str, Callable[[N], N]]
    compare: Mapping[str, Callable[[N, N], bool | N | None]]
    pi: Formula[N] | None = None


def read(tree: Tree, arithmetic: Arithmetic[N]) -> Formula[N]:
    """The tree as a function of a scope; raises `TypeError` for an operation that the arithmetic does not have."""
    if isinstance(tree, int):
        return arithmetic.constant(tree, 1)
    if isinstance(tree, str):
        return _atom(tree, arithmetic)
    op, *args = tree
    if op == "at":
        return arithmetic.at(args[0], args[1:])
    if op == "sum":
        variable, low, high, body = args
        return arithmetic.total(variable, low, high, body)
    if op == "pi" and arithmetic.pi is not None:
        return arithmetic.pi
    parts = [read(arg, arithmetic) for arg in args]
    if op in arithmetic.fold:
        return _folded(arithmetic.fold[op], parts)
    if op == "^":
        return _pair(arithmetic.power, *parts)
    if op in arithmetic.unary:
        return _single(arithmetic.unary[op], *parts)
    if op in arithmetic.compare:
        return cast("Formula[N]", _pair(arithmetic.compare[op], *parts))
    if op in _LOGIC:
        return cast("Formula[N]", _LOGIC[op](parts))
    raise TypeError(f"got the operation {op}, expected arithmetic, min, max, exp, log or a sum")


def _atom(text: str, arithmetic: Arithmetic[N]) -> Formula[N]:
    if text[0].isdigit() or text[0] == "-":
        top, _, bottom = text.partition("/")
        return arithmetic.constant(int(top), int(bottom or 1))
    return arithmetic.name(text)


def _single(op: Callable[[N], N], part: Formula[N]) -> Formula[N]:
    return lambda scope: op(part(scope))


def _pair(op: Callable[[N, N], R], left: Formula[N], right: Formula[N]) -> Formula[R]:
    return lambda scope: op(left(scope), right(scope))


def _folded(op: Callable[[N, N], N], parts: Sequence[Formula[N]]) -> Formula[N]:
    """The parts joined by one operation, from left to right."""
    first, *rest = parts
    if len(rest) == 1:
        return _pair(op, first, rest[0])

    def run(scope: object) -> N:
        value = first(scope)
        for part in rest:
            value = op(value, part(scope))
        return value

    return run


def _all(parts: Sequence[Formula[object]]) -> Formula[bool]:
    return lambda scope: all(part(scope) for part in parts)


def _any(parts: Sequence[Formula[object]]) -> Formula[bool]:
    return lambda scope: any(part(scope) for part in parts)


def _none(parts: Sequence[Formula[object]]) -> Formula[bool]:
    return lambda scope: not parts[0](scope)


_LOGIC: dict[str, Callable[[Sequence[Formula[object]]], Formula[bool]]] = {"and": _all, "or": _any, "not": _none}
