"""Genes of Lipschitz losses of one variable, smooth or weakly convex, from the course of their slope."""

from __future__ import annotations

import numpy as np

from fedaudit.problems.families.slope_steps import stair_genes, stairs
from fedaudit.problems.losses.pieces import Pieces

from .base import Genes, Json, Reductions, Shape, one_less, text

__all__ = ["STAIRS", "fewer_steps", "stair_genes", "stairs", "written"]
STAIRS = ("start", "first", "level", "stretch", "flat", "kink")
_PER_STEP = ("level", "stretch", "flat", "kink")


def written(f: Pieces, place: tuple[int, ...]) -> Json:
    """One function in the kernel's format, without knots where nothing changes."""
    knots = {name: getattr(f, name)[place] for name in ("x", "jump", "bend")}
    changes = (knots["jump"] != 0) | (knots["bend"] != 0)
    ends = {name: text(np.broadcast_to(getattr(f, name), f.x.shape[:-1])[place]) for name in ("a", "s", "c")}
    return {**{name: text(values[changes]) for name, values in knots.items()}, **ends}


def fewer_steps(shape: Shape, genome: Genes) -> Reductions:
    """Losses with one change of slope less."""
    return one_less(shape, genome, "J", _PER_STEP, axis=-1)
