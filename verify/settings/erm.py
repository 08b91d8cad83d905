"""Inexact regularised risk minimisers of two data sets that differ in one point (lemma 1 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedaudit.problems.losses.minibatch import stability

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text
from .slope_genes import STAIRS, drop, fewer_steps, stair_genes, stairs, written


@dataclass(frozen=True, slots=True)
class Erm:
    name: str = "erm"
    precision: type[np.floating[Any]] = np.longdouble
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("eps",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, J=J, T=1) for N, J in product((1, 2, 3, 5), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("G", "positive"), Gene("lam", "positive"), Gene("dip", "positive"), Gene("centre", "real")]
        return [*genes, Gene("shift", "real", (2,)), *stair_genes((shape["N"] + 1,), shape["J"], True)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {"G": genome["G"], "lam": genome["lam"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        G, lam, dip = (genome[k] for k in ("G", "lam", "dip"))
        unit = G / lam
        losses, shift = stairs(genome, G, dip), unit[:, None] * genome["shift"]
        apart, eps = stability(losses, lam + dip, unit * genome["centre"], shift)
        return Table(known.n, {**known.scalars, "apart": apart, "eps": eps}, {}, known.counts, (G * unit, unit))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one = {k: v[None] for k, v in genome.items()}
        losses, curvature = stairs(one, one["G"], one["dip"]), genome["lam"] + genome["dip"]
        unit = genome["G"] / genome["lam"]
        centre = unit * genome["centre"]
        r: dict[str, Any] = {"x": [], "jump": [], "bend": [], "a": text(curvature), "s": text(-curvature * centre)}
        return {
            "N": shape["N"],
            "losses": [written(losses, (0, z)) for z in range(shape["N"] + 1)],
            "r": {**r, "c": text(curvature * centre * centre / 2)},
            "shift": text(unit * genome["shift"]),
            "constants": {k: text(known["scalars"][k]) for k in ("G", "lam")},
        }

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for z in range(1, shape["N"]):  # the first and the last are what differs
            yield shape.but(N=shape["N"] - 1), drop(genome, STAIRS, 0, z)
        yield from fewer_steps(shape, genome)


SETTING = Erm()
