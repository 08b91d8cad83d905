"""Trees: what sympy says, what NumPy computes and what the kernel decides agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from marks import examples, some
from sympy import E, Function, IndexedBase, Max, Min, Ne, Pow, Rational, Sum, Symbol, exp, log
from sympy.logic.boolalg import And, Implies, Not, Or, false, true

from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.formulas.evaluator import Compiled, Undefined, compiled
from fedaudit.bounds.formulas.lowering import tree
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly, rational, simpler, size
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.search.tree_arrays import Evaluator, Quantity, Table, UnknownName

x, y = Symbol("x", positive=True), Symbol("y", positive=True)
i, n = Symbol("i", integer=True), Symbol("n", integer=True, positive=True)
p, q = IndexedBase("p"), Function("q")

EXPRESSIONS = [
    x + 2 * y,
    x * y - Rational(3, 7),
    Pow(x, 3) / y,
    Pow(1 - x / (x + y), n),
    Min(x, y, 2) + Max(x, 1 / y),
    exp(-x) + log(1 + y),
    Sum(p[i] ** 2, (i, 1, 3)) * x,
    Sum((1 - x / (1 + x)) ** i, (i, 0, n - 1)),
    Sum(Sum(p[i] * x**n, (i, 1, 3)), (n, 0, 2)),
    x * exp(1),
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@given(
    st.tuples(st.floats(0.01, 10), st.floats(0.01, 10), st.integers(1, 6)),
    st.lists(st.floats(0.1, 1), min_size=3, max_size=3),
)
@settings(max_examples=examples(15), deadline=None)
def test_numpy_agrees_with_sympy(expr: object, values: tuple[float, float, int], weights: list[float]) -> None:
    a, b, m = values
    table = Table(
        2,
        {"x": np.array([a, a]), "y": np.array([b, b])},
        {"p": Quantity(np.array([weights, weights]), (1,))},
        {"n": m},
    )
    got = np.broadcast_to(Evaluator(table, {})(tree(expr)), (2,))
    exact = expr.subs({x: Rational(a), y: Rational(b)}).subs(n, m).doit()
    want = float(exact.subs({p[k + 1]: Rational(w) for k, w in enumerate(weights)}))
    assert got == pytest.approx(want, rel=1e-12)


SCALAR = [expr for expr in EXPRESSIONS if not expr.has(p)]


@pytest.mark.parametrize("expr", SCALAR, ids=str)
@given(st.tuples(*[st.fractions("1/9", 9, max_denominator=9)] * 2, st.integers(1, 6)))
@settings(max_examples=examples(15), deadline=None)
def test_the_three_arithmetics_of_bounds_agree_with_sympy(expr: object, values: tuple[Fraction, ...]) -> None:
    arguments = (x, y, n)
    ready = compiled(expr, arguments)
    want = expr.subs(dict(zip(arguments, map(Rational, values), strict=True))).doit()
    exact = ready.exact([Fraction(v) for v in values])
    assert (exact is None) == expr.has(exp, log, E)
    assert exact is None or Rational(exact) == want
    assert ready.float([float(v) for v in values]) == pytest.approx(float(want), rel=1e-12)
    assert abs(ready.precise([Fraction(v) for v in values]) - want.evalf(60)) < 1e-50


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (And(x < y, y > 1), True),
        (Or(x > y, Ne(x, 2)), False),
        (Not(x > y), True),
        (Implies(x < y, y < 1), False),
        (true, True),
        (false, False),
    ],
)
def test_relations_are_joined_by_logic(claim: object, holds: bool) -> None:
    assert bool(compiled(claim, (x, y)).exact([Fraction(2), Fraction(5, 2)])) is holds


def test_what_has_no_value_is_said() -> None:
    with pytest.raises(Undefined, match="negative"):
        compiled(Pow(x - y, Rational(1, 2)), (x, y)).exact([Fraction(1), Fraction(2)])
    with pytest.raises(Undefined):
        compiled(x / (y - 1), (x, y)).float([1.0, 1.0])
    with pytest.raises(Undefined):
        compiled(x * Rational(10) ** 400, (x,)).float([1.0])
    with pytest.raises(TypeError, match="expected only"):
        compiled(x + y, (x,))


def test_a_power_too_large_is_no_rational() -> None:
    ready = Compiled(x**50 + 1, (x,))
    assert ready.rational([fmpq(3) ** 400]) is None
    assert ready.rational([fmpq(3) ** 4]) is not None


def test_a_name_of_a_sum_is_its_own() -> None:
    """A free symbol may have the name of a summation index."""
    expr = i + Sum(i**2, (i, 1, 3))
    assert compiled(expr, (i,)).exact([Fraction(7)]) == 21


@pytest.mark.parametrize("kind", [np.float64, np.longdouble])
def test_powers_are_powers_whether_they_are_products_or_not(kind: type[np.floating]) -> None:
    values = np.array([0.3, 1.0, 7.5, 1e-40, 1e40, np.inf, np.nan]).astype(kind)
    evaluator = Evaluator(Table(len(values), {"x": values}, {}, {}), {})
    for power in (-5, -4, -1, -Rational(1, 2), Rational(1, 3), Rational(1, 2), Rational(5, 2), 2, 3, Rational(7, 2), 6):
        expected = values ** kind(float(power))
        assert np.allclose(evaluator(tree(x**power)), expected, rtol=8 * np.finfo(kind).eps, atol=0, equal_nan=True)


def test_indices_broadcast_and_shift() -> None:
    t, k = Symbol("t", integer=True), Symbol("k", integer=True)
    gap = Function("gap")
    values = np.arange(12.0).reshape(2, 6)
    table = Table(2, {}, {"gap": Quantity(values, (0,))}, {"T": 5, "E": 2})
    evaluator = Evaluator(table, {"t": ("0", ["+", "T", "-1"]), "k": ("0", "E")})
    assert evaluator.shape == (2, 5, 3)
    got = np.broadcast_to(evaluator(tree(gap(t + 1) - gap(t) + k)), evaluator.shape)
    assert np.array_equal(got, np.broadcast_to(1.0 + np.arange(3), (2, 5, 3)))
    assert np.array_equal(evaluator(tree(gap(0)))[:, 0, 0], values[:, 0])


def test_an_index_out_of_range_is_refused() -> None:
    t = Symbol("t", integer=True)
    table = Table(1, {}, {"gap": Quantity(np.zeros((1, 3)), (0,))}, {"T": 2})
    evaluator = Evaluator(table, {"t": ("0", "T")})
    with pytest.raises(IndexError):
        evaluator(tree(Function("gap")(t + 1)))
    with pytest.raises(UnknownName):
        evaluator("nobody")


def test_the_ends_of_a_sum_may_depend_on_the_indices_around_it() -> None:
    """Also where a sum is empty, and where a place that does not count would leave the quantity's range."""
    values = np.array([[1.0, 10.0, 100.0, 1000.0]])
    table = Table(1, {}, {"q": Quantity(values, (0,))}, {"n": 4})
    until = Evaluator(table, {"k": (0, "n")})(["sum", "j", 0, ["+", "k", "-1"], ["at", "q", "j"]])
    since = Evaluator(table, {"k": (0, "n")})(["sum", "j", "k", ["+", "n", "-1"], ["at", "q", "j"]])
    assert until.tolist() == [[0, 1, 11, 111, 1111]]
    assert since.tolist() == [[1111, 1110, 1100, 1000, 0]]
    row = np.array([[[1.0, 2.0, np.inf], [4.0, 8.0, 16.0]]])  # running sums along the second of three axes, one per t
    two = Table(1, {}, {"q": Quantity(row, (0, 1))}, {})
    runs = Evaluator(two, {"t": (0, 1), "k": (0, 3)})(["sum", "j", 1, "k", ["at", "q", "t", "j"]])
    assert runs.tolist() == [[[0, 1, 3, np.inf], [0, 4, 12, 28]]]
    same = Evaluator(two, {"k": (0, 3)})(["sum", "j", 1, "k", "5"])
    assert np.array_equal(same, [[0, 5, 10, 15]])
    back = Evaluator(table, {"k": (1, "n")})(["sum", "j", 1, "k", ["at", "q", ["+", "k", ["*", "-1", "j"]]]])
    assert back.tolist() == [[1, 11, 111, 1111]]


def test_a_sum_over_nothing_is_zero() -> None:
    table = Table(1, {}, {}, {"E": 1})
    assert Evaluator(table, {})(tree(Sum(i, (i, 1, Symbol("E") - 1)))) == 0


# Of orders the kernel tells powers of n where floats tell values (see test_order); experiments have no kernel.
MEASURED = [s.id for s in statements() if s.method not in ("order", "network_limit") and s.kind != "experiment"]


@pytest.mark.parametrize("identifier", some(MEASURED, 20, "the whole catalogue"))
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None, derandomize=True)  # a few of very many: the same ones on every machine
def test_floats_agree_with_the_kernel(identifier: str, seed: int) -> None:
    """On random rational instances both evaluate the same index to the same ratio."""
    reading, world = read(next(s for s in statements([identifier])))
    rng = np.random.default_rng(seed)
    by_cost = sorted(world.shapes(reading), key=lambda s: s.cost)
    shapes = [s for s in by_cost if s.cost <= 40] or by_cost[:3]
    shape = shapes[int(rng.integers(len(shapes)))]
    genes = genes_of(reading, world, shape)
    genome = exactly(genes, draw(genes, 1, rng), 0, 2)
    made = replay(reading, world, shape, genome)
    scores = score(reading, world, shape, {k: np.asarray(v, dtype=float)[None] for k, v in genome.items()})
    measured = [np.abs(q.values.astype(float)) for q in scores.table.quantities.values() if q.values.size]
    assume(all(not (values > 1e15).any() for values in measured))  # of a run that explodes only rounding is left
    if made is None:  # not admissible: floats must not count it for or against by more than rounding
        assert not scores.margin[0] > 1e-6
        return
    unit = reading.lowered.units[scores.at[0]["relation"]]
    f, w = scores.table.scale or (np.zeros(1), np.ones(1))  # differences of values of this size are rounded
    natural = float(f[0]) ** unit[0] * float(w[0]) ** unit[1]
    for side, value in (("lhs", scores.lhs[0]), ("rhs", scores.rhs[0])):
        middle, _, radius = getattr(made, side).partition(" +/- ")  # a bracket is wide: floats give a point of it
        rounding = max(1e-6 * abs(float(value)), 1e-12 * abs(float(scores.rhs[0])), 1e-12 * natural)
        assert abs(_float(middle) - float(value)) <= float(Fraction(radius or 0)) + rounding


def _float(text: str) -> float:
    """Of a decimal or of a fraction with any number of digits."""
    return (
        float(Fraction(text)) if {".", "e"} & set(text) else float(Fraction(*(int(fmpz(n)) for n in text.split("/"))))
    )


@given(st.floats(1e-9, 1e9), st.integers(1, 10))
def test_rationals_stay_close_and_inside(value: float, digits: int) -> None:
    made = rational(value, digits, "positive")
    assert made > 0
    assert float(made) == pytest.approx(value, rel=2 * 10.0**-digits)
    assert rational(min(value, 1.0), digits, "unit") <= 1


@given(st.fractions(max_denominator=10**6), st.sampled_from(["real", "positive", "unit", "fraction", "nonnegative"]))
def test_simpler_values_are_shorter_and_inside(value: Fraction, kind: str) -> None:
    for made in simpler(value, kind):
        assert size(made) < size(value)
        assert kind == "real" or made >= 0
        assert kind not in ("unit", "fraction") or made <= 1
        assert kind not in ("unit", "positive") or made > 0
