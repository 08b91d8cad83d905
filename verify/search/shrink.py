"""Shrink: a simpler instance that still refutes, as in property-based testing.

The order is `simplicity`: clients, dimension, local steps and rounds first, then how long the rationals are. Every step
is decided by the kernel; nothing is kept that it does not refute, nor what `keeps` turns down (a counterexample that
lasts is not given up for a simpler one that does not).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import groupby, islice
from typing import TypeVar, cast

import numpy as np

from ..settings.base import Reading, Setting, Shape
from .climb import Found
from .genome import simpler, size
from .rationalise import Replayed, decided, in_floats
from .score import BEYOND_ROUNDING, genes_of, score
from .tree_arrays import Array

MOST_WORK = 30_000  # size of the replayed instances, added up
AT_ONCE = 64  # proposals that floats look at together
MOST_FLOATS = 300  # candidates that are looked at in floats


Candidate = TypeVar("Candidate")


def simplicity(replayed: Replayed) -> tuple[int, int]:
    return _simplicity(replayed.shape, replayed.genome)


def _simplicity(shape: Shape, genome: Mapping[str, Array]) -> tuple[int, int]:
    """Smaller shapes first, then shorter numbers."""
    numbers = (x for values in genome.values() for x in np.ravel(values))
    length = sum(size(x if type(x) is Fraction else Fraction(x)) for x in numbers)
    return sum(v for _, v in shape.counts), length


def shrink(
    reading: Reading,
    setting: Setting,
    start: Replayed,
    keeps: Callable[[Replayed], bool] = lambda _: True,
    price: int = 0,
) -> Replayed:
    """Greedy descent until no pass finds anything simpler that `keeps` accepts, or `MOST_WORK` was spent.

    `price` is what asking `keeps` costs, in replays of the same size.
    """

    def simpler_ones(best: Replayed) -> Iterator[tuple[int, Replayed | None]]:
        for shape, refuting in _refuting(reading, setting, _proposals(reading, setting, best), simplicity(best)):
            work = 10 + shape.cost
            if refuting is None:
                yield work, None
            else:
                yield work * (1 + price), refuting if keeps(refuting) else None

    return descend(start, simpler_ones, MOST_WORK)


def descend(
    start: Candidate,
    simpler_ones: Callable[[Candidate], Iterator[tuple[int, Candidate | None]]],
    work: float = math.inf,
) -> Candidate:
    """Greedy descent: the first simpler candidate is kept, and simpler ones than that are looked for.

    What is proposed is the work that it took to look at, and the candidate if it will do. The descent ends where
    nothing simpler will do, or where this much work was done.
    """
    best, moved = start, True
    while moved and work > 0:
        moved = False
        for cost, candidate in simpler_ones(best):
            work -= cost
            if candidate is not None:
                best, moved = candidate, True
                break
            if work <= 0:
                break
    return best


def _refuting(
    reading: Reading, setting: Setting, proposals: Iterator[tuple[Shape, Mapping[str, Array]]], below: tuple[int, int]
) -> Iterator[tuple[Shape, Replayed | None]]:
    """The shape of each proposal and, if it is simpler than `below` and refutes, its replay.

    Floats look at many at once and spare the kernel those that hold plainly.
    """
    for shape, genomes in _alike(proposals, 1 if setting.fitted else AT_ONCE):
        simple = [genome for genome in genomes if _simplicity(shape, genome) < below]
        yield from ((shape, None) for _ in range(len(genomes) - len(simple)))
        if not simple:
            continue
        scores = score(reading, setting, shape, in_floats(simple), again=False)
        for row, genome in enumerate(simple):
            suspect = scores.margin[row] > -BEYOND_ROUNDING
            replayed = decided(reading, setting, scores, row, genome) if suspect else None
            yield shape, None if replayed is None or replayed.holds else replayed


def _alike(
    proposals: Iterator[tuple[Shape, Mapping[str, Array]]], most: int
) -> Iterator[tuple[Shape, list[Mapping[str, Array]]]]:
    """Proposals that follow each other and have one shape, together: a few of them first, since the first may do."""
    few = 1
    for (shape, _), group in groupby(proposals, key=lambda one: (one[0], [v.shape for v in one[1].values()])):
        genomes = (genome for _, genome in group)
        while batch := list(islice(genomes, few)):
            yield shape, batch
            few = min(2 * few, most)


def reduced(reading: Reading, setting: Setting, violation: Found, most: int = MOST_FLOATS) -> Found:
    """A smaller candidate that is as clear a violation in floats: where one is too large for the kernel to replay.

    At most this many candidates are looked at.
    """
    shape, genome = violation.scores.shape, {k: v[violation.row] for k, v in violation.scores.genome.items()}
    for n, (smaller, rest) in enumerate(islice(setting.reductions(reading, shape, genome), most), 1):
        less = Found(score(reading, setting, smaller, {k: np.asarray(v)[None] for k, v in rest.items()}), 0)
        # The kernel has not seen it yet, so that it has to stay clear of rounding.
        if smaller.cost <= shape.cost and less.margin > BEYOND_ROUNDING:
            return reduced(reading, setting, less, most - n)
    return violation


def _proposals(reading: Reading, setting: Setting, best: Replayed) -> Iterator[tuple[Shape, Mapping[str, Array]]]:
    # Whole clients, dimensions and rounds first: one such step saves more replays than any rounding of numbers.
    yield from setting.reductions(reading, best.shape, best.genome)
    genes = genes_of(reading, setting, best.shape)
    # If everything can be rounded at once, no number has to be tried alone; coarse denominators first.
    for denominator in (1, 2, 10, 100):  # everything at once
        yield best.shape, {g.name: _rounded(best.genome[g.name], denominator, g.kind) for g in genes}
    for gene in genes:
        values = best.genome[gene.name]
        for place in np.ndindex(values.shape):
            for value in simpler(Fraction(cast("Fraction", values[place])), gene.kind):
                changed = values.copy()
                changed[place] = value
                yield best.shape, {**best.genome, gene.name: changed}


def _rounded(values: Array, denominator: int, kind: str) -> Array:
    def one(x: Fraction) -> Fraction:
        near = Fraction(x).limit_denominator(denominator)
        return x if near <= 0 and kind in ("positive", "unit") else near

    return np.vectorize(one, otypes=[object])(values) if values.size else values
