"""One similarity graph with given weights (proposition 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.data.network import from_pairs, homogeneity, spectrum

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Table
from ..base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, text


class Graph(Setting):
    name = "graph"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(C=C) for C in (2, 3, 4, 5, 8, 12)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("weight", "real", (shape["C"] * (shape["C"] - 1) // 2,))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        A = from_pairs(genome["weight"], shape["C"])
        return known.measured({"hom": homogeneity(A), "spectrum": spectrum(A).sum(axis=-1)})

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        return {"C": shape["C"], "weights": text(genome["weight"])}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        C = shape["C"]
        first, second = np.triu_indices(C, 1)
        for out in range(C if C > 2 else 0):
            yield shape.but(C=C - 1), {"weight": genome["weight"][(first != out) & (second != out)]}


SETTING = Graph()
