"""Two methods in a race: what their bounds promise and what their runs do."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import BOUND, LOWER, TIGHTEST, caption, headline, look, new, positive

if TYPE_CHECKING:
    from fedaudit.verify.experiments.buttaci_speed import Speed

__all__ = ["plot"]

SMALLEST = 1e-16  # gains below it are rounding


def plot(speed: Speed) -> Figure:
    """Above, bounds and gaps of one instance; below, the gain that was promised against the gain that came."""
    with look():
        figure = new(height=5.6)
        above, below = figure.subplots(2, 1, height_ratios=[1.2, 1])
        _one(above, speed)
        _all(below, speed)
        headline(figure, above, speed.title, "")
        caption(figure, speed.caption)
    return figure


def _one(axes: Axes, speed: Speed) -> None:
    rounds = np.arange(speed.gaps.shape[1])
    axes.set_yscale("log")
    for values, colour, what in ((speed.bounds, BOUND, "bound"), (speed.gaps, TIGHTEST, "gap")):
        axes.plot(rounds, positive(values[1]), color=colour, lw=3.5, alpha=0.35, label=f"{what}, FedAvg")
        axes.plot(rounds, positive(values[0]), color=colour, lw=1.3, label=f"{what}, perturbed")
    axes.set_xlabel("round $t$")
    axes.set_ylabel("divided by the first gap")
    axes.margins(x=0.02)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.1, columnspacing=1.2)


def _all(axes: Axes, speed: Speed) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    gain = speed.realised
    size = np.maximum(np.abs(gain), SMALLEST)
    for chosen, colour, marker, label in (
        (gain > 0, LOWER, "o", "faster"),
        (gain < 0, BOUND, "v", "slower"),
        (gain == 0, TIGHTEST, "s", "equal"),
    ):
        if chosen.any():
            axes.plot(speed.promised[chosen], size[chosen], marker, color=colour, ms=2.5, alpha=0.6, label=label)
    ends = np.array([speed.promised.min(), speed.promised.max()]) if speed.promised.size else np.array([1e-6, 1.0])
    axes.plot(ends, ends, color="#555555", lw=1, ls="--", label="as promised")
    axes.set_xlabel("gain promised: 1 − bound / FedAvg's bound")
    axes.set_ylabel("|1 − gap / FedAvg's gap|")
    axes.legend(loc="center right", ncols=1, markerscale=2)
