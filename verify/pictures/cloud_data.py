"""Both sides of a claim on thousands of small admissible instances, and the tightest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fedaudit.bounds.formulas.statement_text import relations_latex
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from ..results.json_fields import JsonObject
from ..search.climb import VIOLATION, Found
from ..search.genome import Genome, draw
from ..search.rationalise import certificate, certify
from ..search.score import BEYOND_ROUNDING, CLOSE, Scores, genes_of, score, tabulate
from ..search.seeds import seed_for
from ..search.tree_arrays import Array, Table
from ..settings.base import Reading, Setting, Shape
from .kinds import Cloud, Mark, unit
from .row_marks import Row, largest_exact, tightest_of

__all__ = ["against", "cloud"]

INSTANCES, SHAPES, LARGEST = 4000, 10, 60  # drawn at most, their shapes, and the size of one
FEW = 400  # instances of a shape at least
REPLAYS = 4


def cloud(
    statement: Statement, reading: Reading, world: Setting, seed: int, row: Row | None = None, *, falls: bool = False
) -> Cloud:
    """Random instances of several small shapes, each relation scored on its own.

    Unless the claim `falls` by the kernel's word, what floats see above the bound is left out, and counted.
    """
    genomes = _drawn(reading, world, seed)
    shapes = [shape for shape, _ in genomes]
    parts: list[list[Array]] = []
    several = len(reading.claim["then"]) > 1
    runs = [tabulate(reading, world, shape, genome) if several else None for shape, genome in genomes]
    for relation in range(len(reading.claim["then"])):
        alone = _alone(reading, relation) if several else reading
        scores = [_settled(alone, world, *one, run) for one, run in zip(genomes, runs, strict=True)]
        sides = [(s.lhs, s.rhs, np.where(doubtful | _rounding(s.margin), np.nan, s.margin)) for s, doubtful in scores]
        parts.append([np.concatenate(side) for side in zip(*sides, strict=True)])
    lhs, rhs, margin = (np.stack([p[k] for p in parts]).astype(float) for k in range(3))
    broken = np.zeros(margin.shape, dtype=bool) if falls else margin > VIOLATION
    margin = np.where(broken, np.nan, margin)
    usable = np.isfinite(margin).any(axis=0)
    if not usable.any():
        raise UserError("got no admissible instance among random ones, expected some; do: plot what it follows from")
    signs = tuple(op for op, *_ in reading.claim["then"])
    marks = [_marked(k, signs[k], lhs[k], rhs[k], margin[k], row) for k in range(len(signs))]
    varied = [k for k, _ in shapes[0].counts if len({dict(s.counts).get(k) for s in shapes}) > 1]
    sizes = "".join(f", {k} = {', '.join(str(v) for v in sorted({s[k] for s in shapes}))}" for k in varied)
    return Cloud(
        id=statement.id,
        title=statement.title,
        relations=relations_latex(statement),
        signs=signs,
        lhs=lhs[:, usable],
        rhs=rhs[:, usable],
        margin=margin[:, usable],
        units=tuple(unit(powers) for powers in reading.lowered.units),
        marks=tuple(marks),
        worst=tuple(largest_exact(row, k + 1) if signs[k] in ("<=", "<") else None for k in range(len(signs))),
        caption=f"{int(usable.sum()):,} random admissible instances{sizes}, each at its tightest index" + _left(broken),
    )


def against(reading: Reading, world: Setting, seed: int) -> JsonObject | None:
    """A certificate against the claim, if one of the cloud's instances violates it and the kernel agrees."""
    scores = [score(reading, world, shape, genome) for shape, genome in _drawn(reading, world, seed)]
    violations = [Found(s, int(row)) for s in scores for row in np.flatnonzero(s.margin > VIOLATION)]
    for one in sorted(violations, key=lambda f: (f.scores.shape.cost, -f.margin))[:REPLAYS]:
        replayed = certify(reading, world, one)
        if replayed is not None and not replayed.holds:
            return certificate(reading, replayed)
    return None


def _drawn(reading: Reading, world: Setting, seed: int) -> list[tuple[Shape, Genome]]:
    tried = world.ordinary(reading, world.shapes(reading))
    if not tried:
        raise UserError(f"{reading.lowered.id}, whose sizes no short run has", "some", "plot what it follows from")
    shapes = _some(tried)
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "curves"))
    each = max(FEW, INSTANCES // len(shapes))
    return [(shape, draw(genes_of(reading, world, shape), each, rng)) for shape in shapes]


def _some(shapes: Sequence[Shape]) -> list[Shape]:
    """Picks evenly spread small shapes."""
    small = [s for s in shapes if s.cost <= LARGEST] or [min(shapes, key=lambda s: s.cost)]
    places = np.unique(np.linspace(0, len(small) - 1, min(SHAPES, len(small))).round().astype(int))
    return [small[n] for n in places]


def _alone(reading: Reading, relation: int) -> Reading:
    claim = {**reading.claim, "then": [reading.claim["then"][relation]]}
    return replace(reading, lowered=replace(reading.lowered, claim=claim, units=(reading.lowered.units[relation],)))


def _settled(
    reading: Reading, world: Setting, shape: Shape, genome: Genome, table: Table | None = None
) -> tuple[Scores, Array]:
    """Returns scores, and which runs are only rounding: above the bound as drawn, but not when their genes are
    moved.
    """
    raw = score(reading, world, shape, genome, again=False, table=table)
    if not (raw.margin > -CLOSE).any():  # nothing would be moved
        return raw, np.zeros(len(raw.margin), dtype=bool)
    moved = score(reading, world, shape, genome, table=raw.known if isinstance(raw.known, Table) else None)
    return moved, (raw.margin > VIOLATION) & ~(moved.margin > VIOLATION)


def _left(broken: Array) -> str:
    count = int(broken.any(axis=0).sum())
    return f"; left out: {count:,} that floats put beyond the line and the kernel does not confirm" if count else ""


def _rounding(margin: Array) -> Array:
    """Marks violations too small for floats to tell from rounding; they are shown on neither side."""
    return (margin > VIOLATION) & (margin <= BEYOND_ROUNDING)


def _marked(relation: int, sign: str, lhs: Array, rhs: Array, margin: Array, row: Row | None) -> Mark | None:
    """The counterexample or the tightest instance that the moves found, else the tightest of the cloud."""
    of_the_row = tightest_of(row, relation)
    if of_the_row is not None or sign == "=":
        return of_the_row
    usable = np.isfinite(margin) & (lhs > 0) & (rhs > 0)
    if not usable.any():
        return None
    small, large = (rhs, lhs) if sign in (">=", ">") else (lhs, rhs)
    best = int(np.argmax(np.where(usable, small / np.where(large > 0, large, 1), -np.inf)))
    return Mark(float(rhs[best]), float(lhs[best]), f"tightest of these: {small[best] / large[best]:.3g}")
