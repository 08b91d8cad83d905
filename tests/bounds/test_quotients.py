"""Rational functions by python-flint: what sympy's `cancel` gives, term by term."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from marks import examples
from sympy import Add, Function, Integer, Mul, Pow, Rational, Symbol, cancel, factor_list, nan, sqrt, together, zoo

from fedaudit.bounds.decide.rational_functions import cancelled, factors_of, never_negative, over_common, vanishes

x, y = Symbol("x", positive=True), Symbol("y", real=True)
gap, t = Function("gap", real=True), Symbol("t", integer=True, nonnegative=True)
leaves = st.sampled_from([x, y, gap(t), t, Integer(1), Integer(-2), Rational(3, 4), Rational(-1, 6)])
formulas = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.tuples(part, part).map(lambda pair: Add(*pair)),
        st.tuples(part, part).map(lambda pair: Mul(*pair)),
        st.tuples(part, st.sampled_from([-2, -1, 2, 3])).map(lambda pair: pair[0] if pair[0] == 0 else Pow(*pair)),
    ),
    max_leaves=8,
)


@settings(max_examples=examples(200), deadline=None)
@given(formulas)
def test_is_what_sympy_gives(formula):
    assume(not formula.has(zoo, nan))
    plain = cancel(together(formula))
    assert cancelled(formula) == plain
    assert vanishes(formula) == (plain == 0)
    top, below = over_common(formula)
    assert below.expand() == plain.as_numer_denom()[1].expand()
    quotient = cancel(top / below / plain) if plain != 0 else Integer(1)  # x to some power: it is positive
    assert quotient.is_positive


def test_positive_factors_of_the_numerator_go_and_others_stay():
    assert over_common((x**2 * y + x * y**2) / (2 * y + 2)) == (y * (x + y), 2 * y + 2)
    assert over_common(x - x * y / y) == (0, 1)


def test_what_is_no_rational_function_is_left_to_sympy():
    assert cancelled(sqrt(x) * y / sqrt(x)) == y
    assert cancelled((sqrt(x) ** 2 - 1) / (x - 1)) == 1
    assert not vanishes(sqrt(x) - y)
    assert vanishes(sqrt(x) * sqrt(x) - x)
    assert cancelled(Rational(3, 4)) == Rational(3, 4)
    assert over_common(Integer(5) - Rational(1, 2)) == (9, 2)


def test_factors_are_sympys():
    product = 6 * (x - y) ** 2 * (x + 1) * x
    number, parts = factors_of(product.expand())
    assert (number, set(parts)) == (6, set(factor_list(product.expand())[1]))
    assert factors_of(Integer(7))[1] == []


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=6),
    st.tuples(*[st.fractions(0, 5, max_denominator=7)] * 3),
)
def test_what_shows_no_minus_is_not_negative(terms, more):
    """Of u >= 1, v >= u and w >= 0."""
    u, v, w = (Symbol(name, nonnegative=True) for name in "uvw")
    polynomial = Add(*(c * u**i * v**j * w**k for c, i, j, k in terms))
    a, b, c = map(Rational, more)
    if never_negative(polynomial, {u: Integer(1), v: u, w: Integer(0)}):
        assert polynomial.subs({u: 1 + a, v: 1 + a + b, w: c}) >= 0


def test_the_least_values_are_used():
    u, v = (Symbol(name, nonnegative=True) for name in "uv")
    assert never_negative(u * v - u**2, {u: Integer(0), v: u})
    assert not never_negative(u * v - u**2, {u: Integer(0), v: Integer(0)})
    assert never_negative(v**2 - 1, {v: Integer(1)})
    assert not never_negative(u - v, {u: Integer(0)})
    assert never_negative(Integer(2), {})
    assert not never_negative(Integer(-2), {})
