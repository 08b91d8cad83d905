"""One look for all figures: colours that colour-blind readers can tell apart, sizes, axes that fit their data."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import io
import math
import re
import shutil
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from xml.sax.saxutils import escape

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogFormatterMathtext,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import NDArray

from fedaudit.bounds.formulas.greek import in_greek
from fedaudit.errors import UserError

from ..words.mathml import braced

__all__ = [
    "BOUND",
    "COLUMN",
    "INK",
    "LOWER",
    "PAPER",
    "POINTS_PER_INCH",
    "RUNS",
    "TIGHTEST",
    "UPPER",
    "WORST",
    "Fitted",
    "above_axes",
    "as_vectors",
    "broken",
    "bundle",
    "caption",
    "counted",
    "decade",
    "figure_of",
    "floor_y",
    "formula",
    "heading",
    "headline",
    "in_units",
    "log_x",
    "log_y",
    "look",
    "new",
    "pick",
    "positive",
    "save",
    "ticks_x",
    "ticks_y",
    "whole",
    "y_label",
]

Array = NDArray[np.float64]

# Okabe and Ito's palette
RUNS = "#7f8c99"
TIGHTEST = "#0072b2"
BOUND = "#d55e00"
UPPER = "#d55e00"
LOWER = "#009e73"
WORST = "#cc79a7"
INK = "#555555"  # lines that are no data

DPI = 150  # of a PNG
RASTER_DPI = 100  # of what is rasterised inside an SVG
POINTS_PER_INCH = 72
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LOWERED = {raised: plain for plain, raised in RAISED.items()}
RAISED_RUN = re.compile(f"[{''.join(map(chr, LOWERED))}]+")
# What the fonts of TeX do not have as characters, as commands.
COMMANDS = str.maketrans({"×": r"$\times$", "∝": r"$\propto$", "−": "-", "–": "--", "·": r"$\cdot$"})
TITLE, SMALL_PRINT, MEASURED = 10, 7.5, 100  # points; in the last, formulas are measured before they are scaled
LEFT = 0.02  # where titles and captions begin, as a share of the width
PARSER = MathTextParser("path")
MOST = 40  # trajectories drawn at most: more only blacken the picture
RC: dict[str, object] = {
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
    "axes.formatter.useoffset": False,  # a tick says its number
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,  # `new` asks for it
    # Without a salt, the ids inside an SVG are random.
    "svg.hashsalt": "fedaudit",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
}
COLUMN = (3.33, 2.4)  # inches: a column of a paper
TEX = ("pdflatex", "xelatex", "lualatex")  # what measures the texts of a .pgf file
PAPER: dict[str, object] = {
    "font.size": 7,
    "axes.labelsize": 7,
    "axes.linewidth": 0.6,
    "font.family": "serif",
    "mathtext.fontset": "dejavuserif",
}


def look(**more: object) -> AbstractContextManager[None]:
    """Applies the settings under which figures are made and saved, and more; the caller's own stay as they are."""
    return mpl.rc_context(cast(Any, RC | more))


def new(width: float = 6.4, height: float = 4.8) -> Figure:
    """Returns an empty figure; its layout makes room for every label."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def figure_of(axes: Axes) -> Figure:
    """The figure that axes stand in."""
    return cast(Figure, axes.get_figure(root=True))


def save(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg, pdf or pgf file, without a date: the same data give the same bytes."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_locator(NullLocator())  # hundreds of small ticks are a third of the drawing
            if kind != "pgf" and isinstance(axis.get_major_formatter(), LogFormatterMathtext):
                axis.set_major_formatter(FuncFormatter(decade))
    with look():
        if kind == "svg":
            return _vector_graphics(figure).encode()
        if kind == "pgf":
            return _for_latex(figure)
        buffer = io.BytesIO()
        undated: dict[str, None] = {"CreationDate": None} if kind == "pdf" else {}
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=undated)
        return buffer.getvalue()


def _for_latex(figure: Figure) -> bytes:
    """The figure as commands of LaTeX's package pgf, which sets its texts in the paper's own fonts."""
    engine = next(filter(shutil.which, TEX), None)
    if engine is None:
        raise UserError("a .pgf file without LaTeX", f"one of {', '.join(TEX)}", "write a .pdf file")
    buffer = io.BytesIO()
    for text in figure.findobj(Text):
        plain = RAISED_RUN.sub(lambda run: f"$^{{{run[0].translate(LOWERED)}}}$", text.get_text())
        text.set_text(plain.translate(COMMANDS))
    symbols = r"\usepackage{amsmath}\usepackage{amssymb}"
    with look(**{"pgf.texsystem": engine, "pgf.rcfonts": False, "pgf.preamble": symbols}):
        figure.savefig(buffer, format="pgf")
    return rb"\providecommand\mathdefault[1]{#1}" + b"\n" + buffer.getvalue()  # matplotlib's, of ticks


def _vector_graphics(figure: Figure) -> str:
    """The figure as SVG without a background."""
    file = io.StringIO()
    patches = [figure.patch, *(axes.patch for axes in figure.axes)]
    shown = [patch.get_visible() for patch in patches]
    for patch in patches:
        patch.set_visible(False)
    with as_vectors(figure, file) as renderer:
        figure.draw(cast(Any, renderer))  # it passes on what it does not draw itself
        renderer.finalize()
    for patch, visible in zip(patches, shown, strict=True):
        patch.set_visible(visible)
    _, _, conclusion = str(figure.get_label()).partition("\n")
    said = f"</title>\n <desc>{escape(conclusion)}</desc>" if conclusion else "</title>"
    return file.getvalue().replace("</title>", said, 1)


@contextmanager
def as_vectors(figure: Figure, file: io.StringIO) -> Generator[MixedModeRenderer]:
    """Lets one renderer measure every text of a figure for its layout and draw it, as SVG.

    `savefig` would make several, each of which parses every formula again.
    """
    (width, height), dpi, canvas = figure.get_size_inches(), figure.dpi, figure.canvas
    # An SVG is measured in points.
    figure.dpi = POINTS_PER_INCH
    size = (POINTS_PER_INCH * width, POINTS_PER_INCH * height)
    title, _, _ = str(figure.get_label()).partition("\n")
    told = {"Title": title} if title else {}
    vectors = RendererSVG(*size, file, image_dpi=RASTER_DPI, metadata={"Date": None, "Creator": None, **told})
    renderer = MixedModeRenderer(figure, width, height, RASTER_DPI, vectors)
    figure.set_canvas(_Canvas(figure, renderer))
    try:
        yield renderer
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)


class _Canvas(FigureCanvasBase):
    """A canvas with one renderer, which a layout asks for."""

    def __init__(self, figure: Figure, renderer: MixedModeRenderer) -> None:
        super().__init__(figure)
        self.get_renderer = lambda: renderer


def decade(x: float, _: int | None = None) -> str:
    """A tick of a log axis in plain characters, 10⁻³: to set each as a formula takes a third of the time."""
    power = round(math.log10(abs(x))) if x else 0
    if not math.isclose(abs(x), 10.0**power):
        return f"{x:g}".replace("-", "−")
    return f"{'−' if x < 0 else ''}10{str(power).translate(RAISED)}"


def bundle(axes: Axes, x: Array, lines: Array, colour: str, label: str, **kwargs: float) -> LineCollection:
    """Draws many thin lines as one artist; rasterised, so that a page of figures stays small."""
    shown = lines[pick(len(lines))]
    paths = np.stack([np.broadcast_to(x, shown.shape), shown], axis=-1)
    alpha = float(np.clip(15 / max(len(shown), 1), 0.2, 0.6))
    # A line through a single point has no length to be seen.
    if len(x) == 1:
        axes.plot(x, shown.T, ".", color=colour, alpha=alpha, zorder=kwargs.get("zorder", 1))
    collection = LineCollection(list(paths), colors=colour, linewidths=0.7, alpha=alpha, rasterized=True, **kwargs)
    axes.add_collection(collection)
    axes.autoscale_view()
    axes.plot([], [], color=colour, linewidth=1, label=label)
    return collection


def counted(count: int, noun: str) -> str:
    """ "59 runs", or how many of them are drawn."""
    drawn = len(pick(count))
    return f"{drawn} {noun}" if drawn == count else f"{drawn} of {count:,} {noun}"


def whole(axes: Axes) -> None:
    """Places ticks at whole numbers, for rounds and steps are counted."""
    most = round(1.5 * figure_of(axes).get_figwidth())
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most, integer=True, steps=[1, 2, 5, 10]))


@dataclass(frozen=True, slots=True)
class Fitted:
    """LaTeX that mathtext can set: text, font size, and how far it reaches below its line, in points."""

    text: str
    size: float
    depth: float


def formula(latex: str, width: float, sizes: tuple[float, ...] = (9, 8, 7, 6.5)) -> Fitted | None:
    """The formula in the largest of `sizes` at which it is at most `width` inches wide; None if none is."""
    text = f"${braced(latex.strip('$'))}$"
    try:
        typeset = PARSER.parse(text, POINTS_PER_INCH, FontProperties(size=MEASURED))
    except ValueError:  # LaTeX that mathtext does not know
        return None
    for size in sizes:
        scale = size / MEASURED
        if scale * typeset.width <= POINTS_PER_INCH * width:
            return Fitted(text, size, scale * typeset.depth)
    return None


def broken(figure: Figure, text: str, size: float) -> str:
    """The text in lines as wide as the figure allows, from the widths of its words.

    matplotlib's own `wrap` measures a line again with every word that it tries, and by Agg and SVG the lines differ.
    """
    width = (1 - 2 * LEFT) * figure.get_figwidth() * POINTS_PER_INCH / size
    lines: list[str] = []
    for line in text.split("\n"):
        words, left = list[str](), width
        for word in line.split(" "):
            if words and reach(word) > left:
                lines.append(" ".join(words))
                words, left = [], width
            words.append(word)
            left -= reach(word) + reach(" ")
        lines.append(" ".join(words))
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def reach(word: str) -> float:
    """How far plain characters move what comes behind them, in units of the font's size."""
    font = FontProperties(size=MEASURED)
    # Between two letters: alone, a word would be measured by its ink, and a space has none.
    with_word, without = (
        text_to_path.get_text_width_height_descent(x, font, ismath=False)[0] for x in (f"x{word}x", "xx")
    )
    return (with_word - without) / MEASURED


def heading(figure: Figure, text: str, conclusion: str = "") -> None:
    """Writes a title over the figure, in as many lines as it needs, and below it what the picture shows.

    Both are the figure's label too, for those who do not see it.
    """
    said = "\n".join(in_greek(line) for line in (text, conclusion) if line)
    figure.set_label(said)
    figure.suptitle(broken(figure, said, TITLE), fontsize=TITLE, x=LEFT, ha="left")


def headline(figure: Figure, axes: Axes, title: str, relation: str, rows: int = 1, conclusion: str = "") -> None:
    """Writes what is shown, and below it the relation in the paper's symbols if it fits, above a legend of so many
    rows.
    """
    heading(figure, title, conclusion)
    shown = formula(relation, 0.97 * figure.get_figwidth() - 0.7)
    if shown:
        axes.set_title(shown.text, fontsize=shown.size, loc="left", y=1, pad=7 + 13 * rows + shown.depth)


def y_label(axes: Axes, latex: str, unit: str = "", height: float = 2.4) -> None:
    """Labels an axis with the left side in the paper's symbols, and its unit in F (values of the objective) and W
    (lengths).
    """
    shown = formula(latex, height - 0.09 * len(unit))
    axes.set_ylabel(in_units(shown.text if shown else "left side", unit), fontsize=shown.size if shown else 9)


def in_units(label: str, unit: str) -> str:
    """A label with its unit behind it."""
    return f"{label}  [{unit}]" if unit else label


def above_axes(axes: Axes, columns: int, names: Sequence[str] | None = None) -> int:
    """Places the legend above the axes, where it covers nothing, of all that is drawn or of these names; returns how
    many rows it has.
    """
    handles, labels = axes.get_legend_handles_labels()
    told = [n for n, label in enumerate(labels) if names is None or label in names]
    count = len(told)
    axes.legend(
        [handles[n] for n in told],
        [labels[n] for n in told],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        borderaxespad=0.1,
        columnspacing=1.2,
        handlelength=1.6,
    )
    return -(-count // columns)


def ticks_x(axes: Axes) -> None:
    """Labels 1, 2 and 5 of each decade on a log axis with less than two of them, and no minor ticks."""
    if axes.get_xscale() != "log":
        return
    axes.xaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_xlim()
    if low > 0 and high < 100 * low:
        decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        ticks = [x for k in decades for x in (10.0**k, 2 * 10.0**k, 5 * 10.0**k) if low <= x <= high]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{x:g}" for x in ticks]))


def pick(count: int) -> NDArray[np.intp]:
    """Which of `count` lines are drawn: all, or evenly spread ones."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(np.intp))


def log_y(*values: Array) -> bool:
    """Whether a logarithmic axis shows these values better: mostly positive and over more than a decade."""
    flat = np.concatenate([np.ravel(v) for v in values])
    flat = flat[np.isfinite(flat)]
    positive = flat[flat > 0]
    return bool(len(positive) > 0.9 * len(flat) > 0 and positive.max() > 10 * positive.min())


def floor_y(axes: Axes) -> None:
    """Cuts a log axis sixteen decades below the largest value: less than that is rounding."""
    if axes.get_yscale() != "log":
        return
    drawn = [float(y) for line in axes.get_lines() for y in np.ravel(np.asarray(line.get_ydata(), dtype=float))]
    drawn += [float(y) for c in axes.collections for path in c.get_paths() for y in np.asarray(path.vertices)[:, 1]]
    usable = [y for y in drawn if np.isfinite(y) and y > 0]
    if usable:
        top = max(usable)
        low = max(min(usable), top * 1e-16)
        pad = (top / low) ** 0.05 * 1.1
        axes.set_ylim(low / pad, top * pad)


def ticks_y(axes: Axes) -> None:
    """Labels on a log axis once its limits are set: decades, and over fewer than two of them also 2 and 5 of each.

    What a linear axis takes out of its labels stands left of it, where no legend is.
    """
    if axes.get_yscale() != "log":
        factor = axes.yaxis.get_offset_text()
        factor.set_horizontalalignment("right")
        factor.set_x(-0.01)
        return
    low, high = axes.get_ylim()
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [y for k in decades for y in (10.0**k, 2 * 10.0**k, 5 * 10.0**k) if low <= y <= high]
    if len(ticks) < 2:
        return
    axes.yaxis.set_minor_formatter(NullFormatter())
    if high < 100 * low:
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_major_formatter(FixedFormatter([f"{y:g}" for y in ticks]))


def log_x(x: Array) -> bool:
    """Whether x takes a logarithmic axis: long runs do, and few counts that grow fast."""
    return bool(len(x) > 1 and x[-1] > (1000 if len(x) > 12 else 30 * max(x[0], 1)))


def positive(values: Array) -> Array:
    """Values for a logarithmic axis: zero and below leave a gap, and so does what underflows when limits are padded."""
    return np.where(values > 1e-250, values, np.nan)


def caption(figure: Figure, text: str) -> None:
    """Writes small print below everything else, in as many lines as it needs."""
    unbroken = re.sub(r" ([=<>≤≥]) ", "\u00a0\\1\u00a0", in_greek(text))  # no line break inside "t = 0"
    if text:
        lines = broken(figure, unbroken, SMALL_PRINT)
        figure.supxlabel(lines, fontsize=SMALL_PRINT, color=INK, x=LEFT, ha="left")
