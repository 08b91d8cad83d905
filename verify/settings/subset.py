"""Some of M directions, drawn uniformly without replacement (lemma 4 of Yuan and Li): every subset is visited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.losses.minibatch import sampled

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Quantity, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, one_less, resized, text


class Subset(Setting):
    name = "subset"
    declared = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, I=I, d=d, T=1) for M in (1, 2, 3, 4, 6) for I in range(1, M + 1) for d in (1, 2, 3)]  # noqa: E741

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("direction", "real", (shape["M"], shape["d"]))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        rows = genome["direction"]
        mean, deviation = sampled(rows, shape["I"])
        G = np.sqrt((rows**2).sum(axis=-1).max(axis=-1))
        quantities = {"sampled": Quantity(mean, (1,)), "mean": Quantity(rows.mean(axis=1), (1,))}
        among = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1)
        return known.measured({"G": G, "deviation": deviation, "among": among}, quantities, (G, np.ones_like(G)))

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        return {**{k: shape[k] for k in ("M", "I", "d")}, "directions": text(genome["direction"]), "constants": {}}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        rows = genome["direction"]
        yield from resized(shape, genome, "I", (shape["I"] - 1,))
        if shape["I"] < shape["M"]:
            yield from one_less(shape, genome, "M", ("direction",))
        if shape["d"] > 1:
            yield from ((shape.but(d=1), {"direction": rows[:, j : j + 1]}) for j in range(shape["d"]))


SETTING = Subset()
