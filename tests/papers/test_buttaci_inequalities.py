"""Appendix A: what is true is proved or survives, what is not falls with a certificate that can be read by hand."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples, some
from sympy import Expr, Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue, statement, statements
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.problems.losses.functions import smoothness
from fedaudit.verify import kernel
from fedaudit.verify.certify.command import certify
from fedaudit.verify.moves.audit import audit, hunt, read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of, score

VERDICTS = {
    "appA-cocoercive": "proved",
    "appA-smooth-gap": "proved",
    "appA-combination": "refuted",
    "appA-combination~repaired": "survived",
    "appA-strong-gap": "proved",
    "appA-strong-second": "refuted",
    "appA-strong-second~repaired": "proved",
    "appA-jensen": "proved",
    "appA-cauchy": "proved",
    "appA-young": "proved",
    "appA-peterpaul": "proved",
}
EFFORT = 0.2
WORLD = [s.id for s in statements(["buttaci/appA-*"]) if s.method == "function"]


def audited(label: str) -> dict[str, Any]:
    return audit(statement(f"buttaci/{label}"), seed=0, effort=EFFORT).row()


def test_all_of_appendix_a_is_here() -> None:
    assert {s.id for s in statements(["buttaci/appA-*"])} == {f"buttaci/{label}" for label in VERDICTS}


@pytest.mark.parametrize("label", some(VERDICTS, 9, "one search each"))
def test_verdict(label: str) -> None:
    row = audited(label)
    assert row["verdict"] == VERDICTS[label]
    assert row["lint"]["findings"] == []
    if VERDICTS[label] == "refuted":
        assert row["repaired"] == f"buttaci/{label}~repaired"
        assert certify(json.loads(json.dumps(row["certificate"])), "a test")["accepted"]
    else:
        assert row["tightness"] == 1  # every true one is attained


def test_the_reversed_chain_falls_on_a_parabola() -> None:
    certificate = audited("appA-strong-second")["certificate"]
    instance = certificate["instance"]
    (((curvature,),), (mu,)) = instance["f"]["A"], instance["constants"].values()
    assert instance["d"] == 1
    assert F(curvature) > F(mu)  # f is more convex than it has to be
    assert max(len(x) for x in (curvature, mu, *instance["w"], *instance["w_star"])) <= 2
    kernel.check(certificate)


def test_a_negative_weight_breaks_the_combination() -> None:
    certificate = audited("appA-combination")["certificate"]
    instance = certificate["instance"]
    assert (instance["d"], len(instance["functions"])) == (1, 2)
    assert min(map(F, instance["lam"])) < 0
    kernel.check(certificate)
    repaired = {**certificate, "statement": "buttaci/appA-combination~repaired"}
    repaired["claim"] = lower(statement("buttaci/appA-combination~repaired")).claim
    with pytest.raises(kernel.Rejected, match="nonnegative_weights"):
        kernel.check(repaired)


# --- the auditor is audited ------------------------------------------------------------------------------------------


def bound(label: str, part: int, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with another right-hand side in one of its relations."""
    printed = statement(f"buttaci/{label}")
    relations = [r.func(*map(printed.defined, r.args)) for r in printed.relations]
    relations[part] = relations[part].func(relations[part].args[0], change(relations[part].args[1]))
    return replace(printed, then=tuple(relations), where={})


BROKEN = {
    f"{label}, relation {part}, × {factor}": bound(label, part, lambda e, factor=factor: e * factor)
    for label, part, factor in (
        ("appA-cocoercive", 0, Rational(9, 10)),
        ("appA-cocoercive", 1, Rational(9, 10)),
        ("appA-smooth-gap", 0, Rational(9, 10)),
        ("appA-smooth-gap", 1, Rational(9, 10)),
        ("appA-combination~repaired", 0, Rational(9, 10)),
        ("appA-strong-gap", 0, Rational(9, 10)),
        ("appA-strong-gap", 1, Rational(9, 10)),
        ("appA-strong-second~repaired", 0, Rational(9, 10)),
        ("appA-strong-second~repaired", 1, Rational(9, 10)),
        ("appA-jensen", 0, Rational(9, 10)),
        ("appA-cauchy", 1, Rational(9, 10)),
        ("appA-young", 0, Rational(9, 10)),
        ("appA-peterpaul", 0, Rational(9, 10)),
    )
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_copy_is_refuted(name: str) -> None:
    row = hunt(BROKEN[name], seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


def without(label: str, assumption: str) -> Statement:
    printed = statement(f"buttaci/{label}")
    return replace(printed, let=tuple(a for a in printed.let if a.name != assumption))


@pytest.mark.parametrize(("label", "needed"), [("appA-cocoercive", "convex"), ("appA-jensen", "nonnegative_weights"),
                                               ("appA-jensen", "convex")])  # fmt: skip
def test_every_assumption_that_can_be_left_out_is_needed(label: str, needed: str) -> None:
    """Without convexity f may have negative curvature, and the search finds it."""
    row = hunt(without(label, needed), seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


@pytest.mark.parametrize("label", ["appA-cauchy", "appA-young", "appA-peterpaul"])
def test_proofs_rest_on_nothing_and_prove_nothing_else(label: str) -> None:
    printed = statement(f"buttaci/{label}")
    made = derive(printed, catalogue())
    assert (made.status, made.proved, made.premises) == ("follows", True, ())
    broken = next(s for name, s in BROKEN.items() if name.startswith(label))
    assert not derive(broken, catalogue([broken])).proved


def test_what_rests_on_the_triangle_inequality_says_so() -> None:
    made = derive(statement("buttaci/appA-combination~repaired"), catalogue())
    assert made.status == "follows"
    assert made.premises


# --- floats against the kernel, the kernel against a second opinion --------------------------------------------------


@pytest.mark.parametrize("identifier", WORLD)
def test_floats_agree_with_the_kernel(identifier: str) -> None:
    reading, world = read(statement(identifier))
    rng = np.random.default_rng(1)
    seen = 0
    for shape in world.shapes(reading):
        genes = genes_of(reading, world, shape)
        batch = draw(genes, 4, rng)
        for row in range(4):
            genome = exactly(genes, batch, row, 3)
            found = score(reading, world, shape, {k: np.asarray(x, dtype=float)[None] for k, x in genome.items()})
            made = replay(reading, world, shape, genome)
            if made is None:
                continue
            seen += 1
            for mine, theirs in ((made.lhs, found.lhs[0]), (made.rhs, found.rhs[0])):
                middle = mine.partition(" +/- ")[0]  # of a ball, where a root is not rational
                assert float(F(middle)) == pytest.approx(float(theirs), rel=1e-9, abs=1e-12)
    assert seen >= 4


small = st.fractions(-3, 3, max_denominator=4)
size = st.fractions(0, 3, max_denominator=4)
Bend = dict[str, F]
bends = st.fixed_dictionaries({"a": small, "m": small, "lo": size, "hi": size, "c": small})


def slope(f: Bend, x: F) -> F:
    """phi' at x, by its definition."""
    z = x - f["c"]
    return f["m"] * z + (f["a"] - f["m"]) * max(-f["lo"], min(f["hi"], z))


def rise(f: Bend, x: F, y: F) -> F:
    """phi(y) - phi(x): the trapezoids below phi', which is linear between its kinks."""
    if x > y:
        return -rise(f, y, x)
    kinks = [k for k in (f["c"] - f["lo"], f["c"] + f["hi"]) if x < k < y]
    return sum(((q - p) * (slope(f, p) + slope(f, q)) / 2 for p, q in pairwise([x, *sorted(kinks), y])), F(0))


def piecewise(parts: list[Bend]) -> dict[str, Any]:
    return {"kind": "piecewise", **{k: [str(f[k]) for f in parts] for k in ("a", "m", "lo", "hi", "c")}}


def world_of(label: str, instance: dict[str, Any]) -> Any:
    return kernel.world(lower(statement(f"buttaci/{label}")).claim, instance)


def exact(x: Any) -> F:
    return F(int(x.p), int(x.q))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(bends, small, small), min_size=1, max_size=2))
def test_two_points_by_definition(coordinates: list[tuple[Bend, F, F]]) -> None:
    parts, v, w = ([c[k] for c in coordinates] for k in range(3))
    convex = all(min(f["a"], f["m"]) >= 0 for f in parts)
    instance = {"kind": "points", "d": len(parts), "f": piecewise(parts), "constants": {"L": "3"},
                "v": [str(x) for x in v], "w": [str(x) for x in w]}  # fmt: skip
    if convex:
        instance["w_star"] = [str(f["c"]) for f in parts]
    made = world_of("appA-smooth-gap" if convex else "appA-cocoercive", instance)
    jumps = [slope(f, x) - slope(f, y) for f, x, y in zip(parts, w, v, strict=True)]
    assert exact(made.value("grad_diff2")) == sum(x**2 for x in jumps)
    assert exact(made.value("grad_inner")) == sum(g * (x - y) for g, x, y in zip(jumps, w, v, strict=True))
    assert exact(made.value("grad2")) == sum(slope(f, x) ** 2 for f, x in zip(parts, w, strict=True))
    if convex:
        assert exact(made.value("gap")) == sum(rise(f, f["c"], x) for f, x in zip(parts, w, strict=True))
        assert exact(made.value("dist2")) == sum((x - f["c"]) ** 2 for f, x in zip(parts, w, strict=True))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(bends, small), min_size=1, max_size=4))
def test_smoothness_is_the_steepest_difference_quotient(pairs: list[tuple[Bend, F]]) -> None:
    functions, lam = [f for f, _ in pairs], [x for _, x in pairs]
    kinks = {x for f in functions for x in (f["c"] - f["lo"], f["c"] + f["hi"])}
    grid = [min(kinks) - 1, *sorted(kinks), max(kinks) + 1]

    def total(x: F) -> F:
        return sum((weight * slope(f, x) for f, weight in pairs), F(0))

    steepest = max(abs((total(y) - total(x)) / (y - x)) for x, y in pairwise(grid))
    instance = {"kind": "combination", "d": 1, "functions": [piecewise([f]) for f in functions],
                "lam": [str(x) for x in lam], "L_i": ["3"] * len(pairs)}  # fmt: skip
    made = world_of("appA-combination", instance)
    assert exact(made.value("smoothness")) == steepest
    made.assume("each_smooth")  # curvatures lie in [-3, 3]
    columns = {k: np.array([[float(f[k])] for f in functions]) for k in ("a", "m", "lo", "hi", "c")}
    floats = smoothness(columns["m"], columns["a"] - columns["m"], columns["lo"], columns["hi"], columns["c"],
                        np.array([float(x) for x in lam]))  # fmt: skip
    assert float(floats) == pytest.approx(float(steepest), abs=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(bends, st.lists(st.tuples(small, size), min_size=1, max_size=4))
def test_the_mean_of_points_by_definition(f: Bend, points: list[tuple[F, F]]) -> None:
    instance = {"kind": "mean", "d": 1, "f": piecewise([f]), "points": [[str(x)] for x, _ in points],
                "lam": [str(weight) for _, weight in points]}  # fmt: skip
    made = world_of("appA-jensen", instance)
    middle = sum((weight * x for x, weight in points), F(0))
    assert exact(made.value("f_mean")) == rise(f, f["c"], middle)
    assert [exact(made.at("f_at", (k,))) for k in range(1, len(points) + 1)] == [rise(f, f["c"], x) for x, _ in points]


# --- tampering -------------------------------------------------------------------------------------------------------

POINTS: dict[str, Any] = {
    "kind": "points", "d": 1, "f": {"kind": "quadratic", "A": [["2"]], "b": ["2"]}, "v": ["0"], "w": ["3"],
    "w_star": ["1"], "constants": {"L": "2"},
}  # fmt: skip
STRONG = {**POINTS, "constants": {"mu": "2"}}
COMBINED: dict[str, Any] = {
    "kind": "combination", "d": 2, "lam": ["1/2", "1/2"], "L_i": ["1", "2"],
    "functions": [{"kind": "quadratic", "A": [["1", "0"], ["0", "-1"]], "b": ["0", "0"]},
                  {"kind": "piecewise", "a": ["2", "0"], "m": ["-2", "1"], "lo": ["1", "1"], "hi": ["1", "1"],
                   "c": ["0", "0"]}],
}  # fmt: skip
MEAN: dict[str, Any] = {
    "kind": "mean", "d": 1, "f": {"kind": "quadratic", "A": [["1"]], "b": ["0"]}, "lam": ["1/2", "1/2"],
    "points": [["0"], ["1"]],
}  # fmt: skip
GOOD = {
    "appA-smooth-gap": POINTS,
    "appA-strong-gap": STRONG,
    "appA-combination~repaired": COMBINED,
    "appA-jensen": MEAN,
    "appA-cauchy": {"kind": "vectors", "d": 2, "v": ["1", "2"], "w": ["0", "1"]},
}


@pytest.mark.parametrize("label", GOOD)
def test_good_instances_are_admitted(label: str) -> None:
    assert kernel.admissible(lower(statement(f"buttaci/{label}")).claim, GOOD[label])


TAMPERED: list[tuple[str, str, Any, type[Exception]]] = [
    ("appA-smooth-gap", "constants", {"L": "1"}, kernel.Rejected),  # not smooth with that constant
    ("appA-smooth-gap", "constants", {"L": "0"}, kernel.Rejected),
    ("appA-smooth-gap", "constants", {}, kernel.Malformed),
    ("appA-smooth-gap", "constants", {"L": "2", "gap": "7"}, kernel.Malformed),
    ("appA-smooth-gap", "w_star", ["0"], kernel.Rejected),  # not a minimiser
    ("appA-smooth-gap", "f", {"kind": "quadratic", "A": [["-2"]], "b": ["-2"]}, kernel.Rejected),  # a maximiser
    ("appA-smooth-gap", "w", ["3", "4"], kernel.Malformed),
    ("appA-smooth-gap", "w", [3.5], kernel.Malformed),
    ("appA-smooth-gap", "gap", "7", kernel.Malformed),
    ("appA-smooth-gap", "kind", "mean", kernel.Malformed),
    ("appA-strong-gap", "constants", {"mu": "3"}, kernel.Rejected),
    ("appA-combination~repaired", "lam", ["1", "1"], kernel.Rejected),
    ("appA-combination~repaired", "lam", ["2", "-1"], kernel.Rejected),
    ("appA-combination~repaired", "lam", [], kernel.Malformed),
    ("appA-combination~repaired", "L_i", ["1/2", "2"], kernel.Rejected),
    ("appA-combination~repaired", "L_i", ["1", "1"], kernel.Rejected),  # curvature -2 needs 2
    ("appA-combination~repaired", "L_i", ["1", "-2"], kernel.Malformed),
    ("appA-jensen", "lam", ["2", "-1"], kernel.Rejected),
    ("appA-jensen", "lam", ["1/2", "1/3"], kernel.Rejected),
    ("appA-jensen", "f", {"kind": "quadratic", "A": [["-1"]], "b": ["0"]}, kernel.Rejected),
    ("appA-jensen", "points", [["0"]], kernel.Malformed),
    ("appA-cauchy", "d", 3, kernel.Malformed),
]  # fmt: skip


@pytest.mark.parametrize(("label", "field", "value", "error"), TAMPERED)
def test_a_tampered_instance_is_refused(label: str, field: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        kernel.admit(lower(statement(f"buttaci/{label}")).claim, {**GOOD[label], field: value})


def test_a_turned_quadratic_has_no_exact_smoothness_here() -> None:
    turned = copy.deepcopy(COMBINED)
    turned["functions"][0]["A"] = [["0", "1"], ["1", "0"]]
    with pytest.raises(kernel.Malformed, match="diagonal"):
        world_of("appA-combination", turned)


def test_a_tampered_certificate_is_refused() -> None:
    certificate = audited("appA-strong-second")["certificate"]
    with pytest.raises(kernel.Rejected):
        kernel.check({**certificate, "lhs": str(F(certificate["lhs"]) + 1)})
    with pytest.raises(kernel.Rejected):  # the first display holds there
        kernel.check({**certificate, "statement": "buttaci/appA-strong-gap",
                      "claim": lower(statement("buttaci/appA-strong-gap")).claim})  # fmt: skip
    changed = copy.deepcopy(certificate)
    changed["claim"]["let"] = []
    assert not certify(json.loads(json.dumps(changed)), "a test")["accepted"]


@pytest.mark.parametrize(
    "label", ["appA-strong-gap", "appA-smooth-gap", "appA-cocoercive", "appA-strong-second~repaired"]
)
@pytest.mark.parametrize("part", [0, 1])
def test_every_relation_of_a_chain_is_compared_with_its_own_bound(label: str, part: int) -> None:
    printed = statement(f"buttaci/{label}")
    made = derive(printed, catalogue(), slack=False)
    assert (made.status, made.evidence) == ("follows", "proof")
    assert made.factor == pytest.approx(1)
    chain = [
        r.func(r.args[0], r.args[1] * (Rational(9, 10) if n == part else 1)) for n, r in enumerate(printed.relations)
    ]
    broken = replace(printed, then=tuple(chain))
    more = derive(broken, catalogue([broken]), slack=False)
    assert (more.status, more.factor) == ("claims-more", pytest.approx(10 / 9))
    larger = replace(printed, then=tuple(r.func(r.args[0] * 2, r.args[1]) for r in printed.relations))
    assert derive(larger, catalogue([larger]), slack=False).status in ("claims-more", "not-derived")
    slack = replace(printed, then=tuple(r.func(r.args[0], r.args[1] * 2) for r in printed.relations))
    assert derive(slack, catalogue([slack]), slack=False).status in ("follows", "claims-less")


def test_a_larger_left_side_claims_more() -> None:
    printed = statement("buttaci/appA-young")
    broken = replace(printed, then=Le(2 * printed.relations[0].args[0], printed.relations[0].args[1]))
    assert derive(broken, catalogue([broken]), slack=False).status == "claims-more"
