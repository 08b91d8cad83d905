"""SVG for a page of hundreds of figures: fewer bytes, the same drawing."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from fedaudit.figures.compact import compact
from fedaudit.figures.style import bundle, new


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
    axes.legend()
    return plain(figure)


def numbers(svg: str) -> list[float]:
    """Every coordinate of every path, in order."""
    return [float(x) for d in re.findall(r' d="([^"]*)"', svg) for x in re.findall(r"-?\d+(?:\.\d+)?", d)]


def test_lines_stay_where_they_are(drawing: str) -> None:
    before, after = numbers(drawing), numbers(compact(drawing))
    assert len(before) == len(after) > 1000
    assert np.allclose(before, after, rtol=0, atol=0.005001)


def test_what_scales_is_not_rounded(drawing: str) -> None:
    scales = [re.findall(r"scale\([^)]*\)", svg) for svg in (drawing, compact(drawing))]
    assert scales[0] == scales[1]
    assert "scale(0.015625)" in scales[0]


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
