"""Multipliers by a linear programme, and smaller coefficients for lines of a proof; the kernel has the last word."""

# sympy is annotated only in part.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false, reportArgumentType=false

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from marks import slow
from sympy import Le, Rational, expand

from fedaudit.bounds.atoms import Square
from fedaudit.bounds.catalogue import catalogue
from fedaudit.bounds.derive import argued
from fedaudit.bounds.method import mean
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, N, X, gradient
from fedaudit.bounds.papers.buttaci.symbols import Gamma, L, alpha, gamma, k, mu, t
from fedaudit.bounds.shown import shown, stands
from fedaudit.cli import main
from fedaudit.verify.kernel import identity
from fedaudit.verify.multipliers import Question, find
from fedaudit.verify.tighten import Line, Tighter, lines, tighten, tightened

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
def heterogeneity() -> tuple[Line, Sequence[Any]]:
    """Lines B.5 to B.11 of lemma B.1: 6 L Gamma gamma^2 and once the divergence."""
    known = catalogue()
    goal, argument = argued(known["buttaci/lemB.1"], known)
    (line,) = (line for line in lines(argument) if line.where == "B.5 to B.11")
    return line, goal.requires


def less(line: Line) -> dict[str, Tighter]:
    made = tightened(line, heterogeneity()[1], catalogue()["buttaci/lemB.1"])
    return {str(one.quantity)[:10]: one for one in made}


def test_a_line_of_lemma_B_1_needs_less_divergence_and_less_heterogeneity() -> None:
    step, found = gamma(t), less(heterogeneity()[0])
    assert expand(found["Gamma"].least - (6 * L * step**2 - 4 * L**2 * step**3)) == 0
    assert expand(found["Sum(diverg"].least - (1 - 2 * L * step) * (1 - mu * step)) == 0
    for one in found.values():
        identity.check(json.loads(json.dumps(one.certificate)))
        assert one.row()["printed"] != one.row()["least"]
    line = heterogeneity()[0]
    assert "Gamma" not in less(replace(line, claim=found["Gamma"].claim))  # nothing more comes off
    false = replace(line, claim=Le(line.claim.lhs, line.claim.rhs - 4 * L * Gamma * step**2))
    assert less(false) == {}


@slow("the whole local step, 4,000 unknowns")
def test_the_local_step_of_lemma_B_1_needs_less_divergence_than_is_printed() -> None:
    known = catalogue()
    step = gamma(t)
    least = {expand(one.least) for one in tighten(known["buttaci/lemB.1"], known)}
    assert expand(2 - alpha * step - 2 * L * step - 2 * mu * step * (1 - L * step)) in least


@pytest.mark.parametrize(("name", "told"), [("buttaci/lemC.2", "not proved"), ("buttaci/nope", "expected an id")])
def test_only_a_proved_statement_is_tightened(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tighten", name]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("fedaudit:")]
    assert told in line


OWN = """
from dataclasses import replace
from sympy import Le
import fedaudit as fa
from fedaudit.bounds.atoms import Square
from fedaudit.bounds.derivation import Argument, Derivation, Step
from fedaudit.bounds.method import mean
from fedaudit.bounds.papers.buttaci.fedprox import LEMMA_4_1 as base
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, N, X, gradient
from fedaudit.bounds.papers.buttaci.symbols import k
from fedaudit.bounds.shown import shown

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
