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

from ..style.line_ends import End, label_ends, show_gap, times
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
    look,
    new,
    positive,
    ticks_x,
    ticks_y,
    whole,
    y_label,
)

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Rate
    from fedaudit.verify.pictures.worst_marks import WorstMark

__all__ = ["Fit", "conclusion", "fitted", "plot", "sides", "slope", "thinned"]

Places = NDArray[np.intp]
HEIGHT = 5.4  # inches
POINTS = 160  # of a line: more are not seen
FLAT = 0.03  # a slope that is none
MANY = 4  # points of a fit, at least
OFF_FLOOR = 3.0  # times: a curve that is farther from its floor still moves
STEADIER = 0.5  # of the error of a power: a factor per round fits better
SETTLED, BEYOND = 1.05, 1.3  # times its last value: a line that moves no more; how much of that is still shown
WIDE = 1.2  # times: a band that is seen beside its line
STYLES = {"transient": "--", "floor": ":", "growing part": "-."}
LINES = ("this problem", "logistic clients")
COLOURS = (TIGHTEST, BOUND, LOWER, WORST, INK)  # of several statements in one picture


def plot(rate: Rate) -> Figure:
    """Draws both sides over the rounds; below, left side over right side with what is known besides."""
    with look():
        figure = new(height=HEIGHT)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.5])
        shown = _shown([rate])[0]
        sides(above, [rate])
        above.set_xlabel("")
        _ratio(below, rate, shown)
        headline(figure, above, f"{rate.title} ({rate.id})", rate.relation, rows=0, conclusion=conclusion(rate))
        caption(figure, rate.caption + (f"; dashed: ten clients, {rate.logistic}" if rate.logistic else ""))
    return figure


def conclusion(rate: Rate) -> str:
    """What the picture shows, in one sentence."""
    last = _shown([rate])[0][-1]
    run, bound = float(rate.expectation[last]), float(rate.bound[last])
    if not (run > 0 and bound > 0):
        return ""
    name = "expectation" if rate.exact else "run"
    gap = bound / run if rate.sign in ("<=", "<", "=") else run / bound
    index = rate.xlabel.partition("$")[2].rstrip("$")
    where = f"At {index} = {rate.x[last]:g}"
    if gap < 1.05:
        return f"{where} the {name} is as large as its bound."
    if rate.sign in (">=", ">"):
        return f"{where} the {name} is {times(gap)} times its lower bound."
    floor = next((float(part.values[last]) for part in rate.parts if part.name == "floor"), 0.0)
    why = ", because its floor does not fall" if floor > 0.5 * bound and gap > 10 else ""
    return f"{where} the bound is {times(gap)} times the {name}{why}."


def geometric(rate: Rate) -> bool:
    """Whether the bound, or the run if the bound stays, falls by a factor per round rather than like a power."""
    moving = next((part.values for part in rate.parts if part.name == "transient"), rate.bound)
    fit = fitted(rate.x, moving)
    if fit is not None and not fit.steady and abs(fit.power) < FLAT:
        fit = fitted(rate.x, rate.expectation)
    return fit is not None and fit.steady


def sides(axes: Axes, rates: Sequence[Rate], names: Sequence[str] = (), size: float = 8) -> None:
    """Draws bounds and runs on given axes, semi-logarithmic if all fall by factors, and names each line at its end.

    One alone has the parts of its bound, the band of its runs and the gap at its end; of several, `names` are told.
    """
    alone = len(rates) == 1
    linear = all(geometric(rate) for rate in rates)
    axes.set_yscale("log")
    ends: list[End] = []
    for n, (rate, kept) in enumerate(zip(rates, _shown(rates), strict=True)):
        ends += _alone(axes, rate, kept) if alone else _among(axes, rate, kept, names[n], COLOURS[n % len(COLOURS)])
    axes.set_xscale("linear" if linear else "log")
    if linear:
        whole(axes)
    axes.margins(x=0.02, y=0.06)
    y_label(axes, rates[0].ylabel, rates[0].unit)
    axes.set_xlabel(rates[0].xlabel)
    label_ends(axes, ends, size)
    if alone:
        last = _shown(rates)[0][-1]
        low, high = sorted((float(rates[0].expectation[last]), float(rates[0].bound[last])))
        show_gap(axes, float(rates[0].x[last]), low, high, size)
    ticks_y(axes)
    ticks_x(axes)


def _alone(axes: Axes, rate: Rate, kept: Places) -> list[End]:
    x = rate.x[kept]
    name = "expectation" if rate.exact else "run"
    wide = _wide(rate, kept)
    if rate.band is not None and wide:
        inside = kept[kept < len(rate.band[0])]
        low, high = (positive(side[inside]) for side in rate.band)
        axes.fill_between(rate.x[inside], low, high, color=TIGHTEST, alpha=0.18, lw=0, label="10–90 % of runs")
    for part in rate.parts:
        axes.plot(x, positive(part.values[kept]), color=BOUND, lw=0.9, ls=STYLES[part.name], label=part.name)
    bounded = "bound" if rate.sign in ("<=", "<", "=") else "lower bound"
    axes.plot(x, positive(rate.bound[kept]), color=BOUND, lw=1.9, label=bounded)
    axes.plot(x, positive(rate.expectation[kept]), color=TIGHTEST, lw=1.9, label=name)
    band = "\nband: 10–90 % of runs" if wide else ""
    last = kept[-1]
    ends = [End(f"{bounded}{'' if rate.parts else _pace(rate, rate.bound)}", float(rate.bound[last]), BOUND)]
    ends += [End(f"{name}{_pace(rate, rate.expectation)}{band}", float(rate.expectation[last]), TIGHTEST)]
    for part in rate.parts:
        pace = _pace(rate, part.values) if part.name == "transient" else ""
        ends.append(End(f"{part.name}{pace}", float(part.values[last]), BOUND))
    return ends


def _wide(rate: Rate, kept: Places) -> bool:
    """Whether the band is wider than the line of the expectation somewhere."""
    if rate.band is None:
        return False
    low, high = (side[kept[kept < len(side)]] for side in rate.band)
    return bool((high > WIDE * np.maximum(low, 1e-300)).any())


def _among(axes: Axes, rate: Rate, kept: Places, name: str, colour: str) -> list[End]:
    x, last = rate.x[kept], kept[-1]
    axes.plot(x, positive(rate.bound[kept]), color=colour, lw=1.3, ls="--", label=f"{name}: bound")
    axes.plot(x, positive(rate.expectation[kept]), color=colour, lw=1.7, label=f"{name}: run")
    return [
        End(f"{name}:\n{said}", float(side[last]), colour)
        for said, side in (("bound", rate.bound), ("expectation" if rate.exact else "run", rate.expectation))
    ]


def _pace(rate: Rate, side: Array) -> str:
    """How a line falls, below its name; nothing of one that stays."""
    fit = fitted(rate.x, side)
    if fit is None or (not fit.steady and abs(fit.power) < FLAT):
        return ""
    index = rate.xlabel.partition("$")[2].rstrip("$")
    return (
        f"\n× {fit.factor:.4g} per {rate.xlabel.partition(' ')[0].rstrip('s')}"
        if fit.steady
        else f"\n∝ ${index}^{{{fit.power:.2f}}}$"
    )


def _shown(rates: Sequence[Rate]) -> list[Places]:
    """The points that are drawn of each: where all fall by factors, no more than a little beyond where they move."""
    if not all(geometric(rate) for rate in rates):
        return [thinned(rate.x, rate.x > 0) for rate in rates]
    ends = [_settles(rate.x, side) for rate in rates for side in (rate.bound, rate.expectation, *_transient(rate))]
    return [thinned(rate.x, rate.x <= max(ends), even=True) for rate in rates]


def _transient(rate: Rate) -> list[Array]:
    """The part of the bound that falls, but nowhere less than a hundredth of the whole bound."""
    return [np.maximum(part.values, 0.01 * rate.bound) for part in rate.parts if part.name == "transient"]


def _settles(x: Array, side: Array) -> float:
    """How far a line is shown that ends on a floor: a little beyond where it still moves; 0 if it never does."""
    with np.errstate(all="ignore"):
        moving = np.flatnonzero(np.abs(np.log(side / side[-1])) > np.log(SETTLED))
    return float(min(x[-1], max(BEYOND * x[moving[-1]], x[min(len(x) - 1, MANY)]))) if moving.size else 0.0


def thinned(x: Array, inside: NDArray[np.bool_] | None = None, *, even: bool = False) -> Places:
    """Picks the points of a line that are drawn, the first and the last among them, over the decades or evenly."""
    places = np.arange(len(x), dtype=np.intp) if inside is None else np.flatnonzero(inside)
    if len(places) <= POINTS:
        return places
    # Rounds may begin at 0, from where no decades can be counted.
    first, last = max(float(x[places[0]]), 1.0), float(x[places[-1]])
    spread = np.linspace(x[places[0]], last, POINTS) if even else np.geomspace(first, last, POINTS)
    wanted = np.concatenate([[x[places[0]]], spread])
    return places[np.unique(np.clip(np.searchsorted(x[places], wanted), 0, len(places) - 1))]


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


def _ratio(axes: Axes, rate: Rate, kept: Places) -> None:
    """Draws how much of its bound the run uses, and what else is known of that."""
    axes.set_yscale("log")
    share = _share(rate.sign, rate.expectation, rate.bound)
    axes.plot(rate.x[kept], positive(share[kept]), color=TIGHTEST, lw=1.6, label="this problem")
    axes.axhline(1, color=BOUND, lw=1.2, ls="--")
    ends = [End("this problem", float(share[kept[-1]]), TIGHTEST), End("the bound", 1.0, BOUND)]
    if rate.logistic is not None:
        places = thinned(rate.logistic.x, (rate.logistic.x >= rate.x[kept[0]]) & (rate.logistic.x <= rate.x[kept[-1]]))
        own = _share(rate.sign, rate.logistic.lhs, rate.logistic.rhs)[places]
        axes.plot(rate.logistic.x[places], positive(own), color=RUNS, lw=1.2, ls="--", label="logistic clients")
        ends += [End("logistic clients", float(own[-1]), RUNS)] if len(own) else []
    span = float(rate.x[kept[0]]), float(rate.x[kept[-1]])
    if rate.tightest:
        mark = rate.tightest
        label = mark.label + (", beyond" if mark.x > span[1] else "")
        place = min(max(mark.x, span[0]), span[1])
        axes.plot(place, mark.y, "o", color=LOWER, ms=5, label=label, clip_on=False, zorder=4)
    _worst(axes, rate.worst, span)
    axes.set_xlabel(rate.xlabel)
    axes.set_ylabel("left / right" if rate.sign in ("<=", "<", "=") else "right / left")
    axes.margins(x=0.02, y=0.15)
    label_ends(axes, ends)
    ticks_y(axes)
    ticks_x(axes)
    if rate.tightest or rate.worst:  # lines have their names at their ends
        above_axes(axes, 1, [label for label in axes.get_legend_handles_labels()[1] if label not in LINES])


def _share(sign: str, lhs: Array, rhs: Array) -> Array:
    small, large = (lhs, rhs) if sign in ("<=", "<", "=") else (rhs, lhs)
    share = np.full(len(small), np.nan)
    np.divide(small, large, out=share, where=large > 0)
    return share


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
        if name == "exact worst case":
            _along_rounds(axes, some, ends)
        most = max(some, key=lambda w: w.lower)
        numbers = f"{most.lower:.3g}" + (f" to {most.upper:.3g}" if most.upper is not None and not most.exact else "")
        label: str | None = f"{name}: {numbers}" + (f" at {most.name}" if most.name else "")
        # The largest comes first: the label names it, and only the first mark has one.
        for one in sorted(some, key=lambda w: w is not most):
            x = min(max(one.x, ends[0]), ends[1])
            if one.upper is not None and not one.exact:
                axes.plot([x, x], [one.lower, one.upper], color=WORST, lw=2, label=label, clip_on=False, zorder=4)
            else:
                inner = WORST if one.exact else "none"
                axes.plot(x, one.lower, "*", color=WORST, mfc=inner, ms=8, label=label, clip_on=False, zorder=4)
            label = None


def _along_rounds(axes: Axes, exact: Sequence[WorstMark], ends: tuple[float, float]) -> None:
    """Joins exact worst cases that differ in their round alone: the last number of their names."""
    curves: dict[str, list[WorstMark]] = {}
    for one in exact:
        curves.setdefault(one.name.rpartition(" ")[0], []).append(one)
    for points in curves.values():
        inside = sorted((one for one in points if ends[0] <= one.x <= ends[1]), key=lambda one: one.x)
        if len(inside) > 1:
            axes.plot([one.x for one in inside], [one.lower for one in inside], color=WORST, lw=1.2)
