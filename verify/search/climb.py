"""Propose and climb: a derivative-free search for the instance that comes closest to breaking a claim.

Each shape has a population. Generations mutate the best rows; thousands of candidates are evaluated at once. The work
is counted in evaluations, never in seconds, so that a seed gives the same result on every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fedaudit.progress import told

from ..results.tried_sizes import Size, merged
from ..settings.base import Reading, Setting, Shape
from .genome import Genome, draw, join, mutate, rows
from .score import Scores, genes_of, larger_parts, score, score_below, tabulate
from .seeds import seed_for
from .tree_arrays import Array

POPULATION = 96
ELITE = 16  # at least
NOWHERE = -1  # no region
RESTING = 8  # of so many rows one starts at a minimiser
VIOLATION = 1e-9  # a float margin above this is worth the kernel's time


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One candidate: a row of a scored batch."""

    scores: Scores
    row: int

    @property
    def margin(self) -> float:
        return float(self.scores.margin[self.row])

    @property
    def region(self) -> int:
        """Which part of the larger side dominates."""
        return int(self.scores.region[self.row])

    @property
    def later(self) -> float:
        return float(self.scores.later[self.row])

    @property
    def ratio(self) -> float:
        return float(self.scores.ratio[self.row])


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """All that a search saw: admissible instances tried, the best candidates, most dangerous first, and the sizes."""

    instances: int
    best: tuple[Found, ...]
    sizes: tuple[Size, ...] = ()
    covered: tuple[int, int] = (0, 0)  # shapes that were tried, of how many
    fell: bool = False  # whether the kernel confirmed a clear violation, so that nothing was left to search for


def sample(reading: Reading, setting: Setting, shapes: Sequence[Shape], n: int, seed: int) -> Searched:
    """Property testing: `n` random instances of each shape, no climbing."""
    return joined([sampled(reading, setting, shape, n, seed) for shape in shapes])


def sampled(reading: Reading, setting: Setting, shape: Shape, n: int, seed: int) -> Searched:
    """Random instances of one shape.

    Where they do not fit in memory together, some at a time are; of what is longer than ordinary there are few.
    """
    most = setting.most_rows(reading, shape)
    if not setting.ordinary(reading, [shape]):
        n = min(n, most)
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "sample", shape, *reading.dropped))
    genome = some_at_rest(reading, setting, shape, draw(genes_of(reading, setting, shape), n, rng))
    if n > most:
        return _some_at_a_time(reading, setting, shape, genome, most)
    scores = score(reading, setting, shape, genome)
    best, size = tuple(leaders(scores)), _size(reading, setting, scores, scores.admissible)
    return Searched(scores.admissible, best, (size,))


def _some_at_a_time(reading: Reading, setting: Setting, shape: Shape, genome: Genome, most: int) -> Searched:
    """Instances of which at most so many fit in memory together. What was measured is not kept, but measured again."""
    parts_searched: list[Searched] = []
    for first in range(0, size_of(genome), most):
        part = rows(genome, np.arange(first, min(first + most, size_of(genome))))
        scores = score(reading, setting, shape, part)
        scores = replace(scores, known=partial(tabulate, reading, setting, shape, part))
        size = _size(reading, setting, scores, scores.admissible)
        parts_searched.append(Searched(scores.admissible, tuple(top(scores, 1)), (size,)))
    return replace(joined(parts_searched), best=joined(parts_searched).best[:1])


def some_at_rest(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Genome:
    """A batch of which the last rows start at a minimiser, where the claim says something of them.

    Random starts are far away beside noise, and where one part of a bound dominates, the others are not seen.
    """
    resting = size_of(genome) // RESTING
    if not resting or max(map(len, larger_parts(reading))) < 2:
        return genome
    moving = size_of(genome) - resting
    at_rest = setting.at_rest(reading, shape, rows(genome, slice(moving, None)))
    return join([rows(genome, slice(0, moving)), at_rest])


def size_of(genome: Genome) -> int:
    """How many instances a batch has."""
    return len(next(iter(genome.values())))


def joined(parts: Sequence[Searched]) -> Searched:
    """What several searches saw."""
    sizes = merged(size for part in parts for size in part.sizes)
    best = order([found for part in parts for found in part.best])
    covered = max((part.covered for part in parts), default=(0, 0))
    return Searched(sum(p.instances for p in parts), best, sizes, covered, any(part.fell for part in parts))


def climb(
    reading: Reading,
    setting: Setting,
    shapes: Sequence[Shape],
    generations: int,
    seed: int,
    population: int = POPULATION,
) -> Searched:
    """Evolve a population on each shape."""
    best_of = max(ELITE, population // 8)
    tried, best, sizes = 0, list[Found](), list[Size]()
    for n, shape in enumerate(shapes):
        told("climbing, shape", n, len(shapes))
        genes = genes_of(reading, setting, shape)
        rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "climb", shape, *reading.dropped))
        first = some_at_rest(reading, setting, shape, draw(genes, 2 * population, rng))
        scores = score(reading, setting, shape, first)
        tried += scores.admissible
        sizes.append(_size(reading, setting, scores, scores.admissible))
        for _ in range(generations):
            elite = _elite(scores, best_of)
            parents = elite[rng.integers(0, len(elite), population)]
            children = mutate(genes, rows(scores.genome, parents), rng)
            children = some_at_rest(reading, setting, shape, children)
            scores = score_below(reading, setting, scores, elite, children)
            fresh = int(np.isfinite(scores.margin[best_of:]).sum())  # the elite was counted before
            tried += fresh
            sizes.append(_size(reading, setting, scores, fresh))
        closest = top(scores, 2)
        kept = {found.row for found in closest}
        best += [*closest, *(found for found in leaders(scores) if found.row not in kept)]
    return Searched(tried, order(best), merged(sizes))


def top(scores: Scores, count: int) -> list[Found]:
    """The most dangerous admissible rows."""
    return [Found(scores, int(r)) for r in _ranking(scores)[:count] if np.isfinite(scores.margin[r])]


def leaders(scores: Scores) -> list[Found]:
    """The most dangerous admissible row of every region, the most dangerous of all first."""
    ranking = _ranking(scores)
    ranking = ranking[np.isfinite(scores.margin[ranking])]
    first = np.unique(scores.region[ranking], return_index=True)[1]
    return [Found(scores, int(ranking[place])) for place in sorted(first)]


def _elite(scores: Scores, count: int) -> Array:
    """The rows that have children: half of them the most dangerous, half the most dangerous of every region."""
    ranking = _ranking(scores)
    regions = np.where(np.isfinite(scores.margin), scores.region, NOWHERE)[ranking]
    present = np.unique(regions)
    if len(present) == 1:
        return ranking[:count]
    own = [ranking[regions == region][: max(1, count // 2 // len(present))] for region in present]
    chosen = np.concatenate([ranking[: count // 2], *own, ranking[count // 2 :]])
    return chosen[np.sort(np.unique(chosen, return_index=True)[1])][:count]


def order(found: Sequence[Found]) -> tuple[Found, ...]:
    """Most dangerous first; ties keep the order of the shapes, simple ones first."""
    return tuple(sorted(found, key=lambda f: -_danger_of(f)))


def _ranking(scores: Scores) -> Array:
    return np.argsort(-_danger(scores), kind="stable")


def _danger_of(found: Found) -> float:
    """How dangerous one candidate is; -inf where it is not admissible."""
    if not math.isfinite(found.margin):
        return -math.inf
    danger = 2 + found.margin if found.margin > VIOLATION else found.later
    return -9.0 if math.isnan(danger) else danger


def _danger(scores: Scores) -> Array:
    """How dangerous each row is: violations first, then how close it comes where the claim is not trivial."""
    # A margin is at least -2 and, where nothing is violated, about 0 at most: 2 more puts every violation first, and -9
    # what has no later index last.
    danger = np.where(scores.margin > VIOLATION, 2 + scores.margin, scores.later)
    return np.where(np.isfinite(scores.margin), np.nan_to_num(danger, nan=-9.0), -np.inf)


def _size(reading: Reading, setting: Setting, scores: Scores, fresh: int) -> Size:
    """What a scored batch says of its sizes; `fresh`: how many of its admissible rows were not counted before.

    A margin that fell when the genes were moved a little takes its ratio along: that one was rounding.
    """
    margin, ratio = scores.margin, scores.ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        steady = np.fmin(ratio, np.where(margin <= 0, 1 + margin, 1 / (1 - margin)))
    usable = np.isfinite(margin) & np.isfinite(ratio)
    within = np.minimum(steady[usable & (margin <= VIOLATION)], 1.0)
    return Size(setting.told_sizes(reading, scores.shape), fresh, _largest(steady[usable]), _largest(within))


def _largest(ratios: Array) -> float | None:
    return float(ratios.max()) if ratios.size else None
