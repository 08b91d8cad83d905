"""Dimensions in two base units: F (objective value) and W (parameter length).

A true statement about all problems is invariant under rescaling f and w, so both sides of a relation, every term
of a sum and both sides of each condition have one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sympy import (
    Abs,
    Add,
    Basic,
    Indexed,
    Max,
    Min,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Rational,
    Sum,
    Symbol,
    erf,
    exp,
    log,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fedaudit.errors import UserError

from .knobs import knob_range

if TYPE_CHECKING:
    from .statement import Glossary


@dataclass(frozen=True, slots=True)
class Dimension:
    """F^f · W^w with rational exponents."""

    f: Fraction = Fraction(0)
    w: Fraction = Fraction(0)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(self.f + other.f, self.w + other.w)

    def __pow__(self, power: Fraction | int) -> Dimension:
        return Dimension(self.f * power, self.w * power)

    def __str__(self) -> str:
        parts = [u if e == 1 else f"{u}^{e}" for u, e in (("F", self.f), ("W", self.w)) if e]
        return "·".join(parts) or "1"


ONE = Dimension()


def dimension(text: str) -> Dimension:
    """Read "F/W^2", "W^2/F", "1", "F*W^-1"."""
    product, sign = ONE, 1
    for token in text.replace("/", " / ").replace("*", " ").replace("·", " ").split():
        if token == "/":
            sign = -1
            continue
        base, _, power = token.partition("^")
        unit = {"F": Dimension(f=Fraction(1)), "W": Dimension(w=Fraction(1)), "1": ONE}.get(base)
        if unit is None:
            raise UserError(f"got dimension {text!r}, expected powers of F and W; do: write it like 'F/W^2'")
        product = product * unit ** (sign * Fraction(power or 1))
        sign = 1
    return product


class DimensionError(ValueError):
    """Two parts that must agree in dimension do not. What it says is written when somebody asks."""

    def __str__(self) -> str:
        # Printing a formula takes longer than checking it, and a search over changed constants prints no mismatch.
        template, *parts = self.args
        return str(template.format(*parts) if parts else template)


def dimension_of(expr: Basic, glossary: Glossary) -> Dimension | None:
    """The dimension of an expression; None for zero, which has every dimension. Raises `DimensionError`."""
    if isinstance(expr, Number | NumberSymbol):
        return None if expr.is_zero else ONE
    if isinstance(expr, Symbol):
        if knob_range(expr.name):
            return ONE
        if expr not in glossary:
            raise DimensionError("{} is not in the glossary", expr)
        return glossary[expr].dim
    if isinstance(expr, AppliedUndef | Indexed):
        head = expr.func if isinstance(expr, AppliedUndef) else expr.base.label
        if head not in glossary:
            raise DimensionError("{} is not in the glossary", head)
        for index in expr.args if isinstance(expr, AppliedUndef) else expr.indices:
            _dimensionless(index, glossary, "index of {}", head)
        return glossary[head].dim
    if isinstance(expr, Add | Max | Min | Relational):
        return _agree(expr.args, glossary)
    if isinstance(expr, Mul):
        product = ONE
        for part in expr.args:
            dim = dimension_of(part, glossary)
            if dim is None:
                return None
            product = product * dim
        return product
    if isinstance(expr, exp | log | erf):
        _dimensionless(expr.args[0], glossary, "argument of {}", expr.func.__name__)
        return ONE
    if isinstance(expr, Pow):
        base, power = dimension_of(expr.base, glossary), expr.exp
        _dimensionless(power, glossary, "exponent in {}", expr)
        if base is None or base == ONE:
            return base
        if not isinstance(power, Rational):
            raise DimensionError("{} has dimension {} and is raised to {}", expr.base, base, power)
        return base ** Fraction(int(power.p), int(power.q))
    if isinstance(expr, Abs):
        return dimension_of(expr.args[0], glossary)
    if isinstance(expr, Sum):
        for limit in expr.limits:
            for bound in limit[1:]:
                _dimensionless(bound, glossary, "limit of the sum over {}", limit[0])
        return dimension_of(expr.function, glossary)
    if isinstance(expr, Boolean):
        for part in expr.args:
            dimension_of(part, glossary)
        return ONE
    raise DimensionError("no rule for the dimension of {} in {}", expr.func.__name__, expr)


def _agree(parts: tuple[Basic, ...], glossary: Glossary) -> Dimension | None:
    first: tuple[Basic, Dimension] | None = None
    for part in parts:
        dim = dimension_of(part, glossary)
        if dim is None:
            continue
        if first is None:
            first = (part, dim)
        elif dim != first[1]:
            raise DimensionError("{} has dimension {}, {} has {}", *first, part, dim)
    return first[1] if first else None


def _dimensionless(expr: Basic, glossary: Glossary, what: str, of: object) -> None:
    dim = dimension_of(expr, glossary)
    if dim not in (None, ONE):
        raise DimensionError(f"{what}: {{}} has dimension {{}}, expected none", of, expr, dim)
