"""Whether the claim of a certificate is the one that the catalogue makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

TIGHTENED = "~tightened"  # how the id of a statement with smaller constants ends


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
    """The claim that the catalogue makes; lowering is imported here because a file may be checked without it."""
    from .lowered_claim import lower

    return lower(statement).claim


def same(left: object, right: object) -> bool:
    """Whether both are one JSON text: Python calls 1, 1.0 and true equal."""
    try:
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False
