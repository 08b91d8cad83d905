"""Losses whose slopes saturate: arrays and kernel compute the same, and a hunt that is given them can use them."""

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
from fedaudit.problems.families.saturating import Saturating
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.run import LOSSES, read_loss
from fedaudit.verify.moves.audit import read as read_statement
from fedaudit.verify.search.climb import climb
from fedaudit.verify.search.rationalise import certify

NUMBERS = st.fractions(-4, 4, max_denominator=9)
POSITIVE = st.fractions(Fraction(1, 9), 4, max_denominator=9)
LOSS: dict[str, Any] = {"kind": "saturating", "h": ["2", "1"], "r": ["1/2", "3"], "c": ["0", "-1/3"]}


@given(h=POSITIVE, r=POSITIVE, c=NUMBERS, w=NUMBERS, v=NUMBERS)
def test_arrays_are_what_the_kernel_says(h: Fraction, r: Fraction, c: Fraction, w: Fraction, v: Fraction) -> None:
    exact = read_loss(Node({"kind": "saturating", "h": [str(h)], "r": [str(r)], "c": [str(c)]}, "loss"), 1)
    there, along = ((fmpq(x.numerator, x.denominator),) for x in (w, v))
    h_, r_, c_, w_, v_ = (np.array([[[float(x)]]]) for x in (h, r, c, w, v))
    arrays = Saturating(h_, r_, c_, np.ones((1, 1)))
    assert arrays.value(w_).item() == pytest.approx(float(exact.value(there)))
    assert arrays.grad(w_).item() == pytest.approx(float(exact.gradient(there)[0]))
    assert arrays.hess(w_, v_).item() == pytest.approx(float(exact.bend(there, along)[0]))


@given(h=POSITIVE, r=POSITIVE, z=st.floats(-9, 9))
def test_the_slope_is_that_of_the_values_and_within_its_bounds(h: Fraction, r: Fraction, z: float) -> None:
    x, step = np.array([[[z]]]), 1e-6
    h_, r_ = (np.array([[[float(n)]]]) for n in (h, r))
    f = Saturating(h_, r_, 0 * h_, np.ones((1, 1)))
    assert (f.value(x + step) - f.value(x - step)).item() / (2 * step) == pytest.approx(f.grad(x).item(), abs=1e-6)
    assert (f.grad(x + step) - f.grad(x - step)).item() / (2 * step) == pytest.approx(
        f.hess(x, 1 + 0 * x).item(), abs=1e-4
    )
    assert abs(f.grad(x).item()) <= float(h * r / 2)
    assert 0 < f.hess(x, 1 + 0 * x).item() <= float(h)


def test_the_kernel_bounds_the_curvature_from_both_sides_and_refuses_other_data() -> None:
    loss = read_loss(Node(LOSS, "loss"), 2)
    assert loss.below(fmpq(2))
    assert not loss.below(fmpq(19, 10))
    assert loss.above(fmpq(0))
    assert not loss.above(fmpq(1, 10**9))
    for broken in ({"r": ["0", "1"]}, {"h": ["-1", "1"]}, {"c": ["0"]}, {"extra": "1"}):
        with pytest.raises((kernel.Rejected, kernel.Malformed)):
            read_loss(Node({**LOSS, **broken}, "loss"), 2)
    with pytest.raises((kernel.Rejected, kernel.Malformed)):
        read_loss(Node({**LOSS, "kind": "os"}, "loss"), 2)
    assert "saturating" in LOSSES


def test_no_search_draws_them_unless_it_is_told_to() -> None:
    reading, world = read_statement(fa.statement("buttaci/thm4.1-I"))
    assert losses()["saturating"].assumption
    assert "saturating" not in {shape.flag("loss") for shape in world.shapes(reading)}


def test_a_hunt_that_is_given_them_refutes_a_broken_bound_and_the_kernel_agrees() -> None:
    printed = fa.statement("classic/gd-rate")
    relation: Any = printed.relations[0]
    broken = replace(
        printed, id="classic/broken", then=relation.func(relation.lhs, relation.rhs / 100), follows_from=()
    )
    reading, world = read_statement(broken)
    own = [shape for shape in world.shapes(reading) if shape.flag("loss") == "bent" and shape.steps <= 2]
    shapes = [replace(s, flags=tuple((k, "saturating" if k == "loss" else v) for k, v in s.flags)) for s in own]
    found = climb(reading, world, shapes, 4, seed=0).best
    replayed = next((x for one in found if (x := certify(reading, world, one)) is not None and not x.holds), None)
    assert replayed is not None
    assert {client["kind"] for client in replayed.instance["clients"]} == {"saturating"}


def test_a_user_names_them() -> None:
    problem = fa.Problem.drawn("saturating", clients=3, dim=2, curvature=2.0, seed=1)
    run = fa.simulate("fedprox", problem, rounds=60, steps=2, gamma=0.5, alpha=0.1)
    assert run["gap"][-1] < run["gap"][0] / 10


def test_they_are_told_as_a_formula() -> None:
    assert in_words(LOSS, 2).latex == (
        r"\frac{1 (w_{1} - 0)^2}{1 + |w_{1} - 0| / 1/2} + \frac{1/2 (w_{2} + 1/3)^2}{1 + |w_{2} + 1/3| / 3}"
    )
