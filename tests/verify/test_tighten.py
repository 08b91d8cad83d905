"""Multipliers by a linear programme, and smaller coefficients for lines of a proof; the kernel has the last word."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from marks import slow, some
from sympy import Le, Rational, expand

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.rule_expressions import mean
from fedaudit.bounds.papers.buttaci.fedprox import LEMMA_4_1
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, N, X, gradient
from fedaudit.bounds.papers.buttaci.symbols import Gamma, L, alpha, gamma, k, mu, t
from fedaudit.bounds.proofs.argument import argued
from fedaudit.bounds.proofs.atoms import Square
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.hand_premises import shown as shown_by
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.cli import main
from fedaudit.verify.moves.audit import hunt_row
from fedaudit.verify.moves.kernel_proof import Proof, prove
from fedaudit.verify.proposals.single_premises import singles
from fedaudit.verify.prover.atoms_in_reach import multipliers_of
from fedaudit.verify.prover.multipliers import Question, find
from fedaudit.verify.tighten.bound_terms import places, stated
from fedaudit.verify.tighten.comparison import compared
from fedaudit.verify.tighten.proof_lines import PremiseLine, Tighter, lines, tightened
from fedaudit.verify.tighten.tighten import Tightened, least, tighten

JENSEN = (Square(gradient - mean(gradient), "mean"), Square(gradient, "mean"), Square(mean(gradient)))


def test_multipliers_are_found_and_stand() -> None:
    claim = Le(gamma(t) * N(k), gamma(t) * X(k))
    found = find(Question(claim, ON_FEDPROX, JENSEN, (gamma(t),), 1))
    assert found is not None
    assert found.by == ((gamma(t), JENSEN[0]),)
    assert stands(shown(claim, "Jensen", ON_FEDPROX, *found.by))


def test_none_are_found_for_what_is_false() -> None:
    for factor in (Rational(99, 100), Rational(1, 2)):
        assert find(Question(Le(N(k), factor * X(k)), ON_FEDPROX, JENSEN, (gamma(t), L), 2)) is None


@lru_cache(maxsize=1)
def heterogeneity() -> tuple[PremiseLine, Sequence[Any]]:
    """Lines B.5 to B.11 of lemma B.1: 6 L Gamma gamma^2 and once the divergence."""
    known = catalogue()
    goal, argument = argued(known["buttaci/lemB.1"], known)
    (line,) = (line for line in lines(argument) if line.where == "B.5 to B.11")
    return line, goal.requires


def less(line: PremiseLine) -> dict[str, Tighter]:
    made = tightened(line, heterogeneity()[1], catalogue()["buttaci/lemB.1"])
    return {str(one.quantity)[:10]: one for one in made}


def test_a_line_of_lemma_B_1_needs_less_divergence_and_less_heterogeneity() -> None:
    step, found = gamma(t), less(heterogeneity()[0])
    assert expand(found["Gamma"].least - (6 * L * step**2 - 4 * L**2 * step**3)) == 0
    assert expand(found["Sum(diverg"].least - (1 - 2 * L * step) * (1 - mu * step)) == 0
    for one in found.values():
        (single,) = singles(catalogue()["buttaci/lemB.1"], [one.premise])
        assert not single.refusal()
        assert one.row()["printed"] != one.row()["least"]
    line = heterogeneity()[0]
    assert "Gamma" not in less(replace(line, claim=found["Gamma"].claim))  # nothing more comes off
    false = replace(line, claim=Le(line.claim.lhs, line.claim.rhs - 4 * L * Gamma * step**2))
    assert less(false) == {}


@slow("the whole local step, 4,000 unknowns, and what follows from it")
def test_theorem_4_1_needs_less_than_is_printed() -> None:
    """The coefficient of the divergence in lemma B.1 can be 3/2 - ..., and 8 G^2 is 6 G^2 to the end of the theorem."""
    known = catalogue()
    step = gamma(t)
    lemma = tighten(known["buttaci/lemB.1"], known)
    least = {expand(one.least) for one in lemma.lines}
    assert expand(Rational(3, 2) - alpha * step - 2 * L * step - 2 * mu * step * (1 - L * step)) in least
    found = tighten(known["buttaci/thm4.1-I"], known)
    factors = {str(term.place.term): term.factor for term in found.terms}
    assert factors["2*E**2*G**2/mu"] == Rational(3, 4)
    assert derive(found.statement, found.known, slack=False).proved
    proof = prove(found.statement, found.known)
    assert isinstance(proof, Proof)
    assert len(proof.cited) == 5
    assert [row["verdict"] for row in (hunt_row(one.statement, 0, 2.0) for one in (lemma, found))] == ["survived"] * 2
    for row in compared(known["buttaci/lemB.1"], lemma.statement):
        assert row["worst_of_printed"]["upper"] <= row["worst_of_tightened"]["upper"] <= 1


@pytest.mark.parametrize(("name", "told"), [("buttaci/lemC.2", "not proved"), ("buttaci/nope", "expected an id")])
def test_only_a_proved_statement_is_tightened(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tighten", name]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("fedaudit:")]
    assert told in line


LOOSE = """
from dataclasses import replace
from fedaudit.bounds.language.algebra import Le
from fedaudit.bounds.papers.buttaci.fedprox import LEMMA_4_1 as base

MINE = replace(base, id="own/loose", then=Le(base.then.lhs, 3 * base.then.rhs))
"""


def loose_bound() -> Tightened:
    """Three times what lemma 4.1 says."""
    printed = LEMMA_4_1.relations[0]
    claim = replace(LEMMA_4_1, id="own/loose", then=Le(printed.lhs, 3 * printed.rhs))
    return tighten(claim, {**catalogue(), claim.id: claim})


def test_a_bound_is_tightened_to_what_its_proof_gives_and_no_further() -> None:
    found = loose_bound()
    assert found.statement.id == "own/loose~tightened"
    assert found.statement.relations == LEMMA_4_1.relations
    (term,) = found.terms
    assert (term.factor, term.refused) == (Rational(1, 3), Rational(33, 100))
    assert term.stopped
    smaller = stated(found.statement, {place: Rational(99, 100) for place in places(found.statement)})
    assert not derive(smaller, found.known, slack=False).proved


@slow("two searches")
def test_a_tightened_bound_survives_and_one_that_is_a_hundredth_smaller_falls() -> None:
    found = loose_bound()
    smaller = stated(found.statement, {place: Rational(99, 100) for place in places(found.statement)})
    assert hunt_row(smaller, 0, 0.2)["verdict"] == "refuted"
    assert hunt_row(found.statement, 0, 0.2)["verdict"] == "survived"


@pytest.mark.parametrize("true", [Rational(1, 3), Rational(23, 25), Rational(0), Rational(1)])
def test_the_least_factor_is_the_last_that_is_accepted(true: Any) -> None:
    factor, refused = least(lambda c: bool(c >= true))
    assert factor == true
    assert refused is None or true - Rational(1, 100) <= refused < true


def test_the_proof_of_a_tightened_bound_is_a_file_that_certify_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, file = tmp_path / "own.py", tmp_path / "proof.json"
    own.write_text(LOOSE, encoding="utf-8")
    assert main(["tighten", f"{own}::own/loose", "--out", str(file), "--no-worst", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["of"], row["smaller"]) == ("own/loose~tightened", "own/loose", True)
    assert row["certificate"] == str(file)
    assert main(["certify", str(file), str(own), "--json"]) == 0
    (judged,) = json.loads(capsys.readouterr().out)
    assert judged["accepted"]
    assert judged["what"].startswith("proof of the statement")
    data = json.loads(file.read_text(encoding="utf-8"))
    smaller = json.loads(json.dumps(data))
    (relation,) = smaller["claim"]["then"]
    relation[2] = ["*", "1/2", relation[2]]  # a stranger's: no judgement says it
    file.write_text(json.dumps(smaller), encoding="utf-8")
    assert main(["certify", str(file), str(own), "--json"]) == 1
    assert "got no judgement that says" in json.loads(capsys.readouterr().out)[0]["reason"]
    data["claim"]["when"] = []  # another statement than the one it is named after
    file.write_text(json.dumps(data), encoding="utf-8")
    assert main(["certify", str(file), str(own), "--json"]) == 1
    assert "another claim" in json.loads(capsys.readouterr().out)[0]["reason"]


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


BARE = OWN.replace(", (MULTIPLIER, ATOM))", ")").replace(
    "follows_from=", "implicit=(nonnegative_weights,), follows_from="
)
FOUND = BARE.replace("symbols import k", "symbols import k, nonnegative_weights")


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
