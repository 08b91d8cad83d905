"""Per-FedAvg: appendices F and G of Fallah, Mokhtari and Ozdaglar, theorem 4.5, corollary 4.6 and remark G.1."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from helpers import SHARE
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples, slow, some
from places import TESTS

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.language.algebra import Le, Rational
from fedaudit.bounds.language.method import quantity_name
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.fallah.algorithm import PER_FEDAVG
from fedaudit.bounds.papers.fallah.symbols import L_F, K, tau
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_arrays
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import hunt, read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import _instances  # pyright: ignore[reportPrivateUsage]
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.settings.base import Shape
from fedaudit.verify.settings.runs import requirements as asked

GOLDEN = TESTS / "certificates"
REFUTED = ("eq99", "eq105", "eq107", "thm4.5~explicit", "eq109", "thm4.5", "cor4.6", "remG.1", "remG.1~formula")
CHAIN = ("eq107", "eq109", "thm4.5~explicit")
ROUND = ("slope2", "level", "fall", "round2", "mean2")


@slow("long runs in rational arithmetic; tests/kernel/test_kernel_simulators.py compares shorter ones")
@pytest.mark.parametrize("label", CHAIN)
def test_the_simulator_agrees_with_the_kernel(label: str) -> None:
    reading, world = read(statement(f"fallah/{label}"))
    seen = 0
    shapes = world.shapes(reading)
    for shape in (*shapes[:9], *shapes[20:24], *shapes[-9:-6]):
        genome = draw(genes_of(reading, world, shape), 3, np.random.default_rng(5))
        for row in range(3):
            genes = exactly(genes_of(reading, world, shape), genome, row, 2)
            floats = {k: np.asarray(v, dtype=float)[None] for k, v in genes.items()}
            scores = score(reading, world, shape, floats, again=False)
            if not np.isfinite(scores.margin[0]):
                continue
            measured = {k: float(np.asarray(v)[0]) for k, v in scores.table.scalars.items()}
            for instance in _instances(reading, world, shape, genes, measured):
                try:
                    lhs, rhs, _ = kernel.evaluate(reading.claim, instance, (), scores.at[0])
                except kernel.Rejected:
                    continue
                # Values of splines are differences of large cubes: F is known less well than its slope. And doubles
                # know the shares of outcomes to a rounding, so that E F(w_0) - F(w_0) is not 0 where F is large.
                fall = scores.table.quantities.get("fall")
                nought = 0 if fall is None else abs(float(fall.values[0, 0]))
                scale = 1e-7 * max(abs(float(lhs)), abs(float(rhs))) + 2 * nought
                assert math.isclose(float(lhs), float(scores.lhs[0]), rel_tol=1e-6, abs_tol=scale)
                assert math.isclose(float(rhs), float(scores.rhs[0]), rel_tol=1e-6, abs_tol=scale)
                seen += 1
                break
    assert seen > 5


def instance(
    a: tuple[str, ...] = ("1", "-1"), m: int = 1, noise: str = "0", h: str = "0", box: str = "", **changed: Any
) -> dict[str, Any]:
    """Users with f' = w + a_i around 0, straight far out; the first update is taken from w_0 = 1/2."""
    base = {"x": ["-12", "-6", "6", "12"], "s": ["1/6", "-1/6", "-1/6", "1/6"], "a": "0", "g": "-9"}
    none: dict[str, Any] = {"x": [], "s": [], "a": "0", "g": "0"}
    users = [{"kind": "curves", "base": [base], "eta": [none], "a": [x], "b": ["0"], "turn": ["0"]} for x in a]
    signs = {"kind": "signs", "shared": False, "v": [[noise]] * len(a)}
    signs |= {"h": [[h]] * len(a)} if h != "0" else {}
    sigma_G = Fraction(noise) + (Fraction(1, 10**6) if h != "0" else 0)  # where Hessians differ, gradients do
    made: dict[str, Any] = {
        "C": len(a), "d": 1, "E": 2, "T": 2, "p": [str(Fraction(1, len(a)))] * len(a), "w0": ["1/2"], "clients": users,
        "parameters": {"alpha": "1/16", "beta": "1/100", "D0": "1", "D1": "1", "D2": "1"},
        "noise": signs if (noise, h) != ("0", "0") else {"kind": "none"},
        "participation": {"kind": "without_replacement", "m": m},
        "constants": {k: str(v) for k, v in (("L", 1), ("rho", "1/6"), ("B", 10), ("sigma_G", sigma_G), ("sigma_H", h),
                                             ("gamma_G", 1), ("gamma_H", 0), ("Delta", 1))},
        **({"box": {"low": [f"-{box}"], "high": [box]}} if box else {}),
    }  # fmt: skip
    return {**made, **changed}


def free(names: tuple[str, ...]) -> dict[str, Any]:
    """A claim of no paper that names measures."""
    quantities = {quantity_name(q): q for q in PER_FEDAVG.measures}
    last = {"T": K, "t": K - 1, "k": tau}
    read_ = [quantities[name] for name in names]
    for_all = {index: (0, last[str(index)]) for q in read_ for index in q.args if str(index) != "T"}
    made = replace(
        statement("fallah/thm4.5~explicit"), then=tuple(Le(q, 0, evaluate=False) for q in read_), for_all=for_all,
        let=(), when=(), where={}, sweep={}, follows_from=(),
    )  # fmt: skip
    return lower(made).claim


def measured(given: dict[str, Any], names: tuple[str, ...] = ROUND) -> list[Any]:
    kept = {"alpha", "beta"}
    given = {**given, "constants": {}, "parameters": {k: v for k, v in given["parameters"].items() if k in kept}}
    world = kernel.world(free(names), given)
    E, T = given["E"], given["T"]
    places = {"mean2": [(T,)], "round2": [(t,) for t in range(T)], "fall": [(t,) for t in range(T + 1)]}
    inside = [(t, k) for t in range(T) for k in range(E + 1)]
    return [world.at(name, place) for name in names for place in places.get(name, inside)]


@pytest.mark.parametrize(
    ("a", "m", "E", "T", "noise", "h"),
    [
        (("1", "-1"), 1, 2, 2, "0", "0"),
        (("1", "-1"), 2, 3, 1, "0", "0"),
        (("1", "-1", "1/3"), 1, 2, 2, "0", "0"),
        (("1", "-1", "1/3"), 2, 2, 1, "0", "0"),
        (("1", "-1"), 1, 1, 1, "1/3", "0"),
        (("1",), 1, 2, 2, "1/3", "0"),
        (("1", "-1"), 1, 2, 2, "0", "1/2"),
        (("1", "-1"), 2, 1, 1, "1/3", "3/2"),
        (("1",), 1, 2, 1, "1/3", "2"),
    ],
)
def test_moments_are_the_run_step_by_step(a: tuple[str, ...], m: int, E: int, T: int, noise: str, h: str) -> None:
    """Matrices against every update of every user, every sign and every sequence of sets, in rationals."""
    run = {"a": a, "m": m, "E": E, "T": T, "noise": noise, "h": h}
    assert measured(instance(**run)) == measured(instance(**run, box="3"))


def test_noise_by_enumeration() -> None:
    """E|grad F(wbar_1)|^2 after one noisy update of one user of two: two signs a batch, four outcomes a user."""
    v, alpha, step = Fraction(1, 3), Fraction(1, 16), Fraction(1, 100)
    h, total = (1 - alpha) ** 2, Fraction(0)
    for centre, inner, outer in product((-1, 1), (-1, 1), (-1, 1)):
        moved = Fraction(1, 2) - alpha * (Fraction(1, 2) - centre + inner * v)
        w = Fraction(1, 2) - step * (1 - alpha) * (moved - centre + outer * v)
        total += (h * w) ** 2 / 8
    found = measured(instance(noise="1/3", box="3", E=1, T=1), ("slope2",))
    assert found[1] == fmpq(total.numerator, total.denominator)


def test_noise_of_hessians_by_enumeration() -> None:
    """The same with Hessians 1 + h and 1 - h in place of 1: eight outcomes a user."""
    v, h, alpha, step, total = Fraction(1, 3), Fraction(3, 2), Fraction(1, 16), Fraction(1, 100), Fraction(0)
    for centre, inner, outer, bent in product((-1, 1), repeat=4):
        moved = Fraction(1, 2) - alpha * (Fraction(1, 2) - centre + inner * v)
        w = Fraction(1, 2) - step * (1 - alpha * (1 + bent * h)) * (moved - centre + outer * v)
        total += ((1 - alpha) ** 2 * w) ** 2 / 16
    noisy = {"noise": "1/3", "h": "3/2", "E": 1, "T": 1}
    for box in ("", "3"):
        assert measured(instance(**noisy, box=box), ("slope2",))[1] == fmpq(total.numerator, total.denominator)


def test_where_hessians_differ_so_do_gradients() -> None:
    """A deviation of Hessians needs one of gradients, however small; and both constants are checked."""
    claim = read(statement("fallah/thm4.5~repaired"))[0].claim
    noisy = instance(noise="1/3", h="1/2", box="3")
    noisy["parameters"] |= {"beta": "1/1000"}
    assert kernel.admissible(claim, noisy)
    for wrong in ({"sigma_G": "1/3"}, {"sigma_H": "49/100"}):
        assert not kernel.admissible(claim, {**noisy, "constants": {**noisy["constants"], **wrong}})


@pytest.mark.parametrize("h", ["0", "1/2", "2"])
def test_a_long_run_in_arrays_has_the_moments_of_the_kernel_with_noise_of_hessians(h: str) -> None:
    """Mean and covariance of 40 rounds of 5 updates, in floats and in rationals."""
    given = instance(noise="1/3", h=h, box="3", E=5, T=40)
    exact = [float(x) for x in measured(given, ("mean2", "fall"))]
    claim = free(("mean2", "fall"))
    start, half = np.array([[0.5]]), np.array([[3.0]])
    problem = Quadratics(np.ones((1, 2, 1, 1)), np.array([[[-1.0], [1.0]]]), np.array([[0.5, 0.5]]))
    values = {"alpha": 1 / 16, "beta": 1 / 100}
    setup = Setup(
        problem, start, lambda tree: np.full((1, 1, 1), values[tree]), 5, 40, v=np.full((1, 2, 1), 1 / 3),
        h=np.full((1, 2, 1), float(Fraction(h))), sampling=("without_replacement", 1), moments=True, box=(-half, half),
    )  # fmt: skip
    found = run_arrays(claim["method"], setup)
    floats = [float(found["mean2"][0, 0]), *map(float, found["fall"][0])]
    assert floats == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("change", [
    {"box": "1/2"},  # a minimiser lies outside
    {"box": "20"},  # the curvature changes there
    {"box": "2", "noise": "1"},  # noise leaves the box
    {"box": "2", "h": "2000"},  # noise of Hessians does
    {"box": "2", "w0": ["5/2"]},
    {"box": "2", "parameters": {"alpha": "1/16", "beta": "3"}},
    {"noise": "1", "E": 6},  # without a box
    {"E": 1001},
])  # fmt: skip
def test_runs_that_the_kernel_cannot_follow(change: dict[str, Any]) -> None:
    with pytest.raises((kernel.Rejected, kernel.Malformed)):
        measured(instance(**change), ("mean2",))


def test_users_of_any_size_of_noise_draw_batches_of_one_point() -> None:
    """Nothing says what larger batches do to the noise: an instance must not make sigma_F smaller by them."""
    claim = read(statement("fallah/thm4.5~repaired"))[0].claim
    noisy = instance(noise="1/3", box="3")
    noisy["parameters"] |= {"beta": "1/1000"}
    assert kernel.admissible(claim, noisy)
    assert not kernel.admissible(claim, {**noisy, "parameters": {**noisy["parameters"], "D1": "100"}})


SHORT = {"parameters": {**instance()["parameters"], "beta": "1/1000"}}


@pytest.mark.parametrize(("name", "value"), [
    ("L", "99/100"), ("rho", "1/7"), ("B", "99/10"), ("gamma_G", "99/100"), ("Delta", "1/10"),
])  # fmt: skip
def test_every_assumption_is_checked(name: str, value: str) -> None:
    claim = read(statement("fallah/thm4.5~explicit"))[0].claim
    assert kernel.admissible(claim, instance(**SHORT))
    constants = {**instance()["constants"], name: value}
    assert not kernel.admissible(claim, instance(**SHORT, constants=constants))


def test_the_gap_of_F_is_exact_where_F_is_a_parabola_between_the_minimisers() -> None:
    """F(1/2) - F(0) = (15/16)^2/8."""
    claim = read(statement("fallah/thm4.5~explicit"))[0].claim
    gap = Fraction(15, 16) ** 2 / 8
    for Delta, admitted in ((gap, True), (gap - Fraction(1, 10**9), False)):
        constants = {**instance()["constants"], "Delta": str(Delta)}
        assert kernel.admissible(claim, instance(**SHORT, constants=constants)) == admitted


def test_losses_that_fall_for_ever_are_not_admitted() -> None:
    claim = read(statement("fallah/thm4.5~explicit"))[0].claim
    fallen = {**instance()["constants"], "B": "100", "gamma_G": "10"}
    assert not kernel.admissible(claim, instance(**SHORT, a=("10", "-10"), constants=fallen))


@pytest.mark.parametrize("label", REFUTED)
def test_what_falls(label: str) -> None:
    """Golden certificates: the kernel accepts them, for the claims as they are encoded now."""
    certificate = json.loads((GOLDEN / f"fallah-{label}.json").read_text())
    accepted = kernel.check(certificate)
    assert accepted.dropped == ()
    assert certificate["claim"] == read(statement(f"fallah/{label}"))[0].claim


@slow("one long search each")
@pytest.mark.parametrize("label", ["eq99", "eq105", "eq107", "eq109", "cor4.6", "remG.1", "remG.1~formula"])
def test_the_search_finds_the_others(label: str) -> None:
    """With the share of one statement in an audit of everything."""
    assert hunt(statement(f"fallah/{label}"), 0, SHARE).row()["verdict"] == "refuted"


@slow("a long search; its certificate is a golden one")
@pytest.mark.parametrize("label", ["thm4.5~explicit"])
def test_the_search_finds_it(label: str) -> None:
    row = hunt(statement(f"fallah/{label}"), 0, 1).row()
    assert row["verdict"] == "refuted"
    assert row["certificate"]["instance"]["C"] == 2


@slow("one long search each")
@pytest.mark.parametrize("label", ["eq99", "eq105", "eq107", "eq109", "thm4.5", "cor4.6"])
def test_the_repaired_ones_stand(label: str) -> None:
    assert hunt(statement(f"fallah/{label}~repaired"), 0, 2).row()["verdict"] == "survived"


@slow("two long searches")
def test_remark_G_1_repaired_stands_as_a_formula_and_of_the_run_nothing_is_refuted() -> None:
    assert hunt(statement("fallah/remG.1~repaired-formula"), 0, 2).row()["verdict"] == "survived"
    assert hunt(statement("fallah/remG.1~repaired"), 0, 2).row()["verdict"] in ("survived", "undecided")


def broken(label: str, factor: Any) -> Statement:
    made = statement(f"fallah/{label}")
    relation = made.relations[0]
    return replace(made, then=relation.func(relation.lhs, factor * relation.rhs))


SMALLER = [("eq105~repaired", Rational(1, 200)), ("corF.2-b", Rational(1, 50_000))]


@slow("one long search each; tests/papers/test_fallah_estimators.py has shorter ones")
@pytest.mark.parametrize(("label", "factor"), SMALLER)
def test_much_smaller_bounds_are_refuted(label: str, factor: Any) -> None:
    assert hunt(broken(label, factor), 0, 0.3).row()["verdict"] == "refuted"


@given(st.lists(st.fractions(-5, 5, max_denominator=9), min_size=2, max_size=5), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_sampling_without_replacement(a: list[Fraction], data: st.DataObject) -> None:
    """(93) in rationals."""
    size, n = data.draw(st.integers(1, len(a))), len(a)
    mu = sum(a) / n
    variance = sum(((x - mu) ** 2 for x in a), Fraction(0)) / n
    means = [sum(A) / size for A in combinations(a, size)]
    r = Fraction(size, n)
    assert sum(((x - mu) ** 2 for x in means), Fraction(0)) / len(means) == variance * (1 - r) / (r * (n - 1))


@pytest.mark.parametrize("label", some([
    "propF.1-a", "propF.1-b", "corF.2-a", "corF.2-b", "eq93", "eq95", "eq97", "eq99~repaired", "eq105~repaired",
    "eq105", "eq107", "eq107~repaired", "eq109", "eq109~repaired", "thm4.5~explicit", "thm4.5~repaired",
    "thm4.5~formula", "cor4.6~formula", "cor4.6~repaired-formula",
], 4, "one derivation each"))  # fmt: skip
def test_it_follows(label: str) -> None:
    known = catalogue()
    made = derive(known[f"fallah/{label}"], known, slack=False)
    assert made.status in ("follows", "claims-less")
    assert made.evidence == "proof"
    assert made.proved == (label == "eq93" or label.endswith("formula"))


@pytest.mark.parametrize(("label", "wrong"), [("corF.2-b", 32), ("corF.2-b", 12), ("eq95", 34), ("eq97", 34)])
def test_a_smaller_constant_does_not_follow(label: str, wrong: int) -> None:
    known = catalogue()
    made = known[f"fallah/{label}"]
    relation = made.relations[0]
    smaller = replace(made, then=relation.func(relation.lhs, Rational(wrong, 35) * relation.rhs))
    found = derive(smaller, {**known, made.id: smaller}, slack=False)
    assert found.status == "claims-more" or found.evidence != "proof"


def test_definitions_that_differ_are_not_left_closed() -> None:
    known = catalogue()
    cited = known["fallah/corF.2-b"]
    other = replace(cited, where={**cited.where, L_F: 2 * cited.where[L_F]})
    with pytest.raises(ValueError, match="another definition"):
        derive(known["fallah/eq95"], {**known, cited.id: other}, slack=False)


def test_shapes_are_small_first() -> None:
    reading, world = read(statement("fallah/eq99"))
    first = world.shapes(reading)[0]
    assert isinstance(first, Shape)
    assert (first["C"], first["m"]) == (2, 1)


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("eq97", {"Z2": (0, 3)}),
        ("propF.1-b", {"drift2": (0, 4)}),
        ("eq107", {"level": (0, 4), "slope2": (0, 3)}),
        ("eq109", {"fall": (1,), "round2": (0,)}),
        ("thm4.5~explicit", {}),
    ],
)
def test_runs_are_measured_until_the_claim_reads_them_for_the_last_time(name: str, until: dict[str, Any]) -> None:
    reading, _ = read(statement(f"fallah/{name}"))
    assert asked.until(reading, {"C": 2, "d": 1, "E": 4, "T": 3}) == until
    assert asked.until(replace(reading, whole=True), {"C": 2, "d": 1, "E": 4, "T": 3}) == {}


@pytest.mark.parametrize(
    ("paper", "name"), [("fallah", "eq97"), ("fallah", "eq109"), ("zhang", "thm3.5"), ("zhang", "eqA.25")]
)
def test_a_claim_reads_the_same_of_a_whole_run(paper: str, name: str) -> None:
    reading, world = read(statement(f"{paper}/{name}"))
    whole, rng = replace(reading, whole=True), np.random.default_rng(0)
    for shape in world.shapes(reading)[::9]:
        genome = draw(genes_of(reading, world, shape), 5, rng)
        one, other = (score(about, world, shape, genome) for about in (reading, whole))
        np.testing.assert_array_equal(one.margin, other.margin)
        np.testing.assert_array_equal(one.lhs, other.lhs)
