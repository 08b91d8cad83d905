"""Rows read together: a proof stands only on proved statements, and what follows from a refuted one says so."""

from __future__ import annotations

from fedaudit.verify.results.row import DerivedPart, Move, Row
from fedaudit.verify.results.settled_citations import rests_on, settle


def row(name: str, verdict: str, *cites: str, proved: bool = False) -> Row:
    derived = DerivedPart("follows", proved=proved, cites=cites, findings=("own",), proved_from=cites if proved else ())
    return Row(name, verdict, evidence="proof", derive=derived, hunt=Move("survived", "exact"))


def settled(*rows: Row) -> dict[str, Row]:
    return {r.id: r for r in settle(rows)}


def test_what_follows_from_a_refuted_statement_says_so() -> None:
    made = settled(row("a", "survived", "b"), row("b", "survived", "c"), row("c", "refuted"))
    assert made["a"].derive.findings == ("from refuted c", "own")
    assert made["a"].derive.status == "follows"
    assert made["b"].derive.shaky == {"refuted": ("c",), "undecided": ()}
    assert made["c"].derive.findings == ("own",)


def test_undecided_citations_are_named_too() -> None:
    made = settled(row("a", "survived", "b", "c"), row("b", "undecided"), row("c", "survived"))
    assert made["a"].derive.findings[0] == "from undecided b"


def test_nothing_is_proved_on_a_refuted_undecided_or_unproved_statement() -> None:
    for verdict in ("refuted", "undecided", "survived"):
        made = settled(row("a", "proved", "b", proved=True), row("b", "proved", "c", proved=True), row("c", verdict))
        for name in "ab":
            assert (made[name].verdict, made[name].evidence) == ("survived", "exact")
            assert "c" in made[name].reason


def test_a_chain_of_proofs_stays_proved() -> None:
    rows = [row("a", "proved", "b", proved=True), row("b", "proved", proved=True)]
    assert settle(rows) == rows


def test_what_was_not_run_changes_nothing() -> None:
    rows = [row("a", "proved", "elsewhere", proved=True)]
    assert settle(rows) == rows


def test_settling_twice_is_settling_once_and_circles_end() -> None:
    rows = [row("a", "survived", "b"), row("b", "refuted", "a")]
    assert settle(settle(rows)) == settle(rows)
    assert rests_on("a", {r.id: r for r in rows}) == ("b",)
