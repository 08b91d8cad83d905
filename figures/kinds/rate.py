"""A rate on a representative problem: its run, its expectation and its bound, and how much of the bound is used."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..style.look import (
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
    from fedaudit.verify.pictures.kinds import Rate
    from fedaudit.verify.pictures.worst_marks import WorstMark

__all__ = ["Fit", "fitted", "plot", "slope", "thinned"]

Places = NDArray[np.intp]
HEIGHT = 5.6  # inches: two legends stand between title and axes
POINTS = 160  # of a line: more are not seen
FLAT = 0.03  # a slope that is none
MANY = 4  # points of a fit, at least
OFF_FLOOR = 3.0  # times: a curve that is farther from its floor still moves
STEADIER = 0.5  # of the error of a power: a factor per round fits better


def plot(rate: Rate) -> Figure:
    """Draws both sides over the rounds on log axes; below, left side over right side with what is known besides."""
    with look():
        figure = new(height=HEIGHT)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.7])
        kept = thinned(rate.x)
        rows = _sides(above, rate, kept)
        _ratio(below, rate, kept)
        headline(figure, above, f"{rate.title} ({rate.id})", rate.relation, rows=rows)
        caption(figure, rate.caption)
    return figure


def thinned(x: Array) -> Places:
    """Picks the points of a line that are drawn: evenly spread over the decades, the first and the last among them."""
    if len(x) <= POINTS:
        return np.arange(len(x), dtype=np.intp)
    first = max(float(x[0]), 1.0)
    wanted = np.concatenate([[x[0]], np.geomspace(first, float(x[-1]), POINTS)])
    return np.unique(np.clip(np.searchsorted(x, wanted), 0, len(x) - 1))


def slope(x: Array, y: Array) -> float:
    """Fits the power of x by which y falls or grows over the last decade, by least squares."""
    late = (x >= x[-1] / 10) & (x > 0) & (y > 0)
    if late.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[late]), np.log(y[late]), 1)[0])


@dataclass(frozen=True, slots=True)
class Fit:
    """How a curve falls between two rounds: like a power of the round, or by a factor per round."""

    power: float
    factor: float
    steady: bool  # the factor fits better than the power
    low: float
    high: float

    def __str__(self) -> str:
        said = f"factor {self.factor:.4g}" if self.steady else f"slope {round(self.power, 2) + 0.0:.2f}"
        return f"{said} ({_two_digits(self.low)} to {_two_digits(self.high)})"


def _two_digits(x: float) -> str:
    return f"{float(f'{x:.2g}'):g}"


def fitted(x: Array, y: Array) -> Fit | None:
    """Fits a curve by least squares over the last decade in which it still moves: before a floor, if it ends on one."""
    shown = (x > 0) & (y > 0)
    x, y = x[shown], y[shown]
    if len(x) < MANY:
        return None
    late = y[x >= x[-1] / 3]
    if late.max() < (1 + FLAT) * late.min():  # it ends on a floor
        above = np.flatnonzero(np.abs(np.log(y / y[-1])) > np.log(OFF_FLOOR))
        last = int(above[-1]) if above.size else len(x) - 1
    else:
        last = len(x) - 1
    inside = (x >= x[last] / 10) & (x <= x[last])
    if inside.sum() < MANY:
        inside = np.arange(len(x)) < max(last + 1, MANY)
    x, y = x[inside], np.log(y[inside])
    (power, _), off, *_ = np.polyfit(np.log(x), y, 1, full=True)
    (rate, _), away, *_ = np.polyfit(x, y, 1, full=True)
    steady = bool(off.size and away.size and away[0] < STEADIER * off[0] and rate < 0)
    return Fit(float(power), float(np.exp(rate)), steady, float(x[0]), float(x[-1]))


def _sides(axes: Axes, rate: Rate, kept: Places) -> int:
    """Draws both sides; returns how many rows the legend has."""
    x = rate.x[kept]
    first = 1 if x[0] == 0 else 0  # 0 has no place on a log axis
    x, bound, exact = x[first:], rate.bound[kept][first:], rate.expectation[kept][first:]
    axes.set_xscale("log")
    axes.set_yscale("log")
    fits = [fitted(rate.x, side) for side in (rate.bound, rate.expectation)]
    said = [f", {fit}" if fit else "" for fit in fits]
    if rate.path is not None:
        shown = [n for n in kept if 0 < rate.x[n] < len(rate.path)]
        axes.plot(rate.x[shown], positive(rate.path[shown]), color=RUNS, lw=0.9, label="one run")
    bounded = "bound" if rate.sign in ("<=", "<") else "lower bound"
    axes.plot(x, positive(bound), color=BOUND, lw=1.9, label=f"{bounded}{said[0]}")
    name = "expectation" if rate.exact else "run"
    axes.plot(x, positive(exact), color=TIGHTEST, lw=1.9, label=f"{name}{said[1]}")
    if rate.logistic is not None:
        places = thinned(rate.logistic.x)
        places = places[rate.logistic.x[places] > 0]
        for side, colour, said_of in (
            (rate.logistic.rhs, BOUND, "their bound"),
            (rate.logistic.lhs, TIGHTEST, "logistic clients"),
        ):
            axes.plot(rate.logistic.x[places], positive(side[places]), color=colour, lw=1.2, ls="--", label=said_of)
    _guide(axes, x, exact, fits)
    late = exact[x >= x[-1] / 3]
    if rate.exact and 0 < late.max() < (1 + FLAT) * late.min() and late[-1] < 0.5 * exact[0]:
        axes.axhline(exact[-1], color=LOWER, lw=1, ls=":", label=f"noise floor {exact[-1]:.2g}")
    y_label(axes, rate.ylabel, rate.unit)
    axes.margins(x=0.02, y=0.08)
    ticks_y(axes)
    return above_axes(axes, columns=2)


def _guide(axes: Axes, x: Array, exact: Array, fits: Sequence[Fit | None]) -> None:
    """Draws the bound's slope through the middle of where the run was fitted, if the run falls otherwise."""
    bound, run = fits
    if bound is None or run is None or bound.steady or run.steady:
        return
    if abs(bound.power - run.power) < 0.1 or abs(bound.power) < FLAT:
        return
    inside = (x >= run.low) & (x <= run.high) & (exact > 0)
    if inside.sum() < 2:
        return
    x, y = x[inside], exact[inside]
    middle = len(x) // 2
    line = y[middle] * (x / x[middle]) ** bound.power
    axes.plot(x, line, color=INK, lw=1, ls="-.", label="the bound's slope")


def _ratio(axes: Axes, rate: Rate, kept: Places) -> None:
    small, large = (rate.expectation, rate.bound) if rate.sign in ("<=", "<", "=") else (rate.bound, rate.expectation)
    share = np.full(len(rate.x), np.nan)
    np.divide(small, large, out=share, where=large > 0)
    x = rate.x[kept]
    first = 1 if x[0] == 0 else 0
    axes.set_yscale("log")
    axes.plot(x[first:], positive(share[kept][first:]), color=TIGHTEST, lw=1.6)
    axes.axhline(1, color=BOUND, lw=1.2, ls="--")
    ends = max(1.0, float(x[first])), float(x[-1])
    if rate.tightest:
        mark = rate.tightest
        place = min(max(mark.x, ends[0]), ends[1])
        label = mark.label + (", beyond" if mark.x > ends[1] else "")
        axes.plot(place, mark.y, "o", color=LOWER, ms=5, label=label, clip_on=False, zorder=4)
    _worst(axes, rate.worst, ends)
    axes.set_xlabel(in_units(rate.xlabel, ""))
    axes.set_ylabel("lhs / rhs" if rate.sign in ("<=", "<", "=") else "rhs / lhs")
    axes.margins(x=0.02, y=0.15)
    ticks_y(axes)
    ticks_x(axes)
    if rate.tightest or rate.worst:
        above_axes(axes, columns=1)


def _worst(axes: Axes, cases: Sequence[WorstMark], ends: tuple[float, float]) -> None:
    """Draws both ends of each worst case and names the largest of every kind."""
    kinds = {
        "exact worst case": [w for w in cases if w.exact],
        "worst case, between both ends": [w for w in cases if w.upper is not None and not w.exact],
        "a search met": [w for w in cases if w.upper is None],
    }
    for name, some in kinds.items():
        if not some:
            continue
        most = max(some, key=lambda w: w.lower)
        numbers = f"{most.lower:.3g}" + (f" to {most.upper:.3g}" if most.upper is not None and not most.exact else "")
        label: str | None = f"{name}: {numbers}" + (f" at {most.name}" if most.name else "")
        for one in sorted(some, key=lambda w: w is not most):
            x = min(max(one.x, ends[0]), ends[1])
            if one.upper is not None and not one.exact:
                axes.plot([x, x], [one.lower, one.upper], color=WORST, lw=2, label=label, clip_on=False, zorder=4)
            else:
                inner = WORST if one.exact else "none"
                axes.plot(x, one.lower, "*", color=WORST, mfc=inner, ms=8, label=label, clip_on=False, zorder=4)
            label = None
