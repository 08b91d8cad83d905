"""Squared hinges: arrays and kernel compute the same, and a hunt that is given them can use them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import fedaudit as fa
from fedaudit.figures.words.losses import loss as in_words
from fedaudit.problems.families import losses
from fedaudit.problems.families.hinges import SquaredHinges
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.loss import semidefinite
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.run import LOSSES, read_loss
from fedaudit.verify.moves.audit import read as read_statement
from fedaudit.verify.search.climb import climb
from fedaudit.verify.search.rationalise import certify

NUMBERS = st.fractions(-4, 4, max_denominator=9)
POSITIVE = st.fractions(0, 4, max_denominator=9)
PAIR = st.tuples(NUMBERS, NUMBERS)
LOSS: dict[str, Any] = {
    "kind": "hinges", "ridge": "1/2", "h": ["2", "1"], "z": [["1", "0"], ["3/5", "-4/5"]], "c": ["0", "-1/3"],
}  # fmt: skip


def exactly(x: tuple[Fraction, ...]) -> tuple[fmpq, ...]:
    return tuple(fmpq(y.numerator, y.denominator) for y in x)


@given(ridge=POSITIVE, h=st.tuples(POSITIVE, POSITIVE), z=st.tuples(PAIR, PAIR), c=PAIR, w=PAIR, v=PAIR)
def test_arrays_are_what_the_kernel_says(ridge: Fraction, h: Any, z: Any, c: Any, w: Any, v: Any) -> None:
    data = {"ridge": str(ridge), "h": [*map(str, h)], "z": [[*map(str, row)] for row in z], "c": [*map(str, c)]}
    exact = read_loss(Node({"kind": "hinges", **data}, "loss"), 2)
    arrays = SquaredHinges(*(np.array([x], dtype=float) for x in (ridge, h, z, c)), np.ones(1))
    there, along = (np.array([x], dtype=float) for x in (w, v))
    assert arrays.value(there)[0] == pytest.approx(float(exact.value(exactly(w))), abs=1e-9)
    assert arrays.grad(there)[0] == pytest.approx([float(x) for x in exact.gradient(exactly(w))], abs=1e-9)
    slack = [sum(a * (b - x) for a, b, x in zip(row, c, w, strict=True)) for row in z]
    if 0 not in slack:  # on a plane where a hinge begins, floats may be on either side
        bent = [float(x) for x in exact.bend(exactly(w), exactly(v))]
        assert arrays.hess(there, along)[0] == pytest.approx(bent, abs=1e-9)


@given(w=PAIR, v=PAIR)
def test_the_kernels_slopes_are_between_its_bounds_on_all_curvatures(w: Any, v: Any) -> None:
    """Convexity less the ridge, and the largest Hessian, each between any two points: both exact."""
    loss = read_loss(Node(LOSS, "loss"), 2)
    x, y = exactly(w), exactly(v)
    apart = [a - b for a, b in zip(x, y, strict=True)]
    rise = sum((a - b) * t for a, b, t in zip(loss.gradient(x), loss.gradient(y), apart, strict=True))
    least, most = (loss.hessian(end) for end in (False, True))
    bent = [
        sum(r * a * b for row, a in zip(H, apart, strict=True) for r, b in zip(row, apart, strict=True))
        for H in (least, most)
    ]
    assert bent[0] <= rise <= bent[1]
    tangent = sum(g * t for g, t in zip(loss.gradient(y), apart, strict=True))
    assert bent[0] / 2 <= loss.value(x) - loss.value(y) - tangent <= bent[1] / 2


def test_the_kernel_bounds_the_curvature_from_both_sides_and_refuses_other_data() -> None:
    loss = read_loss(Node(LOSS, "loss"), 2)
    assert loss.above(fmpq(1, 2))
    assert not loss.above(fmpq(51, 100))
    assert loss.below(fmpq(7, 2))
    assert not loss.below(
        fmpq(5, 2)
    )  # the first hinge alone bends 1/2 + 2 along its direction, the second adds to that
    assert semidefinite(loss.hessian(most=True), -1, fmpq(7, 2))
    for broken in (
        {"ridge": "-1"},
        {"h": ["-1", "1"]},
        {"h": ["1"]},
        {"c": ["0"]},
        {"z": [["1"], ["2"]]},
        {"extra": "1"},
    ):
        with pytest.raises((kernel.Rejected, kernel.Malformed)):
            read_loss(Node({**LOSS, **broken}, "loss"), 2)
    assert "hinges" in LOSSES


@pytest.mark.parametrize("seed", range(4))
def test_the_minimiser_has_no_slope(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (5, 3)
    p = np.full(shape, 1 / 3)
    f = SquaredHinges(
        rng.random(shape) * (seed % 2), rng.random((*shape, 4)), rng.normal(size=(*shape, 4, 2)),
        rng.normal(size=(*shape, 2)), p,
    )  # fmt: skip
    best = f.minimiser()
    slope = (p[..., None] * f.grad(best[:, None] + np.zeros((*shape, 2)))).sum(axis=1)
    np.testing.assert_allclose(slope, 0, atol=1e-7)
    gap = f.gap_from(best)
    assert (gap(best + 0.1 * rng.normal(size=best.shape)) >= -1e-12).all()


def test_no_search_draws_them_unless_it_is_told_to() -> None:
    reading, world = read_statement(fa.statement("buttaci/thm4.1-I"))
    assert "hinges" not in {shape.flag("loss") for shape in world.shapes(reading)}


def test_a_hunt_that_is_given_them_refutes_a_broken_bound_and_the_kernel_agrees() -> None:
    printed = fa.statement("classic/gd-rate")
    relation: Any = printed.relations[0]
    broken = replace(
        printed, id="classic/broken", then=relation.func(relation.lhs, relation.rhs / 100), follows_from=()
    )
    reading, world = read_statement(broken)
    own = [shape for shape in world.shapes(reading) if shape.flag("loss") == "bent" and shape.steps <= 2]
    shapes = [replace(s, flags=tuple((k, "hinges" if k == "loss" else v) for k, v in s.flags)) for s in own]
    found = climb(reading, world, shapes, 4, seed=0).best
    replayed = next((x for one in found if (x := certify(reading, world, one)) is not None and not x.holds), None)
    assert replayed is not None
    assert {client["kind"] for client in replayed.instance["clients"]} == {"hinges"}


def test_a_user_names_them() -> None:
    problem = fa.Problem.drawn("hinges", clients=3, dim=2, curvature=2.0, seed=1)
    run = fa.simulate("fedprox", problem, rounds=200, steps=2, gamma=0.25, alpha=0.1)
    assert run["gap"][-1] <= run["gap"][0] / 10
    assert losses()["hinges"].dimensions == 3


def test_they_are_told_as_a_formula() -> None:
    assert in_words(LOSS, 2).latex == (
        r"\frac{1/2}{2} ((w_{1} - 0)^2 + (w_{2} + 1/3)^2) + \frac{2}{2} \max(0, 1 (0 - w_{1}))^2"
        r" + \frac{1}{2} \max(0, 3/5 (0 - w_{1}) - 4/5 (-1/3 - w_{2}))^2"
    )
