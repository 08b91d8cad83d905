"""How many rounds local updates save, level by level."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ...style.look import BOUND, RUNS, TIGHTEST, caption, headline, look, new

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.zhang.rounds import Saved

__all__ = ["plot"]


def plot(saved: Saved) -> Figure:
    """Draws a thin line for each data set, their median, and the band that counts as `roughly tau`."""
    with look():
        figure = new(height=4.0)
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.axhspan(
            saved.tau / saved.roughly, saved.tau * saved.roughly, color=BOUND, alpha=0.12, lw=0, label="roughly τ"
        )
        axes.axhline(saved.tau, color=BOUND, lw=1.2, ls="--", label=f"τ = {saved.tau}")
        for number, line in enumerate(saved.ratios):
            axes.plot(saved.levels, line, "o-", color=RUNS, lw=0.8, ms=2.5, label=None if number else "a data set")
        if len(saved.ratios):
            axes.plot(saved.levels, np.median(saved.ratios, axis=0), "o-", color=TIGHTEST, lw=2, ms=4, label="median")
        axes.invert_xaxis()
        axes.set_xlabel("optimality to be reached")
        axes.set_ylabel("rounds for τ = 1 / rounds for τ = 10")
        axes.legend(loc="best")
        headline(figure, axes, saved.title, "")
        caption(figure, saved.caption)
    return figure
