"""What rows say about one another: a proof stands only on statements that are proved themselves.

Rows are made one by one, in whatever process; here the finished rows of a run are read together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

Row = dict[str, Any]
SHAKY = ("refuted", "undecided")


def settle(rows: Sequence[Row]) -> list[Row]:
    """The rows with what their derivations rest on; a proof from anything that is not proved is none."""
    known = {str(row["id"]): row for row in rows}
    return [_settled(row, known) for row in rows]


def rests_on(identifier: str, rows: Mapping[str, Row], by: str = "cites") -> tuple[str, ...]:
    """All that a row cites, and what that cites, as far as it was run; never itself."""
    found: dict[str, None] = {}
    waiting = list(_cites(rows[identifier], by))
    while waiting:
        name = waiting.pop(0)
        if name not in found and name != identifier:
            found[name] = None
            waiting += _cites(rows[name], by) if name in rows else ()
    return tuple(found)


def _settled(row: Row, rows: Mapping[str, Row]) -> Row:
    cited = [name for name in rests_on(str(row["id"]), rows) if name in rows]
    shaky = {word: [name for name in cited if rows[name]["verdict"] == word] for word in SHAKY}
    if any(shaky.values()):
        told = [f"from {word} {', '.join(names)}" for word, names in shaky.items() if names]
        derived = _derive(row)
        told = [t for t in told if t not in derived.get("findings", [])]
        row = {**row, "derive": {**derived, "from": shaky, "findings": [*told, *derived.get("findings", [])]}}
    if row["verdict"] != "proved":
        return row
    steps = [name for name in rests_on(str(row["id"]), rows, "proved_from") if name in rows]
    shaky_steps = [name for name in steps if not _derive(rows[name]).get("proved") or rows[name]["verdict"] in SHAKY]
    if not shaky_steps:
        return row
    return unproved(row, shaky_steps)


def unproved(row: Row, names: Sequence[str]) -> Row:
    """A row without its proof: what it rests on has none."""
    moves = [cast(Row, row.get(move) or {}) for move in ("verify", "hunt")]
    survived = next((m for m in moves if m.get("verdict") == "survived"), None)
    reason = "; ".join(filter(None, (f"follows, but {', '.join(names)} is not proved", row.get("reason"))))
    verdict = {"verdict": "survived" if survived else "undecided", "reason": reason}
    return {**row, **verdict, "evidence": survived["evidence"] if survived else "numerical"}


def _derive(row: Row) -> Row:
    return cast(Row, row.get("derive") or {})


def _cites(row: Row, by: str) -> tuple[str, ...]:
    return tuple(str(name) for name in _derive(row).get(by) or ())
