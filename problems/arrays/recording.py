"""Array code recorded once and replayed on other batches: the same NumPy calls, without the Python between them.

`recorded` calls a function with `Taped` arrays of a small batch. They compute as they go, so that what depends on sizes
alone is done once and for all; every call on them is written down on a `Tape`, equal calls once. A branch on data is a
guard: where a replay would take the other one, there is no answer (`None`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from .tape import Array, Entry, NotTaped, Tape, key_of

FOLDED = 4, 7, 16  # the longest axes that are reduced slice by slice: of any array, of a wide one, and before others
WIDE = 4096  # numbers


def recorded(function: Callable[[dict[str, Any]], Sequence[Any]], batch: Mapping[str, Array]) -> Tape:
    """The tape of a function whose values are arrays with the rows of the batch."""
    tape = Tape(len(next(iter(batch.values()))), Taped)
    taped = {name: tape.input(name, values) for name, values in batch.items()}
    with np.errstate(all="ignore"):
        tape.ended(function(taped))
    return tape


def _forward(ufunc: Any) -> Callable[[Taped, Any], Taped]:
    return lambda self, other: self.tape.pair(ufunc, self, other)


def _backward(ufunc: Any) -> Callable[[Taped, Any], Taped]:
    return lambda self, other: self.tape.pair(ufunc, other, self)


class Taped(Entry):
    """An array of the recording: NumPy asks it what its functions mean."""

    __slots__ = ()

    __add__, __radd__ = _forward(np.add), _backward(np.add)
    __sub__, __rsub__ = _forward(np.subtract), _backward(np.subtract)
    __mul__, __rmul__ = _forward(np.multiply), _backward(np.multiply)
    __truediv__, __rtruediv__ = _forward(np.true_divide), _backward(np.true_divide)
    __mod__, __floordiv__ = _forward(np.remainder), _forward(np.floor_divide)
    __rpow__, __matmul__ = _backward(np.power), _forward(np.matmul)
    __lt__, __le__, __gt__ = _forward(np.less), _forward(np.less_equal), _forward(np.greater)
    __ge__, __eq__, __ne__ = _forward(np.greater_equal), _forward(np.equal), _forward(np.not_equal)  # pyright: ignore
    __and__, __rand__ = _forward(np.bitwise_and), _backward(np.bitwise_and)
    __or__, __ror__ = _forward(np.bitwise_or), _backward(np.bitwise_or)
    __hash__ = object.__hash__

    def __pow__(self, power: Any) -> Any:
        if type(power) is int or type(power) is float:  # squares and roots of arrays have functions of their own
            return self.tape.call(_raised, self, power)
        return self.tape.pair(np.power, self, power)

    def __neg__(self) -> Any:
        return self.tape.call(np.negative, self)

    def __abs__(self) -> Any:
        return self.tape.call(np.absolute, self)

    def __invert__(self) -> Any:
        return self.tape.call(np.invert, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)  # nothing is written in place
        if method == "__call__" and not kwargs and ufunc.nout == 1:
            return self.tape.pair(ufunc, *inputs) if len(inputs) == 2 else self.tape.call(ufunc, *inputs)
        if method == "reduce":
            return _reduced(self.tape, ufunc, *inputs, **kwargs)
        if method == "__call__":
            return _generic(self.tape, ufunc, inputs, kwargs)
        raise NotTaped(f"{ufunc.__name__}.{method}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        special = _SPECIAL.get(function)
        return special(self.tape, *args, **kwargs) if special else _generic(self.tape, function, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotTaped("an array's numbers, in Python")

    __float__ = __int__ = __index__ = __array__

    def __bool__(self) -> bool:
        self.tape.guard(self.place, bool(self.value))
        return bool(self.value)

    def __getattr__(self, name: str) -> Any:
        raise NotTaped(f"the attribute {name}")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def real(self) -> Any:
        return _generic(self.tape, np.real, (self,), {}) if self.value.dtype.kind == "c" else self

    @property
    def T(self) -> Any:
        return self.transpose()

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        if self.value.shape[0] % self.tape.rows == 0:
            raise NotTaped("a loop over instances")
        return (self[i] for i in range(self.value.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        return _item(self.tape, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotTaped("an array that is written into")

    def astype(self, dtype: Any, **_: Any) -> Any:
        dtype = np.dtype(dtype)
        return self if dtype == self.value.dtype else self.tape.call(_astype, self, dtype)

    def reshape(self, *shape: Any, **_: Any) -> Any:
        return _reshaped(self.tape, self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Any:
        return _turned(self.tape, self, axes[0] if len(axes) == 1 else axes or None)

    def ravel(self) -> Any:
        return self.reshape(-1)

    def copy(self) -> Any:
        return self.tape.call(np.ndarray.copy, self)

    @property
    def flags(self) -> Any:
        return self.value.flags

    def swapaxes(self, one: int, other: int) -> Any:
        return _swapped(self.tape, self, one, other)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.add, self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.maximum, self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.minimum, self, axis=axis, keepdims=keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.multiply, self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.logical_and, self, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(self.tape, np.logical_or, self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        return _generic(self.tape, np.mean, (self,), {"axis": axis, "keepdims": keepdims})

    def take(self, indices: Any, axis: Any = None) -> Any:
        return _generic(self.tape, np.take, (self, indices), {"axis": axis})


def at_rows(x: Any, place: Any) -> Any:
    """The entry of every row: x (n, m), place (n,) -> (n,)."""
    if type(place) is Taped and type(x) is not Taped:
        x = Taped(place.tape, place.tape.place(x), x)
    return x[np.arange(len(x)), place]


def _raised(x: Array, power: Any) -> Array:
    return x**power


def _astype(x: Array, dtype: Any) -> Array:
    return x.astype(dtype)


def _reduced(tape: Tape, ufunc: Any, x: Any, axis: Any = 0, keepdims: bool = False, **rest: Any) -> Any:
    if isinstance(x, list | tuple):  # of arrays of one shape, as `np.fmax.reduce` of a list
        x = _stacked(tape, cast("Sequence[Any]", x))
    rest = {name: value for name, value in rest.items() if value is not None and name != "out"}
    key = ufunc, "reduce", key_of(axis), keepdims, key_of(tuple(rest.items()))
    if not rest and type(axis) is int and _folds(ufunc, x, axis % x.ndim):
        return tape.call(_fold(ufunc, axis % x.ndim, x.shape[axis], keepdims), x, key=key)
    reduce = ufunc.reduce

    def run(values: Array) -> Any:
        return reduce(values, axis=axis, keepdims=keepdims, **rest)

    return tape.call(run, x, key=key)


def _folds(ufunc: Any, x: Any, axis: int) -> bool:
    """Whether slices are added one after the other: NumPy enters a loop for every row of a short axis.

    It adds them in this order too, to a zero, if they are fewer than eight or if they are not neighbours in memory.
    """
    before, size, after = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
    if before < 2 or size < 1 or ufunc not in _FOLDED or (_FOLDED[ufunc] is not None and x.dtype.kind != "f"):
        return False
    if size <= FOLDED[0] or (size <= FOLDED[1] and x.size >= WIDE):
        return True
    return size <= FOLDED[2] and after > 1 and x.size >= WIDE and x.flags.c_contiguous


def _fold(ufunc: Any, axis: int, size: int, keepdims: bool) -> Callable[[Array], Array]:
    """The reduction along an axis of this size, slice by slice."""
    least = _FOLDED[ufunc]
    first, *others = [((slice(None),) * axis + (slice(i, i + 1) if keepdims else i,)) for i in range(size)]
    second = others.pop(0) if others and least is None else None

    def run(values: Array) -> Array:
        if second is not None:
            total = ufunc(values[first], values[second])
        else:
            total = values[first] if least is None else ufunc(values[first], least)
        for part in others:
            ufunc(total, values[part], out=total)
        return total

    return run


def _by(ufunc: Any) -> Callable[..., Any]:
    def run(tape: Tape, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, **kwargs: Any) -> Any:
        return _reduced(tape, ufunc, x, axis, **kwargs)

    return run


def _item(tape: Tape, x: Taped, key: Any) -> Any:
    parts = cast("tuple[Any, ...]", key if type(key) is tuple else (key,))
    rows, named = tape.rows, list[Any]()
    for part in parts:
        kind = cast("type[Any]", type(part))
        if kind is slice:
            start, stop = part.start, part.stop
            if (start and start % rows == 0) or (stop and stop % rows == 0):
                raise NotTaped("a row, or some")
            named.append((start, stop, part.step))  # a slice has no hash
        elif kind is int:
            if part and part % rows == 0:
                raise NotTaped("a row, or some")
            named.append(part)
        elif kind is Taped or kind is np.ndarray:
            return _gathered(tape, x, parts)
        else:  # an ellipsis, a new axis, a list
            named.append(repr(part))
    entry = tape.index.get(name := ("item", x.place, *named))
    if entry is None:
        entry = tape.write(operator.getitem, (x.place, tape.put(key, ("key", *named))), x.value[key], name)
    return entry


def _gathered(tape: Tape, x: Taped, parts: tuple[Any, ...]) -> Any:
    if any(getattr(getattr(part, "dtype", None), "kind", "") == "b" for part in parts):
        raise NotTaped("a mask")

    def run(values: Array, *key: Any) -> Any:
        return values[key]

    return tape.call(run, x, *parts, key="item")


def _reshaped(tape: Tape, x: Any, shape: Any, **_: Any) -> Any:
    return _placed(tape, np.ndarray.reshape, x, tape.shape(shape))


def _broadcast(tape: Tape, x: Any, shape: Any, **_: Any) -> Any:
    return _placed(tape, np.broadcast_to, x, tape.shape(shape))


def _placed(tape: Tape, function: Callable[..., Any], x: Any, place: int) -> Any:
    size = tape.sizes[place](tape.rows) if place in tape.sizes else tape.values[place]
    if type(x) is Taped and x.shape == size:
        return x
    return tape.call(function, x, Taped(tape, place, size))


def _joined(tape: Tape, arrays: Sequence[Any], axis: int = 0, **_: Any) -> Any:
    def run(*parts: Any) -> Array:
        return np.concatenate(parts, axis)

    return tape.call(run, *arrays, key=("concatenate", axis))


def _stacked(tape: Tape, arrays: Sequence[Any], axis: int = 0, **_: Any) -> Any:
    parts, rank = [*arrays], arrays[0].ndim + 1
    if len({part.shape for part in parts}) > 1:
        raise NotTaped("arrays of several shapes in one")
    inside = (slice(None),) * (axis % rank)

    def run(*parts: Any) -> Array:
        return np.concatenate([part[(*inside, None)] for part in parts], axis)

    return tape.call(run, *parts, key=("stack", axis))


def _like(value: float | None) -> Callable[..., Any]:
    def run(tape: Tape, x: Taped, fill: float | None = None, dtype: Any = None, **_: Any) -> Any:
        filled = np.full(x.shape, value if fill is None else fill, dtype or x.dtype)
        return Taped(tape, tape.place(filled), filled)

    return run


def _where(tape: Tape, condition: Any, *sides: Any) -> Any:
    if len(sides) != 2:
        raise NotTaped("where something is")
    return tape.call(np.where, condition, *sides)


def _einsum(tape: Tape, subscripts: str, *arrays: Any, **kwargs: Any) -> Any:
    if kwargs:
        raise NotTaped("einsum with options")
    return tape.call(np.einsum, subscripts, *arrays)


def _dotted(tape: Tape, a: Any, b: Any, axes: Any = 2) -> Any:
    """(S,), (S, ...) -> (...): the product that `tensordot` takes."""
    if axes != 1 or a.ndim != 1:
        return _generic(tape, np.tensordot, (a, b), {"axes": axes})
    rest: tuple[int, ...] = b.shape[1:]
    row = _reshaped(tape, a, (1, a.shape[0]))
    return _reshaped(tape, tape.call(np.dot, row, _reshaped(tape, b, (b.shape[0], prod(rest)))), rest)


def _turned(tape: Tape, x: Any, axes: Any = None) -> Any:
    axes = tuple(axes) if axes is not None else tuple(range(x.ndim))[::-1]
    return x if axes == tuple(range(x.ndim)) else tape.call(np.ndarray.transpose, x, axes)


def _moved(tape: Tape, x: Any, source: int, destination: int) -> Any:
    axes = [axis for axis in range(x.ndim) if axis != source % x.ndim]
    axes.insert(destination % x.ndim, source % x.ndim)
    return _turned(tape, x, axes)


def _swapped(tape: Tape, x: Any, one: int = -1, other: int = -2) -> Any:
    axes = [*range(x.ndim)]
    axes[one], axes[other] = axes[other], axes[one]
    return _turned(tape, x, axes)


def _largest_at(tape: Tape, x: Any, axis: Any = None, **kwargs: Any) -> Any:
    if kwargs:
        raise NotTaped("argmax with options")
    return tape.call(np.ndarray.argmax, x, axis)


def _cast(tape: Tape, x: Any, dtype: Any, **_: Any) -> Any:
    return x.astype(dtype)


def _generic(tape: Tape, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Any other function: arrays are arguments of the call, everything else belongs to it."""
    arrays: list[Any] = []

    def hole(x: Any) -> Any:
        if isinstance(x, Taped | np.ndarray):
            arrays.append(x)
            return _HOLE
        if isinstance(x, list | tuple):
            return tuple(hole(part) for part in cast("Sequence[Any]", x))
        if isinstance(x, int) and x and x % tape.rows == 0:
            raise NotTaped("a number of rows")
        return x

    plan, options = [hole(x) for x in args], {name: hole(x) for name, x in kwargs.items()}
    first = sum(x is _HOLE for x in plan)
    rest = tuple(plan[first:])

    def filled(x: Any, rest: Iterator[Any]) -> Any:
        if x is _HOLE:
            return next(rest)
        return tuple(filled(part, rest) for part in cast("Any", x)) if isinstance(x, tuple) else x

    def simple(*arrays: Any) -> Any:
        return function(*arrays, *rest, **options)

    def nested(*arrays: Any) -> Any:
        left = iter(arrays)
        return function(*[filled(x, left) for x in plan], **{name: filled(x, left) for name, x in options.items()})

    run = simple if first == len(arrays) and all(x is _HOLE for x in plan[:first]) else nested
    result = tape.call(run, *arrays, key=(function, repr(plan), repr(options)))
    if hasattr(result.value, "dtype"):
        return result
    return tuple(tape.call(operator.getitem, result, i) for i in range(len(result.value)))  # several arrays


class _Hole:
    """Where an array goes."""

    def __repr__(self) -> str:
        return "_"


_HOLE = _Hole()
_FOLDED: dict[Any, Array | None] = {  # and what sums begin with
    np.add: np.asarray(0.0),
    np.maximum: None,
    np.minimum: None,
    np.fmax: None,
    np.logical_and: None,
    np.logical_or: None,
}
_SPECIAL: dict[Any, Callable[..., Any]] = {
    np.sum: _by(np.add),
    np.max: _by(np.maximum),
    np.amax: _by(np.maximum),
    np.min: _by(np.minimum),
    np.amin: _by(np.minimum),
    np.prod: _by(np.multiply),
    np.all: _by(np.logical_and),
    np.any: _by(np.logical_or),
    np.reshape: _reshaped,
    np.broadcast_to: _broadcast,
    np.concatenate: _joined,
    np.stack: _stacked,
    np.where: _where,
    np.einsum: _einsum,
    np.tensordot: _dotted,
    np.transpose: _turned,
    np.moveaxis: _moved,
    np.swapaxes: _swapped,
    np.matrix_transpose: _swapped,
    np.argmax: _largest_at,
    np.astype: _cast,
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: _like(None),
}
