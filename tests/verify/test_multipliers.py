"""Multipliers by a linear programme; the kernel has the last word."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from marks import some
from sympy import Le, Rational

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.rule_expressions import mean
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, N, X, gradient
from fedaudit.bounds.papers.buttaci.symbols import L, gamma, k, t
from fedaudit.bounds.proofs.atoms import Square
from fedaudit.bounds.proofs.hand_premises import shown as shown_by
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.cli import main
from fedaudit.verify.prover.atoms_in_reach import multipliers_of
from fedaudit.verify.prover.multipliers import Question, find

JENSEN = (Square(gradient - mean(gradient), "mean"), Square(gradient, "mean"), Square(mean(gradient)))


def test_multipliers_are_found_and_stand() -> None:
    claim = Le(gamma(t) * N(k), gamma(t) * X(k))
    found = find(Question(claim, ON_FEDPROX, JENSEN, (gamma(t),), 1))
    assert found == ((gamma(t), JENSEN[0]),)
    assert stands(shown(claim, "Jensen", ON_FEDPROX, *found))


def test_none_are_found_for_what_is_false() -> None:
    for factor in (Rational(99, 100), Rational(1, 2)):
        assert find(Question(Le(N(k), factor * X(k)), ON_FEDPROX, JENSEN, (gamma(t), L), 2)) is None


OWN = """
from dataclasses import replace
from sympy import Le
import fedaudit as fa
from fedaudit.bounds.proofs.atoms import Square
from fedaudit.bounds.language.derivation import Argument, Derivation, Step
from fedaudit.bounds.language.rule_expressions import mean
from fedaudit.bounds.papers.buttaci.fedprox import LEMMA_4_1 as base
from fedaudit.bounds.papers.buttaci.fedprox import LEMMA_4_1
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, N, X, gradient
from fedaudit.bounds.papers.buttaci.symbols import k
from fedaudit.bounds.proofs.premise_identity import shown

def proof(goal):
    premise = shown(Le(N(k), X(k)), "Jensen", ON_FEDPROX, (MULTIPLIER, ATOM))
    step = Step(goal.relations[0], given=(premise,))
    return Argument((step,), step)

MINE = replace(base, id="own/mine", follows_from=(Derivation(proof),))
"""


@pytest.mark.parametrize(
    ("multiplier", "atom", "told"),
    [
        ("2", 'Square(gradient - mean(gradient), "mean")', "left over of N(k) <= X(k)"),
        ("1", '"triangle"', "got the atom 'triangle'"),
        ("1", 'Square(fa.vector("zz") - mean(gradient), "mean")', "got 'zz', expected a vector of fedprox"),
        ("-1", 'Square(gradient - mean(gradient), "mean")', "left over of N(k) <= X(k)"),
        ("0.5", 'Square(gradient - mean(gradient), "mean")', "got the multiplier 0.5 for 'Jensen'"),
        ("fa.w_star", 'Square(gradient - mean(gradient), "mean")', "got the multiplier"),
    ],
)
def test_a_wrong_proof_in_a_file_of_ones_own_is_told_in_one_line(
    multiplier: str, atom: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.replace("MULTIPLIER", multiplier).replace("ATOM", atom), encoding="utf-8")
    assert main(["derive", f"{file}::own/mine", "--jobs", "1"]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("fedaudit:")]
    assert told in line


FOUND = OWN.replace(", (MULTIPLIER, ATOM))", ")")


def test_multipliers_are_found_for_a_premise_without_any_and_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.py"
    file.write_text(FOUND, encoding="utf-8")
    assert main(["prove", f"{file}::own/mine", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)[0]["premises"]
    assert row["found"]
    assert row["assumes"] == ["nonnegative_weights", "weights_sum_to_one"]
    assert row["lacks"] == []
    names = (
        "from fedaudit.bounds.language.rule_expressions import grad\n"
        "from fedaudit.bounds.papers.buttaci.methods import w_i\n"
    )
    pasted = names + FOUND.replace("ON_FEDPROX)", f"ON_FEDPROX, {row['by']})")
    file.write_text(pasted, encoding="utf-8")
    assert main(["prove", f"{file}::own/mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["premises"] == []


def test_for_what_is_false_none_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.py"
    file.write_text(FOUND.replace("X(k))", "X(k) / 2)"), encoding="utf-8")
    assert main(["prove", f"{file}::own/mine"]) == 0
    assert "not found, which does not say that it is false" in capsys.readouterr().out


@pytest.mark.parametrize("name", some(["buttaci/lem4.2", "buttaci/lemB.1"], 2, "longer proofs"))
def test_the_multipliers_of_a_lemma_are_found_again(name: str) -> None:
    """Every premise of the two lemmas that is shown by atoms, with the atoms taken away."""
    known = catalogue()
    statement = known[name]
    conditions = view(statement).requires
    premises = [p for p in shown_by(statement, known) if p.rule.by]
    assert len(premises) >= 5
    for premise in premises:
        bare = replace(premise, rule=replace(premise.rule, by=()))
        found = multipliers_of(bare, statement, conditions)
        assert found is not None, premise.because
        assert stands(found)
