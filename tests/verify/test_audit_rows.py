"""What a row says about witnesses that fail, about dropped assumptions, and about what a repair changes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from marks import only, slow
from sympy import Le, Rational

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.language.statement import Statement
from fedaudit.commands.tables import broken_without
from fedaudit.verify.moves import audit
from fedaudit.verify.moves.repair import repair
from fedaudit.verify.results.row import LiteralReading, Row
from fedaudit.verify.results.verdicts import Survived

FALLS = "buttaci/appA-strong-second"  # gap <= mu/2 |w - w*|^2: an instance breaks it at once


def test_a_witness_that_fails_refutes_nothing() -> None:
    found = audit.hunt(replace(statement(FALLS), kind="exists"), 0, 0.1).row()
    assert (found["verdict"], found["certificate"]) == ("undecided", None)
    assert found["reason"].startswith("the witness fails")
    assert found["counterexample"]["statement"] == FALLS
    assert audit.hunt(statement(FALLS), 0, 0.1).row()["verdict"] == "refuted"


def test_an_audit_keeps_a_witness_that_one_move_saw_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "hunt", lambda s, *_, **__: Survived(s.id, 0.5, evidence="exact"))
    row = audit.audit(replace(statement(FALLS), kind="exists"), 0, 0.1).row()
    assert (row["verdict"], row["certificate"]) == ("undecided", None)
    assert row["counterexample"]["statement"] == FALLS
    assert row["repair"] is None


def test_a_statement_that_falls_breaks_without_nothing() -> None:
    row = audit.audit(statement("buttaci/prop3.4-upper"), 0, 0.1).record()
    assert row.verdict == "refuted"
    assert {reading.literal for reading in row.implicit} == {"not-tried"}
    assert broken_without(row) == []
    breaks = (LiteralReading("x", "breaks"),)
    assert broken_without(Row(row.id, "survived", implicit=breaks)) == ["x"]
    assert broken_without(replace(row, implicit=breaks)) == []


# --- repairs ---------------------------------------------------------------------------------------------------------


def changed(printed: Statement, **fields: object) -> str:
    sibling = replace(printed, id=f"{printed.id}~repaired", **fields)  # pyright: ignore[reportArgumentType]
    return repair(printed, {printed.id: printed, sibling.id: sibling}).change


def scaled(printed: Statement, factor: object) -> str:
    (relation,) = printed.relations
    return changed(printed, then=relation.func(relation.lhs, factor * relation.rhs))


def test_without_a_sibling_no_repair_is_known() -> None:
    printed = statement("yuan/lem1")
    assert repair(printed, {printed.id: printed}).change == "none known"


def test_the_same_bound_under_more_conditions_changes_a_hypothesis() -> None:
    printed = statement("yuan/lem1")
    eps = next(s for s in printed.relations[0].rhs.free_symbols if s.name == "eps")
    assert changed(printed, when=(*printed.when, Le(eps, 1))) == "hypothesis"


@pytest.mark.parametrize("factor", [7, 1.5], ids=str)
def test_another_factor_changes_a_constant(factor: float) -> None:
    assert scaled(statement("yuan/lem1"), Rational(factor)) == "constant"


def test_a_factor_that_grows_changes_the_rate() -> None:
    printed = statement("yuan/lem1")
    N = next(s for s in printed.relations[0].rhs.free_symbols if s.name == "N")
    assert scaled(printed, N) == "rate"
    assert scaled(printed, 1 + 1 / N) == "constant"


def test_another_left_hand_side_is_not_compared() -> None:
    printed = statement("yuan/lem1")
    (relation,) = printed.relations
    assert changed(printed, then=relation.func(relation.lhs**2, relation.rhs)) == "undecided"


def test_a_lower_bound_is_compared_the_other_way_round() -> None:
    printed = statement("buttaci/prop3.3-lower")
    C = next(s for s in printed.relations[0].rhs.free_symbols if s.name == "C")
    assert scaled(printed, 1 / C) == "rate"
    assert scaled(printed, C) != "rate"


def test_a_condition_that_defines_a_symbol_is_part_of_the_bound() -> None:
    """Proposition 3.2's A is printed with a variance of half the size."""
    assert repair(statement("buttaci/prop3.2"), catalogue()).change == "constant"


def test_a_bound_that_sympy_sees_to_be_larger_is_still_compared() -> None:
    """eps + x -> sqrt(eps)/2 + eps + x: one side minus the other is sqrt(eps)/2 > 0, and that is no proof of O(.)."""
    assert repair(statement("fallah/cor4.6"), catalogue()).change == "rate"


DECIDED = {
    "benmansour/cor4": "hypothesis",  # the same formula of rho_floor
    "benmansour/rem5": "hypothesis",  # O(1/T), and V/(t + 1) for alpha = p
    "benmansour/eq13": "rate",  # 3/(8 rho), and 3 rho/8
    "benmansour/eq18-error": "rate",  # a number, and a loss
    "buttaci/prop3.2-largeC": "constant",  # erf(x), and erf(x/sqrt 2)
    "buttaci/prop3.4-upper": "rate",  # the repaired one knows the variance
    "fallah/sec5-hf-formula": "constant",  # delta, and 2 delta
    "fallah/eq99": "hypothesis",  # the same formula at another point
    "yuan/thm1": "hypothesis",  # the same order, solved more accurately
    "yuan/table1-thm3": "rate",  # 1/(b I eps^2) rounds, and 1/(I eps^2)
}


@pytest.mark.parametrize(
    ("name", "change"), only({*DECIDED} - {"fallah/sec5-hf-formula"}, DECIDED.items(), "a long comparison"), ids=str
)
def test_what_a_repair_changes(name: str, change: str) -> None:
    assert repair(statement(name), catalogue()).change == change


def test_renaming_a_quantity_and_changing_its_bound_is_no_hypothesis() -> None:
    known = dict(catalogue())
    sibling = known["benmansour/cor4~repaired"]
    (relation,) = sibling.relations
    L = next(s for s in sibling.glossary if str(s) == "L")
    known[sibling.id] = replace(sibling, then=Le(relation.lhs, relation.rhs * L))
    assert repair(known["benmansour/cor4"], known).change == "rate"


def test_what_is_not_decided_says_why() -> None:
    answer = repair(statement("buttaci/appA-strong-second"), catalogue())
    assert answer.change == "undecided"
    assert "|w - v|^2" in answer.why


@slow("compares every print of the catalogue with its repair")
def test_every_refuted_print_with_a_sibling_has_an_answer() -> None:
    known = catalogue()
    printed = [s for n, s in known.items() if f"{n}~repaired" in known]
    answers = {s.id: repair(s, known) for s in printed}
    assert all(answer.why for answer in answers.values())
    undecided = {name for name, answer in answers.items() if answer.change == "undecided"}
    assert undecided == {"buttaci/appA-strong-second", "benmansour/rem6", "yuan/table1-thm1", "yuan/thm4"}
    assert {"hypothesis", "constant", "rate"} <= {answer.change for answer in answers.values()}


def test_a_violation_that_is_only_rounding_of_zero_is_settled_by_the_kernel() -> None:
    """Of theorem 4.3 (II), some samples have 0 <= 0 exactly, and 0 <= -1e-16 in floats."""
    row = audit.verify(statement("buttaci/thm4.3-II-body"), 0, 0.1).row()
    assert row["verdict"] == "survived"
    assert row["evidence"] == "exact"


def test_an_audit_shares_its_sample_with_the_hunt() -> None:
    """`verify` says of an audit what it says alone; the hunt does not count the sample again."""
    claim = statement("buttaci/prop3.2")
    both, alone = audit.audit(claim, 0, 0.3).row(), audit.verify(claim, 0, 0.1).row()
    same = ("verdict", "instances", "tightness", "sizes")
    assert {k: both["verify"][k] for k in same} == {k: alone[k] for k in same}
    assert sum(size["instances"] for size in both["hunt"]["sizes"]) == both["hunt"]["instances"]


def test_an_audit_s_verify_shows_a_counterexample_that_the_kernel_accepts_too() -> None:
    """Where `hunt` has looked for the sturdiest one, `verify` shows its first one, shrunk."""
    row = audit.audit(statement(FALLS), 0, 0.3).row()
    for move in ("verify", "hunt"):
        assert row[move]["verdict"] == "refuted"
        assert fa.certify(row[move]["certificate"]).accepted


@slow("three long comparisons")
def test_what_decided_it_is_said_in_the_papers_letters_and_round_numbers() -> None:
    """Theorem 4.5's path once had the power -233/92, and (30b)'s the name D of a batch for the dimension."""
    assert repair(statement("fallah/eq30b"), catalogue()).why == "the orders differ along d ~ n"
    powers = re.findall(r"\^\(?-?\d+(?:/(\d+))?", repair(statement("fallah/thm4.5"), catalogue()).why)
    assert powers
    assert all(int(denominator or 1) <= 4 for denominator in powers)
    words = repair(statement("benmansour/lem2"), catalogue()).why
    assert words.endswith("E sum_i alpha_t^i |w_t - w_t^i|^2 for E sum_i alpha_t^i |w_t - w_i*|^2")
