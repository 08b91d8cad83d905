"""Effort goes where doubt is: which shapes are tried, how many instances each row gets, and where a search ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.language.statement import Assumption
from fedaudit.verify.moves import audit
from fedaudit.verify.moves.audit import literally, read
from fedaudit.verify.moves.kernel_proof import Proof, prove, stands_without
from fedaudit.verify.search import attack
from fedaudit.verify.search.attack import climbed_on, scattered
from fedaudit.verify.search.climb import Found, Searched
from fedaudit.verify.search.effort import LITERAL, OPEN, SANITY, THOROUGH, covering, is_dear
from fedaudit.verify.settings.base import Shape

FALLS = "buttaci/appA-strong-second"
HOLDS = "buttaci/lem4.1"


def pairs(shapes: tuple[Shape, ...]) -> set[object]:
    """All pairs of values that some of the shapes have, and the values themselves."""
    values = [sorted({**dict(shape.counts), **dict(shape.flags)}.items(), key=str) for shape in shapes]
    return {pair for those in values for pair in [*combinations(those, 2), *those]}


SHAPES = st.lists(
    st.builds(
        lambda C, d, loss, noise: Shape.of({"loss": loss, "noise": noise}, C=C, d=d),
        st.integers(1, 4), st.integers(1, 3), st.sampled_from("abc"), st.sampled_from("no"),
    ), min_size=1, unique=True,
).map(tuple)  # fmt: skip


@given(SHAPES)
def test_a_cover_with_room_has_all_pairs(shapes: tuple[Shape, ...]) -> None:
    chosen = covering(shapes, 60)
    assert pairs(chosen) == pairs(shapes)
    assert len(chosen) == min(60, len(shapes)) == len(set(chosen))


@given(SHAPES, st.integers(1, 12))
def test_a_small_cover_has_as_many_shapes_as_it_may_in_their_order(shapes: tuple[Shape, ...], most: int) -> None:
    chosen = covering(shapes, most)
    assert len(chosen) == min(most, len(shapes))
    assert list(chosen) == [shape for shape in shapes if shape in set(chosen)]
    wanted, had = ({v for shape in those for v in (*shape.counts, *shape.flags)} for those in (shapes, chosen))
    # The first shape has a value of each of the four factors, and each further one brings a value while one is missing.
    assert len(had) >= min(len(wanted), 3 + len(chosen))


def test_a_cover_of_a_theorem_has_every_value_of_everything() -> None:
    reading, world = read(statement("buttaci/thm4.1-I"))
    shapes = tuple(world.shapes(reading))
    chosen = covering(shapes, OPEN.shapes)
    assert len(chosen) == OPEN.shapes < len(shapes) / 4
    singles = [{v for shape in those for v in (*shape.counts, *shape.flags)} for those in (chosen, shapes)]
    assert singles[0] == singles[1]
    assert len(pairs(chosen)) > 0.8 * len(pairs(shapes))


def test_what_is_dear_gets_fewer_instances_and_fewer_climbs() -> None:
    reading, world = read(statement("buttaci/thm4.1-I"))
    shapes = covering(tuple(world.shapes(reading)), OPEN.shapes)
    dear = [shape for shape in shapes if is_dear(world, shape)]
    draws = dict(zip(shapes, OPEN.draws(world, shapes), strict=True))
    assert dear
    assert {draws[shape] for shape in dear} == {OPEN.few}
    assert sum(draws.values()) == pytest.approx(OPEN.instances, rel=0.05)
    leading = OPEN.leading(world, list(dict.fromkeys([*dear, *shapes])))
    assert sum(shape in dear for shape in leading) == OPEN.dear
    assert len(leading) == OPEN.climbed


@pytest.mark.parametrize("effort", [SANITY, OPEN, LITERAL, THOROUGH])
def test_less_budget_is_less_of_everything_and_more_is_more(effort: attack.Effort) -> None:
    small, usual, large = (effort.at(seconds) for seconds in (0.01, 0.13, 40.0))
    assert small.instances < usual.instances == effort.instances
    assert small.shapes < usual.shapes
    assert small.climbed < usual.climbed
    if effort is SANITY:  # a proof is not doubted more because there is time
        assert large == usual
    else:
        assert large.instances > 10 * usual.instances
        assert large.shapes > 10 * usual.shapes


def test_a_search_ends_where_several_shapes_fell_and_the_kernel_confirms_one(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, world = read(statement(FALLS))
    seen = scattered(reading, world, OPEN, 0)
    assert seen.fell
    assert seen.best[0].margin > attack.CLEAR
    assert climbed_on(reading, world, seen, OPEN, 0).instances == 0
    monkeypatch.setattr(attack, "certify", lambda *_: None)  # floats alone may see a violation that is none
    doubted = scattered(reading, world, OPEN, 0)
    assert not doubted.fell
    assert climbed_on(reading, world, doubted, OPEN, 0).instances > 0


def test_shapes_of_equations_get_half_of_the_places_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, world = read(statement("buttaci/thm4.1-I"))
    ordinary = world.ordinary(reading, world.shapes(reading))
    shapes = [shape for shape in ordinary if not is_dear(world, shape)][:12]
    assert len(shapes) == 12
    places = list[Shape]()

    def noted(_: object, __: object, chosen: list[Shape], *___: object) -> Searched:
        places.extend(chosen)
        return Searched(0, ())

    def climbed(equations: int) -> list[Shape]:
        margins = [0.0] * equations + [-0.1] * (len(shapes) - equations)
        best = [
            SimpleNamespace(region=0, scores=SimpleNamespace(shape=shape), margin=margin)
            for shape, margin in zip(shapes, margins, strict=True)
        ]
        places.clear()
        climbed_on(reading, world, Searched(0, cast("tuple[Found, ...]", tuple(best))), OPEN, 0)
        return places

    monkeypatch.setattr(attack, "climb", noted)
    half = OPEN.climbed // 2
    assert climbed(half + 2) == [*shapes[:half], *shapes[half + 2 : 2 * half + 2]]
    assert climbed(len(shapes) - 1) == [*shapes[:half], shapes[-1], *shapes[half : 2 * half - 1]]
    assert climbed(0) == shapes[: OPEN.climbed]


def test_a_thorough_search_goes_on_where_it_fell() -> None:
    reading, world = read(statement(FALLS))
    wide = scattered(reading, world, replace(THOROUGH, instances=200), 0)
    assert not wide.fell
    assert wide.covered == (len(world.shapes(reading)),) * 2


def test_a_row_says_how_many_shapes_were_tried_and_what_is_proved_is_searched_lightly() -> None:
    light, thorough = (
        audit.audit(statement(HOLDS), 0, 0.39).row(),
        audit.audit(statement(HOLDS), 0, 0.01, thorough=True).row(),
    )
    assert light["verdict"] == thorough["verdict"] == "proved"
    assert light["verify"]["shapes"] == SANITY.shapes < light["verify"]["of_shapes"] == thorough["verify"]["shapes"]
    assert light["verify"]["instances"] < thorough["verify"]["instances"]


def test_an_identity_that_is_proved_is_not_climbed_on() -> None:
    identity = replace(statement(HOLDS), kind="identity")
    assert audit._plan(identity, proved=True, thorough=False).climbed == 0
    assert audit._plan(identity, proved=False, thorough=False).climbed > 0
    assert audit._plan(identity, proved=True, thorough=True) == THOROUGH


def test_what_a_proof_does_not_need_is_not_searched_for_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = statement("buttaci/lem4.2~any-weights")
    found = prove(made, {made.id: made})
    assert isinstance(found, Proof)
    needed = {assumption.name: not stands_without(found, assumption.name) for assumption in made.implicit}
    assert needed["nonnegative_weights"]
    broken = literally(made, next(a for a in made.implicit if a.name == "nonnegative_weights"), 0, 0.13)
    assert broken.literal == "breaks"
    searched = list[str]()

    def noted(printed: object, assumption: Assumption, *_: object) -> audit.Literally:
        searched.append(assumption.name)
        return audit.falls_anyway(assumption)

    monkeypatch.setattr(audit, "literally", noted)
    row = audit.audit(made, 0, 0.39).row()
    assert searched == [name for name, is_needed in needed.items() if is_needed]
    rest = [reading for reading in row["implicit"] if reading["name"] not in searched]
    assert all((one["literal"], one["reason"]) == ("survives", audit.NOT_NEEDED) for one in rest)
