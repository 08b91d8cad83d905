"""A statement beside its relatives along one axis, on instances that its setting chose for looking."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from fedaudit.bounds.catalogue.discovery import papers, statements_of
from fedaudit.bounds.formulas.statement_text import relations_latex, sides_latex
from fedaudit.bounds.language.statement import Statement

from ..search.lowered_claim import lower
from ..search.score import conditions
from ..search.tree_arrays import Evaluator
from ..settings.base import Reading, Setting, Shape, View, with_scalars
from .kinds import Profile, ProfileLine, Role, unit

__all__ = ["profile"]


def profile(statement: Statement, reading: Reading, world: Setting, view: View) -> Profile:
    """Both sides of the statement and of its relatives, at the points of the view."""
    lines: list[ProfileLine] = []
    relatives = [statement, *_relatives(statement, reading)]
    for relative in relatives:
        mine = Reading(lower(relative))
        columns = [_both_sides(mine, world, shape, values) for _, shape, values in view.points]
        for n, (op, *_) in enumerate(mine.claim["then"]):
            left, right = (np.array([column[n][side] for column in columns]) for side in (0, 1))
            label = relative.id.partition("/")[2]
            reference = next((line for line in lines if line.role is Role.LEFT), None)
            if reference is None:
                lines.append(ProfileLine("left side", left, Role.LEFT))
            elif not np.allclose(reference.values, left, rtol=1e-9):
                lines.append(ProfileLine(f"left side of {label}", left, Role.OTHER_LEFT))
            sign = {"<=": "≤", ">=": "≥"}.get(op) or str(op)
            lines.append(
                ProfileLine(f"{sign} {label}", right, Role.BOUND if relative is statement else Role.OTHER_BOUND, sign)
            )
    return Profile(
        id=statement.id,
        title=statement.title,
        x=np.array([x for x, *_ in view.points]),
        xlabel=view.label,
        ylabel=sides_latex(statement)[0],
        relation=", ".join(relations_latex(statement)),
        lines=tuple(lines),
        caption=view.caption,
        unit=unit(reading.lowered.units[0]),
    )


def _relatives(statement: Statement, reading: Reading) -> list[Statement]:
    """Statements of one proposition (prop3.3-lower, prop3.3-upper~repaired, ...) with the same left side."""

    def stem(identifier: str) -> str:
        return re.split("[-~]", identifier)[0]

    paper = statement.id.partition("/")[0]
    pool = statements_of(paper) if paper in papers() else ()
    siblings = [s for s in pool if stem(s.id) == stem(statement.id) and s.id != statement.id]
    left = reading.claim["then"][0][1]
    return [s for s in siblings if s.method == statement.method and lower(s).claim["then"][0][1] == left]


def _both_sides(
    reading: Reading, world: Setting, shape: Shape, values: Mapping[str, float]
) -> list[tuple[float, float]]:
    """Both sides of every relation of one instance; no bound where the conditions fail."""
    scalars = with_scalars(reading, shape, values)
    table = world.observe(reading, shape, {k: np.array([v]) for k, v in values.items()}, scalars)
    evaluator = Evaluator(table, {})
    bound = 1.0 if conditions(evaluator, reading.claim["when"])[0] else np.nan
    return [
        (float(np.ravel(evaluator(left))[0]), bound * float(np.ravel(evaluator(right))[0]))
        for _, left, right in reading.claim["then"]
    ]
