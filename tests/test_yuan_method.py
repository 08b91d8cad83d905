"""FedMSPP against its algorithm box by definition, in Fractions: the kernel exactly, the arrays to 1e-9.

Written from algorithm 1 and definitions 2 and 3: every path of sampled devices and minibatches, one point at a time.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations, product
from typing import Any, cast

import array_api_strict
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from libraries import JAX, library

from fedaudit.bounds.algebra import Le
from fedaudit.bounds.papers.yuan.run import FEDMSPP
from fedaudit.bounds.papers.yuan.symbols import M, T, m
from fedaudit.bounds.statement import Statement
from fedaudit.problems.components import losses
from fedaudit.problems.interpret import Setup
from fedaudit.problems.interpret import run as run_arrays
from fedaudit.verify import kernel
from fedaudit.verify.claims import lower
from fedaudit.verify.evaluate import Evaluator, Table
from fedaudit.verify.kernel.run import Run

Piece = dict[str, Any]
EVERYTHING = Statement(
    id="test/free", kind="inequality", title="t", cite="t", method=FEDMSPP, glossary=FEDMSPP.glossary,
    then=tuple(Le(quantity, 0, evaluate=False) for quantity in FEDMSPP.measures), for_all={m: (1, M)},
)  # fmt: skip
CLAIM = lower(EVERYTHING).claim


def value(f: Piece, w: F) -> F:
    bends = zip(f["x"], f["jump"], f["bend"], strict=True)
    return F(f["s"]) * w + sum((F(j) * y + F(b) * y * y / 2 for x, j, b in bends if (y := w - F(x)) > 0), F(0))


def slope(f: Piece, w: F) -> F:
    return F(f["s"]) + sum((F(b) * (w - F(x)) for x, b in zip(f["x"], f["bend"], strict=True) if w > F(x)), F(0))


def minimiser(fs: list[tuple[F, Piece]], v: F, eta: F | None) -> F:
    """Of the mean of the fs + |. - v|^2/(2 eta): the best knot or stationary point."""
    knots = sorted({F(x) for _, f in fs for x in f["x"]})

    def total(w: F) -> F:
        return sum((q * value(f, w) for q, f in fs), F(0)) + ((w - v) ** 2 / (2 * eta) if eta else 0)

    def rise(w: F) -> F:
        return sum((q * slope(f, w) for q, f in fs), F(0)) + ((w - v) / eta if eta else 0)

    points = list(knots)
    for low, high in zip([knots[0] - 1, *knots], [*knots, knots[-1] + 1], strict=True):
        a, b = rise(low), rise(high)
        points += [low - a * (high - low) / (b - a)] if a != b else []
    return min(points, key=total)


def by_definition(instance: dict[str, Any]) -> dict[str, Any]:
    devices, eta, rho = instance["clients"], F(instance["parameters"]["eta"]), F(instance["parameters"]["rho"])
    C, size, b, rounds = instance["C"], instance["participation"]["m"], instance["minibatch"]["b"], instance["T"]
    step, shift = instance["oracle"]["step"], instance["oracle"]["shift"]
    data = [list(zip(map(F, d["q"]), d["points"], strict=True)) for d in devices]
    whole = [(q / C, f) for points in data for q, f in points]
    erm = [(F(s) / C, f) for d in devices for s, f in zip(d["training"], d["points"], strict=True)]
    multisets = sorted({tuple(sorted(z)) for z in product(range(len(data[0])), repeat=b)})

    def risk(points: list[tuple[F, Piece]], w: F) -> F:
        return sum((q * slope(f, w) for q, f in points), F(0))

    def envelope2(points: list[tuple[F, Piece]], w: F) -> F:
        return ((w - minimiser(points, w, rho)) / rho) ** 2

    law, seen = [(F(1), F(instance["w0"][0]))], dict[str, list[Any]](gap=[], move2=[], residual2=[], drift2=[])
    picked = dict.fromkeys(("picked2", "picked_env2", "picked_erm_env2"), F(0))
    first: list[tuple[F, list[F], list[F], list[F], F, F]] = []
    for t in range(rounds):
        for chance, w in law:
            picked["picked2"] += chance * risk(whole, w) ** 2 / rounds
            picked["picked_env2"] += chance * envelope2(whole, w) / rounds
            picked["picked_erm_env2"] += chance * envelope2(erm, w) / rounds
        after: list[tuple[F, F]] = []
        batches = list(product(*[list(product(range(len(x)), repeat=b)) for x in data]))
        ways: list[tuple[Any, Any]] = list(product(list(combinations(range(C), size)), batches))
        for (chance, w), (chosen, drawn) in product(law, ways):
            points, directions, before = list[F](), list[F](), list[F]()
            q = chance / len(list(combinations(range(C), size)))
            for i, z in enumerate(drawn):
                batch = [(F(1, b), data[i][k][1]) for k in z]
                best = minimiser(batch, w, eta)
                row, place = min(t, len(step) - 1), multisets.index(tuple(sorted(z)))
                moved = shift[row][i][min(place, len(shift[row][i]) - 1)]
                v = w + F(step[row][i]) * (best - w) + F(moved)
                local = [sum((s * value(f, u) for s, f in batch), F(0)) + (u - w) ** 2 / (2 * eta) for u in (v, best)]
                seen["gap"].append(local[0] - local[1])
                seen["move2"].append((v - w) ** 2)
                seen["residual2"].append((v - w + eta * risk(batch, v)) ** 2)
                points.append(v)
                directions.append(risk(batch, v))
                before.append(risk(batch, w))
                for k in z:
                    q *= data[i][k][0]
            seen["drift2"].append((risk(whole, w) - sum(directions) / C) ** 2)
            after.append((q, sum(points[i] for i in chosen) / size))
            mean = sum(directions[i] for i in chosen) / size, sum(before[i] for i in chosen) / size
            if t == 0:
                first.append((q, points, directions, before, *mean))
        law = after
    w = F(instance["w0"][0])
    target = risk(whole, w)
    found: dict[str, Any] = {name: max(values) for name, values in seen.items()} | picked
    found["sampled2"] = sum(q * (target - d) ** 2 for q, _, _, _, d, _ in first)
    found["fresh2"] = sum(q * (target - d) ** 2 for q, _, _, _, _, d in first)
    found["averaged2"] = (target - sum(q * sum(d) / C for q, _, d, _, _, _ in first)) ** 2
    slopes = [[(q, risk(data[i], v[i]), d[i]) for q, v, d, *_ in first] for i in range(C)]
    found["bias2"] = [sum(q * (g - d) for q, g, d in rows) ** 2 for rows in slopes]
    means = [sum(q * g for q, g, _ in rows) for rows in slopes]
    found["variance"] = [sum(q * (g - c) ** 2 for q, g, _ in rows) for rows, c in zip(slopes, means, strict=True)]
    near, least = minimiser(whole, w, rho), minimiser(whole, w, None)

    def f(u: F) -> F:
        return sum((q * value(g, u) for q, g in whole), F(0))

    found["Delta"], found["Delta_rho"] = f(w) - f(least), f(near) + (near - w) ** 2 / (2 * rho) - f(least)
    return found


small = st.integers(-8, 8).map(lambda n: F(n, 4))  # dyadic, so that ends of sums are straight for floats too
share = st.sampled_from((F(1, 4), F(1, 2), F(3, 4), F(1)))


@st.composite
def instances(draw: Any) -> dict[str, Any]:
    C, K, b, rounds = (draw(st.integers(1, most)) for most in (2, 2, 2, 2))

    def loss() -> Piece:
        x = sorted(draw(small) for _ in range(2))
        bend = draw(share) * draw(st.sampled_from((1, -1)))
        rise = bend * (x[1] - x[0])
        ends = {"s": str(-draw(share) + min(-rise, 0)), "a": "0", "c": "0"}
        far = [str(x[1] + 1), str(x[1] + 1 + 6)]  # bounded below: up again, far to the right
        return {"x": [*map(str, x), *far], "jump": ["0"] * 4, "bend": [str(bend), str(-bend), "1", "-1"], **ends}

    def shares() -> list[str]:
        part = draw(st.sampled_from((F(1, 4), F(1, 2), F(3, 4))))
        return [str(part), str(1 - part)][:K] if K > 1 else ["1"]

    batches = len({tuple(sorted(z)) for z in product(range(K), repeat=b)})
    return {
        "C": C, "d": 1, "E": 1, "T": rounds, "p": [str(F(1, C))] * C, "w0": [str(draw(small))], "constants": {},
        "parameters": {"eta": str(draw(share) / 2), "rho": str(draw(share) / 2)}, "noise": {"kind": "none"},
        "clients": [{"kind": "sample", "q": shares(), "points": [loss() for _ in range(K)], "training": shares()}
                    for _ in range(C)],
        "participation": {"kind": "without_replacement", "m": draw(st.integers(1, C))},
        "minibatch": {"b": b, "shared": False},
        "oracle": {"step": [[str(draw(share)) for _ in range(C)] for _ in range(rounds)],
                   "shift": [[[str(draw(small)) for _ in range(batches)] for _ in range(C)] for _ in range(rounds)]},
    }  # fmt: skip


def in_arrays(xp: Any, instance: dict[str, Any]) -> tuple[dict[str, Any], float]:
    def floats(x: Any) -> Any:
        return [floats(y) for y in x] if isinstance(x, list) else float(F(x))

    def on(x: Any) -> Any:
        return xp.asarray([floats(x)], dtype=xp.float64)

    clients = instance["clients"]
    parts = {name: on([[f[name] for f in d["points"]] for d in clients]) for name in ("x", "jump", "bend", "s")}
    problem = losses()["stairs"].problem({**parts, "q": on([d["q"] for d in clients])}, on(instance["p"]))
    scalars = {name: np.array([float(F(x))]) for name, x in instance["parameters"].items()}
    table = Table(1, scalars, {}, {name: instance[name] for name in ("C", "E", "T")})

    def scalar(tree: Any) -> Any:
        return xp.asarray(Evaluator(table, {"t": ("0", "0"), "k": ("0", "0")})(tree), dtype=xp.float64)

    setup = Setup(
        problem, on(instance["w0"]), scalar, 1, instance["T"], w_star=problem.minimiser(),
        sampling=("without_replacement", instance["participation"]["m"]),
        minibatch=(instance["minibatch"]["b"], False),
        oracle=(on(instance["oracle"]["step"]), on(instance["oracle"]["shift"])),
    )  # fmt: skip
    method = CLAIM["method"]
    measures = {k: v for k, v in method["measures"].items() if k != "picked_erm_env2"}  # only the kernel knows it
    return run_arrays({**method, "measures": measures}, setup), max(float(gap[0]) for gap in setup.gaps)


@given(instances())
@settings(max_examples=15, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_kernel_and_arrays_do_what_the_box_says(instance: dict[str, Any]) -> None:
    exact, world = by_definition(instance), cast("Run", kernel.world(CLAIM, instance))

    def said(name: str) -> list[Any]:
        at = CLAIM["method"]["measures"][name]["at"]
        if not at:
            return [world.value(name)]
        return [world.at(name, (n,)) for n in ([instance["T"]] if at == ["T"] else range(1, instance["C"] + 1))]

    gap = exact.pop("gap")
    assert set(exact) == set(CLAIM["method"]["measures"]), "the loop leaves out a measure"
    for name, x in exact.items():
        assert [F(int(y.p), int(y.q)) for y in said(name)] == (x if isinstance(x, list) else [x]), name
    assert F(int(world.inaccuracy().p), int(world.inaccuracy().q)) == gap
    arrays_agree(instance, exact, gap, (np, array_api_strict))
    assert T.name in CLAIM["domains"]


@JAX
@given(instances())
@settings(max_examples=2, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_jax_does_what_the_box_says(instance: dict[str, Any]) -> None:
    exact = by_definition(instance)
    arrays_agree(instance, exact, exact.pop("gap"), (library("jax"),))


def arrays_agree(instance: dict[str, Any], exact: dict[str, Any], gap: Any, libraries: tuple[Any, ...]) -> None:
    for xp in libraries:
        measured, worst = in_arrays(xp, instance)
        assert worst == pytest.approx(float(gap), rel=1e-9, abs=1e-9)
        for name, values in measured.items():
            x = exact[name] if isinstance(exact[name], list) else [exact[name]]
            assert np.ravel(np.asarray(values)) == pytest.approx([float(y) for y in x], rel=1e-8, abs=1e-9), name
