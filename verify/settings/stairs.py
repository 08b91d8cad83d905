"""Genes of Lipschitz losses of one variable, smooth or weakly convex, from the story of their slope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fedaudit.problems.pieces import Pieces, staircase

from ..evaluate import Array
from ..genome import Gene
from .base import Shape, text

STAIRS = ("start", "first", "level", "stretch", "flat", "kink")
_PER_STEP = ("level", "stretch", "flat", "kink")


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


def written(f: Pieces, place: tuple[int, ...]) -> dict[str, Any]:
    """One function in the kernel's format, without knots where nothing changes."""
    x, jump, bend = (getattr(f, name)[place] for name in ("x", "jump", "bend"))
    kept = [k for k in range(len(x)) if jump[k] != 0 or bend[k] != 0]
    knots = {"x": x, "jump": jump, "bend": bend}
    ends = {name: text(np.broadcast_to(getattr(f, name), f.x.shape[:-1])[place]) for name in ("a", "s", "c")}
    return {**{name: [text(values[k]) for k in kept] for name, values in knots.items()}, **ends}


def fewer_steps(shape: Shape, genome: Mapping[str, Array]) -> Iterator[tuple[Shape, dict[str, Array]]]:
    """Losses with one change of slope less."""
    for out in range(shape["J"] if shape["J"] > 1 else 0):
        cut = {k: np.delete(v, out, axis=-1) if k in _PER_STEP else v for k, v in genome.items()}
        yield shape.but(J=shape["J"] - 1), cut


def drop(genome: Mapping[str, Array], names: tuple[str, ...], axis: int, out: int) -> dict[str, Array]:
    """Without entry `out` of one axis of some genes."""
    return {k: np.delete(v, out, axis=axis) if k in names else v for k, v in genome.items()}
