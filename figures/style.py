"""One look for all figures: colours that colour-blind readers can tell apart, sizes, axes that fit their data."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import io
import textwrap
from contextlib import AbstractContextManager
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

__all__ = [
    "BOUND",
    "LOWER",
    "RUNS",
    "TIGHTEST",
    "UPPER",
    "bundle",
    "caption",
    "counted",
    "log_x",
    "log_y",
    "look",
    "new",
    "pick",
    "positive",
    "save",
    "whole",
]

Array = NDArray[np.float64]

# Okabe and Ito's palette
RUNS = "#7f8c99"
TIGHTEST = "#0072b2"
BOUND = "#d55e00"
UPPER = "#d55e00"
LOWER = "#009e73"

DPI = 150
MOST = 120  # trajectories drawn at most: more only blacken the picture
RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#8a8a8a",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "mathtext.fontset": "dejavusans",
    "svg.hashsalt": "fedaudit",
    "svg.fonttype": "path",
}


def look() -> AbstractContextManager[None]:
    """The settings under which figures are made and saved; the caller's own stay as they are."""
    return mpl.rc_context(cast(Any, RC))


def new(width: float = 6.4, height: float = 4.8) -> Figure:
    """An empty figure; its layout makes room for every label."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def save(figure: Figure, kind: str) -> bytes:
    """The bytes of a file; no date inside, so that the same data give the same bytes."""
    stamp = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    buffer = io.BytesIO()
    with look():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=stamp, transparent=kind == "svg")
    return buffer.getvalue()


def bundle(axes: Axes, x: Array, lines: Array, colour: str, label: str, **kwargs: Any) -> LineCollection:
    """Many thin lines as one artist; rasterised, so that a page of figures stays small."""
    shown = lines[pick(len(lines))]
    paths = np.stack([np.broadcast_to(x, shown.shape), shown], axis=-1)
    alpha = float(np.clip(15 / max(len(shown), 1), 0.2, 0.6))
    if len(x) == 1:
        axes.plot(x, shown.T, ".", color=colour, alpha=alpha, zorder=kwargs.get("zorder", 1))
    made = LineCollection(list(paths), colors=colour, linewidths=0.7, alpha=alpha, rasterized=True, **kwargs)
    axes.add_collection(made)
    axes.autoscale_view()
    axes.plot([], [], color=colour, linewidth=1, label=label)
    return made


def counted(count: int, noun: str) -> str:
    """ "59 runs", or how many of them are drawn."""
    drawn = len(pick(count))
    return f"{drawn} {noun}" if drawn == count else f"{drawn} of {count:,} {noun}"


def whole(axes: Axes) -> None:
    """Rounds and steps are counted: ticks at whole numbers."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def pick(count: int) -> NDArray[np.intp]:
    """Which of `count` lines are drawn: all, or evenly spread ones."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(np.intp))


def log_y(*values: Array) -> bool:
    """Whether a logarithmic axis shows these values better: mostly positive and over more than a decade."""
    flat = np.concatenate([np.ravel(v) for v in values])
    flat = flat[np.isfinite(flat)]
    positive = flat[flat > 0]
    return bool(len(positive) > 0.9 * len(flat) > 0 and positive.max() > 10 * positive.min())


def log_x(x: Array) -> bool:
    """A logarithmic t axis over long runs only."""
    return bool(len(x) > 200 and x[-1] > 1000)


def positive(values: Array) -> Array:
    """Values for a logarithmic axis: zero and below leave a gap, and so does what underflows when limits are padded."""
    return np.where(values > 1e-250, values, np.nan)


def caption(figure: Figure, text: str) -> None:
    """One or two lines below everything else."""
    if text:
        figure.supxlabel(textwrap.fill(text, 105), fontsize=7.5, color="#555555", x=0.02, ha="left")
