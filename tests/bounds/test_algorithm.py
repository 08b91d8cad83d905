"""A method is printed as an algorithm box, and lint sees rules and measures whose dimensions disagree."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import methods
from fedaudit.bounds.formulas.algorithm_box import algorithm, box, measures
from fedaudit.bounds.formulas.statement_text import parts, show
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.method_interface import measured
from fedaudit.bounds.language.rule_expressions import (
    axis,
    expect,
    f_star,
    grad,
    inner,
    mean,
    neighbours,
    noisy,
    norm2,
    other,
    prox,
    vector,
)
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.lint.method_dimensions import mismatches
from fedaudit.cli import main
from fedaudit.errors import UserError
from fedaudit.figures.words.mathml import mathml
from fedaudit.verify.search.method_shapes import sizes

EXAMPLES = ROOT / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCAFFOLD = example("scaffold")
EVERY = [m for _, m in methods([])] + [m for f in sorted(EXAMPLES.glob("*.py")) for _, m in methods([str(f)])]


@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.id)
def test_every_method_prints_as_formulas_and_its_dimensions_agree(method: Method) -> None:
    assert not list(mismatches(method))
    for line in algorithm(method, as_latex=True) + measures(method, as_latex=True):
        assert "<code>" not in mathml(line, "block"), line
    assert len(algorithm(method)) == len(algorithm(method, as_latex=True))
    assert box(method, as_latex=True).startswith(r"\[\begin{array}")


def test_the_box_of_scaffold_reads_as_it_is_printed() -> None:
    lines = [line.strip() for line in algorithm(SCAFFOLD.SCAFFOLD)]
    assert "y <- y - gamma(t)*(noisy grad f_i(y) - c_i + c)" in lines
    assert "c_i <- c_i - c + (x - y)/(E*gamma(t))" in lines
    assert "server: x <- x + eta_g*mean_i (y - x),  c <- mean_i c_i" in lines
    assert measures(SCAFFOLD.SCAFFOLD) == ["gap(t) = E[f(x)] - f*"]


def test_every_operation_has_a_print_of_its_own() -> None:
    x, y, eta = SCAFFOLD.x, SCAFFOLD.y, SCAFFOLD.eta_g
    rule = prox(neighbours(y) - y, 2) + noisy(y) - mean(y, over="sampled") - mean(y)
    method = replace(
        SCAFFOLD.SCAFFOLD, end={}, local={y: rule}, measures={SCAFFOLD.gap(SCAFFOLD.t): expect(inner(x, x))}
    )
    local = next(line for line in algorithm(method) if "prox" in line)
    wanted = "prox_(2 g)((mean_(j near i) y) - y) + noisy y - (mean_(i in S_t) y) - mean_i y"
    assert local.strip() == f"y <- {wanted}"
    assert measures(method) == ["gap(t) = E[<x, x>]"]
    assert algorithm(replace(method, local={y: (1 - eta) * y}))[-2].strip() == "y <- (1 - eta_g)*y"


def test_show_and_the_report_print_the_algorithm_and_the_measures_that_are_used() -> None:
    assert "  gap(t) = E[f(x)] - f*" in show(SCAFFOLD.DESCENT).splitlines()
    assert dict(parts(SCAFFOLD.DESCENT))["algorithm"] == algorithm(SCAFFOLD.SCAFFOLD, as_latex=True)
    assert "E: local steps  [1]" in show(SCAFFOLD.DESCENT)


x, y, c_i, t, E = SCAFFOLD.x, SCAFFOLD.y, SCAFFOLD.c_i, SCAFFOLD.t, SCAFFOLD.E
gamma, eta_g, gap = SCAFFOLD.gamma, SCAFFOLD.eta_g, SCAFFOLD.gap
MUTANTS = {
    "a step size is forgotten": (
        {"local": {y: y - noisy(grad(y))}}, "local y", "y has dimension W, -noisy grad f_i(y) has F·W^-1"),
    "the control variate is a length": ({"end": {c_i: x - y}}, "local y", "-c_i has W"),
    "a gradient of a gradient": (
        {"local": {y: y - gamma(t) * grad(grad(y))}}, "local y", "grad f_i(y) has dimension F·W^-1, expected W"),
    "a mean of slopes at the server": (
        {"update": {x: mean(c_i)}}, "update x", "the rule has dimension F·W^-1, x has W"),
    "a squared length for a value": ({"measures": {gap(t): expect(norm2(x))}}, "measure gap(t)", "gap(t) has F"),
    "a value beside a squared length": (
        {"measures": {gap(t): expect(norm2(x)) - f_star}}, "measure gap(t)", "f* has F"),
    "a step without a unit in prox": (
        {"begin": {y: prox(x, eta_g)}}, "begin y", "the step eta_g of prox has dimension 1"),
}  # fmt: skip


@pytest.mark.parametrize("what", MUTANTS)
def test_lint_names_the_rule_and_the_terms(what: str) -> None:
    changed, place, terms = MUTANTS[what]
    method = replace(SCAFFOLD.SCAFFOLD, **changed)
    found = [f.message for f in lint(replace(SCAFFOLD.DESCENT, method=method)) if f.rule == "dimension"]
    assert len(found) == 1, found
    assert found[0].startswith(f"method scaffold, {place}")
    assert terms in found[0]
    assert "\n" not in found[0]


def test_a_vector_that_starts_at_zero_takes_the_dimension_of_its_first_rule() -> None:
    z = vector("z")
    method = replace(SCAFFOLD.SCAFFOLD, server={**SCAFFOLD.SCAFFOLD.server, z: 0})
    agreeing = replace(method, update={**method.update, z: z + gamma(t) * mean(c_i)})
    assert not list(mismatches(agreeing))
    wrong = replace(method, update={**method.update, z: z + gamma(t) * mean(c_i) + mean(c_i)})
    assert "has dimension W, mean_i c_i has F·W^-1" in next(mismatches(wrong))


def test_methods_lists_and_prints_and_names_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    listed = capsys.readouterr().out
    assert "fedprox" in listed
    assert main(["methods", f"{EXAMPLES}/scaffold.py::scaf*"]) == 0
    printed = box(SCAFFOLD.SCAFFOLD).partition("\nmeasures:")[0]
    assert capsys.readouterr().out.startswith(printed)
    assert main(["methods", "fedprox", "buttaci/fedprox", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == ["fedprox"]
    assert {"paper", "title", "where", "algorithm", "measures"} <= set(rows[0])
    for unknown in ("fedprx", f"{EXAMPLES}/scaffold.py::nothing", f"{EXAMPLES}/none.py"):
        assert main(["methods", unknown]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "expected" in error


def test_one_statement_of_a_file_can_be_selected(capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{EXAMPLES}/scaffold.py"
    assert main(["lint", f"{path}::scaffold/descent", path, "--jobs", "1", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["scaffold/descent", "scaffold/one-step"]
    assert main(["list", f"{path}::*/one*", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["scaffold/one-step"]
    assert [s.id for s in fa.load(f"{path}::scaffold/descent")] == ["scaffold/descent"]
    assert fa.statement(f"{path}::scaffold/descent").id == "scaffold/descent"
    with pytest.raises(UserError, match=r"ends in \.py"):
        fa.load("scaffold.txt")


@pytest.mark.parametrize(
    "changed",
    [{"measures": {gap(t): expect(norm2(other(c_i)))}}, {"measures": {gap(t): expect(inner(x, axis))}},
     {"local": {y: other(y)}}, {"update": {x: axis}}],
)  # fmt: skip
def test_another_client_and_a_coordinate_are_for_measures_that_have_their_index(changed: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"'other'|'axis'"):
        replace(SCAFFOLD.SCAFFOLD, **changed)


def test_a_method_by_name_says_all_that_a_statement_may_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "fedprox"]) == 0
    out = capsys.readouterr().out
    for line in (
        r"gamma\(t\) +F\^-1·W\^2 +step size: step size of round t",
        r"grad2\(t, k, i\) +F\^2·W\^-2 +t = 0, ..., T - 1, k = 0, ..., E, i = 1, ..., C +E\[\|noisy grad",
        r'Assumption\("bounded_variance", \(…,\)\) +noise',
        r"C +clients +1, 2",
    ):
        assert re.search(line, out), line
    assert "with_replacement" not in out  # it draws no sample
    assert "exact_oracle" not in out


def test_ranges_of_measures_are_those_that_lint_asks_for() -> None:
    for _, method in methods():
        for row in measured(method):
            assert len(row["for"]) <= row["name"].count(",") + 1
    (prox,) = [m for _, m in methods() if m.id == "fedprox"]
    assert [row["for"] for row in measured(prox)][:1] == [["t = 0, ..., T"]]


def test_every_method_says_which_sizes_are_tried() -> None:
    for _, method in methods():
        tried = sizes(method)
        assert {"C", "T"} <= set(tried), method.id
        assert all(min(those) >= 1 for those in tried.values())


def test_the_length_of_the_first_round_may_be_a_formula_of_E() -> None:
    method, T = example("li").FEDAVG, example("li").T
    assert "for t = max(0, rE - 1), ..., rE + E - 2" in box(method)
    assert r"t = max(0, rE - 1), \ldots, rE + E - 2" in box(method, as_latex=True)
    for wrong in (T - 1, "E - 1", fa.Rational(1, 2)):
        with pytest.raises(UserError, match="expected a"):
            replace(method, first=wrong)


def test_scalars_of_the_box_stand_in_a_usual_order(tmp_path: Path) -> None:
    """sympy would print (-E + t)/E and (-eta_g/E + 1)."""
    text = (EXAMPLES / "scaffold.py").read_text().replace("x + eta_g *", "x + (t - E) / E *")
    text = text.replace("y - gamma(t) * (", "y - (1 - eta_g / E) * gamma(t) * (")
    (tmp_path / "mine.py").write_text(text)
    ((_, method),) = methods([str(tmp_path / "mine.py")])
    lines = "\n".join(algorithm(method))
    assert "y - gamma(t)*(1 - eta_g/E)*(noisy grad f_i(y) - c_i + c)" in lines
    assert "x + (t - E)/E*mean_i (y - x)" in lines
    assert r"\gamma_{t} \left(1 - \frac{\eta_g}{E}\right)" in "\n".join(algorithm(method, as_latex=True))


def test_what_cancels_in_the_source_is_not_printed() -> None:
    """The source writes eta_g * step * E with step = eta_t / (eta_g * E)."""
    lines = next(box(method) for _, method in methods() if "zhat" in {vector.name for vector in method.local})
    assert "eta_t/(E*eta_g)" in lines
    assert "prox_(eta_t g)" in lines
    assert "*E g)" not in lines
