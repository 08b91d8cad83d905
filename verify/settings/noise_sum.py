"""The weighted sum of independent vectors of lemma B.8; its second moment is exact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Quantity, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, one_less, resized, text


class NoiseSum(Setting):
    name = "noise_sum"
    drawn = ("sigma",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, E=E, d=d, T=1) for M, E, d in product((1, 2, 5), (1, 2, 3, 10, 100), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        M, d = shape["M"], shape["d"]
        return [Gene("sigma", "nonnegative"), Gene("weight", "real", (M,)), Gene("mean", "real", (M, d))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """zeta = Z_i + s v_i: accumulate the mean and the variance step by step, as the sum is written."""
        p, mean, sigma = genome["weight"], (genome["weight"][..., None] * genome["mean"]).sum(axis=1), genome["sigma"]
        drift, spread = np.zeros_like(mean), np.zeros(known.n)
        for k in range(shape["E"]):
            factor = (1 - known.scalars["lambda"]) ** k
            drift = drift + factor[:, None] * mean
            spread = spread + factor**2 * (p**2).sum(axis=1) * sigma**2
        scalars = {"noise_sum2": (drift**2).sum(axis=1) + spread, "mean2": (mean**2).sum(axis=1)}
        return known.measured(scalars, {"p": Quantity(p, (1,))})

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        scalars = dict(known.scalars)
        sigma = scalars.pop("sigma")
        direction = [1] + [0] * (shape["d"] - 1)
        return {
            **{k: v for k, v in shape.counts if k != "T"},
            "p": text(genome["weight"]),
            "Z": text(genome["mean"]),
            "sigma": text(sigma),
            "v": [[text(sigma * x) for x in direction] for _ in range(shape["M"])],
            "parameters": {k: text(v) for k, v in scalars.items()},
        }

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        yield from one_less(shape, genome, "M", ("weight", "mean"))
        if shape["d"] > 1:
            yield shape.but(d=1), {**genome, "mean": genome["mean"][:, :1]}
        yield from resized(shape, genome, "E", (1, 2, shape["E"] // 2, shape["E"] - 1))


SETTING = NoiseSum()
