"""Rates of Yuan and Li: what is proved, what falls for every constant, closed forms against the kernel, table 1."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedaudit.bounds.algebra import Eq, Ge, Gt, Le, Lt, Rational
from fedaudit.bounds.catalogue import catalogue, statement
from fedaudit.bounds.derive import derive
from fedaudit.bounds.dominance import dominance
from fedaudit.bounds.lint import lint
from fedaudit.bounds.papers.yuan.rates import ROW_1, ROW_3, UNIT, epsilon
from fedaudit.bounds.papers.yuan.run import picked2
from fedaudit.bounds.papers.yuan.symbols import Delta_rho, I, T, b
from fedaudit.bounds.papers.yuan.theorems import BOUND_2, bound_3
from fedaudit.bounds.show import parts, show
from fedaudit.bounds.statement import Assumption, Statement
from fedaudit.verify import kernel
from fedaudit.verify.audit import hunt_row, literal_row, verify_row
from fedaudit.verify.cli import main
from fedaudit.verify.formulas import crossings, table_1, values
from fedaudit.verify.lower import lower

FOLDER = Path(__file__).parent / "certificates"
MINE = [s for s in catalogue().values() if s.paper == "yuan" and s.method == "order"]
ROWS = [s.id for s in MINE if s.id.startswith("yuan/table1-")]
REFUTED = ("yuan/eq1.5-gradient", "yuan/eq1.6-two-groups", "yuan/rem7-speedup")
SURVIVES = ("yuan/eq1.6-two-groups~repaired", "yuan/rem7-speedup~repaired")  # an exponential: more than dominance
PROVED = [s.id for s in MINE if s.id not in (*REFUTED, *SURVIVES)]
COMPARED = ("yuan/table1-scaffold", "yuan/table1-fco")


def of(label: str) -> Statement:
    return statement(f"yuan/{label}")


@pytest.mark.parametrize("name", PROVED)
def test_proved_for_all_parameters(name: str) -> None:
    made = derive(statement(name), {})
    assert made.proved, made.findings
    assert lint(statement(name)) == ()


@pytest.mark.parametrize("name", ["rem6-slower", "table1-thm1", "table1-fedavg-yu", "table1-stem"])
def test_the_search_does_not_contradict_a_proof(name: str) -> None:
    row = verify_row(of(name), 0, 0.1)
    assert row["verdict"] == "survived", row
    assert row["tightness"] <= 0


@pytest.mark.parametrize("name", REFUTED)
def test_refuted_for_every_constant(name: str) -> None:
    row = verify_row(statement(name), 0, 0.02)
    assert (row["verdict"], row["how"]) == ("refuted", "growth path")
    accepted = kernel.check(json.loads(json.dumps(row["certificate"])))
    assert accepted.lhs > accepted.rhs


@pytest.mark.parametrize("name", REFUTED)
def test_golden_certificates(name: str) -> None:
    golden = json.loads((FOLDER / f"{name.replace('/', '-')}.json").read_text())
    assert golden["claim"] == json.loads(json.dumps(lower(statement(name)).claim))
    accepted = kernel.check(golden)
    assert accepted.lhs > accepted.rhs


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVIVES)
def test_repaired_ones_survive(name: str) -> None:
    assert hunt_row(statement(name), 0, 0.02)["verdict"] == "survived"


@pytest.mark.parametrize("name", COMPARED)
def test_comparable_only_where_b_I_and_M_are_constants(name: str) -> None:
    made = statement(name)
    assert literal_row(made, made.implicit[0], 0, 0.1)["literal"] == "breaks"


MUTANTS = [
    replace(of("table1-thm1"), then=Le(T, 1 / (I * epsilon**2) + epsilon ** Rational(-4, 3))),
    replace(of("eq1.4-many-rounds"), then=Le(T, 1 / (I**2 * epsilon**2))),
    replace(of("table1-thm2"), then=Le(T, epsilon ** Rational(-19, 10))),
    replace(of("table1-fedavg-khanduri"), then=Lt(epsilon ** Rational(-3, 2), ROW_3)),
    replace(of("table1-fedprox-li"), then=Lt(epsilon ** Rational(-3, 2), ROW_1)),
    replace(of("table1-fedavg-yu"), then=Eq(ROW_3, of("table1-fedavg-yu").order)),
    replace(of("rem7"), when=(Ge(T, (b * I) ** 2), Le(epsilon * UNIT, bound_3(b * I)))),
    replace(of("eq1.4-few-rounds"), when=(Lt(T, I**4), of("eq1.4-few-rounds").when[1])),
    replace(of("rem6-slower"), let=(Assumption("grows", (T,), "I may stay"),)),
]


@pytest.mark.parametrize("made", MUTANTS, ids=lambda s: s.id)
def test_mutants_fall(made: Statement) -> None:
    assert not derive(made, {}).proved
    row = verify_row(made, 0, 0.1)
    if row["verdict"] != "refuted":
        row = hunt_row(made, 0, 0.1)
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


def slopes(low: str, high: str, bend: str, first: str) -> dict[str, Any]:
    """Slope `first`, then curvature `bend` between the two points."""
    return {"x": [low, high], "jump": ["0", "0"], "bend": [bend, f"-{bend}"], "a": "0", "s": first, "c": "0"}


def device(loss: dict[str, Any]) -> dict[str, Any]:
    return {"q": ["1"], "losses": [loss]}


def groups(K: int, chosen: int, b: int, T: int, eta: str, law: str) -> dict[str, Any]:
    """K devices with minimiser 0 and K with minimiser 1; L = G = 1."""
    devices = [device(slopes("0", "1", "1", first)) for first in ["0"] * K + ["-1"] * K]
    made: dict[str, Any] = {"I": chosen, "batch": "sampled", "law": law, "M": 2 * K, "T": T, "b": b, "w0": "1/2"}
    made |= {"constants": {"L": "1", "G": "1", "eta": eta, "eps": "0"}, "devices": devices}
    if law == "moments":
        return {**made, "low": "0", "high": "1"}
    return {**made, "oracle": {"step": [["1"] * 2 * K], "shift": [["0"] * 2 * K]}}


@pytest.mark.parametrize(
    ("K", "chosen", "b", "T", "eta", "law"),
    [
        (1, 1, 1, 1, "1/8", "paths"),
        (1, 1, 1, 4, "1/16", "paths"),
        (1, 1, 4, 8, "1/16", "paths"),
        (2, 1, 4, 8, "1/16", "paths"),
        (3, 4, 1, 729, "1/108", "moments"),
        (2, 2, 2, 8, "1/16", "moments"),
        (1, 1, 64, 10**6, "1/1000", "moments"),
        (3, 4, 4, 10**6, "1/2000", "moments"),
    ],
)
def test_two_groups_are_what_the_method_does(K: int, chosen: int, b: int, T: int, eta: str, law: str) -> None:
    claim = of("rem7-speedup")
    formula = claim.defined(claim.relations[0].args[0])
    exact = lower(of("thm3~exact")).claim
    instance = groups(K, chosen, b, T, eta, law)
    lhs, _, _ = kernel.evaluate(exact, instance, (), {"relation": 0})
    found = values(formula, G=np.ones(1), K=K, I=chosen, b=b, T=T)[0]
    assert found == pytest.approx(float(lhs), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("n", [4, 100, 1000])
def test_the_gradient_of_the_risk_stays(n: int) -> None:
    """(1.5) with theorem 2's constants fails at T = 10^6: 1/16 is more than 4/1000 + ..."""
    printed = of("thm2")
    plain = replace(printed, then=Le(picked2(T), BOUND_2), follows_from=())
    eta = f"1/{n}"
    devices = [device(slopes(f"-{eta}", eta, f"{n}", "-1")), device(slopes("10", "11", "1", "-1/2"))]
    instance = {"I": 2, "batch": "full", "law": "paths", "M": 2, "T": n * n, "b": 1, "w0": eta, "devices": devices}
    instance |= {"constants": {"G": "1", "nu": "0", "rho": "1", "eta": eta, "eps": "0"}}
    instance |= {"oracle": {"step": [["1", "1"]], "shift": [["0", "0"]]}}
    lhs, rhs, holds = kernel.evaluate(lower(plain).claim, instance, (), {"relation": 0})
    assert float(lhs) == 1 / 16
    assert holds == (n < 100)
    left, right, fine = kernel.evaluate(lower(printed).claim, instance, (), {"relation": 0})
    assert fine
    repaired = of("eq1.5-gradient~repaired")
    known = {"G": np.ones(1), "rho": 1.0, "T": float(n * n)}
    assert values(repaired.defined(repaired.relations[0].args[0]), **known)[0] == pytest.approx(float(left))
    gap = values(repaired.defined(Delta_rho), **known)
    assert float(right) == pytest.approx(float(gap[0] / n**2 + (2 * gap[0] + 4) / n))
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
    text = show(of("table1-thm1"))
    assert "T = O(epsilon**(-3/2) + 1/(I*epsilon**2))" in text
    assert "= o(" in show(of("table1-stem"))
    assert "= Theta(" in show(of("table1-fco"))
    assert "\\mathcal{O}" in dict(parts(of("rem7")))["then"][0]


@pytest.mark.parametrize("name", ["crossover", "table1"])
def test_pictures_by_name(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", name, "--out", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.endswith("a.png\n")
