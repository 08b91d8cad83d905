"""Orders of growth in a picture: the ratio of both sides along random paths of all parameters that may move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedaudit.bounds.formulas.statement_text import relations_latex
from fedaudit.bounds.language.statement import Statement

from ..search.claim_index import sides_of
from ..search.genome import draw, rows
from ..search.score import genes_of, score
from ..search.seeds import seed_for
from ..search.tree_arrays import Array
from ..settings.base import Reading
from ..settings.order import SETTING as ORDER
from .kinds import Curves, along

__all__ = ["ASKED", "paths"]

TALLEST = 1e100  # a ratio that an axis can mark
DRAWN = 2000  # paths, of which the steepest and some others are shown


ASKED = {
    "<=": "stays bounded",
    "<": "falls to 0",
    ">=": "stays away from 0",
    ">": "grows beyond every bound",
    "=": "stays bounded and away from 0",
}  # of an order of growth


def paths(statement: Statement, reading: Reading, seed: int) -> Curves:
    """Both sides along random paths x = c n^a of the parameters, n over the decades."""
    n = np.logspace(2, 8, 25)  # conditions hold for large n
    sides: list[tuple[Array, Array]] = []
    for shape in ORDER.shapes(reading):
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        genome = draw(genes_of(reading, ORDER, shape), DRAWN, rng)
        scores = score(reading, ORDER, shape, genome)
        order = np.argsort(-np.nan_to_num(scores.margin, nan=-np.inf), kind="stable")
        some = np.concatenate([order[:8], np.flatnonzero(np.isfinite(scores.margin))[:24]])  # the steepest, and any
        chosen = {k: v.astype(ORDER.precision) for k, v in rows(genome, some).items()}
        moving = {gene.name for gene in ORDER.powers(reading)}
        powers = [np.abs(v) for k, v in chosen.items() if k in moving]
        steepest = np.maximum(1, np.max([np.zeros(len(some)), *powers], axis=0))  # only the ratios of powers matter
        chosen = {k: v / steepest if k in moving else v for k, v in chosen.items()}
        tables = [ORDER.table(reading, shape, chosen, float(at)) for at in n]
        both = [sides_of(reading, table) for table in tables]
        sides.append((np.concatenate([b[0] for b in both], axis=1), np.concatenate([b[1] for b in both], axis=1)))
    lhs, rhs = (np.concatenate([s[j] for s in sides]) for j in (0, 1))
    fine = np.isfinite(lhs) & np.isfinite(rhs) & (rhs > 0) & (lhs < TALLEST * rhs)
    counts = [int(fine[:, j:].all(axis=1).sum()) for j in range(len(n))]
    late = next(j for j, count in enumerate(counts) if 2 * count >= counts[-1])  # half of the paths meet the conditions
    first = 0 if counts[0] else late
    usable, n = fine[:, first:].all(axis=1), n[first:]
    lhs = (lhs[usable, first:] / rhs[usable, first:]).astype(float)
    caption = (
        "the left side in units of the right side, along paths x = c n^a of all parameters that may grow; "
        f"claimed is that every line {ASKED[statement.relation]} for large n, at whatever height"
    )
    drawn = along(statement, n, "$n$", lhs, np.ones(lhs.shape), caption)
    return replace(drawn, form=relations_latex(statement)[0])
