"""Inexact regularised risk minimisers of two data sets that differ in one point (lemma 1 of Yuan and Li)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from fedaudit.problems.losses.minibatch import stability

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, as_batch, text, without
from .slope_genes import STAIRS, fewer_steps, stair_genes, stairs, written


class Erm(Setting):
    name = "erm"
    precision = np.longdouble
    declared = ("eps",)
    drawn = ("G", "lam")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(N=N, J=J, T=1) for N, J in product((1, 2, 3, 5), (1, 2))]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("G", "positive"), Gene("lam", "positive"), Gene("dip", "positive"), Gene("centre", "real")]
        return [*genes, Gene("shift", "real", (2,)), *stair_genes((shape["N"] + 1,), shape["J"], True)]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        G, lam, dip = (genome[k] for k in ("G", "lam", "dip"))
        unit = G / lam
        losses, shift = stairs(genome, G, dip), unit[:, None] * genome["shift"]
        # Losses may be concave, but no more than `dip`: with r every risk is lam-strongly convex.
        apart, eps = stability(losses, lam + dip, unit * genome["centre"], shift)
        return known.measured({"apart": apart, "eps": eps}, scale=(G * unit, unit))

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        batch = as_batch(genome)
        losses, curvature = stairs(batch, batch["G"], batch["dip"]), genome["lam"] + genome["dip"]
        unit = genome["G"] / genome["lam"]
        centre = unit * genome["centre"]
        regulariser: Json = {"x": [], "jump": [], "bend": [], "a": text(curvature), "s": text(-curvature * centre)}
        return {
            "N": shape["N"],
            "losses": [written(losses, (0, z)) for z in range(shape["N"] + 1)],
            "r": {**regulariser, "c": text(curvature * centre * centre / 2)},
            "shift": text(unit * genome["shift"]),
            "constants": {name: text(known.scalars[name]) for name in self.drawn},
        }

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        for z in range(1, shape["N"]):  # the first and the last are what differs
            yield shape.but(N=shape["N"] - 1), without(genome, STAIRS, z)
        yield from fewer_steps(shape, genome)


SETTING = Erm()
