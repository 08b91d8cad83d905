"""Trees over NumPy arrays: both sides of a claim on thousands of instances and all their indices at once.

Axis 0 counts instances; every index variable of the claim and every summation variable has an axis of its own, so a
value broadcasts over exactly the indices it depends on and nothing loops in Python.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, cast

import numpy as np
from scipy import special as _untyped  # pyright: ignore[reportMissingTypeStubs]

from fedaudit.bounds.formulas.trees import Arithmetic, Formula, Tree, read

Array = np.ndarray[Any, Any]
Cut = slice | int | None  # of one axis: a part of it, one entry, or a new axis
_special = cast("Any", _untyped)
LARGEST = int(np.finfo(float).max)


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

    def measured(
        self,
        scalars: Mapping[str, Array],
        quantities: Mapping[str, Quantity] | None = None,
        scale: tuple[Array, Array] | None = None,
    ) -> Table:
        """This table with what was measured."""
        return Table(self.n, {**self.scalars, **scalars}, {**self.quantities, **(quantities or {})}, self.counts, scale)


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
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # what is no number meets no condition
            values = _formula(tree)(self)
        return values.reshape(values.shape[: 1 + len(self.names)]) if values.ndim > 1 + len(self.names) else values

    def holds(self, relation: Tree) -> Array:
        """Truth of a relation, elementwise."""
        op, left, right = relation
        a, b = self(left), self(right)
        return _COMPARE[op](a, b)

    def named(self, name: str) -> Array:
        """A bound variable, a count or a scalar."""
        if name in self.bound:
            return self.bound[name].astype(float)
        if name in self.table.counts:
            return self.full(_quotient(self.table.counts[name], 1))
        if name in self.table.scalars:
            return np.reshape(self.table.scalars[name], (-1,) + (1,) * (self.rank - 1))
        raise UnknownName(name)

    def full(self, value: float) -> Array:
        """One number for all instances and indices."""
        return _full(self.rank, value)

    def integer(self, tree: Tree) -> int:
        """The end of a range."""
        if isinstance(tree, str) and tree.isdecimal():
            return int(tree)
        value = _formula(tree)(self)
        value = value.ravel() if value.size == 1 else np.unique(value)
        if value.size != 1 or value[0] != np.floor(value[0]):
            raise ValueError(f"got a range end {tree} that differs within the batch, expected one integer")
        return int(value[0])

    def integers(self, tree: Tree) -> Array:
        """The end of a sum, which may depend on the indices around it."""
        value = _formula(tree)(self)
        if np.any(value != value[:1]) or np.any(value != np.floor(value)):
            raise ValueError(f"got a range end {tree} that differs within the batch, expected one integer")
        return value[:1].astype(int)

    def below(self, variable: str, first: int, last: int) -> Evaluator:
        """This evaluator with one more axis, along which `variable` runs."""
        inner = Evaluator.__new__(Evaluator)
        inner.table, inner.names, inner.rank = self.table, self.names, self.rank + 1
        inner.bound = {v: values[..., None] for v, values in self.bound.items()}
        inner.bound[variable] = np.arange(first, last + 1).reshape((1,) * self.rank + (-1,))
        return inner

    def _span(self, low: Tree, high: Tree, axis: int) -> Array:
        ends = [int(self.integer(end)) for end in (low, high)]
        values = np.arange(ends[0], ends[1] + 1)
        return values.reshape((1,) * axis + (-1,) + (1,) * (self.rank - axis - 1))


@lru_cache(maxsize=1024)
def _full(rank: int, value: float) -> Array:
    number = np.full((1,) * rank, value)
    # One array serves all that ask for this number, so that nobody may write into it.
    number.setflags(write=False)
    return number


def _constant(p: int, q: int) -> Formula[Array]:
    value = _quotient(p, q)
    return lambda scope: scope.full(value)


def _quotient(p: int, q: int) -> float:
    """The float next to p/q, infinite beyond all floats."""
    try:
        return float(p) / float(q)
    except OverflowError:
        return p / q if abs(p) < LARGEST * q else math.inf if p > 0 else -math.inf


def _name(name: str) -> Formula[Array]:
    return lambda scope: scope.named(name)


def _pi(scope: Evaluator) -> Array:
    return scope.full(np.pi)


def _at(name: str, indices: Sequence[Tree]) -> Formula[Array]:
    formulas = [read(index, _ARRAYS) for index in indices]

    def run(scope: Evaluator) -> Array:
        if name not in scope.table.quantities:
            raise UnknownName(name)
        quantity = scope.table.quantities[name]
        places: list[Array] = []
        for formula, start, size in zip(formulas, quantity.start, quantity.values.shape[1:], strict=True):
            # Indices are computed in floats like all other numbers.
            place = np.rint(formula(scope)).astype(int) - start
            if place.min() < 0 or place.max() >= size:
                raise IndexError(f"{name}{indices} leaves its range {start}..{start + size - 1}")
            places.append(place)
        key = _slices(places, scope.rank)
        if key is not None:  # in the order in memory that picking one by one would leave
            values = quantity.values[key]
            return values if values.flags.c_contiguous else values.copy()
        rows = np.arange(scope.table.n).reshape((-1,) + (1,) * (scope.rank - 1))
        return quantity.values[(rows, *places)]

    return run


def _slices(places: Sequence[Array], rank: int) -> tuple[Cut, ...] | None:
    """The slices that pick the same entries, where every place is fixed or runs along an axis of its own, in order."""
    key: list[Cut] = [slice(None)]
    for place in places:
        if place.size == 1:
            key.append(int(place.flat[0]))
            continue
        axis, size = int(np.argmax(place.shape)), place.size
        along = cast("Array", place.ravel())
        if axis < 1 or place.shape[axis] != size or axis < (at := sum(not isinstance(part, int) for part in key)):
            return None
        first = int(along[0])
        if not np.array_equal(along, np.arange(first, first + size)):
            return None
        key += [None] * (axis - at) + [slice(first, first + size)]
    return (*key, *[None] * (rank - sum(not isinstance(part, int) for part in key)))


def _total(variable: str, low: Tree, high: Tree, body: Tree) -> Formula[Array]:
    term = read(body, _ARRAYS)
    shared = _names(body) & _names(high)

    def run(scope: Evaluator) -> Array:
        starts, ends = scope.integers(low), scope.integers(high)
        first, last = int(starts.min()), int(ends.max())
        if last < first:
            return scope.full(0.0)
        inner = scope.below(variable, first, last)
        if starts.size == ends.size == 1:
            values = term(inner)
            return values.sum(axis=-1) if values.shape[-1] != 1 else values[..., 0] * (last - first + 1)
        axis = int(np.argmax(ends.shape))
        alike = not any(name in scope.bound for name in shared)  # terms that do not change with the index of the end
        if alike and starts.size == 1 and ends.size == ends.shape[axis] and ends.min() >= first - 1:
            return _up_to(term(inner), axis, ends - (first - 1))
        places, starts, ends = inner.bound[variable], starts[..., None], ends[..., None]
        counted = (starts <= places) & (places <= ends)
        # Terms beyond their own end are not counted, but they are evaluated: the indices that they read have to exist.
        inner.bound[variable] = np.clip(np.clip(places, starts, np.maximum(starts, ends)), first, last)
        return np.where(counted, term(inner), 0.0).sum(axis=-1)

    return run


def _up_to(values: Array, axis: int, counts: Array) -> Array:
    """Along an axis, the sums of the first so many values (..., 1, ..., S): running sums, each of them added once."""
    if values.shape[-1] == 1:
        return values[..., 0] * counts
    sums = np.cumsum(values, axis=-1)
    sums = np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
    return np.swapaxes(sums, axis, -1)[..., 0].take(counts.ravel(), axis=axis)


def _names(tree: Tree) -> frozenset[str]:
    """All words of a tree."""
    if isinstance(tree, str):
        return frozenset([tree])
    return frozenset[str]().union(*map(_names, cast("list[Tree]", tree))) if isinstance(tree, list) else frozenset()


def _erf(x: Array) -> Array:
    # scipy has no erf of extended numbers and refuses them.
    return _special.erf(x.astype(np.float64))


def _power(x: Array, power: Array) -> Array:
    """x^power. Powers of extended numbers are slow: small multiples of 1/2 are products of x and its root instead, and
    other fractions go by logarithms.
    """
    one_number = type(power) is np.ndarray and power.size == 1 and power.ndim <= x.ndim
    n = float(power.flat[0]) if one_number else math.inf
    if one_number and 2 * n % 1 and x.dtype == np.longdouble:
        return np.exp(power * np.log(x))
    if not 0 < abs(n) <= MOST_FACTORS or 2 * n % 1:
        return np.power(x, power)
    factors = [*[x] * int(abs(n)), *([np.sqrt(x)] if n % 1 else [])]
    total = reduce(np.multiply, factors)
    return total if n > 0 else 1 / total


_FOLD = {"+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum}
_UNARY = {"exp": np.exp, "log": np.log, "abs": np.abs, "erf": _erf}
_COMPARE = {
    "<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "=": np.equal, "!=": np.not_equal,
}  # fmt: skip
_ARRAYS: Arithmetic[Array] = Arithmetic(_constant, _name, _at, _total, _power, _FOLD, _UNARY, _COMPARE, _pi)
MOST_FACTORS = 4  # of a power that is a product


def _formula(tree: Tree) -> Formula[Array]:
    """The tree as a function of an evaluator. A claim's trees are read once: lists have no hash, their text does."""
    return _formula_of(json.dumps(tree))


@lru_cache(maxsize=4096)
def _formula_of(text: str) -> Formula[Array]:
    return read(json.loads(text), _ARRAYS)
