"""Orders of growth: the kernel's leading terms against sympy's limits, searches that find the path, and dominance."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
import z3
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples

from fedaudit.bounds.decide.dominance import Exponents, dominance
from fedaudit.bounds.language.algebra import Eq, Ge, Le, Lt, Max, Min, Rational, Sum, log, sqrt
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.expression import Op, Tree
from fedaudit.verify.kernel.core.rational import Rejected
from fedaudit.verify.kernel.worlds import order
from fedaudit.verify.kernel.worlds.order import Growth, Paths, constant
from fedaudit.verify.moves.audit import audit, hunt, read
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.settings.order import EXACT_ROWS

GLOSSARY = Glossary()
x = GLOSSARY.symbol("x", "1", "a number")
y = GLOSSARY.symbol("y", "1", "a number")
b = GLOSSARY.symbol("b", "1", "a number below 1")
s = GLOSSARY.symbol("s", "1", "a number that may be 0", nonnegative=True)
T = GLOSSARY.count("T", "rounds")
E = GLOSSARY.count("E", "local steps")

RNG = np.random.default_rng(0)


def claim(then: Any, *let: Assumption, when: tuple[Any, ...] = ()) -> Statement:
    return Statement(id="mine/order", kind="order", title="an order", cite="a test", method="order",
        glossary=GLOSSARY, then=then, when=when, let=let)  # fmt: skip


def fixed(*which: Any) -> Assumption:
    return Assumption("fixed", which, "constants")


TRUE = [
    claim(Le(x * y, x**2 + y**2)),
    claim(Le(sqrt(x + y), sqrt(x) + sqrt(y))),
    claim(Eq(Max(x, y), x + y)),
    claim(Le(Min(x, y), 2 * x * y / (x + y))),
    claim(Le((1 - 1 / b) ** 2 * x, x * (1 - b) / b**2), when=(Lt(b, 1),)),
    claim(Le((E - 1) * x, E * x)),
    claim(Le(x**2, y**3), when=(Ge(y, x), Ge(x, 1))),
    claim(Le(s * x / (x + y), s)),
    claim(Le(x**2 * T, y * T + T), fixed(x, y)),
    claim(Ge(x + y, sqrt(x * y))),
]
FALSE = [
    (claim(Le(x * y, x**2 + y)), {"x": [["1", "1/2"]], "y": [["1", "1"]]}),
    (claim(Le((1 - 1 / b) ** 2, (1 - b) ** 3 / b**2), when=(Lt(b, 1),)), {"b": [["1", "0"], ["-1", "-1"]]}),
    (claim(Le(log(T + 1), 1)), {"T": [["1", "1"]]}),
    (claim(Le(x**2, y ** Rational(3, 2)), when=(Ge(y, x), Ge(x, 1))), {"x": [["1", "1"]], "y": [["1", "1"]]}),
    (claim(Ge(sqrt(x * y), x + y)), None),
    (claim(Eq(T**2, T + 1)), {"T": [["1", "1"]]}),
    (claim(Lt(x, y), when=(Le(x, y),)), None),
    (claim(Le(x, s)), {"x": [["1", "0"]], "s": []}),
]


@pytest.mark.parametrize("made", TRUE, ids=lambda m: str(m.then))
def test_true_orders_are_proved_and_never_refuted(made: Statement) -> None:
    assert all(d.proved for d in dominance(made)), dominance(made)
    row = hunt(made, 0, 0.1).row()
    assert row["verdict"] == "survived"
    assert row["tightness"] <= 0


def test_a_proof_is_the_verdict() -> None:
    """It is exactly tight where both sides are of one order on every path.

    The other one is tight where two powers are equal, and they are drawn from a continuum: what is proved gets a
    sample and no climb, so that its tightness says how close to equal powers that sample came.
    """
    rows = [audit(made, 0, 0.1).row() for made in TRUE[:2]]
    assert [(row["verdict"], row["how"]) for row in rows] == [("proved", "dominance")] * 2
    assert -0.01 < rows[0]["tightness"] <= 0
    assert rows[1]["tightness"] == 0


@pytest.mark.parametrize(("made", "paths"), FALSE, ids=lambda m: str(getattr(m, "then", "")))
def test_false_orders_are_refuted_by_a_simple_path(made: Statement, paths: dict[str, Any] | None) -> None:
    assert not derive(made, {}).proved
    row = hunt(made, 0, 0.1).row()
    assert (row["verdict"], row["how"]) == ("refuted", "growth path")
    kernel.check(json.loads(json.dumps(row["certificate"])))
    if paths is not None:
        assert row["certificate"]["instance"]["paths"] == paths


def test_paths_are_powers_of_n() -> None:
    reading, world = read(claim(Le(x, y)))
    (shape,) = world.shapes(reading)
    genome = {k: v.astype(np.longdouble) for k, v in draw(genes_of(reading, world, shape), 400, RNG).items()}
    for n in (1e4, 1e8):
        found = cast("Any", world).table(reading, shape, genome, n).scalars["x"]
        c, a = np.clip(genome["c_x"], 0.25, 4.0), np.clip(genome["a_x"], -4.0, 4.0)
        assert np.allclose(found, c * np.longdouble(n) ** a, rtol=1e-17, atol=0)
        whole = a == np.rint(a)
        assert whole.sum() > 50
        assert np.array_equal(found[whole], (c * np.longdouble(n) ** a)[whole])


def test_paths_outside_the_conditions_are_not_counted() -> None:
    """Only those that meet them far out are instances, however many are drawn."""
    narrow = claim(Le(x, y), when=(Ge(y, x), Ge(x, T)))
    reading, world = read(narrow)
    (shape,) = world.shapes(reading)
    scores = score(reading, world, shape, draw(genes_of(reading, world, shape), 400, np.random.default_rng(0)))
    far = scores.table.scalars
    inside = (far["y"] >= far["x"]) & (far["x"] >= far["T"])
    assert 0 < inside.sum() < 200
    assert not np.isfinite(scores.margin[~inside]).any()
    assert scores.admissible >= inside.sum() - EXACT_ROWS  # of which the kernel may refuse some


def test_constants_are_part_of_the_claim() -> None:
    """x^2 = O(1) if x is a constant, and only then."""
    assert derive(claim(Le(x**2 * T, T), fixed(x)), {}).proved
    assert hunt(claim(Le(x**2 * T, T)), 0, 0.1).row()["verdict"] == "refuted"
    stolen = hunt(claim(Le(x**2 * T, T)), 0, 0.1).row()["certificate"]
    stolen["claim"] = lower(claim(Le(x**2 * T, T), fixed(x))).claim
    with pytest.raises(Rejected, match="fixed"):
        kernel.check(stolen)


def test_a_contraction_falls_faster_than_every_power() -> None:
    rate = (1 - 1 / (3 * x)) ** T
    made = claim(Le(rate * y + s, y / T**2 + s), fixed(x), when=(Ge(x, 1),))
    assert hunt(made, 0, 0.1).row()["verdict"] == "survived"
    row = hunt(replace(made, let=()), 0, 0.1).row()  # where x grows as fast as T nothing contracts
    assert row["verdict"] == "refuted"


def test_growth_and_vanishing() -> None:
    grows, vanishes = Assumption("grows", (T,), "T is large"), Assumption("vanishes", (x,), "x is small")
    assert hunt(claim(Lt(x, x * T), grows), 0, 0.1).row()["verdict"] == "survived"
    assert hunt(claim(Lt(x, x * T)), 0, 0.1).row()["verdict"] == "refuted"
    assert dominance(claim(Le(x**2, x), vanishes))[0].proved
    assert hunt(claim(Le(x**2, x), vanishes), 0, 0.1).row()["verdict"] == "survived"


def test_what_cannot_be_decided_is_rejected() -> None:
    at = Paths({"x": Growth((((0, fmpq(1), fmpq(0)), fmpq(1)),))})
    e_x: Tree = Op("exp", ("x",))
    for tree in (Op("sum", ("k", fmpq(0), "x", "x")), Op("log", (e_x,)), Op("+", (e_x, Op("*", (fmpq(-1), e_x))))):
        with pytest.raises(Rejected):
            assert at.grow(tree).sign
    with pytest.raises(Rejected, match="two exponentials"):
        at.settle(("<=", e_x, e_x), {}, {})
    assert not derive(claim(Le(Sum(x, (E, 1, 3)), x)), {}).proved


def test_every_order_is_decided_in_a_context_of_its_own() -> None:
    """The path that z3 finds may depend on what else lives in its context: on what was decided before."""
    first, second = (Exponents((), frozenset()).of(x).ctx for _ in range(2))
    assert first is not second
    assert z3.main_ctx() not in (first, second)


def _tree(data: Any) -> Tree:
    if not isinstance(data, tuple):
        return data
    name, *args = cast("tuple[Any, ...]", data)
    return Op(name, tuple(map(_tree, args)))


LEAVES = st.one_of(st.sampled_from(["x", "y", "z"]), st.sampled_from([fmpq(1), fmpq(2), fmpq(1, 3), fmpq(-1)]))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "*", "min", "max"]), inner, inner),
        st.tuples(st.just("^"), inner, st.sampled_from([fmpq(2), fmpq(-1), fmpq(1, 2), fmpq(-3, 2)])),
        st.tuples(st.just("log"), inner),
    ),
    max_leaves=7,
)
POWERS = st.fractions(-2, 2, max_denominator=3)


def _at(tree: Tree, values: dict[str, arb]) -> arb:
    """The tree's value in balls."""
    if not isinstance(tree, Op):
        return values[tree] if isinstance(tree, str) else arb(tree)
    args = [_at(arg, values) for arg in tree.args]
    match tree.name:
        case "+":
            return args[0] + args[1]
        case "*":
            return args[0] * args[1]
        case "^":
            return args[0] ** args[1] if tree.args[1] != fmpq(-1) else 1 / args[0]
        case "min":
            return args[0].min(args[1])
        case "max":
            return args[0].max(args[1])
        case _:
            return args[0].log()


@settings(max_examples=examples(60), deadline=None)
@given(TREES, POWERS, POWERS, POWERS)
def test_leading_terms_are_the_limits(data: Any, p: Fraction, q: Fraction, r: Fraction) -> None:
    """tree / (leading term) is close to 1 at n = e^4096, where log n is still only 4096."""
    tree = _tree(data)
    powers = {"x": p, "y": q, "z": r}
    one = {s: Growth((((0, fmpq(a.numerator, a.denominator), fmpq(0)), fmpq(2)),)) for s, a in powers.items()}
    one["z"] = Growth((*constant(fmpq(1)).terms, *one["z"].terms)) if r < 0 else one["z"]
    try:
        with ctx.workprec(256):
            found = Paths(one).grow(tree)
            rank, lead = found.rank, arb(found.lead)
    except Rejected:
        return
    if rank[0]:
        return
    size = 2**12
    with ctx.workprec(20 * size):
        values = {s: 2 * (arb(size) * fmpq(a.numerator, a.denominator)).exp() for s, a in powers.items()}
        values["z"] = values["z"] + 1 if r < 0 else values["z"]
        expected = lead * (arb(size) * rank[1]).exp() * arb(size) ** arb(rank[2])
        assert lead == 0 or abs(_at(tree, values) / expected - 1) < 0.05


def test_what_falls_faster_than_every_power_is_below_the_rest() -> None:
    """Two such terms of unlike signs would be rejected; where the rest is larger, they do not matter."""
    falling = (-1, order.ZERO, order.ZERO)
    rest = (0, fmpq(-5), order.ZERO)
    unsure = order.Growth(((order.CONSTANT, order.ONE), ((0, fmpq(-1), order.ZERO), -order.ONE)), rest)
    sure = order.Growth(((order.CONSTANT, order.ONE), (falling, order.ONE)))
    assert order.multiply(unsure, sure) == unsure
    with pytest.raises(Rejected, match="difference of exponentials"):
        order.multiply(replace(unsure, rest=order.NOTHING), sure)


def test_terms_of_one_rank_are_added_and_stand_by_falling_rank() -> None:
    low, high = ((0, fmpq(n), order.ZERO) for n in (1, 2))
    total = order.gathered([(low, fmpq(3)), (high, fmpq(1)), (low, fmpq(-1)), (order.CONSTANT, fmpq(0))], order.NOTHING)
    assert total.terms == ((high, 1), (low, 2))
    assert (total.rank, total.lead, total.top, total.fixed) == (high, 1, high, False)
    assert order.gathered(total.terms, low).terms == total.terms[:1]


def test_a_power_of_one_term_is_one_term() -> None:
    """Its series has no second term, with a rest or without: the rest is raised with it."""
    alone = Growth((((0, fmpq(1), order.ZERO), fmpq(4)),))
    half = constant(fmpq(-1, 2))
    assert order.raised(alone, half) == Growth((((0, fmpq(-1, 2), order.ZERO), fmpq(1, 2)),))
    unsure = order.raised(replace(alone, rest=order.CONSTANT), half)
    assert unsure.terms == order.raised(alone, half).terms
    assert unsure.rest == (0, fmpq(-3, 2), order.ZERO)


def test_a_root_of_what_moves_alone_stays_rational() -> None:
    """The left side is 2 x^3. Floats lose it, and so does a ball around the root of 2 n^(-1)."""
    root = sqrt(x) ** 3
    made = claim(Le(1 + x**3 - (1 - root) * (1 + root), x**3), Assumption("vanishes", (x,), "x is small"))
    assert hunt(made, 0, 0.3).row()["verdict"] == "survived"
    with pytest.raises(Rejected, match="cancel"):
        kernel.evaluate(lower(made).claim, {"paths": {"x": [["2", "-1"]]}}, (), {"relation": 0})
