"""How far FedSoftMax's weights are from p over the rounds: a panel per step size, against 1/t."""

# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ...style.look import BOUND, RUNS, TIGHTEST, caption, heading, look, new, positive

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.benmansour.weight_figures import Distances

__all__ = ["plot"]

STYLES = ((TIGHTEST, "-"), (TIGHTEST, ":"), (BOUND, "-"), (BOUND, ":"))  # a colour is a loss, dotted is not IID


def plot(distances: Distances) -> Figure:
    """Draws a panel for each rule of step sizes; its dashed line has slope -1."""
    with look():
        figure = new(width=7.2, height=6.4)
        panels = np.atleast_1d(figure.subplots(len(distances.panels), 1))
        for axes, (how, curves) in zip(panels, distances.panels.items(), strict=True):
            for (name, far), (colour, line) in zip(curves.items(), STYLES, strict=True):
                t = np.arange(1, len(far))
                label = f"{name}: slope {distances.slopes[how][name]:.2f}".replace("-", "−")
                axes.plot(t, positive(far[1:]), color=colour, ls=line, lw=1.6, label=label)
            first = next(iter(curves.values()))
            t = np.arange(1, len(first))
            axes.plot(t, first[1] / t, color=RUNS, ls="--", lw=1.1, label="1/t")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(f"steps {how.replace('^t', 'ᵗ').replace('^-4', '⁻⁴')}", loc="left", fontsize=9)
            axes.set_ylabel(r"$\max_i |\alpha^i - p_i|$")
            axes.margins(x=0.02)
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        panels[-1].set_xlabel("round")
        heading(figure, distances.title)
        caption(figure, distances.caption)
    return figure
