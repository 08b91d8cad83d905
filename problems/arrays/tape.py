"""A list of NumPy calls that was written down once and is replayed on other batches.

A batch has rows (instances), and every size in a tape is constant or a multiple of the number of rows. Which is which
is read off the batch that is recorded: its number of rows is a prime p, chosen so that no size of the problem is a
multiple of it. Then no product of such sizes is one, and what is a multiple of p has the rows in it. Sums of sizes
could deceive this, so a tape is kept only if `Tape.scales` finds no difference on a batch of another number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

Array = np.ndarray[Any, Any]
Operation = tuple[Callable[..., Any], int, tuple[int, ...]]  # what is called, where its value goes, where arguments are
Step = tuple[Callable[..., Any], int, int, int, tuple[int, ...], tuple[int, ...]]
# an operation with one or two arguments (or -1), or with more; and what nothing needs after it
SMALL_CONSTANT = 64  # numbers of a constant that is compared by value
SAME = 1e-9  # NumPy adds in an order that depends on sizes, so batches of two sizes agree up to rounding


class NotTaped(Exception):
    """The function does something with arrays that no tape can hold."""


class Entry:
    """A value of a tape: its place there, and what it was while the tape was recorded."""

    __slots__ = ("place", "tape", "value")

    def __init__(self, tape: Tape, place: int, value: Any) -> None:
        self.tape, self.place, self.value = tape, place, value


class Tape:
    """One recording. `values` has constants in their places and nothing where inputs and operations go.

    `entry` is the kind of array that is handed to the code that is recorded.
    """

    def __init__(self, rows: int, entry: type[Entry]) -> None:
        self.rows, self.entry = rows, entry
        self.values: list[Any] = []
        self.operations: list[Operation] = []
        self.steps: list[Step] = []  # operations that are needed
        self.guards: list[tuple[int, bool]] = []
        self.sizes: dict[int, Any] = {}  # places of what is made from the number of rows
        self.inputs: dict[str, int] = {}
        self.outputs: tuple[int, ...] = ()
        self.computed: list[Array] = []  # the outputs of the batch that was recorded
        self.index: dict[Any, Any] = {}  # key -> what is written down for it, while recording
        self._kept: list[Any] = []  # constants that are known by identity stay alive
        self._filled: dict[int, list[Any]] = {}  # constants for the last two numbers of rows

    def replay(self, batch: Mapping[str, Array]) -> list[Array] | None:
        """The outputs of another batch, or None where it branches otherwise."""
        values = self.sized_for(len(next(iter(batch.values())))).copy()
        for name, place in self.inputs.items():
            values[place] = batch[name]
        with np.errstate(all="ignore"):
            for function, to, first, second, many, ends in self.steps:
                if second >= 0:
                    values[to] = function(values[first], values[second])
                elif first >= 0:
                    values[to] = function(values[first])
                else:
                    values[to] = function(*[values[place] for place in many])
                for place in ends:
                    values[place] = None
        if any(bool(values[place]) is not expected for place, expected in self.guards):
            return None
        return [values[place] for place in self.outputs]

    def ended(self, outputs: Sequence[Any]) -> None:
        """Keep what these outputs and the guards need."""
        self.outputs = tuple(self.place(x) for x in outputs)
        self.computed = [x.value if isinstance(x, Entry) else np.asarray(x) for x in outputs]
        self.shorten()

    def scales(self, batch: Mapping[str, Array], first: Array) -> list[Array] | None:
        """The replay of a batch, if it has another number of rows than the recorded one and agrees with it, else None.

        Row r of the recorded batch is row first[r] of this one. What was computed there while recording is what NumPy
        makes of these rows without a tape, so a replay that agrees has taken no size, and nothing that was written into
        an array unseen, for what it is not: both would change numbers or shapes, or end in an exception.
        """
        if len(next(iter(batch.values()))) == self.rows:
            return None
        try:
            replayed = self.replay(batch)
        except (ValueError, IndexError):  # NumPy's word for shapes that do not fit
            return None
        for values, computed in zip(replayed or (), self.computed, strict=bool(replayed)):
            again = values[first]
            if again.shape != computed.shape or not np.allclose(again, computed, rtol=SAME, atol=SAME, equal_nan=True):
                return None
        return replayed

    def sized_for(self, n: int) -> list[Any]:
        """The constants, with those that are made from the number of rows; kept for the next batches of as many."""
        values = self._filled.pop(n, None)
        if values is None:
            values = self.values.copy()
            for place, size in self.sizes.items():
                values[place] = size(n)
            if len(self._filled) > 1:
                del self._filled[next(iter(self._filled))]
        self._filled[n] = values
        return values

    def input(self, name: str, values: Array) -> Any:
        self.inputs[name] = len(self.values)
        self.values.append(None)
        return self.entry(self, self.inputs[name], values)

    def call(self, function: Callable[..., Any], *args: Any, key: Any = None) -> Any:
        """`function(*args)`, written down; `key` says what is called where functions are made for one call."""
        places = tuple([x.place if isinstance(x, Entry) else self.place(x) for x in args])
        key = (key or function, places)
        entry = self.index.get(key)
        if entry is None:
            value = function(*[x.value if isinstance(x, Entry) else x for x in args])
            entry = self.write(function, places, value, key)
        return entry

    def write(self, function: Callable[..., Any], places: tuple[int, ...], value: Any, key: Any) -> Any:
        to = len(self.values)
        written = self.index[key] = self.entry(self, to, value)
        self.operations.append((function, to, places))
        self.values.append(None)
        return written

    def pair(self, ufunc: Any, a: Any, b: Any) -> Any:
        """A call of a function of two arrays, one of them of this tape."""
        if ufunc.signature is not None:  # works on whole axes
            return self.call(ufunc, a, b)
        if not isinstance(a, Entry):
            a = self.number(a, b)
        elif not isinstance(b, Entry):
            b = self.number(b, a)
        places = a.place, b.place
        key = ufunc, places
        entry = self.index.get(key)
        return self.write(ufunc, places, ufunc(a.value, b.value), key) if entry is None else entry

    def number(self, x: Any, beside: Entry) -> Any:
        """A constant beside an array. One number is an array without axes, which NumPy is quickest with."""
        if (type(x) is float or type(x) is int) and beside.value.dtype.kind == "f":
            x = float(x)
            entry = self.index.get(key := ("number", x, x == 0 and str(x)))
            if entry is None:
                if x and x % self.rows == 0:
                    raise NotTaped("a number that may be that of the rows")
                value = np.asarray(x)
                entry = self.index[key] = self.entry(self, self.place(value), value)
            return entry
        if isinstance(x, np.ndarray) and x.size == 1 and x.ndim and x.ndim <= beside.value.ndim:
            x = cast("Array", x).reshape(())
        return self.entry(self, self.place(x), x)

    def place(self, x: Any) -> int:
        """Where a value is; constants are put somewhere."""
        if isinstance(x, Entry):
            return x.place
        if isinstance(x, np.ndarray):
            return self.constant(cast("Array", x))
        return self.put(x, key_of(x))

    def constant(self, x: Array) -> int:
        if any(size % self.rows == 0 for size in x.shape if size):
            return self.grown(x)
        if x.size <= SMALL_CONSTANT:
            return self.put(x, (x.shape, x.dtype, x.tobytes()))
        return self.put(x, id(x))

    def put(self, x: Any, key: Any) -> int:
        if key not in self.index:
            self.index[key] = len(self.values)
            self.values.append(x)
            self._kept.append(x)
        return self.index[key]

    def sized(self, size: Callable[[int], Any], key: Any) -> int:
        """Where something is that is made from the number of rows."""
        if key not in self.index:
            self.index[key] = len(self.values)
            self.sizes[len(self.values)] = size
            self.values.append(None)
        return self.index[key]

    def grown(self, x: Array) -> int:
        """A constant with one row per instance: all equal, or the numbers of the rows."""
        axis, rows = x.shape.index(self.rows) if self.rows in x.shape else -1, self.rows
        shape = tuple(-1 if size == rows else size for size in x.shape)
        if axis < 0 or shape.count(-1) > 1 or any(size > rows and size % rows == 0 for size in x.shape):
            raise NotTaped("a constant with several times as many rows as the batch")
        if x.dtype == int and x.size == rows and np.array_equal(x.ravel(), np.arange(rows)):
            return self.sized(lambda n: np.arange(n).reshape(shape), ("arange", shape))
        first = x.take([0], axis=axis)
        if not np.array_equal(np.broadcast_to(first, x.shape), x, equal_nan=x.dtype.kind == "f"):
            raise NotTaped("a constant that is not the same in all rows")
        key = "full", x.shape, first.tobytes(), x.dtype
        return self.sized(lambda n: np.broadcast_to(first, tuple(n if s < 0 else s for s in shape)), key)

    def shape(self, shape: Any) -> int:
        """Where a shape is; the number of rows in it, or its multiple, grows."""
        sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
        times = tuple(size // self.rows if size > 0 and size % self.rows == 0 else 0 for size in sizes)
        if not any(times):
            return self.put(sizes, ("shape", sizes))
        pairs = tuple(zip(sizes, times, strict=True))
        return self.sized(lambda n: tuple(n * k if k else size for size, k in pairs), ("shape", sizes))

    def guard(self, place: int, expected: bool) -> None:
        self.guards.append((place, expected))

    def shorten(self) -> None:
        """Leave out what nothing needs."""
        needed = bytearray(len(self.values))
        for place in (*self.outputs, *(place for place, _ in self.guards)):
            needed[place] = True
        kept: list[Step] = []
        for function, to, places in reversed(self.operations):
            if not needed[to]:
                continue
            if len(places) == 2:
                one, other = places
                if needed[one]:
                    ends = () if needed[other] else (other,)
                else:
                    ends = (one,) if needed[other] or other == one else places
                kept.append((function, to, one, other, (), ends))
                needed[one] = needed[other] = True
            elif len(places) == 1:
                (one,) = places
                kept.append((function, to, one, -1, (), () if needed[one] else places))
                needed[one] = True
            else:
                kept.append((function, to, -1, -1, places, tuple({place for place in places if not needed[place]})))
                for place in places:
                    needed[place] = True
        self.steps = kept[::-1]
        self.sizes = {place: size for place, size in self.sizes.items() if needed[place]}
        self.index, self._kept, self.operations = {}, [], []


def key_of(x: Any) -> Any:
    return type(x), repr(x)  # a slice has no hash, and 0.0 is equal to -0.0
