"""Figures show the data that went in, in the paper's symbols, and no text lies on another."""

import io
import math
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from marks import slow, some
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.text import Text

from fedaudit.bounds.catalogue.discovery import statement, statements
from fedaudit.errors import UserError
from fedaudit.figures.drawing import draw, image, svg
from fedaudit.figures.kinds import convergence, two_group
from fedaudit.figures.style.line_ends import End, label_ends
from fedaudit.figures.style.look import (
    LEFT,
    MOST,
    as_vectors,
    broken,
    caption,
    counted,
    formula,
    heading,
    log_x,
    log_y,
    new,
    pick,
    ticks_y,
)
from fedaudit.figures.words.mathml import braced
from fedaudit.verify.pictures.curves import Cloud, Crossing, Curves, Landscape, Rate, picture
from fedaudit.verify.pictures.curves import curves as of

LARGEST = 150_000  # bytes of an SVG, whose letters are outlines


def curves(n=40, rounds=30, relation="<="):
    rng = np.random.default_rng(0)
    x = np.arange(rounds + 1.0)
    low = 10 ** rng.uniform(-2, 2, (n, 1)) * rng.uniform(0.7, 0.97, (n, 1)) ** x
    high = low * (1.01 + rng.uniform(0.2, 20, (n, 1)) * x / (x + 3))
    return Curves(
        "buttaci/thm4.1-I",
        "FedProx: strongly convex, fixed step size 1/(2 L_alpha E)",
        x,
        "round $t$",
        *((low, high) if relation == "<=" else (high, low)),
        relation,
        3,
        r"\mathbb{E} f(\overline{\mathbf w}_{t,0}) - f_\star",
        r"\frac{\Delta L}{\mu}\left(1-\frac{\mu}{3L_\alpha}\right)^t + \sum_{i=1}^C p_i^2",
        "40 admissible instances, seed 0; tightest: two quadratics with C = 2 and E = 1, largest lhs/rhs 0.99 at "
        "t = 0; the caption goes on for long enough to need a second line",
    )


def three(made):
    exact = made.lhs[made.tightest]
    extra = {"upper bound": exact * 5, "exact expectation": exact, "lower bound": exact / (made.x + 2) ** 2}
    return replace(made, extra=extra)


CASES = {
    "upper": curves(),
    "lower": curves(relation=">="),
    "two group": three(curves(relation=">=")),
    "one run": curves(n=4),
    "one round": curves(rounds=1),
    "one point": curves(rounds=0),
    "many": curves(n=1000, rounds=5),
    "long": curves(n=10, rounds=3000),
}


def line_of(axes, label):
    (found,) = [line for line in axes.lines if line.get_label() == label]
    return found


def unseen(axis):
    """Labels of ticks beyond the axis's limits: matplotlib keeps them and does not draw them."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [label for t in ticks if not low <= t.get_loc() <= high for label in (t.label1, t.label2)]


def overlaps(figure, kind="png"):
    """Pairs of visible texts whose boxes cross by more than a pixel, and texts beyond the edge.

    Renderers break lines of a title or a caption at other words: what draws this kind of file measures here too.
    """
    agg = FigureCanvasAgg(figure)  # the figure's canvas from here on
    with nullcontext(agg.get_renderer()) if kind == "png" else as_vectors(figure, io.StringIO()) as renderer:
        figure.draw_without_rendering()
        hidden = {id(label) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in unseen(axis)}
        boxes = [
            (text.get_text(), text.get_window_extent(renderer))
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and id(text) not in hidden
        ]
        whole = figure.bbox.padded(1)
    outside = [said for said, b in boxes if b.x0 < whole.x0 or b.y0 < whole.y0 or b.x1 > whole.x1 or b.y1 > whole.y1]
    crossing = [
        (a, b)
        for n, (a, p) in enumerate(boxes)
        for b, q in boxes[n + 1 :]
        if min(p.x1, q.x1) - max(p.x0, q.x0) > 1 and min(p.y1, q.y1) - max(p.y0, q.y0) > 1
    ]
    return outside + crossing


@pytest.mark.parametrize("kind", ["png", "svg"])
@pytest.mark.parametrize("name", CASES)
def test_no_text_overlaps_or_leaves_the_figure(name, kind):
    assert overlaps(draw(CASES[name]), kind) == []


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_overlap_check_sees_an_overlap(kind):
    figure = draw(CASES["upper"])
    figure.text(0.5, 0.5, "one")
    figure.text(0.5, 0.5, "other")
    figure.text(0.9, 0.5, "much longer than what is left")
    found = overlaps(figure, kind)
    assert ("one", "other") in found
    assert "much longer than what is left" in found


def test_a_title_that_breaks_into_more_lines_than_there_is_room_for_is_seen_in_a_written_file():
    figure = draw(CASES["upper"])
    svg(figure)
    figure.set_layout_engine("none")
    assert overlaps(figure, "svg") == []
    figure.suptitle("a title of many words " * 12, fontsize=10, x=0.02, ha="left", wrap=True)
    assert overlaps(figure, "svg") != []


@pytest.mark.parametrize("size", [7.5, 10])
def test_titles_break_where_a_line_is_full_and_nowhere_else(size):
    figure = new()
    text = "Perturbed method: σ² ≤ 10⁻¹⁴, i.e. wide WORDS and narrow ills " * 6
    lines = broken(figure, f"{text.strip()}\nanother line", size).split("\n")
    assert " ".join(lines) == f"{text.strip()} another line"
    assert lines[-1] == "another line"
    widths = [figure.text(0, 0, line, fontsize=size).get_window_extent().width / figure.bbox.width for line in lines]
    assert max(widths) <= 1 - LEFT
    assert all(width > 0.8 for width in widths[:-2])


def test_trajectories_bounds_and_the_tightest_run_are_drawn():
    made = CASES["upper"]
    above, below = convergence.plot(made).axes
    bundles = [c for c in above.collections if isinstance(c, LineCollection)]
    assert [len(c.get_segments()) for c in bundles] == [39, 39]
    np.testing.assert_array_equal(line_of(above, "tightest run").get_ydata(), made.lhs[3])
    np.testing.assert_array_equal(line_of(above, "its bound").get_ydata(), made.rhs[3])
    np.testing.assert_array_equal(bundles[1].get_segments()[0][:, 1], made.lhs[0])
    assert above.get_ylabel() == f"${braced(made.ylabel)}$"
    assert above.get_title(loc="left") == f"${braced(made.ylabel)} \\leq {braced(made.bound_label)}$"
    assert below.get_xlabel() == made.xlabel
    assert above.get_yscale() == "log"


def test_the_tightness_panel_shows_the_ratio_and_the_line_at_one():
    made = CASES["upper"]
    _, below = convergence.plot(made).axes
    best = max((line for line in below.lines if len(line.get_xdata()) == len(made.x)), key=lambda line: line.get_lw())
    np.testing.assert_allclose(best.get_ydata(), made.lhs[3] / made.rhs[3])
    assert any(set(np.ravel(line.get_ydata())) == {1} for line in below.lines)


def test_the_ratio_of_a_lower_bound_is_turned_round_and_zero_over_zero_is_blank():
    made = replace(CASES["one round"], relation=">=", lhs=np.array([[2.0, 0.0]]), rhs=np.array([[1.0, 0.0]]))
    np.testing.assert_array_equal(convergence.ratio(made), [[0.5, math.nan]])
    for relation, said in (("=", "lhs / rhs"), ("<=", "lhs / rhs"), (">=", "rhs / lhs")):
        one = replace(made, relation=relation, tightest=0)
        assert convergence.ratio(one)[0, 0] == (2 if said == "lhs / rhs" else 0.5)
        assert convergence.plot(one).axes[1].get_ylabel() == said


def test_the_two_group_figure_holds_all_three_curves():
    made = CASES["two group"]
    above, below = two_group.plot(made).axes
    for name, values in made.extra.items():
        np.testing.assert_array_equal(line_of(above, name).get_ydata(), values)
    assert draw(made).axes[0].get_legend_handles_labels()[1][-3:] == list(made.extra)
    assert below.get_ylabel() == "bound / exact"


def test_data_that_vanish_or_are_flat_can_be_drawn():
    zero = replace(CASES["upper"], lhs=np.zeros((40, 31)))
    flat = replace(CASES["upper"], lhs=np.ones((40, 31)), rhs=np.ones((40, 31)))
    for made in (zero, flat, replace(zero, rhs=np.zeros((40, 31)))):
        assert overlaps(draw(made)) == []


def test_few_of_very_many_lines_are_drawn_and_the_legend_says_so():
    assert len(pick(5)) == 5
    assert len(pick(1000)) == MOST
    assert counted(999, "runs") == f"{MOST} of 999 runs"
    assert counted(5, "runs") == "5 runs"


@pytest.mark.parametrize("name", ["buttaci/thm4.1-I", "buttaci/thm4.2", "buttaci/lemB.8"])
def test_real_runs_make_a_readable_figure(name):
    made = of(statement(name), 0)
    figure = draw(made)
    assert overlaps(figure) == []
    if name == "buttaci/lemB.8":
        assert isinstance(made, Cloud)
    else:
        assert figure.axes[0].get_ylabel() == f"${braced(made.ylabel)}$  [F]"
        assert isinstance(made, Rate if name == "buttaci/thm4.1-I" else Curves)
        assert name == "buttaci/thm4.1-I" or two_group.fits(made)


@slow("draws the whole catalogue")
@pytest.mark.parametrize("name", [s.id for s in statements() if not s.quoted])
def test_every_statement_makes_a_readable_figure(name):
    """What `fedaudit plot` shows; an experiment is drawn in its own way."""
    figure = draw(picture(statement(name), 0))
    assert len(svg(figure)) <= LARGEST
    figure.set_layout_engine("none")  # as it was written
    assert overlaps(figure, "svg") == []


@pytest.mark.parametrize("name", [s.id for s in statements() if s.quoted])
def test_of_what_is_quoted_nothing_is_drawn(name):
    """Its assumptions are not encoded, so that there are no runs; the refusal says whose theorem it is."""
    with pytest.raises(UserError, match=re.escape(f"quoted from {statement(name).quoted}")):
        picture(statement(name), 0)


def test_a_bound_of_zero_is_drawn_with_what_breaks_it():
    """There is nothing to divide by: the kernel's own replays of a counterexample are shown."""
    made = of(statement("benmansour/rem5"), 0)
    assert isinstance(made, Crossing)
    assert not made.rhs.any()
    assert (made.lhs > 0).all()
    assert overlaps(draw(made)) == []


def test_a_crossing_of_two_zeros_with_a_long_left_side_is_readable():
    made = of(statement("benmansour/rem5"), 0)
    assert isinstance(made, Crossing)
    long = r"\frac{G^2 \eta L}{4 I (M - 1)(\eta L + 2)}\left(1 - \frac{1 - r^{2 T}}{T (1 - r^2)}\right)(M - I)"
    meet = replace(made, lhs=np.where(made.x > made.x[0], made.lhs, 0), ylabel=long, unit="F²/W²")
    title = "several lines of words " * 7
    for made in (meet, replace(meet, rhs=meet.lhs / 2, title=title)):
        assert overlaps(draw(made), "svg") == []


def test_names_of_lines_that_end_together_stay_below_what_stands_above_the_axes():
    axes = new().subplots()
    axes.set_ylim(0, 1)
    label_ends(axes, [End("bound", 1, "k"), End("floor", 1, "k"), End("run\n0.5 per round\nband", 0.1, "k")])
    assert max(text.get_position()[1] for text in axes.texts) == pytest.approx(1)


@pytest.mark.parametrize(("name", "kind"), [("yuan/rem7~formula", Landscape), ("fallah/cor4.6~formula", Curves)])
def test_an_order_of_growth_is_headed_as_it_is_printed(name, kind):
    made = of(statement(name), 0)
    assert isinstance(made, kind)
    head = draw(made).axes[0].get_title(loc="left")
    assert r"= \mathcal{O}" in head
    assert r"\leq" not in head
    assert "stays bounded" in made.caption


@pytest.mark.parametrize(("high", "labels"), [(2.5, ["1", "2"]), (30, ["1", "2", "5", "10", "20"]), (300, None)])
def test_a_log_axis_of_few_decades_has_few_labels(high, labels):
    axes = new().subplots()
    axes.set_yscale("log")
    axes.set_ylim(0.9, high)
    ticks_y(axes)
    FigureCanvasAgg(axes.figure).draw()
    seen = [tick.label1.get_text() for tick in axes.yaxis.get_major_ticks() if 0.9 <= tick.get_loc() <= high]
    assert seen == (labels or [f"$\\mathdefault{{10^{{{k}}}}}$" for k in range(3)])
    assert not any(tick.label1.get_text() for tick in axes.yaxis.get_minor_ticks())


@pytest.mark.parametrize("count", [5, 12, 60])
def test_a_title_and_a_caption_take_as_many_lines_as_they_need(count):
    figure = new()
    figure.subplots().set_xlabel("what is counted")
    heading(figure, "long, wide " * count)
    caption(figure, "in small print " * count)
    assert overlaps(figure) == []


def test_formulas_shrink_to_fit_and_give_up_in_the_end():
    long = "+".join(["x_{t,0}"] * 12)
    assert formula(r"\mathbf w", 1).text == r"$\mathbf{w}$"
    assert formula(long, 9).size > formula(long, 4.2).size
    assert formula(long, 0.5) is None
    assert formula(r"\unknown{x}", 5) is None
    headless = replace(CASES["upper"], ylabel=r"\unknown{x}", bound_label=long * 9, title="long " * 60)
    assert overlaps(draw(headless)) == []


def test_axes_are_logarithmic_where_that_helps():
    assert log_y(np.array([1e-3, 1.0]))
    assert not log_y(np.array([0.5, 1.0]))
    assert not log_y(np.array([-1.0, 100.0]))
    assert not log_y(np.array([np.nan]))
    assert log_x(np.array([1.0, 2.0, 100.0]))
    assert log_x(np.arange(2000.0))
    assert not log_x(np.arange(60.0))
    assert not log_x(np.array([0.0]))


@pytest.mark.parametrize("kind", some(["svg", "png", "pdf"], 3, "the same in another format"))
def test_the_same_data_give_the_same_bytes(kind):
    assert image(draw(CASES["one run"]), kind) == image(draw(CASES["one run"]), kind)


def test_svg_is_text_without_addresses_to_fetch():
    text = svg(draw(CASES["one run"]))
    assert text.startswith("<?xml")
    assert 'href="http' not in text
