"""Pictures at constants of one's own: what was asked for is what is run, and what cannot be held is said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from places import ROOT, TESTS

import fedaudit as fa
from fedaudit.cli import main
from fedaudit.verify.moves.audit import read
from fedaudit.verify.pictures.at_constants import genes_at, reading_at, shape_at
from fedaudit.verify.pictures.curves import curves_at
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


def test_the_curves_stay_below_a_true_bound_and_run_to_T() -> None:
    made = curves_at(fa.load(LI)[0], {name: Fraction(x) for name, x in ASKED.items()})
    assert made.x[-1] == 20
    assert (made.lhs <= made.rhs * (1 + 1e-9)).all()
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
    "range": (["L=1:3"], "one value for each symbol"),
    "size": (["E=1/2"], "a whole number"),
}


@pytest.mark.parametrize(("values", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_held_is_one_line(
    values: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", f"{LI}::li/thm1", *values, "--out", str(tmp_path / "a.png")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_command_writes_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    assert main(["plot", f"{LI}::li/thm1", "L=10", "mu=1", "C=2", "--out", str(path), "T=10", "E=2"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


GD = ROOT / "examples" / "gradient_descent.py"


def test_a_claim_about_T_alone_is_drawn_along_T() -> None:
    """Measured at every length that is shown: a run of 4 steps is not one of 40 that was cut off."""
    made = curves_at(fa.statement(f"{GD}::gd/rate"), {"L": Fraction(10), "T": Fraction(40)})
    assert made.x.tolist() == [1, 2, 4, 9, 16, 36, 40]
    assert made.xlabel == "rounds $T$"
    assert (made.lhs <= made.rhs * (1 + 1e-9)).all()
    assert np.allclose(made.rhs, 6 / (4 * made.x + 2))  # L |x_0 - x*|^2 / (4T + 2), relative to T = 1
    assert (np.diff(made.lhs, axis=1) <= 1e-12).all()
    assert "L = 10" in made.caption


def test_where_T_counts_steps_lengths_are_whole_rounds(tmp_path: Path) -> None:
    text = LI.read_text().replace("gap(t)", "gap(T)").replace("(gamma + t)", "(gamma + T)")
    text = text.replace("gap(T): fa.expect", "gap(t): fa.expect").replace("for_all={t: (0, T)},", "")
    (tmp_path / "last.py").write_text(text)
    asked = {name: Fraction(x) for name, x in {"L": 10, "mu": 1, "C": 2, "E": 3, "T": 30}.items()}
    made = curves_at(fa.statement(f"{tmp_path / 'last.py'}::li/thm1"), asked)
    assert made.x.tolist() == [3, 6, 12, 27, 30]


def test_a_claim_without_runs_is_not_drawn_at_values() -> None:
    with pytest.raises(fa.UserError, match="about T rounds"):
        curves_at(fa.statement("buttaci/appA-smooth-gap"), {"L": Fraction(10)})
