"""`fedaudit reproduce`: every display is rebuilt or says why not, and a verdict may come out otherwise."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import BROWSER, SCREENS, browse, driven
from marks import slow

from fedaudit.cli import main
from fedaudit.problems.data.network_data import Observed
from fedaudit.problems.losses.ridge_logistic import clients, two_classes
from fedaudit.verify.experiments import Experiment, Outcome, experiments
from fedaudit.verify.experiments.displays import Answer, Claim, Rebuilt, displays, verdict
from fedaudit.verify.experiments.papers.benmansour import weight_figures as benmansour
from fedaudit.verify.experiments.papers.buttaci import discussion, networks
from fedaudit.verify.experiments.papers.yuan import complexity_table as yuan
from fedaudit.verify.experiments.papers.zhang import drift_figures as zhang

FIELDS = {"id", "paper", "figure", "claim", "outcome", "verdict", "under", "reason", "picture", "seconds", "seed"}
VERDICTS = {"reproduced", "reproduced-if", "not-reproduced", "undecided"}


def rows_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["reproduce", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_display_is_rebuilt_or_says_why_not() -> None:
    every = displays()
    assert len({display.id for display in every}) == len(every)
    assert {display.paper for display in every} == {"benmansour", "buttaci", "fallah", "yuan", "zhang"}
    for display in every:
        assert (display.rebuild is None) == bool(display.missing), display.id
        assert display.name, display.id
        assert display.where, display.id
        assert display.shows.endswith("."), display.id
    rebuilt = {display.id for display in every if display.rebuild}
    asked = {"zhang/fig2", "zhang/fig3", "buttaci/fig3.3", "buttaci/fig3.4", "buttaci/fig3.5", "buttaci/sec4.4"}
    assert rebuilt >= asked | {"benmansour/fig6", "benmansour/fig7", "yuan/table1"}


def test_a_paper_without_anything_to_rebuild_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows_of(["fallah", "--out", str(tmp_path / "out")], capsys)
    assert set(row) == FIELDS
    assert row["verdict"] == "undecided"
    assert row["picture"] is None
    assert "MNIST" in row["reason"]
    assert row["reason"] in (tmp_path / "out" / "index.html").read_text()


def test_a_table_is_rebuilt_with_the_same_bytes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    first, second = (rows_of(["yuan", "--seed", "3", "--out", str(folder)], capsys) for folder in folders)
    for row in (*first, *second):
        assert set(row) == FIELDS
        assert row["verdict"] in VERDICTS
        assert row.pop("seconds") >= 0
    assert first == second
    for name in ("index.html", "pictures/yuan-table1.svg"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    page = (folders[0] / "index.html").read_text()
    assert {row["picture"] for row in first} == {"pictures/yuan-table1.svg", None}
    assert all(f'id="{row["id"].replace("/", "-")}"' in page for row in first)
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert "<script" not in page


BAD = {
    "paper": (["zang"], "got the paper 'zang', expected one of benmansour, buttaci, fallah, yuan, zhang; do:"),
    "seed": (["yuan", "--seed", "x"], "got --seed x"),
    "out": (["yuan", "--out", "{file}"], "which is a file"),
    "option": (["yuan", "--nonsense"], "--nonsense"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    arguments, said = BAD[name]
    assert main(["reproduce", *(a.replace("{file}", "file") for a in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_missing_data_are_said_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fedaudit.commands import reproduce
    from fedaudit.errors import UserError

    def nothing(seed: int) -> Any:
        raise UserError("no scikit-learn", "the extra `data`", "pip install 'fedaudit[data]'")

    (table,) = yuan.DISPLAYS
    monkeypatch.setattr(reproduce, "_chosen", lambda papers: [replace(table, rebuild=nothing), *displays()[:1]])
    rows = rows_of(["--out", str(tmp_path / "out")], capsys)
    assert [row["verdict"] for row in rows] == ["undecided", "undecided"]
    assert "fedaudit[data]" in rows[0]["reason"]


def test_what_a_stranger_writes_is_escaped() -> None:
    from fedaudit.figures.pages.reproduced import RebuiltDisplay, page

    display = replace(displays()[0], shows="<script>alert(1)</script>", name="figure <b>1</b>")
    answer = Answer(Claim("a/b", "<i>says</i>", "here"), Outcome(True, "x^2 <= y", 1, ({"<u>": 1.5},)))

    text = page([RebuiltDisplay(display, Rebuilt(yuan.Complexities((), ""), (answer,)), b"<svg/>")], 0, "0")
    assert not re.search("<script|<i>|<u>|<b>1", text)
    assert "X² ≤ y" in text


LOOK = """
const pictures = Array.from(document.images), root = document.documentElement;
const said = {wide: root.scrollWidth - root.clientWidth, sizes: pictures.map((p) => p.naturalWidth * p.height)};
document.querySelector("details").open = true;
said.table = document.querySelector(".measured").getBoundingClientRect().height;
document.body.dataset.said = JSON.stringify(said);
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize("size", SCREENS)
def test_a_real_browser_shows_the_page_without_a_complaint(tmp_path: Path, size: str) -> None:
    from fedaudit.figures.drawing import image
    from fedaudit.figures.pages.reproduced import RebuiltDisplay, page
    from fedaudit.figures.papers.benmansour.participation import plot

    top = np.tile(np.arange(50) < 10, (50, 1))
    picture = benmansour.Participation("title", "caption", {f"panel {n}": top for n in range(4)})
    outcome = Outcome(False, "because " + "of this, " * 40, 1, ({f"column {n}": 1.5 for n in range(20)},), ("a",))
    shown = RebuiltDisplay(
        displays()[2], Rebuilt(picture, (Answer(Claim("a/b", "says", "here"), outcome),)), image(plot(picture), "svg")
    )
    path = tmp_path / "index.html"
    path.write_text(driven(page([shown], 0, "0"), LOOK), encoding="utf-8")
    dom, complaints = browse(path, f"--window-size={size}")
    assert complaints == []
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    said = json.loads(found[1].replace("&quot;", '"'))
    assert said["wide"] <= 0
    assert min(said["sizes"]) > 0
    assert said["table"] > 0


# --- verdicts may come out otherwise ----------------------------------------------------------------------------------


def test_a_verdict_follows_the_outcome() -> None:
    assert verdict(Outcome(True, "", 1)) == "reproduced"
    assert verdict(Outcome(False, "", 1)) == "not-reproduced"
    assert verdict(Outcome(False, "", 1, under=("a reading",))) == "reproduced-if"


@pytest.mark.parametrize("under", [(), ("a reading",)])
def test_what_was_settled_after_looking_is_never_plainly_reproduced(under: tuple[str, ...]) -> None:
    settled = ("that ten counts as few, after five",)
    for reproduced in (True, False):
        outcome = Outcome(reproduced, "", 1, under=under)
        answer = Answer(Claim("a/b", "says", "here", settled), outcome)
        made = Experiment("a/b", lambda seed, effort, seen=outcome: seen, lambda _: yuan.Complexities((), ""), settled)
        seen = made.observe(0, 1.0)
        assert verdict(seen) == answer.verdict
        assert answer.under == seen.under
        if reproduced or under:
            assert answer.verdict == "reproduced-if"
            assert seen.under == (*under, *settled)
        else:
            assert answer.verdict == "not-reproduced"
            assert seen.under == ()


def test_an_audit_holds_experiments_to_what_was_settled_after_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    from fedaudit.bounds.catalogue.discovery import statement
    from fedaudit.verify.moves import audit

    plain = Experiment(
        "buttaci/sec4.4-speed", lambda seed, effort: Outcome(True, "", 1), lambda seed: yuan.Complexities((), "")
    )
    for settled, said in (((), "reproduced"), (("a threshold",), "reproduced-if")):
        monkeypatch.setattr(audit, "experiment", lambda _, settled=settled: replace(plain, settled_after=settled))
        assert audit.observe(statement(plain.id), 0, 1.0).verdict == said


def test_rules_that_were_changed_after_a_look_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["id"]: row for row in rows_of(["yuan", "--out", str(tmp_path / "out")], capsys)}
    own = rows["yuan/table1-own"]
    assert own["verdict"] == "reproduced-if"
    assert any("1000" in line for line in own["under"])
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("Settled after looking") == 1
    assert discussion.SETTLED_AFTER["complexity"]
    settled = {name for name, made in experiments().items() if made.settled_after}
    assert settled == {
        "benmansour/rem10-alpha-limit", "benmansour/sec4-tight", "zhang/sec4.1-exact", "zhang/sec4.1-fedda-equal",
        "zhang/sec4.1-rounds", "zhang/sec4.1-stall",
    }  # fmt: skip


def networks_with(means: list[float]) -> list[Observed]:
    sample = np.random.default_rng(0).lognormal(0, 0.5, (1, 190))
    return [
        Observed(level, data, mean * sample, np.full((1, 19), 1 / mean), np.array([1 / mean]))
        for data in (0.0, 1.0)
        for level, mean in zip((0.0, 1.0, 10.0, 100.0), means, strict=True)
    ]


def test_what_networks_show_depends_on_the_networks() -> None:
    up, down = networks_with([0.01, 0.1, 0.4, 0.41]), networks_with([0.4, 0.1, 0.05, 0.01])
    for seen in (networks.rising, networks.lower, networks.decay):
        assert seen(up).reproduced
        assert not seen(down).reproduced
    assert networks.lognormal(up).reproduced
    normal = [replace(n, misalignments=np.log(n.misalignments) + 9) for n in up]
    assert not networks.lognormal(normal).reproduced


def test_the_orders_of_section_4_4_are_seen_and_their_converse_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [discussion.ordered, discussion.floors, discussion.local_steps, discussion.lower_bounds]
    assert all(look(0).reproduced for look in seen)
    ours, lower = discussion.factors, discussion.lower_factors
    monkeypatch.setattr(discussion, "factors", lambda at: dict(reversed(ours(at).items())))
    monkeypatch.setattr(discussion, "lower_factors", lambda at: dict(reversed(lower(at).items())))
    monkeypatch.setattr(discussion, "floor_perturbed", lambda beta, at: discussion.floor_fedprox(1 / beta, at))
    monkeypatch.setattr(discussion, "printed_steps", lambda name, at: 1.01 * discussion.best_steps(name, at))
    assert not any(look(0).reproduced for look in seen)


def test_iterations_are_counted_against_the_display(monkeypatch: pytest.MonkeyPatch) -> None:
    assert discussion.complexities(0).reproduced
    printed = discussion.printed_iterations
    monkeypatch.setattr(discussion, "printed_iterations", lambda name, e, at: printed(name, e, at) * e**0.5)
    assert not discussion.complexities(0).reproduced


def test_the_rows_of_table_1_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert yuan.compared().reproduced
    assert not yuan.linear_speedup().reproduced
    monkeypatch.setitem(yuan.EXPECTED, "stem", 2.0)
    assert not yuan.compared().reproduced


def race(*ends: float) -> dict[str, Any]:
    names = ("algorithm 1", "FedDA", "Fast-FedDA", "FedMid")
    return {name: np.geomspace(1, end, 200) for name, end in zip(names, ends, strict=True)}


def test_drift_and_order_are_read_off_the_curves() -> None:
    as_said, both_exact = [race(1e-12, 1e-2, 0.5, 0.9)], [race(1e-12, 1e-12, 0.5, 0.2)]
    assert zhang.drift({"printed": as_said, "other": []}).reproduced
    assert verdict(zhang.drift({"printed": [], "other": as_said})) == "reproduced-if"
    assert verdict(zhang.drift({"printed": both_exact, "other": both_exact})) == "not-reproduced"
    order = zhang.order_row("printed", 1, as_said)
    assert (order["FedMid is the worst"], order["both are behind FedDA"]) == (1, 1)
    assert zhang.order_row("printed", 1, both_exact)["FedMid is the worst"] == 0


def test_the_ten_largest_weights_of_each_round() -> None:
    alpha = np.tile(np.arange(50.0), (3, 1))
    assert benmansour.largest(alpha).sum(axis=1).tolist() == [10, 10, 10]
    assert benmansour.largest(alpha)[:, -10:].all()
    assert benmansour.change(alpha) == 0


def test_clients_minima_are_minima() -> None:
    rng = np.random.default_rng(1)
    problem = clients(two_classes(rng, rng.standard_normal((4, 3)), 30), np.full((1, 4), 0.25), 0.1)
    best = problem.minimisers()
    assert np.abs(problem.grad(best)).max() < 1e-10
    assert np.abs(problem.value(best)).max() < 1e-12
    step = 1e-6 * rng.standard_normal(best.shape)
    slope = (problem.value(best + 1 + step) - problem.value(best + 1 - step)) / 2
    assert slope == pytest.approx((problem.grad(best + 1) * step).sum(axis=-1), rel=1e-5)
    assert (problem.value(best + rng.standard_normal(best.shape)) > 0).all()


@slow("rebuilds every figure, more than a minute")
def test_everything_is_rebuilt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(["--out", str(tmp_path / "out")], capsys)
    found = {row["id"]: row["verdict"] for row in rows}
    assert found["buttaci/sec4.4-contraction"] == found["buttaci/fig3.3-rising"] == "reproduced"
    assert found["zhang/fig2-drift"] == found["zhang/fig2-exact"] == "reproduced-if"
    assert found["yuan/table1-own"] == found["buttaci/sec4.4-complexity"] == "reproduced-if"
    assert found["yuan/table1-speedup"] == found["buttaci/sec4.4-faster"] == "not-reproduced"
    assert all((tmp_path / "out" / row["picture"]).is_file() for row in rows if row["picture"])
    assert all(row["reason"] for row in rows)
