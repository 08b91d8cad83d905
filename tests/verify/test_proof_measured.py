"""Proofs against exact runs: what a rule should not have accepted is seen on a run, and what is true passes."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from fuzz import by_id, claim_of

from fedaudit.cli import main
from fedaudit.verify.kernel.core.rational import Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.moves import kernel_proof as proved
from fedaudit.verify.proposals import proposal
from fedaudit.verify.proposals.edges import instances
from fedaudit.verify.proposals.measured_runs import Disagreement, Effort, Measured, Unmeasured, measure

LEMMA = "buttaci/lem4.1"  # E|w_i - w|^2 <= G^2 E^2 gamma^2 after k steps of FedProx
YOUNG = "buttaci/appA-young"  # a b <= a^2/2 + b^2/2
DEVIATION = ["at", "deviation", "t", "k", "i"]
GAMMA = ["at", "gamma", "t"]
BOUND = ["*", ["^", "G", "2"], ["^", "E", "2"], ["^", GAMMA, "2"]]
SETTINGS = ["benmansour/lem1", "buttaci/appA-cauchy", "buttaci/lemB.8", "fallah/eq93", "yuan/lem7", "zhang/fact1"]


def file_of(identifier: str, *judgements: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A proof that says these things and then the claim."""
    claim = claim_of(identifier)
    ends = [{"rule": "line", "says": relation} for relation in claim["then"]]
    head = {"format": proof.FORMAT, "statement": identifier, "claim": claim}
    return {**head, **fields, "judgements": [*judgements, *ends]}


def measured(identifier: str, *judgements: dict[str, Any], **fields: Any) -> Measured:
    return measure(by_id()[identifier], file_of(identifier, *judgements, **fields))


def says(relation: Any, **more: Any) -> dict[str, Any]:
    return {"rule": "line", "says": relation, **more}


@pytest.fixture
def unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose rule of lines accepts anything."""

    def believed(*_: object) -> None:
        return None

    monkeypatch.setattr(proof, "RULES", {**proof.RULES, "line": believed})


# --- what is true passes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", [LEMMA, YOUNG, *SETTINGS])
def test_what_is_proved_agrees_with_fifty_exact_instances_in_every_setting(identifier: str) -> None:
    figures = measured(identifier)
    assert figures.runs >= 50
    assert figures.evaluations >= 50 * figures.judgements > 0
    assert figures.unmeasured == {}


def test_the_instances_are_at_the_edges_and_always_the_same() -> None:
    drawn = list(instances(by_id()[LEMMA], 50))
    assert drawn == list(instances(by_id()[LEMMA], 50))
    assert {1, 2} <= {one["C"] for one in drawn}
    assert {1, 2} <= {one["E"] for one in drawn}
    assert {1, 4} <= {one["T"] for one in drawn}
    assert sum("0" in one["p"] for one in drawn) >= 5
    assert any(one["participation"]["m"] < one["C"] for one in instances(by_id()["yuan/thm2"], 50))


def test_true_judgements_under_hypotheses_with_letters_and_names_pass() -> None:
    figures = measured(
        LEMMA,
        says(["<=", ["*", "x", DEVIATION], ["*", "x", BOUND]], under=[["<=", "0", "x"]]),
        says(["<=", "s", ["+", "s", "j"]]),
        says(["=", "D", BOUND], rule="definition"),
        says(["<=", ["^", "u", "-1"], "1"], under=[["<=", "1", "u"]]),
        letters={"x": "real", "s": "index", "j": "client", "D": "real", "u": "positive"},
        names={"D": BOUND},
    )
    assert figures.judgements == 5
    assert figures.unmeasured == {}


def test_nothing_is_said_where_a_hypothesis_fails_or_a_side_of_the_claim_is_no_number() -> None:
    figures = measured(YOUNG, says(["<=", "a", ["+", "a", "-1"]], under=[["<", ["^", "a", "2"], "0"]]))
    assert figures.unmeasured == {Unmeasured.HYPOTHESES: 1}
    broken = file_of(YOUNG, says(["=", ["^", "a", "-1"], ["^", "a", "-1"]]))
    broken["claim"] = {**broken["claim"], "then": [["<=", ["^", "a", "-1"], ["+", ["^", "a", "-1"], "1"]]]}
    assert measure(by_id()[YOUNG], {**broken, "judgements": broken["judgements"][:1]}).judgements == 1


def test_what_no_run_has_is_told_with_a_reason() -> None:
    ghost = {"at": ["t", "k", "i"], "terms": [["1", ["norm2", "ghost_i"]]]}
    figures = measured(
        LEMMA,
        says(["<=", ["at", "far", "t", "k", "i"], "-1"]),
        says(["<=", ["at", "deviation", ["+", "T", "1"], "k", "i"], "-1"]),
        says(["=", ["^", "2", "1/2"], ["^", ["+", "1", "1"], "1/2"]]),
        frame={"measures": {"far": ghost}, "ghosts": {"ghost_i": ["w", "w_i"]}},
    )
    reasons = [Unmeasured.UNKNOWN, Unmeasured.BEYOND, Unmeasured.UNDECIDED]
    assert figures.unmeasured == dict.fromkeys(reasons, 1)
    assert figures.row()["unmeasured"][Unmeasured.BEYOND.value] == 1


def test_orders_of_growth_have_no_runs() -> None:
    figures = measured("yuan/eq1.6-comparable")
    assert (figures.runs, set(figures.unmeasured)) == (0, {Unmeasured.FORMULAS})


# --- what is false is seen -------------------------------------------------------------------------------------------

FALSE: dict[str, dict[str, Any]] = {
    "a deviation that is nothing": says(["<=", DEVIATION, "0"]),
    "without the number of steps": says(["<=", DEVIATION, ["*", ["^", "G", "2"], ["^", GAMMA, "2"]]]),
    "a strict sign of a square": says(["<", "0", DEVIATION]),
    "strictly, where both sides are 0": says(["<", DEVIATION, BOUND]),
    "the other way round": says([">=", DEVIATION, BOUND]),
    "an equation that holds at k = 0 alone": says(["=", DEVIATION, "0"]),
    "a side that is no number": says(["<=", "0", ["^", DEVIATION, "-1"]]),
    "a sum without a range": says(["<=", ["sum", "n", "2", "t", "0"], "0"]),
    "another client": says(["=", DEVIATION, ["at", "deviation", "t", "k", "j"]]),
    "a letter that may be 0": says(["<=", "1", ["+", "1", ["*", "-1", "x"]]]),
    "under a hypothesis that may hold": says(["<=", DEVIATION, "0"], under=[["<=", "1", "k"]]),
    "what only the proof measures": says(["<=", ["at", "length", "t"], "0"]),
}
OWN = {
    "letters": {"j": "client", "x": "nonnegative"},
    "frame": {"measures": {"length": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]}}},
}


@pytest.mark.usefixtures("unsound")
@pytest.mark.parametrize("case", FALSE)
def test_what_an_unsound_kernel_accepts_is_seen_on_a_run(case: str) -> None:
    file = file_of(LEMMA, FALSE[case], **OWN)
    assert proof.check(file, {}).claim.id == LEMMA
    with pytest.raises(Disagreement) as caught:
        measure(by_id()[LEMMA], file)
    assert (caught.value.id, caught.value.number, caught.value.rule) == (LEMMA, 0, "line")
    assert "disagree" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_sound_kernel_accepts_none_of_these() -> None:
    for case, judgement in FALSE.items():
        file = file_of(LEMMA, {**judgement, "with": [{"products": []}] * (1 + (judgement["says"][0] == "="))}, **OWN)
        with pytest.raises(Rejected):
            print(case, proof.check(file, {}))


def test_a_false_claim_about_numbers_is_seen() -> None:
    file = file_of(YOUNG, says(["<=", ["*", "a", "b"], ["*", "1/3", ["+", ["^", "a", "2"], ["^", "b", "2"]]]]))
    with pytest.raises(Disagreement):
        measure(by_id()[YOUNG], file)


def test_many_judgements_share_the_effort_and_all_of_them_are_measured() -> None:
    true = [says(["<=", DEVIATION, ["+", BOUND, str(n)]]) for n in range(60)]
    figures = measure(by_id()[LEMMA], file_of(LEMMA, *true), Effort(runs=20, evaluations=240, places=2))
    assert (figures.judgements, figures.runs) == (61, 20)
    assert figures.evaluations <= 240


# --- said aloud ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unsound")
@pytest.mark.parametrize("command", ["derive", "audit"])
def test_the_command_line_says_it_in_one_line_and_ends_with_70(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    monkeypatch.setattr(proved, "_KEPT", {})
    file = file_of(LEMMA, FALSE["a deviation that is nothing"])

    def proposed(*_: object) -> proposal.Proposal:
        return proposal.Proposal(file)

    monkeypatch.setattr(proposal, "propose", proposed)
    out = ["--out", str(tmp_path / "audit"), "--budget", "1", "--no-figures"] if command == "audit" else []
    status = main([command, LEMMA, "--jobs", "1", "--json", *out])
    shown = capsys.readouterr()
    last = shown.err.splitlines()[-1]
    assert status == 70
    assert last.startswith(f"fedaudit: the tool failed on {LEMMA}: Disagreement: the proof of {LEMMA} and an exact run")
    assert all(row.get("verdict", row.get("status")) in ("undecided", "not-derived") for row in json.loads(shown.out))
