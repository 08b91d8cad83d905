"""One similarity graph with given weights (proposition 3.1), with a vector and an eigenvector if a claim reads them.

The eigenvector is the constant one, or the difference of the first two nodes where their weights to all others agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.data.similarity_graphs import from_pairs, homogeneity, quadratic_form, spectrum, variability

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Table
from ..base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, text


class Graph(Setting):
    name = "graph"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        kinds = ("any", "twins") if reading.uses("eigenform") else ("any",)
        return [Shape.of({"kind": kind}, C=C) for C in (2, 3, 4, 5, 8, 12) for kind in kinds]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        signs = "nonnegative" if ["nonnegative_weights"] in reading.claim["let"] else "real"
        weights = Gene("weight", signs, (shape["C"] * (shape["C"] - 1) // 2,))
        read = reading.uses("form") or reading.uses("eigenform")  # a figure may read one relation of a chain alone
        return [weights, Gene("v", "real", (shape["C"],))] if read else [weights]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        A = from_pairs(_weights(shape, genome), shape["C"])
        values = {"hom": homogeneity(A), "spectrum": spectrum(A).sum(axis=-1)}
        if "v" in genome:
            u, lam = _eigenpair(shape, A)
            values |= {"form": quadratic_form(A, genome["v"]), "variability": variability(A, genome["v"])}
            values |= {"eigenform": quadratic_form(A, u), "lam": lam, "length2": (u**2).sum(axis=-1)}
        return known.measured(values)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        weights = _weights(shape, genome)
        graph: Json = {"C": shape["C"], "weights": text(weights)}
        if "v" not in genome:
            return graph
        u, lam = _eigenpair(shape, from_pairs(weights, shape["C"]))
        return {**graph, "v": text(genome["v"]), "u": text(u), "lam": text(lam)}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        C = shape["C"]
        first, second = np.triu_indices(C, 1)
        for out in range(C if C > 2 else 0):
            less = {"weight": genome["weight"][(first != out) & (second != out)]}
            yield shape.but(C=C - 1), less | ({"v": np.delete(genome["v"], out)} if "v" in genome else {})


def _weights(shape: Shape, genome: Genes) -> Array:
    """The weights of all pairs; of twins the second node has those of the first."""
    weights, C = genome["weight"], shape["C"]
    if ("kind", "twins") not in shape.flags:
        return weights
    first, second = np.triu_indices(C, 1)
    same = [int(np.flatnonzero((first == 0) & (second == j))[0]) for j in range(2, C)]
    order = np.arange(len(first))
    order[(first == 1) & (second > 1)] = same
    return weights[..., order]


def _eigenpair(shape: Shape, A: Array) -> tuple[Array, Array]:
    """An eigenvector (..., C) of the Laplacian, and its eigenvalue."""
    u = np.ones_like(A[..., 0])
    if ("kind", "twins") not in shape.flags:
        return u, 0 * A[..., 0, 0]
    u = 0 * u
    u[..., 0], u[..., 1] = 1, -1
    # L (e_1 - e_2) = (deg_1 + a_12) (e_1 - e_2), since both nodes have the same weights to all others.
    return u, A[..., 0, :].sum(axis=-1) + A[..., 0, 1]


SETTING = Graph()
