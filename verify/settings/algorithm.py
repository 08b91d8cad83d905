"""A learning algorithm as the table of its models, on smooth Lipschitz losses (lemma 3 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.losses.minibatch import generalisation

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, as_batch, text, without
from .slope_genes import STAIRS, fewer_steps, stair_genes, stairs, written
from .table import shares, without_point

SIZES = ((2, 1), (3, 1), (4, 1), (6, 1), (2, 2), (3, 2), (2, 3))  # points of the sample space, N


class Algorithm(Setting):
    name = "algorithm"
    precision = np.longdouble
    declared = ("gamma",)
    drawn = ("G", "L")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, n=n, J=J, T=1) for n, N in SIZES for J in (1, 2)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        n = shape["n"]
        genes = [Gene("G", "positive"), Gene("L", "positive"), Gene("weight", "positive", (n,))]
        return [*genes, Gene("model", "real", (n ** shape["N"],)), *stair_genes((n,), shape["J"], False)]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        G, L = genome["G"], genome["L"]
        models = (G / L)[:, None] * genome["model"]
        errors = generalisation(stairs(genome, G, L), shares(genome["weight"]), models, shape["N"])
        names = ("bias", "variance", "about_empirical", "gamma")
        return known.measured({name: getattr(errors, name) for name in names}, scale=(G * G / L, G / L))

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        batch = as_batch(genome)
        losses = stairs(batch, batch["G"], batch["L"])
        return {
            "N": shape["N"],
            "q": text(shares(genome["weight"])),
            "losses": [written(losses, (0, z)) for z in range(shape["n"])],
            "A": text(genome["G"] / genome["L"] * genome["model"]),
            "constants": {name: text(known.scalars[name]) for name in self.drawn},
        }

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        n, N = shape["n"], shape["N"]
        for z in range(n if n > 2 else 0):  # one point has no neighbours
            model = genome["model"][without_point(n, N, z)]
            yield shape.but(n=n - 1), {**without(genome, (*STAIRS, "weight"), z), "model": model}
        if N > 1:
            # Data sets are in the order of their digits: of those that differ in the last point alone one stays.
            yield shape.but(N=N - 1), {**genome, "model": genome["model"][::n]}
        yield from fewer_steps(shape, genome)


SETTING = Algorithm()
