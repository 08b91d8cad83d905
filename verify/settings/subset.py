"""Some of M directions, drawn uniformly without replacement (lemma 4 of Yuan and Li): every subset is visited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.losses.minibatch import sampled

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Quantity, Table
from .base import Reading, Shape, text


@dataclass(frozen=True, slots=True)
class Subset:
    name: str = "subset"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(M=M, I=I, d=d, T=1) for M in (1, 2, 3, 4, 6) for I in range(1, M + 1) for d in (1, 2, 3)]  # noqa: E741

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("direction", "real", (shape["M"], shape["d"]))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        rows = genome["direction"]
        mean, deviation = sampled(rows, shape["I"])
        G = np.sqrt((rows**2).sum(axis=-1).max(axis=-1))
        quantities = {"sampled": Quantity(mean, (1,)), "mean": Quantity(rows.mean(axis=1), (1,))}
        among = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1)
        scalars = {**known.scalars, "G": G, "deviation": deviation, "among": among}
        return Table(known.n, scalars, quantities, known.counts, (G, np.ones_like(G)))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {**{k: shape[k] for k in ("M", "I", "d")}, "directions": text(genome["direction"]), "constants": {}}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        rows, M = genome["direction"], shape["M"]
        if shape["I"] > 1:
            yield shape.but(I=shape["I"] - 1), dict(genome)
        if shape["I"] < M:
            yield from ((shape.but(M=M - 1), {"direction": np.delete(rows, m, axis=0)}) for m in range(M))
        if shape["d"] > 1:
            yield from ((shape.but(d=1), {"direction": rows[:, j : j + 1]}) for j in range(shape["d"]))


SETTING = Subset()
