"""The numbers printed in a statement: where they stand, what it says with one of them changed, and which have room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sympy import Basic, Dict, Expr, Indexed, Rational, Tuple
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from ..language.statement import Statement

Field: TypeAlias = Dict | tuple[Basic, ...] | Basic  # of a statement that has formulas


@dataclass(frozen=True, slots=True)
class Constant:
    """One printed number of a statement: in which field it stands, where in that expression, and its value."""

    field: str  # "then", "where", "choose", "when"
    key: Any  # the defined name, or the place in the field
    path: tuple[int, ...]
    value: Rational
    inside: Basic  # the smallest term around it

    def __str__(self) -> str:
        return f"{self.value} in {self.inside} ({self.field}{'' if isinstance(self.key, int) else f' {self.key}'})"


def constants(statement: Statement, fields: Sequence[str] = ("then", "where", "choose", "when")) -> list[Constant]:
    """Every number printed in a statement, exponents included; minus signs and divisions are not numbers."""
    constants: list[Constant] = []
    for name in fields:
        value: Field = getattr(statement, name)
        parts: Iterable[tuple[Expr | int, Basic]] = (
            value.items() if isinstance(value, Dict) else enumerate(value if isinstance(value, tuple) else (value,))
        )
        for key, expr in parts:
            constants += [Constant(name, key, path, number, inside) for path, number, inside in _numbers(expr, expr)]
    return constants


def _numbers(
    expr: Basic, inside: Basic, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Rational, Basic]]:
    if isinstance(expr, Rational):
        if expr not in (-1, 0):
            yield path, expr, inside
        return
    # The 0 of gap(0) and the ends of a sum are places, and no constants.
    if isinstance(expr, Indexed | AppliedUndef | Tuple):
        return
    for n, part in enumerate(expr.args):
        yield from _numbers(part, expr, (*path, n))


@dataclass(frozen=True, slots=True)
class Slack:
    """A constant that, multiplied by `factor`, makes a stronger claim which still follows numerically."""

    constant: Constant
    factor: Rational
    cited: str = ""  # the cited statement whose constant it is

    @property
    def text(self) -> str:
        """What the row says of it: the constant, what it could be, and how that was found out."""
        changed = f"{self.constant} could be {self.constant.value * self.factor}"
        if self.cited:
            return f"slack: in {self.cited}, {changed}: its condition would still be met"
        if self.constant.field == "when":
            return f"slack: {changed}: 1 % more is allowed, and it still follows"
        return f"slack: {changed}: 1 % stronger, and no violation found"

    def __str__(self) -> str:
        return self.text


def mutate(statement: Statement, constant: Constant, factor: Rational, *, evaluate: bool = True) -> Statement:
    """`statement` with one printed number multiplied by `factor`; `evaluate`: a relation may become true or false."""
    value: Field = getattr(statement, constant.field)
    changed = constant.value * factor

    def put(expr: Basic) -> Basic:
        return _put(expr, constant.path, changed, evaluate)

    if isinstance(value, Dict):
        mutant: object = {k: put(v) if k == constant.key else v for k, v in value.items()}
    elif isinstance(value, tuple):
        mutant = tuple(put(v) if n == constant.key else v for n, v in enumerate(value))
    else:
        mutant = put(value)
    return replace(statement, **{constant.field: mutant})


def _put(expr: Basic, path: tuple[int, ...], value: Expr, evaluate: bool) -> Basic:
    if not path:
        return value
    args = list(expr.args)
    args[path[0]] = _put(args[path[0]], path[1:], value, evaluate)
    return expr.func(*args, evaluate=evaluate) if isinstance(expr, Relational) else expr.func(*args)
