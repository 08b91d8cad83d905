"""A weakly convex function of one variable, its proximal point, its envelope (Yuan and Li: lemma 7, remark 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.losses.pieces import Pieces

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text
from .slope_genes import fewer_steps, stair_genes, stairs, written

NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Prox:
    name: str = "prox"
    precision: type[np.floating[Any]] = np.longdouble  # values are subtracted from one another
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(J=J, T=1) for J in (1, 2, 3)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        genes = [Gene("nu", "positive"), Gene("G", "positive"), Gene("w", "real"), *stair_genes((), shape["J"], True)]
        if _about_points(reading):
            genes += [Gene("u", "real"), Gene("share", "unit"), Gene("extra", "nonnegative"), Gene("centre", "real")]
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
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
            noise = NOISE * (genome["G"] + np.abs(f.value(w)) / unit)  # of a difference of values
            scalars = {"away": np.where(slope > noise, away, np.nan), "envelope_slope": slope}
        return Table(known.n, {**known.scalars, **scalars}, {}, known.counts, (genome["G"] * unit, unit))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one, unit = {k: v[None] for k, v in genome.items()}, genome["G"] / genome["nu"]
        points = {k: text(unit * genome[k]) for k in ("w", "u") if k in genome}
        constants = {k: text(v) for k, v in known["scalars"].items()}
        return {"f": written(_function(reading, one), (0,)), **points, "constants": constants}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        yield from fewer_steps(shape, genome)


def _about_points(reading: Reading) -> bool:
    return reading.uses("f_plus")


def _function(reading: Reading, genome: Mapping[str, Array]) -> Pieces:
    """Curvatures from -nu on: those of a staircase, and (unless f is Lipschitz) a parabola's on top."""
    nu, G = genome["nu"], genome["G"]
    if not _about_points(reading):
        return stairs(genome, G, nu)
    limit = nu * genome["share"] + nu * genome["extra"]
    return stairs(genome, G, limit).plus(limit - nu, G / nu * genome["centre"])


SETTING = Prox()
