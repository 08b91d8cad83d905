"""What rows say about one another: a proof stands only on statements that are proved themselves.

Rows are made one by one, in whatever process; here the finished rows of a run are read together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from .row import DerivedPart, Row

__all__ = ["cited", "proof_citations", "rests_on", "settle", "unproved"]

SHAKY = ("refuted", "undecided")
Citations: TypeAlias = Callable[[Row], tuple[str, ...]]


def cited(row: Row) -> tuple[str, ...]:
    """What its derivation cites."""
    return row.derive.cites if row.derive else ()


def proof_citations(row: Row) -> tuple[str, ...]:
    """What the way of its derivation that proves it cites."""
    return row.derive.proved_from if row.derive else ()


def settle(rows: Sequence[Row]) -> list[Row]:
    """The rows with what their derivations rest on; a proof from anything that is not proved is none."""
    by_id = {row.id: row for row in rows}
    return [_settled(row, by_id) for row in rows]


def rests_on(identifier: str, rows: Mapping[str, Row], citations: Citations = cited) -> tuple[str, ...]:
    """All that a row cites, and what that cites, as far as it was run; never itself."""
    below: dict[str, None] = {}
    waiting = list(citations(rows[identifier]))
    while waiting:
        name = waiting.pop(0)
        if name not in below and name != identifier:
            below[name] = None
            waiting += citations(rows[name]) if name in rows else ()
    return tuple(below)


def _settled(row: Row, rows: Mapping[str, Row]) -> Row:
    below = [name for name in rests_on(row.id, rows) if name in rows]
    shaky = {word: tuple(name for name in below if rows[name].verdict == word) for word in SHAKY}
    if any(shaky.values()):
        derived = row.derive or DerivedPart("not-derived")
        warnings = [f"from {word} {', '.join(names)}" for word, names in shaky.items() if names]
        new = (warning for warning in warnings if warning not in derived.findings)
        row = replace(row, derive=replace(derived, shaky=shaky, findings=(*new, *derived.findings)))
    if row.verdict != "proved":
        return row
    steps = [name for name in rests_on(row.id, rows, proof_citations) if name in rows]
    unproved_steps = [name for name in steps if not _is_proved(rows[name]) or rows[name].verdict in SHAKY]
    return unproved(row, unproved_steps) if unproved_steps else row


def _is_proved(row: Row) -> bool:
    return row.derive is not None and row.derive.proved


def unproved(row: Row, names: Sequence[str]) -> Row:
    """The row of a statement whose proof rests on these, which have none: its verdict is that of its searches."""
    survived = next((move for _, move in row.moves if move.verdict == "survived"), None)
    reason = "; ".join(filter(None, (f"follows, but {', '.join(names)} is not proved", row.reason)))
    verdict, evidence = ("survived", survived.evidence) if survived else ("undecided", "numerical")
    return replace(row, verdict=verdict, evidence=evidence, reason=reason)
