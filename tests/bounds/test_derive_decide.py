"""`decide` must never call a false claim proved, and must prove what the derivations need."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from sympy import E as e
from sympy import (
    Eq,
    Function,
    Ge,
    Gt,
    IndexedBase,
    Le,
    Lt,
    Max,
    Min,
    Ne,
    Pow,
    Rational,
    Sum,
    Symbol,
    erf,
    exp,
    log,
    sqrt,
)
from sympy.logic.boolalg import And, Or

from fedaudit.bounds.decide import smt_proof
from fedaudit.bounds.decide.decision import _decide, decide, proved, refuted
from fedaudit.bounds.decide.sample_points import Sampler, _below, conjuncts, differ
from fedaudit.bounds.decide.violation import violates
from fedaudit.bounds.formulas.evaluator import quantities

x, y, z = (Symbol(name, real=True) for name in "xyz")
a, b, c = (Symbol(name, positive=True) for name in "abc")
s = Symbol("s", nonnegative=True)
n = Symbol("n", integer=True, positive=True)
m = Symbol("m", integer=True, nonnegative=True)
k = Symbol("k", integer=True, nonnegative=True)
gamma, gamma_of = Symbol("gamma", positive=True), Function("gamma", positive=True)
gap = Function("gap", nonnegative=True)
p = IndexedBase("p", real=True)

FALSE = [
    (Ge(x * y, 0), ()),
    (Le(a + 1 / a, 2), ()),
    (Le(x**n, y**n), (Le(x, y),)),  # negative bases
    (Le(x / y, 1), (Le(x, y),)),  # a denominator of either sign
    (Le(1 / x, 1 / y), (Le(y, x), Ne(x, 0), Ne(y, 0))),
    (Gt(m, 0), ()),
    (Gt(s**m, 0), ()),  # 0^1
    (Lt(s**m, 1), (Lt(s, 1),)),  # 0^0 = 1
    (Le(a**m, a), (Le(a, 1),)),  # m = 0
    (Ge(a**n, 1), ()),
    (Le(gamma, gamma_of(n)), ()),  # a symbol and a quantity that share a name
    (Le(gap(n), gap(n + 1)), ()),
    (Eq(gap(0), gap(n)), ()),
    (Ge(Sum(p[k], (k, 1, n)), 0), ()),
    (Le(exp(x), 1 + x + x**2 / 2), ()),
    (Le(exp(-x), 1 / (1 + x)), (Ge(x, -3), Ne(x, -1))),  # the fact needs x > -1
    (Le((1 - x) ** n, exp(-n * x)), ()),  # needs x <= 1
    (Le(e, Rational(2718, 1000)), ()),
    (Le(Min(a, b), c), (Le(a, 2 * c),)),
    (Le(Max(a, b), a + b - c), ()),
    (Le(a, b), (Le(a, Max(b, c)),)),
    (Eq(sqrt(x**2), x), ()),
    (Ge(log(a), 0), ()),
    (Ne(a, b), ()),
    (Eq((1 - a) ** (n + 1), (1 - a) ** n), ()),
    (Eq(x ** (2 * n), -(x**n)), ()),
    (And(Ge(x**2, 0), Gt(x**2, 0)), ()),
    (Or(Gt(x, 1), Lt(x, 1)), ()),
]

UNKNOWN = [  # undefined somewhere, conditions that cannot hold, sums that depend on each other
    (Le(Sum(p[k], (k, 1, n)), Sum(p[k] ** 2, (k, 1, n))), ()),
    (Eq((x**2 - 1) / (x - 1), x + 1), ()),
    (Ge(1 / x**2, 0), ()),
    (Eq(x**m, x * x ** (m - 1)), ()),  # x^(-1) at m = 0
    (Ge(x, 0), (Gt(x, 1), Lt(x, 0))),
    (Le(Symbol("complex"), 1), ()),
    (Ge(sqrt(x), -1), ()),
]

TRUE = [
    (Le(2 * x * y, x**2 + y**2), (), "smt"),
    (Eq((a + b) ** 2, a**2 + 2 * a * b + b**2), (), "identity"),
    (Eq(x ** (n + 1), x * x**n), (), "identity"),
    (Eq(x**n, x * x ** (n - 1)), (), "identity"),
    (Eq((a / b) ** n / b, a**n * b ** (-n - 1)), (), "identity"),
    (Le(x / y, 1), (Le(x, y), Gt(y, 0)), "smt"),
    (Le(a**n, b**n), (Le(a, b),), "smt"),
    (Le(gap(n), c), (Le(gap(n), a), Le(a, Min(b, c))), "smt"),
    (Le(Min(a, b), (a + b) / 2), (), "smt"),
    (Le(Max(a, b), a + b), (), "smt"),
    (Ge(Sum(p[k] ** 2, (k, 1, n)), 0), (), "identity"),
    (Ge(3 * Sum(p[k] ** 2, (k, 1, n)) + gap(0), 2 * Sum(p[m] ** 2, (m, 1, n))), (), "smt"),
    (Le(exp(-a), 1 / (1 + a)), (Le(1 + a, exp(a)),), "smt"),
    (Lt(e**2, 8), (), "identity"),
    (Le(n, n**2), (), "smt"),
    (Eq(a * gap(0), b), (Eq(gap(0), b / a),), "identity"),
]


@pytest.mark.parametrize(("claim", "given"), FALSE, ids=str)
def test_false_claims_are_refuted_at_a_point_that_checks(claim, given):
    decision = decide(claim, given)
    assert decision.status == "false"
    assert decision.point is None or violates(claim, conjuncts(*given), decision.point) or isinstance(claim, And | Or)


@pytest.mark.parametrize(("claim", "given"), UNKNOWN, ids=str)
def test_undefined_claims_are_not_called_true(claim, given):
    assert decide(claim, given).status == "unknown"


@pytest.mark.parametrize(("claim", "given", "how"), TRUE, ids=str)
def test_true_claims_are_proved(claim, given, how):
    decision = decide(claim, given)
    assert decision.proved
    assert how in (decision.how, "identity" if claim == True else how)  # noqa: E712


@pytest.mark.parametrize("claim", [Ge((2 * n - 3) ** 2, 1), Ge(m * (m - 1), 0), Ne(3 * n, 4)], ids=str)
def test_what_holds_for_integers_only_is_neither_refuted_nor_proved_over_the_reals(claim):
    decision = decide(claim)
    assert decision.status == "true"
    assert decision.how == "numeric" or claim == True  # noqa: E712


def test_numeric_truth_is_never_a_proof():
    decision = decide(Le(1 + x, exp(x)))
    assert (decision.status, decision.how, decision.proved) == ("true", "numeric", False)


EVERY = [*FALSE, *UNKNOWN, *((claim, given) for claim, given, _ in TRUE), (Le(1 + x, exp(x)), ())]


@pytest.mark.parametrize(("claim", "given"), EVERY, ids=str)
def test_what_is_asked_alone_is_answered_as_in_full(claim, given):
    decision = decide(claim, given)
    assert refuted(claim, given) == (decision.status == "false")
    assert proved(claim, given) == decision.proved


@pytest.mark.parametrize(("claim", "given"), EVERY, ids=str)
def test_the_engine_that_is_asked_first_changes_no_decision(claim, given, monkeypatch):
    decision = decide(claim, given)
    _decide.cache_clear()
    monkeypatch.setattr(smt_proof, "FIRST_RLIMIT", 1)  # it gives up at once
    assert decide(claim, given) == decision
    _decide.cache_clear()


def test_a_difference_without_a_minus_is_not_false_and_not_called_proved():
    """It may be undefined, or its conditions may contradict each other."""
    for claim, given in ((Ge(a / s, 0), ()), (Ge(a * (b - a), 0), (Le(a, b), Lt(b, a)))):
        assert decide(claim, given, asking="false").status == decide(claim, given).status == "unknown"
    assert refuted(Ge(a * (b - a), 0))
    assert refuted(Ge(n - 2, 0))
    assert not refuted(Ge(n - 1, 0))
    assert not refuted(Ge(a * (c - a), 0), [Le(a, b), Le(b, c)])


def test_conditions_that_name_each_other_in_a_circle_are_read():
    assert not refuted(Ge(a * b - b**2, 0), [Le(a, b), Le(b, a)])


def test_decisions_do_not_depend_on_what_was_asked_before():
    claim, given = Le(a**n + s, b**n + s), (Le(a, b),)
    first = decide(claim, given)
    for seed in range(3):
        decide(Le(b, a + seed))
    _decide.cache_clear()
    assert decide(claim, given) == first


def test_points_meet_the_conditions_and_reach_their_boundary():
    limit = Min(1 / (2 * a), 1 / (b + c))
    given = (Le(gamma, limit), Le(b, a), Gt(c, 2 / b), Ge(n, 2))
    sampler = Sampler([gamma * n], given)
    points = list(sampler.points("test", 200))
    assert len(points) == 200
    for point in points:
        bound = min(1 / (2 * point[a]), 1 / (point[b] + point[c]))
        assert 0 < point[gamma] <= bound
        assert point[b] <= point[a]
        assert point[c] > 2 / point[b]
        assert point[n] >= 2
        assert point[n].denominator == 1
    assert any(q[gamma] == min(1 / (2 * q[a]), 1 / (q[b] + q[c])) for q in points)


def test_points_on_an_equation_meet_the_other_bounds_and_the_sign_of_the_variable():
    points = Sampler([a], (Eq(a, x), Le(a, 1))).points("equation", 100)
    assert all(0 < point[a] == point[x] <= 1 for point in points)
    inside = list(Sampler([x**2], (Ge(x, -1), Le(x, 1))).points("interval", 300))
    assert len(inside) == 300
    assert all(-1 <= point[x] <= 1 for point in inside)
    assert decide(Le(a, 1), (Eq(a, b), Le(a, 1))).status != "false"
    assert decide(Le(x**2, 1), (Ge(x, -1), Le(x, 1))).status == "true"


def test_a_definition_keeps_what_the_domain_of_its_name_says():
    whole, negative = Function("whole", integer=True, positive=True), Function("negative", negative=True)
    assert decide(Ge(whole(0) ** 2, whole(0)), (Eq(whole(0), a),)).status != "false"
    assert decide(Lt(negative(0), 1), (Eq(negative(0), x),)).status == "true"


def test_draws_are_those_of_the_standard_library():
    one, two = random.Random("draws"), random.Random("draws")
    for count in (1, 2, 6, 9, 10, 300, 900) * 200:
        assert _below(one, count) == two.randrange(count)


def test_formulas_differ_where_a_point_tells_them_apart():
    p = IndexedBase("p", nonnegative=True)
    sums = [Sum(p[index], (index, 1, n)) for index in (Symbol("k", integer=True), Symbol("l", integer=True))]
    assert differ(a * b, a * b + a)
    assert differ(sqrt(a), a)
    assert differ(exp(-a), 1 / (1 + a))
    assert not differ((a + b) ** 2, a**2 + 2 * a * b + b**2)
    assert not differ(sqrt(a * b), sqrt(a) * sqrt(b))
    assert not differ(*sums)  # one sum under two names
    assert not differ(erf(a), erf(2 * a))  # nobody looked


def test_quantities_tell_a_symbol_from_a_function_of_the_same_name():
    assert set(quantities(gamma + gamma_of(n))) == {gamma, gamma_of(n)}
    assert set(quantities(Sum(p[k] ** 2, (k, 1, n)) + Sum(a**k, (k, 0, n)))) == {
        Sum(p[k] ** 2, (k, 1, n)),
        a,
        n,
    }


def test_a_violation_outside_the_domain_does_not_count():
    assert not violates(Gt(a, 0), (), {a: Fraction(-1)})
    assert not violates(Ge(2 * n, 3), (), {n: Fraction(1, 2)})
    assert not violates(Ge(Pow(x, -1), 0), (), {x: Fraction(0)})


def test_a_point_may_give_a_sum_that_has_constants_inside():
    t, bound = Symbol("t", integer=True, nonnegative=True), Symbol("L", positive=True)
    total = Sum(2 * bound * Function("gamma", positive=True)(t), (t, 0, 3))
    assert violates(Le(total, bound), (), {total: Fraction(3), bound: Fraction(1)})
    assert not violates(Le(total, bound), (), {total: Fraction(1), bound: Fraction(3)})


def test_roots_of_one_number_are_powers_of_one_root() -> None:
    """T^(1/6) T^(1/3) = sqrt(T) is no accident of sampling: sixth roots alone are any positive reals."""
    sixth, third, half = (x ** Rational(1, n) for n in (6, 3, 2))
    assert decide(Le(sixth * third / half, 1, evaluate=False), [Gt(x, 0)]).proved
    joined = Eq(y * sixth + y * third, y * sixth * (1 + sixth), evaluate=False)
    assert decide(joined, [Gt(x, 0)]).proved
    assert decide(Le(third, half), [Ge(x, 1)]).proved
    assert decide(Le(third, half), [Gt(x, 0)]).status == "false"
    assert not decide(Eq(third, sixth * Rational(101, 100), evaluate=False), [Gt(x, 0)]).proved
