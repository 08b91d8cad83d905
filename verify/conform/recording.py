"""A recorded run: arrays under the names that the method gives its vectors, and what else its rules read.

| array | shape | what it is |
| --- | --- | --- |
| a server's vector (`x`, `c`, ...) | (T + 1, d) | before every round, and after the last one |
| what a client keeps (`c_i`, ...) | (T + 1, C, d) | the same |
| a client's model `y`, all of it | (T, K + 1, C, d) | when the round has reached it, and after each local step |
| a client's vector at its end | (T, C, d) | after the round's last rule at the client |
| `grad` | (T, K, C, d) | the gradients that the local steps took, where they are recorded |
| `sampled` | (T, C) | how often a client was drawn in a round; all of them once where it is left out |
| `weights` or `counts` | (C,) | the clients' shares of the data, or how many points they have |
| `steps` | (C,) or (T, C) | local steps that the method is asked for; counted in `y` where they are left out |
| scalars (`gamma`, `mu`, ...) | (), (T,), (T, K) | by the method's own names |

An entry that is not a number was not recorded: clients that were idle, steps that were not taken. `A` and `b` give
quadratic losses w'A_i w/2 - b_i'w, so that gradients can be computed anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from fedaudit.errors import UserError

from ..recorded.trajectory import Array

__all__ = ["OWN", "Array", "Losses", "Recording", "recording_of"]

OWN = ("grad", "sampled", "weights", "counts", "steps", "A", "b", "arrays", "first")  # names that are no vectors
TOLERANCE = {8: 1e-10, 4: 1e-4, 2: 1e-2}  # by the bytes of a float: what a few hundred roundings may add


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Gradients of the clients' losses at a point each, (C, d) to (C, d); Hessians times vectors where known."""

    grad: Callable[[Array], Array]
    hess: Callable[[Array, Array], Array] | None = None
    prox: Callable[[Array, float], Array] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A run as arrays; `taken` is how many local steps were recorded, `steps` how many were asked for."""

    vectors: Mapping[str, Array]
    rounds: int
    clients: int
    dim: int
    weights: Array  # (C,), sum 1
    drawn: Array  # (T, C)
    steps: Array  # (T, C)
    taken: Array | None  # (T, C)
    scalars: Mapping[str, Array]
    gradients: Array | None
    losses: Losses | None
    arrays: Mapping[str, slice]
    first: Array  # (T,), the client that came first
    tolerance: float
    sampling_recorded: bool = False
    notes: tuple[str, ...] = field(default_factory=tuple)


def recording_of(raw: Mapping[str, object], names: Mapping[str, bool], losses: Losses | None = None) -> Recording:
    """A recording from arrays by name. `names`: the vectors of the method, and whether each is the server's."""
    data = {name: _numbers(name, value) for name, value in raw.items() if name != "arrays"}
    server = [name for name, whose in names.items() if whose and name in data]
    if not server:
        missing = [name for name, whose in names.items() if whose]
        raise UserError(
            f"a run with {', '.join(data) or 'no array'}", f"the server's vector {missing[0]}, (T + 1, d)", "record it"
        )
    leading = data[server[0]]
    if leading.ndim != 2 or len(leading) < 2:
        raise UserError(f"{server[0]} of shape {leading.shape}", "(T + 1, d) with T at least 1", "record every round")
    T, d = len(leading) - 1, leading.shape[1]
    C = _clients(data, names)
    vectors = {name: _shaped(name, data[name], names[name], T, C, d) for name in names if name in data}
    drawn = data["sampled"] if "sampled" in data else np.ones((T, C))
    _fits("sampled", drawn, [(T, C)])
    taken = _taken(vectors, names)
    asked = data.get("steps")
    if asked is None:
        # How many steps an idle client was asked for is not recorded; the largest number that any took stands in.
        steps = np.ones((T, C)) if taken is None else np.where(taken > 0, taken, taken.max())
    else:
        _fits("steps", asked, [(), (C,), (T, C)])
        steps = np.broadcast_to(asked, (T, C))
    gradients = data.get("grad")
    if gradients is not None and (gradients.ndim != 4 or gradients.shape[0] != T or gradients.shape[2:] != (C, d)):
        raise UserError(f"grad of shape {gradients.shape}", f"({T}, K, {C}, {d})", "give one gradient per local step")
    scalars = {name: value for name, value in data.items() if name not in names and name not in OWN}
    floats = [np.asarray(raw[name]).dtype.itemsize for name in vectors if np.asarray(raw[name]).dtype.kind == "f"]
    first = data["first"].astype(int) if "first" in data else np.argmax(drawn > 0, axis=1)
    return Recording(
        vectors=vectors,
        rounds=T,
        clients=C,
        dim=d,
        weights=_weights(data, C),
        drawn=drawn,
        steps=steps,
        taken=taken,
        scalars=scalars,
        gradients=gradients,
        losses=losses or _quadratics(data, C, d),
        arrays=_blocks(raw.get("arrays"), d),
        first=first,
        tolerance=TOLERANCE.get(min(floats, default=8), 1e-10),
        sampling_recorded="sampled" in data,
    )


def _numbers(name: str, value: object) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            array = np.asarray(value, dtype=float)  # lists with null are objects
        return array.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(
            f"{name}, which is no array of numbers", "numbers in lists of one length each", "mend it"
        ) from error


def _clients(data: Mapping[str, Array], names: Mapping[str, bool]) -> int:
    """How many clients the arrays have."""
    for name in ("weights", "counts"):
        if name in data and data[name].ndim == 1:
            return len(data[name])
    if "sampled" in data and data["sampled"].ndim == 2:
        return data["sampled"].shape[1]
    for name, server in names.items():
        if not server and name in data and data[name].ndim in (3, 4):
            return data[name].shape[-2]
    raise UserError(f"a run with {', '.join(data)}", "a client's vector, `sampled` or `weights`", "record one of them")


def _shaped(name: str, array: Array, server: bool, T: int, C: int, d: int) -> Array:
    if server:
        return _fits(name, array, [(T + 1, d)])
    if array.ndim == 4 and array.shape[0] == T and array.shape[2:] == (C, d) and array.shape[1] > 1:
        return array
    return _fits(name, array, [(T, C, d), (T + 1, C, d)])


def _fits(name: str, array: Array, shapes: list[tuple[int, ...]]) -> Array:
    if array.shape not in shapes:
        raise UserError(
            f"{name} of shape {array.shape}", " or ".join(map(str, shapes)), "see `fedaudit conform --help`"
        )
    return array


def _taken(vectors: Mapping[str, Array], names: Mapping[str, bool]) -> Array | None:
    """How many local steps each client took in each round, from entries that are numbers."""
    whole = [array for name, array in vectors.items() if not names[name] and array.ndim == 4]
    return None if not whole else np.isfinite(whole[0]).all(axis=-1).sum(axis=1) - 1.0


def _weights(data: Mapping[str, Array], C: int) -> Array:
    raw = data.get("weights", data.get("counts", np.ones(C)))
    _fits("weights", raw, [(C,)])
    if not (np.isfinite(raw).all() and (raw >= 0).all() and raw.sum() > 0):
        raise UserError(
            f"weights {raw.tolist()}", "numbers from 0 on, not all 0", "give the clients' shares of the data"
        )
    return raw / raw.sum()


def _blocks(raw: object, d: int) -> dict[str, slice]:
    """The coordinates of each named array of a model; the whole is one where nothing is said."""
    if raw is None:
        return {"model": slice(0, d)}
    if not isinstance(raw, Mapping):
        raise UserError("arrays without sizes", '{"layer": 10, "buffer": 2}', "give each array's name and size")
    blocks: dict[str, slice] = {}
    at = 0
    for name, size in cast("Mapping[object, int]", raw).items():
        blocks[str(name)] = slice(at, at + int(size))
        at += int(size)
    if at != d:
        raise UserError(f"arrays of {at} numbers in all", f"{d}, as the vectors have", "give every array's size")
    return blocks


def _quadratics(data: Mapping[str, Array], C: int, d: int) -> Losses | None:
    if "A" not in data or "b" not in data:
        return None
    A, b = _fits("A", data["A"], [(C, d, d)]), _fits("b", data["b"], [(C, d)])
    return quadratic_losses(A, b)


def quadratic_losses(A: Array, b: Array) -> Losses:
    """Gradients, Hessians and proximal points of the losses w'A_i w/2 - b_i'w."""
    eye = np.eye(b.shape[1])
    return Losses(
        grad=lambda w: np.einsum("cij,cj->ci", A, w) - b,
        hess=lambda w, v: np.einsum("cij,cj->ci", A, v) + 0 * w,
        prox=lambda w, step: np.linalg.solve(step * A + eye, (w + step * b)[..., None])[..., 0],
    )
