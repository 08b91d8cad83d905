"""Both sides of thousands of instances against each other, as a density: on the line is equality, beyond it failure."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from ..style.look import (
    BOUND,
    INK,
    TIGHTEST,
    WORST,
    Array,
    caption,
    formula,
    heading,
    in_units,
    look,
    new,
    ticks_x,
    ticks_y,
)

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Cloud, Mark
    from fedaudit.verify.pictures.worst_marks import WorstMark

__all__ = ["SMALL", "conclusion", "plot"]

SMALL = 1e-9  # a margin below it is rounding
NEARLY = 0.98  # a worst case above it lies on the line lhs = rhs
BINS = 56
MOST_DECADES = 8  # on either side of the middle


def plot(cloud: Cloud) -> Figure:
    """Draws a panel for each relation, its sides against each other; beside it, of few relations, how much of the
    bound is used.
    """
    count = len(cloud.relations)
    beside = count < 3  # each has a histogram beside it; of many there are two densities in a row
    rows = count if beside else -(-count // 2)
    with look():
        figure = new(height=1.5 + (2.9 if beside else 2.5) * rows)
        panels = figure.subplots(rows, 2, squeeze=False, width_ratios=[1.6, 1] if beside else [1, 1])
        said: Counter[str] = Counter()
        for k in range(count):
            sides = panels[k, 0] if beside else panels[k // 2, k % 2]
            usable = np.isfinite(cloud.margin[k])
            lhs, rhs, margin = (part[k][usable] for part in (cloud.lhs, cloud.rhs, cloud.margin))
            worst = cloud.worst[k] if cloud.worst else None
            said += _density(sides, lhs, rhs, margin, cloud.marks[k], worst)
            sides.set_xlabel(in_units("right side", cloud.units[k]))
            sides.set_ylabel(in_units("left side", cloud.units[k]))
            if beside:
                _shares(panels[k, 1], lhs, rhs, margin, cloud.signs[k])
            _headed(
                sides, cloud.relations[k], (0.9 if beside else 0.4) * figure.get_figwidth(), columns=3 if beside else 1
            )
        for spare in panels.ravel()[count:] if not beside else ():
            spare.set_visible(False)
        heading(figure, f"{cloud.title} ({cloud.id})", conclusion(cloud))
        caption(figure, "; ".join([cloud.caption, *(f"{n:,} {what}" for what, n in said.items())]))
    return figure


def conclusion(cloud: Cloud) -> str:
    """How many instances hold, and how close one comes to equality."""
    usable = np.isfinite(cloud.margin)
    broken = int(((cloud.margin > SMALL) & usable).any(axis=0).sum())
    many = f"{cloud.margin.shape[1]:,} instances"
    if broken:
        return f"{broken:,} of {many} break the claim."
    if all(sign == "=" for sign in cloud.signs):
        return f"Both sides are equal on all {many}."
    down = [sign in (">=", ">") for sign in cloud.signs]
    small, large = (
        np.where(np.array(down)[:, None], one, other) for one, other in ((cloud.rhs, cloud.lhs), (cloud.lhs, cloud.rhs))
    )
    shares = np.divide(small, large, out=np.full(small.shape, np.nan), where=usable & (large > 0) & (small >= 0))
    if not np.isfinite(shares).any():
        return f"All {many} hold."
    most = float(np.nanmax(shares))
    return f"All {many} hold; " + (
        "some are equal." if most > NEARLY else f"none uses more than {most:.2g} of its bound."
    )


def _headed(axes: Axes, relation: str, width: float, columns: int) -> None:
    """Writes the relation above the axes if it fits, and below it the legend, for whose rows it leaves room."""
    rows = -(-len(axes.get_legend_handles_labels()[0]) // columns)
    shown = formula(relation, width, (10, 9, 8, 7, 6))
    text, size, depth = (shown.text, shown.size, shown.depth) if shown else (" ", 4.0, 0.0)
    axes.set_title(text, fontsize=size, loc="left", y=1, pad=7 + 13 * rows + depth)
    legend = axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.1, columnspacing=1.0, handlelength=1.4
    )
    legend.set_in_layout(False)  # it may reach over the other panel; the title above keeps its height free


def _density(
    axes: Axes, lhs: Array, rhs: Array, margin: Array, mark: Mark | None, worst: WorstMark | None
) -> Counter[str]:
    """Shades cells by how many instances they hold; returns what is not on the axes, with its count."""
    bad, size = margin > SMALL, np.maximum(np.abs(lhs), np.abs(rhs))
    signed = bool(((lhs < -SMALL * size) | (rhs < -SMALL * size)).any())
    positive = (lhs > 0) & (rhs > 0)
    said: Counter[str] = Counter()
    if not signed and positive.sum() > 0.02 * len(lhs):
        low, high = _decades(lhs[positive], rhs[positive])
        axes.set_xscale("log")
        axes.set_yscale("log")
        edges = np.geomspace(low, high, BINS)
        if (none := int((~positive).sum())) > 0:
            said["with a side that is 0"] += none
    else:
        edges, positive = _signed(axes, np.concatenate([lhs, rhs])), np.ones(len(lhs), dtype=bool)
    inside = positive & (np.minimum(lhs, rhs) >= edges[0]) & (np.maximum(lhs, rhs) <= edges[-1])
    if (out := int((positive & ~inside).sum())) > 0:
        said["beyond the axes"] += out
    for chosen, colour, name in ((~bad, TIGHTEST, "hold"), (bad, BOUND, "violate")):
        if chosen.any():
            counts, *_ = np.histogram2d(rhs[chosen & inside], lhs[chosen & inside], bins=[edges, edges])
            # A cell holds one instance or thousands: on a linear scale single ones could not be seen.
            shade = np.where(counts > 0, np.log1p(counts), np.nan).T
            axes.pcolormesh(edges, edges, shade, cmap=_fading(colour), vmin=0, rasterized=True)
            axes.plot([], [], "s", color=colour, ms=5, label=f"{int(chosen.sum()):,} {name}")
    axes.plot(edges[[0, -1]], edges[[0, -1]], color=INK, lw=1.1, label="lhs = rhs")
    if mark is not None and edges[0] <= min(mark.x, mark.y) and max(mark.x, mark.y) <= edges[-1]:
        axes.plot([mark.x], [mark.y], "*", color=WORST, mec="white", mew=0.5, ms=10, label=mark.label)
    elif mark is not None:
        axes.plot([], [], "*", color=WORST, ms=10, label=f"{mark.label} (beyond)")
    if worst is not None and worst.lower < NEARLY:
        label = f"worst case {worst.lower:.3g}" + (f" at {worst.name}" if worst.name else "")
        axes.plot(edges, worst.lower * edges, color=WORST, lw=1.1, ls=":", label=label)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(edges[0], edges[-1])
    if axes.get_xscale() == "log":
        ticks_x(axes)
        ticks_y(axes)
    return said


def _decades(lhs: Array, rhs: Array) -> tuple[float, float]:
    """Returns the ends of both axes: they hold nearly all instances, and no more decades than can be told apart."""
    low, high = (
        float(np.quantile(side, q)) for side, q in ((np.minimum(lhs, rhs), 0.02), (np.maximum(lhs, rhs), 0.98))
    )
    middle = np.sqrt(float(np.median(lhs)) * float(np.median(rhs)))
    low, high = max(low, middle * 10.0**-MOST_DECADES), min(high, middle * 10.0**MOST_DECADES)
    return (low / 3, high * 3)


def _signed(axes: Axes, both: Array) -> Array:
    """Returns edges of cells for values of both signs: decades on either side of 0, or even steps where there are few
    decades.
    """
    size = np.abs(both[both != 0])
    low, high = (float(np.quantile(size, q)) for q in (0.05, 0.97)) if size.size else (0.5, 1.0)
    if high <= 100 * low:
        least, most = float(both.min(initial=0)), float(both.max(initial=0))
        pad = 0.05 * (most - least or 1.0)
        return np.linspace(least - pad, most + pad, BINS)
    low, negative = max(low, 1e-8 * high), bool((both < 0).any())
    axes.set_xscale("symlog", linthresh=low)
    axes.set_yscale("symlog", linthresh=low)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(_sparse(low, high, negative))
    up = np.geomspace(low, 1.5 * high, BINS // 2)
    # A symlog axis is linear between -low and low.
    inner = np.linspace(-low, low, 7)[1:-1]
    return np.concatenate([-up[::-1] if negative else np.array([-low]), inner, up])


def _fading(colour: str) -> LinearSegmentedColormap:
    """Returns one colour from nearly clear to full, which reads on a light and on a dark page."""
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    return LinearSegmentedColormap.from_list(colour, [(red, green, blue, 0.25), (red, green, blue, 1.0)])


def _sparse(low: float, high: float, signed: bool) -> FixedLocator:
    """Places ticks at 0 and at few decades, none near 0 (or near its mirror image, where there are negative values)."""
    first, last = int(np.ceil(np.log10(low))) + 1, int(np.floor(np.log10(high)))
    step = max(2 if signed else 1, -(-(last - first + 1) // (2 if signed else 4)))
    ticks = [10.0**k for k in range(last, first - 1, -step)]
    return FixedLocator([*([-x for x in ticks] if signed else []), 0.0, *ticks[::-1]])


def _shares(axes: Axes, lhs: Array, rhs: Array, margin: Array, sign: str) -> None:
    """Draws how much of the bound is used, in decades; where sides have signs, the excess over the larger side."""
    small, large = (rhs, lhs) if sign in (">=", ">") else (lhs, rhs)
    positive = (small > 0) & (large > 0)
    if sign != "=" and positive.mean() > 0.5:
        values = np.log10(small[positive] / large[positive])
        bad = margin[positive] > SMALL
        low, high = (float(np.quantile(values, q)) for q in (0.02, 0.98))
        bins = np.linspace(min(-1.0, low) - 0.05, max(0.5, high + 0.2), 40)
        label = "log₁₀ (lhs / rhs)" if sign in ("<=", "<") else "log₁₀ (rhs / lhs)"
    else:
        bad = margin > SMALL
        # What holds up to rounding belongs left of the line at 0, with all that holds.
        values = margin if sign == "=" else np.where(bad, margin, np.minimum(margin, -SMALL))
        reach = max(1.0, float(np.abs(values).max(initial=0)))
        bins = np.linspace(-reach, reach, 41)
        label = "|difference| / larger side" if sign == "=" else "excess / larger side"
    for chosen, colour in ((~bad, TIGHTEST), (bad, BOUND)):
        if chosen.any():
            axes.hist(values[chosen], bins=list(bins), color=colour, alpha=0.75, histtype="stepfilled")
    axes.axvline(0, color=INK, lw=1.1)
    axes.set_xlabel(label)
    axes.set_ylabel("instances")
