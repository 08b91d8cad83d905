"""The perturbed-gradient method: runs against the kernel's world, and the verdicts on section 4.3 and appendix C.2."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from fedaudit.problems.perturbed import ALL, PerturbedRun, expected, simulate
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics
from fedaudit.verify import kernel

CLAIM: dict[str, Any] = {
    "id": "test/free", "setting": "perturbed", "let": [], "implicit": [], "choose": {}, "when": [],
    "for_all": {}, "then": [["<=", ["at", "gap", 0], 1]],
}  # fmt: skip
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


@settings(max_examples=50, deadline=None)
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


@settings(max_examples=40, deadline=None)
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
