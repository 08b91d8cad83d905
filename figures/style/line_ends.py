"""Names of lines at their right ends, where a reader looks for them, and the gap between two of them."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from .look import INK, POINTS_PER_INCH, decade, figure_of

__all__ = ["End", "label_ends", "show_gap", "times"]

LEADING, ROOM = 1.3, 0.72  # of a text's size; of a figure's height, what is left to axes beside titles and captions
BESIDE, MOVED = (
    0.018,
    0.012,
)  # of the width, where a name begins; of the height, from where on a leader shows whose it is
SIZE = 8  # points
NARROW = 0.12  # of the height of the axes: a smaller gap has its number above it
SEEN = 1.5  # times: a smaller gap is told by the axis


@dataclass(frozen=True, slots=True)
class End:
    """The name of a line, the height at which it ends, and its colour."""

    text: str
    y: float
    colour: str


def label_ends(axes: Axes, ends: Sequence[End], size: float = SIZE) -> None:
    """Writes each name beside the end of its line, apart from the others; axes are not scaled any more after that."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    axes.set_xlim(axes.get_xlim())
    to_axes = axes.transData + axes.transAxes.inverted()
    x = axes.get_xlim()[1]
    wanted = sorted(
        ((min(max(float(to_axes.transform((x, one.y))[1]), 0.0), 1.0), one) for one in ends if math.isfinite(one.y)),
        key=lambda place: place[0],
    )
    line = LEADING * size / (POINTS_PER_INCH * ROOM * axes.get_position().height * figure_of(axes).get_figheight())
    heights = [line * (1 + one.text.count("\n")) for _, one in wanted]
    for (at, one), height in zip(wanted, _apart([at for at, _ in wanted], heights), strict=True):
        if abs(at - height) > MOVED:
            leader = Line2D(
                [1, 1 + BESIDE], [at, height], color=one.colour, lw=0.6, transform=axes.transAxes, clip_on=False
            )
            axes.add_artist(leader)
        axes.text(
            1 + 1.3 * BESIDE, height, one.text, color=one.colour, fontsize=size, transform=axes.transAxes,
            va="center", ha="left", linespacing=1.05,
        )  # fmt: skip


def _apart(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Places (centres) near those that are wanted, in order, at most 1, so that texts of such heights do not touch."""
    places = list(wanted)
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + (heights[n] + heights[n - 1]) / 2)
    top = 1.0 + heights[-1] / 2 if heights else 1.0
    for n in range(len(places) - 1, -1, -1):
        places[n] = min(places[n], top - heights[n] / 2)
        top = places[n] - heights[n] / 2
    return places


def times(gap: float) -> str:
    """How many times, as it is written at a gap: "3.2", "10⁹"."""
    return decade(10.0 ** round(math.log10(gap))) if gap >= 1000 else f"{float(f'{gap:.2g}'):g}"


def show_gap(axes: Axes, x: float, low: float, high: float, size: float = SIZE) -> None:
    """Draws how many times one line ends above another, if that is more than the eye reads from the axis."""
    if not (0 < low < high < math.inf) or high < SEEN * low:
        return
    ends = {"arrowstyle": "<->", "color": INK, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (x, low), (x, high), arrowprops=ends)
    to_axes = axes.transData + axes.transAxes.inverted()
    narrow = float(to_axes.transform((x, high))[1] - to_axes.transform((x, low))[1]) < NARROW
    at, beside, across = (high, (0, 4), "bottom") if narrow else (math.sqrt(low * high), (-5, 0), "center")
    axes.annotate(
        f"{times(high / low)} ×", (x, at), beside, textcoords="offset points", ha="right", va=across, color=INK,
        fontsize=size,
    )  # fmt: skip
