"""Where no admissible instance was met, the verdict's line says so, whatever the verdict; and what floats draw, the
kernel replays."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sympy import Eq, Ge, Le

import fedaudit as fa
from fedaudit import cli
from fedaudit.bounds.language.rule_expressions import f_i_star, w_i_star
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.commands.tables import table
from fedaudit.figures.pages.report import pages
from fedaudit.verify.moves import audit, rows
from fedaudit.verify.results.audit_json import Document, parse
from fedaudit.verify.results.settled_citations import settle
from fedaudit.verify.results.verdicts import NOTHING_MET, Refuted, Search, Survived

GLOSSARY = Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps")
t = GLOSSARY.index("t", "round")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity")
Gamma = GLOSSARY.symbol("Gamma", "F", "heterogeneity", nonnegative=True)
x, y = GLOSSARY.symbol("x", "1", "a number"), GLOSSARY.symbol("y", "1", "a number")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", positive=True)
gap = GLOSSARY.quantity("gap", "F", "f(w_t) - f*", nonnegative=True)
own = GLOSSARY.quantity("own", "F", "the mean of f_i(w_t) - f_i*", nonnegative=True)
far = GLOSSARY.quantity("far", "W^2", "the mean of |w_t - w_i*|^2", nonnegative=True)
w, w_i = fa.vector("w"), fa.vector("w_i")
FEDAVG = fa.Method(
    id="fedavg", title="FedAvg", cite="made up", glossary=GLOSSARY,
    server={w: fa.start}, client={w_i: w}, begin={w_i: w}, local={w_i: w_i - gamma(t) * fa.grad(w_i)},
    update={w: fa.mean(w_i)},
    measures={
        gap(t): fa.expect(fa.f(w)) - fa.f_star,
        own(t): fa.expect(fa.mean(fa.f_i(w) - f_i_star)),
        far(t): fa.expect(fa.mean(fa.norm2(w - w_i_star))),
    },
)  # fmt: skip
SMOOTH, CURVED = Assumption("smooth", (L,)), Assumption("strongly_convex", (mu,))
WEIGHTS = (Assumption("weights_sum_to_one"), Assumption("nonnegative_weights"))
TEN = Statement(
    id="nothing/rate", kind="inequality", title="L = 10 mu, which nobody draws", cite="made up", method=FEDAVG,
    glossary=GLOSSARY, let=(SMOOTH, CURVED, *WEIGHTS), when=(Eq(L, 10 * mu), Eq(E, 1)), choose={gamma(t): 1 / L},
    then=Le(gap(t + 1), gap(t)), for_all={t: (0, T - 1)},
)  # fmt: skip
EMPTY = replace(TEN, id="nothing/empty", when=(Ge(mu, 2 * L),))
ORDER = Statement(
    id="nothing/order", kind="order", title="x y = O(x^2 + y^2)", cite="made up", method="order", glossary=GLOSSARY,
    then=Le(x * y, x**2 + y**2), when=(Eq(x, 3 * y),),
)  # fmt: skip
NO_PATH = "no path was found that meets the conditions and along which both sides are real and not negative"
AT_ORDINARY_POINTS = f"{NOTHING_MET} except at ordinary points"


# --- the search says that it met nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("move", [rows.verify_row, rows.hunt_row, rows.audit_row])
def test_undecided_with_nothing_met_says_so(move: Any, capsys: pytest.CaptureFixture[str]) -> None:
    row = move(EMPTY, 0, 0.01)
    said = row.to_json()
    assert (said["verdict"], said["reason"]) == ("undecided", "no admissible instance was found")
    table(move.__name__.removesuffix("_row"), [row])
    assert "nothing/empty: no admissible instance was found" in capsys.readouterr().out.splitlines()


def test_worst_cases_at_ordinary_points_are_instances_too() -> None:
    row = audit.hunt(TEN, 0, 0.01).row()
    assert (row["verdict"], row["instances"], row["reason"]) == ("undecided", 0, AT_ORDINARY_POINTS)
    assert any(one["lower"] is not None for one in row["worst"])


def test_refuted_with_nothing_met_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    row = rows.hunt_row(replace(TEN, then=Le(gap(t + 1), gap(t) / 1000)), 0, 0.01)
    assert (row.hunt.verdict, row.hunt.instances, row.hunt.reason) == ("refuted", 0, AT_ORDINARY_POINTS)
    table("hunt", [row])
    assert f"nothing/rate: {AT_ORDINARY_POINTS}" in capsys.readouterr().out.splitlines()


def test_proved_with_nothing_met_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    row = rows.audit_row(ORDER, 0, 0.01)
    assert (row.verdict, row.reason) == ("proved", NO_PATH)
    table("audit", [row])
    assert f"nothing/order: {NO_PATH}" in capsys.readouterr().out.splitlines()
    met = audit.audit(replace(ORDER, when=()), 0, 0.01).row()
    assert (met["verdict"], met["reason"]) == ("proved", "")


def test_survived_with_nothing_met_says_so() -> None:
    assert Survived("a/1", 0.5, search=Search(0, none=NOTHING_MET)).row()["reason"] == NOTHING_MET
    assert Survived("a/1", 0.5, search=Search(1, none=NOTHING_MET)).row()["reason"] == ""
    assert Survived("a/1", 0.5).row()["reason"] == ""  # nobody looked


def test_a_proof_that_falls_to_another_verdict_keeps_what_it_said() -> None:
    row = rows.audit_row(ORDER, 0, 0.01)
    cited = replace(row, id="a/2", verdict="survived", derive=replace(row.derive, proved=False))
    citing = replace(row, derive=replace(row.derive, cites=("a/2",), proved_from=("a/2",)))
    (settled, _) = settle([citing, cited])
    assert settled.verdict == "undecided"
    assert settled.reason == f"follows, but a/2 is not proved; {NO_PATH}"


def test_a_dropped_assumption_with_nothing_met_says_so() -> None:
    literal = audit.literally(replace(EMPTY, implicit=WEIGHTS[1:], let=EMPTY.let[:-1]), WEIGHTS[1], 0, 0.01).row()
    assert (literal["literal"], literal["reason"]) == ("undecided", "no admissible instance was found")


def read(*raw: dict[str, Any]) -> Document:
    return parse({"version": "0", "seed": 0, "budget": 1, "statements": list(raw)})


@pytest.mark.parametrize("verdict", ["proved", "survived", "undecided"])
def test_pages_say_it(tmp_path: Path, verdict: str) -> None:
    move = {"verdict": "undecided", "evidence": "numerical", "instances": 0, "reason": NOTHING_MET}
    row = {"id": "a/1", "verdict": verdict, "reason": NOTHING_MET, "verify": move, "hunt": move}
    text = dict(pages(read(row), tmp_path, ["a/1"]))
    assert f'{verdict}</span> <span class="note">{NOTHING_MET}</span>' in text["index.html"]
    assert f"{verdict.capitalize()}: {NOTHING_MET}" in text["pages/a-1.html"]
    tried = {**row, "verify": {**move, "instances": 7}}
    assert NOTHING_MET not in dict(pages(read(tried), tmp_path, ["a/1"]))["index.html"]


@pytest.mark.parametrize(("verdict", "word"), [("survived", "note"), ("undecided", "because")])
def test_an_export_does_not_call_it_the_reason_of_a_verdict_that_it_is_not(
    tmp_path: Path, verdict: str, word: str
) -> None:
    row = {"id": "buttaci/lem4.1", "verdict": verdict, "reason": NOTHING_MET}
    (tmp_path / "audit.json").write_text(json.dumps({"version": "0", "seed": 0, "budget": 1, "statements": [row]}))
    out = tmp_path / "paper.tex"
    assert cli.main(["export", "buttaci/lem4.1", "--latex", "--audit", str(tmp_path), "--out", str(out)]) == 0
    assert f"{word}: {NOTHING_MET}" in out.read_text()


# --- what floats draw, the kernel replays ----------------------------------------------------------------------------


@pytest.mark.parametrize("then", [Le(own(t + 1), 10**6 * own(t)), Le(own(T), 10**6 * own(0))])
@pytest.mark.parametrize("move", [audit.verify, audit.hunt])
def test_minimisers_of_clients_are_asked_of_convex_losses_alone(move: Any, then: Any) -> None:
    """Once: floats see 12 violations that the kernel could not replay: …, expected a minimiser of a convex f_1."""
    step = {gamma(t): fa.unit("step") / L}
    statement = replace(TEN, let=(SMOOTH, *WEIGHTS), when=(), choose={}, sweep=step, then=then)
    verdict = move(statement, 0, 0.01)
    assert isinstance(verdict, Survived), verdict.reason
    assert verdict.evidence == "exact"


@pytest.mark.parametrize("then", [Le(far(t + 1), far(t) / 2), Le(gap(t + 1), gap(t) / 2 + Gamma / 10**6)])
def test_claims_about_minimisers_of_clients_are_attacked(then: Any) -> None:
    step = {gamma(t): fa.unit("step") / L}
    statement = replace(TEN, let=(SMOOTH, *WEIGHTS), when=(), choose={}, sweep=step, then=then)
    assert isinstance(audit.verify(statement, 0, 0.01), Refuted)


@pytest.mark.parametrize("name", ["cocoercive", "strong-second", "jensen"])
def test_what_is_assumed_of_a_function_holds_also_where_the_text_does_not_say_it(name: str) -> None:
    statement = fa.statement(f"buttaci/appA-{name}")
    said, unsaid = (audit.hunt(one, 0, 0.01) for one in (statement, replace(statement, let=(), implicit=statement.let)))
    assert (said.verdict, said.search.instances) == (unsaid.verdict, unsaid.search.instances)
