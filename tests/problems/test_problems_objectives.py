"""The losses declare what is true of them: gradients, L, mu, minimisers, f_*, Gamma."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from libraries import LIBRARIES, library
from marks import examples

from fedaudit.problems.losses.piecewise import Piecewise
from fedaudit.problems.losses.quadratics import Quadratics, argmin
from fedaudit.problems.losses.wells import Wells

settings.register_profile("problems", max_examples=examples(60), deadline=None)
QUICK = settings.get_profile("problems")


def eighths(low, high):
    """Short floats: sums and products of a few are exact."""
    return st.integers(8 * low, 8 * high).map(lambda n: n / 8)


@st.composite
def weights(draw, C, signed=False):
    parts = draw(arrays(np.float64, (C,), elements=eighths(-1 if signed else 0, 2)))
    assume(abs(parts.sum()) >= 0.5)
    return parts / parts.sum()


@st.composite
def quadratics(draw, signed=False):
    C, d = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    R = draw(arrays(np.float64, (C, d, d), elements=eighths(-2, 2)))
    A = R @ R.swapaxes(-1, -2) + draw(eighths(0, 2)) * np.eye(d)
    return Quadratics(A, draw(arrays(np.float64, (C, d), elements=eighths(-3, 3))), draw(weights(C, signed)))


@st.composite
def piecewise(draw, signed=False):
    C, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    a, m, lo, hi = (draw(arrays(np.float64, (C, d), elements=eighths(0, 2))) for _ in range(4))
    return Piecewise(a, m, lo, hi, draw(arrays(np.float64, (C, d), elements=eighths(-3, 3))), draw(weights(C, signed)))


def objectives(signed=False):
    return quadratics(signed) | piecewise(signed)


def points(problem, draw, n=2):
    shape = (problem.C, problem.d)
    return [draw.draw(arrays(np.float64, shape, elements=eighths(-5, 5))) for _ in range(n)]


@QUICK
@given(objectives(), st.data())
def test_gradient_is_the_slope_of_the_value(problem, data):
    x, y = points(problem, data)
    # gradients are piecewise linear along x + s (y - x): 2,000 trapezia integrate them up to their few kinks
    s = np.linspace(0, 1, 2001)[:, None, None]
    slopes = np.sum(problem.grad(x + s * (y - x)) * (y - x), axis=-1)
    rise = np.trapezoid(slopes, s[:, 0], axis=0)
    size = np.sum(np.abs(y - x) ** 2) * problem.smoothness()
    np.testing.assert_allclose(problem.value(y) - problem.value(x), rise, atol=1e-6 * (1 + size))


@QUICK
@given(quadratics(), st.data())
def test_quadratic_value_is_its_taylor_polynomial(problem, data):
    x, h = points(problem, data)
    taylor = np.sum(h * problem.grad(x), -1) + 0.5 * np.einsum("ci,cij,cj->c", h, problem.A, h)
    np.testing.assert_allclose(problem.value(x + h) - problem.value(x), taylor, rtol=1e-10, atol=1e-10)


@QUICK
@given(objectives(), st.data())
def test_smoothness_and_strong_convexity_bound_every_pair(problem, data):
    x, y = points(problem, data)
    inner = np.sum((problem.grad(x) - problem.grad(y)) * (x - y), axis=-1)
    square = np.sum((x - y) ** 2, axis=-1)
    rounding = 1e-12 * (1 + problem.smoothness()) * (1 + square)
    assert np.all(inner <= problem.smoothness() * square + rounding)
    assert np.all(inner >= problem.strong_convexity() * square - rounding)


@QUICK
@given(quadratics())
def test_quadratic_constants_are_attained(problem):
    eigenvalues, vectors = np.linalg.eigh(problem.A)
    assert problem.smoothness() == pytest.approx(np.abs(eigenvalues).max(), rel=1e-12, abs=1e-12)
    assert problem.strong_convexity() == pytest.approx(eigenvalues.min(), rel=1e-12, abs=1e-12)
    top = np.unravel_index(np.abs(eigenvalues).argmax(), eigenvalues.shape)
    x = vectors[top[0], :, top[1]]
    slope = problem.grad(np.broadcast_to(x, problem.b.shape))[top[0]] - problem.grad(np.zeros_like(problem.b))[top[0]]
    assert np.linalg.norm(slope) == pytest.approx(problem.smoothness(), rel=1e-9, abs=1e-9)


@QUICK
@given(objectives(signed=True), st.data())
def test_nothing_beats_the_minimiser(problem, data):
    w_star = problem.minimiser()
    assume(np.all(np.isfinite(w_star)))
    f = lambda w: np.sum(problem.p * problem.value(w[..., None, :]), axis=-1)  # noqa: E731
    others = data.draw(arrays(np.float64, (20, problem.d), elements=eighths(-6, 6)))
    others = np.concatenate([others, w_star + others / 1000])
    scale = 1 + np.abs(f(others)) + np.abs(problem.p).sum() * np.abs(problem.value(w_star[None, :])).max()
    scale = scale * (1 + np.abs(w_star).max() ** 2)
    assert np.all(f(others) >= problem.optimum() - 1e-12 * scale)
    assert np.all(np.abs(problem.gap(others, w_star) - (f(others) - problem.optimum())) <= 1e-10 * scale)


@QUICK
@given(objectives())
def test_minimisers_are_stationary_and_gamma_is_not_negative(problem):
    w, w_star = problem.minimisers(), problem.minimiser()
    if np.all(np.isfinite(w)):
        size = 1 + problem.smoothness() * (1 + np.abs(w).max())
        assert np.all(np.abs(problem.grad(w)) <= 1e-9 * size)
    if np.all(np.isfinite(w_star)):
        size = 1 + problem.smoothness() * (1 + np.abs(w_star).max())
        assert np.all(np.abs(problem.average(problem.grad(w_star[None, :]))) <= 1e-9 * size)
    if np.all(np.isfinite(w)) and np.all(np.isfinite(w_star)):
        gamma = problem.heterogeneity()
        assert gamma >= 0
        direct = problem.optimum() - np.sum(problem.p * problem.value(w))
        np.testing.assert_allclose(gamma, direct, rtol=1e-8, atol=1e-8 * (1 + np.abs(w).max() ** 2))


def test_piecewise_root_by_hand():
    """p = (1/2, 1/2), phi_1' = 2 clip(w, -1, 3), phi_2' = w - 10: f' = 0 where clip is 3, at w = 4."""
    row = lambda *x: np.array(x)[:, None]  # noqa: E731
    problem = Piecewise(
        row(2.0, 1.0), row(0.0, 1.0), row(1.0, 1.0), row(3.0, 1.0), row(0.0, 10.0), np.array([0.5, 0.5])
    )
    assert problem.minimiser() == 4
    assert problem.optimum() == 0.5 * (9 + 6) + 0.5 * 18
    assert problem.heterogeneity() == problem.optimum()
    assert problem.smoothness() == 2
    assert problem.strong_convexity() == 0


def test_a_curvature_that_never_occurs_does_not_count():
    one = np.ones((1, 1))
    problem = Piecewise(5 * one, 2 * one, 0 * one, 0 * one, one, np.ones(1))
    assert (problem.smoothness(), problem.strong_convexity()) == (2, 2)


def test_negative_weights_may_leave_no_minimiser():
    one = np.ones((2, 1))
    unbounded = Piecewise(one, one, one, one, np.array([[0.0], [1.0]]), np.array([-1.0, 2.0]))
    assert unbounded.minimiser() == pytest.approx(2)
    assert np.isnan(Piecewise(one, one * [[3], [1]], one, one, 0 * one, np.array([-1.0, 2.0])).minimiser())


def test_argmin_of_singular_quadratics():
    A = np.array([[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(argmin(A, np.array([2.0, 2.0])), [1, 1], atol=1e-12)  # the one of least norm
    assert np.all(np.isnan(argmin(A, np.array([1.0, -1.0]))))  # unbounded below
    assert argmin(np.zeros((1, 1)), np.zeros(1)) == 0
    assert np.isnan(argmin(-np.ones((1, 1)), np.zeros(1)))


def good():
    return {"A": np.eye(2)[None].repeat(3, 0), "b": np.zeros((3, 2)), "p": np.full(3, 1 / 3)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": np.full((3, 2), np.nan)}, "NaN or infinity in b"),
        ({"A": np.full((3, 2, 2), np.inf)}, "NaN or infinity in A"),
        ({"p": np.full(3, 0.5)}, "weights that sum to 1"),
        ({"p": np.full(2, 0.5)}, "trailing axes"),
        ({"b": np.zeros((2, 2))}, "clients"),
        ({"b": np.zeros((3, 1))}, "trailing axes"),
        ({"A": np.ones((5, 3, 2, 2)), "b": np.zeros((4, 3, 2))}, "broadcast"),
        ({"A": np.array([[1.0, 2.0], [0.0, 1.0]])[None].repeat(3, 0)}, "not symmetric"),
    ],
)
def test_bad_quadratics_in_one_line(change, message):
    with pytest.raises(ValueError, match=message) as error:
        Quadratics(**(good() | change))
    said = str(error.value)
    assert "\n" not in said
    assert said.startswith("got ")
    assert "expected " in said
    assert "do: " in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": -np.ones((2, 1))}, "a negative a"),
        ({"lo": -np.ones((2, 1))}, "a negative lo"),
        ({"c": np.full((2, 1), np.nan)}, "NaN or infinity in c"),
        ({"m": np.ones((3, 1))}, "trailing axes"),
        ({"p": np.ones(2)}, "weights that sum to 1"),
    ],
)
def test_bad_piecewise_in_one_line(change, message):
    one = np.ones((2, 1))
    with pytest.raises(ValueError, match=message):
        Piecewise(**({"a": one, "m": one, "lo": one, "hi": one, "c": one, "p": np.full(2, 0.5)} | change))


ANSWERS = ("smoothness", "minimiser", "optimum")


@pytest.mark.parametrize("other", LIBRARIES)
@pytest.mark.parametrize("kind", [Quadratics, Piecewise, Wells])
def test_losses_answer_the_same_on_another_library(other, kind):
    """Values, slopes, curvature along a vector, the gap, and the constants that each of them declares."""
    xp, rng = library(other), np.random.default_rng(4)
    n, C, d = 3, 4, 2
    p = rng.dirichlet(np.ones(C), size=n)
    R = rng.normal(size=(n, C, d, d))
    inner = rng.uniform(-1 if kind is Wells else 0, 2, size=(n, C, d))
    bent = (inner, *(rng.uniform(0.1, 2, size=(n, C, d)) for _ in range(3)), rng.normal(size=(n, C, d)), p)
    parts = (R @ R.swapaxes(-1, -2), rng.normal(size=(n, C, d)), p) if kind is Quadratics else bent
    here, there = kind(*parts), kind(*map(xp.asarray, parts))
    w, v = rng.normal(size=(2, n, C, d))
    more = () if kind is Wells else ("strong_convexity", "minimisers", "heterogeneity")
    found = {name: [getattr(one, name)() for one in (here, there)] for name in (*ANSWERS, *more)}
    for name, given_ in {"value": (w,), "grad": (w,), "hess": (w, v), "average": (w,)}.items():
        found[name] = [getattr(here, name)(*given_), getattr(there, name)(*map(xp.asarray, given_))]
    points_ = w[:, 0], here.minimiser()
    found["gap"] = [here.gap(*points_), there.gap(*map(xp.asarray, points_))]
    for name, (ours, theirs) in found.items():
        assert type(theirs) is type(xp.zeros(1)), name
        np.testing.assert_allclose(np.asarray(theirs), ours, rtol=1e-11, atol=1e-12, err_msg=name)
