"""Devices that all have the same loss (definition 1 of Yuan and Li, the homogeneous case)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Quantity, Table
from .base import Reading, Shape, text
from .slope_genes import fewer_steps, stair_genes, stairs, written


@dataclass(frozen=True, slots=True)
class Devices:
    name: str = "devices"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, J=J, T=1) for M, J in product((1, 2, 3, 10), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("G", "positive"), Gene("L", "positive"), Gene("w", "real"), *stair_genes((), shape["J"], False)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        f, M, unit = stairs(genome, genome["G"], genome["L"]), shape["M"], genome["G"] / genome["L"]
        local = np.repeat(f.grad(unit * genome["w"])[:, None], M, axis=1)
        scalars = {**known.scalars, "global2": local.mean(axis=1) ** 2}
        scale = genome["G"] * unit, unit
        return Table(known.n, scalars, {"local2": Quantity(local**2, (1,))}, known.counts, scale)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one = {k: v[None] for k, v in genome.items()}
        f = written(stairs(one, one["G"], one["L"]), (0,))
        return {"M": shape["M"], "w": text(genome["G"] / genome["L"] * genome["w"]), "devices": [f] * shape["M"]}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        if shape["M"] > 1:
            yield shape.but(M=shape["M"] - 1), dict(genome)
        yield from fewer_steps(shape, genome)


SETTING = Devices()
