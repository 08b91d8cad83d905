"""Noise that pushes clients in opposite directions: its mean cancels, and kernel and arrays agree on the rest."""

from __future__ import annotations

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
from fedaudit.verify.settings.base import Shape
from fedaudit.verify.settings.runs.run_shapes import with_noise

OPPOSED = laws()["opposed"]


def test_every_second_client_goes_the_other_way() -> None:
    assert OPPOSED.directions(3, 2).tolist() == [[1, 0], [-1, 0], [1, 0]]
    assert Noise("opposed").signs(5, 4, twice=False) == 5, "one sign a step"
    assert [simpler.kind for simpler in Noise("opposed").fewer()] == ["none", "shared"]


def test_no_search_draws_it_unless_it_is_told_to() -> None:
    reading, world = read(fa.statement("buttaci/lem4.1"))
    assert "opposed" not in {shape.flag("noise") for shape in world.shapes(reading)}


def opposed(shape: Shape) -> Shape:
    return with_noise(shape, Noise("opposed"))


@pytest.mark.parametrize("name", ["buttaci/lem4.1", "zhang/lemA.2"])
def test_the_kernel_replays_what_the_arrays_computed(name: str) -> None:
    reading, world = read(fa.statement(name))
    small = (s for s in world.shapes(reading) if s.flag("noise") == "independent" and s.steps <= 4 and s["C"] == 2)
    shape = opposed(next(small))
    genes = genes_of(reading, world, shape)
    genome = exactly(genes, draw(genes, 1, np.random.default_rng(0)), 0, 2)
    replayed = replay(reading, world, shape, genome)
    assert replayed is not None
    assert replayed.instance["noise"]["shared"] is True
    first, second = (Fraction(v[0]) for v in replayed.instance["noise"]["v"])
    assert first >= 0 >= second
    floats = score(reading, world, shape, {k: np.asarray(x, dtype=float)[None] for k, x in genome.items()}, again=False)
    assert floats.lhs[0] == pytest.approx(float(Fraction(replayed.lhs)), rel=1e-6)


def test_of_two_equal_clients_the_server_hears_nothing() -> None:
    """On equal quadratics the noise cancels in every mean, and each client still has it."""
    problem = fa.Problem.quadratic(A=np.ones((2, 1)), b=np.zeros((2, 1)))
    quiet, cancelled, heard = (
        fa.simulate(
            "fedprox", problem, rounds=4, steps=2, gamma=0.25, alpha=0, start=[1.0], noise=noise, noise_law=law, seed=3
        )
        for noise, law in ((0.0, ""), (0.5, "opposed"), (0.5, "shared"))
    )
    np.testing.assert_allclose(cancelled["w"], quiet["w"], rtol=1e-14)
    assert np.abs(heard["w"] - quiet["w"]).max() > 0.01


def test_a_law_that_is_not_there_is_refused_by_name() -> None:
    problem = fa.Problem.quadratic(A=[[1.0]], b=[[0.0]])
    with pytest.raises(fa.UserError, match=r"noise_law='louder'.*opposed"):
        fa.simulate("fedprox", problem, rounds=1, gamma=0.1, alpha=0, noise=1.0, noise_law="louder")
