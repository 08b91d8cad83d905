"""Pictures at constants of one's own: what was asked for is what is run, and what cannot be held is said."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from places import ROOT, TESTS

import fedaudit as fa
from fedaudit.cli import main
from fedaudit.verify.moves.audit import read
from fedaudit.verify.pictures.at_constants import genes_at, reading_at, shape_at
from fedaudit.verify.pictures.curves import rate_at
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.score import genes_of, tabulate

LI = TESTS / "own" / "li.py"
ASKED = {"L": 10, "mu": 1, "C": 3, "E": 5, "d": 4, "T": 20}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        (f"{LI}::li/thm1", ASKED),
        ("buttaci/thm4.1-I", {**ASKED, "alpha": 2, "sigma": "1/2"}),
        ("buttaci/lemB.2", {"gamma": "1/100", "L": 10, "T": 8}),
        ("buttaci/lem4.1", {"gamma": "1/100", "alpha": 3}),
    ],
)
def test_the_runs_have_the_constants_that_were_asked_for(name: str, asked: dict[str, int | str]) -> None:
    values = {symbol: Fraction(x) for symbol, x in asked.items()}
    given, world = read(fa.statement(name))
    reading = reading_at(given, values)
    shape = shape_at(reading, world, values, 10)
    genome = draw(genes_of(reading, world, shape), 20, np.random.default_rng(0))
    table = tabulate(reading, world, shape, genes_at(reading, world, shape, genome, values))
    for symbol, x in values.items():
        held = table.counts[symbol] if symbol in table.counts else table.scalars.get(symbol)
        seen = table.quantities[symbol].values if held is None else held
        assert np.allclose(np.asarray(seen, dtype=float), float(x), rtol=1e-9), symbol


def test_the_run_stays_below_a_true_bound_up_to_T() -> None:
    made = rate_at(fa.load(LI)[0], {name: Fraction(x) for name, x in ASKED.items()})
    assert made.x[-1] == 20
    assert (made.expectation <= made.bound * (1 + 1e-9)).all()
    assert "L = 10, mu = 1" in made.caption


def test_from_python_it_returns_axes() -> None:
    axes = fa.plot(f"{LI}::li/thm1", L=10, mu=1, C=2, E=2, T=10)
    assert isinstance(axes, Axes)
    assert axes.lines


BAD = {
    "measured": (["G=3"], "which a run measures itself"),
    "unknown": (["foo=3"], "expected one of C, d, E, T"),
    "order": (["L=1", "mu=2"], "mu at most L"),
    "steps": (["T=7", "E=5"], "whole rounds"),
    "range": (["L=1:9"], "at most 5"),
    "style": (["L=1", "--style", "wall"], "invalid choice"),
    "size": (["E=1/2"], "a whole number"),
}


@pytest.mark.parametrize(("values", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_held_is_one_line(
    values: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", f"{LI}::li/thm1", *values, "--out", str(tmp_path / "a.png")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_every_constant_that_is_drawn_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that nobody gave, and those that the run measures."""
    assert main(["plot", "buttaci/thm4.1-I", "L=4", "mu=1", "E=2", "T=20", "--out", str(tmp_path / "a.png")]) == 0
    _, said = capsys.readouterr().out.splitlines()
    for name in ("C", "d", "E", "L", "mu", "sigma", "alpha", "G", "Gamma", "gap(0)"):
        assert f" {name} = " in said


def test_the_parts_of_a_bound_add_up_to_it() -> None:
    made = rate_at(fa.statement("buttaci/thm4.1-I"), {"L": Fraction(4), "T": Fraction(200), "alpha": Fraction(50)})
    assert {part.name for part in made.parts} == {"transient", "floor"}
    assert np.allclose(sum(part.values for part in made.parts), made.bound)
    falls = next(part for part in made.parts if part.name == "transient").values
    assert np.allclose(falls[1:] / falls[:-1], falls[1] / falls[0])  # a factor per round


def test_the_band_of_runs_lies_around_their_expectation() -> None:
    made = rate_at(fa.statement("buttaci/thm4.1-I"), {"L": Fraction(2), "mu": Fraction(1), "sigma": Fraction(5)})
    assert made.band is not None
    low, high = (side[-50:] for side in made.band)
    inside = made.expectation[len(made.band[0]) - 50 : len(made.band[0])]
    assert (low < inside).all()
    assert (inside < 2 * high).mean() > 0.9


def test_several_runs_and_several_statements_stand_in_one_picture(tmp_path: Path) -> None:
    several = fa.plot("buttaci/thm4.1-I", L=4, mu=1, alpha=10, E=[1, 5], T=30)
    assert [line.get_label() for line in several.lines][:4] == [
        "E = 1: bound",
        "E = 1: run",
        "E = 5: bound",
        "E = 5: run",
    ]
    others = fa.plot("buttaci/thm4.1-I", compare=["buttaci/thm4.1-II"])
    assert {str(line.get_label()).partition(":")[0] for line in others.lines} >= {
        "buttaci/thm4.1-I",
        "buttaci/thm4.1-II",
    }


def test_it_draws_on_axes_of_ones_own() -> None:
    axes = Figure().subplots()
    assert fa.plot(f"{LI}::li/thm1", axes=axes, L=10, mu=1, C=2, E=2, T=10) is axes
    assert axes.lines


def test_a_figure_for_a_paper_is_one_column_wide_and_has_no_type_3_fonts(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    assert main(["plot", "buttaci/thm4.1-I", "--style", "paper", "--out", str(path)]) == 0
    said = path.read_bytes()
    assert b"/Type3" not in said
    assert b"/CIDFontType2" in said
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([0-9.]+) ([0-9.]+)", said)
    assert float(box[0]) == pytest.approx(72 * 3.33, abs=1)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_sets_a_figure_in_its_own_fonts(tmp_path: Path) -> None:
    assert main(["plot", "buttaci/thm4.1-I", "--style", "paper", "--out", str(tmp_path / "a.pgf")]) == 0
    paper = r"\documentclass{article}\usepackage{amssymb,pgf}\begin{document}\input{a.pgf}\end{document}"
    (tmp_path / "p.tex").write_text(paper)
    done = subprocess.run(
        ["pdflatex", "-interaction=batchmode", "p.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "p.pdf").is_file()


def test_what_has_no_rounds_is_not_drawn_for_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "buttaci/lemB.8", "--style", "paper", "--out", str(tmp_path / "a.pdf")]) == 2
    assert "without runs along rounds" in capsys.readouterr().err


def test_the_command_writes_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    assert main(["plot", f"{LI}::li/thm1", "L=10", "mu=1", "C=2", "--out", str(path), "T=10", "E=2"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


GD = ROOT / "examples" / "gradient_descent.py"


def test_a_claim_about_T_alone_is_drawn_along_T() -> None:
    """Measured at every length that is shown: a run of 4 steps is not one of 40 that was cut off."""
    made = rate_at(fa.statement(f"{GD}::gd/rate"), {"L": Fraction(10), "T": Fraction(40)})
    assert made.x.tolist() == [1, 2, 3, 4, 6, 9, 12, 16, 25, 36, 40]
    assert made.xlabel == "rounds $T$"
    assert (made.expectation <= made.bound * (1 + 1e-9)).all()
    assert np.allclose(made.bound / made.bound[0], 6 / (4 * made.x + 2))  # L |x_0 - x*|^2 / (4T + 2)
    assert (np.diff(made.expectation) <= 1e-12).all()
    assert "L = 10" in made.caption


def test_where_T_counts_steps_lengths_are_whole_rounds(tmp_path: Path) -> None:
    text = LI.read_text().replace("gap(t)", "gap(T)").replace("(gamma + t)", "(gamma + T)")
    text = text.replace("gap(T): fa.expect", "gap(t): fa.expect").replace("for_all={t: (0, T)},", "")
    (tmp_path / "last.py").write_text(text)
    asked = {name: Fraction(x) for name, x in {"L": 10, "mu": 1, "C": 2, "E": 3, "T": 30}.items()}
    made = rate_at(fa.statement(f"{tmp_path / 'last.py'}::li/thm1"), asked)
    assert made.x.tolist() == [3, 6, 9, 12, 18, 27, 30]


def test_a_claim_without_runs_is_not_drawn_at_values() -> None:
    with pytest.raises(fa.UserError, match="about T rounds"):
        rate_at(fa.statement("buttaci/appA-smooth-gap"), {"L": Fraction(10)})
