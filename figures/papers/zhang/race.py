"""Several methods over the rounds, on one logarithmic scale: panels side by side."""

# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ...style.look import BOUND, LOWER, RUNS, TIGHTEST, caption, headline, look, new, positive, whole

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.zhang.exact import Race

__all__ = ["plot"]

STYLES = {  # method -> colour, line style, on top; two that coincide must both be seen
    "algorithm 1": (TIGHTEST, "-", 3, 1.8),
    "FedDA": (BOUND, "--", 4, 1.4),
    "Fast-FedDA": (LOWER, "-", 2, 1.4),
    "FedMid": (RUNS, "-", 1, 1.4),
}


def plot(race: Race) -> Figure:
    """Draws a panel for each setting; the dotted line is what counts as machine precision."""
    with look():
        figure = new(width=7.2, height=3.8)
        panels = np.atleast_1d(figure.subplots(1, len(race.curves), sharey=True))
        for axes, name, curves in zip(panels, race.names, race.curves, strict=True):
            for method, curve in curves.items():
                colour, line, order, width = STYLES[method]
                axes.plot(
                    np.arange(len(curve)), positive(curve), line, color=colour, lw=width, zorder=order, label=method
                )
            if race.level:
                axes.axhline(race.level, color="#555555", lw=0.8, ls=":")
            axes.set_yscale("log")
            axes.set_title(name, fontsize=9, loc="left")
            axes.set_xlabel("communication round")
            axes.margins(x=0.02)
            whole(axes)
        panels[0].set_ylabel(r"optimality $\|\mathcal{G}^r\|/\|\mathcal{G}^1\|$")
        panels[-1].legend(loc="best")
        headline(figure, panels[0], race.title, "")
        caption(figure, race.caption)
    return figure
