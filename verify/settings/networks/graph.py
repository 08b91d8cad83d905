"""One similarity graph with given weights (proposition 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.data.network import from_pairs, homogeneity, spectrum

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Table
from ..base import Reading, Shape, text


@dataclass(frozen=True, slots=True)
class Graph:
    name: str = "graph"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(C=C) for C in (2, 3, 4, 5, 8, 12)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("weight", "real", (shape["C"] * (shape["C"] - 1) // 2,))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        A = from_pairs(genome["weight"], shape["C"])
        scalars = {**known.scalars, "hom": homogeneity(A), "spectrum": spectrum(A).sum(axis=-1)}
        return Table(known.n, scalars, known.quantities, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"C": shape["C"], "weights": text(genome["weight"])}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        C = shape["C"]
        for out in range(C if C > 2 else 0):
            first, second = np.triu_indices(C, 1)
            yield shape.but(C=C - 1), {"weight": genome["weight"][(first != out) & (second != out)]}


SETTING = Graph()
