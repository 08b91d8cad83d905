"""The kernel's FedProx against a Fraction-only replay by definition, and its two laws against each other."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from typing import Any

import pytest
from flint import fmpq
from helpers import free_claim
from hypothesis import given, settings
from hypothesis import strategies as st

from fedaudit.verify.kernel.claim import read as read_claim
from fedaudit.verify.kernel.fedprox import read as read_fedprox
from fedaudit.verify.kernel.loss import semidefinite
from fedaudit.verify.kernel.rational import Node

CLAIM = free_claim("fedprox", "gamma")
small = st.fractions(-3, 3, max_denominator=4)
positive = st.fractions(F(1, 4), 3, max_denominator=4)


def text(x: Any) -> Any:
    return [text(y) for y in x] if isinstance(x, list | tuple) else str(x)


@st.composite
def instances(draw: st.DrawFn, bends: bool | None = None, noise: bool = True) -> dict[str, Any]:
    """Small admissible-looking instances, not necessarily with minimisers at rational points."""
    C, d = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    E, T = draw(st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2)]))
    weights = draw(st.lists(positive, min_size=C, max_size=C))
    clients: list[dict[str, Any]] = []
    for _ in range(C):
        if draw(st.booleans()) if bends is None else bends:
            parts = {n: [abs(draw(small)) for _ in range(d)] for n in ("a", "m", "lo", "hi")}
            clients.append({"kind": "piecewise", **{n: text(x) for n, x in parts.items()},
                            "c": text([draw(small) for _ in range(d)])})  # fmt: skip
        else:
            B = [[draw(small) for _ in range(d)] for _ in range(d)]
            A = [[sum(B[r][j] * B[s][j] for j in range(d)) for s in range(d)] for r in range(d)]
            clients.append({"kind": "quadratic", "A": text(A), "b": text([draw(small) for _ in range(d)])})
    kind: dict[str, Any] = {"kind": "none"}
    if noise and draw(st.booleans()):
        v = [[draw(small) for _ in range(d)] for _ in range(C)]
        kind = {"kind": "signs", "shared": draw(st.booleans()), "v": text(v)}
    return {
        "C": C, "d": d, "E": E, "T": T, "p": text([w / sum(weights) for w in weights]),
        "w0": text([draw(small) for _ in range(d)]), "alpha": text(draw(positive)), "constants": {},
        "steps": {"gamma": text([draw(positive) / 4 for _ in range(T)])}, "clients": clients, "noise": kind,
    }  # fmt: skip


def gradient(client: dict[str, Any], w: list[F]) -> list[F]:
    if client["kind"] == "quadratic":
        return [
            sum((F(a) * x for a, x in zip(row, w, strict=True)), -F(b))
            for row, b in zip(client["A"], client["b"], strict=True)
        ]
    found: list[F] = []
    for a, m, lo, hi, c, x in zip(*([F(y) for y in client[n]] for n in ("a", "m", "lo", "hi", "c")), w, strict=True):
        u = x - c
        if u > hi:
            found.append(m * (u - hi) + a * hi)
        elif u < -lo:
            found.append(m * (u + lo) - a * lo)
        else:
            found.append(a * u)
    return found


def value(client: dict[str, Any], w: list[F]) -> F:
    if client["kind"] == "quadratic":
        quad = sum(F(client["A"][r][s]) * w[r] * w[s] for r in range(len(w)) for s in range(len(w)))
        return quad / 2 - sum(F(b) * x for b, x in zip(client["b"], w, strict=True))
    total = F(0)
    for a, m, lo, hi, c, x in zip(*([F(y) for y in client[n]] for n in ("a", "m", "lo", "hi", "c")), w, strict=True):
        u = x - c
        inner = max(-lo, min(hi, u))
        outer = u - inner  # signed length outside the inner interval
        total += a * inner**2 / 2 + a * inner * outer + m * outer**2 / 2
    return total


def replay(inst: dict[str, Any]) -> dict[str, Any]:
    """Every quantity by definition: all sign paths, one at a time."""
    C, d, E, T = (inst[n] for n in "CdET")
    p, gamma, alpha = [F(x) for x in inst["p"]], [F(x) for x in inst["steps"]["gamma"]], F(inst["alpha"])
    v = [[F(x) for x in row] for row in inst["noise"].get("v", [["0"] * d] * C)]
    shared, noisy = inst["noise"].get("shared", False), inst["noise"]["kind"] == "signs"
    count = (T * E * (1 if shared else C)) if noisy else 0
    total: dict[Any, F] = {}
    for path in itertools.product((1, -1), repeat=count):
        signs, share = iter(path), F(1, 2**count)

        def add(key: Any, x: F, share: F = share) -> None:
            total[key] = total.get(key, F(0)) + share * x

        wbar = [F(x) for x in inst["w0"]]
        for t in range(T):
            local = [list(wbar) for _ in range(C)]
            add(("value", t), sum(q * value(c, wbar) for q, c in zip(p, inst["clients"], strict=True)))
            for k in range(E + 1):
                mean = [sum(q * w[j] for q, w in zip(p, local, strict=True)) for j in range(d)]
                for i, w in enumerate(local, 1):
                    add(("deviation", t, k, i), sum((x - y) ** 2 for x, y in zip(w, wbar, strict=True)))
                    add(("divergence", t, k, i), sum((x - y) ** 2 for x, y in zip(mean, w, strict=True)))
                    g = gradient(inst["clients"][i - 1], w)
                    add(("grad2", t, k, i), sum(x * x for x in g) + sum(x * x for x in v[i - 1]))
                if k == E:
                    break
                one = next(signs) if shared and noisy else 0
                for i, w in enumerate(local):
                    s = one if shared else next(signs) if noisy else 0
                    g = gradient(inst["clients"][i], w)
                    local[i] = [
                        (1 - alpha * gamma[t]) * x + alpha * gamma[t] * y - gamma[t] * (z + s * n)
                        for x, y, z, n in zip(w, wbar, g, v[i], strict=True)
                    ]
            wbar = [sum(q * w[j] for q, w in zip(p, local, strict=True)) for j in range(d)]
        add(("value", T), sum(q * value(c, wbar) for q, c in zip(p, inst["clients"], strict=True)))
    return total


def exact(x: F) -> fmpq:
    return fmpq(x.numerator, x.denominator)


@settings(max_examples=60, deadline=None)
@given(instances())
def test_agrees_with_a_replay_by_definition(inst: dict[str, Any]) -> None:
    run = read_fedprox(Node(inst, "instance"), read_claim(Node(CLAIM, "claim")))
    found = replay(inst)
    for (name, t, *rest), expected in found.items():
        if name == "value":
            assert run.law(t, 0).expect(lambda w: run.problem.value(w[0])) == exact(expected)
        elif name != "grad2":
            assert run.at(name, (t, *rest)) == exact(expected)
    assert run.largest_gradient2() == exact(max(x for key, x in found.items() if key[0] == "grad2"))


@settings(max_examples=40, deadline=None)
@given(instances(bends=False))
def test_moments_agree_with_enumeration(inst: dict[str, Any]) -> None:
    claim = read_claim(Node(CLAIM, "claim"))
    moments, paths = (read_fedprox(Node(inst, "instance"), claim, paths=flag) for flag in (False, True))
    for t, k, i in itertools.product(range(inst["T"]), range(inst["E"] + 1), range(1, inst["C"] + 1)):
        for name in ("deviation", "divergence"):
            assert moments.at(name, (t, k, i)) == paths.at(name, (t, k, i))
    for t in range(inst["T"] + 1):
        one, two = (run.law(t, 0).expect(lambda w: run.problem.value(w[0])) for run in (moments, paths))  # noqa: B023
        assert one == two
    assert moments.largest_gradient2() == paths.largest_gradient2()


@given(st.integers(1, 4), st.integers(0, 4), st.data())
def test_semidefinite_on_grams_and_on_their_perturbations(n: int, rank: int, data: st.DataObject) -> None:
    B = [[data.draw(st.integers(-3, 3)) for _ in range(rank)] for _ in range(n)]
    gram = tuple(tuple(fmpq(sum(x * y for x, y in zip(B[r], B[s], strict=True))) for s in range(n)) for r in range(n))
    assert semidefinite(gram)
    x = [data.draw(st.integers(-3, 3)) for _ in range(n)]
    quad = sum(x[r] * x[s] * gram[r][s] for r in range(n) for s in range(n))
    length = sum(y * y for y in x)
    if length:  # x'(gram - c I)x < 0 for c above the Rayleigh quotient
        assert not semidefinite(gram, 1, -(quad / length) - fmpq(1, 1000))


@pytest.mark.parametrize(
    ("matrix", "answer"),
    [([[0, 1], [1, 5]], False), ([[0, 0], [0, 5]], True), ([[1, 1], [1, 1]], True), ([[1, 1], [1, 0]], False),
     ([[1, 2], [2, 4]], True), ([[1, 2, 0], [2, 4, 1], [0, 1, 9]], False), ([[-1]], False), ([[0]], True)],
)  # fmt: skip
def test_semidefinite_pivots(matrix: list[list[int]], answer: bool) -> None:
    assert semidefinite(tuple(tuple(fmpq(x) for x in row) for row in matrix)) is answer
