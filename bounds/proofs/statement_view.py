"""A statement as a proof sees it: its definitions written out, the step size that it chooses put in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Basic, Eq, Expr, Le
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, true

from ..language.derivation import View, domains, put_in
from ..language.statement import Statement, with_values


def view(statement: Statement, substitute: Mapping[Any, Any] | None = None, within: Statement | None = None) -> View:
    """`statement` with its definitions written out; cited `within` another, with that one's values and choices in."""
    pairs = tuple((substitute or {}).items())

    def write(expr: object) -> Any:
        return write_out(expr, statement, pairs, within)

    requires = [write(condition) for condition in statement.when]
    for index, (low, high) in statement.for_all.items():
        requires += [write(Le(low, index)), write(Le(index, high))]
    if within is not None:
        for quantity, value in statement.choose.items():
            # What is proved for one step size is cited at that step size alone.
            own = within.choose[quantity] if quantity in within.choose else put_in(quantity, pairs)
            requires.append(_equal(write(value), within.defined(own)))
        requires += [within.defined(_choose(needed, within)) for needed in domains(pairs)]
    names = tuple(a.name for a in (*statement.let, *statement.implicit))
    relations = relations_of(statement, pairs, within)
    return View(statement.id, relations, tuple(r for r in requires if r is not true), names)


def relations_of(
    statement: Statement, pairs: tuple[tuple[object, Any], ...] = (), within: Statement | None = None
) -> tuple[Relational, ...]:
    """The relations that the `view` of a statement has."""
    written = (write_out(relation, statement, pairs, within) for relation in statement.relations)
    return tuple(r for r in written if isinstance(r, Relational))


def write_out(
    expr: object, statement: Statement, pairs: tuple[tuple[object, Any], ...], within: Statement | None
) -> Any:
    written = statement.defined(expr)
    if within is not None:
        written = within.defined(put_in(written, pairs))
        return within.defined(_choose(written, within))
    return statement.defined(_choose(written, statement))


def _equal(left: Expr, right: Expr) -> Boolean:
    return Eq(left, right, evaluate=False) if left != right else true


def _choose(expr: Basic, statement: Statement) -> Basic:
    """Put the chosen step size in, at whatever index it is used."""
    for quantity, value in statement.choose.items():
        if not isinstance(quantity, AppliedUndef):
            expr = with_values(expr, {quantity: value})
            continue
        for use in expr.atoms(AppliedUndef):
            if use.func == quantity.func:
                index = dict(zip(quantity.args, use.args, strict=True))
                expr = with_values(expr, {use: with_values(value, index)})
    return expr
