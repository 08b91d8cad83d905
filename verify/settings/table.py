"""A function of independent points as the table of its values (lemma 2 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.losses.minibatch import differences, tuples

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, one_less, text

SIZES = ((2, 1), (3, 1), (4, 1), (6, 1), (10, 1), (2, 2), (3, 2), (2, 3), (2, 4))  # points of the sample space, N


class Tabulated(Setting):
    name = "table"
    declared = ("beta",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        free = [Shape.of({"h": "any"}, N=N, n=n, d=d, T=1) for n, N in SIZES for d in (1, 2, 3)]
        corners = [Shape.of({"h": "corners"}, N=N, n=n, d=n, T=1) for n, N in SIZES]
        return [*free, *corners]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        sets = shape["n"] ** shape["N"]
        return [Gene("weight", "positive", (shape["n"],)), Gene("h", "real", (sets, shape["d"]))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        spread2, beta = differences(_values(shape, genome["h"]), shares(genome["weight"]), shape["N"])
        return known.measured({"spread2": spread2, "beta": beta})

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        sizes = {"N": shape["N"], "d": shape["d"]}
        return {**sizes, "q": text(shares(genome["weight"])), "h": text(_values(shape, genome["h"])), "constants": {}}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        n, N, weight, h = shape["n"], shape["N"], genome["weight"], _values(shape, genome["h"])
        shape, genome = Shape(shape.counts, (("h", "any"),)), {**genome, "h": h}
        yield from one_less(shape, genome, "d", ("h",), axis=1)
        for z in range(n if n > 2 else 0):  # one point has no neighbours
            yield shape.but(n=n - 1), {"weight": np.delete(weight, z), "h": h[without_point(n, N, z)]}
        if N > 1:
            # Data sets are in the order of their digits: of those that differ in the last point alone one stays.
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
    """The indices of the data sets that do not hold the point z."""
    return np.flatnonzero((tuples(n, N) != z).all(axis=1))


SETTING = Tabulated()
