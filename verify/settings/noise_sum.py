"""The weighted sum of independent vectors of lemma B.8; its second moment is exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Quantity, Table
from .base import Reading, Shape, text


@dataclass(frozen=True, slots=True)
class NoiseSum:
    name: str = "noise_sum"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, E=E, d=d, T=1) for M, E, d in product((1, 2, 5), (1, 2, 3, 10, 100), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        M, d = shape["M"], shape["d"]
        return [Gene("sigma", "nonnegative"), Gene("weight", "real", (M,)), Gene("mean", "real", (M, d))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {"sigma": genome["sigma"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """zeta = Z_i + s v_i: accumulate the mean and the variance step by step, as the sum is written."""
        p, mean, sigma = genome["weight"], (genome["weight"][..., None] * genome["mean"]).sum(axis=1), genome["sigma"]
        drift, spread = np.zeros_like(mean), np.zeros(known.n)
        for k in range(shape["E"]):
            factor = (1 - known.scalars["lambda"]) ** k
            drift = drift + factor[:, None] * mean
            spread = spread + factor**2 * (p**2).sum(axis=1) * sigma**2
        scalars = {**known.scalars, "noise_sum2": (drift**2).sum(axis=1) + spread, "mean2": (mean**2).sum(axis=1)}
        return Table(known.n, scalars, {**known.quantities, "p": Quantity(p, (1,))}, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = dict(known["scalars"])
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

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        if shape["M"] > 1:
            for out in range(shape["M"]):
                cut = {k: np.delete(v, out, axis=0) if k in ("weight", "mean") else v for k, v in genome.items()}
                yield shape.but(M=shape["M"] - 1), cut
        if shape["d"] > 1:
            yield shape.but(d=1), {**genome, "mean": genome["mean"][:, :1]}
        for smaller in sorted({1, 2, shape["E"] // 2, shape["E"] - 1}):
            if 0 < smaller < shape["E"]:
                yield shape.but(E=smaller), dict(genome)


SETTING = NoiseSum()
