"""Which of two conditions allows more."""

from __future__ import annotations

from sympy import Eq, Expr, Le, Lt, Rational, Symbol
from sympy.logic.boolalg import Boolean

from ...decide.decision import decide, refuted


def tighter(condition: Boolean, other: Boolean) -> bool:
    """Whether `condition` implies `other`, and not the other way round. (What is false is found sooner than proved.)"""
    share = _share(condition, other)
    if (share is not None and share <= 1) or _two_values(condition, other):
        return False
    there = decide(other, [condition], asking="false")
    if there.status == "false" or not refuted(condition, [other]):
        return False
    return there.proved or decide(other, [condition]).status == "true"


def _two_values(condition: Boolean, other: Boolean) -> bool:
    """Whether they set one symbol equal to values that it may have everywhere: both imply each other, or neither does.

    (Where the values differ, each is a point at which one equation holds and the other fails.)
    """
    if not isinstance(condition, Eq) or not isinstance(other, Eq) or condition.lhs != other.lhs:
        return False
    name = condition.lhs
    return isinstance(name, Symbol) and all(_allowed(name, equation.rhs) for equation in (condition, other))


def _allowed(name: Symbol, value: Expr) -> bool:
    """Whether `value`, which does not speak of `name`, is everywhere what the name declares itself to be."""
    declared = name.assumptions0.items()
    return not value.has(name) and all(getattr(value, f"is_{word}") is truth for word, truth in declared)


def _share(condition: Boolean, other: Boolean) -> Rational | None:
    """How much of a positive bound on the same expression the other one allows; None if they are no such bounds."""
    if type(condition) is not type(other) or not isinstance(condition, Le | Lt) or condition.lhs != other.lhs:
        return None
    share = other.rhs / condition.rhs
    return share if isinstance(share, Rational) and condition.rhs.is_positive else None
