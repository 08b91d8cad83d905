"""Data points whose losses are bounded below and Lipschitz, of one variable: the story of a slope, with its steps.

The slope goes from one level to the next by a ramp, by a kink where kinks are allowed, or stays for a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..datapoints import DataPoints
from ..genes import Gene
from ..pieces import Pieces, staircase
from .family import Array, Parts

STEPS = 2  # changes of slope of a loss
KNOTS = ("x", "jump", "bend")


@dataclass(frozen=True, slots=True)
class StairsLoss:
    name: str = "stairs"
    affine: bool = False
    dimensions: int = 1
    updates: int = 1_000
    assumption: str = "nonnegative_loss"

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        """K data points per client; with `kinks` the slope may jump up."""
        lead = sizes["C"], sizes["K"]
        genes = [
            Gene(
                "onset" if gene.name == "start" else gene.name, gene.kind, gene.shape, ("C", "K", "")[: len(gene.shape)]
            )
            for gene in stair_genes(lead, STEPS, bool(sizes["kinks"]))
        ]
        return genes + ([Gene("chance", "positive", lead, ("C", "K"))] if sizes["K"] > 1 else [])

    def constants(self, genes: Mapping[str, Array], high: Array, scale: Array) -> tuple[Array, ...]:
        return ()

    def bounds(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Mapping[str, Array]:
        return {}

    def steepest(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Array:
        """The Lipschitz constant (n,) that all losses have."""
        return high * scale

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """Slopes within high scale, curvatures within high; lengths in units of scale."""
        f = stairs({**genes, "start": genes["onset"]}, high * scale, high)
        q: Array = 1 + 0 * f.s
        if "chance" in genes:
            q = genes["chance"] / genes["chance"].sum(axis=-1, keepdims=True)
        return {"x": f.x, "jump": f.jump, "bend": f.bend, "s": f.s, "q": q, "c": f.x[..., 0]}

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        raise NotImplementedError("losses of data points have no curvature to add to: they are Lipschitz")

    def problem(self, parts: Parts, p: Array) -> DataPoints:
        none = 0 * parts["s"]
        x, jump, bend = (parts[name] for name in KNOTS)
        return DataPoints(Pieces(x, jump, bend, none, parts["s"], none), parts["q"], p)

    def clients(self, parts: Parts) -> list[dict[str, Any]]:
        each = [[written(parts, (i, z)) for z in range(parts["q"].shape[1])] for i in range(len(parts["q"]))]
        return [{"kind": "sample", "q": q, "points": points} for q, points in zip(parts["q"], each, strict=True)]

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        return None


def written(parts: Parts, place: tuple[int, ...]) -> dict[str, Any]:
    """One function in the kernel's format, without knots where nothing changes."""
    x, jump, bend = (parts[name][place] for name in KNOTS)
    kept = [k for k in range(len(x)) if jump[k] != 0 or bend[k] != 0]
    knots = {name: values[kept] for name, values in zip(KNOTS, (x, jump, bend), strict=True)}
    return {**knots, "a": 0, "s": parts["s"][place], "c": 0}


def stair_genes(lead: tuple[int, ...], J: int, kinks: bool) -> list[Gene]:
    """For losses (*lead): J changes of slope each. `first` and the last `level` are how steep the ends are."""
    genes = [Gene("start", "real", lead), Gene("first", "fraction", lead)]
    genes += [Gene("level", "fraction", (*lead, J)), *(Gene(k, "nonnegative", (*lead, J)) for k in ("stretch", "flat"))]
    return [*genes, Gene("kink", "fraction", (*lead, J))] if kinks else genes


def stairs(genome: Mapping[str, Array], G: Array, limit: Array) -> Pieces:
    """Losses (n, *lead) that are G-Lipschitz and bounded below, with curvatures in [-limit, limit] and, if the genome
    has them, convex kinks; G and limit (n,). Lengths are in units of G/limit. Floats and rationals alike.
    """
    rank = genome["start"].ndim - 1
    steepest, limit = (x[(..., *(None,) * rank)] for x in (G, limit))
    unit = steepest / limit
    level = genome["level"]
    tops = 2 * level - 1
    tops = steepest[..., None] * np.concatenate([tops[..., :-1], level[..., -1:]], axis=-1)
    first = -steepest * genome["first"]
    before = np.concatenate([first[..., None], tops[..., :-1]], axis=-1)
    jump = genome["kink"] * (steepest[..., None] - before) if "kink" in genome else 0 * before
    flat = genome["flat"] * unit[..., None]
    return staircase(unit * genome["start"], first, jump, tops - before - jump, limit, genome["stretch"], flat)


LOSS = StairsLoss()
