"""The perturbed-gradient method: runs against the kernel's world, and the verdicts on section 4.3 and appendix C.2."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import array_api_strict
import numpy as np
import pytest
from flint import fmpq_mat
from helpers import free_claim
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Expr, Rational

from fedaudit.bounds.catalogue import catalogue, statement
from fedaudit.bounds.derive import derive
from fedaudit.bounds.lint import lint
from fedaudit.bounds.papers.buttaci.symbols import G, Gamma, gamma, k, sigma, t
from fedaudit.bounds.papers.buttaci.symbols_perturbed import beta, mean, n, previous
from fedaudit.bounds.statement import Statement
from fedaudit.problems.perturbed import ALL, PerturbedRun, expected, simulate
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics
from fedaudit.verify import kernel
from fedaudit.verify.audit import hunt_row, read, verify_row

EFFORT = 0.1
LATER = [  # minutes of z3
    pytest.param(label, marks=pytest.mark.slow)
    for label in ("lem4.5", "lemC.1", "lemC.2~repaired", "lemC.3", "thm4.4-I", "thm4.4-II")
]
CLAIM = free_claim("perturbed", "gap")
small = st.fractions(-2, 2, max_denominator=5)
positive = st.fractions(F(1, 5), 2, max_denominator=5)


def array(x: Any) -> np.ndarray:
    return np.vectorize(lambda y: float(F(y)), otypes=[float])(np.array(x, dtype=object))


def text(x: Any) -> Any:
    return [text(y) for y in x] if isinstance(x, list | tuple) else str(x)


@st.composite
def runs(draw: st.DrawFn, d: int) -> dict[str, Any]:
    """Everything but the losses; a pair may have no edge as long as every client has a neighbour."""
    C, E, T = draw(st.integers(2, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    weight = {pair: draw(positive) for pair in itertools.combinations(range(C), 2)}
    if C == 3 and draw(st.booleans()):
        weight[0, 2] = F(0)
    total = 2 * sum(weight.values())
    pairs = [[weight.get((min(i, j), max(i, j)), F(0)) / total for j in range(C)] for i in range(C)]
    noise: dict[str, Any] = {"kind": "none"}
    if draw(st.booleans()) and E * T * C <= 6:
        v = [[draw(small) for _ in range(d)] for _ in range(C)]
        noise = {"kind": "signs", "shared": draw(st.booleans()), "v": text(v)}
    return {
        "C": C, "d": d, "E": E, "T": T, "pairs": text(pairs), "w0": text([draw(small) for _ in range(d)]),
        "beta": text(draw(st.fractions(F(1, 9), 1, max_denominator=9))), "constants": {},
        "steps": {"gamma": text([draw(positive) / 4 for _ in range(T)])}, "noise": noise,
    }  # fmt: skip


def signs(inst: dict[str, Any]) -> np.ndarray | None:
    if inst["noise"]["kind"] == "none":
        return None
    width = 1 if inst["noise"]["shared"] else inst["C"]
    flips = np.array(list(itertools.product((1.0, -1.0), repeat=inst["T"] * inst["E"] * width)))
    return flips.reshape(-1, inst["T"], inst["E"], width, 1) * array(inst["noise"]["v"])


def arguments(inst: dict[str, Any]) -> tuple[Any, ...]:
    pairs, w0, beta, gamma = (array(x) for x in (inst["pairs"], inst["w0"], inst["beta"], inst["steps"]["gamma"]))
    return pairs, w0, beta, gamma, inst["E"]


def agree(inst: dict[str, Any], run: PerturbedRun) -> None:
    """Every quantity of the simulator against the kernel's."""
    world: Any = kernel.world(CLAIM, inst)
    rounds, steps, clients = range(inst["T"]), range(inst["E"] + 1), range(1, inst["C"] + 1)
    places: dict[str, Any] = {
        "gap": [(t,) for t in range(inst["T"] + 1)], "dist2": [(t,) for t in range(inst["T"] + 1)],
        "deviation": itertools.product(rounds, steps, clients),
        "perturbation": itertools.product(rounds, steps, clients),
        "spread": itertools.product(rounds, clients, clients),
        "mean": itertools.product(rounds, steps, range(1, inst["d"] + 1)),
        "centre": itertools.product(rounds, steps, range(1, inst["d"] + 1)),
        "mismatch": itertools.product(rounds, steps),
    }  # fmt: skip
    for name, at in places.items():
        exact = [float(world.at(name, place)) for place in at]
        np.testing.assert_allclose(
            np.ravel(getattr(run, name)), exact, rtol=1e-12, atol=1e-12 * max(1.0, max(np.abs(exact))), err_msg=name
        )
    noise2 = np.array([float(sum(F(x) ** 2 for x in row)) for row in inst["noise"].get("v", [["0"]] * inst["C"])])
    for values, largest in ((run.grad2, world.largest_perturbed2()), (run.local2, world.largest_gradient2())):
        np.testing.assert_allclose((values + noise2).max(), float(largest), rtol=1e-12, atol=1e-12)
    assert world.facts["similarity_weights"]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_quadratics_against_the_kernel(data: st.DataObject) -> None:
    inst = data.draw(runs(d=data.draw(st.integers(1, 2))))
    C, d = inst["C"], inst["d"]
    A = [[[data.draw(positive) if r == s else F(0) for s in range(d)] for r in range(d)] for _ in range(C)]
    if d == 2:
        for matrix in A:
            matrix[0][1] = matrix[1][0] = data.draw(small) * min(matrix[0][0], matrix[1][1]) / 4
    b = [[data.draw(small) for _ in range(d)] for _ in range(C)]
    pairs = [[F(x) for x in row] for row in inst["pairs"]]
    p = [sum(row) for row in pairs]
    H = [[sum(p[i] * A[i][r][s] for i in range(C)) for s in range(d)] for r in range(d)]
    rhs = [sum(p[i] * b[i][r] for i in range(C)) for r in range(d)]
    star = fmpq_mat([[str_q(x) for x in row] for row in H]).solve(fmpq_mat([[str_q(x)] for x in rhs]))
    inst |= {
        "clients": [{"kind": "quadratic", "A": text(M), "b": text(x)} for M, x in zip(A, b, strict=True)],
        "w_star": [str(x) for x in star.entries()],
    }
    problem = Quadratics(array(A), array(b), array(inst["pairs"]).sum(axis=-1))
    v = array(inst["noise"]["v"]) if inst["noise"]["kind"] == "signs" else None
    run = expected(problem, *arguments(inst), v, inst["noise"].get("shared", False))
    agree(inst, run)
    walked = simulate(problem, *arguments(inst), signs(inst))
    for name in (*ALL, "drop"):
        ours, theirs = getattr(run, name), getattr(walked, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(theirs).max()), err_msg=name)


def str_q(x: F) -> Any:
    return fmpq_mat([[x.numerator]])[0, 0] / x.denominator


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_huberised_losses_against_the_kernel(data: st.DataObject) -> None:
    """One dimension, a common minimiser: its place is known."""
    inst = data.draw(runs(d=1))
    c = data.draw(small)
    parts = {name: [[data.draw(positive)] for _ in range(inst["C"])] for name in ("a", "m", "lo", "hi")}
    clients = [
        {"kind": "piecewise", "c": text([c]), **{name: text(values[i]) for name, values in parts.items()}}
        for i in range(inst["C"])
    ]
    inst |= {"clients": clients, "w_star": text([c])}
    fields = {name: array(values) for name, values in parts.items()}
    problem = Piecewise(**fields, c=array([[c]] * inst["C"]), p=array(inst["pairs"]).sum(axis=-1))
    agree(inst, simulate(problem, *arguments(inst), signs(inst)))


def test_one_round_by_hand() -> None:
    """f_1 = (w - 1)^2/2, f_2 = (w + 1)^2/2 from 0, gamma = beta = 1/2, E = 1: w^1 = 1/2 = u^2, w^2 = -1/2 = u^1."""
    A, b, half = np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]), np.full(2, 0.5)
    pairs = np.array([[0.0, 0.5], [0.5, 0.0]])
    run = expected(Quadratics(A, b, half), pairs, np.zeros(1), np.array(0.5), half, 1)
    np.testing.assert_array_equal(run.spread[:, 0, 1], [0.0, 1.0])
    np.testing.assert_array_equal(run.deviation[0, 1], [0.25, 0.25])
    # in round 1 both start at 0, take their gradients at w~ = -1/4 and 1/4, and move by (1 + 1/4)/2
    np.testing.assert_array_equal(run.grad2[1, 0], [25 / 16, 25 / 16])
    np.testing.assert_array_equal(run.perturbation[1, 0], [1 / 16, 1 / 16])
    np.testing.assert_array_equal(run.deviation[1, 1], [25 / 64, 25 / 64])


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (np.array([[0.0, 1.0], [0.0, 0.0]]), "differ from p_ji"),
        (np.array([[0.5, 0.0], [0.0, 0.5]]), "p_ii"),
        (np.array([[0.0, 0.25], [0.25, 0.0]]), "row sums"),
        (np.ones((1, 1)), "C >= 2"),
    ],
)
def test_similarities_are_checked(pairs: np.ndarray, why: str) -> None:
    problem = Quadratics(np.ones((2, 1, 1)), np.zeros((2, 1)), np.full(2, 0.5))
    with pytest.raises(ValueError, match=why):
        expected(problem, pairs, np.zeros(1), np.array(0.5), np.full(2, 0.5), 1)


def test_array_api_strict_agrees() -> None:
    rng, (b, C, d, E, T) = np.random.default_rng(0), (3, 3, 2, 2, 3)
    half = rng.uniform(size=(b, C, C)) * (1 - np.eye(C))
    pairs = (half + half.swapaxes(-1, -2)) / (2 * half.sum(axis=(1, 2), keepdims=True))
    A = rng.normal(size=(b, C, d, d))
    A, p = A @ A.swapaxes(-1, -2) + np.eye(d), pairs.sum(axis=-1)
    centres, v = rng.normal(size=(2, b, C, d))
    rest = (pairs, rng.normal(size=(b, d)), rng.uniform(size=b), rng.uniform(0, 0.2, size=(b, T)))
    bends, noise = rng.uniform(0, 2, size=(4, b, C, d)), rng.normal(size=(b, 4, T, E, C, d))
    strict, plain = (
        (expected(Quadratics(*map(of, (A, centres, p))), *map(of, rest), E, of(v)),
         simulate(Piecewise(*map(of, (*bends, centres, p))), *map(of, rest), E, of(noise)))
        for of in (array_api_strict.asarray, np.asarray)
    )  # fmt: skip
    for ours, theirs in zip(strict, plain, strict=True):
        for name in ALL:
            np.testing.assert_allclose(np.asarray(getattr(ours, name)), getattr(theirs, name), rtol=1e-9, atol=1e-12)


def test_the_kernel_wants_a_graph() -> None:
    client = {"kind": "quadratic", "A": [["1"]], "b": ["0"]}
    inst: dict[str, Any] = {
        "C": 2, "d": 1, "E": 1, "T": 1, "pairs": [["0", "1/2"], ["1/2", "0"]], "w0": ["1"], "beta": "1/2",
        "constants": {}, "steps": {"gamma": ["1"]}, "noise": {"kind": "none"}, "clients": [client] * 2, "w_star": ["0"],
    }  # fmt: skip
    asks = {**CLAIM, "let": [["similarity_weights"]]}
    assert kernel.admissible(asks, inst)
    for pairs in ([["0", "1/2"], ["1/4", "1/4"]], [["1/4", "1/4"], ["1/4", "1/4"]], [["0", "1"], ["1", "0"]]):
        assert not kernel.admissible(asks, {**inst, "pairs": pairs})
    with pytest.raises(kernel.Malformed, match="neighbour"):
        kernel.world(asks, {**inst, "pairs": [["0", "0"], ["0", "1"]]})
    with pytest.raises(kernel.Malformed, match=r"instance\.C"):
        kernel.world(asks, {**inst, "C": 1})


# --- the verdicts ----------------------------------------------------------------------------------------------------


def copy(label: str, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with another right-hand side (definitions written out)."""
    printed = statement(f"buttaci/{label}")
    first, *rest = printed.relations
    old = printed.defined(first.args[1])
    assert change(old) != old
    return replace(printed, then=(first.func(first.args[0], change(old)), *rest))


BROKEN = {
    "lem4.3 as the body reads": copy("lem4.3", lambda e: e.subs(mean(t, 0, n), mean(t, k, n))),
    "lem4.3 with beta exchanged": copy("lem4.3", lambda e: e.subs(beta, 1 - beta)),
    "lem4.4 × 0.9": copy("lem4.4", lambda e: e * Rational(9, 10)),
    "lem4.4 with this round's step size": copy("lem4.4", lambda e: e.subs(previous(t), gamma(t))),
    "lem4.5 without the round before": copy("lem4.5", lambda e: e.subs(previous(t), 0)),
    "lemC.1 without E, G² and Γ": copy("lemC.1", lambda e: e.subs({G: 0, Gamma: 0, sigma: 0})),
    "lemC.1-kappa × 0.9": copy("lemC.1-kappa", lambda e: e * Rational(9, 10)),
    "lemC.2~repaired × 0.9": copy("lemC.2~repaired", lambda e: e * Rational(9, 10)),
    "thm4.4-I without its error terms": copy("thm4.4-I", lambda e: e.subs({G: 0, sigma: 0, Gamma: 0})),
    "thm4.4-II without G, falling faster": copy("thm4.4-II", lambda e: e.subs(G, 0) / (1 + t) ** 2),
}


QUICK = ("lem4.3 as the body reads", "lem4.4 × 0.9", "lemC.1-kappa × 0.9", "thm4.4-I without its error terms")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in BROKEN])
def test_broken_copies_fall(name: str) -> None:
    row = hunt_row(BROKEN[name], seed=0, effort=EFFORT)
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


@pytest.mark.parametrize("label", ["lem4.4", "lemC.1-kappa"])
def test_survives(label: str) -> None:
    assert hunt_row(statement(f"buttaci/{label}"), seed=3, effort=EFFORT)["verdict"] == "survived"


@pytest.mark.slow
@pytest.mark.parametrize("label", ["lem4.3", "lem4.5", "lemC.1", "lemC.2~repaired", "lemC.3", "thm4.4-I", "thm4.4-II"])
def test_survives_longer(label: str) -> None:
    printed = statement(f"buttaci/{label}")
    for row in (verify_row(printed, seed=3, effort=1), hunt_row(printed, seed=3, effort=2)):
        assert row["verdict"] == "survived"


def test_lemma_C_2_falls_and_shrinks() -> None:
    """A long round with small beta makes kappa < -1; after two rounds the bound is negative."""
    row = hunt_row(statement("buttaci/lemC.2"), seed=0, effort=EFFORT)
    assert row["verdict"] == "refuted"
    accepted = kernel.check(row["certificate"])
    assert accepted.rhs < 0 <= accepted.lhs
    instance = row["certificate"]["instance"]
    assert (instance["C"], instance["d"], row["certificate"]["at"]["t"]) == (2, 1, 2)
    assert instance["noise"]["kind"] == "none"


def test_lemma_C_2_by_hand() -> None:
    """f_1 = f_2 = w^2/2 from 1, gamma = 1/2, beta = 1/10, E = 5: kappa = 10 (19/20)^5 - 9 < -1, and S > Delta = 1/2."""
    reading, _ = read(statement("buttaci/lemC.2"))
    client = {"kind": "quadratic", "A": [["1"]], "b": ["0"]}
    inst = {
        "C": 2, "d": 1, "E": 5, "T": 2, "pairs": [["0", "1/2"], ["1/2", "0"]], "w0": ["1"], "beta": "1/10",
        "constants": {"L": "1", "mu": "1", "sigma": "0", "G": "3"}, "parameters": {"gamma": "1/2"},
        "clients": [client] * 2, "noise": {"kind": "none"}, "minimisers": [["0"]] * 2, "w_star": ["0"],
    }  # fmt: skip
    lhs, rhs, holds = kernel.evaluate(reading.claim, inst, (), {"relation": 0, "t": 2})
    assert not holds
    kappa, b = 10 * F(19, 20) ** 5 - 9, F(1, 10)
    S = 4 * F(1, 2) * 125 * 9 * (4 + (1 - b) ** 2 + 8 * (1 - 1 / b) ** 2) + F(1, 4) * b * (1 - b) * 125 * 9 / 2
    assert F(str(rhs)) == kappa**2 * (F(1, 2) - S) + S < 0
    assert F(str(lhs)) == (1 - 10 * (1 - F(19, 20) ** 5)) ** 4 / 2  # a round takes w to kappa w
    repaired, _ = read(statement("buttaci/lemC.2~repaired"))
    assert not kernel.admissible(repaired.claim, inst)


def test_lemma_C_2_does_not_follow() -> None:
    printed = statement("buttaci/lemC.2")
    assert {f.rule for f in lint(printed, catalogue())} == {"monotone"}
    made = derive(printed, catalogue(), slack=False)
    assert (made.status, made.proved) == ("not-derived", False)
    assert any(f.startswith("step C.22") and "false" in f for f in made.findings)


@pytest.mark.parametrize("label", ["lem4.3", "lem4.4", "lemC.1-kappa", *LATER])
def test_follows(label: str) -> None:
    printed = statement(f"buttaci/{label}")
    assert not lint(printed, catalogue())
    made = derive(printed, catalogue(), slack=False)
    assert (made.status, made.evidence) == ("follows", "proof")
