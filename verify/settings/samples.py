"""Homogeneous users with m data points each on a line: distances of empirical distributions, all draws enumerated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.data.empirical_distances import expected_distances

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, resized, text
from .table import shares

# points, users, samples
SIZES = ((2, 1, 1), (2, 2, 1), (2, 1, 4), (2, 5, 1), (2, 2, 4), (3, 1, 1), (3, 2, 2), (2, 1, 30), (4, 1, 3), (2, 7, 2))


class Samples(Setting):
    name = "samples"
    drawn = ("L_Z", "rho_Z")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, C=n, b=m, T=1) for N, n, m in SIZES]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("L_Z", "positive"), Gene("rho_Z", "positive")]
        return [*genes, Gene("gap", "positive", (shape["N"] - 1,)), Gene("weight", "positive", (shape["N"],))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        gap = genome["gap"]
        single, pair = expected_distances(gap, shares(genome["weight"]), shape["C"], shape["b"])
        return known.measured({"W_u2": single, "W_mean2": pair, "R": np.sum(gap, axis=-1)})

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        gap = genome["gap"]
        return {
            "x": text(np.concatenate([0 * gap[:1], np.cumsum(gap)])),
            "q": text(shares(genome["weight"])),
            "C": shape["C"],
            "b": shape["b"],
            "constants": {name: text(value) for name, value in known.scalars.items()},
        }

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        gap, weight, N = genome["gap"], genome["weight"], shape["N"]
        for z in range(N if N > 2 else 0):
            cut = {"weight": np.delete(weight, z), "gap": np.delete(gap, min(z, N - 2))}
            yield shape.but(N=N - 1), {**genome, **cut}
        for size in ("C", "b"):
            yield from resized(shape, genome, size, (shape[size] - 1,))


SETTING = Samples()
