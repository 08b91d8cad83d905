"""Worst cases as linear forms: they are what a replay measures, and every admissible instance meets the constraints."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import pytest
from flint import fmpq
from marks import only, slow, some
from runs import Data, about_runs, exact_run, point_of, reach

import fedaudit as fa
from fedaudit.verify import kernel
from fedaudit.verify.kernel import Entry, Form, Programme, Vec
from fedaudit.verify.kernel.core.loss import Vector, combine, dot
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.run import read_loss
from fedaudit.verify.kernel.gram.programme import VARIANCES
from fedaudit.verify.kernel.gram.variables import Leaves
from fedaudit.verify.kernel.losses import minimum
from fedaudit.verify.kernel.losses.kinds import table
from fedaudit.verify.kernel.losses.minimum import lowest
from fedaudit.verify.kernel.losses.regulariser import Regulariser
from fedaudit.verify.kernel.losses.regulariser import read as regulariser

IN_REACH = [
    *("buttaci/thm4.1-I", "buttaci/lem4.1", "buttaci/lem4.2", "buttaci/lemB.1", "buttaci/lemB.4", "buttaci/thm4.4-I"),
    *("buttaci/thm4.3-I", "buttaci/lemB.6", "buttaci/thm4.6-I"),
    *("buttaci/lemC.4", "benmansour/lem2", "benmansour/lem2~repaired", "benmansour/eq19"),
    *("zhang/lemA.1", "zhang/eqA.20", "zhang/lemA.2", "zhang/eqA.25", "zhang/eqA.33", "zhang/thm3.5"),
    *("gradient_descent.py::gd/rate", "fedlin.py::fedlin/rate", "scaffold.py::scaffold/one-step", "li.py::li/thm1"),
    *(
        "li.py::li/lem3",
        "li_partial.py::li/thm3",
        "server_momentum.py::fedavgm/descent",
        "false_lemma.py::drift/square",
    ),
    *("sampled_fedavg.py::sampled-fedavg/one-step", "local_sgd.py::local-sgd/drift"),
]


def vector(vec: Vec, leaves: dict[str, Vector], d: int) -> Vector:
    return combine(list(vec.terms.values()), [leaves[name] for name in vec.terms]) if vec.terms else (fmpq(0),) * d


def grams(leaves: dict[str, Vector]) -> dict[tuple[str, str], fmpq]:
    return {pair: dot(leaves[pair[0]], leaves[pair[1]]) for pair in combinations_with_replacement(sorted(leaves), 2)}


def add_penalty(
    entry: Entry, instance: Data, origin: Vector, leaves: dict[str, Vector], values: dict[str, fmpq]
) -> None:
    """A point u of g with its subgradient r: u = w - s r is a proximal point of w; or u is read as it is."""
    g, d = regulariser(Node(instance["regulariser"], "g"), instance["d"]), instance["d"]
    assert isinstance(g, Regulariser)
    own = set(entry.g.terms) & set(entry.x.terms)
    rest = vector(Vec({name: x for name, x in entry.x.terms.items() if name not in own}), leaves, d)
    before = tuple(a + b for a, b in zip(rest, origin, strict=True))
    u = before
    if own:
        (name,) = own
        u = g.prox(before, -entry.x.terms[name])
        leaves[name] = tuple((b - a) / entry.x.terms[name] for a, b in zip(before, u, strict=True))
    elif len(entry.g.terms) == 1 and next(iter(entry.g.terms)).startswith("r"):
        leaves[next(iter(entry.g.terms))] = tuple(g.slope(x, right=True) for x in u)
    values[entry.f] = g.value(u)
    if set(entry.g.terms) <= set(leaves):
        assert g.subgradient(u, vector(entry.g, leaves, d))


def minimiser(instance: Data, losses: list[Any]) -> Vector:
    if "w_star" in instance:
        return tuple(fmpq(str(x)) for x in instance["w_star"])
    g = regulariser(Node(instance["regulariser"], "g"), instance["d"]) if "regulariser" in instance else None
    least = lowest(losses, tuple(fmpq(str(x)) for x in instance["p"]), g)
    assert least is not None
    return least


def solve_local(
    entries: list[tuple[int, Entry]], losses: list[Any], origin: Vector, leaves: dict[str, Vector], oracle: Data | None
) -> None:
    """Gradients at proximal points u = w - s g of clients, where w is known, and errors of answers in round 0."""
    for i, entry in entries:
        (own,) = set(entry.g.terms) & set(entry.x.terms) or {""}
        if not own or own in leaves or set(entry.x.terms) - {own} - set(leaves):
            continue
        rest = vector(Vec({name: x for name, x in entry.x.terms.items() if name != own}), leaves, len(origin))
        before = tuple(a + b for a, b in zip(rest, origin, strict=True))
        s = -entry.x.terms[own]
        u = losses[i].risk.prox(before, s)
        leaves[own] = tuple((b - a) / entry.x.terms[own] for a, b in zip(before, u, strict=True))
        if oracle is not None:
            step, cell = fmpq(str(oracle["step"][0][i])), oracle["shift"][0][i][0]
            shift = [fmpq(str(x)) for x in cell] if isinstance(cell, list) else [fmpq(str(cell))]
            miss = tuple((step - 1) * (b - a) + c for a, b, c in zip(before, u, shift, strict=True))
            leaves |= {f"e{i + 1}_{n}": miss for n in range(len(losses))}


def read_off(worst: Programme, instance: Data) -> tuple[dict[tuple[str, str], fmpq], dict[str, fmpq]]:
    """The Gram matrix and the unknowns of an instance: gradients and values of its losses where they are read."""
    d, losses = instance["d"], [read_loss(Node(c, "loss"), instance["d"]) for c in instance["clients"]]
    origin = minimiser(instance, losses) if worst.minimised else (fmpq(0),) * d
    start = tuple(fmpq(str(x)) - y for x, y in zip(instance["w0"], origin, strict=True))
    leaves: dict[str, Vector] = {"start": start}
    for i, v in enumerate(instance["noise"].get("v", ())):
        leaves[f"v{i + 1}"] = tuple(fmpq(str(x)) for x in v)
    for i, least in enumerate(instance.get("minimisers", ())):
        leaves[f"w{i + 1}"] = tuple(fmpq(str(x)) - y for x, y in zip(least, origin, strict=True))
    values: dict[str, fmpq] = {}
    entries = [(i, entry) for i, entries in enumerate(worst.tables) for entry in entries]
    penalties = list(worst.penalty)
    while entries or penalties:
        for entry in [entry for entry in penalties if set(entry.x.terms) - set(entry.g.terms) <= set(leaves)]:
            penalties.remove(entry)
            add_penalty(entry, instance, origin, leaves, values)
        solve_local(entries, losses, origin, leaves, instance.get("oracle"))
        known = [(i, entry) for i, entry in entries if set(entry.x.terms) <= set(leaves)]
        for i, entry in known:
            x = tuple(a + b for a, b in zip(vector(entry.x, leaves, d), origin, strict=True))
            values[entry.f] = losses[i].value(x)
            if len(entry.g.terms) == 1 and set(entry.g.terms.values()) == {1}:
                leaves[next(iter(entry.g.terms))] = losses[i].gradient(x)
        entries = [one for one in entries if one not in known]
    for i, entry in ((i, entry) for i, entries in enumerate(worst.tables) for entry in entries):
        x = tuple(a + b for a, b in zip(vector(entry.x, leaves, d), origin, strict=True))
        assert vector(entry.g, leaves, d) == losses[i].gradient(x)
    values |= {square: fmpq(str(instance["constants"][name])) ** 2 for name, square in worst.open.items()}
    return grams(leaves), values


@pytest.mark.parametrize("name", some(IN_REACH, 3, "every statement in reach"))
@pytest.mark.parametrize("seed", some([1, 2], 2, "another instance"))
def test_an_admissible_instance_meets_every_constraint_and_has_both_sides(name: str, seed: int) -> None:
    claim, instance, at = exact_run(name, noise=False, seed=seed)
    worst = kernel.programme(claim, point_of(claim, instance), at)
    gram, values = read_off(worst, instance)
    assert [name for name, form in worst.constraints.items() if form.at(gram, values) < 0] == []
    lhs, rhs, _ = kernel.evaluate(claim, instance, (), at)
    sides = [worst.lhs.at(gram, values), worst.rhs.at(gram, values)]
    assert sides == ([lhs, rhs] if claim["then"][at["relation"]][0] in ("<", "<=") else [rhs, lhs])


NOISY = ["buttaci/thm4.1-I", "buttaci/lemB.1", "scaffold.py::scaffold/one-step", "local_sgd.py::local-sgd/drift"]


@pytest.mark.parametrize("name", only(["scaffold.py::scaffold/one-step"], NOISY, "more of the same"))
@pytest.mark.parametrize("seed", [1])
def test_a_noisy_instance_meets_every_constraint_and_has_both_sides(name: str, seed: int) -> None:
    """Signs that are followed outcome by outcome give what a replay gives."""
    claim, instance, at = noisy_run(name, seed)
    kept = {key: instance["noise"][key] for key in ("kind", "shared", "steps") if key in instance["noise"]}
    worst = kernel.programme(claim, point_of(claim, instance) | {"noise": kept}, at)
    gram, values = read_off(worst, instance)
    assert any(leaf.startswith("v") for leaf in worst.leaves)
    assert [name for name, form in worst.constraints.items() if form.at(gram, values) < 0] == []
    lhs, rhs, _ = kernel.evaluate(claim, instance, (), at)
    sides = [worst.lhs.at(gram, values), worst.rhs.at(gram, values)]
    assert sides == ([lhs, rhs] if claim["then"][at["relation"]][0] in ("<", "<=") else [rhs, lhs])


def noisy_run(name: str, seed: int) -> tuple[Data, Data, Data]:
    """A run with noise at its first two steps, and constants that are large enough for it."""
    claim, instance, at = exact_run(name, seed=seed)
    large = {args[0]: "1000" for name, *args in claim["let"] if name in ("bounded_gradients", *VARIANCES)}
    rng, C, d = random.Random(seed), instance["C"], instance["d"]
    v = [[str(fmpq(rng.randint(-9, 9), 9)) for _ in range(d)] for _ in range(C)]
    noise = {"kind": "signs", "shared": False, "steps": [0, 1][: instance["E"] * instance["T"]], "v": v}
    return claim, instance | {"noise": noise, "constants": instance["constants"] | large}, at


@pytest.mark.parametrize("name", ["yuan/thm1~repaired", "yuan/thm1~inequality", "yuan/thm3~full", "yuan/lem5"])
def test_local_problems_that_are_solved_exactly_have_gradients_at_their_solutions(name: str) -> None:
    claim, drawn, at = exact_run(name, kinds=["sample"], rounds=1)
    instance = {key: x for key, x in drawn.items() if key != "oracle"} | {
        "constants": drawn["constants"] | {"eps": "0"}
    }
    worst = kernel.programme(claim, point_of(claim, instance), at)
    gram, values = read_off(worst, instance)
    assert [name for name, form in worst.constraints.items() if form.at(gram, values) < 0] == []
    lhs, rhs, _ = kernel.evaluate(claim, instance, (), at)
    assert [worst.lhs.at(gram, values), worst.rhs.at(gram, values)] == [lhs, rhs]


@pytest.mark.parametrize("name", ["yuan/thm1~inequality", "yuan/rem2~repaired"])
def test_answers_that_are_not_exact_are_within_their_accuracy(name: str) -> None:
    """Of one round: the error of an answer is what an instance says, and its room is what the kernel finds."""
    claim, instance, at = inexact_run(name)
    errors = [args[0] for name, *args in claim["let"] if name == "inexact"]
    point = point_of(claim, instance) | {"constants": instance["constants"]}
    worst = kernel.programme(claim, point, at)
    gram, values = read_off(worst, instance)
    assert any(leaf.startswith("e") for leaf in worst.leaves)
    assert [name for name, form in worst.constraints.items() if form.at(gram, values) < 0] == []
    lhs, rhs, _ = kernel.evaluate(claim, instance, (), at)
    assert [worst.lhs.at(gram, values), worst.rhs.at(gram, values)] == [lhs, rhs]
    rooms = [form.at(gram, values) for name, form in worst.constraints.items() if name.startswith("answer")]
    (accuracy,) = [fmpq(str(instance["constants"][name])) for name in errors]
    less = instance | {"constants": instance["constants"] | dict.fromkeys(errors, str(accuracy - min(rooms)))}
    kernel.evaluate(claim, less, (), at)
    less["constants"] |= dict.fromkeys(errors, str((accuracy - min(rooms)) * fmpq(99, 100)))
    with pytest.raises(kernel.Rejected, match="inexact"):
        kernel.evaluate(claim, less, (), at)


def inexact_run(name: str) -> tuple[Data, Data, Data]:
    for seed in range(1, 40):
        claim, instance, at = exact_run(name, kinds=["sample"], rounds=1, seed=seed)
        batches = instance.get("minibatch") is None or all(len(c["q"]) == 1 for c in instance["clients"])
        if "oracle" in instance and instance["T"] == 1 and batches:
            return claim, instance, at
    raise AssertionError(f"{name}: got exact answers, expected an error")


@pytest.mark.parametrize("name", IN_REACH)
def test_forms_of_any_leaves_are_what_a_replay_measures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves at random, which no loss may have: a table of them is read without asking for one."""
    claim, instance, at = exact_run(name, noise=False)
    worst = kernel.programme(claim, point_of(claim, instance), at)
    rng, d = random.Random(7), 3

    def anything() -> fmpq:
        return fmpq(rng.randint(-9, 9), rng.randint(1, 5))

    every = {
        leaf
        for entries in (*worst.tables, worst.penalty)
        for entry in entries
        for leaf in (*entry.x.terms, *entry.g.terms)
    }
    leaves = {leaf: tuple(anything() for _ in range(d)) for leaf in sorted({*every, *worst.leaves, "start"})}
    values = {name: anything() for name in worst.unknowns}
    values |= {
        entry.f: anything() for entries in (*worst.tables, worst.penalty) for entry in entries if entry.f not in values
    }
    drawn = {name: abs(anything()) for name in worst.open}
    values |= {square: drawn[name] ** 2 for name, square in worst.open.items()}

    def written(x: Vector) -> list[str]:
        return [str(entry) for entry in x]

    def listed(entries: tuple[Entry, ...]) -> list[Data]:
        return [{"x": written(vector(entry.x, leaves, d)), "g": written(vector(entry.g, leaves, d)),
                 "f": str(values[entry.f])} for entry in entries]  # fmt: skip

    clients = [
        {"kind": "table", "mu": str(mu), "L": str(L), "points": listed(entries)}
        for entries, mu, L in zip(worst.tables, worst.mu, worst.L, strict=True)
    ]
    made = {**instance, "d": d, "w0": written(leaves["start"]), "clients": clients, "noise": {"kind": "none"}}
    made["constants"] = instance["constants"] | {name: str(x) for name, x in drawn.items()}
    made = {key: x for key, x in made.items() if key not in ("w_star", "minimisers")}
    if "regulariser" in made:
        made["regulariser"] = {"kind": "table", "points": listed(worst.penalty)}
    if worst.minimised:
        made["w_star"] = ["0"] * d
    if worst.minimisers is not None:
        made["minimisers"] = [written(vector(x, leaves, d)) for x in worst.minimisers]
    monkeypatch.setattr(table, "interpolates", anywhere)
    monkeypatch.setattr(minimum, "least_of_each", taken)
    world = kernel.world(claim, made)
    op, *_ = relation = claim["then"][at["relation"]]
    evaluated = [side(world, tree, at, claim) for tree in relation[1:]]
    lhs, rhs = evaluated if op in ("<", "<=") else evaluated[::-1]
    assert worst.lhs.at(grams(leaves), values) == lhs
    assert worst.rhs.at(grams(leaves), values) == rhs


def anywhere(*_: object) -> None:
    """No pair of points contradicts the class."""


def taken(*_: object) -> bool:
    """A minimiser is believed."""
    return True


def side(world: Any, tree: Any, at: Data, claim: Data) -> Any:
    from fedaudit.verify.kernel.core.expression import Evaluator, parse

    scope = {name: n for name, n in at.items() if name != "relation"}
    real = dict.fromkeys(claim["domains"], "real")
    return Evaluator(world, real).value(parse(Node(tree, "claim.then")), scope)


@slow("draws points of 160 statements")
def test_every_statement_about_a_run_is_in_reach_or_says_why(record_property: Callable[[str, object], None]) -> None:
    rows = {s.id: reach(s)[1] for s in fa.statements("*") if about_runs(s)}
    record_property("reach", rows)
    print(*(f"{name}: {reason}" for name, reason in rows.items()), sep="\n")
    assert all("\n" not in reason for reason in rows.values())
    assert sum(reason == "in reach" for reason in rows.values()) >= 70


# what is out of reach says so

GD: Data = {
    "id": "gd", "server": {"x": ["start"]}, "client": {"y": "x"}, "begin": {"y": "x"},
    "local": {"y": ["+", "y", ["*", -1, ["*", "gamma", ["grad", "y"]]]]}, "end": {}, "update": {"x": ["mean", "y"]},
    "measures": {"gap": {"at": ["t"], "terms": [["1", ["f", "x"]], ["-1", ["f_star"]]]},
                 "dist2": {"at": ["t"], "terms": [["1", ["norm2", ["+", "x", ["*", "-1", ["w_star"]]]]]]}},
}  # fmt: skip
DOMAINS = {"gap": "real", "dist2": "real", "L": "positive", "mu": "positive", "gamma": "positive", "G": "nonnegative"}
CLAIM: Data = {
    "id": "tests/claim", "kind": "inequality", "setting": "run", "let": [["smooth", "L"], ["convex"]], "implicit": [],
    "choose": {}, "when": [], "for_all": {}, "then": [["<=", ["at", "gap", 1], ["*", "L", ["at", "dist2", 0]]]],
    "domains": DOMAINS, "means": {}, "method": GD,
}  # fmt: skip
POINT: Data = {"C": 1, "E": 1, "T": 1, "p": ["1"], "constants": {"L": "1"}, "parameters": {"gamma": "1"}}


def worst_of(point: Data = POINT, rules: Data | None = None, measures: Data | None = None, **claim: Any) -> Programme:
    method = {**GD, **(rules or {})}
    method["measures"] = {**GD["measures"], **(measures or {})}
    return kernel.programme({**CLAIM, "method": method, **claim}, point, {"relation": 0})


def extra(terms: Any, over: Any = None) -> Data:
    """A claim about one more measure."""
    measure = {"at": ["t"], "terms": terms, **({"over": over} if over else {})}
    return {"measures": {"extra": measure}, "domains": {**DOMAINS, "extra": "real"},
            "then": [["<=", ["at", "extra", 1], 1]]}  # fmt: skip


BOTH = [["1", ["norm2", "x"]]]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (extra(BOTH), "where the origin is"),
        (extra([["1", ["f", ["*", "2", "x"]]]]), "no point"),
        (extra([["1", ["norm", ["+", "x", ["*", -1, ["start"]]]]]]), "'norm'"),
        (extra([["1", ["ratio", [["1", ["f_star"]]], [["1", ["f_star"]]]]]]), "'ratio'"),
        ({"rules": {"local": {"y": ["hess", "y", "y"]}}}, "'hess'"),
        ({"rules": {"local": {"y": ["noisy", ["grad", "y"]]}}}, "noise"),
        ({"let": [["smooth", "L"], ["prox_pl", "L"]]}, "prox_pl"),
        ({"let": [["smooth", "L"], ["lipschitz_hessian", "L"]]}, "lipschitz_hessian"),
        ({"let": []}, "read at several points"),
        ({"let": [["descent", "L"]]}, "read at several points"),
        ({"let": [["smooth", "mu"]]}, "mu is not given"),
        ({"let": [["smooth", "L"], ["strongly_convex", "L"]]}, "expected an interval"),
        ({"then": [["=", ["at", "gap", 1], 1]]}, "relation"),
        ({"then": [["<=", ["*", ["at", "gap", 1], ["at", "gap", 1]], 1]]}, "product of two"),
        ({"then": [["<=", ["^", ["at", "gap", 1], "1/2"], 1]]}, "power"),
        ({"then": [["<=", ["at", "gap", 1], "G"]]}, "not squared"),
        ({"then": [["<=", ["at", "gap", 1], ["^", "2", "1/3"]]]}, "irrational"),
        ({"setting": "scalar", "method": None}, "not about a run"),
    ],
)  # fmt: skip
def test_what_is_out_of_reach_says_why(changes: Data, reason: str) -> None:
    if changes.get("setting") == "scalar":
        claim = {key: x for key, x in CLAIM.items() if key not in ("method", "means")}
        with pytest.raises(kernel.OutOfReach, match=reason):
            kernel.programme({**claim, "setting": "scalar"}, POINT, {"relation": 0})
        return
    with pytest.raises(kernel.OutOfReach, match=reason):
        worst_of(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"when": [["<=", "L", "1/2"]]},
        {"let": [["smooth", "L"], ["convex"], ["weights_sum_to_one"]], "point": {**POINT, "p": ["2"]}},
        {"let": [["smooth", "L"], ["without_replacement"]]},
        {"then": [["<=", ["at", "gap", 2], 1]]},
    ],
)
def test_a_point_that_is_not_admissible_is_rejected(changes: Data) -> None:
    with pytest.raises(kernel.Rejected) as error:
        worst_of(**changes)
    assert not isinstance(error.value, kernel.OutOfReach)


@pytest.mark.parametrize(
    "point", [{**POINT, "C": 0}, {**POINT, "d": 1}, {**POINT, "p": ["0.5"]}, {**POINT, "constants": {"q": "1"}}, {}]
)
def test_what_is_no_point_is_malformed(point: Data) -> None:
    with pytest.raises(kernel.Malformed):
        worst_of(point)


def test_a_long_run_is_followed_round_by_round() -> None:
    long = {**POINT, "T": 150}
    worst = worst_of(long, then=[["<=", ["at", "gap", 1], ["*", "L", ["at", "dist2", 0]]]])
    assert len(worst.tables[0]) == 3
    with pytest.raises(kernel.OutOfReach, match="read at several points"):  # and not a stack that is too deep
        worst_of(long, then=[["<=", ["at", "gap", 150], 1]], let=[])


def test_assumptions_have_their_constants() -> None:
    for let in ([["smooth"]], [["smooth", "L", "L"]], [["convex", "L"]]):
        with pytest.raises((kernel.Malformed, kernel.OutOfReach)):
            worst_of(let=let)


def test_too_many_steps_are_refused_before_they_are_taken() -> None:
    with pytest.raises(kernel.Rejected, match="smaller"):
        worst_of({**POINT, "E": 200, "T": 200})


def same(form: Form, gram: dict[tuple[str, str], Any], linear: dict[str, int], constant: int = 0) -> bool:
    return dict(form.gram) == gram and dict(form.linear) == linear and form.constant == constant


def test_the_forms_of_one_step_of_gradient_descent_by_hand() -> None:
    """Points: 0 is the start, 1 is start - g1_0, 2 is w*, the origin."""
    worst = worst_of({**POINT, "constants": {"L": "2"}})
    assert worst.leaves == ("g1_0", "g1_1", "start")
    assert same(worst.lhs, {}, {"f1_0": 1, "f1_2": -1}) or same(worst.lhs, {}, {"f1_1": 1, "f1_2": -1})
    assert same(worst.rhs, {("start", "start"): 2}, {})
    names = {f"f1_{a}_{b}" for a in range(3) for b in range(3) if a != b}
    assert set(worst.constraints) == names
    start = next(n for n, entry in enumerate(worst.tables[0]) if set(entry.x.terms) == {"start"})
    star = next(n for n, entry in enumerate(worst.tables[0]) if not entry.x.terms)
    slope = next(iter(worst.tables[0][start].g.terms))
    above = worst.constraints[f"f1_{start}_{star}"]  # f_0 - f* - |g_0|^2 / (2 L)
    assert same(above, {(slope, slope): fmpq(-1, 4)}, {f"f1_{start}": 1, f"f1_{star}": -1})
    below = worst.constraints[f"f1_{star}_{start}"]  # f* - f_0 + <g_0, start> - |g_0|^2 / (2 L)
    assert same(below, {(slope, slope): fmpq(-1, 4), (slope, "start"): 1}, {f"f1_{star}": 1, f"f1_{start}": -1})


@pytest.mark.parametrize("L", [None, fmpq(3)])
def test_what_two_points_say_is_the_class_in_either_order(L: fmpq | None) -> None:
    rng, mu = random.Random(0), fmpq(1, 2)

    def direction(weight: int) -> Vec:
        return Vec({name: fmpq(rng.choice((-3, -1, 2, 5)), 7) for name in rng.sample("uvwxy", 3)}, fmpq(weight))

    entries = [Entry(direction(1), direction(0), f"f{n}") for n in range(4)]
    leaves = {name: (fmpq(rng.randint(-4, 4)), fmpq(rng.randint(-4, 4), 3)) for name in "uvwxy"}
    values = {entry.f: fmpq(rng.randint(-4, 4)) for entry in entries}
    gram, forms = grams(leaves), Leaves((), mu, L, ()).all_above(entries)
    assert [*forms] == [(a, b) for a in range(4) for b in range(4) if a != b]
    for (a, b), form in forms.items():
        (x, g), (y, h) = ((vector(one.x, leaves, 2), vector(one.g, leaves, 2)) for one in (entries[a], entries[b]))
        dx, dg = (combine((fmpq(1), fmpq(-1)), pair) for pair in ((x, y), (g, h)))
        room = values[f"f{a}"] - values[f"f{b}"] - dot(h, dx) - mu / 2 * dot(dx, dx)
        bend = combine((fmpq(1), -mu), (dg, dx))
        assert form.at(gram, values) == room - (0 if L is None else dot(bend, bend) / (2 * (L - mu)))
        assert form == Leaves((), mu, L, ()).above(entries[a], entries[b])


def test_an_open_constant_is_unknown_and_not_negative() -> None:
    grad2 = {"at": ["t"], "terms": [["1", ["mean", ["norm2", ["grad", "x"]]]]]}
    means = {"steep": {"relation": ["<=", ["at", "grad2", "s"], ["^", "G", 2]], "for_all": {"s": ["0", "1"]}}}
    worst = worst_of(
        measures={"grad2": grad2}, domains={**DOMAINS, "grad2": "real"}, means=means,
        let=[["smooth", "L"], ["convex"], ["steep", "G"]], then=[["<=", ["at", "gap", 1], ["^", "G", 2]]],
    )  # fmt: skip
    assert worst.open == {"G": "G_squared"}
    assert {"steep_0_0", "steep_1_0", "G_squared_nonnegative"} <= set(worst.constraints)
    assert worst.rhs.linear == {"G_squared": 1}


def test_without_a_minimiser_in_the_claim_none_is_assumed() -> None:
    """f may be a straight line: nothing about w* is among the constraints."""
    worst = worst_of(**extra([["1", ["norm2", ["+", "x", ["*", -1, ["start"]]]]]]))
    assert not worst.minimised
    assert worst.leaves == ("g1_0",)


def test_losses_that_are_not_convex_are_nowhere_below_their_least_value() -> None:
    worst = worst_of(let=[["smooth", "L"]])
    assert {"least_0", "least_1"} <= set(worst.constraints)
    form = worst.constraints["least_0"]  # f_0 - f* - |g_0|^2 / (2 L)
    assert set(form.gram.values()) == {fmpq(-1, 2)}
    assert not {name for name in worst_of().constraints if name.startswith("least")}


def test_without_smoothness_there_are_no_squares_of_slopes() -> None:
    worst = worst_of(let=[["convex"], ["subgradients"]])
    assert worst.L == (None,)
    assert not any(
        a == b and a.startswith("g") for f in worst.constraints.values() for a, b in f.gram if f.gram[a, b] < 0
    )


def test_subgradients_with_weights_below_0_are_out_of_reach() -> None:
    """2 |x| - |x| is least at 0, and so is |x| - 2 |x| nowhere; slopes at the kinks say nothing."""
    with pytest.raises(kernel.Rejected, match="weights below 0"):
        worst_of({**POINT, "C": 2, "p": ["2", "-1"]}, let=[["convex"], ["subgradients"]])


def test_a_proximal_point_of_all_clients_has_the_mean_gradient_there() -> None:
    """x - u = 3 sum_i p_i grad f_i(u)."""
    rules: Data = {"local": {}, "update": {}}
    terms = [["1", ["norm2", ["+", "x", ["*", -1, ["full_prox", 3, "x"]]]]]]
    pair = {**POINT, "C": 2, "p": ["1/3", "2/3"]}
    worst = worst_of(pair, rules, **extra(terms))
    assert same(worst.lhs, {("g1_0", "g1_0"): 1, ("g1_0", "g2_0"): 4, ("g2_0", "g2_0"): 4}, {})
    assert [len(table) for table in worst.tables] == [1, 1]
    assert worst.tables[0][0].x.key == worst.tables[1][0].x.key


@pytest.mark.parametrize(
    ("let", "point", "reason"),
    [
        ([["smooth", "L"], ["exact_oracle"]], POINT, "minibatches"),
        ([["smooth", "L"], ["full_batch"]], POINT, "any accuracy"),
        ([["smooth", "L"], ["full_batch"], ["inexact", "G"]], POINT, "any accuracy"),
    ],
)
def test_local_problems_are_in_reach_where_the_accuracy_of_answers_is_given(let: Any, point: Data, reason: str) -> None:
    rules: Data = {"local": {"y": ["oracle", 1, "y"]}}
    with pytest.raises(kernel.OutOfReach, match=reason):
        worst_of(point, rules, let=let)
    near: Any = [["smooth", "L"], ["full_batch"], ["inexact", "G"]]
    exact, rough = (worst_of({**POINT, "constants": {"L": "1", "G": x}}, rules, let=near) for x in ("0", "1"))
    assert {*rough.leaves} - {*exact.leaves} >= {"e1_0"}
    assert {*rough.constraints} - {*exact.constraints} >= {"answer_0"}


PROX: Data = {
    "id": "prox", "server": {"x": ["start"]}, "client": {"y": "x"}, "begin": {"y": "x"},
    "local": {"y": ["prox", "gamma", "y"]}, "end": {}, "update": {"x": ["mean", "y"]},
    "measures": {"over": {"at": ["t"], "terms": [["1", ["g", "x"]], ["-1", ["g", ["w_star"]]]]},
                 "dist2": GD["measures"]["dist2"]},
}  # fmt: skip


def test_a_proximal_step_says_nothing_of_losses_that_it_does_not_read() -> None:
    """u = start - gamma r, and g(w*) >= g(u) + <r, w* - u>: from this alone g(u) - g(w*) <= |start|^2 / (4 gamma)."""
    claim: Data = {**CLAIM, "let": [], "method": PROX, "domains": {**DOMAINS, "over": "real"},
             "then": [["<=", ["at", "over", 1], ["*", "1/4", ["^", "gamma", -1], ["at", "dist2", 0]]]]}  # fmt: skip
    worst = kernel.programme(claim, {**POINT, "constants": {}}, {"relation": 0})
    assert set(worst.constraints) == {"g_0_1", "g_1_0"}
    assert len(worst.penalty) == 2
    proof: Data = {"format": "fedaudit-proof/1", "statement": claim["id"], "claim": claim, "at": {"relation": 0},
             "point": {**POINT, "constants": {}}, "factor": "1"}  # fmt: skip
    star = next(n for n, entry in enumerate(worst.penalty) if not entry.x.terms)
    assert kernel.prove({**proof, "multipliers": {f"g_{star}_{1 - star}": "1"}}).factor == 1
    with pytest.raises(kernel.Rejected, match="indefinite"):
        kernel.prove({**proof, "factor": "99/100", "multipliers": {f"g_{star}_{1 - star}": "1"}})


def test_bounds_on_subgradients_hold_at_every_point_of_the_regulariser() -> None:
    claim: Data = {
        **CLAIM, "let": [["bounded_subgradients", "G"]], "method": PROX, "domains": {**DOMAINS, "over": "real"},
        "then": [["<=", ["at", "over", 1], ["^", "G", 2]]],
    }  # fmt: skip
    worst = kernel.programme(claim, {**POINT, "constants": {}}, {"relation": 0})
    assert {"h_0_slope", "h_1_slope", "G_squared_nonnegative"} <= set(worst.constraints)
