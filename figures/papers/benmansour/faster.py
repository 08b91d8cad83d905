"""Curves of two methods, or of a run and its bound, over the rounds, for clients with one minimiser and with many."""

# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ...style.look import BOUND, TIGHTEST, caption, headline, look, new, positive, whole

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.benmansour.faster import Speeds

__all__ = ["plot"]

COLOURS = (BOUND, TIGHTEST)


def plot(speeds: Speeds) -> Figure:
    """Draws a panel for each distance from IID."""
    with look():
        figure = new(width=7.2, height=3.6)
        panels = np.atleast_1d(figure.subplots(1, len(speeds.curves), sharey=True))
        for axes, name, curves in zip(panels, speeds.names, speeds.curves, strict=True):
            for (label, values), colour in zip(curves.items(), COLOURS, strict=True):
                axes.plot(np.arange(len(values)), positive(values), color=colour, lw=1.5, label=label)
            axes.set_yscale("log")
            axes.set_title(name, fontsize=9, loc="left")
            axes.set_xlabel("communication round")
            whole(axes)
        panels[0].set_ylabel(speeds.ylabel)
        panels[-1].legend(loc="best")
        headline(figure, panels[0], speeds.title, "")
        caption(figure, speeds.caption)
    return figure
