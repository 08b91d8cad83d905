"""A statement as data that can be computed with, complete for the kernel: its world's own inputs have domains too."""

from __future__ import annotations

from collections import deque

from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.wellformed import check

from ..kernel import inputs

__all__ = ["lower", "unchecked"]

KEPT = 16  # statements
# Statements are compared by identity, because equality leaves out the glossary, from which sides have their units.
_LAST: deque[tuple[Statement, Lowered]] = deque(maxlen=KEPT)


def lower(statement: Statement) -> Lowered:
    """Its trees; `claim` is what certificates carry and the kernel reads. `UserError` where it is not well formed.

    Every move asks for them: of the last statements they are kept, and with them what is known by them.
    """
    kept = next((lowered for one, lowered in _LAST if one is statement), None)
    if kept is None:
        check(statement)
        kept = unchecked(statement)
        _LAST.append((statement, kept))
    return kept


def unchecked(statement: Statement) -> Lowered:
    """The trees of a claim that nobody wrote, and whose letters need not mean anything to a run."""
    return trees.lower(statement, inputs)
