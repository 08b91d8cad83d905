"""The gap of FedSoftMax and of FedAvg over the rounds, for clients with one minimiser and with many."""

# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ...style.look import BOUND, TIGHTEST, caption, headline, look, new, positive, whole

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.benmansour.faster import Speeds

__all__ = ["plot"]

COLOURS = {"FedAvg": BOUND, "FedSoftMax": TIGHTEST}


def plot(speeds: Speeds) -> Figure:
    """Draws a panel for each distance from IID."""
    with look():
        figure = new(width=7.2, height=3.6)
        panels = np.atleast_1d(figure.subplots(1, len(speeds.curves), sharey=True))
        for axes, name, curves in zip(panels, speeds.names, speeds.curves, strict=True):
            for method, gap in curves.items():
                axes.plot(np.arange(len(gap)), positive(gap), color=COLOURS[method], lw=1.5, label=method)
            axes.set_yscale("log")
            axes.set_title(name, fontsize=9, loc="left")
            axes.set_xlabel("communication round")
            whole(axes)
        panels[0].set_ylabel("$F(w_t) - F^*$")
        panels[-1].legend(loc="best")
        headline(figure, panels[0], speeds.title, "")
        caption(figure, speeds.caption)
    return figure
