"""A learning algorithm as the table of its models, on smooth Lipschitz losses (lemma 3 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.losses.minibatch import generalisation

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text
from .slope_genes import STAIRS, drop, fewer_steps, stair_genes, stairs, written
from .table import shares, without_point

SIZES = ((2, 1), (3, 1), (4, 1), (6, 1), (2, 2), (3, 2), (2, 3))


@dataclass(frozen=True, slots=True)
class Algorithm:
    name: str = "algorithm"
    precision: type[np.floating[Any]] = np.longdouble
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("gamma",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, n=n, J=J, T=1) for n, N in SIZES for J in (1, 2)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        n = shape["n"]
        genes = [Gene("G", "positive"), Gene("L", "positive"), Gene("weight", "positive", (n,))]
        return [*genes, Gene("model", "real", (n ** shape["N"],)), *stair_genes((n,), shape["J"], False)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {"G": genome["G"], "L": genome["L"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        G, L = genome["G"], genome["L"]
        models = (G / L)[:, None] * genome["model"]
        made = generalisation(stairs(genome, G, L), shares(genome["weight"]), models, shape["N"])
        names = ("bias", "variance", "about_empirical", "gamma")
        scalars = {**known.scalars, **{name: getattr(made, name) for name in names}}
        return Table(known.n, scalars, {}, known.counts, (G * G / L, G / L))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one = {k: v[None] for k, v in genome.items()}
        losses = stairs(one, one["G"], one["L"])
        return {
            "N": shape["N"],
            "q": text(shares(genome["weight"])),
            "losses": [written(losses, (0, z)) for z in range(shape["n"])],
            "A": text(genome["G"] / genome["L"] * genome["model"]),
            "constants": {k: text(known["scalars"][k]) for k in ("G", "L")},
        }

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        n, N = shape["n"], shape["N"]
        for z in range(n if n > 2 else 0):  # one point has no neighbours
            model = genome["model"][without_point(n, N, z)]
            yield shape.but(n=n - 1), {**drop(genome, (*STAIRS, "weight"), 0, z), "model": model}
        if N > 1:
            yield shape.but(N=N - 1), {**genome, "model": genome["model"][::n]}
        yield from fewer_steps(shape, genome)


SETTING = Algorithm()
