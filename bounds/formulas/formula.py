"""A formula as it is written: the order of its terms and factors, and its fractions, which sympy does not keep.

A `Form` is one operation, the forms that it is made of, and the value of the whole. `written.py` reads forms from the
source of a statement; `form_of` makes one of any expression, in a usual order: 1 - x, a/(b c), 3 (L + alpha).
"""

# sympy is annotated only in part (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add, mul, neg, sub, truediv
from typing import Any

from sympy import (
    Abs,
    Add,
    And,
    Basic,
    Eq,
    Ge,
    Gt,
    Indexed,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Not,
    Or,
    Pow,
    Product,
    Rational,
    Sum,
    exp,
    log,
    sqrt,
    sympify,
)
from sympy.core.function import AppliedUndef

__all__ = ["RELATIONS", "Form", "addends", "form_of", "leaf", "recomputed"]

RELATIONS: dict[str, type] = {"<=": Le, "<": Lt, ">=": Ge, ">": Gt, "=": Eq, "!=": Ne}
CALLS: dict[str, type] = {"min": Min, "max": Max, "abs": Abs, "exp": exp, "log": log, "and": And, "or": Or, "not": Not}
SUMS: dict[str, type] = {"sum": Sum, "product": Product}
KEPT = (Le, Lt, Ge, Gt, Eq, Ne, Min, Max)  # are not decided as they are made (algebra.py)


@dataclass(frozen=True, slots=True)
class Form:
    """One operation: + - * / ^ neg, sqrt, a relation, a name of `CALLS` or `SUMS` (body, variable, low, high), `at` (a
    quantity at its indices), or `leaf`: a symbol, a number, anything else.
    """

    op: str
    args: tuple[Form, ...]
    value: Any


def leaf(value: Any) -> Form:
    return Form("leaf", (), sympify(value, strict=True))  # text is never read as a formula


def recomputed(form: Form) -> Any:
    """The value of a form by its operations alone."""
    if form.op == "leaf":
        return form.value
    args = [recomputed(arg) for arg in form.args]
    plain: dict[str, Callable[..., Any]] = {
        "+": add, "-": sub, "*": mul, "/": truediv, "^": pow, "neg": neg, "sqrt": sqrt,
    }  # fmt: skip
    if form.op in plain:
        return plain[form.op](*args)
    if form.op in SUMS:
        body, variable, low, high = args
        return SUMS[form.op](body, (variable, low, high))
    if form.op == "at":
        return form.value.func(*args) if isinstance(form.value, AppliedUndef) else form.value.base[tuple(args)]
    head = RELATIONS.get(form.op) or CALLS[form.op]
    return head(*args, evaluate=False) if head in KEPT else head(*args)


def addends(form: Form) -> list[tuple[bool, Form]]:
    """The terms of a sum in their order, each with whether it is added."""
    if form.op not in ("+", "-"):
        return [(True, form)]
    left, right = form.args
    same = form.op == "+"
    return [*addends(left), *((plus == same, term) for plus, term in addends(right))]


def form_of(whole: Any) -> Form:
    """An expression in a usual order; what this module does not know is a leaf."""
    return _form_of(whole)


@lru_cache(maxsize=16384, typed=True)  # typed: True is not 1
def _form_of(whole: Any) -> Form:
    if not isinstance(whole, Basic):
        return leaf(whole)
    expr: Any = whole
    if isinstance(expr, Add):
        return _sum(expr)
    if isinstance(expr, Mul):
        return _product(expr)
    if isinstance(expr, Rational) and expr < 0:
        return Form("neg", (leaf(-expr),), expr)
    if isinstance(expr, Pow):
        return _power(expr)
    if isinstance(expr, AppliedUndef | Indexed):
        indices = expr.indices if isinstance(expr, Indexed) else expr.args
        return Form("at", tuple(map(form_of, indices)), expr)
    for name, head in {**RELATIONS, **CALLS}.items():
        if type(expr) is head:
            return Form(name, tuple(map(form_of, expr.args)), expr)
    for name, head in SUMS.items():
        if type(expr) is head:
            return _over(name, expr)
    return leaf(expr)


def _over(name: str, expr: Any) -> Form:
    """A sum or a product over one index."""
    if len(expr.limits) != 1 or len(expr.limits[0]) != 3:
        return leaf(expr)
    return Form(name, (form_of(expr.function), *map(form_of, expr.limits[0])), expr)


def _sum(expr: Add) -> Form:
    """Numbers first where something is subtracted, negative terms last, a common whole number in front."""
    content, inside = expr.primitive()
    if content.is_Integer and content > 1:
        return Form("*", (leaf(content), form_of(inside)), expr)
    terms: list[Any] = list(expr.as_ordered_terms())
    plus = [t for t in terms if not t.could_extract_minus_sign()]
    minus = [t for t in terms if t.could_extract_minus_sign()]
    if minus:
        plus = [*(t for t in plus if t.is_number), *(t for t in plus if not t.is_number)]
    if not plus:
        return Form("neg", (form_of(-expr),), expr)
    made = _chain("+", plus)
    for term in minus:
        made = Form("-", (made, form_of(-term)), made.value + term)
    return made


def _product(expr: Mul) -> Form:
    if expr.could_extract_minus_sign() and expr.as_coeff_Mul()[0] < 0:
        return Form("neg", (form_of(-expr),), expr)
    above, below = list[Any](), list[Any]()
    for factor in expr.as_ordered_factors():
        power = factor.as_base_exp()[1] if isinstance(factor, Pow) else 1
        if isinstance(factor, Rational):
            above += [] if factor.p == 1 else [Rational(factor.p)]
            below += [] if factor.q == 1 else [Rational(factor.q)]
        elif getattr(power, "could_extract_minus_sign", bool)():
            below.append(1 / factor)
        else:
            above.append(factor)
    if not below:
        return _chain("*", above)
    return Form("/", (_chain("*", above) if above else leaf(1), _chain("*", below)), expr)


def _power(expr: Pow) -> Form:
    base, power = expr.base, expr.exp
    if power == Rational(1, 2):
        return Form("sqrt", (form_of(base),), expr)
    if power.could_extract_minus_sign():
        return Form("/", (leaf(1), form_of(1 / expr)), expr)
    return Form("^", (form_of(base), form_of(power)), expr)


def _chain(op: str, parts: Sequence[Any]) -> Form:
    join = {"+": add, "*": mul}[op]
    forms = [form_of(part) for part in parts]
    return reduce(lambda left, right: Form(op, (left, right), join(left.value, right.value)), forms)
