"""Premises of derivations on simulated runs: true ones hold, a false one is a finding that the kernel confirms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Le

from fedaudit.bounds.catalogue import catalogue, statement
from fedaudit.bounds.derivation import Argument, Derivation, Known, Step, View
from fedaudit.bounds.papers.buttaci.inequalities import dist2, gap, grad2, mu
from fedaudit.bounds.statement import Statement
from fedaudit.verify.premises import Tried, tried


def resting_on(claim: Le) -> Statement:
    """appA-strong-gap with a proof that takes `claim` for granted."""

    def proof(goal: View) -> Argument:
        taken = Known(claim, "taken for granted", "premise")
        return Argument(tuple(Step(relation, given=(taken,)) for relation in goal.relations))

    return replace(statement("buttaci/appA-strong-gap"), follows_from=(Derivation(proof),))


def only(made: Statement) -> Tried:
    (row,) = tried(made, catalogue([made]))
    return row


def test_true_premises_hold_on_runs() -> None:
    known = catalogue()
    for name in ("buttaci/lemB.2", "buttaci/prop3.4-upper", "buttaci/lemB.8"):
        rows = tried(known[name], known)
        assert rows
        assert {row.status for row in rows} == {"holds"}
        assert all(row.instances > 0 and row.finding() is None for row in rows)


def test_a_false_premise_is_confirmed_by_the_kernel() -> None:
    """gap <= mu/2 |w - w*|^2 is what appA-strong-second prints; it fails, and the row names an instance."""
    row = only(resting_on(Le(gap, mu / 2 * dist2)))
    assert row.status == "fails"
    assert row.instance is not None
    assert "taken for granted" in str(row.finding())


def test_only_what_is_measured_is_tried() -> None:
    assert only(resting_on(Le(gap, grad2 / mu))).status == "holds"
    known = catalogue()
    assert {row.status for row in tried(known["buttaci/prop3.1"], known)} == {"not-measured"}
    assert tried(known["buttaci/appA-combination"], known) == ()


@pytest.mark.slow
def test_no_other_premise_fails() -> None:
    known = catalogue()
    failing = {name for name, s in known.items() for row in tried(s, known) if row.status in ("fails", "suspect")}
    assert failing == set()
