"""The race between the perturbed method and FedAvg (buttaci/sec4.4-speed), and how experiments become rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.figures.drawing import draw, image
from fedaudit.verify.experiments import Outcome, experiment, experiments
from fedaudit.verify.experiments.papers.buttaci import speed as buttaci_speed
from fedaudit.verify.moves.audit import audit, hunt, verify
from fedaudit.verify.pictures.curves import picture

ANY, ALIKE = (next(f for f in buttaci_speed.FAMILIES if f.name == name) for name in ("any", "alike"))
SMALL = (replace(ANY, instances=60, T=10), replace(ALIKE, instances=60, T=700, condition=(5.0, 6.0)))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buttaci_speed, "FAMILIES", SMALL)


def test_one_local_step_and_equal_curvatures_make_the_same_run() -> None:
    """Σ p_i w̃^i = w̄ (lemma 4.3): what beta changes cancels, although theorem 4.4 promises a better factor."""
    alike = replace(ANY, E=1, curved=(-30.0, -30.0), noise=None)
    made = buttaci_speed.race(alike, 20, np.random.default_rng(0))
    np.testing.assert_allclose(made.gap, made.gap_avg, rtol=1e-10, atol=1e-14)


def test_bounds_hold_on_every_instance_of_the_race() -> None:
    for family in SMALL:
        made = buttaci_speed.race(family, family.instances, np.random.default_rng(1))
        assert (made.gap <= made.bound).all()
        assert (made.gap_avg <= made.bound_avg).all()


def test_the_bound_is_smaller_only_in_the_ill_conditioned_family() -> None:
    seen = buttaci_speed.run(0, 1.0)
    others, alike = seen.rows
    assert others["smaller bound"] == 0
    assert min(others["smaller gap at the end"], others["larger gap at the end"]) > 0
    assert others["smaller gap early"] >= others["smaller gap at the end"]  # it contracts faster and ends farther away
    assert alike["smaller bound"] > alike["instances"] / 4
    assert alike["median gain realised"] < 1e-3 * alike["median gain promised"]
    assert not seen.reproduced
    assert seen.instances == sum(row["instances"] for row in seen.rows)


def test_the_same_seed_sees_the_same() -> None:
    assert buttaci_speed.run(2, 1.0) == buttaci_speed.run(2, 1.0)
    assert buttaci_speed.run(2, 1.0).rows != buttaci_speed.run(3, 1.0).rows


def test_rows_of_an_experiment() -> None:
    made = statement("buttaci/sec4.4-speed")
    row = verify(made, seed=0, effort=1.0).row()
    assert (row["verdict"], row["evidence"], row["certificate"]) == ("not-reproduced", "numerical", None)
    assert row["instances"] == sum(f.instances for f in SMALL)
    assert hunt(made, seed=0, effort=1.0).row()["verdict"] == "undecided"
    audited = audit(made, seed=0, effort=1.0).row()
    assert audited["verdict"] == "not-reproduced"
    assert audited["reason"] == row["reason"]


def test_a_claim_that_is_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = statement("buttaci/sec4.4-speed")
    seen = replace(experiment(made.id), run=lambda seed, effort: Outcome(True, "seen", 1))
    monkeypatch.setitem(experiments(), made.id, seen)
    assert audit(made, seed=0, effort=1.0).row()["verdict"] == "reproduced"


def test_an_unknown_experiment_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="do: add verify/experiments"):
        experiment("buttaci/none")


def test_the_figure() -> None:
    shown = picture(statement("buttaci/sec4.4-speed"), 0)
    assert isinstance(shown, buttaci_speed.Speed)
    assert (shown.promised > 0).all()
    figure = draw(shown)
    above, below = figure.axes
    assert len(above.get_lines()) == 3
    assert len(below.get_lines()) >= 2
    assert image(figure, "svg").startswith(b"<?xml")
