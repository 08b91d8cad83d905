"""Orders of growth as proofs: those of the catalogue are accepted; attacks on the kernel's rule `order` are not."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, cast

import pytest
from marks import slow

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.verify.kernel import evaluate
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.proposals.orders import NoProof, order_proof
from fedaudit.verify.search.lowered_claim import lower

Json = Any
FEW = ("yuan/thm1~formula", "yuan/table1-thm2~formula", "yuan/rem1", "yuan/table1-scaffold~compared",
       "yuan/table1-fedavg-yu~compared", "fallah/cor4.6~formula", "fallah/thm4.5~formula")  # fmt: skip


def claim(then: Json, domains: Json, when: Json = (), let: Json = ()) -> Json:
    return {"id": "growth", "kind": "order", "setting": "order", "let": [*let], "implicit": [], "choose": {},
            "when": [*when], "for_all": {}, "then": [then], "domains": domains}  # fmt: skip


def file(raw: Json, data: Json, before: Json = ()) -> Json:
    last = {"rule": "order", "says": raw["then"][0], "by": [*range(len(before))], "with": data}
    return {"format": proof.FORMAT, "statement": "growth", "claim": raw, "judgements": [*before, last]}


def leaf(*terms: Json, picks: Json = ()) -> Json:
    return {"sum": [*terms], "picks": [*picks]}


def paths(**powers: Json) -> Json:
    return {"paths": {name: [["1", str(power)]] for name, power in powers.items()}}


def refused(made: Json, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        proof.check(made, {})


CATALOGUE = {s.id: s for s in find([])}
ROOT = claim(["<=", ["+", "x", "y"], ["max", "x", "y"]], {"x": "nonnegative", "y": "nonnegative"})
SUM, MOST = ROOT["then"][0][1:]
BY_CASES = {"split": SUM, "cases": [leaf(picks=[[MOST, 0]]), leaf(picks=[[MOST, 1]])], "zero": {}}
WITNESS = paths(x=0, y=0)


@pytest.mark.parametrize("name", FEW)
def test_orders_of_the_catalogue_are_accepted(name: str) -> None:
    made = order_proof(lower(CATALOGUE[name]).claim)
    assert proof.check(made, {}).rules["order"] == len(made["claim"]["then"])


@slow("dominance decides every order of the catalogue again")
def test_all_orders_between_formulas_that_dominance_decides_are_accepted() -> None:
    from fedaudit.bounds.proofs.derivation_check import derive

    rows = [s for s in CATALOGUE.values() if s.kind == "order" and s.method == "order" and not s.follows_from]
    proved = [s for s in rows if not s.quoted and derive(s, CATALOGUE, slack=False).proved]
    assert len(proved) >= 37
    for statement in proved:
        proof.check(order_proof(lower(statement).claim), {})


def test_a_proof_by_hand() -> None:
    proof.check(file(ROOT, {"witness": WITNESS, "ways": [BY_CASES]}), {})


def test_every_case_is_there() -> None:
    without_zero = {key: value for key, value in BY_CASES.items() if key != "zero"}
    refused(file(ROOT, {"witness": WITNESS, "ways": [without_zero]}), "no case that")
    fewer = {**BY_CASES, "cases": BY_CASES["cases"][:1]}
    with pytest.raises(Malformed, match="2 entries"):
        proof.check(file(ROOT, {"witness": WITNESS, "ways": [fewer]}), {})
    refused(file(ROOT, {"witness": WITNESS, "ways": [leaf(picks=[[MOST, 0]])]}), "which part decides")
    wrong = {**BY_CASES, "cases": [BY_CASES["cases"][1], BY_CASES["cases"][0]]}
    refused(file(ROOT, {"witness": WITNESS, "ways": [wrong]}), "may be 0|left over")
    theta = claim(["=", *ROOT["then"][0][1:]], ROOT["domains"])
    with pytest.raises(Malformed, match="2 entries"):
        proof.check(file(theta, {"witness": WITNESS, "ways": [BY_CASES]}), {})


def test_the_larger_side_is_not_picked_from_above() -> None:
    """x + y = O(x) is false, and only the left side may be split."""
    raw = claim(["<=", SUM, "x"], {"x": "positive", "y": "positive"})
    refused(file(raw, {"witness": WITNESS, "ways": [leaf(picks=[[SUM, 0]])]}), "which part decides")
    split = {"split": SUM, "cases": [leaf(), leaf()]}
    refused(file(raw, {"witness": WITNESS, "ways": [split]}), "left over")
    least = claim(["<=", "x", ["min", "x", "y"]], {"x": "positive", "y": "positive"})
    refused(file(least, {"witness": WITNESS, "ways": [leaf(picks=[[["min", "x", "y"], 0]])]}), "which part decides")


POWERS = claim(["<=", "n", ["^", "n", "2"]], {"n": "count"})


def test_multipliers_are_not_negative_and_add_up() -> None:
    good = {"witness": paths(n=1), "ways": [leaf(["1", "n", []])]}
    proof.check(file(POWERS, good), {})
    for number in ("2", "1/2", "0"):
        refused(file(POWERS, {**good, "ways": [leaf([number, "n", []])]}), "left over")
    falls = claim(["<=", ["^", "n", "2"], "n"], {"n": "count"})
    with pytest.raises(Malformed, match="at least 0"):
        proof.check(file(falls, {"witness": paths(n=0), "ways": [leaf(["-1", "n", []])]}), {})
    refused(file(falls, {"witness": paths(n=1), "ways": [leaf()]}), "relation fails")


def test_only_whole_numbers_and_what_moves_have_a_direction() -> None:
    real = claim(POWERS["then"][0], {"n": "positive"})
    refused(file(real, {"witness": paths(n=1), "ways": [leaf(["1", "n", []])]}), "expected a whole number")
    index = claim(POWERS["then"][0], {"n": "index"})
    refused(file(index, {"witness": paths(n=1), "ways": [leaf(["1", "n", []])]}), "may be 0")
    split = {"split": "n", "cases": [leaf(["1", "n", []])], "zero": {}}
    proof.check(file(index, {"witness": paths(n=1), "ways": [split]}), {})
    vanishes = claim(["<=", ["^", "n", "2"], "n"], {"n": "positive"}, let=[["vanishes", "n"]])
    proof.check(file(vanishes, {"witness": paths(n=-1), "ways": [leaf(["1", "n", []])]}), {})
    wrong_way = claim(POWERS["then"][0], {"n": "positive"}, let=[["vanishes", "n"]])
    refused(file(wrong_way, {"witness": paths(n=-1), "ways": [leaf(["1", "n", []])]}), "relation fails")
    with pytest.raises(NoProof):
        order_proof(wrong_way)


def test_a_claim_about_nothing_is_refused() -> None:
    when = [["<=", "n", "1"], [">=", "n", "2"]]
    nothing = claim(POWERS["then"][0], {"n": "count"}, when)
    for power in (0, 1):
        refused(file(nothing, {"witness": paths(n=power), "ways": [leaf(["1", "n", []])]}), "a condition fails")
    still = claim(POWERS["then"][0], {"n": "count"}, [["<=", "n", "5"]], [["grows", "n"]])
    refused(file(still, {"witness": paths(n=1), "ways": [leaf(["1", "n", []])]}), "a condition fails")
    refused(file(still, {"witness": paths(n=0), "ways": [leaf(["1", "n", []])]}), "a path that meets it")
    for raw in (nothing, still):
        with pytest.raises(NoProof, match="no path"):
            order_proof(raw)


def test_a_witness_gives_every_parameter_in_its_domain() -> None:
    good = [leaf(["1", "n", []])]
    with pytest.raises(Malformed):
        proof.check(file(POWERS, {"witness": {"paths": {}}, "ways": good}), {})
    refused(file(POWERS, {"witness": paths(n=-1), "ways": good}), "expected it count")


def test_a_fixed_parameter_that_may_be_0_is_no_constant() -> None:
    raw = claim(["<=", "x", ["*", "a", "x"]], {"x": "positive", "a": "nonnegative"}, let=[["fixed", "a"]])
    witness = paths(x=1, a=0)
    refused(file(raw, {"witness": witness, "ways": [leaf()]}), "may be 0")
    refused(file(raw, {"witness": witness, "ways": [{"split": "a", "cases": [leaf()]}]}), "no case that a is 0")
    split = {"split": "a", "cases": [leaf()], "zero": leaf()}
    refused(file(raw, {"witness": witness, "ways": [split]}), "that is 0")
    with pytest.raises(NoProof):
        order_proof(raw)
    positive = claim(raw["then"][0], {"x": "positive", "a": "positive"}, let=[["fixed", "a"]])
    proof.check(file(positive, {"witness": witness, "ways": [leaf()]}), {})
    free = claim(raw["then"][0], {"x": "positive", "a": "positive"})
    refused(file(free, {"witness": witness, "ways": [leaf()]}), "left over")


LESS = ["+", "-1", "E"]
SHRINKS = claim(["<=", "E", LESS], {"E": "count"})


def test_a_difference_may_vanish() -> None:
    """E = O(E - 1) is false at E = 1."""
    witness = {"paths": {"E": [["1", "1"]]}}
    same = {"rule": "line", "says": ["=", "E", ["+", "1", LESS]], "with": [{"products": [["1", ["goal"]]]}] * 2}
    refused(file(SHRINKS, {"witness": witness, "ways": [leaf(["1", 0, []])]}, [same]), "may be 0|which part")
    split = {"split": LESS, "cases": [leaf()]}
    refused(file(SHRINKS, {"witness": witness, "ways": [split]}, [same]), "no case that")
    refused(file(SHRINKS, {"witness": witness, "ways": [{**split, "zero": leaf()}]}, [same]), "left over|that is 0")
    with pytest.raises(NoProof):
        order_proof(SHRINKS)
    larger = claim(SHRINKS["then"][0], {"E": "count"}, [[">=", "E", "2"]])
    proof.check(order_proof(larger), {})


def test_a_difference_is_no_sum_of_its_parts() -> None:
    """E - x is positive where x < E, but x is not dominated by it."""
    raw = claim(["<=", "x", ["+", "E", ["*", "-1", "x"]]], {"E": "positive", "x": "positive"}, [["<", "x", "E"]])
    with pytest.raises(NoProof):
        order_proof(raw)
    below = {"rule": "condition", "says": ["<", "x", "E"], "with": {"of": "when", "n": 0}}
    witness = {"paths": {"E": [["2", "0"]], "x": [["1", "0"]]}}
    for picks in ([], [[raw["then"][0][2], 0]], [[raw["then"][0][2], 1]]):
        refused(file(raw, {"witness": witness, "ways": [leaf(["1", 0, []], picks=picks)]}, [below]), "left over")
    proof.check(order_proof(claim(["<=", ["+", "E", ["*", "-1", "x"]], "E"], raw["domains"], raw["when"])), {})


def test_what_is_split_is_a_number() -> None:
    """x/x is 1 by its form and positive in every case: it says nothing about x = 0, where it is no number."""
    raw = claim(["<=", "1", "x"], {"x": "nonnegative"}, let=[["fixed", "x"]])
    for tree in (["*", "x", ["^", "x", "-1"]], ["+", "x", ["^", "y", "1/2"]]):
        way = {"split": tree, "cases": [leaf()] * (1 if tree[0] == "*" else 2), "zero": {}}
        refused(file(raw, {"witness": paths(x=0), "ways": [way]}), "a part of a side")


def test_a_power_is_positive_only_if_its_base_is() -> None:
    """x^y is 0 at x = 0, y = 1, and a number there."""
    raw = claim(["<=", "1", ["^", "x", "y"]], {"x": "nonnegative", "y": "positive"}, let=[["fixed", "x", "y"]])
    refused(file(raw, {"witness": paths(x=0, y=0), "ways": [leaf()]}), "needs x to be positive")
    _, _, holds = evaluate(raw, {"paths": {"x": [], "y": [["1", "0"]]}}, (), {"relation": 0})
    assert not holds
    positive = {**raw, "domains": {"x": "positive", "y": "positive"}}
    proof.check(file(positive, {"witness": paths(x=0, y=0), "ways": [leaf()]}), {})


def test_a_difference_has_no_largest_part() -> None:
    """One positive thing stays one where its negative part turns out to be 0: no first part of it decides."""
    mixed, inner = ["+", "a", ["*", "-1", "x"], "E"], ["*", "y", ["*", "-1", "x"]]
    domains = {"E": "positive", "a": "positive", "x": "real", "y": "positive"}
    raw = claim(["<=", mixed, "a"], domains, [["<=", "0", inner], ["<", "0", mixed]])
    before = [{"rule": "condition", "says": says, "with": {"of": "when", "n": n}} for n, says in enumerate(raw["when"])]
    witness = {"paths": {**paths(E=0, a=0, y=0)["paths"], "x": []}}
    split = {"split": mixed, "cases": [{"split": inner, "cases": [leaf()], "zero": leaf()}]}
    refused(file(raw, {"witness": witness, "ways": [split]}, before), "which part decides")


def test_little_o_falls_with_what_moves() -> None:
    less = claim(["<", ["^", "n", "-1"], ["^", "n", "-1/2"]], {"n": "count"}, let=[["grows", "n"]])
    good = {"witness": paths(n=1), "ways": [leaf(["1/2", "n", []])]}
    proof.check(file(less, good), {})
    whole = claim(less["then"][0], {"n": "count", "m": "count"}, let=[["grows", "m"]])
    refused(file(whole, {**good, "witness": paths(n=1, m=1)}), "nothing that falls")
    equal = claim(["<", "n", "n"], {"n": "count"}, let=[["grows", "n"]])
    refused(file(equal, {**good, "ways": [leaf()]}), "relation fails")
    with pytest.raises(NoProof):
        order_proof(equal)


def test_0_is_no_little_o_of_0() -> None:
    raw = claim(
        ["<", ["*", "y", "n"], ["*", "y", ["^", "n", "2"]]], {"n": "count", "y": "nonnegative"}, (), [["grows", "n"]]
    )
    way = {"split": "y", "cases": [leaf(["1", "n", []])], "zero": {}}
    refused(file(raw, {"witness": paths(n=1, y=0), "ways": [way]}), "that is 0")
    positive = {**raw, "domains": {"n": "count", "y": "positive"}}
    proof.check(file(positive, {"witness": paths(n=1, y=0), "ways": [way["cases"][0]]}), {})


def test_a_negative_side_is_refused() -> None:
    raw = claim(["<=", ["*", "-1", "x"], "x"], {"x": "positive"})
    refused(file(raw, {"witness": paths(x=0), "ways": [leaf()]}), "negative")


def test_no_other_rule_judges_orders_of_growth() -> None:
    """x <= x is a true relation between numbers, and no order of growth until the rule says so."""
    raw = claim(["<=", "x", "x"], {"x": "positive"})
    line = {"rule": "line", "says": raw["then"][0], "with": [{"products": [["1", ["goal"]]]}]}
    plain = {"format": proof.FORMAT, "statement": "growth", "claim": raw, "judgements": [line]}
    refused(plain, "by the rule 'order'")
    proof.check(file(raw, {"witness": paths(x=0), "ways": [leaf()]}, [line]), {})


def test_nothing_rests_on_an_order_of_growth() -> None:
    """2 x = O(x), and from 2 x <= x anything would follow."""
    raw = claim(["<=", ["*", "2", "x"], "x"], {"x": "positive"})
    made = file(raw, {"witness": paths(x=0), "ways": [leaf()]})
    proof.check(made, {})
    absurd: Json = {"rule": "line", "says": ["<=", "x", "0"], "by": [0], "with": [{"products": []}]}
    refused({**made, "judgements": [*made["judgements"], absurd]}, "an order of growth to rest on")


def test_orders_of_growth_are_judged_in_their_setting_alone() -> None:
    raw = {**claim(["<=", ["*", "2", "x"], "x"], {"x": "positive"}), "setting": "scalar", "kind": "inequality"}
    refused(file(raw, {"witness": paths(x=0), "ways": [leaf()]}), "a claim about orders of growth")


def test_terms_do_not_change_sides() -> None:
    """x + z = O(y + z) is another claim than x = O(y), with the same difference of sides."""
    raw = claim(["<=", "x", "y"], {"x": "positive", "y": "positive", "z": "positive"}, [["<=", "x", "z"]])
    other = claim(["<=", ["+", "x", "z"], ["+", "y", "z"]], raw["domains"], raw["when"])
    made = order_proof(other)
    refused({**made, "claim": raw}, "as it stands")
    with pytest.raises(NoProof):
        order_proof(raw)


def multipliers(node: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of the numbers of all sums in a certificate."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in cast("Iterable[tuple[Any, Json]]", pairs):
        if key == "sum":
            yield from ((*path, key, n, 0) for n in range(len(value)))
        else:
            yield from multipliers(value, (*path, key))


@pytest.mark.parametrize("name", [*FEW[1:5], "yuan/eq1.4-few-rounds", "buttaci/sec4.4-complexity-compared"])
def test_another_multiplier_is_refused(name: str) -> None:
    made = order_proof(lower(CATALOGUE[name]).claim)
    places = [*multipliers(made["judgements"], ("judgements",))]
    assert places
    for place in places[:: max(1, len(places) // 12)]:
        changed = copy.deepcopy(made)
        at: Any = changed
        for key in place[:-1]:
            at = at[key]
        at[0] = f"{at[0]}1" if "/" not in str(at[0]) else f"{at[0]}7"
        refused(changed, "left over")
