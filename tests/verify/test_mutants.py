"""`make mutants` on two statements: every kind of change is made, caught or explained, and a catch is a certificate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from marks import slow, some
from places import ROOT
from sympy import Add, Ge

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import hunt
from fedaudit.verify.results.verdicts import Refuted

EFFORT = 0.05


@pytest.fixture
def mutation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks import mutants

    return mutants


@pytest.mark.parametrize("name", some(["yuan/rem2~inequality", "classic/fedavg-round"], 2, "a longer formula"))
def test_every_kind_of_change_is_made_in_one_place(mutation: Any, name: str) -> None:
    made = statement(name)
    (printed,) = made.relations
    found = list(mutation.mutants(made))
    assert {m.kind for m in found} == set(mutation.KINDS)
    for mutant in found:
        (changed,) = mutant.statement.relations
        assert changed != printed
        assert changed.lhs == printed.lhs
        assert (changed.func is Ge) == (mutant.kind == "flip")
        assert (changed.rhs == printed.rhs) == (mutant.kind == "flip")
    dropped = [m.statement.relations[0].rhs for m in found if m.kind == "term"]
    assert isinstance(printed.rhs, Add)
    assert sum(dropped) == printed.rhs
    assert next(m for m in found if m.kind == "half").statement.relations[0].rhs * 2 == printed.rhs


def test_a_tight_bound_that_is_halved_falls_with_a_certificate_that_the_kernel_accepts(mutation: Any) -> None:
    half = next(m for m in mutation.mutants(statement("classic/gd-rate")) if m.kind == "half")
    found = hunt(half.statement, 0, EFFORT)
    assert isinstance(found, Refuted)
    certificate = found.certificate
    _, _, holds = kernel.evaluate(certificate["claim"], certificate["instance"], [], certificate["at"])
    assert not holds


@slow("every mutant of two statements, twice")
def test_the_table_of_two_statements_and_the_same_from_what_was_kept(
    mutation: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, kept = ["classic/gd-rate", "buttaci/lem4.1"], tmp_path / "new" / "kept.jsonl"
    arguments = [*chosen, "--effort", str(EFFORT), "--kept", str(kept)]
    assert mutation.main(arguments) == 0
    shown = capsys.readouterr()
    assert [line.split(":")[0] for line in shown.err.splitlines()] == chosen
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.out.splitlines() if "│" in line]
    rows = {kind: [int(n) for n in numbers] for kind, *numbers in cells}
    assert set(rows) == {*mutation.KINDS, "all"}
    for total, *fates in rows.values():
        assert total == sum(fates)
    assert rows["all"] == [sum(rows[kind][n] for kind in mutation.KINDS) for n in range(len(rows["all"]))]
    caught = sum(rows["half"][1 : 1 + len(mutation.MOVES)])
    assert caught == rows["half"][0] == 2, "both are tight, so that half of them is false"
    assert "of 2 halved right sides 2 are refuted with a certificate" in shown.out
    survivors = [line for line in shown.out.splitlines() if line.startswith(tuple(chosen))]
    assert len(survivors) == sum(rows["all"][1 + len(mutation.MOVES) :])

    def never(identifier: str, effort: float, seed: int, known: Any) -> Any:
        raise AssertionError(f"{identifier} was done already")

    monkeypatch.setattr(mutation, "judged", never)
    with kept.open("a") as file:
        file.write('{"key": "cut o')  # a run that was killed while it wrote
    assert mutation.main(arguments) == 0
    assert capsys.readouterr() == (shown.out, "")
    with pytest.raises(AssertionError, match="classic/gd-rate was done already"):
        mutation.main([*arguments, "--seed", "1"])


def test_an_error_of_the_tool_is_said_and_not_kept(
    mutation: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(identifier: str, effort: float, seed: int, known: Any) -> Any:
        raise TypeError("got this")

    monkeypatch.setattr(mutation, "judged", broken)
    kept = tmp_path / "kept.jsonl"
    assert mutation.main(["classic/gd-rate", "--kept", str(kept)]) == 0
    assert "classic/gd-rate: left out: stopped by an error: TypeError: got this" in capsys.readouterr().out
    assert not kept.exists()


def test_the_tightest_instance_of_a_statement_refutes_its_half_and_not_the_statement(mutation: Any) -> None:
    made = statement("classic/gd-rate")
    (found,) = mutation.hunted(made, EFFORT, 0).tightest
    half = next(m for m in mutation.mutants(made) if m.kind == "half")
    assert not mutation.replayed(mutation.read(made)[0], found)
    assert mutation.replayed(mutation.read(half.statement)[0], found)


@slow("every move on one mutant")
def test_what_claims_less_is_said_to(mutation: Any) -> None:
    """E^3 in place of E^2: a larger bound, which no move may catch."""
    made = statement("buttaci/lem4.1")
    larger = next(m for m in mutation.mutants(made) if m.what == "E**2 with its exponent +1")
    smaller = next(m for m in mutation.mutants(made) if m.what == "E**2 with its exponent -1")
    itself = mutation.Itself(made, mutation.Known(falls=False), tuple(mutation.instances(made, 0)))
    assert mutation.claims_less(itself, larger) > 0
    assert mutation.claims_less(itself, smaller) == 0


@pytest.mark.parametrize("name", ["yuan/thm1", "fallah/thm4.5"])
def test_statements_that_do_not_stand_are_left_out_with_the_reason(mutation: Any, name: str) -> None:
    found = mutation.judged(name, EFFORT, 0, None)
    assert found.left_out
    assert not found.outcomes


def test_an_audit_says_what_falls_and_lends_its_exact_instances(mutation: Any, tmp_path: Path) -> None:
    made, path = statement("classic/gd-rate"), tmp_path / "audit.json"
    row: dict[str, Any] = {
        "id": made.id,
        "verdict": "survived",
        "tightness": 1.0,
        "lint": {"findings": []},
        "derive": None,
    }
    hunts = hunt(made, 0, EFFORT).row()
    fallen: dict[str, Any] = {**row, "id": "benmansour/lem2", "verdict": "refuted", "hunt": None, "verify": None}
    path.write_text(json.dumps({"statements": [{**row, "hunt": hunts, "verify": None}, fallen]}))
    known = mutation.known_from(path)
    assert mutation.judged("benmansour/lem2", EFFORT, 0, known["benmansour/lem2"]).left_out == "it falls itself"
    assert known[made.id].tightest == (hunts["tightest"],)
    half = next(m for m in mutation.mutants(made) if m.kind == "half")
    itself = mutation.Itself(made, known[made.id], ())
    assert mutation.fate(half, itself, EFFORT, 0).fate == "replay"
    assert not mutation.loose(known[made.id])
    assert mutation.loose(mutation.Known(falls=False, tightness=0.4))
    assert "proofs" in mutation.loose(mutation.Known(falls=False, tightness=0.4, most=(0.45, 0.5)))
    assert not mutation.loose(mutation.Known(falls=False))
