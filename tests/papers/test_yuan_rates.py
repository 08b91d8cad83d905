"""Rates of Yuan and Li: what is proved, what falls for every constant, closed forms against the kernel, table 1."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marks import only, slow, some
from places import TESTS

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.decide.dominance import dominance
from fedaudit.bounds.formulas.statement_text import parts, show
from fedaudit.bounds.language.algebra import Eq, Ge, Gt, Le, Lt, Rational
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.papers.yuan import forms
from fedaudit.bounds.papers.yuan.run import picked2
from fedaudit.bounds.papers.yuan.symbols import I, T, b
from fedaudit.bounds.papers.yuan.table import ROW_1, ROW_3, epsilon
from fedaudit.bounds.papers.yuan.theorems import BOUND_2, UNIT, bound_3
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.cli import main
from fedaudit.verify import kernel
from fedaudit.verify.experiments.bound_arrays import values
from fedaudit.verify.experiments.papers.yuan.rates import crossings, table_1
from fedaudit.verify.moves.audit import derived, hunt, verify
from fedaudit.verify.pictures.curves import curves
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import needed_names

FOLDER = TESTS / "certificates"
MINE = [s for s in catalogue().values() if s.paper == "yuan" and s.method == "order"]
ROWS = [name for name in catalogue() if name.startswith("yuan/table1-") and "columns" not in name]
REFUTED = (
    "yuan/thm1", "yuan/rem2", "yuan/rem2~lgd-inexact", "yuan/thm3", "yuan/rem7", "yuan/eq1.5", "yuan/eq1.6",
    "yuan/eq1.6-nonsmooth", "yuan/thm4", "yuan/table1-thm1", "yuan/table1-thm3",
    "yuan/rem8-empirical",
)  # fmt: skip
GOLDEN = ("yuan/thm1", "yuan/rem2", "yuan/thm3", "yuan/rem7", "yuan/eq1.5", "yuan/eq1.6")
SURVIVES = ("yuan/eq1.6~repaired", "yuan/rem7~repaired", "yuan/table1-thm3~repaired")  # an exponential
QUOTED = [s.id for s in MINE if s.quoted]
PROVED = [s.id for s in MINE if s.id not in (*REFUTED, *SURVIVES, *QUOTED)]
COMPARED = ("yuan/table1-scaffold~compared", "yuan/table1-fco~compared")


def of(label: str) -> Statement:
    return statement(f"yuan/{label}")


@pytest.mark.parametrize("name", PROVED)
def test_proved_for_all_parameters(name: str) -> None:
    made = derive(statement(name), {})
    assert made.proved, made.texts
    assert lint(statement(name)) == ()


@pytest.mark.parametrize(
    "name", ["rem6-slower", "table1-thm1~formula", "table1-fedavg-yu~compared", "table1-stem~compared"]
)
def test_the_search_does_not_contradict_a_proof(name: str) -> None:
    row = verify(of(name), 0, 0.1).row()
    assert row["verdict"] == "survived", row
    assert row["tightness"] <= 0


QUICK = ("yuan/thm1", "yuan/rem2", "yuan/rem2~lgd-inexact", "yuan/eq1.5", "yuan/eq1.6-nonsmooth")


@pytest.mark.parametrize("name", only(QUICK, REFUTED, "one search each"))
def test_refuted_for_every_constant(name: str) -> None:
    row = verify(statement(name), 0, 0.02).row()
    if row["verdict"] != "refuted":
        row = hunt(statement(name), 0, 0.02).row()
    assert (row["verdict"], row["how"]) == ("refuted", "growth path")
    accepted = kernel.check(json.loads(json.dumps(row["certificate"])))
    assert accepted.lhs > accepted.rhs


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_certificates(name: str) -> None:
    golden = json.loads((FOLDER / f"{name.replace('/', '-')}.json").read_text())
    assert golden["claim"] == json.loads(json.dumps(lower(statement(name)).claim))
    accepted = kernel.check(golden)
    assert accepted.lhs > accepted.rhs


@slow("one search each")
@pytest.mark.parametrize("name", SURVIVES)
def test_repaired_ones_survive(name: str) -> None:
    assert hunt(statement(name), 0, 0.02).row()["verdict"] == "survived"


@pytest.mark.parametrize("name", COMPARED)
def test_comparable_only_where_b_I_and_M_are_constants(name: str) -> None:
    uniform = replace(statement(name), let=statement(name).let[:1])
    assert verify(uniform, 0, 0.1).row()["verdict"] == "refuted"


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_rows_are_undecided(name: str) -> None:
    """Nothing is claimed about free symbols that a stranger's certificate could refute."""
    made = statement(name)
    for row in (verify(made, 0, 0.1).row(), hunt(made, 0, 0.1).row()):
        assert (row["verdict"], row["certificate"]) == ("undecided", None)
        assert row["reason"].startswith("quoted, source not encoded")
    assert derived(made).row()["findings"] == [f"quoted from {made.quoted}: the proof is not encoded"]
    with pytest.raises(ValueError, match="quoted from"):
        curves(made)
    paths = {"epsilon": [["1", "-1"]], "rounds": [["1", "3"]]}
    with pytest.raises((kernel.Malformed, kernel.Rejected)):
        kernel.evaluate(lower(made).claim, {"paths": paths}, (), {"relation": 0})


MUTANTS = [
    replace(of("table1-thm1~formula"), then=Le(T, 1 / (I * epsilon**2) + epsilon ** Rational(-4, 3))),
    replace(of("eq1.4-many-rounds"), then=Le(T, 1 / (I**2 * epsilon**2))),
    replace(of("table1-thm2~formula"), then=Le(T, epsilon ** Rational(-3, 2))),
    replace(of("table1-fedavg-khanduri~compared"), then=Lt(epsilon ** Rational(-3, 2), ROW_3)),
    replace(of("table1-fedprox-li~compared"), then=Lt(epsilon ** Rational(-3, 2), ROW_1)),
    replace(of("table1-fedavg-yu~compared"), then=Eq(ROW_3, of("table1-fedavg-yu").order)),
    replace(of("rem7~formula"), when=(Ge(T, (b * I) ** 2), Le(epsilon * UNIT, bound_3(b * I)))),
    replace(of("eq1.4-few-rounds"), when=(Lt(T, I**4), of("eq1.4-few-rounds").when[1])),
    replace(of("rem6-slower"), let=(Assumption("grows", (T,), "I may stay"),)),
]


LONG = ("yuan/rem7~formula", "yuan/table1-thm1~formula", "yuan/eq1.4-few-rounds")
SEARCHED = slow("one search each")


@pytest.mark.parametrize(
    "made", [pytest.param(m, marks=SEARCHED if m.id in LONG else ()) for m in MUTANTS], ids=lambda s: s.id
)
def test_mutants_fall(made: Statement) -> None:
    assert not derive(made, {}).proved
    row = verify(made, 0, 0.1).row()
    if row["verdict"] != "refuted":
        row = hunt(made, 0, 0.1).row()
    assert row["verdict"] == "refuted"
    kernel.check(json.loads(json.dumps(row["certificate"])))


def test_strict_orders_need_what_grows() -> None:
    base = of("rem1")
    grows = Assumption("grows", (T,), "")
    true = [Lt(1 / T, 1 + 1 / T), Gt(T**2, T), Lt(T, T * (1 + T))]
    false = [Lt(T, T + 1), Gt(T, T), Lt(T, I * T), Lt(1 + T, T)]
    for then, expected in [*((t, True) for t in true), *((f, False) for f in false)]:
        (made,) = dominance(replace(base, let=(grows,), then=then))
        assert made.proved == expected, then
    assert not dominance(replace(base, let=()))[0].proved


# --- closed forms against the kernel ----------------------------------------------------------------------------------


FORMED = [s.id for s in MINE if s.form is not None]


@pytest.mark.parametrize("name", some(FORMED, 2, "all sizes of each"))
def test_closed_forms_are_what_the_method_does(name: str) -> None:
    """At every size: the run meets the theorem's assumptions, has the claim's gap and accuracy, and its left side."""
    lowered = lower(statement(name))
    assert len(lowered.replays) >= 4
    for replay in lowered.replays:
        measured, form, holds = kernel.evaluate(lowered.claim["form"], replay["instance"], (), replay["at"])
        assert holds
        assert measured == form


@pytest.mark.parametrize("name", ["yuan/thm1", "yuan/rem7", "yuan/eq1.5", "yuan/thm4"])
def test_another_form_is_not_what_the_method_does(name: str) -> None:
    claim = json.loads(json.dumps(lower(statement(name)).claim["form"]))
    claim["then"][0][2] = ["*", "101/100", claim["then"][0][2]]
    replay = lower(statement(name)).replays[-1]
    assert not kernel.evaluate(claim, replay["instance"], (), replay["at"])[2]


@pytest.mark.parametrize(
    ("K", "chosen", "b", "T"), [(1, 1, 1, 1), (1, 1, 1, 4), (1, 1, 4, 8), (2, 1, 4, 8), (2, 3, 1, 8), (1, 1, 64, 10**6)]
)
def test_two_groups_are_what_all_paths_give(K: int, chosen: int, b: int, T: int) -> None:
    claim = of("rem7")
    formula = claim.defined(claim.relations[0].args[0])
    instance = forms.two_groups({"G": 1, "K": K, "I": chosen, "b": b, "T": T})
    assert ("box" in instance) == (T > 8)
    exact = lower(of("thm3~exact")).claim
    lhs, _, _ = kernel.evaluate(exact, needed_names(exact, instance), (), {"relation": 0})
    found = values(formula, G=np.ones(1), K=K, I=chosen, b=b, T=T)[0]
    assert found == pytest.approx(float(lhs), rel=1e-6, abs=1e-15)


def test_every_order_claim_about_the_method_has_a_form() -> None:
    algebra = {s.id for s in MINE if "~formula" in s.id or "~compared" in s.id or s.quoted}
    rates = {s.id for s in MINE if s.id.startswith(("yuan/rem1", "yuan/rem6", "yuan/eq1.4", "yuan/eq1.6-few"))}
    assert {s.id for s in MINE} - algebra - rates - {"yuan/eq1.6-comparable"} == set(FORMED)


def test_roots_that_are_not_rational_are_refused() -> None:
    with pytest.raises(ValueError, match="rational root"):
        forms.still_1({"L": 1, "G": 1, "I": 1, "g": 1, "T": 7})


def test_a_training_sample_needs_points_that_can_be_drawn() -> None:
    instance = forms.one_sample({"G": 1, "T": 4})
    instance["clients"][0]["q"] = ["0", "1"]
    with pytest.raises(kernel.Malformed, match="can be drawn"):
        kernel.admit(lower(of("thm4~repaired")).claim, instance)


@pytest.mark.parametrize("rounds", [1, 9, 100])
def test_standing_still_by_hand(rounds: int) -> None:
    """Without the kernel: the point w_0 = g/L is within the printed accuracy of the best one, and its gradient is g."""
    L, G, chosen = 1.0, 1.0, 1
    g = 1.0
    eta = min(rounds ** (-1 / 3), (chosen / rounds) ** 0.5) / (3 * L)
    w = np.linspace(-3, 3, 600_001)
    risk = np.where(np.abs(w) <= G / L, L * w**2 / 2, G * np.abs(w) - G**2 / (2 * L))
    gap = L * (g / L) ** 2 / 2 - (risk + (w - g / L) ** 2 / (2 * eta)).min()
    assert gap == pytest.approx(eta * g**2 / (2 * (1 + eta * L)), rel=1e-6)
    assert gap <= min(G / (2 * L * chosen**0.5), G * eta / chosen)


def test_two_groups_by_simulation() -> None:
    """Without the kernel: devices drawn at random, proximal steps by hand, T = 64 rounds, b = 4, I = 1 of 2."""
    rng, rounds, b, runs = np.random.default_rng(0), 64, 4, 20_000
    eta = min(rounds ** (-1 / 3), (b / rounds) ** 0.5) / 8
    w, total = np.zeros(runs), np.zeros(runs)
    for _ in range(rounds):
        total += w**2
        centre = rng.choice([-0.5, 0.5], runs)  # L = 1, G = 2 L a
        w = (w + eta * centre) / (1 + eta)
    claim = of("rem7")
    formula = values(claim.defined(claim.relations[0].args[0]), G=np.ones(1), K=1, I=1, b=b, T=rounds)[0]
    assert (total / rounds).mean() == pytest.approx(formula, rel=0.03)


@pytest.mark.parametrize("n", [4, 100, 1000])
def test_the_gradient_of_the_risk_stays(n: int) -> None:
    """(1.5) with theorem 2's constants fails at T = 10^6: 1/16 is more than 4/1000 + ..."""
    printed = of("thm2")
    plain = replace(printed, then=Le(picked2(T), BOUND_2), follows_from=())
    instance = forms.at_rest({"G": 1, "rho": 1, "T": n * n})
    lhs, rhs, holds = kernel.evaluate(lower(plain).claim, instance, (), {"relation": 0})
    assert float(lhs) == 1 / 16
    assert holds == (n < 100)
    _, right, fine = kernel.evaluate(lower(printed).claim, instance, (), {"relation": 0})
    assert fine
    assert float(rhs) == float(right)


# --- what a reader sees -----------------------------------------------------------------------------------------------


def test_twelve_rows_side_by_side() -> None:
    assert len([name for name in ROWS if "~" not in name]) == 12
    rows = table_1(b=10, I=10, M=1000)
    assert sorted(f"yuan/table1-{name}" for row in rows for name in row.names) == sorted(
        n for n in ROWS if "~" not in n
    )
    by_name = {name: row.rounds for row in rows for name in row.names}
    assert (by_name["stem"] <= by_name["thm3"]).all()
    assert (by_name["thm3"] <= by_name["thm1"]).all()
    assert (by_name["thm1"] <= 2 * by_name["thm2"]).all()


def test_rates_cross_where_the_text_says() -> None:
    for panel in crossings():
        for (at, rate), values_ in zip(panel.crossings, panel.rates.values(), strict=True):
            assert rate == pytest.approx(at ** (-2 / 3))
            before, after = 0.999 * at > panel.T, 1.001 * at < panel.T
            assert values_[before] == pytest.approx(panel.few[before])
            assert (values_[after] > panel.few[after]).all()
    rates, method = crossings()[1].rates["b = 1000"], crossings()[1].method["b = 1000"]
    assert method[-1] > 10 * rates[-1]


def test_orders_are_shown_as_orders() -> None:
    text = show(of("table1-thm1~formula"))
    assert "T = O(1/ε^(3/2) + 1/(I ε^2))" in text
    assert "= o(" in show(of("table1-stem~compared"))
    assert "= Θ(" in show(of("table1-fco~compared"))
    assert "\\mathcal{O}" in dict(parts(of("rem7~formula")))["then"][0]


@pytest.mark.parametrize("name", ["crossover", "table1"])
def test_pictures_by_name(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", name, "--out", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.endswith("a.png\n")
