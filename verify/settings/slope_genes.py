"""Genes of Lipschitz losses of one variable, smooth or weakly convex, from the story of their slope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fedaudit.problems.families.slope_steps import stair_genes, stairs
from fedaudit.problems.losses.pieces import Pieces

from ..search.tree_arrays import Array
from .base import Shape, text

__all__ = ["STAIRS", "drop", "fewer_steps", "stair_genes", "stairs", "written"]
STAIRS = ("start", "first", "level", "stretch", "flat", "kink")
_PER_STEP = ("level", "stretch", "flat", "kink")


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
