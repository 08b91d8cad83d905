"""SVG for a page of hundreds of figures: bounded size, plain characters where formulas would cost too much."""

from __future__ import annotations

import numpy as np
import pytest
from test_figures_convergence import LARGEST

from fedaudit.figures.style.look import bundle, new, save


def test_a_figure_of_noise_is_no_larger_than_it_may_be() -> None:
    figure = new(6.4, 4.8)
    axes = figure.subplots()
    bundle(axes, np.arange(60), np.random.default_rng(0).random((40, 60)), "#7f8c99", "runs")
    saved = save(figure, "svg")
    assert len(saved) <= 2 * LARGEST
    assert saved == save(figure, "svg")


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
