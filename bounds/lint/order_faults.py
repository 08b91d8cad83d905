"""Slips in a claim about orders of growth: what it does not speak of, and declarations that deny each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import get_args

from sympy import Expr, Indexed, Sum, Symbol
from sympy.core.function import AppliedUndef

from ..decide.dominance import Role, Roles, unmoved
from ..language.statement import Statement
from .fault import Fault

ROLES: tuple[Role, ...] = get_args(Role)
FORMULA = "formulas of parameters, without runs and sums"


def order_faults(statement: Statement) -> Iterator[Fault]:
    """All that keeps an order claim between formulas (`method="order"`) from being decided."""
    yield from _fields(statement)
    formulas = [statement.defined(part) for part in (*statement.relations, *statement.when)]
    about = {part for formula in formulas for part in formula.atoms(AppliedUndef, Indexed, Sum)}
    for part in sorted(about, key=str):
        do = "give it a letter of its own; a rate of a method is claimed with method=METHOD, in its measures"
        yield Fault(f"{part} in an order of growth", FORMULA, do)
    symbols = set[Symbol]().union(*(formula.free_symbols for formula in formulas))
    for symbol in sorted(symbols - set(statement.glossary), key=str):
        yield Fault(
            f"the symbol {symbol}", "one of the glossary", f"write {symbol} = GLOSSARY.symbol({symbol.name!r}, …)"
        )
    if not symbols:
        yield Fault("an order of growth without parameters", "some that may grow or vanish", 'write kind="inequality"')
    yield from _signs(statement)
    yield from _roles(statement)
    yield from contradictions(statement)


def _fields(statement: Statement) -> Iterator[Fault]:
    """What an order claim does not have."""
    if statement.choose:
        yield Fault("`choose` in an order of growth", "formulas alone", "write it in `where`")
    if statement.for_all:
        indices = ", ".join(map(str, statement.for_all))
        yield Fault(f"`for_all` of {indices} in an order of growth", FORMULA, "leave it out: a count needs no range")


def _signs(statement: Statement) -> Iterator[Fault]:
    """O, Omega and Theta compare sizes; what is below 0 by the domains of its symbols has none."""
    for relation in statement.relations:
        for side in map(statement.defined, relation.args):
            if side.is_nonpositive and side != 0:
                expected = "two sides that are not negative"
                yield Fault(
                    f"the side {side} of an order of growth, which is never positive", expected, f"write {-side}"
                )


def _roles(statement: Statement) -> Iterator[Fault]:
    """What is said of the parameters: every role once, and of parameters of the claim."""
    formulas = [statement.defined(part) for part in (*statement.relations, *statement.when)]
    read = set[Expr]().union(*(formula.free_symbols for formula in formulas))
    for field in (statement.let, statement.implicit):
        for n, one in enumerate(field):
            if one.name not in ROLES:
                got = f"the assumption {one.name!r} of an order of growth"
                yield Fault(got, f"one of {', '.join(ROLES)}", f"write Assumption('{ROLES[0]}', (…,))")
            elif not one.args:
                yield Fault(f"{one.name!r} without parameters", "some", f"write Assumption({one.name!r}, (T,))")
            elif any(other.name == one.name for other in field[:n]):
                letters = ", ".join(map(str, one.args))
                yield Fault(f"{one.name!r} twice, of {letters} too", "every assumption once", "put them together")
            for symbol in (s for s in one.args if s not in read):
                do = "name what defines it" if symbol in statement.where else "leave it out"
                yield Fault(f"{one.name!r} of {symbol}", "a parameter that the claim reads", do)


def contradictions(statement: Statement) -> Iterator[Fault]:
    """Parameters in two roles, or in one that the conditions exclude: along no path, so that all would be proved."""
    roles = Roles.of(statement)
    symbols: dict[Role, Iterable[Symbol]] = {"fixed": roles.fixed, "grows": roles.grows, "vanishes": roles.vanishes}
    doubles = [(s, *both) for both in combinations(ROLES, 2) for s in symbols[both[0]] if s in symbols[both[1]]]
    for symbol, one, other in sorted(doubles, key=str):
        got = f"{symbol}, which is both {one!r} and {other!r}"
        yield Fault(got, "one of them", f"leave {symbol} out of {one!r} or out of {other!r}")
    for unable, conditions in unmoved(statement) if not doubles else ():
        letters, why = ", ".join(map(str, unable)), " and ".join(map(str, conditions)) or "its domain"
        moves = " and ".join(repr(name) for name in ROLES if set(symbols[name]) & set(unable))
        do = f"leave {letters} out of {moves}" + (", or mend `when`" if conditions else "")
        yield Fault(f"{letters} in {moves}, which {why} excludes", "a parameter that can move", do)
