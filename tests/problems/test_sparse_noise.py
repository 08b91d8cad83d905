"""Noise at a few steps: paths stay few over many rounds, and everyone agrees which draws have noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marks import some
from test_methods import CLAIMS, agree

import fedaudit as fa
from fedaudit.problems.families.noise import Noise
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of
from fedaudit.verify.settings.runs.proposed_runs import MOST_PATHS, sparse_shapes
from fedaudit.verify.settings.runs.run_shapes import draws, family_of, noise_of, outcomes

noises = st.builds(
    Noise, st.sampled_from(("independent", "shared")), st.integers(1, 8), st.integers(0, 9), st.integers(1, 4)
)


def long_run(steps: list[int]) -> dict[str, Any]:
    """Algorithm 1 of Zhang et al. over 12 rounds, with kinks of the losses and of g near the run."""
    bent = [
        {"kind": "bent", "a": ["2"], "m": ["1/2"], "lo": ["1/3"], "hi": ["1/4"], "c": ["1"]},
        {"kind": "bent", "a": ["1"], "m": ["1"], "lo": ["1"], "hi": ["1"], "c": ["-1/2"]},
    ]
    return {
        "C": 2, "d": 1, "E": 1, "T": 12, "p": ["1/2", "1/2"], "w0": ["1"], "constants": {}, "clients": bent,
        "parameters": {"eta_g": "3/2", "eta_t": "1/4"}, "regulariser": {"kind": "l1", "theta": "1/4"},
        "noise": {"kind": "signs", "shared": False, "v": [["1/2"], ["1/3"]], "steps": steps}, "w_star": ["0"],
    }  # fmt: skip


@pytest.mark.parametrize("steps", some([[0, 1], [10, 11], [0, 5, 11]], 3, "noise at other steps"), ids=str)
def test_twelve_rounds_with_kinks_and_noise_at_a_few_steps_are_what_the_box_says(steps: list[int]) -> None:
    agree("composite", long_run(steps), (np,))


def test_where_noise_acts_matters() -> None:
    """The comparison can fail: noise at other steps is another law."""
    early, late = (kernel.world(CLAIMS["composite"], long_run(steps)).at("dist2", (13,)) for steps in ([0], [11]))
    assert early != late


@pytest.mark.parametrize("name", ["zhang/thm3.5", "zhang/thm3.6", "zhang/eq2-compact", "zhang/eqA.33"])
def test_noise_with_kinks_is_tried_over_ten_rounds_and_more(name: str) -> None:
    reading, world = read(fa.statement(name))
    shapes = [shape for shape in world.shapes(reading) if shape.flag("noise") != "none" and shape["T"] >= 10]
    kinked = [s for s in shapes if s.flag("regulariser") == "l1" or s.flag("loss") == "bent"]
    assert {(s.flag("loss"), s.flag("regulariser")) for s in kinked} == {
        ("quadratic", "l1"), ("bent", "none"), ("bent", "l1"),
    }  # fmt: skip
    assert all(1 < outcomes(s, family_of(s), counts_steps=False) <= MOST_PATHS for s in kinked)


@pytest.mark.parametrize("name", ["buttaci/lem4.4", "buttaci/lemC.1"])
def test_a_client_with_neighbours_is_not_alone(name: str) -> None:
    shapes = sparse_shapes(read(fa.statement(name))[0])
    assert shapes
    assert all(shape["C"] > 1 for shape in shapes)


def test_reductions_keep_the_noise_inside_the_run_and_make_it_less() -> None:
    reading, world = read(fa.statement("zhang/thm3.5"))
    shape = next(s for s in world.shapes(reading) if noise_of(s).first > 0)
    genes = genes_of(reading, world, shape)
    genome = exactly(genes, draw(genes, 1, np.random.default_rng(0)), 0, 3)
    reduced = [(smaller, rest) for smaller, rest in world.reductions(reading, shape, genome)]
    fewer = {noise_of(smaller).count for smaller, _ in reduced if noise_of(smaller).kind != "none"}
    assert min(fewer) == 1
    assert any(noise_of(smaller).kind == "none" for smaller, _ in reduced)
    for smaller, rest in reduced:
        steps = noise_of(smaller).steps(draws(smaller, counts_steps=False))
        assert steps is None or steps
        replayed = replay(reading, world, smaller, rest)
        assert replayed is None or replayed.instance["noise"].get("steps") == (None if steps is None else list(steps))


@given(noises, st.integers(1, 30), st.integers(1, 4))
def test_as_many_signs_as_draws_that_have_noise(noise: Noise, total: int, C: int) -> None:
    written = noise.written([["1"]] * C, None, total)
    steps = written.get("steps", list(range(total)) if written["kind"] == "signs" else [])
    assert noise.signs(total, C, twice=False) == len(steps) * (1 if noise.kind == "shared" else C)
    assert all(0 <= step < total for step in steps)
    inside = noise.within(total).steps(total)
    assert inside is None or len(inside) >= len(noise.steps(total) or ())


def test_of_clients_without_noise_there_are_no_signs_and_no_vectors() -> None:
    noise = Noise("independent", count=2, loud=1)
    assert noise.signs(10, 3, twice=False) == 2
    level = noise.level({"noise": np.array([[Fraction(1), Fraction(2), Fraction(3)]], dtype=object)}, 3)
    assert level.tolist() == [[1, 0, 0]]


def test_an_exact_variance_has_noise_at_every_step() -> None:
    claim = {**CLAIMS["composite"], "let": [["exact_variance", "sigma"]]}
    every = long_run([0])
    every["noise"]["v"] = [["1/2"], ["1/2"]]
    every["constants"] = {"sigma": "1/2"}
    claim["domains"] = {**claim["domains"], "sigma": "nonnegative"}
    with pytest.raises(kernel.Rejected, match="exact_variance"):
        kernel.world(claim, every).assume("exact_variance", ("sigma",))
    del every["noise"]["steps"]
    kernel.world(claim, every).assume("exact_variance", ("sigma",))
