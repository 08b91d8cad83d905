"""SVG for a page of hundreds of figures: fewer bytes, the same drawing."""

from __future__ import annotations

import base64
import gc
import io
import re
from typing import Any, cast
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import text
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from PIL import Image

from fedaudit.figures import drawn, image
from fedaudit.figures.style.compact_svg import compact, relative
from fedaudit.figures.style.look import DPI, LARGEST, LINES, bundle, look, measured_once, new, save


def plain(figure: Figure) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return out.getvalue().decode()


@pytest.fixture(scope="module")
def drawing() -> str:
    figure = new(6, 4)
    axes = figure.subplots()
    rng = np.random.default_rng(0)
    bundle(axes, np.arange(60), rng.random((80, 60)).cumsum(axis=1), "#d55e00", "80 runs")
    axes.set_title(r"$\|\bar w_t - w_\star\|^2 \leq \frac{\Delta}{t + 1}$: a title")
    axes.set_xlabel("in small print", fontsize=7.5)
    axes.legend()
    return plain(figure)


SIZES = {"m": 2, "l": 2, "q": 4, "c": 6, "h": 1, "v": 1, "z": 0}


def points(path: str) -> list[tuple[float, float]]:
    """Every point of a path as an absolute one, whichever way it is written."""
    pieces = re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?", path)
    found, here, first, command, at = [], (0.0, 0.0), (0.0, 0.0), "", 0
    while at < len(pieces):
        if pieces[at].isalpha():
            command, at = pieces[at], at + 1
        count = SIZES[command.lower()]
        values, at = [float(x) for x in pieces[at : at + count]], at + count
        away = here if command.islower() else (0.0, 0.0)
        if command in "hv":
            pairs = [(values[0], 0.0) if command == "h" else (0.0, values[0])]
        else:
            pairs = list(zip(values[::2], values[1::2], strict=True))
        found += [(x + away[0], y + away[1]) for x, y in pairs]
        here = found[-1] if pairs else first
        first = here if command in "mM" else first
    return found


def numbers(svg: str) -> list[float]:
    """Every coordinate of every path, in order."""
    return [x for d in re.findall(r' d="([^"]*)"', svg) for point in points(d) for x in point]


def test_lines_stay_where_they_are(drawing: str) -> None:
    before, after = numbers(drawing), numbers(compact(drawing))
    assert len(before) == len(after) > 1000
    assert np.allclose(before, after, rtol=0, atol=0.005001)


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 1 2 L 3 2 L 3 -1 z ", "m1 2h2v-3z"),
        ("M 0 0 L 0.5 -0.25 L 1 1 L 4 2", "m0 0l.5-.25 .5 1.25 3 1"),
        ("M 1 1 z M 5 5 Q 6 6 7 5 C 1 2 3 4 5 6", "m1 1zm4 4q1 1 2 0c-6-3-4-1-2 1"),
        ("M 10 10 L 10 10", "m10 10v0"),
        ("", ""),
        ("M 1 1 A 1 1 0 0 0 2 2", "M 1 1 A 1 1 0 0 0 2 2"),
    ],
)
def test_paths_go_from_point_to_point(path: str, short: str) -> None:
    assert relative(path) == short


def test_a_long_path_does_not_drift() -> None:
    rng = np.random.default_rng(0)
    line = rng.random((5000, 2)).cumsum(axis=0) / 7
    path = "M " + " L ".join(f"{x:.6f} {y:.6f}" for x, y in line)
    assert np.allclose(points(relative(path)), line, rtol=0, atol=0.005001)


def styles(svg: str) -> list[tuple[str, str]]:
    """Every drawn element with its style, whether it stands there or in the sheet."""
    root = ElementTree.fromstring(svg)
    sheet = "".join(node.text or "" for node in root.iter() if node.tag.endswith("style"))
    rules = dict(re.findall(r"\.(\w+)\{([^}]*)\}", sheet))
    drawn = [node for node in root.iter() if node.tag.rpartition("}")[2] in ("path", "rect", "image")]
    said = [node.get("style") or rules.get(node.get("class", ""), "") for node in drawn]
    return [(node.tag, re.sub(r"\s", "", style).rstrip(";")) for node, style in zip(drawn, said, strict=True)]


def test_every_line_keeps_its_style(drawing: str) -> None:
    assert styles(compact(drawing)) == styles(drawing)


def test_what_scales_is_not_rounded(drawing: str) -> None:
    scales = [re.findall(r"scale\([^)]*\)", svg) for svg in (drawing, compact(drawing))]
    assert scales[0] == scales[1]
    assert {"scale(0.015625)", "scale(0.075 -0.075)"} <= set(scales[0])


def test_every_reference_finds_its_name_once(drawing: str) -> None:
    root = ElementTree.fromstring(compact(drawing))
    names = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(names) == len(set(names))
    text = compact(drawing)
    used = {*re.findall(r'href="#(\w+)"', text), *re.findall(r"url\(#(\w+)\)", text)}
    assert used == set(names)
    assert len(re.findall("<use", text)) == len(re.findall("<use", drawing))


def test_pictures_look_the_same(drawing: str) -> None:
    def pictures(svg: str) -> list[np.ndarray]:
        encoded = re.findall(r'base64,([^"]*)"', svg)
        return [np.asarray(Image.open(io.BytesIO(base64.b64decode(one))).convert("RGBA"), float) for one in encoded]

    before, after = pictures(drawing), pictures(compact(drawing))
    assert [one.shape for one in before] == [one.shape for one in after] != []
    for a, b in zip(before, after, strict=True):
        assert np.abs(a[..., 3] - b[..., 3]).mean() < 8  # of 255


def test_it_is_smaller_and_done_once(drawing: str) -> None:
    once = compact(drawing)
    assert len(once) < len(drawing) / 2
    assert compact(drawing) == once


def test_a_drawing_without_pictures_is_fine() -> None:
    figure = new(3, 2)
    figure.subplots().plot([0, 1], [0, 1])
    drawing = plain(figure)
    assert ElementTree.fromstring(compact(drawing)) is not None
    assert np.allclose(numbers(drawing), numbers(compact(drawing)), rtol=0, atol=0.005001)


@pytest.mark.parametrize("noisy", [False, True])
def test_a_figure_is_no_larger_than_it_may_be(noisy: bool) -> None:
    figure = new(6.4, 4.8)
    axes = figure.subplots()
    lines = np.random.default_rng(0).random((40, 60)) if noisy else np.ones((2, 60))
    bundle(axes, np.arange(lines.shape[1]), lines, "#7f8c99", "runs")
    saved = save(figure, "svg")
    assert len(saved) <= LARGEST
    assert saved == save(figure, "svg")
    (picture,) = re.findall(rb'base64,([^"]*)"', saved)
    width = Image.open(io.BytesIO(base64.b64decode(picture))).width
    assert (width < 500) == noisy  # coarser, but only where it has to be


@pytest.mark.parametrize("scale", ["log", "symlog"])
def test_decades_are_plain_characters(scale: str) -> None:
    figure = new(3, 2)
    axes = figure.subplots()
    axes.plot([1e-4, 1, 1e12], [-1e6, 0, 1e6])
    axes.set_xscale("log")
    axes.set_yscale(scale if scale == "symlog" else "linear")
    save(figure, "svg")
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert {"10⁻⁴", "10⁰", "10¹²"} <= set(labels)
    if scale == "symlog":
        assert {"−10⁶", "0", "10⁶"} <= {label.get_text() for label in axes.get_yticklabels()}


def labelled() -> Figure:
    with look():
        figure = new(5, 4)
        above, below = figure.subplots(2, 1, sharex=True)
        for axes in (above, below):
            axes.plot([1, 30, 900], [1e-9, 1.0, 1e5], label="runs")
            axes.set_yscale("log")
            axes.set_ylabel(r"$\|\bar w_t - w_\star\|^2$")
        above.set_title(r"$x \leq \frac{\Delta}{t + 1}$", loc="left", y=1, pad=20)
        figure.suptitle("a title\nof two lines")
        figure.supxlabel("what is below")
    return figure


def test_a_figure_is_drawn_as_matplotlib_would_arrange_it() -> None:
    figure = labelled()
    engine, canvas = figure.get_layout_engine(), figure.canvas
    drawn = save(figure, "svg").decode()
    assert (figure.get_layout_engine(), figure.canvas, figure.dpi) == (engine, canvas, DPI)
    with look():
        assert drawn == compact(plain(figure))
    again = labelled()
    again.set_layout_engine("none")
    assert save(again, "svg").decode() != drawn


@pytest.mark.parametrize("words", ["lhs / rhs", r"$\frac{\Delta}{t}$"])
def test_texts_are_measured_as_matplotlib_does(words: str) -> None:
    math = words.startswith("$")
    for family in ("DejaVu Sans", "DejaVu Sans Mono"):  # the fonts of a caller's own settings
        with mpl.rc_context({"font.sans-serif": [family]}):
            font = FontProperties(size=9)
            measured = TextToPath().get_text_width_height_descent(words, font, math)
            for _ in range(2):
                with measured_once():
                    assert text.TextToPath().get_text_width_height_descent(words, font, math) == measured
    assert text.TextToPath is TextToPath


@pytest.mark.parametrize("words", ["10⁻³", "office", ""])
def test_glyphs_are_those_of_matplotlib(words: str) -> None:
    font, theirs = FontProperties(size=9), cast(Any, TextToPath())
    known: dict[str, Any] = {}
    for _ in range(3):  # of a drawing that has none of them yet, and the first one, and the first two
        places, outlines, lines = theirs.get_glyphs_with_font(theirs._get_font(font), words, known, True)
        with measured_once() as ours:
            (found,), ours_outlines, ours_lines = ours.get_glyphs_with_font(
                cast(Any, ours)._get_font(font), words, known, True
            )
            written = ours.written(f'<use xlink:href="#{found[0]}"/>')
        assert (list(ours_outlines), ours_lines) == (list(outlines), lines)
        names = re.findall(r'"#([^"]*)"(?: x="([^"]*)")?(?: y="([^"]*)")?/>', written)
        assert [name for name, *_ in names] == [name for name, *_ in places]
        assert [float(x or 0) for _, x, _ in names] == pytest.approx([x for _, x, *_ in places], abs=0.051)
        assert [float(y or 0) for *_, y in names] == pytest.approx([y for _, _, y, _ in places], abs=0.051)
        for name, (vertices, codes) in ours_outlines.items():
            assert np.array_equal(vertices, outlines[name][0])
            assert np.array_equal(codes, outlines[name][1])
        known = {**known, **dict(list(outlines.items())[:1])}


@pytest.mark.parametrize("size", [7.5, 9, 10])
def test_lines_are_as_high_as_their_font_says(size: float) -> None:
    """As `test_a_figure_is_drawn_as_matplotlib_would_arrange_it`, which sees titles of two lines."""
    font = FontProperties(size=size)
    with measured_once() as ours:
        up, down, gap = ours.line(font)
        assert hasattr(RendererSVG, LINES)
    assert not hasattr(RendererSVG, LINES)
    font = cast(Any, ours)._get_font(font)
    tables, unit = font.get_sfnt_table("OS/2"), font.get_sfnt_table("head")["unitsPerEm"] / size
    said = [tables[name] / unit for name in ("sTypoAscender", "sTypoDescender", "sTypoLineGap")]
    assert [up, down, gap] == pytest.approx([said[0], -said[1], said[2]])


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_searched_for_as_before(collects: bool) -> None:
    (gc.enable if collects else gc.disable)()
    try:
        image(labelled(), "svg")
        assert gc.isenabled() == collects
        with pytest.raises(KeyError):
            image(labelled(), "bmp")
        assert gc.isenabled() == collects
        with pytest.raises(AttributeError):
            drawn(cast(Any, None))
        assert gc.isenabled() == collects
    finally:
        gc.enable()
