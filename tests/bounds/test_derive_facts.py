"""Each elementary fact is itself a statement: proved, and tested on random numbers."""

from __future__ import annotations

import random

import pytest
from sympy import Integer, Le, Rational, Symbol, diff, exp, factor, log

from fedaudit.bounds.decide import facts
from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.decide.facts import FACTS, Fact
from fedaudit.bounds.decide.sample_points import Sampler
from fedaudit.bounds.decide.violation import violation
from fedaudit.bounds.language.derivation import Induction, Known, Step
from fedaudit.bounds.proofs.step_decisions import prove, settle

PROVED = [fact for fact in FACTS if fact.proof is not None]


def test_three_axioms():
    assert [fact.name for fact in FACTS if fact.proof is None] == ["exp_lower", "log_growth", "log_positive"]


def test_the_axioms_about_log_by_its_derivatives():
    """log(x + h) ≤ log(x) + h/x: the difference vanishes at h = 0 and falls from there; log grows from log(1) = 0."""
    (x,) = facts.log_growth.variables
    h, positive = Symbol("h", positive=True), Symbol("x", positive=True)
    claim = facts.log_growth.conclusion
    f = log(x + h) - log(x) - h / x
    assert claim.lhs - claim.rhs == f.subs(h, 1)
    assert f.subs(h, 0) == 0
    assert factor(diff(f, h).subs(x, positive)) == factor(-h / (positive * (positive + h)))
    assert facts.log_positive.conclusion.lhs.subs(x, 1) == 0
    assert diff(log(positive), positive).is_positive


def test_a_sum_of_sums_is_what_it_says():
    i, n = Symbol("i", integer=True), Symbol("n", integer=True, positive=True)
    made = facts.sum_splits(i, 0, n, i**2, 1 / (i + 1))
    for value in range(4):
        left, right = (side.subs(n, value).doit() for side in made.claim.args)
        assert left == right
    assert [r.claim for r in made.requires] == [Le(0, n + 1)]


def test_the_axiom_about_exp_by_convexity():
    """f = e^x − 1 − x has f(0) = f'(0) = 0 and f'' > 0, so 0 is its minimum."""
    (x,) = facts.exp_lower.variables
    claim = facts.exp_lower.conclusion
    f = claim.rhs - claim.lhs
    assert f.subs(x, 0) == 0
    assert diff(f, x).subs(x, 0) == 0
    assert diff(f, x, 2) == exp(x)
    assert exp(x).is_positive


@pytest.mark.parametrize("fact", PROVED, ids=lambda f: f.name)
def test_proved_from_other_facts(fact: Fact):
    assert all(step.proved for step in prove(fact))


def test_no_fact_rests_on_itself():
    uses = {fact.name: _used(fact.proof(*fact.variables)) if fact.proof else set() for fact in FACTS}
    for name in uses:
        reached, frontier = set(), set(uses[name])
        while frontier:
            reached |= frontier
            frontier = set().union(*(uses.get(f, set()) for f in frontier)) - reached
        assert name not in reached


def test_what_decide_knows_about_powers_is_proved_without_it():
    for fact in (facts.power_sign, facts.power_positive, facts.power_monotone):
        assert all(step.bare for step in fact.proof(*fact.variables))


def _used(steps) -> set[str]:
    found: set[str] = set()
    for item in steps:
        if isinstance(item, Known):
            found.add(item.because)
            for needed in item.requires:
                found |= _used(needed.given)
        elif isinstance(item, Step):
            found |= _used(item.given)
        elif isinstance(item, Induction):
            found |= _used((*item.base, *item.step))
    return found


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.name)
def test_holds_on_random_numbers(fact: Fact):
    conditions = [c for c in fact.conditions if c != True]  # noqa: E712
    sampler = Sampler([fact.conclusion, *fact.variables], conditions)
    assert violation(fact.conclusion, conditions, sampler, 600) is None


@pytest.mark.parametrize("fact", [f for f in FACTS if f.conditions], ids=lambda f: f.name)
def test_conditions_become_requirements(fact: Fact):
    instance = fact(**{v.name: v for v in fact.variables})
    assert [r.claim for r in instance.requires] == list(fact.conditions)


def test_an_exponent_that_is_not_an_integer_is_refused():
    x, half = Symbol("x", positive=True), Rational(1, 2)
    used = Step(Le(x**half, 1), given=(facts.power_le_one(x=x, n=half),))
    assert not settle(used, [Le(x, 1)]).holds


def test_a_fact_does_not_apply_where_its_conditions_fail():
    x, n = Symbol("x", real=True), Symbol("n", integer=True, positive=True)
    used = Step(Le(x**n, x), given=(facts.power_le_base(x=x, n=n),))
    assert decide(used.claim, [used.given[0].claim]).proved
    assert not settle(used).holds


def test_induction_needs_its_start_and_every_step():
    n = Symbol("n", integer=True, nonnegative=True)
    assert settle(Induction(Le(n + 1, 2**n), n)).proved
    assert not settle(Induction(Le(n**2, 2**n), n)).holds  # 3² > 2³
    assert not settle(Induction(Le(5, n), n, start=5)).holds  # nothing says that n starts at 5
    assert settle(Induction(Le(5, n), n, start=5), [Le(5, n)]).proved


def test_names_must_match():
    with pytest.raises(ValueError, match="expected"):
        facts.bernoulli(x=Integer(1))


@pytest.mark.parametrize("seed", range(3))
def test_sums_compare_term_by_term(seed):
    rng = random.Random(seed)
    index = Symbol("i", integer=True, nonnegative=True)
    n = Symbol("n", integer=True, positive=True)
    step = Rational(rng.randint(1, 9), 10)
    known = facts.termwise(Le(step**index, 1), index, 0, n - 1)
    used = Step(Le(known.claim.lhs, n), given=(known,))
    assert settle(used).holds
    wrong = facts.termwise(Le(1, step**index), index, 0, n - 1)
    assert not settle(Step(Le(n, wrong.claim.rhs), given=(wrong,))).holds
