"""A claim that fails on long runs only: the same problem at ever more rounds, as its setting says how they grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedaudit.bounds.formulas.statement_text import relations_latex, sides_latex
from fedaudit.bounds.language.statement import Statement

from ..pictures.kinds import Crossing, unit
from ..settings.base import Reading, Setting, Shape
from .claim_index import sides_of
from .genome import draw
from .score import genes_of, tabulate
from .seeds import seed_for
from .tree_arrays import Array

__all__ = ["lengthened"]

PROPOSED = 2000  # problems, each run at every length


def lengthened(statement: Statement, reading: Reading, world: Setting, seed: int) -> Crossing | None:
    """The random problem that exceeds its bound most at the largest T; None where none does."""
    for columns in world.along(reading):
        crossing = _most_broken(statement, reading, world, columns, seed)
        if crossing is not None:
            return crossing
    return None


def _most_broken(
    statement: Statement, reading: Reading, world: Setting, columns: Mapping[int, Shape], seed: int
) -> Crossing | None:
    sides: list[tuple[Array, Array]] = []
    for shape in columns.values():
        # The seed is the same at every length, so that row n of each batch is one problem, run for longer.
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        lhs, rhs = sides_of(
            reading, tabulate(reading, world, shape, draw(genes_of(reading, world, shape), PROPOSED, rng))
        )
        sides.append((lhs[:, 0], rhs[:, 0]))
    lhs, rhs = (np.stack([side[j] for side in sides], axis=1) for j in (0, 1))
    usable = (np.isfinite(lhs) & np.isfinite(rhs) & (lhs > 0) & (rhs > 0)).all(axis=1)
    if not usable.any():
        return None
    lhs, rhs = lhs[usable], rhs[usable]
    worst = int(np.argmax(lhs[:, -1] / rhs[:, -1]))
    if len(columns) < 4 or lhs[worst, -1] <= rhs[worst, -1]:
        return None
    first = next(iter(columns.values()))
    sizes = ", ".join(f"{k} = {v}" for k, v in first.counts if k in ("C", "d", "E", "m"))
    return Crossing(
        id=statement.id,
        title=statement.title,
        relation=relations_latex(statement)[0],
        sign=reading.claim["then"][0][0],
        x=np.array(list(columns)),
        xlabel="rounds $T$",
        logarithmic=True,
        at=float("nan"),
        ylabel=sides_latex(statement)[0],
        unit=unit(reading.lowered.units[0]),
        lhs=lhs[worst],
        rhs=rhs[worst],
        caption=f"one problem ({first.flag('loss')} losses, {sizes}) at ever more rounds, "
        f"the worst of {int(usable.sum()):,} admissible ones at the largest T; by floats "
        "(the certificate is exact, at one T); shaded: the claim fails",
    )
