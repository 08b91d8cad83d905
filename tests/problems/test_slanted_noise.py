"""Noise along a line that is parallel to no axis: exact unit vectors, and kernel and arrays agree on what it does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fedaudit as fa
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.noises import laws
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.settings.runs.run_shapes import with_noise

SLANTED = laws()["slanted"]


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_its_vectors_have_length_one_and_no_coordinate_that_is_0(d: int) -> None:
    rows = SLANTED.directions(3, d)
    assert [sum(x * x for x in row) for row in rows] == [1, 1, 1]
    assert all(isinstance(x, Fraction) and x != 0 for row in rows for x in row)
    assert (rows == rows[0]).all()


def test_every_client_has_a_sign_of_its_own() -> None:
    assert Noise("slanted").signs(5, 4, twice=False) == 20
    assert [simpler.kind for simpler in Noise("slanted").fewer()] == ["none", "independent"]


def test_the_kernel_replays_what_the_arrays_computed_and_calls_the_noise_independent() -> None:
    reading, world = read(fa.statement("buttaci/lem4.1"))
    small = (s for s in world.shapes(reading) if s.flag("noise") == "independent" and s.steps <= 2 and s["C"] == 2)
    shape = with_noise(next(small), Noise("slanted")).but(d=2)
    genes = genes_of(reading, world, shape)
    genome = exactly(genes, draw(genes, 1, np.random.default_rng(0)), 0, 2)
    replayed = replay(reading, world, shape, genome)
    assert replayed is not None
    noise = replayed.instance["noise"]
    assert noise["shared"] is False
    assert all(4 * Fraction(x) == -3 * Fraction(y) for x, y in noise["v"])
    floats = score(reading, world, shape, {k: np.asarray(x, dtype=float)[None] for k, x in genome.items()}, again=False)
    assert floats.lhs[0] == pytest.approx(float(Fraction(replayed.lhs)), rel=1e-6)


def test_a_run_is_moved_along_the_line_alone() -> None:
    """Of two flat clients the model moves by steps times noise, three parts in the first coordinate and four in the
    second.
    """
    problem = fa.Problem.quadratic(A=np.zeros((2, 2)) + 1e-12, b=np.zeros((2, 2)))
    moved = fa.simulate(
        "fedprox",
        problem,
        rounds=4,
        steps=2,
        gamma=0.25,
        alpha=0,
        start=[0.0, 0.0],
        noise=0.5,
        noise_law="slanted",
        seed=3,
    )["w"]
    assert np.abs(moved).max() > 0.01
    np.testing.assert_allclose(4 * moved[..., 0], -3 * moved[..., 1], atol=1e-9)


def test_a_mean_of_clients_hears_as_much_of_it_as_of_noise_along_an_axis() -> None:
    law = replace(SLANTED, name="other")
    signs = np.array([[1], [-1], [1]])
    axes = laws()["independent"].directions(3, 1)
    pushed = (signs * law.directions(3, 2).astype(float)).mean(axis=0)
    assert np.linalg.norm(pushed) == pytest.approx(abs((signs * axes).mean()))
