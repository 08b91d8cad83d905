"""A statement and its relatives along one axis: the left side, every bound, and below what share of it is used."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from fedaudit.verify.pictures.kinds import Profile, ProfileLine, Role

from ..style.look import BOUND, TIGHTEST, Array, caption, headline, log_x, log_y, look, new, ticks_y, y_label

__all__ = ["plot"]

SIBLINGS = (("#009e73", "--"), ("#cc79a7", "-."), ("#e69f00", ":"), ("#56b4e9", "--"), ("#8a8a8a", "-."))


NEARLY = 1e-9  # of a bound: rounding


def plot(profile: Profile) -> Figure:
    """Draws the left side as dots and the bounds as lines; below, the left side over each bound."""
    with look():
        figure = new(height=5.0)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        left = next(line for line in profile.lines if line.role is Role.LEFT)
        siblings = iter(SIBLINGS * len(profile.lines))
        if log_y(*(line.values for line in profile.lines)):
            above.set_yscale("log")
        if log_x(profile.x) or profile.x[-1] > 10 * profile.x[0] > 10:
            _log_counts(above, profile.x)
        mark = "o" if len(profile.x) < 20 else ""
        above.plot(profile.x, left.values, color=TIGHTEST, marker=mark, ms=4, lw=2.5, alpha=0.7, label=left.label)
        for line in profile.lines:
            if line is left:
                continue
            colour, dash = (BOUND, "-") if line.role is Role.BOUND else next(siblings)
            above.plot(profile.x, line.values, color=colour, ls=dash, lw=1.6, label=line.label)
            if line.role is not Role.OTHER_LEFT:
                _ratio(below, profile.x, left, line, colour, dash)
        below.axhline(1, color="#555555", lw=0.8)
        below.set_xlabel(profile.xlabel)
        below.set_ylabel("left / right")
        shown = np.concatenate([np.ravel(a.get_ydata()) for a in below.get_lines()]).astype(float)
        if log_y(shown[np.isfinite(shown)]):
            below.set_yscale("log")
        y_label(above, profile.ylabel, profile.unit)
        above.margins(x=0.02)
        for axes in (above, below):
            ticks_y(axes)
        columns = 2 if max(len(line.label) for line in profile.lines) > 24 else 3
        above.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.1, columnspacing=1.2)
        rows = -(-len(profile.lines) // columns)
        headline(figure, above, f"{profile.title} ({profile.id})", profile.relation, rows, conclusion(profile, left))
        caption(figure, profile.caption)
    return figure


def conclusion(profile: Profile, left: ProfileLine) -> str:
    """Whether the statement's own bounds hold at the instances that are shown."""
    own = [line for line in profile.lines if line.role is Role.BOUND]
    broken = np.zeros(len(profile.x), dtype=bool)
    for line in own:
        with np.errstate(invalid="ignore"):
            excess = line.values - left.values if line.sign in ("≥", ">") else left.values - line.values
            apart = np.abs(excess) if line.sign == "=" else excess
            broken |= apart > NEARLY * np.abs(line.values)
    if not broken.any():
        return "The claim holds at every point that is shown."
    return (
        f"The claim fails at {'every point' if broken.all() else f'{int(broken.sum())} of {len(broken)} points'} shown."
    )


def _log_counts(axes: Axes, x: Array) -> None:
    """Sets a logarithmic axis with counts written out, no nearer to each other than a factor 1.7."""
    axes.set_xscale("log")
    ticks = [float(x[0])]
    for value in x[1:]:
        if value >= 1.7 * ticks[-1]:
            ticks.append(float(value))
    axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def _ratio(axes: Axes, x: Array, left: ProfileLine, line: ProfileLine, colour: str, dash: str) -> None:
    shares = np.full(len(x), np.nan)
    np.divide(left.values, line.values, out=shares, where=line.values != 0)
    axes.plot(x, shares, color=colour, ls=dash, lw=1.4)
