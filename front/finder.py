"""`fedaudit derive FILE --find`: multipliers for the premises of a derivation that have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedaudit.bounds.derivation import Known
    from fedaudit.bounds.statement import Statement

Row = dict[str, Any]


def finds(statement: Statement, known: Mapping[str, Statement]) -> Iterator[Row]:
    """A row for each premise of the statement's derivations that was given without multipliers, and needs some."""
    from dataclasses import replace

    from fedaudit.bounds.derive import argued, shown, view

    for way in statement.follows_from:
        argued(replace(statement, follows_from=(way,)), known)  # bad input is told here
    conditions = view(statement).requires
    for premise in shown(statement, known):
        if _open(premise):
            yield _row(statement, premise, conditions)


def _open(premise: Known) -> bool:
    from fedaudit.bounds.shown import check

    return not premise.rule.by and bool(check(premise.rule).rest)


def _row(statement: Statement, premise: Known, conditions: Any) -> Row:
    from fedaudit.bounds.shown import check
    from fedaudit.verify.reach import multipliers_of, written

    found = multipliers_of(premise, statement, conditions)
    made = {a.name for a in (*statement.let, *statement.implicit)}
    return {
        "id": statement.id,
        "because": premise.because,
        "claim": str(premise.claim),
        "found": found is not None,
        "by": None if found is None else written(found),
        "assumes": [] if found is None else list(found.assumes),
        "lacks": [] if found is None else [name for name in found.assumes if name not in made],
        "left_over": check(premise.rule).rest if found is None else "",
    }


def as_text(rows: list[Row]) -> str:
    if not rows:
        return "no premise without multipliers: nothing to find"
    return "\n".join(line for row in rows for line in _lines(row))


def _lines(row: Row) -> Iterator[str]:
    yield f"{row['id']}, {row['because']!r}: {row['claim']}"
    if row["found"]:
        yield from (f"    {line}" for line in row["by"].splitlines())
        yield f"  assumes {', '.join(row['assumes']) or 'nothing'}; paste it behind the frame in `shown(...)`"
        if row["lacks"]:
            yield f"  {row['id']} does not assume {', '.join(row['lacks'])}"
    else:
        yield f"  not found, which does not say that it is false; to be shown: {row['left_over'][:300]}"
