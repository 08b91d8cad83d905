"""Proofs of a bound at a point: one by hand for gradient descent, and everything near it that proves nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from fuzz import Log, mutants, pool
from runs import Data, named

from fedaudit.verify import kernel
from fedaudit.verify.search.lowered_claim import lower

POINT: Data = {"C": 1, "E": 1, "T": 1, "p": ["1"], "constants": {"L": "1"}}


def by_hand() -> Data:
    """gap(1) <= dist2(0)/6. Points of f: 0 the start, 1 one step on, 2 the minimiser."""
    return {
        "format": "fedaudit-proof/1", "statement": "gd/rate",
        "claim": lower(named("gradient_descent.py::gd/rate")).claim, "point": POINT, "at": {"relation": 0},
        "factor": "1", "multipliers": {"f1_0_1": "1/2", "f1_2_0": "1/2", "f1_2_1": "1/2"},
    }  # fmt: skip


def changed(**changes: Any) -> Data:
    return {**copy.deepcopy(by_hand()), **changes}


def test_the_points_are_in_the_order_of_the_proof() -> None:
    proof = by_hand()
    worst = kernel.programme(proof["claim"], proof["point"], proof["at"])
    assert [len(entry.x.terms) for entry in worst.tables[0]] == [1, 2, 0]


def test_the_proof_by_hand_is_accepted() -> None:
    proved = kernel.prove(by_hand())
    assert (proved.statement, proved.factor) == ("gd/rate", 1)
    assert kernel.prove(changed(factor="3/2")).factor > 1
    assert kernel.prove(changed(point={**POINT, "constants": {"L": "2"}})).factor == 1  # it has no dimension


@pytest.mark.parametrize("name", ["f1_0_1", "f1_2_0", "f1_2_1"])
@pytest.mark.parametrize("value", ["0", "1", "499/1000", "501/1000", None])
def test_every_multiplier_counts(name: str, value: str | None) -> None:
    proof = by_hand()
    if value is None:
        del proof["multipliers"][name]
    else:
        proof["multipliers"][name] = value
    with pytest.raises(kernel.Rejected, match="left, expected"):
        kernel.prove(proof)


def test_the_bound_is_tight_for_these_multipliers() -> None:
    with pytest.raises(kernel.Rejected, match="indefinite"):
        kernel.prove(changed(factor="999999/1000000"))


def test_multipliers_that_cancel_the_values_and_leave_an_indefinite_form_are_rejected() -> None:
    with pytest.raises(kernel.Rejected, match="indefinite"):
        kernel.prove(changed(multipliers={"f1_2_1": "1"}))


@pytest.mark.parametrize(
    "changes",
    [
        {"multipliers": {**by_hand()["multipliers"], "f1_9_1": "0"}},
        {"claim": {**by_hand()["claim"], "kind": "experiment"}},
        {"point": {**POINT, "T": 2}},
    ],
)
def test_a_proof_of_something_else_is_rejected(changes: Data) -> None:
    with pytest.raises(kernel.Rejected):
        kernel.prove(changed(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"multipliers": {**by_hand()["multipliers"], "f1_0_1": "-1/2"}},
        {"multipliers": {**by_hand()["multipliers"], "f1_0_1": 0.5}},
        {"factor": "-1"},
        {"factor": 1.0},
        {"format": "fedaudit-certificate/1"},
        {"statement": "gd/too-good"},
        {"at": {"relation": 1}},
        {"at": {}},
        {"point": {**POINT, "d": 1}},
        {"more": 1},
        {"claim": []},
        {"claim": {1, 2}},
    ],
)
def test_what_is_no_proof_is_malformed(changes: Data) -> None:
    with pytest.raises(kernel.Malformed):
        kernel.prove(changed(**changes))


def test_a_proof_costs_no_more_than_is_allowed() -> None:
    with pytest.raises(kernel.Rejected, match="too large"):
        kernel.prove(by_hand(), most=100)


def test_a_constant_below_zero_is_rejected() -> None:
    """With G given as a number, dist2 <= ... leaves a constant: 0 <= -1 is not proved by anything."""
    claim = by_hand()["claim"] | {"then": [["<=", ["at", "gap", "1"], ["+", ["at", "gap", "1"], "-1"]]]}
    with pytest.raises(kernel.Rejected, match="constant"):
        kernel.prove(changed(claim=claim, multipliers={}))


def test_a_proof_says_whether_it_is_of_runs_without_noise() -> None:
    assert kernel.prove(by_hand()).noise == ""
    assert kernel.prove(changed(point={**POINT, "noise": {"kind": "none"}})).noise == "none"


@pytest.mark.parametrize("seed", ["first", "second"])
def test_mutants_of_a_proof_are_refused_or_proofs_in_time(seed: str) -> None:
    log = Log()
    for what, mutant in mutants(by_hand(), 300, seed, pool()):
        log.ask(what, lambda mutant=mutant: kernel.prove(mutant))
    assert log.crashes == []
