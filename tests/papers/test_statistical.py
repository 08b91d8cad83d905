"""Monte-Carlo evidence: intervals that hold under repeated looks, and bounds that every path respects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sympy import Le

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.moves.audit import read, verify
from fedaudit.verify.moves.confidence import interval
from fedaudit.verify.moves.monte_carlo import LOOKS, statistics
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.score import genes_of
from fedaudit.verify.settings.base import known_table


def test_intervals_hold_at_every_look() -> None:
    """2000 streams of coin flips, looked at ten times each: fewer than δ of them ever leave their interval."""
    rng = np.random.default_rng(1)
    flips = (rng.random((2000, 512)) < 0.3).astype(float)
    missed = np.zeros(2000, dtype=bool)
    for look, n in enumerate(np.linspace(32, 512, 10, dtype=int), start=1):
        low, high = interval(flips[:, :n], np.ones(2000), look, delta=0.05)
        missed |= (low > 0.3) | (high < 0.3)
    assert missed.mean() <= 0.05


def test_intervals_shrink_with_more_values() -> None:
    values = np.random.default_rng(2).random((1, 4096))
    narrow, wide = (interval(values[:, :n], np.ones(1), 1) for n in (4096, 64))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


@pytest.mark.parametrize(("look", "delta"), [(0, 0.1), (1, 0.0), (1, 1.5)])
def test_bad_looks_are_refused(look: int, delta: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        interval(np.ones((1, 4)), np.ones(1), look, delta)


def test_a_run_that_is_followed_is_the_one_that_is_sampled() -> None:
    reading, world = read(statement("buttaci/thm4.1-I"))
    shape = world.sampled_shape(reading)
    genome = draw(genes_of(reading, world, shape), 3, np.random.default_rng(3))
    known = known_table(reading, world, shape, genome)
    values, *_ = world.sampled(reading, shape, genome, known, 2, np.random.default_rng(4))
    assert np.array_equal(world.followed(reading, shape, genome, known, 2, np.random.default_rng(4)), values)


def test_no_path_leaves_its_reach() -> None:
    reading, world = read(statement("buttaci/thm4.1-I"))
    shape = world.sampled_shape(reading)
    rng = np.random.default_rng(3)
    genome = draw(genes_of(reading, world, shape), 30, rng)
    known = known_table(reading, world, shape, genome)
    values, width, table = world.sampled(reading, shape, genome, known, 40, rng)
    assert values.shape == (30, shape["T"] + 1, 40)
    assert (values <= width[..., None] * (1 + 1e-12)).all()
    assert values[:, 0] == pytest.approx(table.quantities["gap"].values[:, :1].repeat(40, 1), rel=1e-9)


def test_a_true_bound_is_within_and_a_broken_one_is_only_suspect() -> None:
    printed = statement("buttaci/thm4.1-I")
    reading, world = read(printed)
    found = statistics(reading, world, seed=0)
    assert found.within > 0
    assert found.suspects == 0
    assert found.runs in LOOKS
    relation = printed.relations[0]
    broken = replace(printed, then=Le(relation.args[0], printed.defined(relation.args[1]) / 10**6))
    reading, world = read(broken)
    assert statistics(reading, world, seed=0).suspects > 0


def test_verify_reports_the_sampled_part() -> None:
    row = verify(statement("buttaci/thm4.1-II"), seed=0, effort=0.1).row()
    assert row["statistical"]["suspects"] == 0
    assert row["statistical"]["delta"] == 1e-9
