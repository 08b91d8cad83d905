"""sympy for formulas: the names that papers use, from one place.

Relations and extrema are kept as they are written: sympy would try to decide each one as it is made, which is most of
the time that it takes to read a paper, and would drop a condition that is always true. Otherwise they are the same. A
name is missing: add it to the import, and to typings/sympy, which says what a type checker knows of it.
"""

from __future__ import annotations

import sympy as _sympy
from sympy import (
    Abs,
    And,
    Expr,
    Function,
    IndexedBase,
    Integer,
    Not,
    Poly,
    Product,
    Rational,
    Sum,
    Symbol,
    diff,
    erf,
    exp,
    fraction,
    limit,
    log,
    oo,
    pi,
    simplify,
    solve,
    sqrt,
    together,
)
from sympy import E as e  # a paper's E is the number of local steps

__all__ = [
    "Abs",
    "And",
    "Eq",
    "Function",
    "Ge",
    "Gt",
    "IndexedBase",
    "Integer",
    "Le",
    "Lt",
    "Max",
    "Min",
    "Ne",
    "Not",
    "Poly",
    "Product",
    "Rational",
    "Sum",
    "Symbol",
    "diff",
    "e",
    "erf",
    "exp",
    "fraction",
    "limit",
    "log",
    "oo",
    "pi",
    "simplify",
    "solve",
    "sqrt",
    "together",
]  # fmt: skip


def Eq(left: object, right: object, evaluate: bool = False) -> _sympy.Eq:
    """`left` is equal to `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Eq(T, 2)
    Eq(T, 2)
    """
    return _sympy.Eq(left, right, evaluate=evaluate)


def Ge(left: object, right: object, evaluate: bool = False) -> _sympy.Ge:
    """`left` is at least `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Ge(T, 2)
    T >= 2
    """
    return _sympy.Ge(left, right, evaluate=evaluate)


def Gt(left: object, right: object, evaluate: bool = False) -> _sympy.Gt:
    """`left` is more than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Gt(T, 2)
    T > 2
    """
    return _sympy.Gt(left, right, evaluate=evaluate)


def Le(left: object, right: object, evaluate: bool = False) -> _sympy.Le:
    """`left` is at most `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Le(T, 2)
    T <= 2
    """
    return _sympy.Le(left, right, evaluate=evaluate)


def Lt(left: object, right: object, evaluate: bool = False) -> _sympy.Lt:
    """`left` is less than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Lt(T, 2)
    T < 2
    """
    return _sympy.Lt(left, right, evaluate=evaluate)


def Ne(left: object, right: object, evaluate: bool = False) -> _sympy.Ne:
    """`left` is other than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Ne(T, 2)
    Ne(T, 2)
    """
    return _sympy.Ne(left, right, evaluate=evaluate)


def Max(*args: Expr | float, evaluate: bool = False) -> Expr:
    """The largest of its arguments; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Max(T, 2).subs(T, 5)
    5
    """
    return _sympy.Max(*args, evaluate=evaluate)


def Min(*args: Expr | float, evaluate: bool = False) -> Expr:
    """The smallest of its arguments; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Min(T, 2).subs(T, 5)
    2
    """
    return _sympy.Min(*args, evaluate=evaluate)
