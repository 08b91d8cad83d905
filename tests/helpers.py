"""What several test files share."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of, score

SHARE = 0.4  # effort: of the default budget of an audit of everything, for one of its statements


def assert_rational_where_roots_are(identifier: str, below: Iterable[str]) -> None:
    """Small runs have square sizes where a step size is a root; large ones, which only floats see, need not."""
    reading, world = read(statement(identifier))
    shapes = world.shapes(reading)
    odd = [shape for shape in shapes if any(isqrt(shape[name]) ** 2 != shape[name] for name in below)]
    assert bool(odd) == bool(below)
    assert all(shape.cost > 100 for shape in odd)


def assert_floats_agree_with_the_kernel(identifier: str, each: int, rel: float, share: float) -> None:
    """Both sides on `each` exact instances of some shapes: to `rel`, or to a share of the right side."""
    reading, world = read(statement(identifier))
    rng = np.random.default_rng(1)
    shapes, replayed = world.shapes(reading), 0
    for shape in shapes[:: max(1, len(shapes) // 6)]:
        genes = genes_of(reading, world, shape)
        batch = draw(genes, each, rng)
        for row in range(each):
            genome = exactly(genes, batch, row, each)
            floats = score(reading, world, shape, {k: np.asarray(x, dtype=float)[None] for k, x in genome.items()})
            exact = replay(reading, world, shape, genome)
            if exact is None:
                continue
            replayed += 1
            scale = float(abs(floats.rhs[0]))
            for text, number in ((exact.lhs, floats.lhs[0]), (exact.rhs, floats.rhs[0])):
                middle = text.partition(" +/- ")[0]  # of a ball, where a root is not rational
                assert float(Fraction(middle)) == pytest.approx(float(number), rel=rel, abs=share * scale)
    assert replayed >= 3
