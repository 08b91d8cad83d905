"""Whether the claim of a certificate is the one that the catalogue makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement


def claim_of(statement: Statement) -> dict[str, object]:
    """The claim that the catalogue makes; lowering is imported here because a file may be checked without it."""
    from .lowered_claim import lower

    return lower(statement).claim


def same(left: object, right: object) -> bool:
    """Whether both are one JSON text: Python calls 1, 1.0 and true equal."""
    try:
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False
