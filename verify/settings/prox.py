"""A weakly convex function of one variable, its proximal point, its envelope (Yuan and Li: lemma 7, remark 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedaudit.problems.losses.pieces import Pieces

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, as_batch, text
from .slope_genes import fewer_steps, stair_genes, stairs, written

NOISE = 1e-9  # of a value of f: differences below it are rounding


class Prox(Setting):
    name = "prox"
    precision = np.longdouble  # values are subtracted from one another

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(J=J, T=1) for J in (1, 2, 3)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("nu", "positive"), Gene("G", "positive"), Gene("w", "real"), *stair_genes((), shape["J"], True)]
        if _about_points(reading):
            genes += [Gene("u", "real"), Gene("share", "unit"), Gene("extra", "nonnegative"), Gene("centre", "real")]
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        return {"nu": genome["nu"], **({} if _about_points(reading) else {"G": genome["G"]})}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        f, unit = _function(reading, genome), genome["G"] / genome["nu"]
        w = unit * genome["w"]
        if _about_points(reading):
            u, eta = unit * genome["u"], known.scalars["eta"]
            plus = f.prox(w, eta)
            scalars = {"f_plus": f.value(plus), "f_u": f.value(u), "moved2": (plus - w) ** 2}
            scalars |= {"u_w2": (u - w) ** 2, "plus_u2": (plus - u) ** 2}
        else:
            rho = known.scalars["rho"]
            away, slope = np.abs(w - f.prox(w, rho)), np.abs(f.envelope_slope(w, rho))
            noise = NOISE * (genome["G"] + np.abs(f.value(w)) / unit)
            scalars = {"away": np.where(slope > noise, away, np.nan), "envelope_slope": slope}
        return known.measured(scalars, scale=(genome["G"] * unit, unit))

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        unit = genome["G"] / genome["nu"]
        points = {name: text(unit * genome[name]) for name in ("w", "u") if name in genome}
        constants = {name: text(value) for name, value in known.scalars.items()}
        return {"f": written(_function(reading, as_batch(genome)), (0,)), **points, "constants": constants}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        yield from fewer_steps(shape, genome)


def _about_points(reading: Reading) -> bool:
    """Whether the claim is about values of f (lemma 7), and not about the envelope (remark 5)."""
    return reading.uses("f_plus")


def _function(reading: Reading, genome: Genes) -> Pieces:
    """Curvatures from -nu on: those of a staircase, and (unless f is Lipschitz) a parabola's on top."""
    nu, G = genome["nu"], genome["G"]
    if not _about_points(reading):
        return stairs(genome, G, nu)
    limit = nu * genome["share"] + nu * genome["extra"]
    return stairs(genome, G, limit).plus(limit - nu, G / nu * genome["centre"])


SETTING = Prox()
