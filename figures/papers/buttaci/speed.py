"""Two methods in a race: what their bounds promise and what their runs do."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...style.look import BOUND, LOWER, RUNS, TIGHTEST, Array, caption, headline, look, new

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.buttaci.speed import Speed

__all__ = ["plot"]

ROUNDING = 1e-12  # of a run of a thousand rounds


def plot(speed: Speed) -> Figure:
    """Draws what bounds promise and runs gain: above on one instance, below on all of them."""
    with look():
        figure = new(height=5.6)
        above, below = figure.subplots(2, 1, height_ratios=[1.2, 1])
        _one(above, speed)
        _all(below, speed)
        headline(figure, above, speed.title, "")
        caption(figure, speed.caption)
    return figure


def _one(axes: Axes, speed: Speed) -> None:
    rounds: Array = np.arange(len(speed.gaps[0]), dtype=float)
    for values, colour, name in ((speed.bounds, BOUND, "bounds promise"), (speed.gaps, TIGHTEST, "runs gain")):
        axes.plot(rounds, 100 * (1 - values[0] / values[1]), color=colour, lw=1.8, label=name)
    axes.axhline(0, color="#555555", lw=0.8)
    axes.set_xlabel("round $t$")
    axes.set_ylabel("gain over FedAvg (%)")
    axes.margins(x=0.02)
    axes.legend(loc="lower right")


def _all(axes: Axes, speed: Speed) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    gain = speed.realised
    size = np.maximum(np.abs(gain), ROUNDING / 10)
    for chosen, colour, marker, label in (
        (gain > ROUNDING, LOWER, "o", "faster"),
        (gain < -ROUNDING, BOUND, "v", "slower"),
        (np.abs(gain) <= ROUNDING, RUNS, ".", "equal up to rounding"),
    ):
        if chosen.any():
            axes.plot(speed.promised[chosen], size[chosen], marker, color=colour, ms=2.5, alpha=0.6, label=label)
    ends = np.array([speed.promised.min(), speed.promised.max()]) if speed.promised.size else np.array([1e-6, 1.0])
    axes.plot(ends, ends, color="#555555", lw=1, ls="--", label="as promised")
    axes.set_xlabel("gain promised: 1 − bound / FedAvg's bound")
    axes.set_ylabel("|1 − gap / FedAvg's gap|")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.1, markerscale=2)
