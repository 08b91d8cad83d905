"""Upper ends of symbols that a statement leaves free: of gamma <= 1/(4 L) and 8 gamma L (E - 1) <= 1 the smaller one.

A search that draws such a symbol anywhere loses most of its runs to the conditions, and seldom meets the end, where
theorems are tight. So it draws a share of the upper end instead: a sweep that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Basic, Expr, Ge, Gt, Le, Lt, Max, Symbol
from sympy.core.function import AppliedUndef

from ..language.knobs import unit
from ..language.method import Method
from ..language.statement import Statement

__all__ = ["swept_below_ends"]


def swept_below_ends(statement: Statement) -> Mapping[Expr, Expr]:
    """Free positive symbol -> a knob times its upper end, for those that conditions bound by known constants.

    Of c s <= d, with c and d free of s, the end is d/c. Several are one over the largest c/d, where c may be 0.
    """
    if isinstance(statement.method, str):
        return {}
    rates: dict[Symbol, list[Expr]] = {}
    for condition in statement.when:
        for symbol in _free(statement, statement.method, condition):
            if (rate := _rate(statement.defined(condition), symbol)) is not None:
                rates.setdefault(symbol, []).append(rate)
    ends = {s: Max(*each) for s, each in rates.items() if any(rate.is_positive for rate in each)}
    return {s: unit(s.name) / end for s, end in ends.items()}


def _free(statement: Statement, method: Method, condition: Basic) -> set[Symbol]:
    """Symbols of a condition that nothing else determines."""
    determined = {*statement.sweep, *statement.choose, *statement.where, *statement.for_all}
    determined |= {arg for a in (*statement.let, *statement.implicit) for arg in a.args}
    # Every run measures Gamma and has weights p, whatever its method declares.
    reserved = {*_names(method), "Gamma", "p"}
    symbols = {s for s in condition.free_symbols if isinstance(s, Symbol) and s in statement.glossary}
    return {s for s in symbols - determined if s.is_positive and not s.is_integer and s.name not in reserved}


def _names(method: Method) -> set[str]:
    """Letters that the method has for sizes and indices, and its measures."""
    return {str(letter) for letter in method.names} | {str(q.func) for q in method.measures if q.args}


def _rate(condition: Basic, symbol: Symbol) -> Expr | None:
    """c/d of a condition c symbol <= d, neither of which may be below 0; None of any other."""
    if not isinstance(condition, Le | Lt | Ge | Gt):
        return None
    small, large = (condition.lhs, condition.rhs) if isinstance(condition, Le | Lt) else (condition.rhs, condition.lhs)
    if large.has(symbol):
        return None
    rate = small / symbol / large
    run = any(part.args for part in rate.atoms(AppliedUndef))
    return rate if not rate.has(symbol) and rate.is_nonnegative and not run else None
