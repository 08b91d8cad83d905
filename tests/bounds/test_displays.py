"""Displays that restate or specialise another one: typed from their own place, then compared term by term."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest
from marks import slow
from sympy import Le, Symbol

from fedaudit.bounds import papers
from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.factors.term_factors import terms
from fedaudit.verify.moves.audit import derived

INTRODUCTION = [
    f"buttaci/sec1.2-{n}"
    for n in ("spectral", "fedprox-nonconvex", "fedprox-convex", "perturbed-nonconvex", "perturbed-convex")
]
RESTATED = [
    *INTRODUCTION,
    *(f"benmansour/eq{n}" for n in ("13", "14", "17", "18", "18-error", "19", "20")),
    "fallah/thm4.5~explicit",  # (111)
    *(f"yuan/{n}" for n in ("rem1", "rem2", "rem2~lgd", "rem6-comparable", "rem6-slower", "rem6-all", "rem7")),
    *(f"yuan/table1-thm{n}" for n in (1, 2, 3, 4)),
]
CONCLUSION = ("then", "rhs", "order", "relations")


def modules(paper: str) -> Iterator[ModuleType]:
    folder = f"{papers.__name__}.{paper}"
    for found in pkgutil.iter_modules(import_module(folder).__path__, f"{folder}."):
        yield import_module(found.name)


def assigned(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def copied(value: ast.expr, tree: ast.Module) -> list[str]:
    """What a statement takes over of another one's conclusion, read from its source; helpers of the module included."""
    helpers = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
    called = [n for n in ast.walk(value) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    read: list[ast.AST] = [value, *(helpers[c.func.id] for c in called if c.func.id in helpers)]  # pyright: ignore
    found: list[str] = []
    for part in read:
        left = {id(n.value.value) for n in ast.walk(part) if left_side(n)}  # pyright: ignore
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and node.attr in CONCLUSION and id(node) not in left:
                found.append(ast.unparse(node))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "replace" and not says_then(node):
                found.append(f"{ast.unparse(node)[:60]} without its own then")
    return found


def says_then(call: ast.Call) -> bool:
    return "then" in {keyword.arg for keyword in call.keywords}


def left_side(node: ast.AST) -> bool:
    """`other.relations[n].lhs`: what is bounded may be named after the other statement."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "lhs"
        and isinstance(node.value, ast.Subscript)
        and isinstance(node.value.value, ast.Attribute)
    )


def source_of(display: Statement) -> tuple[ast.expr, ast.Module]:
    for module in modules(display.paper):
        tree = ast.parse(inspect.getsource(module))
        for name, value in assigned(tree).items():
            if getattr(module, name) is display:
                return value, tree
    raise AssertionError(f"{display.id} is assigned nowhere")


@pytest.mark.parametrize("name", RESTATED)
def test_a_display_is_typed_and_takes_no_conclusion_over(name: str) -> None:
    assert copied(*source_of(statement(name))) == []


@pytest.mark.parametrize(
    "source",
    [
        "X = replace(OTHER, id='x')",
        "X = replace(OTHER, id='x', then=OTHER.then)",
        "X = Statement(id='x', then=Le(gap(t), OTHER.relations[0].rhs))",
        "def same(other): return replace(other, id='x')\nX = same(OTHER)",
        "X = Statement(id='x', then=Le(gap(t), 2 * OTHER.order))",
    ],
)
def test_a_copy_is_noticed(source: str) -> None:
    tree = ast.parse(source)
    assert copied(assigned(tree)["X"], tree)


def test_what_is_bounded_may_be_named_after_the_source() -> None:
    tree = ast.parse("X = replace(OTHER, then=Le(OTHER.relations[0].lhs, 2 * L))")
    assert copied(assigned(tree)["X"], tree) == []


@pytest.mark.parametrize("name", RESTATED)
def test_a_display_has_something_that_it_is_compared_with(name: str) -> None:
    display = statement(name)
    assert display.follows_from or (display.kind == "order" and display.method == "order")


@slow("derives the theorems first")
@pytest.mark.parametrize("name", INTRODUCTION)
def test_the_introductions_rates_follow_from_their_theorems(name: str) -> None:
    result = derive(statement(name), catalogue())
    assert (result.status, result.factor) == ("follows", 1)
    assert result.terms


# --- the factor by term ----------------------------------------------------------------------------------------------

a, b, c = (Symbol(x, positive=True) for x in "abc")


def table(small: object, large: object, *conditions: object) -> dict[str, object]:
    return {str(t.term): t.factor for t in terms(small, large, conditions)}  # pyright: ignore[reportArgumentType]


def test_like_terms_differ_by_the_ratio_of_their_numbers() -> None:
    assert table(3 * a + b, a + 2 * b) == {"a": 3, "b": 0.5}


def test_a_term_without_its_like_is_covered_by_another_or_by_nothing() -> None:
    assert table(a + b, a) == {"a": 1, "b": "unbounded"}
    assert table(a, a + b) == {"a": 1, "b": 0}
    assert table(b, 2 * a, Le(b, a)) == {"b": pytest.approx(0.5, rel=1e-3)}


def test_what_is_subtracted_counts_for_the_other_side() -> None:
    assert table(a - b, a - 2 * b) == {"a": 1, "-b": 2}
    assert table(a, a - b) == {"a": 1, "-b": "unbounded"}
    assert table(a - b, a) == {"a": 1, "-b": 0}


def test_equation_13_claims_more_in_the_term_of_rho_bar_alone() -> None:
    row = derived(statement("benmansour/eq13")).row()
    assert row["status"] == "claims-more"
    off = {t["term"]: t["factor"] for t in row["terms"] if t["factor"] != 1}
    assert off == {"-mu*eta(t)/rho_bar*dist2(t)": "unbounded", "-mu*rho_bar*eta(t)*dist2(t)": 0}


def test_remark_2_claims_more_in_the_term_that_sampling_leaves() -> None:
    result = derive(statement("yuan/rem2~inequality"), catalogue(), slack=True)
    assert result.factor == "unbounded"
    assert [str(t.term) for t in result.terms if t.factor == "unbounded"] == ["G**2/(I*T**(1/3))"]


def test_every_sibling_has_its_id_and_says_what_it_reads_otherwise() -> None:
    known = catalogue()
    for sibling in [one for name, one in known.items() if "~" in name]:
        printed = known.get(sibling.id.partition("~")[0])
        assert printed is not None, sibling.id
        assert sibling.reading or sibling.repairs, sibling.id
        told = (sibling.reading, sibling.repairs, sibling.let, sibling.implicit, sibling.then, sibling.when)
        assert told != (printed.reading, printed.repairs, printed.let, printed.implicit, printed.then, printed.when)


def test_what_is_proved_waits_for_nothing() -> None:
    waiting = [one for one in catalogue().values() if one.waits_for]
    assert len(waiting) > 20
    assert [one.id for one in waiting if derive(one, catalogue(), slack=False).proved] == []
    assert all(one.waits_for[0].islower() or one.waits_for[0] == "|" for one in waiting)  # "a proof waits for ..."
