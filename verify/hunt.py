"""Propose and climb: a derivative-free search for the instance that comes closest to breaking a claim.

Each shape has a population. Generations mutate the best rows; thousands of candidates are evaluated at once. The work
is counted in evaluations, never in seconds, so that a seed gives the same result on every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .check import Scores, genes_of, score
from .evaluate import Array
from .genome import draw, join, mutate, rows
from .seeds import seed_for
from .settings.base import Reading, Setting, Shape

POPULATION = 96
ELITE = 16
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
    def later(self) -> float:
        return float(self.scores.later[self.row])

    @property
    def ratio(self) -> float:
        return float(self.scores.ratio[self.row])


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """All that a search saw: admissible instances tried, and the best candidates, most dangerous first."""

    instances: int
    best: tuple[Found, ...]


def sample(reading: Reading, setting: Setting, shapes: Sequence[Shape], n: int, seed: int) -> Searched:
    """Property testing: `n` random instances over the shapes, no climbing."""
    tried, best = 0, list[Found]()
    for shape in shapes:
        rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "sample", shape, *reading.dropped))
        scores = score(reading, setting, shape, draw(genes_of(reading, setting, shape), n, rng))
        tried += scores.admissible
        best += top(scores, 1)
    return Searched(tried, order(best))


def climb(reading: Reading, setting: Setting, shapes: Sequence[Shape], generations: int, seed: int) -> Searched:
    """Evolve a population on each shape."""
    tried, best = 0, list[Found]()
    for shape in shapes:
        genes = genes_of(reading, setting, shape)
        rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "climb", shape, *reading.dropped))
        scores = score(reading, setting, shape, draw(genes, 2 * POPULATION, rng))
        tried += scores.admissible
        elite = rows(scores.genome, _ranking(scores)[:ELITE])
        for _ in range(generations):
            picks = rng.integers(0, len(next(iter(elite.values()))), POPULATION)
            scores = score(reading, setting, shape, join([elite, mutate(genes, rows(elite, picks), rng)]))
            tried += scores.admissible - ELITE
            elite = rows(scores.genome, _ranking(scores)[:ELITE])
        best += top(scores, 2)
    return Searched(max(tried, 0), order(best))


def top(scores: Scores, count: int) -> list[Found]:
    """The most dangerous admissible rows."""
    return [Found(scores, int(r)) for r in _ranking(scores)[:count] if np.isfinite(scores.margin[r])]


def order(found: Sequence[Found]) -> tuple[Found, ...]:
    """Most dangerous first; ties keep the order of the shapes, simple ones first."""
    return tuple(sorted(found, key=lambda f: -float(_danger(f.scores)[f.row])))


def _ranking(scores: Scores) -> Array:
    return np.argsort(-_danger(scores), kind="stable")


def _danger(scores: Scores) -> Array:
    """Of each row: violations first, then how close it comes where the claim is not trivial."""
    danger = np.where(scores.margin > VIOLATION, 2 + scores.margin, scores.later)
    return np.where(np.isfinite(scores.margin), np.nan_to_num(danger, nan=-9.0), -np.inf)
