"""A formula as it is printed: the order of its terms and factors, and its fractions, which sympy does not keep.

A `Form` is one operation, the forms that it is made of, and the value of the whole. `form_of` makes one of any
expression, in the order that papers about convergence use: what decays stands first in a sum, a constant before the
bracket that it multiplies, Roman letters before Greek ones, 1 - x, a/(b c), 3 (L + alpha).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add, mul
from typing import Any

from sympy import (
    Abs,
    Add,
    And,
    Basic,
    E,
    Eq,
    Expr,
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
    Symbol,
    erf,
    exp,
    log,
    sympify,
)
from sympy.core.function import AppliedUndef

from .greek import in_greek

__all__ = ["RELATIONS", "Form", "addends", "form_of", "leaf", "ordered_terms"]

RELATIONS: dict[str, type] = {"<=": Le, "<": Lt, ">=": Ge, ">": Gt, "=": Eq, "!=": Ne}
CALLS: dict[str, type] = {
    "min": Min,
    "max": Max,
    "abs": Abs,
    "erf": erf,
    "exp": exp,
    "log": log,
    "and": And,
    "or": Or,
    "not": Not,
}
SUMS: dict[str, type] = {"sum": Sum, "product": Product}
BRACKET = 5  # the rank, as a factor, of a sum in brackets or of its power


@dataclass(frozen=True, slots=True)
class Form:
    """One operation: + - * / ^ neg, sqrt, a relation, a name of `CALLS` or `SUMS` (body, variable, low, high), `at` (a
    quantity at its indices), or `leaf`: a symbol, a number, anything else.
    """

    op: str
    args: tuple[Form, ...]
    value: Any  # an expression or a relation of sympy


def leaf(value: Basic | float) -> Form:
    return Form("leaf", (), sympify(value, strict=True))  # text is never read as a formula


def addends(form: Form) -> list[tuple[bool, Form]]:
    """The terms of a sum in their order, each with whether it is added."""
    if form.op not in ("+", "-"):
        return [(True, form)]
    left, right = form.args
    same = form.op == "+"
    return [*addends(left), *((plus == same, term) for plus, term in addends(right))]


def form_of(whole: Basic | float) -> Form:
    """The expression as it is printed; an expression that this module does not know is a leaf."""
    return _form_of(whole)


@lru_cache(maxsize=16384, typed=True)  # typed: True is not 1
def _form_of(whole: Basic | float) -> Form:
    if not isinstance(whole, Basic):
        return leaf(whole)
    expr = whole
    if isinstance(expr, Add):
        return _sum(expr)
    if isinstance(expr, Mul):
        return _product(expr)
    if isinstance(expr, Rational) and expr < 0:
        return Form("neg", (leaf(-expr),), expr)
    if isinstance(expr, Pow) or (isinstance(expr, exp) and expr.exp.is_Rational):
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
    """The terms in their order, with a common whole number in front of a bracket."""
    content, inside = expr.primitive()
    if content.is_Integer and content > 1:
        return Form("*", (leaf(content), form_of(inside)), expr)
    first, *others = ordered_terms(expr)
    if first.could_extract_minus_sign():  # so do all of them
        return Form("neg", (form_of(-expr),), expr)
    whole = form_of(first)
    for term in others:
        if term.could_extract_minus_sign():
            whole = Form("-", (whole, form_of(-term)), whole.value + term)
        else:
            whole = Form("+", (whole, form_of(term)), whole.value + term)
    return whole


def ordered_terms(total: Add) -> list[Expr]:
    """What decays with an exponent first, then what depends on a round, then constants; what is subtracted last, and
    a number first where something is subtracted.
    """
    terms: list[Expr] = list(total.as_ordered_terms())
    signed = any(term.could_extract_minus_sign() for term in terms)
    return sorted(terms, key=lambda term: (term.could_extract_minus_sign(), _term_rank(term, signed)))


def _term_rank(term: Expr, signed: bool) -> tuple[int | Expr, ...]:
    """Many quantities and small powers first, so that a recursion reads (1 - a) x(t) + b x(t)^2 + c."""
    if term.is_number:
        return (0 if signed else 4, 0, 0)
    if any(not power.exp.is_number for power in term.atoms(Pow)):
        return (1, 0, 0)
    powers = [factor.as_base_exp() for factor in Mul.make_args(term)]
    degrees = [power for base, power in powers if isinstance(base, AppliedUndef) and power.is_number]
    if degrees:
        return (2, -len(degrees), max(degrees))
    counted = any(symbol.is_integer and not symbol.is_positive for symbol in term.free_symbols)
    return (3 if counted else 4, 0, 0)


def _product(expr: Mul) -> Form:
    """A fraction; what stands above it in brackets comes behind it, if something else stands above too."""
    if expr.could_extract_minus_sign() and expr.as_coeff_Mul()[0] < 0:
        return Form("neg", (form_of(-expr),), expr)
    above, below = list[Expr](), list[Expr]()
    for factor in sorted(expr.as_ordered_factors(), key=_factor_rank):
        if isinstance(factor, Rational):
            above += [] if factor.p == 1 else [Rational(factor.p)]
            below += [] if factor.q == 1 else [Rational(factor.q)]
        elif factor.as_base_exp()[1].could_extract_minus_sign():
            below.append(1 / factor)
        else:
            above.append(factor)
    if not below:
        return _chain("*", above)
    plain = [factor for factor in above if _factor_rank(factor) < BRACKET]
    bracketed = [factor for factor in above if _factor_rank(factor) >= BRACKET]
    if bracketed and any(not factor.is_number for factor in plain):
        fraction = _fraction(plain, below)
        return Form("*", (fraction, _chain("*", bracketed)), expr)
    return _fraction(above, below)


def _fraction(above: Sequence[Expr], below: Sequence[Expr]) -> Form:
    top, bottom = _chain("*", above) if above else leaf(1), _chain("*", below)
    return Form("/", (top, bottom), top.value / bottom.value)


def _factor_rank(factor: Expr) -> int:
    """Numbers, Roman letters, Greek letters, words, step sizes and roots, brackets, then what is measured on a run."""
    base = factor.as_base_exp()[0]
    if factor.is_number:
        return 0
    if not isinstance(base, Symbol):
        measured = isinstance(base, AppliedUndef | Indexed | Sum | Product) and not base.is_positive
        return BRACKET if base.is_Add or base.is_Mul else BRACKET + 1 if measured else 4
    stem = base.name.partition("_")[0]
    return 1 if len(stem) == 1 else 2 if in_greek(stem) != stem else 3


def _power(expr: Expr) -> Form:
    base, power = expr.as_base_exp()
    if power == Rational(1, 2):
        return Form("sqrt", (form_of(base),), expr)
    if power.could_extract_minus_sign():
        return Form("/", (leaf(1), form_of(1 / expr)), expr)
    return leaf(E) if power == 1 else Form("^", (form_of(base), form_of(power)), expr)


def _chain(op: str, parts: Sequence[Expr]) -> Form:
    join = {"+": add, "*": mul}[op]
    forms = [form_of(part) for part in parts]
    return reduce(lambda left, right: Form(op, (left, right), join(left.value, right.value)), forms)
