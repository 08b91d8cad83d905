"""Rows say which sizes were tried, how often, and how close the claim came to breaking at each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Le, Rational, Symbol

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.commands.tables import table
from fedaudit.figures.words.sizes import letters, line
from fedaudit.verify.moves import audit
from fedaudit.verify.results.row import Row
from fedaudit.verify.results.tried_sizes import TOLD, Size, merged
from fedaudit.verify.results.verdicts import Survived
from fedaudit.verify.search.climb import _size, climb, sample
from fedaudit.verify.search.score import Scores
from fedaudit.verify.search.tree_arrays import Table
from fedaudit.verify.settings.base import Shape

TWO, FOUR, WIDE = (("C", 2), ("T", 1)), (("C", 1), ("T", 4)), (("C", 3), ("T", 1))
LETTERS = {  # runs, also with minibatches and with data points; a network, a function, numbers, formulas alone
    "buttaci/lem4.1": {"C", "d", "E", "T"},
    "zhang/lemA.1": {"C", "d", "E", "T", "b"},
    "yuan/lem5": {"C", "d", "E", "T", "K", "m"},
    "buttaci/prop3.2": {"C"},
    "buttaci/appA-strong-gap": {"d"},
    "buttaci/lemB.7": {"E"},
    "buttaci/appA-young": set[str](),
    "buttaci/cor4.1~order": set[str](),
}


def tried(row: dict[str, Any]) -> list[Size]:
    json.dumps(row["sizes"], allow_nan=False)
    return [Size.of(size) for size in row["sizes"]]


def scored(margin: list[float], ratio: list[float]) -> Scores:
    """A batch of two clients whose margins and ratios are these."""
    columns = np.array(margin), np.array(ratio)
    return Scores(Shape.of(C=2), {}, Table(len(margin), {}, {}, {}), columns[0], columns[0], columns[1], *columns, [])


def of(scores: Scores) -> Size:
    return _size(*audit.read(statement("buttaci/prop3.2")), scores, scores.admissible)


@pytest.mark.parametrize("name", LETTERS)
def test_a_sample_counts_every_size_that_the_statement_asks_for(name: str) -> None:
    reading, world = audit.read(statement(name))
    shapes = world.shapes(reading)
    seen = sample(reading, world, shapes, 8, 0)
    sizes = [size for size in seen.sizes if size.counts]
    assert set(letters(sizes)) == LETTERS[name]
    assert {frozenset(size.counts) for size in sizes} == {
        frozenset((letter, n) for letter, n in shape.counts if letter in LETTERS[name]) for shape in shapes
    } - {frozenset[tuple[str, int]]()}
    assert sum(size.instances for size in seen.sizes) == seen.instances


def test_a_hunt_counts_no_instance_twice_and_none_that_was_turned_away() -> None:
    printed = statement("buttaci/appA-strong-gap")
    mu = next(s for s in printed.glossary if isinstance(s, Symbol) and s.name == "mu")
    for made in (printed, replace(printed, when=(Le(Rational(99, 100), mu), Le(mu, 1)))):
        reading, world = audit.read(made)
        seen = climb(reading, world, world.shapes(reading)[:3], 4, 0)
        assert 0 < sum(size.instances for size in seen.sizes) == seen.instances <= 3 * (2 * 96 + 4 * 96)
    reading, world = audit.read(replace(printed, when=(Le(mu, 1), Le(2, mu))))
    seen = climb(reading, world, world.shapes(reading)[:3], 4, 0)
    assert [(size.instances, size.tightness) for size in seen.sizes] == [(0, None)] * len(seen.sizes)


def test_verify_and_hunt_say_it_and_an_audit_says_it_of_both() -> None:
    row = audit.audit(statement("buttaci/appA-strong-gap"), 0, 0.1).row()
    sizes, moves = tried(row), [tried(row[move]) for move in ("verify", "hunt")]
    assert tuple(sizes) == merged([*moves[0], *moves[1]])
    assert [size.counts for size in sizes] == [(("d", 1),), (("d", 2),), (("d", 3),)]
    for move, those in zip(("verify", "hunt"), moves, strict=True):
        assert sum(size.instances for size in those) == row[move]["instances"]
    assert max(size.tightness or 0 for size in sizes) == pytest.approx(row["tightness"], rel=1e-3)


def test_where_the_bound_is_broken_the_sizes_say_by_how_much() -> None:
    row = audit.verify(statement("buttaci/appA-strong-second"), 0, 0.1).row()
    assert row["verdict"] == "refuted"
    assert tried(row)
    assert all((size.tightness or 0) > 1 for size in tried(row))


def test_a_literal_reading_has_sizes_of_its_own_if_it_was_tried() -> None:
    printed = statement("buttaci/lem4.2~any-weights")
    (assumption,) = [a for a in printed.implicit if a.name == "nonnegative_weights"]
    row = audit.literally(printed, assumption, 0, 0.1).row()
    assert row["literal"] == "breaks"
    assert all(dict(size.counts)["C"] > 1 for size in tried(row))
    assert any((size.tightness or 0) > 1 for size in tried(row))
    assert "sizes" not in audit.falls_anyway(assumption).row()


def test_what_is_observed_or_quoted_has_no_sizes() -> None:
    assert audit.hunt(statement("zhang/sec4.1-exact"), 0, 0.1).row()["sizes"] == []
    assert audit.verify(statement("yuan/table1-fedprox-li"), 0, 0.1).row()["sizes"] == []
    assert Survived("a/b", 0.5).row()["sizes"] == []


def test_a_size_is_as_tight_as_its_tightest_admissible_instance() -> None:
    nan = np.nan
    assert of(scored([-0.5, -0.2, nan], [0.5, 0.8, 3.0])) == Size((("C", 2),), 2, 0.8, 0.8)
    assert of(scored([-0.5, -0.2], [np.inf, nan])) == Size((("C", 2),), 2, None, None)
    assert of(scored([nan], [0.5])) == Size((("C", 2),), 0, None, None)
    assert of(scored([-3.0], [-2.0])) == Size((("C", 2),), 1, -2.0, -2.0)


def test_a_ratio_that_does_not_survive_a_small_move_is_rounding() -> None:
    """`score` lowers the margin of such a row and leaves its ratio alone."""
    assert of(scored([-0.5, -0.7], [4.0, 0.3])).tightness == 0.5


def test_what_only_floats_see_broken_makes_no_size_look_broken_or_attained() -> None:
    seen = of(scored([0.2, -0.1], [1.25, 0.9]))
    assert seen.tightness == pytest.approx(1.25)
    assert seen.held().tightness == pytest.approx(0.9)
    assert of(scored([1e-12], [1 + 1e-12])).held().tightness == 1


def test_sizes_are_merged_once_each_small_ones_first() -> None:
    parts = [Size(WIDE, 1, None), Size(FOUR, 5, 0.5), Size(TWO, 2, None), Size(TWO, 3, 0.25), Size(FOUR, 5, 0.75)]
    assert merged(parts) == (Size(TWO, 5, 0.25), Size(WIDE, 1, None), Size(FOUR, 10, 0.75))
    assert merged([*merged(parts), Size(TWO, 1, -1.0)])[0] == Size(TWO, 6, 0.25)
    assert merged([]) == ()


def test_a_row_of_a_size_is_read_back() -> None:
    size = Size(TWO, 7, 0.5)
    assert size.row() == {"C": 2, "T": 1, "instances": 7, "tightness": 0.5}
    assert Size.of(size.row()) == size
    assert set(size.row()) - {"C", "T"} == set(TOLD)


def test_one_line_says_how_far_the_sizes_go_and_where_it_was_tightest() -> None:
    sizes = merged([Size(TWO, 7, 0.99999), Size(FOUR, 3, None), Size(WIDE, 3, 0.99999)])
    assert line(sizes) == "3 tried, C 1-3, T 1-4; tightest at C=2 T=1: 0.9999"
    assert line([Size(FOUR, 0, None)]) == "1 tried, C 1, T 4"
    assert line([]) == ""


def test_the_table_of_one_statement_has_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    move = Survived("a/b", 0.5).move()
    row = Row("a/b", hunt=replace(move, sizes=(Size(TWO, 7, 0.5),)))
    table("hunt", [row])
    assert "sizes: 1 tried, C 2, T 1; tightest at C=2 T=1: 0.5" in capsys.readouterr().out
    table("hunt", [row, row])
    table("hunt", [Row("a/b", hunt=move)])
    assert "sizes" not in capsys.readouterr().out
