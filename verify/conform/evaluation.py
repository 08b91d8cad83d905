"""The value of a rule, from plain arrays: vectors of the server (d,), of the clients (C, d)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np

from fedaudit.bounds.formulas.trees import Arithmetic, Formula, read
from fedaudit.errors import UserError

from .recording import Array, Recording
from .rule_trees import Tree, children

__all__ = ["MEAN_WEIGHTS", "Place", "Unknown", "server_scalars", "vector"]

State = dict[str, Array]
OF_CLIENTS = ("batches", "epochs")  # scalars that are one per client, also where there are as many rounds


class Unknown(Exception):
    """What a rule reads was neither recorded nor can be computed."""


@dataclass(slots=True)
class Place:
    """Where in a run a rule is read: the vectors as they are, and what was recorded of this round."""

    run: Recording
    t: int
    k: int
    state: State
    before: State  # one local step earlier
    scalars: Mapping[str, Any]
    drawn: Array = field(repr=False)
    stepping: str = ""  # in a local step: the vector that moves, at which recorded gradients were taken


# Weights of the clients in a mean: of the run and of how often each was drawn in the round.
MEAN_WEIGHTS: Mapping[str, tuple[str, Callable[[Recording, Array, int], Array]]] = {
    "own": ("all clients, with their share of the data", lambda run, drawn, first: run.weights),
    "sampled": ("the sampled clients, each the same", lambda run, drawn, first: drawn / drawn.sum()),
    "shares": (
        "the sampled clients, with their share of the data",
        lambda run, drawn, first: run.weights * drawn / (run.weights * drawn).sum(),
    ),
    "all-equal": (
        "all clients, each the same, idle ones too",
        lambda run, drawn, first: np.full(len(drawn), 1 / len(drawn)),
    ),
    "unnormalised": (
        "the sampled clients, with their share of all data (the weights do not sum to 1)",
        lambda run, drawn, first: run.weights * drawn,
    ),
    "over-all": (
        "the sum over the sampled clients divided by the number of all",
        lambda run, drawn, first: drawn / len(drawn),
    ),
    "sum": ("the sum over the sampled clients instead of their mean", lambda run, drawn, first: drawn.astype(float)),
    "first-twice": (
        "the first client counted twice (the sum begins with it and then adds all)",
        lambda run, drawn, first: (drawn + (np.arange(len(drawn)) == first)) / drawn.sum(),
    ),
    "first-twice-normalised": (
        "the first client counted twice, weights that sum to 1",
        lambda run, drawn, first: (drawn + (np.arange(len(drawn)) == first)) / (drawn.sum() + 1),
    ),
    "first-twice-shares": (
        "the first client's share counted twice",
        lambda run, drawn, first: _twice(run.weights * drawn / (run.weights * drawn).sum(), first),
    ),
    "first-alone": ("the first client alone", lambda run, drawn, first: (np.arange(len(drawn)) == first) * 1.0),
}


def _twice(weights: Array, first: int) -> Array:
    return weights * (1 + (np.arange(len(weights)) == first))


def vector(tree: Tree, place: Place) -> Array:
    """The value of a rule's tree at a place; raises `Unknown`."""
    if isinstance(tree, str):
        if tree not in place.state:
            raise Unknown(tree)
        return place.state[tree]
    op, *args = tree
    run = place.run
    match op:
        case "+":
            total = vector(args[0], place)
            for arg in args[1:]:
                total = total + vector(arg, place)
            return total
        case "*":
            return scalar(args[0], place) * vector(args[1], place)
        case "noisy" | "again":
            return vector(args[0], place)
        case "grad":
            return _gradient(args[0], place)
        case "hess":
            if run.losses is None or run.losses.hess is None:
                raise Unknown("the Hessians of the losses")
            return run.losses.hess(_wide(vector(args[0], place), run), _wide(vector(args[1], place), run))
        case "oracle":
            if run.losses is None or run.losses.prox is None:
                raise Unknown("proximal points of the losses")
            return _proximal(run.losses.prox, _wide(vector(args[1], place), run), scalar(args[0], place))
        case "mean":
            return _mean("own", args[0], place)
        case "sampled" | "shares":
            return _mean(op, args[0], place)
        case "combine":
            return _mean(args[0], args[1], place)
        case "client":
            return _wide(vector(args[1], place), run)[int(args[0])]
        case "square":
            return vector(args[0], place) ** 2
        case "adaptive":
            tau, first, second = scalar(args[0], place), vector(args[1], place), vector(args[2], place)
            if (second < 0).any():
                raise Unknown("the root of a negative second moment")
            return first / (np.sqrt(second) + tau)
        case "shrunk":
            return vector(args[1], place) / (1 + scalar(args[0], place))
        case "soft":
            x = vector(args[1], place)
            size = np.linalg.norm(x, axis=-1, keepdims=True)
            return x * np.maximum(0.0, 1 - scalar(args[0], place) / np.where(size > 0, size, 1))
        case "unit":
            return _units(vector(args[0], place), run)
        case "previous":
            return vector(args[0], place) if place.k == 0 else place.before[args[0]]
        case "block":
            x, old = vector(args[1], place).copy(), vector(args[2], place)
            x[..., run.arrays[args[0]]] = old[..., run.arrays[args[0]]]
            return x
        case "start":
            return run.vectors["x"][0] if "x" in run.vectors else next(iter(run.vectors.values()))[0]
        case "first":
            if args[0] not in run.vectors:
                raise Unknown(f"the first value of {args[0]}")
            return run.vectors[args[0]][0]
        case "zero":
            return np.zeros(run.dim)
        case "ones":
            return np.ones(run.dim)
        case _:
            raise UserError(
                f"the operation {op!r} in a rule", "one that a recorded run can be compared with", "leave it out"
            )


def _wide(x: Array, run: Recording) -> Array:
    return np.broadcast_to(x, (run.clients, run.dim))


def _gradient(tree: Tree, place: Place) -> Array:
    """Recorded gradients are those at the point where the local step begins, which is the one that moves."""
    run = place.run
    recorded = run.gradients
    if recorded is not None and tree == place.stepping and place.k < recorded.shape[1]:
        return recorded[place.t, place.k]
    if run.losses is None:
        raise Unknown("gradients of the losses")
    return run.losses.grad(_wide(vector(tree, place), run))


def _mean(kind: str, tree: Tree, place: Place) -> Array:
    if kind in ("sampled", "shares") and not place.drawn.any():
        raise Unknown("a client that was drawn in every round")
    weights = MEAN_WEIGHTS[kind][1](place.run, place.drawn, int(place.run.first[place.t]))
    values = _wide(vector(tree, place), place.run)
    # What an idle client has may not be a number, and 0 times that is none either.
    used = weights != 0
    return weights[used] @ values[used]


def _proximal(prox: Callable[[Array, float], Array], w: Array, step: Any) -> Array:
    """The proximal point of each client, whose step may be its own."""
    steps = np.broadcast_to(np.ravel(step), len(w))
    points = {size: prox(w, float(size)) for size in np.unique(steps)}
    return np.stack([points[size][i] for i, size in enumerate(steps)])


def _units(x: Array, run: Recording) -> Array:
    """Each array of the model divided by its norm; 0 where it is 0."""
    out = np.zeros_like(x)
    for block in run.arrays.values():
        size = np.linalg.norm(x[..., block], axis=-1, keepdims=True)
        out[..., block] = np.where(size > 0, x[..., block] / np.where(size > 0, size, 1), 0)
    return out


def scalar(tree: Tree, place: Place) -> Any:
    """A number, or one for each client (C, 1)."""
    try:
        return _formula(_key(tree))(place)
    except (ZeroDivisionError, OverflowError) as error:
        raise Unknown("a number that is not finite") from error


def _key(tree: Tree) -> Any:
    return tuple(_key(part) for part in children(tree)) if isinstance(tree, list) else tree


# The thousands of rules that a search tries share most of their scalars.
@lru_cache(maxsize=4096)
def _formula(key: Any) -> Formula[Any]:
    return read(_listed(key), _ARITHMETIC)


def _listed(key: Any) -> Tree:
    return [_listed(part) for part in cast("tuple[Any, ...]", key)] if isinstance(key, tuple) else key


def _named(name: str) -> Formula[Any]:
    def value(place: Place) -> Any:
        if name == "t":
            return place.t
        if name == "k":
            return place.k
        if name not in place.scalars:
            raise Unknown(name)
        return place.scalars[name]

    return value


def _indexed(name: str, indices: Sequence[Tree]) -> Formula[Any]:
    def value(place: Place) -> Any:
        if name not in place.scalars:
            raise Unknown(name)
        return place.scalars[name]

    del indices  # a value of the place: `local_scalars` and `server_scalars` have looked it up
    return value


def _no_sum(variable: str, low: Tree, high: Tree, body: Tree) -> Formula[Any]:
    raise UserError(f"a sum over {variable} in a rule", "products and sums of numbers", "write it out")


def _power(base: Any, exponent: Any) -> Any:
    return base**exponent


_ARITHMETIC: Arithmetic[Any] = Arithmetic(
    constant=lambda p, q: lambda _: p / q,
    name=_named,
    at=_indexed,
    total=_no_sum,
    power=_power,
    fold={"+": operator.add, "*": operator.mul, "min": np.minimum, "max": np.maximum},
    unary={"exp": np.exp, "log": np.log, "abs": abs},
    compare={},
)


def server_scalars(run: Recording, t: int, drawn: Array) -> dict[str, object]:
    """What the scalars of a rule are in round t; E is the mean over those that were drawn, as `E_mean`."""
    share = run.weights * drawn
    E_mean = float((share * run.steps[t]).sum() / share.sum()) if share.sum() else float(run.steps[t].mean())
    plain = float(run.steps[t][drawn > 0].mean()) if share.sum() else E_mean
    values: dict[str, object] = {
        "E_plain": plain,
        "C": run.clients,
        "m": float(drawn.sum()),
        "E_mean": E_mean,
        "E": E_mean,
        "T": run.rounds,
    }
    for name, array in run.scalars.items():
        value = at_round(name, array, t, run)
        if np.ndim(value) < 2:  # what every client has its own of is nothing at the server
            values[name] = value
    return values


def at_round(name: str, array: Array, t: int, run: Recording) -> Any:
    """A scalar in round t: a number for all, or one per round (T,), or one per client (C,) as (C, 1)."""
    if array.ndim == 0:
        return float(array)
    if array.ndim == 1 and len(array) == run.rounds and name not in OF_CLIENTS:
        return float(array[t])
    if array.ndim == 1 and len(array) == run.clients:
        return array[:, None]
    if array.ndim == 2 and len(array) == run.rounds:
        return array[t]
    raise UserError(
        f"{name} of shape {array.shape}", f"a number, ({run.rounds},) or ({run.clients},)", "give one per round"
    )


def local_scalars(values: Mapping[str, Any], run: Recording, t: int, k: int) -> dict[str, object]:
    """The values of scalars at local step k of round t; E is each client's own number of local steps."""
    here = {**values, "E": run.steps[t][:, None]}
    for name, array in run.scalars.items():
        if array.ndim == 2 and len(array) == run.rounds:
            here[name] = float(array[t, min(k, array.shape[1] - 1)])
        elif name not in values:
            here[name] = at_round(name, array, t, run)
    return here
