"""One-dimensional piecewise quadratics: the arrays against the kernel's rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples

from fedaudit.problems.losses.pieces import Pieces, staircase
from fedaudit.verify.kernel.core.rational import Rejected
from fedaudit.verify.kernel.losses import pieces as exact

J = 3
NAMES = ("x", "jump", "bend", "a", "s", "c")
rationals = st.fractions(min_value=-3, max_value=3, max_denominator=4)
positive = st.fractions(min_value=Fraction(1, 4), max_value=3, max_denominator=4)


def array(values: Any) -> Any:
    return np.array(values, dtype=object)


@st.composite
def stairs(draw: Any, kinks: bool = True) -> tuple[Pieces, Fraction]:
    """A staircase in rationals and its `limit`."""
    limit = draw(positive)
    rows = {k: [draw(rationals) for _ in range(J)] for k in ("ramp",)}
    rows |= {k: [abs(draw(rationals)) for _ in range(J)] for k in ("jump", "stretch", "flat")}
    jump = array(rows["jump"]) if kinks else 0 * array(rows["jump"])
    start, first = array(draw(rationals)), array(draw(rationals))
    made = staircase(start, first, jump, array(rows["ramp"]), array(limit), array(rows["stretch"]), array(rows["flat"]))
    return made, limit


def floats(f: Pieces) -> Pieces:
    return Pieces(*(np.asarray(getattr(f, name), dtype=np.longdouble) for name in NAMES))


def rational(x: Any) -> fmpq:
    made = Fraction(x)
    return fmpq(made.numerator, made.denominator)


def kernel(f: Pieces) -> exact.Pieces:
    knots = zip(*(np.ravel(getattr(f, name)) for name in ("x", "jump", "bend")), strict=True)
    ends = (rational(np.asarray(getattr(f, name)).item()) for name in ("a", "s", "c"))
    return exact.Pieces(tuple((rational(x), rational(j), rational(b)) for x, j, b in knots), *ends)


def near(a: Any, b: fmpq, tol: float = 1e-9) -> bool:
    return abs(float(a) - float(b)) <= tol * (1 + abs(float(b)))


@settings(max_examples=examples(30), deadline=None)
@given(stairs(), rationals)
def test_values_and_slopes(made: tuple[Pieces, Fraction], w: Fraction) -> None:
    f, limit = made
    one, two = floats(f), kernel(f)
    at = np.array(float(w))
    assert near(one.value(at), two.value(rational(w)))
    assert all(near(a, b) for a, b in zip(one.slopes(at), two.slopes(rational(w)), strict=True))
    assert two.weakly_convex(rational(limit))
    assert near(one.lipschitz(), max(abs(side) for x, _, _ in two.knots for side in two.slopes(x)))
    assert two.lipschitz(max(abs(side) for x, _, _ in two.knots for side in two.slopes(x)))


@settings(max_examples=examples(30), deadline=None)
@given(stairs(), rationals, st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10))
def test_prox(made: tuple[Pieces, Fraction], v: Fraction, unit: Fraction) -> None:
    f, limit = made
    eta = unit / limit
    one, two = floats(f).prox(np.array(float(v)), np.array(float(eta))), kernel(f).prox(rational(v), rational(eta))
    assert near(one, two)
    left, right = kernel(f).plus(1 / rational(eta), rational(v)).slopes(two)
    assert left <= 0 <= right


@settings(max_examples=examples(30), deadline=None)
@given(stairs(), stairs(), rationals)
def test_a_convex_minimiser_is_where_values_are_least(
    one: tuple[Pieces, Fraction], two: tuple[Pieces, Fraction], v: Fraction
) -> None:
    """Knots of a mixture have no order."""
    both = Pieces(*(np.stack([getattr(one[0], name), getattr(two[0], name)]) for name in NAMES))
    mixed = floats(both.mix(array([Fraction(2, 3), Fraction(1, 3)])))
    whole = mixed.plus(np.array(2 * float(one[1] + two[1])), np.array(float(v)))
    assert near(whole.value(whole.convex_least()), rational(Fraction(float(whole.value(whole.least())))))


def test_what_falls_for_ever_has_no_minimiser() -> None:
    x, none = np.array([0.0, 1.0]), np.zeros(2)
    for a, s, bend in ((0.0, 1.0, none), (0.0, -1.0, none), (0.0, -2.0, np.array([1.0, -1.0])), (-1.0, 0.0, none)):
        assert np.isnan(Pieces(x, none, bend, np.array(a), np.array(s), np.array(0.0)).convex_least())
    kink = Pieces(x, np.array([2.0, 0.0]), none, np.array(0.0), np.array(-1.0), np.array(0.0))
    assert kink.convex_least() == 0.0


@settings(max_examples=examples(30), deadline=None)
@given(stairs(kinks=False), rationals, positive)
def test_reach_of_an_inexact_solution(made: tuple[Pieces, Fraction], v: Fraction, eps: Fraction) -> None:
    f, limit = made
    whole = floats(f).plus(np.array(2 * float(limit)), np.array(float(v)))
    low, high = whole.reach(np.array(float(eps)))
    best = whole.convex_least()
    assert low < best < high
    for end in (low, high):
        assert abs(float(whole.value(end) - whole.value(best)) - float(eps)) < 1e-9


@settings(max_examples=examples(30), deadline=None)
@given(stairs(), stairs(), rationals)
def test_mixtures(one: tuple[Pieces, Fraction], two: tuple[Pieces, Fraction], w: Fraction) -> None:
    both = Pieces(*(np.stack([getattr(one[0], name), getattr(two[0], name)]) for name in NAMES))
    weights = array([Fraction(1, 3), Fraction(2, 3)])
    mixed = both.mix(weights)
    expected = exact.mix([fmpq(1, 3), fmpq(2, 3)], [kernel(one[0]), kernel(two[0])])
    assert kernel(mixed) == expected
    assert (
        expected.value(rational(w)) == (kernel(one[0]).value(rational(w)) + 2 * kernel(two[0]).value(rational(w))) / 3
    )


@settings(max_examples=examples(30), deadline=None)
@given(stairs())
def test_least(made: tuple[Pieces, Fraction]) -> None:
    f, two = floats(made[0]), kernel(made[0])
    if not two.bounded_below():
        assert np.isnan(f.least())
        with pytest.raises(Rejected):
            two.least()
        return
    w = two.least()
    assert near(f.value(f.least()), two.value(w))
    grid = [fmpq(k, 4) for k in range(-40, 41)]
    assert all(two.value(u) >= two.value(w) for u in grid)


def test_smoothness_counts_kinks_and_both_signs() -> None:
    flat = exact.Pieces(((fmpq(0), fmpq(0), fmpq(1)), (fmpq(1), fmpq(0), fmpq(-1))), fmpq(0), fmpq(0), fmpq(0))
    assert flat.smooth(fmpq(1))
    assert not flat.smooth(fmpq(9, 10))
    assert flat.lipschitz(fmpq(1))
    assert not flat.lipschitz(fmpq(9, 10))
    kink = exact.Pieces(((fmpq(0), fmpq(2), fmpq(0)),), fmpq(0), fmpq(-1), fmpq(0))
    assert not kink.smooth(fmpq(100))
    assert kink.weakly_convex(fmpq(0))
    assert kink.lipschitz(fmpq(1))
    assert kink.least() == 0
    assert kink.bounded_below()
    dip = exact.Pieces(((fmpq(0), fmpq(-2), fmpq(0)),), fmpq(0), fmpq(1), fmpq(0))
    assert not dip.weakly_convex(fmpq(100))
    assert not dip.bounded_below()
    parabola = exact.Pieces((), fmpq(2), fmpq(-4), fmpq(0))
    assert parabola.least() == 2
    assert not parabola.lipschitz(fmpq(1000))
    curvatures = floats(
        Pieces(*(np.array(v) for v in ([0.0, 1.0], [0.0, 0.0], [1.0, -1.0], 0.0, 0.0, 0.0)))
    ).curvatures()
    assert [float(c) for c in curvatures] == [0.0, 1.0]
