"""A rate on a representative problem: its run, its expectation and its bound, and how much of the bound is used."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .style import (
    BOUND,
    INK,
    LOWER,
    RUNS,
    TIGHTEST,
    WORST,
    Array,
    above_axes,
    caption,
    headline,
    in_units,
    look,
    new,
    positive,
    ticks_x,
    ticks_y,
    y_label,
)

if TYPE_CHECKING:
    from fedaudit.verify.pictured import Rate

__all__ = ["plot", "slope", "thinned"]

Places = NDArray[np.intp]
POINTS = 160  # of a line: more are not seen
FLAT = 0.03  # a slope that is none


def plot(rate: Rate) -> Figure:
    """Above, both sides over the rounds on log axes; below, left side over right side with what is known besides."""
    with look():
        figure = new()
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.5])
        kept = thinned(rate.x)
        _sides(above, rate, kept)
        _ratio(below, rate, kept)
        headline(figure, above, f"{rate.title} ({rate.id})", rate.relation, rows=2)
        caption(figure, rate.caption)
    return figure


def thinned(x: Array) -> Places:
    """Which points of a line are drawn: evenly spread over the decades, the first and the last among them."""
    if len(x) <= POINTS:
        return np.arange(len(x), dtype=np.intp)
    first = max(float(x[0]), 1.0)
    wanted = np.concatenate([[x[0]], np.geomspace(first, float(x[-1]), POINTS)])
    return np.unique(np.clip(np.searchsorted(x, wanted), 0, len(x) - 1))


def slope(x: Array, y: Array) -> float:
    """The power of x that y falls or grows by over the last decade, by least squares."""
    late = (x >= x[-1] / 10) & (x > 0) & (y > 0)
    if late.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[late]), np.log(y[late]), 1)[0])


def _sides(axes: Axes, rate: Rate, kept: Places) -> None:
    x = rate.x[kept]
    first = 1 if x[0] == 0 else 0  # 0 has no place on a log axis
    x, bound, exact = x[first:], rate.bound[kept][first:], rate.expectation[kept][first:]
    axes.set_xscale("log")
    axes.set_yscale("log")
    steep = [slope(rate.x, side) for side in (rate.bound, rate.expectation)]
    said = [f", slope {round(s, 2) + 0.0:.2f}" if np.isfinite(s) else "" for s in steep]
    if rate.path is not None:
        shown = [n for n in kept if 0 < rate.x[n] < len(rate.path)]
        axes.plot(rate.x[shown], positive(rate.path[shown]), color=RUNS, lw=0.9, label="one run")
    bounded = "bound" if rate.sign in ("<=", "<") else "lower bound"
    axes.plot(x, positive(bound), color=BOUND, lw=1.9, label=f"{bounded}{said[0]}")
    name = "expectation" if rate.exact else "run"
    axes.plot(x, positive(exact), color=TIGHTEST, lw=1.9, label=f"{name}{said[1]}")
    _guide(axes, x, exact, steep)
    if rate.exact and abs(steep[1]) < FLAT and exact[-1] > 0 and exact[-1] < 0.5 * exact[0]:
        axes.axhline(exact[-1], color=LOWER, lw=1, ls=":", label=f"noise floor {exact[-1]:.2g}")
    y_label(axes, rate.ylabel, rate.unit)
    axes.margins(x=0.02, y=0.08)
    ticks_y(axes)
    above_axes(axes, columns=3)


def _guide(axes: Axes, x: Array, exact: Array, steep: list[float]) -> None:
    """The claimed slope through the middle of the run's last decade, where the run falls otherwise."""
    late = x >= x[-1] / 10
    if late.sum() < 2 or not np.isfinite(steep).all() or abs(steep[0] - steep[1]) < 0.1 or abs(steep[0]) < FLAT:
        return
    inside, y = x[late], exact[late]
    if not (y > 0).all():
        return
    middle = len(inside) // 2
    line = y[middle] * (inside / inside[middle]) ** steep[0]
    axes.plot(inside, line, color=INK, lw=1, ls="--", label="the bound's slope")


def _ratio(axes: Axes, rate: Rate, kept: Places) -> None:
    small, large = (rate.expectation, rate.bound) if rate.sign in ("<=", "<", "=") else (rate.bound, rate.expectation)
    share = np.full(len(rate.x), np.nan)
    np.divide(small, large, out=share, where=large > 0)
    x = rate.x[kept]
    first = 1 if x[0] == 0 else 0
    axes.set_yscale("log")
    axes.plot(x[first:], positive(share[kept][first:]), color=TIGHTEST, lw=1.6)
    axes.axhline(1, color=BOUND, lw=1.2, ls="--")
    least = max(1.0, float(x[first]))
    for marks, marker, colour in (((rate.tightest,) if rate.tightest else (), "o", LOWER), (rate.worst, "*", WORST)):
        for number, mark in enumerate(marks):
            label = mark.label if number == 0 else None
            axes.plot(max(mark.x, least), mark.y, marker, color=colour, ms=8 if marker == "*" else 5, label=label,
                      clip_on=False, zorder=4)  # fmt: skip
    axes.set_xlabel(in_units(rate.xlabel, ""))
    axes.set_ylabel("lhs / rhs" if rate.sign in ("<=", "<", "=") else "rhs / lhs")
    axes.margins(x=0.02, y=0.15)
    ticks_y(axes)
    ticks_x(axes)
    if rate.tightest or rate.worst:
        above_axes(axes, columns=2)
