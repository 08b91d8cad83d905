"""Pictures without rounds: a statement beside its relatives along an axis, and clouds of both sides."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from marks import slow
from test_figures_convergence import overlaps

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.cli import PICTURES, main
from fedaudit.figures.drawing import draw
from fedaudit.figures.kinds import cloud
from fedaudit.figures.kinds import named_pictures as pictures
from fedaudit.figures.kinds import relatives as profile
from fedaudit.verify.experiments.papers.buttaci.networks import grid
from fedaudit.verify.pictures.curves import Cloud, Profile, Rate, curves


def line(made: Profile, label: str) -> np.ndarray:
    (found,) = [one.values for one in made.lines if one.label == label]
    return found


def test_proposition_3_2_beside_its_repair() -> None:
    """The repaired formula lies on the exact probability, the printed one above it."""
    made = curves(statement("buttaci/prop3.2"))
    assert isinstance(made, Profile)
    assert line(made, "= prop3.2~repaired") == pytest.approx(line(made, "left side"))
    assert (line(made, "= prop3.2") > line(made, "left side") + 1e-3).all()
    figure = draw(made)
    assert overlaps(figure) == []
    shown = {drawn.get_label(): drawn.get_ydata() for drawn in figure.axes[0].lines}
    assert list(shown) == [one.label for one in made.lines]
    np.testing.assert_array_equal(shown["left side"], line(made, "left side"))


@pytest.mark.parametrize(("name", "left"), [("prop3.3", "msd"), ("prop3.4", "sad")])
def test_deviations_stand_between_all_their_bounds(name: str, left: str) -> None:
    """Against C, with both bounds: the repaired ones hold, the printed upper one is crossed; whoever is asked."""
    made = curves(statement(f"buttaci/{name}-upper"))
    assert isinstance(made, Profile)
    deviation = line(made, "left side")
    sign = ">" if name == "prop3.3" else "≥"
    assert (deviation >= line(made, f"{sign} {name}-lower")).all()
    assert (deviation <= line(made, f"≤ {name}-upper~repaired") * 1.001).all()
    printed = line(made, f"≤ {name}-upper")
    assert deviation[0] > printed[0]
    assert deviation[-1] < printed[-1]
    assert overlaps(profile.plot(made)) == []
    other = curves(statement(f"buttaci/{name}-lower"))
    assert isinstance(other, Profile)
    assert line(other, f"≤ {name}-upper") == pytest.approx(printed)


def test_an_approximation_that_does_not_improve() -> None:
    """Proposition 3.2 for many clients: the printed formula's error stays, that of the repaired one falls."""
    made = curves(statement("buttaci/prop3.2-largeC"))
    assert isinstance(made, Profile)
    true = line(made, "left side")
    printed, repaired = (
        np.abs(line(made, f"= {name}") - true) for name in ("prop3.2-largeC", "prop3.2-largeC~repaired")
    )
    assert printed[-1] == pytest.approx(0.083, abs=0.003)
    assert repaired[-1] < 0.1 * repaired[0]
    assert overlaps(draw(made)) == []


@pytest.mark.parametrize("name", ["buttaci/appA-combination", "buttaci/appA-cauchy", "buttaci/prop3.1"])
def test_clouds_show_every_relation_and_what_violates_it(name: str) -> None:
    printed = statement(name)
    made = curves(printed)
    assert isinstance(made, Cloud)
    assert len(made.lhs) == len(printed.relations)
    figure = cloud.plot(made)
    assert overlaps(figure) == []
    labels = [drawn.get_label() for axes in figure.axes for drawn in axes.lines]
    broken = [label for label in labels if str(label).endswith("violate")]
    assert bool(broken) == (name == "buttaci/appA-combination")
    for k in range(len(made.lhs)):
        assert int((made.margin[k] > cloud.SMALL).sum()) == sum(int(str(b).split()[0].replace(",", "")) for b in broken)


@slow("runs of many lengths; rates of other theorems are in tests/figures/test_pictures.py")
def test_theorem_4_3_is_followed_along_T() -> None:
    made = curves(statement("buttaci/thm4.3-II"))
    assert isinstance(made, Rate)
    assert made.xlabel == "rounds $T$"
    assert (made.expectation <= made.bound * (1 + 1e-9)).all()
    assert (np.diff(made.bound) < 0).all()
    assert overlaps(draw(made)) == []


def test_every_picture_has_a_name() -> None:
    assert {name.replace("-", "_") for name in PICTURES} == set(pictures.__all__)


@slow("networks of the digits; tests/papers/test_yuan_rates.py draws shorter ones by name")
def test_digits_are_a_picture_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    assert main(["plot", "digits", "--out", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == f"{tmp_path / 'a.png'}\n"


def test_digits_without_scikit_learn_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    grid.cache_clear()  # other tests have drawn them
    assert main(["plot", "digits", "--out", str(tmp_path / "a.png")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'fedaudit[data]'" in said
    assert not list(tmp_path.iterdir())
