"""The fast simulators against the kernel: every expectation to 1e-12 on random rational instances."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from typing import Any

import numpy as np
from flint import fmpq_mat
from helpers import free_claim
from hypothesis import given, settings
from hypothesis import strategies as st

from fedaudit.problems.fedprox import simulate
from fedaudit.problems.moments import expected
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics, two_group
from fedaudit.verify.kernel import world

TOLERANCE = 1e-12
CLAIM = free_claim("fedprox", "gap")
small = st.fractions(-2, 2, max_denominator=5)
positive = st.fractions(F(1, 5), 2, max_denominator=5)


def array(x: Any) -> np.ndarray:
    return np.vectorize(lambda y: float(F(y)), otypes=[float])(np.array(x, dtype=object))


def text(x: Any) -> Any:
    return [text(y) for y in x] if isinstance(x, list | tuple) else str(x)


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    """Everything but the losses: sizes, weights, start, steps, noise."""
    C, d, E, T = (draw(st.integers(1, top)) for top in (3, 3, 3, 4))
    weights = draw(st.lists(positive, min_size=C, max_size=C))
    noise: dict[str, Any] = {"kind": "none"}
    if draw(st.booleans()):
        v = [[draw(small) for _ in range(d)] for _ in range(C)]
        noise = {"kind": "signs", "shared": draw(st.booleans()), "v": text(v)}
    return {
        "C": C, "d": d, "E": E, "T": T, "p": text([w / sum(weights) for w in weights]),
        "w0": text([draw(small) for _ in range(d)]), "alpha": text(draw(positive)), "constants": {},
        "steps": {"gamma": text([draw(positive) / 8 for _ in range(T)])}, "noise": noise,
    }  # fmt: skip


def agree(inst: dict[str, Any], run: Any) -> None:
    """Every recorded quantity of the simulator against the kernel's."""
    exact: Any = world(CLAIM, inst)
    rounds, local = range(inst["T"] + 1), (range(inst["T"]), range(inst["E"] + 1), range(1, inst["C"] + 1))
    noise2 = [sum(F(x) ** 2 for x in row) for row in inst["noise"].get("v", [["0"]] * inst["C"])]
    pairs = {name: ([exact.at(name, (t,)) for t in rounds], getattr(run, name)) for name in ("gap", "dist2")}
    for name in ("deviation", "divergence"):
        pairs[name] = ([exact.at(name, at) for at in itertools.product(*local)], getattr(run, name))
    for name, (ours, theirs) in pairs.items():
        reference = np.array([float(x) for x in ours])
        scale = max(1.0, np.abs(reference).max())
        np.testing.assert_allclose(theirs.ravel(), reference, rtol=TOLERANCE, atol=TOLERANCE * scale, err_msg=name)
    largest = (run.grad2 + np.array([float(x) for x in noise2])).max()
    np.testing.assert_allclose(largest, float(exact.largest_gradient2()), rtol=TOLERANCE, atol=TOLERANCE)


def signs(inst: dict[str, Any]) -> np.ndarray | None:
    """All noise paths, (S, T, E, C, d)."""
    if inst["noise"]["kind"] == "none":
        return None
    C, shared = inst["C"], inst["noise"]["shared"]
    draws = inst["T"] * inst["E"] * (1 if shared else C)
    flips = np.array(list(itertools.product((1.0, -1.0), repeat=draws)))
    flips = flips.reshape(-1, inst["T"], inst["E"], 1 if shared else C, 1)
    return flips * array(inst["noise"]["v"])


@settings(max_examples=40, deadline=None)
@given(shapes(), st.data())
def test_moments_of_quadratics(inst: dict[str, Any], data: st.DataObject) -> None:
    C, d = inst["C"], inst["d"]
    clients: list[dict[str, Any]] = []
    for _ in range(C):
        B = [[data.draw(small) for _ in range(d)] for _ in range(d)]
        A = [[sum(B[r][j] * B[s][j] for j in range(d)) + (r == s) for s in range(d)] for r in range(d)]
        clients.append({"kind": "quadratic", "A": text(A), "b": text([data.draw(small) for _ in range(d)])})
    p = [F(x) for x in inst["p"]]
    total = [[sum(q * F(c["A"][r][s]) for q, c in zip(p, clients, strict=True)) for s in range(d)] for r in range(d)]
    right = [sum(q * F(c["b"][r]) for q, c in zip(p, clients, strict=True)) for r in range(d)]
    inst = {**inst, "clients": clients, "w_star": solved(total, right)}
    problem = Quadratics(array([c["A"] for c in clients]), array([c["b"] for c in clients]), array(inst["p"]))
    v = array(inst["noise"].get("v", [["0"] * d] * C))
    w0, alpha, gamma = array(inst["w0"]), array(inst["alpha"]), array(inst["steps"]["gamma"])
    agree(inst, expected(problem, w0, alpha, gamma, inst["E"], v, inst["noise"].get("shared", False)))
    if inst["noise"]["kind"] == "none":
        agree(inst, simulate(problem, w0, alpha, gamma, inst["E"]))


def solved(A: list[list[F]], b: list[F]) -> list[str]:
    def flint(rows: list[list[F]]) -> fmpq_mat:
        scale = 1
        for row in rows:
            for x in row:
                scale *= x.denominator
        return fmpq_mat([[int(x * scale) for x in row] for row in rows]) / scale

    return [str(x) for x in flint(A).solve(flint([[x] for x in b])).entries()]


@settings(max_examples=40, deadline=None)
@given(shapes().filter(lambda i: i["noise"]["kind"] == "none" or i["T"] * i["E"] * i["C"] <= 6), st.data())
def test_paths_of_piecewise_losses(inst: dict[str, Any], data: st.DataObject) -> None:
    C, d = inst["C"], inst["d"]
    centre = [data.draw(small) for _ in range(d)]  # of all clients, so that it minimises f as well
    clients: list[dict[str, Any]] = []
    for _ in range(C):
        parts = {name: [data.draw(positive) for _ in range(d)] for name in ("a", "m", "lo", "hi")}
        clients.append({"kind": "piecewise", **{n: text(x) for n, x in parts.items()}, "c": text(centre)})
    inst = {**inst, "clients": clients, "w_star": text(centre)}
    fields = {name: array([c[name] for c in clients]) for name in ("a", "m", "lo", "hi", "c")}
    problem = Piecewise(**fields, p=array(inst["p"]))
    w0, alpha, gamma = array(inst["w0"]), array(inst["alpha"]), array(inst["steps"]["gamma"])
    agree(inst, simulate(problem, w0, alpha, gamma, inst["E"], signs(inst)))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 4), positive, positive, positive, positive, small)
def test_two_group(C: int, E: int, T: int, mu: F, alpha: F, sigma: F, G: F, w0: F) -> None:
    step = 1 / (E * (alpha + mu))
    claim = free_claim("two_group", "gap", gamma="positive") | {"choose": {"gamma": {"index": ["t"], "value": "gamma"}}}
    given_ = {"mu": mu, "alpha": alpha, "sigma": sigma, "G_lin": G, "w0": w0}
    inst = {"C": C, "E": E, "T": T, "parameters": {"gamma": str(step)}, **{n: str(x) for n, x in given_.items()}}
    exact = world(claim, inst)
    problem = two_group(float(mu / 2), float(mu), float(-G if w0 < 0 else G), C)
    noise = np.full((C, 1, 1), float(sigma**2))
    run = expected(problem, array([w0]), array(alpha), np.full(T, float(step)), E, covariance=noise)
    reference = np.array([float(exact.at("gap", (t,))) for t in range(T + 1)])
    np.testing.assert_allclose(run.gap.ravel(), reference, rtol=TOLERANCE, atol=TOLERANCE)
