"""Devices that all have the same loss (definition 1 of Yuan and Li, the homogeneous case)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Quantity, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, as_batch, text
from .slope_genes import fewer_steps, stair_genes, stairs, written


class Devices(Setting):
    name = "devices"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, J=J, T=1) for M, J in product((1, 2, 3, 10), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("G", "positive"), Gene("L", "positive"), Gene("w", "real"), *stair_genes((), shape["J"], False)]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        f, unit = stairs(genome, genome["G"], genome["L"]), genome["G"] / genome["L"]
        local = np.repeat(f.grad(unit * genome["w"])[:, None], shape["M"], axis=1)
        local2 = {"local2": Quantity(local**2, (1,))}
        return known.measured({"global2": local.mean(axis=1) ** 2}, local2, (genome["G"] * unit, unit))

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        batch = as_batch(genome)
        f = written(stairs(batch, batch["G"], batch["L"]), (0,))
        return {"M": shape["M"], "w": text(genome["G"] / genome["L"] * genome["w"]), "devices": [f] * shape["M"]}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        if shape["M"] > 1:
            yield shape.but(M=shape["M"] - 1), dict(genome)
        yield from fewer_steps(shape, genome)


SETTING = Devices()
