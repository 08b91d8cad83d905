"""Whether the claims of a proof from a file are those of the catalogue, and are proved: decided again, not believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from fedaudit.bounds.statement import Statement

TIGHTENED = "~tightened"  # how the id of a statement with smaller constants ends


def not_proved(
    claims: Mapping[str, object], statement: Statement, tightened: bool, known: Mapping[str, Statement]
) -> str:
    """Why the claims of a proof, which are the catalogue's but for larger sides, are not proved; empty if they are."""
    import z3  # pyright: ignore[reportMissingTypeStubs]

    from fedaudit.bounds.derive import derive

    from .tighten import tighten

    cast(Any, z3).set_param("ctrl_c", False)  # Ctrl-C ends us, not z3's answer to one question
    if not derive(statement, known, slack=False).proved:
        return f"{statement.id}: got a proof, expected a statement that derive proves"
    found = tighten(statement, known).known if tightened else known
    for said, claim in claims.items():
        if said not in found or not same(claim, claim_of(found[said])):
            return f"claim: got other constants for {said} than `fedaudit tighten` finds, expected those"
        if said in known and not derive(known[said], known, slack=False).proved:
            return f"{said}: got a proof, expected a statement that derive proves"
    return ""


def unproved(statement: Statement, known: Mapping[str, Statement]) -> str:
    """Why a row may not call a statement proved: `derive` decides it again, with all that it cites. Empty if it may."""
    import z3  # pyright: ignore[reportMissingTypeStubs]

    from fedaudit.bounds.derive import derive

    from .audit import rests_on

    cast(Any, z3).set_param("ctrl_c", False)  # Ctrl-C ends us, not z3's answer to one question
    if by_hand := rests_on(statement):
        return f"{statement.id} rests on {by_hand}"
    return "" if derive(statement, known, slack=False).proved else f"derive does not prove {statement.id}"


def restates(claim: dict[str, Any], own: dict[str, Any], smaller: bool) -> bool:
    """Whether a claim is the statement's own; with `smaller`, but for its name and the larger sides."""
    if not smaller:
        return same(claim, own)
    try:
        sides = [[[one[0], one[1]] for one in each["then"]] for each in (claim, own)]
    except (TypeError, KeyError, IndexError):
        return False
    rest = [{k: v for k, v in each.items() if k not in ("id", "then")} for each in (claim, own)]
    return same(*sides) and same(*rest)


def claim_of(statement: Statement) -> dict[str, Any]:
    from .claims import lower

    return lower(statement).claim


def same(left: object, right: object) -> bool:
    """The same JSON text: Python calls 1, 1.0 and true equal."""
    try:
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False
