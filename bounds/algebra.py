"""sympy for formulas: the same objects, all of them `Any` to a type checker.

sympy's annotations are partial (`Le(a, b)` may be a relation, a truth value or an integer), so that every line of a
formula would need an ignore. Papers import from here instead and need none. A name is missing: add a line.
"""

from typing import Any, cast

import sympy as _untyped  # pyright: ignore[reportMissingTypeStubs]

_sympy = cast("Any", _untyped)

Eq: Any = _sympy.Eq
Ge: Any = _sympy.Ge
Gt: Any = _sympy.Gt
Le: Any = _sympy.Le
Lt: Any = _sympy.Lt
Ne: Any = _sympy.Ne
And: Any = _sympy.And
Not: Any = _sympy.Not

Abs: Any = _sympy.Abs
Function: Any = _sympy.Function
IndexedBase: Any = _sympy.IndexedBase
Integer: Any = _sympy.Integer
Max: Any = _sympy.Max
Min: Any = _sympy.Min
Poly: Any = _sympy.Poly
Product: Any = _sympy.Product
Rational: Any = _sympy.Rational
Sum: Any = _sympy.Sum
Symbol: Any = _sympy.Symbol
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
