"""A function of independent points as the table of its values (lemma 2 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.losses.minibatch import differences, tuples

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text

SIZES = ((2, 1), (3, 1), (4, 1), (6, 1), (10, 1), (2, 2), (3, 2), (2, 3), (2, 4))  # points of the sample space, N


@dataclass(frozen=True, slots=True)
class Tabulated:
    name: str = "table"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("beta",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        free = [Shape.of({"h": "any"}, N=N, n=n, d=d, T=1) for n, N in SIZES for d in (1, 2, 3)]
        corners = [Shape.of({"h": "corners"}, N=N, n=n, d=n, T=1) for n, N in SIZES]
        return [*free, *corners]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        sets = shape["n"] ** shape["N"]
        return [Gene("weight", "positive", (shape["n"],)), Gene("h", "real", (sets, shape["d"]))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        spread2, beta = differences(_values(shape, genome["h"]), shares(genome["weight"]), shape["N"])
        return Table(known.n, {**known.scalars, "spread2": spread2, "beta": beta}, {}, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        sizes = {"N": shape["N"], "d": shape["d"]}
        return {**sizes, "q": text(shares(genome["weight"])), "h": text(_values(shape, genome["h"])), "constants": {}}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        n, N, weight, h = shape["n"], shape["N"], genome["weight"], _values(shape, genome["h"])
        shape, genome = Shape(shape.counts, (("h", "any"),)), {**genome, "h": h}
        if shape["d"] > 1:
            for j in range(shape["d"]):
                yield shape.but(d=shape["d"] - 1), {**genome, "h": np.delete(h, j, axis=1)}
        for z in range(n if n > 2 else 0):  # one point has no neighbours
            yield shape.but(n=n - 1), {"weight": np.delete(weight, z), "h": h[without_point(n, N, z)]}
        if N > 1:
            yield shape.but(N=N - 1), {**genome, "h": h[::n]}


def _values(shape: Shape, h: Array) -> Array:
    """Any table; or the corners of a simplex, one a point of the sample space, moved a little."""
    if shape.flag("h") == "any":
        return h
    first = tuples(shape["n"], shape["N"])[:, 0]
    return h / 10 + (first[:, None] == np.arange(shape["n"])) * 1


def shares(weight: Array) -> Array:
    """Probabilities from positive weights, along the last axis."""
    return weight / weight.sum(axis=-1, keepdims=True)


def without_point(n: int, N: int, z: int) -> Array:
    """Places of the data sets that do not hold the point z."""
    return np.flatnonzero((tuples(n, N) != z).all(axis=1))


SETTING = Tabulated()
