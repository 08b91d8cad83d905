"""Slips in somebody's own file: one line that says what stands there, what was expected and what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.language.assumptions import ASSUMPTIONS
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.lint.method_check import method_faults
from fedaudit.bounds.lint.wellformed import faults
from fedaudit.cli import main

FILE = """
import fedaudit as fa

G = fa.Glossary()
T, E = G.count("T", "rounds"), G.count("E", "local steps")
t = G.index("t", "round")
L = G.symbol("L", "F/W^2", "smoothness")
mu = G.symbol("mu", "F/W^2", "strong convexity")
gamma = G.quantity("gamma", "W^2/F", "step size", positive=True)
eta = G.quantity("eta", "W^2/F", "a step size of another method", positive=True)
gap = G.quantity("gap", "F", "E f(x_t) - f*", nonnegative=True)
F_gap = G.quantity("F_gap", "F", "a measure of another method", nonnegative=True)
none = G.quantity("none", "W^2", "always 0", nonnegative=True)
x, y = fa.vector("x"), fa.vector("y", "y_i")
FEDAVG = fa.Method(
    id="fedavg", title="FedAvg", cite="McMahan et al. 2017", glossary=G, server={x: fa.start}, client={y: x},
    begin={y: x}, local={y: y - gamma(t) * fa.noisy(fa.grad(y))}, update={x: fa.mean(y)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star, none(t): fa.expect(fa.norm2(x - x))},
)
LET = (
    fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (mu,)),
    fa.Assumption("weights_sum_to_one"), fa.Assumption("nonnegative_weights"),
)
FIELDS = dict(
    id="mine/thm1", kind="inequality", title="One step", cite="made up", method=FEDAVG, glossary=G, let=LET,
    when=(fa.Eq(E, 1),), then=fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / L},
)
"""

SLIPS = {
    'id="thm1"': "got the id 'thm1', expected paper/label; do: write id='mine/thm1'",
    'kind="lemma"': "got kind='lemma', expected one of inequality, identity, exists, order, experiment; do: a lemma is"
    " an inequality",
    "then=fa.Le(F_gap(t), 1)": "got 'F_gap', expected what fedavg offers (gamma, gap, none, p); do: did you mean"
    " 'gap'?",
    "then=fa.Le(gap(t, 1), gap(t))": "got gap(t, 1) with 2 indices, expected 1; do: `fedaudit methods fedavg` shows its"
    " measures",
    'let=(fa.Assumption("smoth", (L,)),)': "got the assumption 'smoth', expected one that runs understand; do: did you"
    " mean 'smooth'? `fedaudit assumptions` lists them",
    'let=(fa.Assumption("smooth"),)': "got the assumption 'smooth' with the constants (), expected 1 of them; do: write"
    " Assumption('smooth', (…,)): every f_i has curvature between -L and L",
    "choose={eta(t): 1 / L}": "got `choose` of 'eta', expected a step size of fedavg (gamma(t)); do: use one of them."
    " Or define it in `where`",
    "then=fa.Le(gap(t + 2), gap(t))": "got gap(t + 2), whose index t goes from 2 to T + 1, expected 0 to T; do: mend"
    " `for_all`",
    "then=fa.Le(gap(t), gap(t - 1))": "got gap(t - 1), whose index t goes from -1 to T - 2, expected 0 to T; do: mend"
    " `for_all`",
    "then=fa.Le(gap(t), gamma(t + 1) * L * gap(0))": "got gamma(t + 1), whose index t goes from 1 to T, expected 0 to"
    " T - 1; do: mend `for_all`",
    "then=fa.Le(gap(t), L**0.5)": "got the float 0.5 in `then`, expected exact numbers; do: write Rational(1, 2)",
    "then=fa.Le(gap(t), 0.1 * L)": "got the float 0.1 in `then`, expected exact numbers; do: write Rational('0.1')",
    "when=(fa.Ge(t, 3),)": "got t >= 3 in `when`, expected the range of the index t in `for_all`; do: write for_all={t:"
    " (first, last)}",
    "then=gap(t) == 0": "got `then` with False in place of a relation, expected a claim; do: write Eq(left, right), Le"
    " or Ge",
}


def written(folder: Path, *changes: str) -> str:
    path = folder / "mine.py"
    fields = "".join(f"FIELDS |= dict({change})\n" for change in changes)
    path.write_text(f"{FILE}{fields}THM = fa.Statement(**FIELDS)\n")
    return str(path)


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_a_finding_and_one_line_before_any_move(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, slip)
    (statement,) = fa.load(path)
    assert [str(found.message) for found in fa.lint(statement)][:1] == [SLIPS[slip]]
    line = 1 + next(n for n, text in enumerate(Path(path).read_text().splitlines()) if f'"{statement.id}"' in text)
    for move in ("derive", "verify", "hunt", "audit"):
        assert main([move, path, "--jobs", "1"]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err == f"fedaudit: {path}:{line}: {statement.id}: {SLIPS[slip]}\n"
    with pytest.raises(fa.UserError) as said:
        fa.hunt(statement)
    assert str(said.value) == f"{statement.id}: {SLIPS[slip]}"


def test_clients_are_drawn_in_rounds_alone() -> None:
    method = fa.load(ROOT / "examples" / "sampled_fedavg.py")[0].method
    assert isinstance(method, Method)
    assert not list(method_faults(method))
    assert any("whose clock counts steps" in fault.got for fault in method_faults(replace(method, clock="steps")))


def test_an_unknown_name_is_one_finding_wherever_it_stands(tmp_path: Path) -> None:
    (statement,) = fa.load(written(tmp_path, "then=fa.Le(F_gap(t + 1) + F_gap(0), F_gap(t))"))
    assert [found.message for found in fa.lint(statement) if found.rule == "form"] == [
        "got 'F_gap', expected what fedavg offers (gamma, gap, none, p); do: did you mean 'gap'?"
    ]


def test_what_is_well_formed_has_no_slip() -> None:
    assert not [(s.id, str(fault)) for s in statements() for fault in faults(s)]


def test_an_empty_range_is_passed_over_and_longer_runs_are_tried(tmp_path: Path) -> None:
    (statement,) = fa.load(written(tmp_path, "for_all={t: (3, T - 1)}"))
    verdict = fa.verify(statement, budget=0.5)
    assert isinstance(verdict, fa.Survived)
    assert verdict.tightest is not None
    assert verdict.tightest["instance"]["T"] >= 4


def test_zero_equal_to_zero_holds(tmp_path: Path) -> None:
    (statement,) = fa.load(written(tmp_path, 'kind="identity", then=fa.Eq(none(t), 0)'))
    verdict = fa.verify(statement, budget=0.5)
    assert isinstance(verdict, fa.Survived)
    assert verdict.search.instances >= 4_000
    wrong = replace(statement, then=fa.Eq(next(q for q in statement.glossary if str(q) == "none")(0), 1))
    assert isinstance(fa.hunt(wrong, budget=0.5), fa.Refuted)


def test_a_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "other.py").write_text("from mine import *\n\nAGAIN = fa.Statement(**FIELDS)\n")
    assert {s.id for s in fa.load(tmp_path / "other.py")} == {"mine/thm1"}


def test_every_assumption_of_the_kernel_is_listed_with_its_constants(kernel_runs: list[Any]) -> None:
    known: dict[str, int] = {}
    for run in kernel_runs:
        for constants, names in enumerate((run.facts, run.bounds, run.pairs)):
            known |= dict.fromkeys(names, constants)
    assert known == {name: entry.constants for name, entry in ASSUMPTIONS.items()}


@pytest.fixture
def kernel_runs() -> list[Any]:
    """A run of every catalogue statement about a method, as the kernel reads it."""
    import numpy as np

    from fedaudit.verify import kernel
    from fedaudit.verify.moves.audit import read
    from fedaudit.verify.search.genome import draw, exactly
    from fedaudit.verify.search.rationalise import replay
    from fedaudit.verify.search.score import genes_of

    runs: list[Any] = []
    for identifier in ("buttaci/lem4.1", "yuan/lem10-bias", "fallah/eq97", "zhang/lemA.1"):
        statement = fa.statement(identifier)
        assert isinstance(statement.method, Method)
        reading, world = read(statement)
        rng = np.random.default_rng(0)
        for shape in list(world.shapes(reading))[:200]:
            genes = genes_of(reading, world, shape)
            replayed = replay(reading, world, shape, exactly(genes, draw(genes, 1, rng), 0, 2))
            if replayed is not None:
                runs.append(kernel.world(reading.claim, replayed.instance))
                break
    return runs


def test_assumptions_are_listed_by_name_and_by_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assumptions", "smooth", "weights", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["id"] for row in rows} == {
        "smooth",
        *(n for n, known in ASSUMPTIONS.items() if known.about == "weights"),
    }
    assert main(["assumptions"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(ASSUMPTIONS)
    assert main(["assumptions", "nois"]) == 2
    said = "fedaudit: got nois, expected an assumption that a run understands; do: did you mean noise?\n"
    assert capsys.readouterr().err == said


def test_a_table_says_why_a_row_is_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "yuan/table1-fco", "--jobs", "1"]) == 0
    assert "yuan/table1-fco: quoted, source not encoded: " in capsys.readouterr().out
