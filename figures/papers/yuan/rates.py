"""Rates and communication complexities of Yuan and Li: where the terms of (1.4) and (1.6) cross, and table 1."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...style.look import caption, look, new

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.yuan.rates import Crossing, Row

__all__ = ["crossover", "table"]

COLOURS = ("#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9")  # Okabe and Ito


def crossover(panels: Sequence[Crossing]) -> Figure:
    """Draws a line for each size of sample or minibatch with a dot where its terms cross; dashed, what a method
    does.
    """
    with look():
        figure = new(height=6.4)
        for axes, panel in zip(figure.subplots(len(panels), 1, sharex=True), panels, strict=True):
            _lines(axes, panel)
        figure.axes[-1].set_xlabel("rounds $T$")
        figure.suptitle("Where the rates of Yuan and Li cross", fontsize=10, x=0.02, ha="left")
        caption(figure, panels[-1].caption)
    return figure


def _lines(axes: Axes, panel: Crossing) -> None:
    axes.loglog(panel.T, panel.few, color="#8a8a8a", lw=4, alpha=0.35, label=r"$T^{-2/3}$")
    for (name, values), at, colour in zip(panel.rates.items(), panel.crossings, COLOURS, strict=False):
        axes.loglog(panel.T, values, color=colour, lw=1.4, label=f"${name}$")
        axes.loglog([at[0]], [at[1]], color=colour, marker="o", ms=6, ls="")
        if name in panel.method:
            axes.loglog(panel.T, panel.method[name], color=colour, lw=1.4, ls="--", label=f"${name}$, method")
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set_ylabel("rate")
    axes.legend(ncols=2, loc="lower left")


def table(rows: Sequence[Row], said: str) -> Figure:
    """Draws a line for each formula, named after the rows that it stands in; the paper's own are solid."""
    with look():
        figure = new(width=7.2, height=5.6)
        axes = figure.subplots()
        own = iter(COLOURS)
        others = iter(COLOURS * len(rows))
        for row in rows:
            colour, line, width = (next(own), "-", 2.0) if row.own else (next(others), "--", 1.2)
            label = f"${row.latex}$   {', '.join(row.names)}"
            axes.loglog(row.x, row.rounds, color=colour, ls=line, lw=width, label=label)
        axes.set_xlabel(r"$1/\epsilon$")
        axes.set_ylabel("rounds of communication")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=10, borderaxespad=0.2)
        figure.suptitle("Table 1 of Yuan and Li: communication complexities", fontsize=10, x=0.02, ha="left")
        caption(figure, said)
    return figure
