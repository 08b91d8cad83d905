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
from flint import fmpq
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from libraries import JAX, library
from marks import examples, slow

from fedaudit.bounds.language.algebra import Le
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.yuan import symbols
from fedaudit.bounds.papers.yuan.run import FEDMSPP
from fedaudit.bounds.papers.yuan.symbols import M, T, m
from fedaudit.problems.families import losses
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_arrays
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.world import World
from fedaudit.verify.kernel.losses.kinds.sample import read as read_sample
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import needed_names
from fedaudit.verify.search.tree_arrays import Evaluator, Table

Piece = dict[str, Any]
Point = tuple[F, ...]
Loss = tuple[list[Piece], list[Point]]  # sum_j piece_j(<u_j, w>), and the u_j
WHOLE = ("picked_env2", "picked_erm_env2", "Delta", "Delta_rho")  # read a minimum or a proximal point of f as a whole


def claim_of(measures: Any) -> dict[str, Any]:
    made = Statement(
        id="test/free", kind="inequality", title="t", cite="t", method=FEDMSPP, glossary=FEDMSPP.glossary,
        then=tuple(Le(quantity, 0, evaluate=False) for quantity in measures), for_all={m: (1, M), symbols.t: (0, T)},
    )  # fmt: skip
    return lower(made).claim


CLAIM = claim_of(FEDMSPP.measures)
CLAIM_OWN = claim_of([q for q in FEDMSPP.measures if str(q).partition("(")[0] not in WHOLE])


def along(u: Point, w: Point) -> F:
    return sum((x * y for x, y in zip(u, w, strict=True)), F(0))


def add(*terms: tuple[F, Point]) -> Point:
    return tuple(sum((c * x[j] for c, x in terms), F(0)) for j in range(len(terms[0][1])))


def square(w: Point) -> F:
    return along(w, w)


def height(f: Piece, w: F) -> F:
    bends = zip(f["x"], f["jump"], f["bend"], strict=True)
    return F(f["s"]) * w + sum((F(j) * y + F(b) * y * y / 2 for x, j, b in bends if (y := w - F(x)) > 0), F(0))


def rise(f: Piece, w: F) -> F:
    return F(f["s"]) + sum((F(b) * (w - F(x)) for x, b in zip(f["x"], f["bend"], strict=True) if w > F(x)), F(0))


def value(f: Loss, w: Point) -> F:
    return sum((height(piece, along(u, w)) for piece, u in zip(*f, strict=True)), F(0))


def slope(f: Loss, w: Point) -> Point:
    return add(*((rise(piece, along(u, w)), u) for piece, u in zip(*f, strict=True)))


def least(fs: list[tuple[F, Piece]], v: F, eta: F | None) -> F:
    """Of the mean of the fs + |. - v|^2/(2 eta) on a line: the best knot or stationary point."""
    knots = sorted({F(x) for _, f in fs for x in f["x"]})

    def total(w: F) -> F:
        return sum((q * height(f, w) for q, f in fs), F(0)) + ((w - v) ** 2 / (2 * eta) if eta else 0)

    def up(w: F) -> F:
        return sum((q * rise(f, w) for q, f in fs), F(0)) + ((w - v) / eta if eta else 0)

    points = list(knots)
    for low, high in zip([knots[0] - 1, *knots], [*knots, knots[-1] + 1], strict=True):
        a, b = up(low), up(high)
        points += [low - a * (high - low) / (b - a)] if a != b else []
    return min(points, key=total)


def minimiser(fs: list[tuple[F, Loss]], v: Point, eta: F | None) -> Point:
    """Of losses along one basis: |. - v|^2 is the sum of its squares along any basis."""
    basis = fs[0][1][1]
    assert all(f[1] == basis for _, f in fs)
    lines = [[(q, f[0][j]) for q, f in fs] for j in range(len(basis))]
    return add(*((least(line, along(u, v), eta), u) for line, u in zip(lines, basis, strict=True)))


def by_definition(instance: dict[str, Any]) -> dict[str, Any]:
    devices, eta, rho = instance["clients"], F(instance["parameters"]["eta"]), F(instance["parameters"]["rho"])
    C, size, b, rounds = instance["C"], instance["participation"]["m"], instance["minibatch"]["b"], instance["T"]
    step, shift, d = instance["oracle"]["step"], instance["oracle"]["shift"], instance["d"]
    bases = [[tuple(map(F, u)) for u in device.get("basis", [["1"]])] for device in devices]
    points_of: list[list[Loss]] = [
        [(z if d > 1 else [z], u) for z in device["points"]] for device, u in zip(devices, bases, strict=True)
    ]
    chances = [[F(q) for q in device["q"]] for device in devices]
    data = [list(zip(q, own, strict=True)) for q, own in zip(chances, points_of, strict=True)]
    whole = [(q / C, f) for points in data for q, f in points]
    shares = [[F(s) / C for s in device["training"]] for device in devices]
    erm = [pair for part, own in zip(shares, points_of, strict=True) for pair in zip(part, own, strict=True)]
    multisets = sorted({tuple(sorted(z)) for z in product(range(len(data[0])), repeat=b)})
    one = all(u == bases[0] for u in bases)

    def risk(points: list[tuple[F, Loss]], w: Point) -> Point:
        return add(*((q, slope(f, w)) for q, f in points))

    def apart2(x: Point, y: Point) -> F:
        return square(add((F(1), x), (F(-1), y)))

    def envelope2(points: list[tuple[F, Loss]], w: Point) -> F:
        return apart2(w, minimiser(points, w, rho)) / rho**2

    start: Point = tuple(map(F, instance["w0"]))
    law, seen = [(F(1), start)], dict[str, list[Any]](gap=[], move2=[], residual2=[], drift2=[])
    picked = dict.fromkeys(("picked2", *(("picked_env2", "picked_erm_env2") if one else ())), F(0))
    first: list[tuple[F, list[Point], list[Point], list[Point], Point, Point]] = []
    slopes_at: dict[str, list[F]] = {"local_at2": [], "mean_at2": [], "global_at2": []}  # round after round

    def look() -> None:
        each = [sum((chance * square(risk(own, w)) for chance, w in law), F(0)) for own in data]
        slopes_at["local_at2"] += each
        slopes_at["mean_at2"].append(sum(each, F(0)) / C)
        slopes_at["global_at2"].append(sum((chance * square(risk(whole, w)) for chance, w in law), F(0)))

    for t in range(rounds):
        look()
        for chance, w in law:
            picked["picked2"] += chance * square(risk(whole, w)) / rounds
            if one:
                picked["picked_env2"] += chance * envelope2(whole, w) / rounds
                picked["picked_erm_env2"] += chance * envelope2(erm, w) / rounds
        after: list[tuple[F, Point]] = []
        batches = list(product(*[list(product(range(len(x)), repeat=b)) for x in data]))
        ways: list[tuple[Any, Any]] = list(product(list(combinations(range(C), size)), batches))
        for (chance, w), (chosen, drawn) in product(law, ways):
            points, directions, before = list[Point](), list[Point](), list[Point]()
            q = chance / len(list(combinations(range(C), size)))
            for i, z in enumerate(drawn):
                batch = [(F(1, b), data[i][k][1]) for k in z]
                best = minimiser(batch, w, eta)
                row, place = min(t, len(step) - 1), multisets.index(tuple(sorted(z)))
                moved = shift[row][i][min(place, len(shift[row][i]) - 1)]
                off: Point = tuple(map(F, moved if d > 1 else [moved]))
                s = F(step[row][i])
                v = add((1 - s, w), (s, best), (F(1), off))
                local = [sum((r * value(f, u) for r, f in batch), F(0)) + apart2(u, w) / (2 * eta) for u in (v, best)]
                seen["gap"].append(local[0] - local[1])
                seen["move2"].append(apart2(v, w))
                seen["residual2"].append(square(add((F(1), v), (F(-1), w), (eta, risk(batch, v)))))
                points.append(v)
                directions.append(risk(batch, v))
                before.append(risk(batch, w))
                for k in z:
                    q *= data[i][k][0]
            seen["drift2"].append(apart2(risk(whole, w), add(*((F(1, C), x) for x in directions))))
            after.append((q, add(*((F(1, size), points[i]) for i in chosen))))
            mean = [add(*((F(1, size), x[i]) for i in chosen)) for x in (directions, before)]
            if t == 0:
                first.append((q, points, directions, before, mean[0], mean[1]))
        law = after
    look()
    target = risk(whole, start)
    found: dict[str, Any] = {name: max(values) for name, values in seen.items()} | picked | slopes_at
    found["sampled2"] = sum(q * apart2(target, x) for q, _, _, _, x, _ in first)
    found["fresh2"] = sum(q * apart2(target, x) for q, _, _, _, _, x in first)
    found["averaged2"] = apart2(target, add(*((q / C, y) for q, _, x, _, _, _ in first for y in x)))
    slopes = [[(q, risk(data[i], v[i]), x[i]) for q, v, x, *_ in first] for i in range(C)]
    found["bias2"] = [apart2(add(*((q, g) for q, g, _ in rows)), add(*((q, x) for q, _, x in rows))) for rows in slopes]
    means = [add(*((q, g) for q, g, _ in rows)) for rows in slopes]
    found["variance"] = [sum(q * apart2(g, c) for q, g, _ in rows) for rows, c in zip(slopes, means, strict=True)]
    if one:
        near, lowest = minimiser(whole, start, rho), minimiser(whole, start, None)
        heights = [sum((q * value(g, u) for q, g in whole), F(0)) for u in (start, near, lowest)]
        found["Delta"] = heights[0] - heights[2]
        found["Delta_rho"] = heights[1] + apart2(near, start) / (2 * rho) - heights[2]
    return found


small = st.integers(-8, 8).map(lambda n: F(n, 4))  # dyadic, so that ends of sums are straight for floats too
share = st.sampled_from((F(1, 4), F(1, 2), F(3, 4), F(1)))
turned = st.sampled_from(((F(3, 5), F(4, 5)), (F(-5, 13), F(12, 13)), (F(1), F(0)), (F(7, 25), F(-24, 25))))


@st.composite
def instances(draw: Any, d: int, own: bool) -> dict[str, Any]:
    C, K, b, rounds = (draw(st.integers(1, most)) for most in (2, 2, 2, 2))

    def loss() -> Piece:
        x = sorted(draw(small) for _ in range(2))
        bend = draw(share) * draw(st.sampled_from((1, -1)))
        gain = bend * (x[1] - x[0])
        ends = {"s": str(-draw(share) + min(-gain, 0)), "a": "0", "c": "0"}
        far = [str(x[1] + 1), str(x[1] + 1 + 6)]  # bounded below: up again, far to the right
        return {"x": [*map(str, x), *far], "jump": ["0"] * 4, "bend": [str(bend), str(-bend), "1", "-1"], **ends}

    def shares() -> list[str]:
        part = draw(st.sampled_from((F(1, 4), F(1, 2), F(3, 4))))
        return [str(part), str(1 - part)][:K] if K > 1 else ["1"]

    def vector() -> Any:
        return [str(draw(small)) for _ in range(d)] if d > 1 else str(draw(small))

    def basis() -> list[list[str]]:
        c, h = draw(turned)
        rows = [[c, -h, F(0)], [h, c, F(0)], [F(0), F(0), F(1)]]
        return [[str(x) for x in row[:d]] for row in rows[:d]]

    bases = [basis() for _ in range(C)] if own else [basis()] * C
    batches = len({tuple(sorted(z)) for z in product(range(K), repeat=b)})
    clients = [
        {"kind": "sample", "q": shares(), "training": shares(),
         "points": [[loss() for _ in range(d)] if d > 1 else loss() for _ in range(K)]}
        for _ in range(C)
    ]  # fmt: skip
    return {
        "C": C, "d": d, "E": 1, "T": rounds, "p": [str(F(1, C))] * C, "w0": [str(draw(small)) for _ in range(d)],
        "parameters": {"eta": str(draw(share) / 2), "rho": str(draw(share) / 2)}, "noise": {"kind": "none"},
        "constants": {},
        "clients": [{**c, "basis": u} for c, u in zip(clients, bases, strict=True)] if d > 1 else clients,
        "participation": {"kind": "without_replacement", "m": draw(st.integers(1, C))},
        "minibatch": {"b": b, "shared": False},
        "oracle": {"step": [[str(draw(share)) for _ in range(C)] for _ in range(rounds)],
                   "shift": [[[vector() for _ in range(batches)] for _ in range(C)] for _ in range(rounds)]},
    }  # fmt: skip


def in_arrays(xp: Any, claim: dict[str, Any], instance: dict[str, Any]) -> tuple[dict[str, Any], float]:
    def floats(x: Any) -> Any:
        return [floats(y) for y in x] if isinstance(x, list) else float(F(x))

    def on(x: Any) -> Any:
        return xp.asarray([floats(x)], dtype=xp.float64)

    clients, d = instance["clients"], instance["d"]
    points = [[z if d > 1 else [z] for z in client["points"]] for client in clients]
    parts = {name: on([[[f[name] for f in z] for z in own] for own in points]) for name in ("x", "jump", "bend", "s")}
    parts |= {"U": on([client["basis"] for client in clients])} if d > 1 else {}
    if claim is CLAIM and d > 1:
        parts["U"] = parts["U"][:, :1, ...]
    problem = losses()["stairs"].problem({**parts, "q": on([d["q"] for d in clients])}, on(instance["p"]))
    scalars = {name: np.array([float(F(x))]) for name, x in instance["parameters"].items()}
    table = Table(1, scalars, {}, {name: instance[name] for name in ("C", "E", "T")})

    def scalar(tree: Any) -> Any:
        return xp.asarray(Evaluator(table, {"t": ("0", "0"), "k": ("0", "0")})(tree), dtype=xp.float64)

    shift = on(instance["oracle"]["shift"])
    setup = Setup(
        problem, on(instance["w0"]), scalar, 1, instance["T"], w_star=problem.minimiser() if claim is CLAIM else None,
        sampling=("without_replacement", instance["participation"]["m"]),
        minibatch=(instance["minibatch"]["b"], False),
        oracle=(on(instance["oracle"]["step"]), shift if d > 1 else shift[..., None]),
    )  # fmt: skip
    method = claim["method"]
    measures = {k: v for k, v in method["measures"].items() if k != "picked_erm_env2"}  # only the kernel knows it
    return run_arrays({**method, "measures": measures}, setup), max(float(gap[0]) for gap in setup.gaps)


def world_of(claim: dict[str, Any], instance: dict[str, Any]) -> World:
    """Without the rho that only some claims read."""
    return cast("World", kernel.world(claim, needed_names(claim, instance)))


def agree(claim: dict[str, Any], instance: dict[str, Any]) -> None:
    exact, world = by_definition(instance), world_of(claim, instance)
    exact = {name: x for name, x in exact.items() if name == "gap" or name in claim["method"]["measures"]}

    def said(name: str) -> list[Any]:
        at = claim["method"]["measures"][name]["at"]
        if not at:
            return [world.value(name)]
        if at[0] == "t":
            clients = [(i,) for i in range(1, instance["C"] + 1)] if len(at) > 1 else [()]
            return [world.at(name, (round_, *client)) for round_ in range(instance["T"] + 1) for client in clients]
        return [world.at(name, (n,)) for n in ([instance["T"]] if at == ["T"] else range(1, instance["C"] + 1))]

    gap = exact.pop("gap")
    assert set(exact) == set(claim["method"]["measures"]), "the loop leaves out a measure"
    for name, x in exact.items():
        assert [F(int(y.p), int(y.q)) for y in said(name)] == (x if isinstance(x, list) else [x]), name
    most = fmpq(gap.numerator, gap.denominator)
    assert world.bounds["inexact"](most)
    assert not world.bounds["inexact"](most - fmpq(1, 10**30))
    arrays_agree(claim, instance, exact, gap, (np, array_api_strict))


def arrays_agree(
    claim: dict[str, Any], instance: dict[str, Any], exact: dict[str, Any], gap: Any, libraries: tuple[Any, ...]
) -> None:
    for xp in libraries:
        measured, worst = in_arrays(xp, claim, instance)
        assert worst == pytest.approx(float(gap), rel=1e-9, abs=1e-9)
        for name, values in measured.items():
            x = exact[name] if isinstance(exact[name], list) else [exact[name]]
            assert np.ravel(np.asarray(values)) == pytest.approx([float(y) for y in x], rel=1e-8, abs=1e-9), name


@JAX
@given(instances(1, own=False))
@settings(max_examples=2, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_jax_does_what_the_box_says(instance: dict[str, Any]) -> None:
    exact = by_definition(instance)
    arrays_agree(CLAIM, instance, exact, exact.pop("gap"), (library("jax"),))


@given(instances(1, own=False))
@settings(max_examples=examples(15), deadline=None, derandomize=True, phases=(Phase.generate,))
def test_kernel_and_arrays_do_what_the_box_says(instance: dict[str, Any]) -> None:
    agree(CLAIM, instance)
    assert T.name in CLAIM["domains"]


@slow("long numbers; a device with its own basis, below, has a full Hessian too")
@pytest.mark.parametrize("d", [2, 3])
@given(data=st.data())
@settings(max_examples=examples(4), deadline=None, derandomize=True, phases=(Phase.generate,))
def test_they_do_it_with_full_hessians(d: int, data: Any) -> None:
    agree(CLAIM, data.draw(instances(d, own=False)))


@given(instances(2, own=True))
@settings(max_examples=examples(5), deadline=None, derandomize=True, phases=(Phase.generate,))
def test_they_do_it_where_every_device_has_its_own_basis(instance: dict[str, Any]) -> None:
    agree(CLAIM_OWN, instance)


@given(instances(2, own=True).filter(lambda one: one["C"] == 2 and len({str(c["basis"]) for c in one["clients"]}) > 1))
@settings(max_examples=examples(5), deadline=None, derandomize=True, phases=(Phase.generate,))
def test_several_bases_have_no_minimum_that_is_read_off(instance: dict[str, Any]) -> None:
    with pytest.raises(kernel.Rejected, match=r"bases|minimiser"):
        kernel.world(CLAIM, instance)


@pytest.mark.parametrize("basis", [[["1", "1"], ["1", "-1"]], [["3/5", "4/5"], ["3/5", "4/5"]], [["1", "0"]]])
def test_a_basis_that_is_not_orthonormal_is_refused(basis: Any) -> None:
    instance = kernel_instance()
    world_of(CLAIM_OWN, instance)
    instance["clients"][0]["basis"] = basis
    with pytest.raises(kernel.Malformed):
        world_of(CLAIM_OWN, instance)


def test_one_line_is_not_enough_for_two_variables() -> None:
    instance = kernel_instance()
    instance["clients"][0]["points"] = [instance["clients"][0]["points"][0][0]]
    with pytest.raises(kernel.Malformed):
        world_of(CLAIM_OWN, instance)


def hinge(at: str, steep: str) -> Piece:
    """Slope -steep before, and steep far beyond."""
    ends = {"s": f"-{steep}", "a": "0", "c": "0"}
    return {"x": [at, str(F(at) + 2 * F(steep))], "jump": ["0", "0"], "bend": ["1", "-1"], **ends}


def kernel_instance() -> dict[str, Any]:
    """One device in two variables: slopes up to 3 along (3/5, 4/5), up to 4 along (-4/5, 3/5), curvatures up to 1."""
    basis = [["3/5", "4/5"], ["-4/5", "3/5"]]
    client = {"kind": "sample", "q": ["1"], "points": [[hinge("0", "3"), hinge("1", "4")]], "basis": basis}
    return {
        "C": 1, "d": 2, "E": 1, "T": 1, "p": ["1"], "w0": ["1", "2"], "constants": {},
        "parameters": {"eta": "1/2", "rho": "1/2"}, "noise": {"kind": "none"}, "clients": [client],
        "participation": {"kind": "without_replacement", "m": 1}, "minibatch": {"b": 1, "shared": False},
    }  # fmt: skip


def test_constants_in_two_variables() -> None:
    """The steepest slope is 5 = |(3, 4)|: what is true along each line alone is not enough."""
    world = world_of(CLAIM_OWN, kernel_instance())
    assert world.bounds["lipschitz"](fmpq(5))
    assert not world.bounds["lipschitz"](fmpq(49, 10))
    assert world.bounds["smooth"](fmpq(1))
    assert not world.bounds["smooth"](fmpq(9, 10))
    assert world.bounds["weakly_convex"](fmpq(0))
    assert world.bounds["lgd"](fmpq(1))


points = st.lists(st.integers(-40, 40).map(lambda n: fmpq(n, 8)), min_size=2, max_size=2).map(tuple)


@given(instances(2, own=True), points, points)
@settings(max_examples=examples(10), deadline=None, derandomize=True, phases=(Phase.generate,))
def test_proximal_points_and_gradients_by_definition(instance: dict[str, Any], v: Any, u: Any) -> None:
    """No point has a smaller value than the proximal one; difference quotients close in on the gradient."""
    ((_, risk), *_) = read_sample(Node(instance["clients"][0], "client"), 2).minibatches(instance["minibatch"]["b"])
    eta = fmpq(1, 4)
    near = risk.prox(v, eta)

    def local(w: Any) -> fmpq:
        return risk.value(w) + sum(((x - y) ** 2 for x, y in zip(w, v, strict=True)), fmpq(0)) / (2 * eta)

    assert local(near) <= local(u)
    assert local(near) <= local(tuple(x + y / 1000 for x, y in zip(near, u, strict=True)))
    h = fmpq(1, 10**6)
    ahead, back = (tuple(x + side * h * y for x, y in zip(v, u, strict=True)) for side in (1, -1))
    quotient = (risk.value(ahead) - risk.value(back)) / (2 * h)
    length = sum((x * x for x in u), fmpq(0))
    assert abs(quotient - sum((g * y for g, y in zip(risk.gradient(v), u, strict=True)), fmpq(0))) <= 8 * h * length
