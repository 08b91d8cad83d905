"""A statement as data that can be computed with, complete for the kernel: its world's own inputs have domains too."""

from __future__ import annotations

from fedaudit.bounds import lower as trees
from fedaudit.bounds.lower import Lowered
from fedaudit.bounds.statement import Statement
from fedaudit.bounds.wellformed import check

from .kernel import inputs

__all__ = ["lower"]


def lower(statement: Statement) -> Lowered:
    """Its trees; `claim` is what certificates carry and the kernel reads. `UserError` where it is not well formed."""
    check(statement)
    return trees.lower(statement, inputs)
