"""The two-group problem: upper bound, exact expectation and lower bound in one figure."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..style.line_ends import times
from ..style.look import (
    LOWER,
    RUNS,
    TIGHTEST,
    UPPER,
    Array,
    bundle,
    caption,
    counted,
    headline,
    log_x,
    look,
    new,
    positive,
    ticks_y,
    whole,
    y_label,
)

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Curves

__all__ = ["fits", "plot"]

NAMES = ("upper bound", "exact expectation", "lower bound")
COLOURS = dict(zip(NAMES, (UPPER, TIGHTEST, LOWER), strict=True))
STYLES = dict(zip(NAMES, ("-", "-", "--"), strict=True))


def fits(curves: Curves) -> bool:
    """Says whether all three curves are there."""
    return all(name in curves.extra for name in NAMES)


def plot(curves: Curves) -> Figure:
    """Draws the three curves and the room between the bounds; below, each bound over the exact value."""
    with look():
        figure = new()
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        three = {name: np.asarray(curves.extra[name], dtype=float) for name in NAMES}
        _together(above, curves, three)
        _ratios(below, curves, three)
        for axes in (above, below):
            ticks_y(axes)
        headline(
            figure,
            above,
            f"{curves.title} ({curves.id})",
            rf"{curves.ylabel.strip('$')} \geq {curves.bound_label.strip('$')}",
            conclusion=conclusion(curves),
        )
        caption(figure, curves.caption)
    return figure


def conclusion(curves: Curves) -> str:
    """How far apart both bounds are from the exact value at the end."""
    upper, exact, lower = (float(np.asarray(curves.extra[name], dtype=float)[-1]) for name in NAMES)
    if not min(upper, exact, lower) > 0:
        return ""
    index = curves.xlabel.partition("$")[2].rstrip("$")
    where = f"At {index} = {curves.x[-1]:g}"
    above, below = times(upper / exact), times(exact / lower)
    return f"{where} the upper bound is {above} times the exact value, and that {below} times the lower bound."


def _together(axes: Axes, curves: Curves, three: dict[str, Array]) -> None:
    axes.set_yscale("log")
    if log_x(curves.x) or curves.x[-1] > 100:
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, float(curves.x[-1]))
    else:
        whole(axes)
    low, high = positive(three["lower bound"]), positive(three["upper bound"])
    axes.fill_between(curves.x, low, high, color="#8a8a8a", alpha=0.15, lw=0)
    others = np.arange(len(curves.lhs)) != curves.tightest
    if others.any():
        bundle(axes, curves.x, positive(curves.lhs[others]), RUNS, counted(int(others.sum()), "other instances"))
    for name in NAMES:
        axes.plot(curves.x, positive(three[name]), color=COLOURS[name], ls=STYLES[name], lw=1.8, label=name)
    y_label(axes, curves.ylabel, curves.unit)
    axes.margins(x=0.02)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.1, columnspacing=1.2)


def _ratios(axes: Axes, curves: Curves, three: dict[str, Array]) -> None:
    exact = positive(three["exact expectation"])
    axes.set_yscale("log")
    for name in ("upper bound", "lower bound"):
        axes.plot(curves.x, positive(three[name]) / exact, color=COLOURS[name], ls=STYLES[name], lw=1.5)
    axes.axhline(1, color=TIGHTEST, lw=1.2)
    axes.set_xlabel(curves.xlabel)
    axes.set_ylabel("bound / exact")
