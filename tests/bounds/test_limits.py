"""Budget and memory are limits: sizes that do not fit are left out, and the row says so; long numbers are one line.

Every search here runs where an allocation of a few GB fails, so that a size that slips through is seen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fuzz import little_memory
from marks import slow
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.formulas.number_length import MOST_DIGITS, long_in_code
from fedaudit.cli import main
from fedaudit.errors import UserError
from fedaudit.problems.runs.all_paths import paths_needed
from fedaudit.problems.runs.setup import draws
from fedaudit.verify.moves.audit import read
from fedaudit.verify.settings.base import Limits
from fedaudit.verify.settings.runs.limits import Limited, memory

ROOM = 3 * 10**9  # bytes, beside what the tests have
EXAMPLES = ROOT / "examples"
DESCENT = (EXAMPLES / "gradient_descent.py").read_text()
SAMPLED = (EXAMPLES / "sampled_fedavg.py").read_text().partition("CONTRACTION")[0]
ORACLE = """
import fedaudit as fa
from fedaudit.bounds.language.rule_expressions import oracle

G = fa.Glossary()
T, E, C = G.count("T", "rounds"), G.count("E", "steps"), G.count("C", "clients")
t, k, i = G.index("t", "round"), G.index("k", "step"), G.index("i", "client")
L = G.symbol("L", "F/W^2", "smoothness")
eta = G.symbol("eta", "W^2/F", "proximal step")
drift = G.quantity("drift", "W^2", "drift", nonnegative=True)
x, y = fa.vector("x"), fa.vector("y")
METHOD = fa.Method(
    id="solver", title="Local solvers", cite="made up", glossary=G, server={x: fa.start}, client={y: x}, begin={y: x},
    local={y: oracle(y, eta)}, update={x: fa.mean(y, over="sampled")},
    measures={drift(t, k, i): fa.expect(fa.norm2(y - x))},
)
LET = (fa.Assumption("smooth", (L,)), fa.Assumption("convex"), fa.Assumption("weights_sum_to_one"))
DRIFT = fa.Statement(
    id="solver/drift", kind="inequality", title="A square", cite="made up", method=METHOD, glossary=G, let=LET,
    then=fa.Ge(drift(t, k, i), 0), for_all={t: (0, T - 1), k: (0, E), i: (1, C)}, sweep={eta: fa.unit("s") / L},
)
"""
NUMBERS = """
import fedaudit as fa

G = fa.Glossary()
j, a = G.index("j", "term"), G.symbol("a", "1", "a number")
SUM = fa.Statement(
    id="sums/long", kind="inequality", title="A long sum", cite="made up", method="scalar", glossary=G,
    then=fa.Le(fa.Sum(1 / (j + a) ** 2, (j, 1, 10**9)), 2),
)
"""
FITS_NOT = {  # a condition beside E = 1, and what is said of it
    "fa.Ge(T, 10**6)": "T ≥ 10^6: no such run fits in its share of the budget, 1 s (--budget), so none was tried",
    "fa.Ge(T, 10**100)": "T ≥ 10^100: no such run fits in 2 GB (--memory), so none was tried",
    "fa.Ge(T, 10**900)": "T ≥ 10^900: no such run fits in 2 GB (--memory), so none was tried",
    "fa.Ge(C, 10**6)": "C ≥ 10^6: no such run fits in its share of the budget, 1 s (--budget), so none was tried",
    "fa.Ge(C, 10**100)": "C ≥ 10^100: no such run fits in 2 GB (--memory), so none was tried",
}
LONG_SUMS = "long sums or ranges: no such run fits in 2 GB (--memory), so none was tried"


def descent(tmp_path: Path, old: str = "", new: str = "") -> fa.Statement:
    """The true statement about gradient descent, with a change; its file is `mine.py`."""
    text = DESCENT.partition("TOO_GOOD")[0]
    assert old in text
    (tmp_path / "mine.py").write_text(text.replace(old, new))
    return fa.load(tmp_path / "mine.py")[0]


def sampled(tmp_path: Path, condition: str) -> fa.Statement:
    """Some of C clients take part, under one more condition."""
    text = SAMPLED.replace("T, E = GLOSSARY", 'C = GLOSSARY.count("C", "clients")\nT, E = GLOSSARY')
    (tmp_path / "sampled.py").write_text(text.replace("when=(fa.Eq(E, 1),)", f"when=(fa.Eq(E, 1), {condition})"))
    return fa.load(tmp_path / "sampled.py")[0]


def both(statement: fa.Statement, budget: float = 1) -> list[dict[str, Any]]:
    """The rows of `verify` and `hunt`, where an allocation beyond the room fails."""
    with little_memory(ROOM):
        return [fa.verify(statement, budget=budget).row(), fa.hunt(statement, budget=budget).row()]


@pytest.mark.parametrize("condition", FITS_NOT)
def test_sizes_that_a_condition_names_are_left_out_where_they_do_not_fit(tmp_path: Path, condition: str) -> None:
    for row in both(sampled(tmp_path, condition)):
        assert (row["verdict"], row["instances"]) == ("undecided", 0)
        assert row["reason"] == FITS_NOT[condition]
        assert row["untried"] == [FITS_NOT[condition]]


def test_what_fits_is_tried_and_the_rest_is_said(tmp_path: Path) -> None:
    line = "T ≥ 10^6: 2 of 6 kinds of runs do not fit in its share of the budget, 1 s (--budget) and were not tried"
    for row in both(descent(tmp_path, "fa.Eq(C, 1))", "fa.Eq(C, 1), fa.Le(T, 10**6))")):
        assert row["verdict"] == "survived"
        assert row["untried"] == [line]
        assert row["instances"] > 1000


def test_more_budget_takes_longer_runs(tmp_path: Path) -> None:
    """Few of them, once: 5,000 rounds are not climbed on."""
    statement = descent(tmp_path, "fa.Eq(C, 1))", "fa.Eq(C, 1), fa.Ge(T, 5_000))")
    with little_memory(ROOM):
        row = fa.verify(statement, budget=20).row()
    assert 0 < row["instances"] < 1000
    assert {size["T"] for size in row["sizes"]} <= {5_000, 5_001}


def test_clients_of_a_crowd_are_drawn_without_listing_the_ways(tmp_path: Path) -> None:
    for row in both(sampled(tmp_path, "fa.Ge(C, 30)"), 0.3):
        assert row["verdict"] == "survived"
        assert {size["m"] for size in row["sizes"]} == {1, 29, 30, 31}


@pytest.mark.parametrize("kind", ["without_replacement", "with_replacement"])
def test_ways_to_draw_are_counted_as_they_are_listed(kind: str) -> None:
    for C, m in [(2, 1), (3, 0), (3, 2), (5, 2), (5, 5), (6, 3), (1, 1), (6, 4)]:
        assert paths_needed(1, C, 0, (kind, m)) == len(draws(C, kind, m))
    assert paths_needed(1, 10**100, 0, (kind, 10**99)) > 10**9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("L * dist2(0) / (4 * T + 2)", "L * dist2(0) * fa.Sum(1 / t**2, (t, 1, 10**9))"),
        ('"choose": {gamma(t): 1 / L}', '"choose": {gamma(t): fa.Sum(1 / (t + C) ** 2, (C, 1, 10**9)) / L}'),
    ],
)
def test_long_sums_are_counted_too(tmp_path: Path, old: str, new: str) -> None:
    for row in both(descent(tmp_path, old, new)):
        assert row["reason"] == LONG_SUMS


def test_long_sums_without_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(NUMBERS)
    for row in both(fa.load(tmp_path / "mine.py")[0]):
        assert row["reason"] == LONG_SUMS


def test_an_oracle_measured_at_every_step_and_client(tmp_path: Path) -> None:
    """Its data points have losses of many pieces: it took 8 GB."""
    (tmp_path / "mine.py").write_text(ORACLE)
    for row in both(fa.load(tmp_path / "mine.py")[0], 0.3):
        assert row["verdict"] == "survived"
        assert "untried" not in row


def test_sizes_that_no_run_has_are_said(tmp_path: Path) -> None:
    for row in both(descent(tmp_path, "(fa.Eq(E, 1), fa.Eq(C, 1))", "(fa.Ge(E, 10**6),)")):
        assert row["reason"] == "no run of ours has sizes that meet its conditions"


def test_the_table_and_the_audit_say_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    descent(tmp_path, "fa.Eq(C, 1))", "fa.Eq(C, 1), fa.Le(T, 10**6))")
    with little_memory(ROOM):
        assert main(["verify", str(tmp_path / "mine.py"), "--budget", "1", "--jobs", "1"]) == 0
    assert "gd/rate: T ≥ 10^6: 2 of 6 kinds of runs do not fit in its share of" in capsys.readouterr().out
    where = str(tmp_path / "out")
    assert main(["audit", str(tmp_path / "mine.py"), "--budget", "1", "--jobs", "1", "--out", where]) == 0
    (row,) = json.loads((tmp_path / "out" / "audit.json").read_text())["statements"]
    assert row["verify"]["untried"] == row["hunt"]["untried"]
    assert any("2 of 6 kinds of runs do not fit" in page.read_text() for page in (tmp_path / "out/pages").iterdir())


def test_a_figure_is_left_out_where_no_run_fits(tmp_path: Path) -> None:
    descent(tmp_path, "fa.Eq(C, 1))", "fa.Eq(C, 1), fa.Ge(T, 10**6))")
    where = str(tmp_path / "out")
    assert main(["audit", str(tmp_path / "mine.py"), "--budget", "1", "--jobs", "1", "--out", where]) == 0


def test_less_memory_leaves_more_out() -> None:
    statement = next(s for s in statements() if s.setting == "run")
    reading, world = read(statement, limits=Limits(10**4))
    assert isinstance(world, Limited)
    assert "fit in 10,000 bytes (--memory)" in world.affordable(reading).untried[0]


@slow("the shapes of the whole catalogue")
def test_the_catalogue_fits_in_the_default() -> None:
    for statement in statements():
        if statement.kind == "experiment" or statement.quoted:
            continue
        reading, world = read(statement)
        if isinstance(world, Limited):
            known = world.affordable(reading)
            assert not known.untried, statement.id
            assert set(known.shapes) == known.ordinary, statement.id


@pytest.mark.parametrize("text", ["", "2", "0GB", "-1GB", "2TB", "many", "1e9GB", "９GB", "nan MB"])
def test_a_size_that_is_none_is_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "buttaci/lem1", f"--memory={text}"]) == 2
    expected = "expected a size in MB or GB, above 0; do: write it like --memory 500MB or --memory 4GB"
    assert capsys.readouterr().err == f"fedaudit: got --memory {text}, {expected}\n"


def test_sizes_are_read_in_both_units() -> None:
    assert [memory(text) for text in ("500MB", "2GB", "1.5 gb")] == [500 * 10**6, 2 * 10**9, 15 * 10**8]


# --- long numbers ----------------------------------------------------------------------------------------------------

LONG = [
    "10**(10**8)", "2**(10**9)", "10**10**10**10", "1 << 10**9", "2**-10**9", "10**600 * 10**600", "9" * 1100,
    "math.factorial(10**9)", "sympy.factorial(10**9)", 'fa.Rational("1e999999999")', "fa.Rational(1, 3**10**8)",
]  # fmt: skip
SHORT = ["10**999", "10**(10**3 - 10**3 + 2)", "T**10**8", "(-1)**(10**8)", "factorial(400)", "0.5**10**9", "x ="]


@pytest.mark.parametrize("number", LONG, ids=lambda number: number[:20])
def test_a_number_that_nobody_could_write_out_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    text = DESCENT.replace("import fedaudit as fa", "import math\n\nimport sympy\n\nimport fedaudit as fa")
    (tmp_path / "mine.py").write_text(text.replace("(4 * T + 2)", f"(4 * T + ({number}))"))
    for move in ("lint", "list", "verify"):
        assert main([move, str(tmp_path / "mine.py")]) == 2
        said = capsys.readouterr().err
        assert f"{tmp_path / 'mine.py'}:" in said
        assert said.endswith("a number of more than 1000 digits, expected at most 1000; do: mend this line\n")


@pytest.mark.parametrize("number", SHORT)
def test_other_numbers_are_read(number: str) -> None:
    assert long_in_code(number) is None


def test_a_number_that_the_file_computes_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = DESCENT.replace("import fedaudit as fa", "import fedaudit as fa\n\nBIG = 10**6")
    (tmp_path / "mine.py").write_text(text.replace("(4 * T + 2)", "(4 * T + 2**BIG)"))
    for move in ("lint", "list", "show", "hunt"):
        assert main([move, f"{tmp_path / 'mine.py'}::gd/rate"]) == 2
        said = f"gd/rate: got a number of 301030 digits in `then`, expected at most {MOST_DIGITS}; do: write a shorter"
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [("fa.Rational(1, 10**900)", "refuted"), ("10**900", "undecided"), ("-(10**900)", "undecided")],
)
def test_numbers_beyond_floats_are_left_to_the_kernel(tmp_path: Path, factor: str, verdict: str) -> None:
    statement = descent(tmp_path, "L * dist2(0) / (4 * T + 2)", f"{factor} * L * dist2(0) / (4 * T + 2)")
    assert [row["verdict"] for row in both(statement)] == [verdict, verdict]


def test_a_worst_case_with_numbers_beyond_floats_is_one_line(tmp_path: Path) -> None:
    statement = descent(tmp_path, "L * dist2(0) / (4 * T + 2)", "10**900 * L * dist2(0) / (4 * T + 2)")
    with pytest.raises(UserError, match="numbers beyond floats"):
        fa.worst(statement, L=1, T=1, E=1, C=1)
