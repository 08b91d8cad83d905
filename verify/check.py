"""Both sides of a claim on a batch of instances: which are admissible, how close they come, where.

`margin` is (lhs - rhs) / max(|lhs|, |rhs|) for "<=" (mirrored for ">="): positive means that floats see a violation.
Floats only propose; a violation counts once the kernel has replayed it in rationals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .evaluate import Array, Evaluator, Table
from .genome import Gene, Genome, jitter, rows
from .settings.base import Reading, Setting, Shape, knob_genes, known_table

CONDITION_SLACK = 1e-12  # rounding of a condition that the sweep meets with equality; the kernel has none
NOISE_FLOOR = 1e-9  # of an instance's largest value: differences below it are rounding, not evidence
CLOSE, JITTER = 1e-6, 1e-7
ROUNDING = 1e-20  # of an instance's natural scale: squares of rounding errors stay below it


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The worst index of every instance. `margin` is NaN where an instance is not admissible."""

    shape: Shape
    genome: Genome
    table: Table
    margin: Array  # (n,)
    later: Array  # (n,) the same without the first index where that one is trivial (t = 0)
    ratio: Array  # (n,) smaller side / larger side as the relation orders them: 1 is tight
    lhs: Array
    rhs: Array
    at: list[dict[str, int]]

    @property
    def admissible(self) -> int:
        return int(np.isfinite(self.margin).sum())


def genes_of(reading: Reading, setting: Setting, shape: Shape) -> list[Gene]:
    """The setting's genes and the statement's knobs."""
    return [*setting.genes(reading, shape), *knob_genes(reading.lowered)]


def tabulate(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Table:
    """Constants, step sizes and measured quantities of a batch."""
    genome = {k: v.astype(setting.precision) for k, v in genome.items()}
    return setting.measure(reading, shape, genome, known_table(reading, setting, shape, genome))


def score(reading: Reading, setting: Setting, shape: Shape, genome: Genome, *, again: bool = True) -> Scores:
    """Evaluate every relation at every index of every instance and keep the worst.

    Rows that look tight or broken are evaluated again with every gene moved by one part in 10^7: what is only rounding
    (a start that coincides with a minimiser, say) does not survive that, and the smaller margin counts.
    """
    scores = _score(reading, setting, shape, genome)
    close = np.flatnonzero(scores.margin > -CLOSE)
    if not close.size or not again:
        return scores
    moved = jitter(genes_of(reading, setting, shape), rows(genome, close), JITTER)
    second = _score(reading, setting, shape, moved)
    margin, later = scores.margin.copy(), scores.later.copy()
    margin[close] = np.fmin(margin[close], np.where(np.isnan(second.margin), 0.0, second.margin))
    later[close] = np.fmin(later[close], np.where(np.isnan(second.later), 0.0, second.later))
    return replace(scores, margin=margin, later=later)


def _score(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Scores:
    table = tabulate(reading, setting, shape, genome)
    evaluator = Evaluator(table, {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()})
    usable = conditions(evaluator, reading.claim["when"])
    best: list[tuple[Array, ...]] = []
    for (op, left, right), unit in zip(reading.claim["then"], reading.lowered.units, strict=True):
        lhs, rhs = (np.broadcast_to(evaluator(side), evaluator.shape).reshape(table.n, -1) for side in (left, right))
        margin, ratio = _margin(op, lhs, rhs, _floor(table, unit))
        later = _later(margin, evaluator, reading.lowered.starts)
        place = np.argmax(np.where(np.isnan(margin), -np.inf, margin), axis=1)
        pick = np.arange(table.n), place
        best.append((margin[pick], ratio[pick], lhs[pick], rhs[pick], place, later))
    margins = np.stack([np.where(np.isnan(b[0]), -np.inf, b[0]) for b in best])
    which = np.argmax(margins, axis=0)
    row = np.arange(table.n)
    margin, ratio, lhs, rhs, place, _ = (np.stack([b[j] for b in best])[which, row] for j in range(6))
    margin = np.where(usable, margin, np.nan)
    later = np.where(usable, np.fmax.reduce([b[5] for b in best]), np.nan)
    return Scores(shape, genome, table, margin, later, ratio, lhs, rhs, _places(evaluator, which, place.astype(int)))


def conditions(evaluator: Evaluator, when: list[Any]) -> Array:
    """Which instances (n,) meet every condition at every index."""
    usable = np.ones(evaluator.table.n, dtype=bool)
    for op, left, right in when:
        a, b = evaluator(left), evaluator(right)
        slack = CONDITION_SLACK * np.maximum(np.abs(a), np.abs(b))
        holds = {
            "<=": a <= b + slack, ">=": a >= b - slack, "<": a < b, ">": a > b, "=": abs(a - b) <= slack, "!=": a != b,
        }[op]  # fmt: skip
        usable &= np.broadcast_to(holds, evaluator.shape).reshape(evaluator.table.n, -1).all(axis=1)
    return usable


def _floor(table: Table, unit: tuple[float, float]) -> Array:
    if table.scale is None or unit == (0.0, 0.0):
        return np.zeros((table.n, 1))
    f, w = table.scale
    with np.errstate(divide="ignore", invalid="ignore"):  # an instance at the origin has no scale
        return (ROUNDING * f ** unit[0] * w ** unit[1])[:, None]


def _margin(op: str, lhs: Array, rhs: Array, rounding: Array) -> tuple[Array, Array]:
    small, large = (rhs, lhs) if op in (">=", ">") else (lhs, rhs)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        floor = NOISE_FLOOR * np.nanmax(np.abs(small) + np.abs(large), axis=1, keepdims=True, initial=0.0)
        scale = np.maximum(np.maximum(np.abs(small), np.abs(large)), floor)
        gap = np.abs(small - large) if op == "=" else small - large
        margin = np.where(scale > rounding, gap / scale, np.nan)
        ratio = np.where((large > 0) & (scale > rounding), small / large, np.nan)
    return margin, ratio


def _later(margin: Array, evaluator: Evaluator, starts: bool) -> Array:
    """The worst margin (n,) beyond the first index, where the claim compares with its own start."""
    cut = margin.reshape(evaluator.shape)
    if starts and cut.ndim > 1 and cut.shape[1] > 1:
        cut = cut[:, 1:]
    return np.fmax.reduce(cut.reshape(len(cut), -1), axis=1)


def _places(evaluator: Evaluator, which: Array, place: Array) -> list[dict[str, int]]:
    sizes, starts = evaluator.shape[1:], evaluator.starts()
    unravelled = np.unravel_index(place, sizes) if sizes else ()
    columns = {v: np.asarray(u) + starts[v] for v, u in zip(evaluator.names, unravelled, strict=True)}
    return [{"relation": int(w), **{v: int(c[j]) for v, c in columns.items()}} for j, w in enumerate(which)]
