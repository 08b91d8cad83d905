"""Yuan and Li: statements about functions, data sets, minibatches and sampled devices."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from helpers import assert_floats_agree_with_the_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples, slow, some

from fedaudit.bounds.catalogue.discovery import catalogue, statement, statements
from fedaudit.bounds.language.algebra import Rational
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.papers.yuan.symbols import eta, nu, plus_u2
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.problems.losses.minibatch import multisets, neighbours
from fedaudit.verify import kernel
from fedaudit.verify.certify.command import certify
from fedaudit.verify.kernel.losses.draws import batches
from fedaudit.verify.moves.audit import hunt, literally
from fedaudit.verify.search.lowered_claim import lower

WORLDS = ("devices", "erm", "table", "algorithm", "subset", "prox")
STEPS = ("yuan/lem10", "yuan/lem11")  # one step of a run
MINE = [s.id for s in statements(["yuan"]) if s.method in WORLDS or s.id.startswith(STEPS)]
FALSE = ["yuan/lem10-variance", "yuan/lem11-first"]
UNITS = [*FALSE, "yuan/lem11-second", "yuan/lem11-proof-step"]
LIGHT = [
    "lem4-proof-step~repaired",
    "def1-homogeneous",
    "lem2",
    "lem3-bias",
    "lem3-variance",
    "lem4-mean",
    "lem4-variance",
    "lem7",
]
EFFORT = 0.2


def test_all_are_here() -> None:
    labels = "def1-homogeneous lem1 lem2 lem3-bias lem3-variance lem3-variance-proof lem4-mean lem4-variance lem7"
    labels += " rem5-identity lem10-bias lem10-variance lem10-variance~repaired lem11-first lem11-first~repaired"
    labels += " lem11-second lem4-proof-step lem4-proof-step~repaired lem11-proof-step"
    assert set(MINE) == {f"yuan/{label}" for label in labels.split()}


# --- what falls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", some(FALSE, 2, "one long search each"))
def test_false_prints_fall(identifier: str) -> None:
    row = hunt(statement(identifier), seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    assert certify(json.loads(json.dumps(row["certificate"])), "a test")["accepted"]
    instance = row["certificate"]["instance"]
    sizes = instance["C"], instance["minibatch"]["b"]
    assert sizes == {"yuan/lem10-variance": (1, 1), "yuan/lem11-first": (2, 3)}[identifier]
    assert f"{identifier}~repaired" in catalogue()


FALSE_STEPS = ("yuan/lem4-proof-step", "yuan/lem11-proof-step")


@slow("one long search each")
@pytest.mark.parametrize(
    "identifier", [i for i in MINE if i not in (*FALSE, *FALSE_STEPS) and i.split("/")[1] not in LIGHT]
)
def test_the_others_survive(identifier: str) -> None:
    assert hunt(statement(identifier), seed=0, effort=EFFORT).row()["verdict"] == "survived"


@slow("one long search each")
@pytest.mark.parametrize("identifier", FALSE_STEPS)
def test_steps_of_the_printed_proofs_fall(identifier: str) -> None:
    assert hunt(statement(identifier), seed=0, effort=EFFORT).row()["verdict"] == "refuted"


def test_two_of_two_devices_have_no_variance() -> None:
    """The proof of lemma 4 adds the variances of the sampled devices: with I = M = 2 that is not 0."""
    row = hunt(statement("yuan/lem4-proof-step"), seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    assert (row["certificate"]["instance"]["M"], row["certificate"]["instance"]["I"]) == (2, 2)
    assert row["certificate"]["lhs"] == "0"


@pytest.mark.parametrize("label", some(LIGHT, 3, "one search each"))
def test_light_ones_survive(label: str) -> None:
    assert hunt(statement(f"yuan/{label}"), seed=0, effort=EFFORT).row()["verdict"] == "survived"


def flat(slope: int, at: int) -> dict[str, Any]:
    """A loss of slope 0 and, beyond the unit interval that ends (begins) at `at`, 1 (or before it -1); smooth."""
    x = [at - 1, at] if slope > 0 else [at, at + 1]
    ends = {"a": "0", "s": str(min(slope, 0)), "c": "0"}
    return {"x": [str(k) for k in x], "jump": ["0", "0"], "bend": ["1", "-1"], **ends}


def opposed(b: int, eta: str, **others: str) -> dict[str, Any]:
    """Two devices without any randomness of data, which pull w = 0 with slopes 1 and -1."""
    return {
        "C": 2, "d": 1, "E": 1, "T": 1, "p": ["1/2", "1/2"], "w0": ["0"], "noise": {"kind": "none"},
        "constants": {"G": "1", "L": "1", "eps": "0", **others}, "parameters": {"eta": eta},
        "clients": [{"kind": "sample", "q": ["1"], "points": [flat(s, -s)]} for s in (1, -1)],
        "participation": {"kind": "without_replacement", "m": 1}, "minibatch": {"b": b, "shared": False},
    }  # fmt: skip


def test_minibatches_do_not_lower_the_variance_of_devices() -> None:
    """Straight losses: d_t is 1 or -1, the gradient 0, so that 1 stands against 8 eta^2 + 2/b."""
    claim = lower(statement("yuan/lem11-first")).claim
    for b in (1, 2, 3, 10):
        lhs, rhs, holds = kernel.evaluate(claim, opposed(b, "1/10"), (), {"relation": 0})
        assert (lhs, rhs) == (1, fmpq(8, 100) + fmpq(2, b))
        assert holds == (b < 3)
    repaired = lower(statement("yuan/lem11-first~repaired")).claim
    assert kernel.evaluate(repaired, opposed(10, "1/10"), (), {"relation": 0})[2]


@slow("a long search")
def test_without_independent_minibatches_even_the_repair_falls() -> None:
    """Three devices that draw the same points: their mean has the variance of one."""
    told = statement("yuan/lem11-first~repaired")
    *rest, independent = told.let
    printed = replace(told, let=tuple(rest), implicit=(independent,), follows_from=())
    row = literally(printed, printed.implicit[0], seed=0, effort=4.0).row()
    assert row["literal"] == "breaks"
    assert row["certificate"]["instance"]["participation"]["m"] == 3


def test_shared_minibatches_of_three_devices() -> None:
    """All three gradients are 1 or -1 together: 1 stands against 8 eta^2 + 2/3."""
    told = statement("yuan/lem11-first~repaired")
    claim = lower(replace(told, let=told.let[:-1], implicit=told.let[-1:])).claim
    device = {"kind": "sample", "q": ["1/2", "1/2"], "points": [flat(1, -1), flat(-1, 1)]}
    three = {"C": 3, "p": ["1/3"] * 3, "participation": {"kind": "without_replacement", "m": 3}}
    instance = {**opposed(1, "1/10"), **three, "clients": [device] * 3}
    assert kernel.evaluate(claim, instance, (), {"relation": 0})[2]
    together = {**instance, "minibatch": {"b": 1, "shared": True}}
    with pytest.raises(kernel.Rejected, match="independent_minibatches"):
        kernel.admit(claim, together)
    lhs, rhs, holds = kernel.evaluate(claim, together, ("independent_minibatches",), {"relation": 0})
    assert (lhs, rhs, holds) == (1, fmpq(8, 100) + fmpq(2, 3), False)


def test_the_units_of_lemma_10_and_of_the_condition_of_lemma_11_do_not_fit() -> None:
    assert [f.rule for f in lint(statement("yuan/lem10-variance"))] == ["dimension"]
    assert [f.rule for f in lint(statement("yuan/lem11-second"))] == ["dimension"]
    assert all("G/(2*L)" in f.message for f in lint(statement("yuan/lem11-second")))
    clean = [i for i in MINE if i not in UNITS]
    assert [f for i in clean for f in lint(statement(i))] == []


STATUS = {
    "def1-homogeneous": "follows",
    "lem1": "follows",
    "lem2": "claims-less",
    "lem3-bias": "follows",
    "lem3-variance": "follows",
    "lem3-variance-proof": "follows",
    "rem5-identity": "follows",
    "lem4-mean": "follows",
    "lem4-variance": "follows",
    "lem7": "follows",
    "lem10-bias": "follows",
    "lem10-variance": "claims-more",
    "lem10-variance~repaired": "follows",
    "lem11-first": "follows",  # from refuted steps: lemma 9, and variances of devices that are not there
    "lem11-first~repaired": "follows",
    "lem11-second": "claims-more",  # by lemma 10 as printed; with its likely meaning it follows
}


PROVED = ("def1-homogeneous", "lem4-mean", "lem4-variance", "lem7")


@pytest.mark.parametrize("label", some(STATUS, 6, "one derivation each"))
def test_what_follows(label: str) -> None:
    made = derive(statement(f"yuan/{label}"), catalogue(), slack=False)
    assert made.status == STATUS[label]
    assert made.proved == (label in PROVED)
    assert made.proved or made.premises or made.status == "claims-more"  # on what is said of losses and samples


# --- the auditor is audited ------------------------------------------------------------------------------------------


def bound(label: str, factor: Any) -> Statement:
    printed = statement(f"yuan/{label}")
    relation: Any = printed.defined(printed.relations[0])
    return replace(printed, then=relation.func(relation.lhs, factor * relation.rhs), where={}, follows_from=())


TIGHT = {"def1-homogeneous": Rational(9, 10), "lem4-mean": Rational(9, 10), "lem4-variance": Rational(9, 10),
         "lem1": Rational(8, 10), "lem2": Rational(3, 10), "lem3-bias": Rational(4, 10),
         "lem3-variance": Rational(2, 10), "rem5-identity": Rational(9, 10)}  # fmt: skip


@pytest.mark.parametrize("label", some(TIGHT, 3, "one search each"))
def test_broken_copies_fall(label: str) -> None:
    row = hunt(bound(label, TIGHT[label]), seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


def test_a_three_point_lemma_with_more_convexity_falls() -> None:
    printed = statement("yuan/lem7")
    relation: Any = printed.relations[0]
    more = relation.func(relation.lhs, relation.rhs - (1 / eta - nu) / 20 * plus_u2)
    row = hunt(replace(printed, then=more, follows_from=()), seed=0, effort=EFFORT).row()
    assert row["verdict"] == "refuted"
    kernel.check(row["certificate"])


# --- floats against the kernel, the kernel against a second opinion --------------------------------------------------


@pytest.mark.parametrize("identifier", some(MINE, 4, "many instances of every statement"))
def test_floats_agree_with_the_kernel(identifier: str) -> None:
    assert_floats_agree_with_the_kernel(identifier, 3, rel=1e-7, share=1e-9)


small = st.fractions(-3, 3, max_denominator=4)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(small, small), min_size=1, max_size=5), st.integers(1, 5))
def test_sampling_without_replacement_by_its_formula(rows: list[tuple[F, F]], size: int) -> None:
    """E|d_t - dbar|^2 = (M - I)/(M - 1) V/I, which is V/I, as the paper's proof has it, only for I = 1."""
    M, size = len(rows), min(size, len(rows))
    instance = {
        "M": M,
        "I": size,
        "d": 2,
        "directions": [[str(x) for x in row] for row in rows],
        "constants": {"G": "9"},
    }
    made = kernel.world(lower(statement("yuan/lem4-variance")).claim, instance)
    mean = [sum(column, F(0)) / M for column in zip(*rows, strict=True)]
    V = sum((sum((x - c) ** 2 for x, c in zip(row, mean, strict=True)) for row in rows), F(0)) / M
    found = made.value("deviation")
    assert F(int(found.p), int(found.q)) == F(M - size, size * max(M - 1, 1)) * V


@given(st.integers(1, 4), st.integers(1, 5))
@settings(max_examples=examples(20), deadline=None)
def test_all_minibatches_are_counted(n: int, b: int) -> None:
    times, orders = multisets(n, b)
    assert orders.sum() == n**b
    assert [(int((q * n**b).p), [int(x * b) for x in shares]) for shares, q in batches((fmpq(1, n),) * n, b)] == [
        (int(k), list(row)) for k, row in zip(orders, times, strict=True)
    ]


def test_neighbours_differ_in_one_point() -> None:
    first, second = neighbours(3, 2)
    assert len(first) == len(list(combinations(range(3), 2))) * 2 * 3  # a pair of values, a place, the other point
    assert np.all(first < second)


# --- tampering -------------------------------------------------------------------------------------------------------

HUBER = {"x": ["-1", "1"], "jump": ["0", "0"], "bend": ["1", "-1"], "a": "0", "s": "-1", "c": "0"}
KINK = {"x": ["0"], "jump": ["2"], "bend": ["0"], "a": "0", "s": "-1", "c": "0"}
SLIDE = {"x": ["0", "1"], "jump": ["0", "0"], "bend": ["1", "-1"], "a": "0", "s": "0", "c": "0"}
ERM: dict[str, Any] = {
    "N": 1, "losses": [HUBER, KINK], "r": {"x": [], "jump": [], "bend": [], "a": "1", "s": "0", "c": "0"},
    "shift": ["0", "1/2"], "constants": {"G": "1", "lam": "1", "eps": "1"},
}  # fmt: skip
MODELS = {"N": 1, "q": ["1/3", "2/3"], "losses": [HUBER, SLIDE], "A": ["0", "1"],
          "constants": {"G": "1", "L": "1", "gamma": "1"}}  # fmt: skip
TABLE = {"N": 2, "d": 1, "q": ["1/2", "1/2"], "h": [["0"], ["1"], ["1"], ["2"]], "constants": {"beta": "1"}}
GOOD: dict[str, dict[str, Any]] = {
    "lem1": ERM,
    "lem2": TABLE,
    "lem3-bias": MODELS,
    "lem4-variance": {"M": 2, "I": 1, "d": 1, "directions": [["1"], ["-1"]], "constants": {"G": "1"}},
    "lem7": {"f": KINK, "w": "2", "u": "-1", "constants": {"nu": "0", "eta": "1"}},
    "rem5-identity": {"f": KINK, "w": "2", "constants": {"nu": "1/4", "G": "1", "rho": "1"}},
    "def1-homogeneous": {"M": 2, "w": "1", "devices": [HUBER, HUBER]},
    "lem11-second": opposed(2, "1/10"),
}


@pytest.mark.parametrize("label", GOOD)
def test_good_instances_are_admitted(label: str) -> None:
    claim = lower(statement(f"yuan/{label}")).claim
    kernel.admit(claim, GOOD[label])
    assert kernel.evaluate(claim, GOOD[label], (), {"relation": 0, **dict.fromkeys(claim["for_all"], 1)})[2]


TAMPERED: list[tuple[str, str, Any, type[Exception]]] = [
    ("lem1", "constants", {"G": "1/2", "lam": "1", "eps": "1"}, kernel.Rejected),  # not that Lipschitz
    ("lem1", "constants", {"G": "1", "lam": "2", "eps": "1"}, kernel.Rejected),  # not that convex
    ("lem1", "constants", {"G": "1", "lam": "1", "eps": "1/16"}, kernel.Rejected),  # not that exact
    ("lem1", "losses", [HUBER], kernel.Malformed),
    ("lem2", "constants", {"beta": "1/2"}, kernel.Rejected),
    ("lem2", "q", ["1/2", "1/3"], kernel.Rejected),
    ("lem2", "q", ["3/2", "-1/2"], kernel.Malformed),
    ("lem2", "h", [["0"]], kernel.Malformed),
    ("lem2", "N", 12, kernel.Rejected),  # too many data sets
    ("lem3-bias", "constants", {"G": "1", "L": "1", "gamma": "1/2"}, kernel.Rejected),
    ("lem3-bias", "constants", {"G": "1", "L": "1/2", "gamma": "1"}, kernel.Rejected),
    ("lem3-bias", "losses", [HUBER, KINK], kernel.Rejected),  # a kink: no gradient at 0, and not smooth
    ("lem3-bias", "losses", [HUBER, {**SLIDE, "s": "1/2"}], kernel.Rejected),  # falls for ever
    ("lem4-variance", "constants", {"G": "1/2"}, kernel.Rejected),
    ("lem4-variance", "I", 3, kernel.Malformed),
    ("lem7", "f", {**KINK, "jump": ["-2"], "s": "1"}, kernel.Rejected),  # a concave kink
    ("lem7", "constants", {"nu": "0", "eta": "0"}, kernel.Rejected),
    ("lem7", "constants", {"nu": "1", "eta": "1"}, kernel.Rejected),  # eta nu < 1
    ("lem7", "constants", {"nu": "0", "eta": "1", "f_u": "7"}, kernel.Malformed),
    ("rem5-identity", "constants", {"nu": "1/2", "G": "1", "rho": "1"}, kernel.Rejected),
    ("rem5-identity", "f", {**KINK, "a": "1"}, kernel.Rejected),  # not Lipschitz
    ("def1-homogeneous", "devices", [HUBER, SLIDE], kernel.Rejected),
    ("lem11-second", "parameters", {"eta": "1"}, kernel.Rejected),
    ("lem11-second", "constants", {"G": "1", "L": "1", "eps": "1"}, kernel.Rejected),
    ("lem11-second", "constants", {"G": "1/2", "L": "1", "eps": "0"}, kernel.Rejected),
    ("lem11-second", "constants", {"G": "1", "L": "1/2", "eps": "0"}, kernel.Rejected),
    ("lem11-second", "participation", {"kind": "without_replacement", "m": 3}, kernel.Malformed),
    ("lem11-second", "participation", {"kind": "with_replacement", "m": 2}, kernel.Rejected),
    ("lem11-second", "p", ["1/3", "2/3"], kernel.Rejected),
    ("lem11-second", "minibatch", {"b": 0, "shared": False}, kernel.Malformed),
    ("lem11-second", "oracle", {"step": [["0", "0"]], "shift": [[["0"], ["0"]]]}, kernel.Rejected),  # not that exact
    ("lem11-second", "oracle", {"step": [["1"]], "shift": [[["0"]]]}, kernel.Malformed),
    ("lem11-second", "oracle", {"step": [], "shift": []}, kernel.Malformed),
]  # fmt: skip


@pytest.mark.parametrize(("label", "field", "value", "error"), TAMPERED)
def test_a_tampered_instance_is_refused(label: str, field: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        kernel.admit(lower(statement(f"yuan/{label}")).claim, {**GOOD[label], field: value})


def test_the_envelope_of_the_absolute_value_is_hubers() -> None:
    claim = lower(statement("yuan/rem5-identity")).claim
    made = kernel.world(claim, GOOD["rem5-identity"])
    assert (made.value("away"), made.value("envelope_slope")) == (1, 1)
    inside = kernel.world(claim, {**GOOD["rem5-identity"], "w": "1/3"})
    assert inside.value("away") == inside.value("envelope_slope") == fmpq(1, 3)
