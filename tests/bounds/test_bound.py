"""Bounds in numbers: by hand, against sympy, under conditions; the best choice; what matters; where bounds cross."""

from __future__ import annotations

import csv
import doctest
import importlib
import io
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from marks import some
from sympy import Rational, Symbol
from sympy.core.function import AppliedUndef

import fedaudit as fa
from fedaudit.bounds.catalogue.bound_optimisation import crossings, minimise, sensitivity
from fedaudit.bounds.catalogue.bound_values import plan
from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.formulas.lowering import written
from fedaudit.bounds.language.symbol_values import axes_of, number, points
from fedaudit.cli import main

CONSTANTS = {"L": 10, "mu": 1, "alpha": 1, "E": 5, "G": 2, "sigma": 1, "Gamma": 1, "S": "0.1", "Delta": 3}
TEXTS = [f"{name}={value}" for name, value in CONSTANTS.items()]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str) -> tuple[int, str, str]:
        status = main(["bound", *argv])
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


def test_a_theorem_is_its_terms_by_hand() -> None:
    made = fa.statement("buttaci/thm4.1-I").bound(**CONSTANTS, t=3, T=100)
    F = Fraction
    by_hand = [
        F(2 * 25 * 4 * 10, 11),
        F(10, 11) * F(1, 10) / 4,
        F(10, 11) * F(3 * 10, 2),
        30 * (1 - F(1, 33)) ** 3,
    ]
    assert sorted(t.value.exact for t in made.terms) == sorted(by_hand)
    assert made.value.exact == sum(by_hand)
    assert made.computed["gamma(t)"].exact == F(1, 110)
    assert made.computed["L_alpha"].exact == 11
    assert [(c.condition, c.holds) for c in made.conditions] == [("mu <= L", True), ("0 <= t <= T", True)]


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    theorem = fa.statement("buttaci/thm4.1-I")
    plain = theorem.bound(**CONSTANTS, t=3, T=100).value.exact
    given = {**CONSTANTS, "L": np.int64(10), "G": np.float64(2), "S": np.float64(0.1), "sigma": np.float32(1)}
    assert theorem.bound(**given, t=np.int64(3), T=100).value.exact == plain
    with pytest.raises(fa.UserError, match="a finite number"):
        theorem.bound(**{**CONSTANTS, "G": np.float64("nan")}, t=3, T=100)


def test_constants_that_no_problem_has_are_said() -> None:
    with pytest.raises(fa.UserError, match="mu <= L"):
        fa.statement("buttaci/thm4.1-I").bound(**CONSTANTS | {"mu": 10**6}, t=3, T=100)
    assert "mu <= L" not in {c.condition for c in fa.statement("buttaci/lem4.1").bound(E=5, G=2, gamma=1).conditions}


def test_a_variant_has_the_fields_that_were_given_and_no_derivation_of_the_old_claim() -> None:
    theorem = fa.statement("buttaci/thm4.1-I")
    assert theorem.follows_from
    variant = theorem.variant(id="mine/thm", when=())
    assert (variant.id, variant.when, variant.follows_from) == ("mine/thm", (), ())
    assert (variant.then, variant.let) == (theorem.then, theorem.let)
    with pytest.raises(fa.UserError, match="letters, digits"):
        theorem.variant(id="no id")


def test_a_repr_is_one_short_line() -> None:
    for claim in statements():
        assert len(repr(claim)) < 220
        assert claim.id in repr(claim)


@pytest.mark.parametrize(
    "statement", some([s for s in statements() if s.relations], 9, "the whole catalogue"), ids=lambda s: s.id
)
def test_the_terms_add_up_to_what_sympy_says(statement: fa.Statement) -> None:
    rng = random.Random(statement.id)
    for relation, side in zip(statement.relations, plan(statement).sides, strict=True):
        right = written(statement, relation.args[1])
        for chosen, value in statement.choose.items():
            if isinstance(chosen, AppliedUndef):
                right = right.replace(chosen.func, lambda at, c=chosen, v=value: v.subs(c.args[0], at))
        right = written(statement, right).doit()
        if right.atoms(AppliedUndef) or right.has(fa.Sum) or "Indexed" in str(type(right)) or "[" in str(right):
            continue
        values = {
            s.name: Fraction(rng.randint(1, 9), 1 if s.is_integer else rng.choice([1, 2, 3, 10]))
            for s in right.free_symbols
        }
        expected = right.subs({s: Rational(values[s.name]) for s in right.free_symbols if isinstance(s, Symbol)})
        if not expected.is_real or not expected.is_finite:
            continue
        ready = plan(statement)
        values |= {needed.name: Fraction(2) for needed in ready.missing(values)}  # what sympy cancels
        got = [float(made(ready.scope(values))) for _, made in side.terms]
        assert math.isclose(sum(got), float(expected), rel_tol=1e-9, abs_tol=1e-9 * max(map(abs, got), default=0))


def test_the_best_step_size_is_where_the_derivative_is_zero() -> None:
    """Of a t + c/t: the square root; and a condition that forbids it is attained."""
    glossary = fa.Glossary()
    x, c, most = glossary.symbol("x", "1", "free"), glossary.symbol("c", "1", "c"), glossary.symbol("m", "1", "limit")
    y = glossary.symbol("y", "1", "left")
    claim = fa.Statement(
        id="mine/best", kind="inequality", title="t", cite="c", method="scalar", glossary=glossary,
        when=(fa.Le(x, most),), then=fa.Le(y, x + c / x),
    )  # fmt: skip
    free = minimise(plan(claim), "x", {"c": Fraction(9), "m": Fraction(100)})
    assert (free.value, free.bound.value.exact) == (3, 6)
    assert "golden" in free.how
    held = minimise(plan(claim), "x", {"c": Fraction(9), "m": Fraction(7, 3)})
    assert held.value == Fraction(7, 3)
    assert not held.bound.failing


def test_the_best_count_is_found_by_trying_each() -> None:
    ready = plan(fa.statement("buttaci/lemB.2"))
    texts = [*TEXTS[:7], "p=1/10", "C=10", "Delta=3", "t=1000", "gamma=1/5000"]
    (values,) = points(axes_of([text for text in texts if not text.startswith("E=")]))
    best = minimise(ready, "E", values)
    tried = {E: ready.at({**values, "E": Fraction(E)}).value.approx for E in range(1, 60)}
    assert best.value == min(tried, key=tried.__getitem__)
    assert "exactly" in best.how


def test_elasticities_are_exponents_of_a_monomial() -> None:
    values = {"gamma": Fraction(1, 100), "E": Fraction(5), "G": Fraction(2), "alpha": Fraction(1)}
    made = sensitivity(plan(fa.statement("buttaci/lem4.1")), values)
    assert {name: round(x or 0.0, 9) for name, x in made.items()} == {"gamma": 2, "E": 2, "G": 2, "alpha": 0}


def test_bounds_cross_where_their_order_changes() -> None:
    axis = [Fraction(x) for x in range(4)]
    (found,) = crossings(["a", "b"], axis, [[1, 2, 3, 4], [2, 2, 2, 2]])
    assert (found.lower_before, found.lower_after, found.last, found.first) == ("a", "b", 0, 2)
    assert crossings(["a", "b"], axis, [[1, 1, 1, 1], [2, 2, 2, math.nan]]) == []


def test_numbers_are_parsed_exactly_and_never_evaluated() -> None:
    assert [number(t) for t in ("10", "1/3", "0.1", "1e-3", "-.5", "2.5e1/5")] == [
        10, Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000), Fraction(-1, 2), 5,
    ]  # fmt: skip
    for text in ("", "x", "1+1", "__import__('os')", "1/0", "1e9999", "nan", "inf", "٣"):
        with pytest.raises(fa.UserError):
            number(text)
    assert axes_of(["t=0:1:1/2"])["t"] == (0, Fraction(1, 2), 1)


BAD = {
    "unknown": (["buttaci/lem4.1", "alpa=1"], "did you mean alpha?"),
    "missing": (["buttaci/lem4.1", "E=5"], "G (bound on the stochastic gradients"),
    "no domain": (["buttaci/lem4.1", "E=5/2", "G=1", "gamma=1"], "a whole number from 1 on"),
    "condition": (["buttaci/lem4.1", "E=5", "G=1", "gamma=2", "alpha=1"], "its condition gamma(t) <= 1/alpha"),
    "fixed": (["buttaci/thm4.1-I", *TEXTS, "t=1", "gamma=1"], "gamma(t) = 1/(2*E*L_alpha)"),
    "several": (["buttaci/lem4.*", "E=1"], "one id"),
    "twice": (["buttaci/lem4.1", "E=1", "E=2"], "every symbol once"),
    "no number": (["buttaci/lem4.1", "E=one"], "a number"),
    "too many": (["buttaci/lem4.1", "E=1:1000000"], "at most 100,000"),
    "nothing to minimise": (["buttaci/lem4.1", "E=1", "G=1", "gamma=1", "--minimise", "L"], "does not depend"),
    "no choice": (["buttaci/lem4.1", "E=1", "G=1", "gamma=1", "--minimise", "E"], "leave E=1 out"),
    "both": (["buttaci/lem4.1", "--json", "--csv"], "not allowed"),
}


@pytest.mark.parametrize(("argv", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(run: Run, argv: list[str], said: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert said in err


def test_a_range_is_a_table_whose_rows_say_which_condition_fails(run: Run) -> None:
    argv = ["buttaci/lem4.1", "G=2", "gamma=1/100,1", "--json", "E=1:4", "alpha=10"]
    rows = json.loads(run(*argv)[1])
    assert [(r["values"]["gamma"], r["values"]["E"], bool(r["failing"])) for r in rows] == [
        (gamma, str(E), gamma == "1") for gamma in ("1/100", "1") for E in range(1, 5)
    ]
    status, out, _ = run(*[a for a in argv if a != "--json"], "--csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert [line["fails"] for line in lines] == ["; ".join(r["failing"]) for r in rows]
    assert [line["exact"] for line in lines] == [r["exact"] for r in rows]


def test_two_statements_side_by_side_and_where_they_cross(run: Run) -> None:
    argv = ["buttaci/thm4.1-I", "--compare", "buttaci/thm4.1-II", *TEXTS[:-1], "Delta=300", "t=0:20:5"]
    status, out, _ = run(*argv)
    assert status == 0
    assert "they cross between t = " in out
    rows = json.loads(run(*argv, "--json")[1])
    assert {r["id"] for r in rows} == {"buttaci/thm4.1-I", "buttaci/thm4.1-II"}
    assert sum(len(r["crosses"]) for r in rows) == out.count("they cross")


def test_the_text_names_terms_choices_conditions_and_elasticities(run: Run) -> None:
    status, out, err = run("buttaci/lemB.2", *TEXTS[:-2], "p=1/10", "C=10", "Delta=3", "t=10", "--minimise", "gamma",
                           "--sensitivity")  # fmt: skip
    assert (status, err) == (0, "")
    for said in ("gap(t) <= ", "best gamma = ", "golden section", "computed:", "conditions:", "elasticity", "needs T"):
        assert said in out


def test_a_table_from_python_marks_what_fails_and_one_point_raises() -> None:
    claim = fa.statement("buttaci/lem4.1")
    rows = claim.bound_table(gamma=["1/2", 2], alpha=1, E=1, G=1)
    assert [bool(row.failing) for row in rows] == [False, True]
    with pytest.raises(fa.UserError, match="condition"):
        claim.bound(gamma=2, alpha=1, E=1, G=1)
    assert claim.bound(gamma=0.1, E=1, G=1).value.exact == Fraction(1, 100)


@pytest.mark.parametrize("module", ["fedaudit.bounds.language.statement", "fedaudit.bounds.catalogue.bound_values"])
def test_the_examples_of_docstrings_say_what_comes_out(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert not found.failed
