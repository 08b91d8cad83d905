"""sympy for formulas: the same objects, all of them `Any` to a type checker.

sympy's annotations are partial (`Le(a, b)` may be a relation, a truth value or an integer), so that every line of a
formula would need an ignore. Papers import from here instead and need none. A name is missing: add a line.
"""

from typing import Any, cast

import sympy as _untyped  # pyright: ignore[reportMissingTypeStubs]

_sympy = cast("Any", _untyped)

# Relations and extrema are kept as they are written: sympy would try to decide each one as it is made, which is most of
# the time that it takes to read a paper, and would drop a condition that is always true. Otherwise they are the same.


def Eq(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is equal to `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Eq(T, 2)
    Eq(T, 2)
    """
    return _sympy.Eq(left, right, evaluate=evaluate)


def Ge(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is at least `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Ge(T, 2)
    T >= 2
    """
    return _sympy.Ge(left, right, evaluate=evaluate)


def Gt(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is more than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Gt(T, 2)
    T > 2
    """
    return _sympy.Gt(left, right, evaluate=evaluate)


def Le(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is at most `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Le(T, 2)
    T <= 2
    """
    return _sympy.Le(left, right, evaluate=evaluate)


def Lt(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is less than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Lt(T, 2)
    T < 2
    """
    return _sympy.Lt(left, right, evaluate=evaluate)


def Ne(left: Any, right: Any, evaluate: bool = False) -> Any:
    """`left` is other than `right`; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Ne(T, 2)
    Ne(T, 2)
    """
    return _sympy.Ne(left, right, evaluate=evaluate)


def Max(*args: Any, evaluate: bool = False) -> Any:
    """The largest of its arguments; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Max(T, 2).subs(T, 5)
    5
    """
    return _sympy.Max(*args, evaluate=evaluate)


def Min(*args: Any, evaluate: bool = False) -> Any:
    """The smallest of its arguments; kept as it is written.

    >>> import fedaudit as fa
    >>> T = fa.Glossary().count("T", "rounds")
    >>> fa.Min(T, 2).subs(T, 5)
    2
    """
    return _sympy.Min(*args, evaluate=evaluate)


And: Any = _sympy.And
Not: Any = _sympy.Not

Abs: Any = _sympy.Abs
Function: Any = _sympy.Function
IndexedBase: Any = _sympy.IndexedBase
Integer: Any = _sympy.Integer
Poly: Any = _sympy.Poly
Product: Any = _sympy.Product
Rational: Any = _sympy.Rational
Sum: Any = _sympy.Sum
Symbol: Any = _sympy.Symbol
erf: Any = _sympy.erf
exp: Any = _sympy.exp
log: Any = _sympy.log
sqrt: Any = _sympy.sqrt

diff: Any = _sympy.diff
fraction: Any = _sympy.fraction
limit: Any = _sympy.limit
simplify: Any = _sympy.simplify
solve: Any = _sympy.solve
together: Any = _sympy.together

e: Any = _sympy.E  # a paper's E is the number of local steps
oo: Any = _sympy.oo
pi: Any = _sympy.pi
