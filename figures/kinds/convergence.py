"""Trajectories against the bound, and below them how much of the bound they use."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..style.look import (
    BOUND,
    LOWER,
    RUNS,
    TIGHTEST,
    Array,
    bundle,
    caption,
    counted,
    floor_y,
    headline,
    log_x,
    log_y,
    look,
    new,
    positive,
    ticks_y,
    whole,
    y_label,
)
from .rate import slope

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Curves

__all__ = ["plot", "ratio"]

ROUNDING, LEVEL = 1e-9, 0.005  # of a bound; a slope that is none
UPWARD = ("<=", "<", "=")  # the right side is what the left side is measured by


def plot(curves: Curves) -> Figure:
    """Draws left sides and their bounds as thin lines with the tightest instance on top; below, left side over right
    side.
    """
    with look():
        if curves.form:
            return _growth(curves)
        figure = new()
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        _trajectories(above, curves)
        _tightness(below, curves)
        sign = {"<=": r"\leq", ">=": r"\geq"}.get(curves.relation, curves.relation)
        relation = f"{curves.ylabel.strip('$')} {sign} {curves.bound_label.strip('$')}"
        headline(figure, above, f"{curves.title} ({curves.id})", relation, conclusion=conclusion(curves))
        caption(figure, curves.caption)
    return figure


def _growth(curves: Curves) -> Figure:
    """Draws the ratio alone for an order of growth, whose right side is the unit."""
    figure = new(height=4.2)
    axes, best = figure.subplots(), curves.tightest
    others = np.arange(len(curves.lhs)) != best
    axes.set_xscale("log")
    axes.set_yscale("log")
    if others.any():
        bundle(axes, curves.x, positive(curves.lhs[others]), RUNS, counted(int(others.sum()), "paths"), zorder=2)
    axes.plot(curves.x, positive(curves.lhs[best]), color=TIGHTEST, lw=1.9, label="the highest path")
    axes.set_xlabel(curves.xlabel)
    axes.set_ylabel("left side / right side")
    axes.margins(x=0.02)
    floor_y(axes)
    ticks_y(axes)
    _legend(axes)
    power = slope(curves.x, curves.lhs[best])
    ends = "stays at its height" if abs(power) < LEVEL else f"goes like n^{power:.2f} at the end"
    title = f"{curves.title} ({curves.id})"
    headline(figure, axes, title, curves.form, conclusion=f"Left side over right side: the highest path {ends}.")
    caption(figure, curves.caption)
    return figure


def conclusion(curves: Curves) -> str:
    """How much of its bound the tightest run uses at the end, or where one exceeds it."""
    shares = ratio(curves)
    most = float(np.nanmax(shares)) if np.isfinite(shares).any() else 0.0
    index = curves.xlabel.partition("$")[2].rstrip("$")
    if most > 1 + ROUNDING:
        at = curves.x[int(np.nanargmax(shares)) % len(curves.x)]
        return f"A run exceeds its bound, most of all at {index} = {at:g}: {most:.3g} times."
    last = float(shares[curves.tightest, -1])
    if not np.isfinite(last):
        return "No run exceeds its bound."
    return f"At {index} = {curves.x[-1]:g} the tightest run uses {last:.2g} of its bound."


def ratio(curves: Curves) -> Array:
    """Returns lhs/rhs, or rhs/lhs for a lower bound, so that 1 is the limit from below; blank where it is 0/0."""
    small, large = (curves.lhs, curves.rhs) if curves.relation in UPWARD else (curves.rhs, curves.lhs)
    shares = np.full(small.shape, np.nan)
    np.divide(small, large, out=shares, where=large > 0)
    return shares


def _trajectories(axes: Axes, curves: Curves) -> None:
    x, best = curves.x, curves.tightest
    others = np.arange(len(curves.lhs)) != best
    log = log_y(curves.lhs[:, 1:], curves.rhs[:, 1:]) if curves.lhs.shape[1] > 1 else log_y(curves.lhs, curves.rhs)
    if log:
        axes.set_yscale("log")
    if log_x(x):
        # Rounds may begin at 0, which an axis of logarithms does not have.
        axes.set_xscale("symlog", linthresh=10 if x[0] == 0 else 1)
    else:
        whole(axes)
    shown = positive if log else np.asarray
    if others.any():
        if (curves.rhs[others] != curves.rhs[best]).any():
            bundle(axes, x, shown(curves.rhs[others]), BOUND, "bounds", zorder=1)
        bundle(axes, x, shown(curves.lhs[others]), RUNS, counted(int(others.sum()), "runs"), zorder=2)
    mark = "o" if len(x) < 2 else ""
    axes.plot(x, shown(curves.rhs[best]), color=BOUND, lw=1.8, marker=mark, label="its bound")
    axes.plot(x, shown(curves.lhs[best]), color=TIGHTEST, lw=1.8, marker=mark, label="tightest run")
    for style, (name, values) in zip(("--", ":", "-."), curves.extra.items(), strict=False):
        axes.plot(x, shown(np.asarray(values)), color=LOWER, lw=1.4, ls=style, label=name)
    y_label(axes, curves.ylabel, curves.unit)
    axes.margins(x=0.02)
    floor_y(axes)
    _focus(axes, curves.lhs, curves.lhs[best], curves.rhs[best])
    ticks_y(axes)
    _legend(axes)


def _tightness(axes: Axes, curves: Curves) -> None:
    ratios = ratio(curves)
    best = curves.tightest
    others = np.arange(len(ratios)) != best
    log = log_y(ratios[:, 1:]) if ratios.shape[1] > 1 else False
    if log:
        axes.set_yscale("log")
    shown = positive if log else np.asarray
    if others.any():
        bundle(axes, curves.x, shown(ratios[others]), RUNS, "runs")
    axes.plot(curves.x, shown(ratios[best]), color=TIGHTEST, lw=1.8, marker="o" if len(curves.x) < 2 else "")
    axes.axhline(1, color=BOUND, lw=1.2, ls="--")
    axes.set_xlabel(curves.xlabel)
    axes.set_ylabel("lhs / rhs" if curves.relation in UPWARD else "rhs / lhs")
    if log:
        floor_y(axes)
        _focus(axes, ratios, ratios[best], np.ones(1))
        ticks_y(axes)
    else:
        axes.set_ylim(bottom=0)


def _focus(axes: Axes, runs: Array, *kept: Array) -> None:
    """Lets the lowest tenth of the runs leave a log axis rather than squeeze the rest."""
    usable = runs[runs > 0]
    if axes.get_yscale() != "log" or not usable.size:
        return
    lowest = [float(x[x > 0].min()) for x in kept if (x > 0).any()]
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, min(float(np.quantile(usable, 0.1)), *lowest, high / 10) / 3), high)


def _legend(axes: Axes) -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=5, borderaxespad=0.1, columnspacing=1.2, handlelength=1.6
    )
