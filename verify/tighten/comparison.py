"""A printed bound, a tightened one and the exact worst case, at ordinary points."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from .. import kernel
from ..kernel import Malformed, Rejected
from ..search.lowered_claim import lower
from ..settings.base import Reading
from ..worst.ordinary import proposed
from ..worst.parameters import Point
from ..worst.worst import Worst, reached, worst_of

Row = dict[str, Any]
POINTS = 3  # of different condition numbers
LARGEST = 40  # leaves


def compared(printed: Statement, tightened: Statement) -> list[Row]:
    """At up to three ordinary points; none where the exact worst case is out of reach."""
    if printed.kind != "inequality" or printed.setting != "run":
        return []
    old, new = (Reading(lower(statement)) for statement in (printed, tightened))
    by_condition_number: dict[int, list[Row]] = {}
    for variants in proposed(old):
        for at, points in variants:
            rows = [] if at.kappa in by_condition_number else list(_rows(old, new, points))
            if rows:
                by_condition_number[at.kappa] = rows
                break
        if len(by_condition_number) == POINTS:
            break
    return [row for rows in by_condition_number.values() for row in rows]


def _rows(old: Reading, new: Reading, points: list[Point]) -> Iterator[Row]:
    for point in points:
        try:
            worst = [worst_of(each, point, *reached(each, point, LARGEST), quick=True) for each in (old, new)]
        except UserError:
            continue
        yield {"point": dict(point.told), "name": point.name, **_sides(old, new, point, worst[0]), **_ends(*worst)}


def _ends(printed: Worst, tightened: Worst) -> Row:
    """Between which ends the largest lhs/rhs of both bounds lies."""
    return {
        what: {"lower": _text(one.lower), "upper": _text(one.upper)}
        for what, one in (("worst_of_printed", printed), ("worst_of_tightened", tightened))
    }


def _sides(old: Reading, new: Reading, point: Point, worst: Worst) -> Row:
    """At the worst run that is known of the printed bound: its left side, and both right sides."""
    if worst.certificate is None:
        return {"lhs": None, "printed": None, "tightened": None}
    instance = dict(worst.certificate["instance"])
    try:
        lhs, printed, _ = kernel.evaluate(old.claim, instance, (), dict(point.at))
        _, tightened, _ = kernel.evaluate(new.claim, instance, (), dict(point.at))
    except (Malformed, Rejected):
        return {"lhs": None, "printed": None, "tightened": None}
    return {"lhs": float(lhs), "printed": float(printed), "tightened": float(tightened)}


def _text(x: Fraction | None) -> float | None:
    return None if x is None else float(x)
