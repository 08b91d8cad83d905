"""Both sides of random instances against each other: on the line is equality, on its wrong side a violation."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from .style import BOUND, TIGHTEST, Array, caption, formula, heading, look, new

if TYPE_CHECKING:
    from fedaudit.verify.curves import Cloud

__all__ = ["plot"]

SMALL = 1e-9  # a margin below it is rounding


def plot(cloud: Cloud) -> Figure:
    """A row for each relation: the sides against each other, and how the margins are distributed."""
    count = len(cloud.relations)
    with look():
        figure = new(height=1.2 + 2.9 * count)
        rows = figure.subplots(count, 2, squeeze=False, width_ratios=[1.5, 1])
        for k, (scatter, spread) in enumerate(rows):
            usable = np.isfinite(cloud.margin[k])
            sides = (cloud.lhs[k][usable], cloud.rhs[k][usable], cloud.margin[k][usable])
            _scatter(scatter, *sides)
            _margins(spread, sides[2], cloud.signs[k])
            shown = formula(cloud.relations[k], 0.9 * figure.get_figwidth(), (10, 9, 8, 7))
            if shown:
                scatter.set_title(shown.text, fontsize=shown.size, loc="left", pad=8 + shown.depth)
        heading(figure, f"{cloud.id}: {cloud.title}")
        caption(figure, cloud.caption)
    return figure


def _scatter(axes: Axes, lhs: Array, rhs: Array, margin: Array) -> None:
    both = np.concatenate([lhs, rhs])
    size = np.abs(both[both != 0])
    low, high = (float(np.quantile(size, 0.02)), float(size.max())) if size.size else (1.0, 1.0)
    if high > 100 * low:  # decades of both signs; what is smaller than nearly all the rest lies around 0
        low = max(low, 1e-8 * high)
        axes.set_xscale("symlog", linthresh=low)
        axes.set_yscale("symlog", linthresh=low)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(_sparse(low, high, bool((both < 0).any())))
    bad = margin > SMALL
    axes.plot(
        rhs[~bad], lhs[~bad], ".", color=TIGHTEST, ms=4, alpha=0.4, rasterized=True, label=f"{int((~bad).sum())} hold"
    )
    if bad.any():
        axes.plot(
            rhs[bad], lhs[bad], "x", color=BOUND, ms=4, alpha=0.7, rasterized=True, label=f"{int(bad.sum())} violate"
        )
    ends = np.array([min(float(both.min(initial=0)), 0.0), float(both.max(initial=0))])
    ladder = np.concatenate([[ends[0]], np.sort(both), [ends[1]]])
    axes.plot(ladder, ladder, color="#555555", lw=0.9, label="equality")
    axes.set_xlabel("right side")
    axes.set_ylabel("left side")
    axes.legend(loc="best", borderaxespad=0.2)


def _sparse(low: float, high: float, signed: bool) -> FixedLocator:
    """0 and few decades, none near 0 (or near its mirror image, where there are negative values)."""
    first, last = int(np.ceil(np.log10(low))) + 1, int(np.floor(np.log10(high)))
    step = max(2 if signed else 1, -(-(last - first + 1) // (2 if signed else 4)))
    ticks = [10.0**k for k in range(last, first - 1, -step)]
    return FixedLocator([*([-x for x in ticks] if signed else []), 0.0, *ticks[::-1]])


def _margins(axes: Axes, margin: Array, sign: str) -> None:
    if sign != "=":  # an equality belongs to the side that holds
        margin = np.where(margin > SMALL, margin, np.minimum(margin, -SMALL))
    reach = max(1.0, float(np.abs(margin).max(initial=0)))
    bins = np.linspace(-reach, reach, 41)
    for chosen, colour in ((margin <= SMALL, TIGHTEST), (margin > SMALL, BOUND)):
        if chosen.any():
            axes.hist(margin[chosen], bins=list(bins), color=colour, alpha=0.7, histtype="stepfilled")
    axes.axvline(0, color="#555555", lw=0.9)
    axes.set_xlabel("|difference| / larger side" if sign == "=" else "excess / larger side")
    axes.set_ylabel("instances")
