"""A bound over two choices: its height, where it is least, and where its conditions fail."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from ..style.look import BOUND, INK, Array, caption, headline, look, new

if TYPE_CHECKING:
    from fedaudit.verify.pictures.kinds import Landscape

__all__ = ["conclusion", "plot"]

LEVELS = 8
FLAT = 1e-6  # decades: heights that are all one number
APART = 34, 24  # points between two labels, across and up
# from pale to deep: the page's dark look inverts lightness and keeps hues, and this reads either way
HEIGHTS = LinearSegmentedColormap.from_list("heights", ["#f4f7fa", "#9cc7e3", "#2f8fc4", "#00456e"])


def plot(landscape: Landscape) -> Figure:
    """Draws colours for heights, thin lines of equal height, and grey where a condition fails."""
    with look():
        figure = new(height=4.4)
        axes = figure.subplots()
        height = landscape.height
        if landscape.x[-1] > 20 * landscape.x[0]:
            axes.set_xscale("log")
        if landscape.y[-1] > 20 * landscape.y[0]:
            axes.set_yscale("log")
        axes.grid(visible=False)
        mesh = axes.pcolormesh(landscape.x, landscape.y, height, cmap=HEIGHTS, shading="nearest", rasterized=True)
        veil = np.where(landscape.inside, np.nan, 1.0)
        grey = ListedColormap(["#a9a9a9"])
        axes.pcolormesh(landscape.x, landscape.y, veil, cmap=grey, alpha=0.72, shading="nearest", rasterized=True)
        bar = figure.colorbar(mesh, ax=axes, pad=0.02)
        bar.set_label(landscape.label, fontsize=8)
        bar.ax.yaxis.set_major_locator(MaxNLocator(6))
        _levels(axes, landscape, height)
        if np.isfinite(landscape.ridge).any():
            axes.plot(landscape.x, landscape.ridge, color=BOUND, lw=2.2, label="least")
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1)
        axes.set_xlabel(landscape.xlabel)
        axes.set_ylabel(landscape.ylabel)
        headline(
            figure, axes, f"{landscape.title} ({landscape.id})", landscape.relation, conclusion=conclusion(landscape)
        )
        caption(figure, landscape.caption)
    return figure


def conclusion(landscape: Landscape) -> str:
    """What the heights say: where the bound is least, or how large the ratio of both sides gets."""
    shown = landscape.height[landscape.inside & np.isfinite(landscape.height)]
    if np.isfinite(landscape.ridge).any():
        return "The bound is least along the line, where the claim puts it."
    high, low = float(shown.max()), float(shown.min())
    if high - low < FLAT:
        return f"Left side over right side is {10**high:.3g} wherever the conditions hold."
    return f"Left side over right side is between {10**low:.2g} and {10**high:.2g} where the conditions hold."


def _levels(axes: Axes, landscape: Landscape, height: Array) -> None:
    heights = height[np.isfinite(height)]
    if heights.max() - heights.min() < 0.05:
        return
    levels = MaxNLocator(LEVELS).tick_values(float(heights.min()), float(heights.max()))
    lines = axes.contour(
        landscape.x, landscape.y, np.ma.masked_invalid(height), levels=levels, colors=INK, linewidths=0.6
    )
    _apart(axes, axes.clabel(lines, fontsize=7, fmt="%g", inline_spacing=2))


def _apart(axes: Axes, labels: Sequence[Text]) -> None:
    """Removes all but one of the labels that would cover each other."""
    across, up = (points * axes.figure.dpi / 72 for points in APART)
    kept: list[tuple[float, float]] = []
    for label in labels:
        x, y = axes.transData.transform(label.get_position())
        if any(abs(x - a) < across and abs(y - b) < up for a, b in kept):
            label.remove()
        else:
            kept.append((x, y))
