"""Table 1 of Yuan and Li as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rates import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedaudit.verify.experiments.papers.yuan.complexity_table import Complexities

__all__ = ["plot"]


def plot(complexities: Complexities) -> Figure:
    """Draws a line for each row."""
    return table(complexities.rows, complexities.caption)
