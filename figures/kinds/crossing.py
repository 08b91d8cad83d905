"""A counterexample: both sides along its rounds or along one of its numbers, and where the claim fails."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from ..style.look import (
    BOUND,
    INK,
    TIGHTEST,
    Array,
    above_axes,
    caption,
    headline,
    look,
    new,
    ticks_x,
    ticks_y,
    whole,
    y_label,
)

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Crossing

__all__ = ["conclusion", "plot"]

HEIGHT = 2.0  # inches of a label beside the upper axes: a longer one meets the label below it


def plot(crossing: Crossing) -> Figure:
    """Draws both sides above and left side over right side below, shaded where the relation fails."""
    with look():
        figure = new()
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        if crossing.logarithmic:
            above.set_xscale("log")
        mark = "." if len(crossing.x) < 40 else ""
        above.plot(crossing.x, crossing.rhs, color=BOUND, lw=1.9, marker=mark, label="right side")
        above.plot(crossing.x, crossing.lhs, color=TIGHTEST, lw=1.9, marker=mark, label="left side")
        _scaled(above, np.concatenate([crossing.lhs, crossing.rhs]))
        positive = bool((crossing.rhs > 0).all() and (crossing.lhs > 0).all())
        larger = np.maximum(np.abs(crossing.lhs), np.abs(crossing.rhs))
        share = _share(crossing.lhs, crossing.rhs) if positive else _share(crossing.lhs - crossing.rhs, larger)
        below.plot(crossing.x, share, color=TIGHTEST, lw=1.6, marker=mark)
        below.axhline(1 if positive else 0, color=BOUND, lw=1.2, ls="--")
        below.set_ylabel("left / right" if positive else "excess / larger")
        if positive:
            _scaled(below, share)
        for axes in (above, below):
            _fails(axes, crossing)
            axes.margins(x=0.03, y=0.1)
            ticks_y(axes)
        if crossing.logarithmic:
            ticks_x(below)
        else:
            whole(below)
        y_label(above, crossing.ylabel, crossing.unit, HEIGHT)
        below.set_xlabel(crossing.xlabel)
        rows = above_axes(above, columns=4)
        title = f"{crossing.title} ({crossing.id})"
        headline(figure, above, title, crossing.relation, rows, conclusion(crossing))
        caption(figure, crossing.caption)
    return figure


def conclusion(crossing: Crossing) -> str:
    """Where the claim fails, in one sentence."""
    if crossing.conclusion:
        return crossing.conclusion
    x, broken = crossing.x, _broken(crossing)
    name, times, _ = re.sub(r"[$\\{}]", "", crossing.xlabel).partition("  [")[0].partition(", times its own value")
    named = f"{{:.3g}} times its own {name}" if times else f"{name} = {{:.3g}}"
    if broken.all():
        return f"The claim fails at every {name} that is shown."
    first, last = (int(np.flatnonzero(broken)[k]) for k in (0, -1)) if broken.any() else (0, -1)
    if not broken.any() or not broken[first : last + 1].all():
        return f"The claim fails at {int(broken.sum())} of {len(x)} points."
    if last == len(x) - 1:
        return f"The claim fails from {named.format(x[first])} on."
    if first == 0:
        return f"The claim fails up to {named.format(x[last])}."
    if first == last:
        return f"The claim fails at {named.format(x[first])}."
    return f"The claim fails from {named.format(x[first])} to {x[last]:.3g}."


def _scaled(axes: Axes, values: Array) -> None:
    """Sets a log axis for positive values over more than a decade, and decades of both signs where both occur."""
    size = np.abs(values[values != 0])
    if not size.size or size.max() <= 10 * size.min():
        return
    if (values > 0).all():
        axes.set_yscale("log")
    elif size.max() > 100 * size.min():
        least = max(float(size.min()), 1e-6 * float(size.max()))
        axes.set_yscale("symlog", linthresh=least)
        tops = [10.0**k for k in range(int(np.ceil(np.log10(least))) + 1, int(np.floor(np.log10(size.max()))) + 1, 2)]
        axes.yaxis.set_major_locator(
            FixedLocator(sorted([0.0, *tops, *((-x for x in tops) if (values < 0).any() else ())]))
        )


def _share(part: Array, of: Array) -> Array:
    """Returns how much one is of the other, blank where that is 0."""
    shares = np.full(len(part), np.nan)
    np.divide(part, of, out=shares, where=of != 0)
    return shares


def _broken(crossing: Crossing) -> NDArray[np.bool_]:
    if crossing.sign == "=":
        return ~np.isclose(crossing.lhs, crossing.rhs, rtol=1e-9, atol=0)
    return crossing.lhs < crossing.rhs if crossing.sign in (">=", ">") else crossing.lhs > crossing.rhs


def _fails(axes: Axes, crossing: Crossing) -> None:
    """Shades a band around every point at which the relation fails, and marks the certificate's own place."""
    x, broken = crossing.x, _broken(crossing)
    # The middle as the axis shows it: between logarithms that is the geometric mean.
    middle = np.sqrt(x[1:] * x[:-1]) if crossing.logarithmic else (x[1:] + x[:-1]) / 2
    edges = np.concatenate([x[:1], middle, x[-1:]])
    label: str | None = "the claim fails"
    start: float | None = None
    for n in range(len(x) + 1):
        now = n < len(x) and bool(broken[n])
        if now and start is None:
            start = float(edges[n])
        if not now and start is not None:
            axes.axvspan(start, float(edges[n]), color=BOUND, alpha=0.13, lw=0, label=label)
            start, label = None, None
    if np.isfinite(crossing.at):
        axes.axvline(crossing.at, color=INK, lw=1, ls=":", label="certificate")
