"""Trees over NumPy arrays: both sides of a claim on thousands of instances and all their indices at once.

Axis 0 counts instances; every index variable of the claim and every summation variable has an axis of its own, so a
value broadcasts over exactly the indices it depends on and nothing loops in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import special as _untyped  # pyright: ignore[reportMissingTypeStubs]

from fedaudit.bounds.lower import Tree

Array = np.ndarray[Any, Any]
_special = cast("Any", _untyped)


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An indexed quantity: values (n, len of axis 1, ...) and the first index of each axis (clients start at 1)."""

    values: Array
    start: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What is known of a batch of instances: scalars (n,), indexed quantities, integers that shape the batch."""

    n: int
    scalars: Mapping[str, Array]
    quantities: Mapping[str, Quantity]
    counts: Mapping[str, int]
    scale: tuple[Array, Array] | None = None  # natural size of F and W, (n,) each: rounding is relative to it


class UnknownName(KeyError):
    """A tree names something that the table does not hold."""


class Evaluator:
    """Evaluates trees on one table with a fixed set of index variables."""

    def __init__(self, table: Table, ranges: Mapping[str, tuple[Tree, Tree]]) -> None:
        self.table = table
        self.names = list(ranges)
        self.bound: dict[str, Array] = {}
        self.rank = 1 + len(ranges)
        for axis, (name, (low, high)) in enumerate(ranges.items(), start=1):
            self.bound[name] = self._span(low, high, axis)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, size of each index range)."""
        return (self.table.n, *(self.bound[v].size for v in self.names))

    def starts(self) -> dict[str, int]:
        """The first value of each index."""
        return {v: int(self.bound[v].flat[0]) for v in self.names}

    def __call__(self, tree: Tree) -> Array:
        """Values broadcastable to `shape` (trailing sum axes are gone)."""
        made = self._value(tree)
        return made.reshape(made.shape[: 1 + len(self.names)]) if made.ndim > 1 + len(self.names) else made

    def holds(self, relation: Tree) -> Array:
        """Truth of a relation, elementwise."""
        op, left, right = relation
        a, b = self(left), self(right)
        return _COMPARE[op](a, b)

    def _span(self, low: Tree, high: Tree, axis: int) -> Array:
        ends = [int(self._integer(end)) for end in (low, high)]
        values = np.arange(ends[0], ends[1] + 1)
        return values.reshape((1,) * axis + (-1,) + (1,) * (self.rank - axis - 1))

    def _integer(self, tree: Tree) -> int:
        value = np.unique(self._value(tree))
        if value.size != 1 or value[0] != np.floor(value[0]):
            raise ValueError(f"got a range end {tree} that differs within the batch, expected one integer")
        return int(value[0])

    def _value(self, tree: Tree) -> Array:
        if isinstance(tree, int):
            return np.full((1,) * self.rank, float(tree))
        if isinstance(tree, str):
            return self._atom(tree)
        op, *args = tree
        if op in _FOLD:
            made = self._value(args[0])
            for arg in args[1:]:
                made = _FOLD[op](made, self._value(arg))
            return made
        if op == "^":
            return _power(self._value(args[0]), self._value(args[1]))
        if op in _UNARY:
            return _UNARY[op](self._value(args[0]))
        if op == "at":
            return self._at(args[0], args[1:])
        if op == "sum":
            return self._sum(*args)
        if op == "pi":
            return np.full((1,) * self.rank, np.pi)
        raise UnknownName(op)

    def _atom(self, text: str) -> Array:
        if text in self.bound:
            return self.bound[text].astype(float)
        if text in self.table.counts:
            return np.full((1,) * self.rank, float(self.table.counts[text]))
        if text in self.table.scalars:
            return np.reshape(self.table.scalars[text], (-1,) + (1,) * (self.rank - 1))
        if text[0].isdigit() or text[0] == "-":
            top, _, bottom = text.partition("/")
            return np.full((1,) * self.rank, float(top) / float(bottom or 1))
        raise UnknownName(text)

    def _at(self, name: str, indices: list[Tree]) -> Array:
        if name not in self.table.quantities:
            raise UnknownName(name)
        quantity = self.table.quantities[name]
        places: list[Array] = [np.arange(self.table.n).reshape((-1,) + (1,) * (self.rank - 1))]
        for index, start, size in zip(indices, quantity.start, quantity.values.shape[1:], strict=True):
            place = np.rint(self._value(index)).astype(int) - start
            if place.min() < 0 or place.max() >= size:
                raise IndexError(f"{name}{indices} leaves its range {start}..{start + size - 1}")
            places.append(place)
        return quantity.values[tuple(places)]

    def _sum(self, variable: str, low: Tree, high: Tree, body: Tree) -> Array:
        inner = Evaluator.__new__(Evaluator)
        inner.table, inner.names, inner.rank = self.table, self.names, self.rank + 1
        inner.bound = {v: values[..., None] for v, values in self.bound.items()}
        ends = [self._integer(end) for end in (low, high)]
        inner.bound[variable] = np.arange(ends[0], ends[1] + 1).reshape((1,) * self.rank + (-1,))
        if ends[1] < ends[0]:
            return np.zeros((1,) * self.rank)
        values = inner._value(body)
        return values.sum(axis=-1) if values.shape[-1] != 1 else values[..., 0] * (ends[1] - ends[0] + 1)


def _power(base: Array, exponent: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        return np.power(base, exponent)


def _divide_free(op: Any) -> Any:
    def run(a: Array, b: Array) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            return op(a, b)

    return run


def _erf(x: Array) -> Array:
    return _special.erf(np.asarray(x, dtype=np.float64))


def _quiet(op: Any) -> Any:
    def run(a: Array) -> Array:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            return op(a)

    return run


_FOLD = {"+": _divide_free(np.add), "*": _divide_free(np.multiply), "min": np.minimum, "max": np.maximum}
_UNARY = {"exp": _quiet(np.exp), "log": _quiet(np.log), "abs": np.abs, "erf": _erf}
_COMPARE = {
    "<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "=": np.equal, "!=": np.not_equal,
}  # fmt: skip
