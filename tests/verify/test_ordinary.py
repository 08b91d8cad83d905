"""Tightness as a profile: named ordinary points, both ends where they are exact, and how a row leads with them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from runs import named

import fedaudit as fa
from fedaudit.commands.tables import table
from fedaudit.figures.words.ordinary_points import brief, lead
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.results.row import Ends, Move, Row
from fedaudit.verify.worst import profile as hunted
from fedaudit.verify.worst.ordinary import ORDINARY, proposed
from fedaudit.verify.worst.parameters import Point
from fedaudit.verify.worst.profile import examined, profile
from fedaudit.verify.worst.search import found_at


def first_of_each(name: str) -> list[Point]:
    reading, _ = read(named(name))
    return [variants[0][1][0] for variants in proposed(reading) if variants]


def test_points_have_the_condition_numbers_and_sizes_that_were_asked_for() -> None:
    assert {at.kappa for at in ORDINARY} == {2, 10, 100}
    assert {at.C for at in ORDINARY} == {2, 5}
    assert {at.E for at in ORDINARY} == {1, 4}
    assert {at.t for at in ORDINARY} == {1, 2, 4}


def test_points_stay_away_from_corners() -> None:
    for point in first_of_each("buttaci/thm4.1-I"):
        assert point.at["t"] >= 1
        assert Fraction(point.data["constants"]["L"]) >= 2 * Fraction(point.data["constants"]["mu"])


def test_points_are_named_with_the_letters_of_the_paper() -> None:
    assert first_of_each("buttaci/thm4.1-I")[1].name == "kappa 10, C 2, E 4, t 1"
    assert first_of_each("zhang/thm3.5")[1].name == "C 2, E 4, R 1"


def test_where_t_counts_steps_a_round_has_all_of_them() -> None:
    point = first_of_each("benmansour/lem2")[1]
    assert (point.data["E"], point.data["T"], point.at["t"]) == (4, 4, 3)


def test_a_statement_of_one_client_is_looked_at_with_one() -> None:
    statement = named("gradient_descent.py::gd/rate")
    reading, _ = read(statement)
    rows = profile(statement, reading, 0.1).rows
    assert {row["point"]["C"] for row in rows} == {"1"}
    assert all(row["lower_exact"] == row["upper_exact"] == "1" for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)


def test_more_effort_leaves_out_fewer_points() -> None:
    statement = fa.statement("buttaci/thm4.1-I")
    reading, _ = read(statement)
    little, more = (profile(statement, reading, effort) for effort in (0.01, 0.1))
    assert set(more.left_out) < set(little.left_out)
    assert {row["name"] for row in little.rows} < {row["name"] for row in more.rows}
    assert [row["name"] for row in more.rows if row["name"] in more.left_out] == []


def test_irrational_step_sizes_are_shortened() -> None:
    """eta = rho / sqrt(T), which the statement draws and does not choose."""
    etas = {point.data["T"]: point.data["parameters"]["eta"] for point in first_of_each("yuan/thm2")}
    assert Fraction(etas[2]) != Fraction(etas[1])
    assert abs(Fraction(etas[2]) ** 2 / Fraction(etas[1]) ** 2 * 2 - 1) < Fraction(1, 100)


def test_a_search_at_ordinary_points_is_a_lower_end_alone() -> None:
    reading, world = read(fa.statement("yuan/thm1~inequality"))
    rows = [row for row, _ in found_at(reading, world, 0, 0.0)]
    assert rows
    assert [row["name"] for row in rows] == list(dict.fromkeys(row["name"] for row in rows))
    for row in rows:
        assert row["upper"] is None
        assert 0 < row["lower"] <= 1
        assert row["by"] == "search"
    assert rows == [row for row, _ in found_at(reading, world, 0, 0.0)]


def test_sizes_that_hang_together_are_not_torn_apart() -> None:
    """Users and data points of a meta-learner: no run has 2 users and the data of 1."""
    reading, world = read(fa.statement("fallah/lem4.2"))
    assert all(0 < row["lower"] <= 1 for row, _ in found_at(reading, world, 0, 0.0))


def test_what_a_search_breaks_at_an_ordinary_point_is_refuted() -> None:
    statement = fa.statement("benmansour/eq20")
    found = examined(statement, *read(statement), fa.Survived(statement.id, 0.5))
    assert isinstance(found, fa.Refuted)
    kernel.check(found.certificate)


def ends(kappa: int, t: int, lower: float | None, upper: float | None) -> Ends:
    ordinary = (("kappa", kappa), ("C", 2), ("E", 4), ("t", t))
    return Ends((), lower, upper, f"kappa {kappa}, E 4, t {t}", "programme", ordinary)


@pytest.mark.parametrize(
    ("lower", "upper", "says", "short"),
    [
        (0.01249, 0.0125, "it promises 80 times what can happen", "80 ×"),
        (0.005, 0.0125, "it promises at least 80 times what can happen, and at most 200 times", "80 ×"),
        (None, 0.0125, "it promises at least 80 times what can happen", "80 ×"),
        (1.0, 1.0, "it promises no more than what can happen", "attained"),
        (2.0, 2.5, "it fails: 2 times what it promises can happen", "fails"),
        (0.25, None, "a search met 0.25 of what it promises; more may happen", "≥ 0.25"),
    ],
)
def test_the_lead_says_how_much_too_much_is_promised(
    lower: float | None, upper: float | None, says: str, short: str
) -> None:
    points = [ends(2, 4, 0.1, upper and 0.1), ends(10, 2, lower, upper)]
    assert lead(points) == f"at kappa 10, E 4, t 2 {says}"
    assert brief(points) == f"{short} at kappa 10, E 4, t 2"


def test_there_is_no_lead_without_a_point_that_says_something() -> None:
    assert lead([]) == brief([]) == ""
    assert lead([ends(10, 2, 0.0, 0.0)]) == ""


@pytest.mark.parametrize("upper", [1.0008e-9, 0.0125])
def test_beside_a_refutation_nothing_is_promised(upper: float) -> None:
    """Once: 9.992e+08 × at kappa 10, beside a verdict of refuted."""
    points = [ends(10, 2, 0.0, upper)]
    assert lead(points, broken=True) == brief(points, broken=True) == ""
    points.append(ends(2, 4, 3.0, None))
    assert lead(points, broken=True) == "at kappa 2, E 4, t 4 it fails: 3 times what it promises can happen"
    assert brief(points, broken=True) == "fails at kappa 2, E 4, t 4"


def test_where_the_left_side_is_0_but_for_the_digits_of_a_proof_nothing_is_counted() -> None:
    assert lead([ends(10, 2, 0.0, 1.0008e-9)]) == brief([ends(10, 2, 0.0, 1.0008e-9)]) == ""


def test_tables_of_refuted_statements_say_where_they_fail(capsys: pytest.CaptureFixture[str]) -> None:
    holds = Ends((("L", "10"),), 0.0, 0.0125, "kappa 10", ordinary=(("kappa", 10),))
    fails = Ends((("L", "2"),), 3.0, None, "kappa 2", ordinary=(("kappa", 2),))
    falls = Move("refuted", "exact", 7, worst=(holds,))

    def said(move: str, row: Row) -> str:
        table(move, [row])
        return capsys.readouterr().out

    assert "80" not in said("hunt", Row("a/1", hunt=falls))
    assert "fails at kappa 2" in said("hunt", Row("a/1", hunt=replace(falls, worst=(holds, fails))))
    assert "80" not in said("audit", Row("a/1", "refuted", hunt=falls))
    reading = replace(falls, verdict="undecided", counterexample={"statement": "a/1"})
    assert "80" not in said("hunt", Row("a/1", hunt=reading))
    survived = said("hunt", Row("a/1", hunt=replace(falls, verdict="survived")))
    assert "80 × at kappa 10" in survived


def test_equal_points_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    statement, asked = fa.statement("yuan/lem10-bias"), list[str]()
    build = hunted.in_reach
    monkeypatch.setattr(
        hunted, "in_reach", lambda *args: (asked.append(str((args[1].data, args[1].at))), build(*args))[1]
    )
    reading, _ = read(statement)
    points = [point for variants in proposed(reading) for _, each in variants[:1] for point in each]
    assert len({str((point.data, point.at)) for point in points}) < len(points)
    assert profile(statement, reading, 0.1).rows
    assert len(asked) == len(set(asked))
