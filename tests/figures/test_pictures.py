"""Pictures show what was computed: counterexamples as the kernel replays them, rates, densities, least values."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from marks import only, slow, some
from places import TESTS
from test_figures_convergence import LARGEST, overlaps

from fedaudit.bounds.catalogue.discovery import statement, statements
from fedaudit.figures.drawing import draw, svg
from fedaudit.figures.kinds import rate
from fedaudit.figures.pages.page_text import described
from fedaudit.figures.words.numbers import rounded, tightness
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import audit, read
from fedaudit.verify.pictures.certified_number import number
from fedaudit.verify.pictures.cloud_data import cloud
from fedaudit.verify.pictures.crossing import crossing
from fedaudit.verify.pictures.curves import Cloud, Crossing, Curves, Landscape, Rate, curves, picture
from fedaudit.verify.pictures.kinds import Mark, letter, unit
from fedaudit.verify.pictures.row_marks import worst_of
from fedaudit.verify.search.claim_index import factor_of, is_rate
from fedaudit.verify.search.claim_trees import explicit
from fedaudit.verify.search.climb import VIOLATION

CERTIFICATES = TESTS / "certificates"
KINDS = {
    "buttaci/thm4.1-I": Rate,
    "classic/gd-rate": Rate,
    "buttaci/thm4.2": Curves,
    "buttaci/lem4.1": Cloud,
    "buttaci/appA-combination": Cloud,
    "benmansour/rem5": Crossing,
    "buttaci/cor4.1~formula": Landscape,
    "fallah/cor4.6~formula": Curves,
}


@pytest.mark.parametrize("name", only({*KINDS} - {"buttaci/thm4.1-I"}, KINDS, "a longer run of one kind"))
def test_each_kind_is_small_readable_and_the_same_again(name: str) -> None:
    first, again = (picture(statement(name), 0) for _ in range(2))
    assert isinstance(first, KINDS[name])
    shown = draw(first)
    text = svg(shown)
    assert text == svg(draw(again))
    assert len(text) <= LARGEST
    assert overlaps(shown) == []
    assert f"({name})" in shown.get_suptitle().replace("\n", " ")


def test_a_counterexample_is_replayed_once_at_each_point(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = json.loads((CERTIFICATES / "yuan-lem5.json").read_text())
    about, asked = statement("yuan/lem5"), list[str]()

    def evaluate(claim: object, instance: object, dropped: Any, at: object) -> Any:
        asked.append(json.dumps([instance, at], sort_keys=True))
        return evaluated(claim, instance, dropped, at)

    evaluated = kernel.evaluate
    monkeypatch.setattr(kernel, "evaluate", evaluate)
    assert crossing(about, read(about)[0], certificate) is not None
    assert len(asked) > 20
    own = json.dumps([certificate["instance"], certificate["at"]], sort_keys=True)  # times 1, of every number
    assert len(set(asked) - {own}) == len([one for one in asked if one != own])


def test_relations_of_one_run_are_what_each_is_alone() -> None:
    about = statement("buttaci/lem4.3")
    reading, world = read(about)
    together = cloud(about, reading, world, 0, falls=True)
    assert len(together.lhs) == 2
    for relation, one in enumerate(reading.claim["then"]):
        claim, units = {**reading.claim, "then": [one]}, (reading.lowered.units[relation],)
        alone = replace(reading, lowered=replace(reading.lowered, claim=claim, units=units))
        single = cloud(replace(about, then=about.then[relation : relation + 1]), alone, world, 0, falls=True)
        for side in ("lhs", "rhs", "margin"):
            shared, own = getattr(together, side)[relation], getattr(single, side)[0]
            usable = np.isfinite(together.margin[relation])
            assert np.array_equal(shared[usable], own[np.isfinite(single.margin[0])])


@pytest.mark.parametrize(
    "name",
    some(
        ["yuan-lem5", "fallah-eq30b", "fallah-eq105", "yuan-lem10-variance", "yuan-thm1~inequality"],
        3,
        "a picture each",
    ),
)
def test_a_counterexample_is_drawn_as_the_kernel_replays_it(name: str) -> None:
    """At the certificate's own place both sides are those that it states."""
    certificate = json.loads((CERTIFICATES / f"{name}.json").read_text())
    about = statement(certificate["statement"])
    made = crossing(about, read(about)[0], certificate)
    assert made is not None
    own = int(np.argmin(np.abs(made.x - made.at)))
    for drawn, stated in ((made.lhs[own], certificate["lhs"]), (made.rhs[own], certificate["rhs"])):
        assert drawn == pytest.approx(float(Fraction(stated.split()[0])), rel=1e-9)
    assert made.lhs[own] > made.rhs[own]
    figure = draw(made)
    assert overlaps(figure) == []
    assert any(patch.get_label() == "the claim fails" for patch in figure.axes[0].patches)


def test_a_growth_path_is_drawn_with_the_exponents_that_the_kernel_found() -> None:
    certificate = json.loads((CERTIFICATES / "yuan-thm1.json").read_text())
    about = statement("yuan/thm1")
    made = crossing(about, read(about)[0], certificate)
    assert made is not None
    for side, power in ((made.lhs, certificate["lhs"]), (made.rhs, certificate["rhs"])):
        assert rate.slope(made.x, side) == pytest.approx(float(Fraction(power)), abs=0.01)


def test_a_changed_number_that_breaks_an_assumption_leaves_no_point() -> None:
    """Every point that is shown is an instance that the kernel admits: the others are not drawn."""
    certificate = json.loads((CERTIFICATES / "yuan-thm1~inequality.json").read_text())
    about = statement(certificate["statement"])
    made = crossing(about, read(about)[0], certificate)
    assert made is not None
    less = {**certificate["instance"], "constants": {**certificate["instance"]["constants"], "L": "1/1000000"}}
    assert not kernel.admissible(certificate["claim"], less)
    assert len(made.x) < 25


@pytest.mark.parametrize("name", ["buttaci/thm4.1-I", "zhang/thm3.6", "classic/gd-rate"])
def test_a_rate_is_shown_on_a_problem_that_meets_its_conditions(name: str) -> None:
    made = curves(statement(name), 0, {})
    assert isinstance(made, Rate)
    assert (made.expectation <= made.bound * (1 + 1e-9)).all()
    assert made.bound[-1] < made.bound[1]
    assert made.expectation[-1] < 1e-2 * made.expectation[0]
    assert ("C = 1," in made.caption) == (name == "classic/gd-rate")
    assert ("C = 10, d = " in made.caption) == (name != "classic/gd-rate")


def test_what_the_moves_found_is_marked() -> None:
    """The tightest instance at its round, and worst cases over all functions where they are known."""
    found = {"instance": {"C": 1, "d": 1, "E": 1, "T": 2}, "at": {"relation": 0, "t": 2}, "lhs": "1/2", "rhs": "1"}
    worst = [{"point": {"C": "2", "E": "1", "t": "1"}, "lower": 0.25, "upper": 0.26}]
    made = curves(statement("buttaci/thm4.1-I"), 0, {"hunt": {"tightest": found, "worst": worst}})
    assert isinstance(made, Rate)
    assert made.tightest == Mark(2.0, 0.5, "tightest instance found: 0.5 (C = 1, d = 1, E = 1, t = 2)")
    assert [(known.x, known.lower, known.exact) for known in made.worst] == [(1.0, 0.25, False)]
    below = draw(made).axes[1]
    drawn = {x.get_label(): (list(x.get_xdata()), list(x.get_ydata())) for x in below.lines}  # type: ignore[arg-type]
    assert drawn[made.tightest.label] == ([2.0], [0.5])
    assert drawn["worst case, between both ends: 0.25 to 0.26 at C 2, E 1"] == ([1.0, 1.0], [0.25, 0.26])


def test_only_two_ends_that_meet_are_called_exact() -> None:
    ends = [{"lower": 0.25, "upper": 0.2501}, {"lower": 0.5, "upper": None}, {"lower": None, "upper": 0.1}]
    row = {"hunt": {"worst": [{"point": {"t": str(n)}, "name": f"t {n}", **end} for n, end in enumerate(ends, 1)]}}
    assert [(w.name, w.exact) for w in worst_of(row, "t")] == [("t 1", True), ("t 2", False)]
    made = curves(statement("buttaci/thm4.1-I"), 0, row)
    labels = [str(line.get_label()) for line in draw(made).axes[1].lines]
    assert "exact worst case: 0.25 at t 1" in labels
    assert "a search met: 0.5 at t 2" in labels


def test_a_density_shows_the_exact_worst_case() -> None:
    row = {"hunt": {"worst": [{"point": {"t": "1"}, "name": "C 2", "lower": 0.5, "upper": 0.5}]}}
    made = curves(statement("buttaci/lem4.1"), 0, row)
    assert isinstance(made, Cloud)
    line = next(x for x in draw(made).axes[0].lines if x.get_label() == "worst case 0.5 at C 2")
    assert np.asarray(line.get_ydata()) == pytest.approx(np.asarray(line.get_xdata()) / 2)


def test_a_fit_stops_where_the_floor_begins() -> None:
    t = np.arange(1.0, 2000)
    falls = rate.fitted(t, 0.9**t + 1e-9)
    assert falls is not None
    assert falls.steady
    assert falls.factor == pytest.approx(0.9, abs=1e-3)
    assert falls.high < 250
    power = rate.fitted(t, 3 / t)
    assert power is not None
    assert not power.steady
    assert (power.power, power.high) == (pytest.approx(-1), t[-1])
    assert power.low == 200
    flat = rate.fitted(t, np.ones(len(t)))
    assert flat is not None
    assert abs(flat.power) < 1e-9


def test_a_smaller_problem_says_why() -> None:
    made = curves(statement("buttaci/thm4.4-I"), 0, {})
    assert isinstance(made, Rate)
    assert "not d = 10" in made.caption
    assert "not d" not in curves(statement("buttaci/thm4.1-I"), 0, {}).caption


def test_a_claim_about_no_best_choice_has_no_line_of_least_values() -> None:
    made = curves(statement("buttaci/sec4.4-lower-order"))
    assert isinstance(made, Landscape)
    assert np.isnan(made.ridge).all()
    assert "least" not in made.caption


def test_the_least_value_of_a_landscape_is_the_closed_form() -> None:
    """Of A sigma^2/E + B Gamma/E + C E G^2 with all else 1 the minimiser is sqrt(2)/G."""
    made = curves(statement("buttaci/sec4.4-optimal-E"), 0, {})
    assert isinstance(made, Landscape)
    inner = (made.x > 0.01) & (made.x < 100)
    assert np.log(made.ridge[inner]) == pytest.approx(
        np.log(np.sqrt(2) / made.x[inner]), abs=0.13
    )  # a step of the grid
    assert made.inside.all()


def test_units_are_powers_of_F_and_W() -> None:
    assert [unit(p) for p in ((0, 0), (1, 0), (2, -2), (0, 2), (-1, 2), (0.5, 0))] == [
        "", "F", "F²/W²", "W²", "W²/F", "F¹⁄²"
    ]  # fmt: skip


def test_a_parameter_of_an_axis_has_the_papers_letter() -> None:
    """The step size eta(t) is a function in the glossary, and one number on an axis."""
    assert letter(statement("benmansour/eq20"), "eta") == r"$\eta$"
    assert letter(statement("benmansour/eq20"), "coupling") == "coupling"


def test_what_a_rate_is() -> None:
    names = ("buttaci/thm4.1-I", "buttaci/thm4.3-I", "zhang/thm3.5", "buttaci/lem4.1", "buttaci/lemB.1", "zhang/eqA.33")
    assert [is_rate(read(statement(name))[0]) for name in names] == [True, True, True, False, False, False]
    power: Any = ["^", ["+", "1", "x"], "t"]
    assert explicit(power, "t")
    assert not explicit(["at", "gamma", "t"], "t")
    x = np.array([0.0, 3.0])
    factor = factor_of(["*", ["+", "1", "t"], ["at", "gap", ["+", "1", "t"]]], "t", x)
    assert factor is not None
    assert list(factor) == [1.0, 4.0]
    assert factor_of(["at", "gap", "t"], "t", x) is None


def test_instances_beyond_the_axes_are_counted() -> None:
    made = curves(statement("buttaci/lem4.1"), 0, {})
    assert isinstance(made, Cloud)
    far = replace(made, lhs=np.append(made.lhs, [[1e90]], axis=1), rhs=np.append(made.rhs, [[1e95]], axis=1),
                  margin=np.append(made.margin, [[-1.0]], axis=1))  # fmt: skip

    def beyond(shown: Cloud) -> int:
        said = draw(shown).get_supxlabel().replace("\n", " ")
        return int(said.partition(" beyond the axes")[0].split()[-1].replace(",", ""))

    assert beyond(far) == beyond(made) + 1


def test_what_only_floats_see_fail_is_left_out_and_counted() -> None:
    """Lemma 4.3 is an identity; where its sides are 0 floats see rounding, which is no violation."""
    about = statement("buttaci/lem4.3")
    made = curves(about, 0, {"verdict": "survived"})
    assert isinstance(made, Cloud)
    assert not (made.margin > VIOLATION).any()
    assert "the kernel does not confirm" in made.caption
    reading, world = read(about)
    assert (cloud(about, reading, world, 0, falls=True).margin > VIOLATION).any()


@slow("audits what it draws")
@pytest.mark.parametrize("name", [s.id for s in statements() if s.id in KINDS])
def test_a_figure_with_an_audits_row_is_small_and_readable(name: str) -> None:
    made = picture(statement(name), 0, audit(statement(name), 0, 1.0).row())
    figure = draw(made)
    assert overlaps(figure) == []
    assert len(svg(figure)) <= LARGEST


def test_logistic_clients_meet_the_theorem_that_allows_them() -> None:
    made = curves(statement("buttaci/thm4.1-II"), 0, {})
    assert isinstance(made, Rate)
    assert made.logistic is not None
    assert (made.logistic.lhs <= made.logistic.rhs).all()
    assert made.logistic.lhs[-1] < 1e-2 * made.logistic.lhs[0]
    figure = draw(made)
    assert "logistic losses with a ridge" in " ".join(figure.get_supxlabel().split())
    assert "logistic clients" in [line.get_label() for line in figure.axes[1].lines]
    other = curves(statement("zhang/thm3.6"), 0, {})  # with a regulariser
    assert isinstance(other, Rate)
    assert other.logistic is None


def test_a_logistic_run_is_the_one_that_the_rule_gives() -> None:
    """FedAvg by hand on the same data: gradient steps of every client, then the mean."""
    from fedaudit.verify.pictures import logistic_clients as module

    about = statement("buttaci/thm4.1-I")
    reading, world = read(about)
    shape = world.shapes(reading)[0].but(E=2)
    made = module.logistic_clients(reading, shape, {"L": 1.0, "alpha": 0.0}, False, 0)
    assert made is not None
    problem, start = module._problem(0, about.id)
    w, best, gamma = start, problem.minimiser(), 1 / (2 * made.L * 2)
    for t in range(3):
        gap = (problem.p * (problem.value(w[:, None]) - problem.value(best[:, None]))).sum()
        assert made.lhs[t] == pytest.approx(gap, rel=1e-9)
        local = np.repeat(w[:, None], problem.C, axis=1)
        for _ in range(2):
            local = local - gamma * problem.grad(local)
        w = local.mean(axis=1)
    assert np.abs((problem.p[..., None] * problem.grad(best[:, None])).sum(axis=1)).max() < 1e-10


def test_values_of_any_length_are_read() -> None:
    assert number(f"{'3' * 7000}/{'6' * 7000}") == 0.5
    assert number("1/4") == number("0.25 +/- 1e-30") == 0.25


@pytest.mark.parametrize(
    "name", ["zhang/thm3.6", "buttaci/lemB.1", "yuan/rem7~formula", "buttaci/prop3.3-upper", "benmansour/rem5"]
)
def test_a_figure_says_its_conclusion_to_everybody(name: str) -> None:
    """In a line below its title, and as the SVG's own description."""
    figure = draw(curves(statement(name)))
    title, _, conclusion = str(figure.get_label()).partition("\n")
    assert title.endswith(f"({name})")
    assert conclusion.endswith(".")
    text = svg(figure)
    assert f"<desc>{conclusion}</desc>" in text
    assert described(text.encode()) == f"{title}. {conclusion}"


def test_a_refuted_order_is_drawn_until_both_sides_cross() -> None:
    certificate = json.loads((TESTS / "certificates" / "fallah-thm4.5.json").read_text())
    made = curves(statement("fallah/thm4.5"), 0, {"certificate": certificate})
    assert isinstance(made, Crossing)
    assert made.lhs[0] < made.rhs[0]
    assert made.lhs[-1] > made.rhs[-1]
    assert "n^(-1/2)" in made.conclusion
    assert "n^(-1)" in made.conclusion


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (None, "order", ""),
        (-0.5, "order", "ratio ~ n^(−0.5)"),
        (-2.0, "inequality", "signs differ"),
        (0.25, "order", "0.25"),
    ],
)
def test_what_is_below_0_is_no_tightness(value: float | None, kind: str, said: str) -> None:
    assert tightness(value, kind) == said


def test_a_long_fraction_is_told_by_its_first_digits() -> None:
    assert rounded("1" + "0" * 50 + "/3") == "3.33333e+49"
    assert rounded("no number at all, whatever it may be that is here") == "no number at all, whatever it may be tha…"
