"""The comparisons of section 4.4 of the thesis: one panel each, a colour per method."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...style.look import BOUND, LOWER, TIGHTEST, caption, heading, look, new, ticks_y

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.buttaci.discussion import Lines, Panels

__all__ = ["plot"]

STYLES = {"perturbed": (TIGHTEST, "-"), "FedAvg": (LOWER, "-."), "FedProx": (BOUND, "--")}


def plot(comparisons: Panels) -> Figure:
    """Draws the comparisons in two columns of panels under one legend."""
    with look():
        figure = new(width=7.2, height=7.6)
        places: list[Axes] = [place for row in figure.subplots((len(comparisons.panels) + 1) // 2, 2) for place in row]
        for place, lines in zip(places, comparisons.panels, strict=True):
            _panel(place, lines)
        handles = [figure.axes[0].plot([], [], color=c, ls=line, lw=1.8, label=n)[0] for n, (c, line) in STYLES.items()]
        figure.legend(handles=handles, loc="outside upper right", ncols=3)
        heading(figure, comparisons.title)
        caption(figure, comparisons.caption)
    return figure


def _panel(axes: Axes, lines: Lines) -> None:
    axes.set_yscale("log")
    if lines.log_x:
        axes.set_xscale("log")
    for name, y in lines.y.items():
        colour, style = STYLES[name]
        axes.plot(lines.x[name], y, color=colour, ls=style, lw=1.8)
    for name, x, y in lines.marks:
        axes.plot([x], [y], "o", color=STYLES[name][0], ms=6)
    axes.set_title(lines.title, loc="left", fontsize=9)
    axes.set_xlabel(lines.xlabel)
    axes.set_ylabel(lines.ylabel)
    axes.margins(x=0.02)
    ticks_y(axes)
