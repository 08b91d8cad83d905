"""Losses known at a few points: what the kernel reads, what it refuses, and that a run on them is the same run."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from runs import exact_run

from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.loss import ClientLoss, Loss, dot, quadratic
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.run import read_loss
from fedaudit.verify.kernel.losses.kinds import bent
from fedaudit.verify.kernel.losses.kinds.table import read

Data = dict[str, Any]
SMALL = st.integers(-6, 6).map(lambda n: fmpq(n, 2))


def table(points: list[tuple[Any, Any, Any]], mu: Any = 0, L: Any = 1) -> Data:
    entries = [{"x": [str(v) for v in x], "g": [str(v) for v in g], "f": str(f)} for x, g, f in points]
    return {"kind": "table", "mu": str(mu), "L": None if L is None else str(L), "points": entries}


def parsed(data: Data, d: int = 1) -> Any:
    return read(Node(data, "loss"), d)


@st.composite
def functions(draw: st.DrawFn) -> tuple[ClientLoss, fmpq, fmpq, int]:
    """A loss of F_{mu,L}, not necessarily convex: a full quadratic, or one with bends."""
    if draw(st.booleans()):
        rows = [[draw(SMALL) for _ in range(2)] for _ in range(2)]
        shift = draw(SMALL)
        gram = [[dot(r, s) for s in rows] for r in rows]
        A = [[x + (shift if r == s else 0) for s, x in enumerate(row)] for r, row in enumerate(gram)]
        node: Data = {"kind": "quadratic", "A": [[str(x) for x in row] for row in A], "b": [str(draw(SMALL)), "1"]}
        return quadratic(Node(node, "loss"), 2), shift, A[0][0] + A[1][1] - shift, 2
    a, m = draw(SMALL), draw(SMALL)
    node = {"kind": "bent", "a": [str(a)], "m": [str(m)], "lo": ["1"], "hi": [str(abs(draw(SMALL)))],
            "c": [str(draw(SMALL))]}  # fmt: skip
    return bent.read(Node(node, "loss"), 1), min(a, m), max(a, m), 1


@given(functions(), st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=5, unique=True))
def test_points_of_a_function_of_the_class_are_accepted(found: Any, places: list[tuple[fmpq, fmpq]]) -> None:
    loss, mu, L, d = found
    points = [(x, loss.gradient(x), loss.value(x)) for x in {place[:d] for place in places}]
    known = parsed(table(points, mu, L), d)
    assert all(known.gradient(x) == g and known.value(x) == f for x, g, f in points)
    assert known.above(mu)
    assert known.below(L)
    assert not known.above(mu + 1)
    assert not known.below(L - 1)
    assert parsed(table(points, mu, None), d).L is None


@given(functions(), st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=4, unique=True), st.data())
def test_a_value_pushed_past_the_bound_of_a_pair_is_rejected(found: Any, places: Any, data: st.DataObject) -> None:
    """The bound, in the form printed by Taylor, Hendrickx and Glineur: f_i - f_j - <g_j, x_i - x_j> is at least
    (|g_i - g_j|^2 / L + mu |x_i - x_j|^2 - 2 mu/L <g_j - g_i, x_j - x_i>) / (2 (1 - mu/L)).
    """
    loss, mu, L, d = found
    points = [[x, loss.gradient(x), loss.value(x)] for x in {place[:d] for place in places}]
    if len(points) < 2 or L in (0, mu):
        return
    i, j = data.draw(st.permutations(range(len(points))))[:2]
    (x, g, f), (y, s, h) = points[i], points[j]
    dx, dg = [a - b for a, b in zip(x, y, strict=True)], [a - b for a, b in zip(g, s, strict=True)]
    bound = dot(dg, dg) / L + mu * dot(dx, dx) - 2 * mu / L * dot(dg, dx)
    least = h + dot(s, dx) + bound / (2 * (1 - mu / L))
    assert f >= least
    points[i][2] = least - fmpq(1, 10**9)
    with pytest.raises(kernel.Rejected, match="one function of the class"):
        parsed(table([tuple(point) for point in points], mu, L), d)


def test_the_bound_of_a_pair_is_attained() -> None:
    """mu = 0, L = 1: from slope 0 at 0 to slope 1 at 2 the value rises by 1/2 at least and 3/2 at most."""
    for value, good in (("1/2", True), ("3/2", True), ("499/1000", False), ("1501/1000", False)):
        data = table([((0,), (0,), 0), ((2,), (1,), value)])
        if good:
            assert parsed(data).value((fmpq(2),)) == fmpq(value)
        else:
            with pytest.raises(kernel.Rejected):
                parsed(data)


@pytest.mark.parametrize(
    ("points", "mu", "L"),
    [
        ([((0,), (0,), 0), ((1,), (2,), 1)], 0, 1),  # steeper than L allows
        ([((0,), (0,), 0), ((1,), (1,), "2/3")], 1, 1),  # a parabola has the value 1/2
        ([((0,), (0,), 0), ((1,), (0,), 0)], 1, 1),  # a parabola has the slope 1
        ([((0,), (1,), 0), ((1,), (0,), 0)], 0, None),  # slopes that fall
        ([((0,), (0,), 0), ((1,), (1,), 2)], 0, None),  # above the line from the right
    ],
)
def test_points_that_no_function_of_the_class_has_are_rejected(points: Any, mu: int, L: int | None) -> None:
    with pytest.raises(kernel.Rejected, match="one function of the class"):
        parsed(table(points, mu, L))


@pytest.mark.parametrize(
    "data",
    [
        table([]),
        table([((0,), (0,), 0), ((0,), (0,), 0)]),
        table([((0,), (0,), 0), (("0/7",), (1,), 0)], 0, None),
        table([((0,), (0,), 0)], 2, 1),
        table([((0, 0), (0,), 0)]),
        table([((0,), (0,), 0.5)]),
        {**table([((0,), (0,), 0)]), "L": True},
    ],
)
def test_what_is_no_table_is_malformed(data: Data) -> None:
    with pytest.raises(kernel.Malformed):
        parsed(data)


def test_a_point_that_is_not_in_the_table_is_rejected() -> None:
    known = parsed(table([((0,), (0,), 0)]))
    for ask in (known.value, known.gradient, known.above_tangent):
        with pytest.raises(kernel.Rejected, match="not in a table"):
            ask((fmpq(1),))


def test_a_nonconvex_function_is_least_where_no_point_allows_less() -> None:
    """L = 1: from value f and slope g a function may fall by g^2/2 and no further."""
    assert parsed(table([((0,), (1,), 0), ((-1,), (0,), "-1/2")], -1, 1)).above_tangent((fmpq(-1),))
    assert not parsed(table([((0,), (1,), 0), ((-2,), (0,), "-1/2"), ((5,), (0,), -1)], -1, 1)).above_tangent(
        (fmpq(-2),)
    )
    assert not parsed(table([((0,), (2,), 0), ((-4,), (0,), -1)], -1, 1)).above_tangent((fmpq(-4),))


def test_a_nonconvex_function_less_its_tangent_is_least_where_no_point_allows_less() -> None:
    """The same tables, tilted by a slope of 3."""
    assert parsed(table([((0,), (4,), 0), ((-1,), (3,), "-7/2")], -1, 1)).above_tangent((fmpq(-1),))
    assert not parsed(table([((0,), (5,), 0), ((-4,), (3,), -13)], -1, 1)).above_tangent((fmpq(-4),))
    assert parsed(table([((0,), (1,), 0)], -1, 1)).above_tangent((fmpq(0),))
    assert parsed(table([((0,), (1,), 0), ((1,), (2,), "3/2")], 0, 2)).above_tangent((fmpq(1),))


def test_slopes_are_bounded_everywhere_for_convex_tables_alone() -> None:
    points = [((0,), (0,), 0), ((2,), (1,), 1)]
    assert parsed(table(points)).slopes_at_most(fmpq(1))
    assert parsed(table(points, 0, None)).slopes_at_most(fmpq(1))
    assert not parsed(table(points)).slopes_at_most(fmpq(99, 100))
    assert not parsed(table(points)).slopes_at_most(fmpq(-1))
    assert not parsed(table(points, -1)).slopes_at_most(fmpq(1))


# runs

RUNS = [
    *("buttaci/lem4.1", "buttaci/thm4.1-I", "zhang/lemA.1"),
    *("gradient_descent.py::gd/rate", "fedlin.py::fedlin/rate", "scaffold.py::scaffold/one-step", "li.py::li/thm1"),
    *("server_momentum.py::fedavgm/first", "sampled_fedavg.py::sampled-fedavg/one-step"),
]


def as_tables(claim: Any, instance: Data, at: Any, patch: pytest.MonkeyPatch) -> Data:
    """The same instance, with every loss known at all points where the run reads one."""
    points: dict[Any, None] = {}

    def watched(name: str) -> Any:
        plain = getattr(Loss, name)

        def read_at(loss: Loss, w: Any) -> Any:
            points[w] = None
            return plain(loss, w)

        return read_at

    with patch.context() as inside:
        for name in ("gradient", "value"):
            inside.setattr(Loss, name, watched(name))
        kernel.evaluate(claim, {**instance, "points": {}}, (), at)  # not from the kernel's memory
    constants = {name: fmpq(str(x)) for name, x in instance["constants"].items()}
    tables: list[Data] = []
    for client in instance["clients"]:
        loss: Any = read_loss(Node(client, "loss"), instance["d"])
        L = constants["L"]
        mu = next(x for x in (constants.get("mu", L), fmpq(0), -L) if loss.above(x))
        tables.append(table([(w, loss.gradient(w), loss.value(w)) for w in points], mu, L))
    return {**copy.deepcopy(instance), "clients": tables}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_on_tables_has_both_sides_of_the_run_that_they_are_from(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, instance, at = exact_run(name)
    tables = as_tables(claim, instance, at, monkeypatch)
    assert {client["kind"] for client in tables["clients"]} == {"table"}
    assert kernel.evaluate(claim, tables, (), at) == kernel.evaluate(claim, instance, (), at)
    for client in tables["clients"]:
        client["points"].pop()
    with pytest.raises(kernel.Rejected, match="not in a table"):
        kernel.evaluate(claim, tables, (), at)


# one step of gradient descent by hand: f' = 1 at 1, so that x = 0, where f' = 0
METHOD: Data = {
    "id": "tests/gd", "server": {"x": ["start"]}, "client": {"y": "x"}, "begin": {"y": "x"},
    "local": {"y": ["+", "y", ["*", -1, ["grad", "y"]]]}, "end": {}, "update": {"x": ["mean", "y"]},
    "measures": {"gap": {"at": ["t"], "terms": [["1", ["f", "x"]], ["-1", ["f_star"]]]}},
}  # fmt: skip
CLAIM: Data = {
    "id": "tests/claim", "kind": "inequality", "setting": "run", "let": [], "implicit": [], "choose": {}, "when": [],
    "for_all": {}, "then": [["<=", ["at", "gap", 1], 1]], "domains": {"gap": "real", "L": "positive", "B": "positive"},
    "means": {}, "method": METHOD,
}  # fmt: skip
POINTS = [((1,), (1,), "1/2"), ((0,), (0,), 0)]
INSTANCE: Data = {
    "C": 1, "d": 1, "E": 1, "T": 1, "p": ["1"], "w0": ["1"], "w_star": ["0"], "constants": {"L": "1", "B": "1"},
    "clients": [table(POINTS)], "noise": {"kind": "none"},
}  # fmt: skip


def met(let: list[list[str]], **changes: Any) -> bool:
    return kernel.admissible({**CLAIM, "let": let}, {**INSTANCE, **changes})


def test_assumptions_are_met_as_far_as_the_class_says() -> None:
    for let in ([["smooth", "L"]], [["convex"]], [["bounded_gradients", "B"]], [["lower_bounded"]], [["subgradients"]]):
        assert met(let)
    for let in ([["strongly_convex", "L"]], [["prox_pl", "L"]]):
        assert not met(let)
    assert met([["strongly_convex", "L"]], clients=[table(POINTS, 1)])
    assert met([["prox_pl", "L"]], clients=[table(POINTS, 1)])
    assert not met([["bounded_gradients", "B"]], constants={"L": "1", "B": "1/2"})
    assert not met([["smooth", "L"]], constants={"L": "1/2", "B": "1"})
    assert not met([["convex"]], clients=[table(POINTS, -1)])
    with pytest.raises(kernel.Malformed):
        met([["lipschitz_hessian", "L"]])


def test_a_minimiser_is_one_of_a_convex_f_or_of_every_client() -> None:
    assert met([["lower_bounded"]], clients=[table(POINTS, -1)])
    low = [*POINTS, ((5,), (0,), -1)]
    assert not met([], clients=[table(low, -1)])
    assert not met([], w_star=["1"])
    apart = [table([((1,), (1,), "1/2"), ((0,), (s,), 0)], 0, 3) for s in ("1/2", "-1/2")]
    pair: Data = {"C": 2, "p": ["1/2", "1/2"]}
    assert not met([], clients=[table(POINTS, 0, 3), apart[0]], **pair)
    assert met([], clients=[table([((1,), (1,), "1/2"), ((0,), (s,), 0)], 0, 9) for s in ("1/4", "-1/4")], **pair)
    mixed = [table([((1,), (1,), "1/2"), ((0,), (s,), 0)], -1, 9) for s in ("1/4", "-1/4")]
    assert met([], clients=mixed, **pair)  # each is least there, but for a slope that the other one has too
    assert not met([], clients=[mixed[0], mixed[0]], **pair)
    lower = [table([((1,), (0,), "-1/2"), ((0,), (s,), 0)], -4, 9) for s in ("1/4", "-1/4")]
    assert not met([], clients=lower, **pair)
    assert not met([], clients=mixed, C=2, p=["-1", "2"])


def test_a_negative_weight_turns_curvatures_round() -> None:
    """f = 2 f_1 - f_2 is convex for certain where 2 mu_1 >= L_2."""
    pair: Data = {"C": 2, "p": ["2", "-1"]}
    line = [((1,), (1,), "1/2"), ((0,), (0,), 0)]
    assert met([], clients=[table(line, 1, 1), table(line, 0, 2)], **pair)
    assert not met([], clients=[table(line, "9/10", 1), table(line, 0, 2)], **pair)
    with pytest.raises(kernel.Rejected, match="without L"):
        kernel.admit({**CLAIM, "let": [["subgradients"]]},
                     {**INSTANCE, "clients": [table(line, 1, 1), table(line, 0, None)], **pair})  # fmt: skip


def test_subgradients_are_for_claims_about_them() -> None:
    kink: Data = {"clients": [table([((1,), (1,), 1), ((0,), (0,), 0)], 0, None)]}
    assert met([["subgradients"]], **kink)
    assert met([["subgradients"], ["convex"], ["bounded_gradients", "B"]], **kink)
    assert not met([], **kink)
    assert not met([["subgradients"], ["smooth", "L"]], **kink)


def test_a_table_has_no_moments_and_no_hessians() -> None:
    with pytest.raises(kernel.Rejected, match="known at a few points"):
        kernel.admit(CLAIM, {**INSTANCE, "box": {"low": ["-2"], "high": ["2"]}})
    bent = copy.deepcopy(CLAIM)
    bent["method"]["local"]["y"] = ["hess", "y", "y"]
    with pytest.raises(kernel.Rejected, match="Hessian"):
        kernel.evaluate(bent, INSTANCE, (), {"relation": 0})


def test_noise_is_followed_outcome_by_outcome() -> None:
    """x = 1 - (1 + s/2) with a fair sign s: both ends have to be in the table, and the gap is their mean."""
    claim = copy.deepcopy(CLAIM)
    claim["method"]["local"]["y"] = ["+", "y", ["*", -1, ["noisy", ["grad", "y"]]]]
    noise: Data = {"kind": "signs", "shared": False, "v": [["1/2"]]}
    ends = [(("1/2",), ("1/2",), "1/8"), (("-1/2",), ("-1/4",), "1/16")]
    whole = {**INSTANCE, "clients": [table([*POINTS, *ends])], "noise": noise}
    assert kernel.evaluate(claim, whole, (), {"relation": 0})[0] == (fmpq(1, 8) + fmpq(1, 16)) / 2
    with pytest.raises(kernel.Rejected, match="not in a table"):
        kernel.evaluate(claim, {**whole, "clients": [table([*POINTS, ends[0]])]}, (), {"relation": 0})


# a regulariser known at a few points

PROX: Data = {
    **METHOD, "local": {"y": ["prox", 1, "y"]},
    "measures": {"gap": {"at": ["t"], "terms": [["1", ["F", "x"]], ["-1", ["f_star"]]]}},
}  # fmt: skip


def penalty(*points: Any) -> Data:
    return {"kind": "table", "points": table(list(points))["points"]}


def composite(g: Data, **changes: Any) -> Data:
    """f = 0 and a step from 3 by the proximal point of g."""
    flat = table([((x,), (0,), 0) for x in range(4)])
    return {**INSTANCE, "w0": ["3"], "clients": [flat], "regulariser": g, **changes}


def test_a_proximal_point_is_looked_up_by_its_subgradient() -> None:
    """g = |x|: from 3 to 2, and w* = 0."""
    known = composite(penalty(((2,), (1,), 2), ((0,), (0,), 0)))
    claim = {**CLAIM, "method": PROX, "let": [["bounded_subgradients", "B"]]}
    assert kernel.evaluate(claim, known, (), {"relation": 0})[0] == 2
    l1 = {**known, "regulariser": {"kind": "l1", "theta": "1"}}
    assert kernel.evaluate(claim, l1, (), {"relation": 0})[0] == 2
    assert not kernel.admissible(claim, {**known, "constants": {"L": "1", "B": "1/2"}})


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ([((2,), (1,), 3), ((0,), (0,), 0)], "one function of the class"),
        ([((2,), ("1/2",), 1), ((0,), (0,), 0)], "proximal point"),
        ([((2,), (1,), 2)], "not in its table"),
        ([((2,), (1,), 2), ((0,), ("1/2",), 0)], "w_star"),
    ],
)
def test_a_table_that_is_no_regulariser_of_the_run_is_rejected(points: Any, reason: str) -> None:
    with pytest.raises(kernel.Rejected, match=reason):
        kernel.evaluate({**CLAIM, "method": PROX}, composite(penalty(*points)), (), {"relation": 0})


def test_a_regulariser_that_nothing_reads_is_refused() -> None:
    """It would move w* and f*, and with them the claim."""
    with pytest.raises(kernel.Malformed, match="read it"):
        kernel.admit(CLAIM, {**INSTANCE, "regulariser": {"kind": "l1", "theta": "1"}})
