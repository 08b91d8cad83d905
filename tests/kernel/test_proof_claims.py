"""Claims that no rule about numbers may prove: orders of growth, settings that nobody knows, nothing at all."""

from __future__ import annotations

from typing import Any

import pytest
from proof_writer import Writer, claim_of, relation

from fedaudit.verify.kernel import evaluate
from fedaudit.verify.kernel.core.rational import Malformed, Rejected

NUMBERS = ["T < T + 1", "-T <= 1", "T == T", "T <= T + 1"]


def file_of(says: str, **parts: Any) -> dict[str, Any]:
    """The claim that this holds of all numbers T = 1, 2, ..., with its proof, then with other parts."""
    writer = Writer(claim_of([says], domains={"T": "count"}))
    writer.line(says, products=[["T"]] if says.startswith("-") else [])
    return {**writer.file, "claim": {**writer.file["claim"], **parts}}


def checked(file: dict[str, Any]) -> None:
    writer = Writer(claim_of(["0 <= 1"]))
    writer.file = file
    writer.check()


@pytest.mark.parametrize("says", NUMBERS)
def test_what_holds_of_numbers_is_no_order_of_growth(says: str) -> None:
    """T < T + 1, and T = o(T + 1) is false; -T <= 1, and |-T| is not O(1)."""
    checked(file_of(says))
    with pytest.raises(Rejected, match="expected one by the rule 'order'"):
        checked(file_of(says, kind="order", setting="order", let=[["grows", "T"]]))


@pytest.mark.parametrize("parts", [{"setting": "goal"}, {"then": []}, {"kind": "experiment"}])
def test_a_claim_about_nothing_is_not_proved(parts: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match="got nothing that holds for all instances"):
        checked(file_of("T < T + 1", **parts))


def test_a_proof_of_less_is_no_proof() -> None:
    with pytest.raises(Rejected, match="no judgement that says"):
        checked(file_of("T < T + 1", then=[relation("T < T")]))


def test_a_split_without_cases_is_refused() -> None:
    claim = {**claim_of(["T <= T"], domains={"T": "count"}), "kind": "order", "setting": "order"}
    data = {"witness": {"T": "1"}, "ways": [{"split": ["max", "T", "1"]}]}
    judgement = {"rule": "order", "says": claim["then"][0], "with": data}
    head = {"format": "fedaudit-proof/2", "statement": claim["id"], "claim": claim}
    with pytest.raises((Malformed, Rejected)):
        checked({**head, "judgements": [judgement]})


def test_a_claim_does_not_say_that_the_base_of_a_power_is_positive() -> None:
    """0 < x^y fails at x = -1, y = 1, where both sides are numbers; so does 0 < x where x^y is claimed to be one."""
    power = ["^", "x", "y"]
    for then in (["<", "0", power], ["<", ["*", "-1", "x"], ["*", "0", power]]):
        claim = {**claim_of([], domains={"x": "real", "y": "real"}), "then": [then]}
        _, _, holds = evaluate(claim, {"values": {"x": "-1", "y": "1"}}, (), {"relation": 0})
        assert not holds
        products = [["1", ["goal", power] if then[1] == "0" else ["goal"]]]
        line = {"rule": "line", "says": then, "with": [{"products": products}]}
        head = {"format": "fedaudit-proof/2", "statement": claim["id"], "claim": claim}
        with pytest.raises(Rejected, match="needs x to be positive"):
            checked({**head, "judgements": [line]})
