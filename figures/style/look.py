"""One look for all figures: colours that colour-blind readers can tell apart, sizes, axes that fit their data."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

import io
import re
from bisect import bisect
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib import text as texts
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import LoadFlags
from matplotlib.mathtext import MathTextParser
from matplotlib.textpath import TextToPath
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    Formatter,
    LogFormatterMathtext,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import NDArray

from fedaudit.bounds.formulas.greek import in_greek

from ..words.mathml import braced
from .compact_svg import compact, placed

__all__ = [
    "BOUND",
    "INK",
    "LOWER",
    "RUNS",
    "TIGHTEST",
    "UPPER",
    "WORST",
    "Formula",
    "above_axes",
    "bundle",
    "caption",
    "counted",
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

DPI = 150
RASTER_DPI = (100, 80, 64, 50)  # of what is rasterised inside an SVG, until it is no larger than this
LARGEST = 60_000  # bytes
POWER = re.compile(r"\$\\mathdefault\{(-?\d+)(?:\^\{(-?\d+)\})?\}\$")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TEXT = re.compile(r'<use xlink:href="#(text\d+)"/>')
TITLE, SMALL_PRINT = 10, 7.5  # points
KERNED = 1.0  # points by which words that stand side by side may be narrower than each on its own
PARSER = MathTextParser("path")
TEXTS = 4096  # that are remembered
LAYOUT = "_layout"  # how a font of matplotlib 3.11 places the glyphs of a text
LINES = (
    "_get_font_height_metrics"  # what matplotlib 3.11 asks a renderer, before it reads a font's tables for every text
)
MOST = 40  # trajectories drawn at most: more only blacken the picture
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
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,  # `new` asks for it
    "svg.hashsalt": "fedaudit",
    "svg.fonttype": "path",
}


def look() -> AbstractContextManager[None]:
    """The settings under which figures are made and saved; the caller's own stay as they are."""
    return mpl.rc_context(cast(Any, RC))


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A text of one line in its font: the glyphs at their places, and how far it reaches across, up and down."""

    markup: str
    outlines: Mapping[str, Any]
    width: float
    top: float
    bottom: float


class Measured(TextToPath):
    """Sizes and glyphs of texts, each found once: of matplotlib's renderers, several per file, each forgets."""

    def __init__(self) -> None:
        super().__init__()
        self.mathtext_parser = PARSER
        self.sizes: dict[tuple[str, int, bool], tuple[float, float, float]] = {}
        self.laid: dict[tuple[str, str], Laid] = {}
        self.drawn: dict[str, str] = {}  # of one drawing: a name that stands for a text -> its markup
        self.glyphs: dict[tuple[Any, int], tuple[str, Any, Any]] = {}  # font, number -> name, outline, extent
        self.lines: dict[int, tuple[float, float, float] | tuple[None, None, None]] = {}

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        key = s, hash(prop), bool(ismath)
        if key not in self.sizes:
            if len(self.sizes) >= TEXTS:
                self.sizes.clear()
            self.sizes[key] = self._size(s, prop, ismath)
        return self.sizes[key]

    def _size(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        font = None if ismath else cast(Any, self)._get_font(prop)
        if not hasattr(font, LAYOUT):
            return super().get_text_width_height_descent(s, prop, ismath)
        laid, scale = self.lay(font, s), prop.get_size_in_points() / self.FONT_SCALE
        return laid.width * scale, (laid.top - laid.bottom) * scale, -laid.bottom * scale

    def line(self, prop: FontProperties) -> tuple[float, float, float] | tuple[None, None, None]:
        """How far a line of a font reaches up and down, and its gap to the next, in points; from the font's tables."""
        key = hash(prop)
        if key not in self.lines:
            self.lines[key] = _line(cast(Any, self)._get_font(prop), prop.get_size_in_points())
        return self.lines[key]

    def get_glyphs_with_font(
        self, font: Any, s: str, glyph_map: Any = None, return_new_glyphs_only: bool = False, **how: Any
    ) -> tuple[Any, Any, Any]:
        """For a drawing that writes outlines once: a name in place of all glyphs, which `written` gives back."""
        if not hasattr(font, LAYOUT) or any(how.values()) or not return_new_glyphs_only or glyph_map is None:
            return cast(Any, super()).get_glyphs_with_font(font, s, glyph_map, return_new_glyphs_only, **how)
        laid, name = self.lay(font, s), f"text{len(self.drawn)}"
        self.drawn[name] = laid.markup
        return (
            [(name, 0.0, 0.0, 1.0)],
            {name: outline for name, outline in laid.outlines.items() if name not in glyph_map},
            [],
        )

    def written(self, svg: str) -> str:
        """A drawing with its texts."""
        texts, self.drawn = self.drawn, {}
        return TEXT.sub(lambda match: texts[match[1]], svg)

    def lay(self, font: Any, s: str) -> Laid:
        """A text in a font of the size in which all texts are set; each glyph of it is read once."""
        key = font.fname, s
        if key not in self.laid:
            if len(self.laid) >= TEXTS:
                self.laid.clear()
            self.laid[key] = self._lay(font, s)
        return self.laid[key]

    def _lay(self, font: Any, s: str) -> Laid:
        markup: list[str] = []
        outlines: dict[str, Any] = {}
        width, tops, bottoms = 0.0, list[float](), list[float]()
        for item in getattr(font, LAYOUT)(s, LoadFlags.NO_HINTING, features=None, language=None):
            name, outline, glyph = self._glyph(item.ft_object, item.glyph_index)
            markup.append(placed(name, item.x, item.y))
            outlines[name] = outline
            width = item.x + glyph.horiAdvance / 64  # what it takes up, the room behind its last glyph included
            bottoms.append(item.y + glyph.bbox[1] / 64)
            tops.append(item.y + glyph.bbox[3] / 64)
        return Laid("".join(markup), outlines, width, max(tops, default=0.0), min(bottoms, default=0.0))

    def _glyph(self, font: Any, number: int) -> tuple[str, Any, Any]:
        key = font, number
        if key not in self.glyphs:
            glyph = font.load_glyph(number, flags=LoadFlags.NO_HINTING)
            self.glyphs[key] = cast(Any, self)._get_glyph_repr(font, number), font.get_path(), glyph
        return self.glyphs[key]


def _line(font: Any, size: float) -> tuple[float, float, float] | tuple[None, None, None]:
    for name, gap, up, down in (
        ("OS/2", "sTypoLineGap", "sTypoAscender", "sTypoDescender"),
        ("hhea", "lineGap", "ascent", "descent"),
    ):
        table = font.get_sfnt_table(name)
        if table is not None:
            scale = 1 / font.get_sfnt_table("head")["unitsPerEm"] * size
            return table[up] * scale, -table[down] * scale, table[gap] * scale
    return None, None, None


def _families() -> tuple[str, ...]:
    """The fonts of texts, which a caller's own settings choose."""
    return (*mpl.rcParams["font.family"], *mpl.rcParams["font.sans-serif"])


@lru_cache(maxsize=4)
def _measured(families: tuple[str, ...]) -> Measured:
    """One for every choice of fonts."""
    del families
    return Measured()


@contextmanager
def measured_once() -> Generator[Measured]:
    """Every text is measured and every formula set once per process, not once per renderer."""
    sizes = _measured(_families())
    theirs, module, renderer = texts.TextToPath, cast(Any, texts), cast(Any, RendererSVG)
    module.TextToPath = lambda: sizes
    asked = not hasattr(renderer, LINES)

    def line(_: object, prop: FontProperties) -> object:
        return sizes.line(prop)

    if asked:
        setattr(renderer, LINES, line)
    try:
        yield sizes
    finally:
        module.TextToPath = theirs
        if asked:
            delattr(renderer, LINES)


def new(width: float = 6.4, height: float = 4.8) -> Figure:
    """An empty figure; its layout makes room for every label."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def save(figure: Figure, kind: str) -> bytes:
    """The bytes of a file; no date inside, so that the same data give the same bytes."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_locator(NullLocator())  # hundreds of small ticks are a third of the drawing
            if isinstance(labels := axis.get_major_formatter(), LogFormatterMathtext):
                axis.set_major_formatter(Decades(labels))
    if kind != "svg":
        return _saved(figure, kind, DPI)
    small = b""
    with arranged(figure):
        for dpi in RASTER_DPI:
            small = compact(_saved(figure, kind, dpi).decode()).encode()
            if len(small) <= LARGEST:
                break
    return small


@contextmanager
def arranged(figure: Figure) -> Generator[None]:
    """Every label has its room inside: what `savefig` finds by a drawing before the one that it writes."""
    engine, canvas, dpi = figure.get_layout_engine(), figure.canvas, figure.dpi
    if engine is None:
        yield
        return
    try:
        FigureCanvasSVG(figure)  # whose measures count, in points
        figure.dpi = 72
        with look(), measured_once():
            engine.execute(figure)
            figure.set_layout_engine(None)
        figure.set_canvas(canvas)
        figure.dpi = dpi
        yield
    finally:
        figure.set_canvas(canvas)
        figure.dpi = dpi
        figure.set_layout_engine(engine)


class Decades(Formatter):
    """Labels of a log axis in plain characters, 10⁻³: to set each as a formula takes a third of the drawing."""

    def __init__(self, inner: LogFormatterMathtext) -> None:
        self.inner = inner

    def set_axis(self, axis: Any) -> None:
        super().set_axis(axis)
        self.inner.set_axis(axis)

    def set_locs(self, locs: Any) -> None:
        self.inner.set_locs(locs)

    def __call__(self, x: float, pos: int | None = None) -> str:
        said = self.inner(x, pos)
        found = POWER.fullmatch(said)
        return said if found is None else found[1].replace("-", "−") + (found[2] or "").translate(RAISED)


def _saved(figure: Figure, kind: str, dpi: int) -> bytes:
    stamp = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    buffer = io.BytesIO()
    with look(), measured_once() as texts:
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=stamp, transparent=kind == "svg")
    return texts.written(buffer.getvalue().decode()).encode() if kind == "svg" else buffer.getvalue()


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
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


@dataclass(frozen=True, slots=True)
class Formula:
    """LaTeX that mathtext can set: text, font size, and how far it reaches below its line, in points."""

    text: str
    size: float
    depth: float


def formula(latex: str, width: float, sizes: tuple[float, ...] = (9, 8, 7, 6.5)) -> Formula | None:
    """The formula in the largest of `sizes` at which it is at most `width` inches wide; None if none is."""
    text = f"${braced(latex.strip('$'))}$"
    try:
        made = PARSER.parse(text, 72, FontProperties(size=Measured.FONT_SCALE))  # as it is parsed where it is drawn
    except ValueError:  # LaTeX that mathtext does not know
        return None
    for size in sizes:
        scale = size / Measured.FONT_SCALE
        if scale * made.width <= 72 * width:
            return Formula(text, size, scale * made.depth)
    return None


def heading(figure: Figure, text: str) -> None:
    """A title in one line or two, each as wide as the figure at most; what is longer still is cut."""
    room, words, lines = 0.96 * 72 * figure.get_figwidth(), in_greek(text).split(), list[str]()
    while words and len(lines) < 2:
        end = "" if not lines or _fitting(words, room) == len(words) else " …"
        count = _fitting(words, room, end)
        lines.append(" ".join(words[:count]) + end)
        words = words[count:]
    figure.suptitle("\n".join(lines), fontsize=TITLE, x=0.02, ha="left")


def _fitting(words: Sequence[str], room: float, end: str = "", size: float = TITLE) -> int:
    """How many words, at least one, fit into so many points: nearly as many as their own widths say."""
    font, measured = FontProperties(size=size), _measured(_families()).get_text_width_height_descent
    space, last = (measured(text, font, False)[0] for text in (" ", end))
    ends = list(accumulate((measured(word, font, False)[0] + space for word in words), initial=last - space))[1:]
    count = max(1, bisect(ends, room + KERNED))
    while count > 1 and measured(" ".join(words[:count]) + end, font, False)[0] > room:
        count -= 1
    return count


def headline(figure: Figure, axes: Axes, title: str, relation: str, rows: int = 1) -> None:
    """What is shown, and below it the relation in the paper's symbols if it fits, above a legend of so many rows."""
    heading(figure, title)
    shown = formula(relation, 0.97 * figure.get_figwidth() - 0.7)
    if shown:
        axes.set_title(shown.text, fontsize=shown.size, loc="left", y=1, pad=7 + 13 * rows + shown.depth)


def y_label(axes: Axes, latex: str, unit: str = "", height: float = 2.4) -> None:
    """The left side in the paper's symbols, and its unit in F (values of the objective) and W (lengths)."""
    shown = formula(latex, height - 0.09 * len(unit))
    axes.set_ylabel(in_units(shown.text if shown else "left side", unit), fontsize=shown.size if shown else 9)


def in_units(label: str, unit: str) -> str:
    """A label with its unit behind it."""
    return f"{label}  [{unit}]" if unit else label


def above_axes(axes: Axes, columns: int) -> int:
    """The legend above the axes, where it covers nothing; how many rows it has."""
    count = len(axes.get_legend_handles_labels()[0])
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.1, columnspacing=1.2, handlelength=1.6
    )
    return -(-count // columns)


def ticks_x(axes: Axes) -> None:
    """Of a log axis with less than two decades, 1, 2 and 5 of each; no minor labels."""
    if axes.get_xscale() != "log":
        return
    axes.xaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_xlim()
    if low > 0 and high < 100 * low:
        decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        seen = [x for k in decades for x in (10.0**k, 2 * 10.0**k, 5 * 10.0**k) if low <= x <= high]
        axes.xaxis.set_major_locator(FixedLocator(seen))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{x:g}" for x in seen]))


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
    """On a log axis, no more than sixteen decades below the largest value: less than that is rounding."""
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
    seen = [y for k in decades for y in (10.0**k, 2 * 10.0**k, 5 * 10.0**k) if low <= y <= high]
    if len(seen) < 2:
        return
    axes.yaxis.set_minor_formatter(NullFormatter())
    if high < 100 * low:
        axes.yaxis.set_major_locator(FixedLocator(seen))
        axes.yaxis.set_major_formatter(FixedFormatter([f"{y:g}" for y in seen]))


def log_x(x: Array) -> bool:
    """A logarithmic axis over long runs, and over few counts that grow fast."""
    return bool(len(x) > 1 and x[-1] > (1000 if len(x) > 12 else 30 * max(x[0], 1)))


def positive(values: Array) -> Array:
    """Values for a logarithmic axis: zero and below leave a gap, and so does what underflows when limits are padded."""
    return np.where(values > 1e-250, values, np.nan)


def caption(figure: Figure, text: str) -> None:
    """Lines below everything else, as wide as the figure."""
    if not text:
        return
    kept = re.sub(r" ([=<>≤≥]) ", "\u00a0\\1\u00a0", in_greek(text))  # no line break inside "t = 0"
    room, words, lines = 0.95 * 72 * figure.get_figwidth(), kept.split(" "), list[str]()
    while words:
        count = _fitting(words, room, size=SMALL_PRINT)
        lines.append(" ".join(words[:count]))
        words = words[count:]
    figure.supxlabel("\n".join(lines), fontsize=SMALL_PRINT, color="#555555", x=0.02, ha="left")
