"""How far FedSoftMax's weights are from p, along the run, against 1/t."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ...style.look import BOUND, LOWER, RUNS, TIGHTEST, caption, look, new, positive

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.benmansour.softmax_weights import Weights

__all__ = ["plot"]

COLOURS = (TIGHTEST, LOWER, "#cc79a7", BOUND)


def plot(weights: Weights) -> Figure:
    """Draws a curve with its slope for each problem, and a line of slope -1 through the first."""
    with look():
        figure = new()
        axes = figure.subplots()
        t = weights.t[1:]
        for (name, values), colour in zip(weights.curves.items(), COLOURS, strict=True):
            label = f"{name}: slope {weights.slopes[name]:.2f}"
            axes.plot(t, positive(values[1:]), color=colour, lw=1.4, label=label)
        first = next(iter(weights.curves.values()))
        middle = len(t) // 4
        axes.plot(t, first[1 + middle] * t[middle] / t, color=RUNS, ls="--", lw=1.2, label="1/t")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("step $t$")
        axes.set_ylabel(r"$\max_i |\alpha_t^i - p_i|$")
        axes.legend(loc="lower left")
        axes.set_title(f"{weights.id}: FedSoftMax's weights", loc="left")
        caption(
            figure,
            f"strongly convex quadratics, step size of corollary 4, temperature {weights.temperature:g}; "
            f"means over {weights.paths} noise paths; slopes over the last decade",
        )
    return figure
