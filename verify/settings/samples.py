"""Homogeneous users with m data points each on a line: distances of empirical distributions, all draws enumerated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.data.samples import expected_distances

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text
from .table import shares

# points, users, samples
SIZES = ((2, 1, 1), (2, 2, 1), (2, 1, 4), (2, 5, 1), (2, 2, 4), (3, 1, 1), (3, 2, 2), (2, 1, 30), (4, 1, 3), (2, 7, 2))


@dataclass(frozen=True, slots=True)
class Samples:
    name: str = "samples"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, C=n, b=m, T=1) for N, n, m in SIZES]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("L_Z", "positive"), Gene("rho_Z", "positive")]
        return [*genes, Gene("gap", "positive", (shape["N"] - 1,)), Gene("weight", "positive", (shape["N"],))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {k: genome[k] for k in ("L_Z", "rho_Z")}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        gap = genome["gap"]
        single, pair = expected_distances(gap, shares(genome["weight"]), shape["C"], shape["b"])
        scalars = {**known.scalars, "W_u2": single, "W_mean2": pair, "R": np.sum(gap, axis=-1)}
        return Table(known.n, scalars, {}, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        gap = genome["gap"]
        return {
            "x": text(np.concatenate([0 * gap[:1], np.cumsum(gap)])),
            "q": text(shares(genome["weight"])),
            "C": shape["C"],
            "b": shape["b"],
            "constants": {k: text(v) for k, v in known["scalars"].items()},
        }

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        if shape["N"] > 2:
            for z in range(shape["N"]):
                cut = {
                    "weight": np.delete(genome["weight"], z),
                    "gap": np.delete(genome["gap"], min(z, shape["N"] - 2)),
                }
                yield shape.but(N=shape["N"] - 1), {**genome, **cut}
        for size in ("C", "b"):
            if shape[size] > 1:
                yield shape.but(**{size: shape[size] - 1}), dict(genome)


SETTING = Samples()
