"""Rational functions of symbols in lowest terms, by python-flint instead of sympy's `cancel`.

What comes out is what `cancel(together(expr))` gives, term by term, so that nothing else can tell them apart: integer
polynomials without a common factor, the denominator's leading coefficient positive in sympy's order of the symbols.
Anything that is no rational function of symbols and quantities (a root, an exponential, a minimum) is left to sympy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from flint import fmpz_mpoly, fmpz_mpoly_ctx
from sympy import Add, Expr, Indexed, Integer, Mul, Poly, Pow, Rational, Symbol, cancel, factor_list, together
from sympy.core.function import AppliedUndef

__all__ = ["cancelled", "factors_of", "never_negative", "over_common", "vanishes"]

LARGEST_POWER = 64  # an exponent beyond it is left to sympy, which does not multiply out what cancels


Unknown = Symbol | AppliedUndef | Indexed


class _Other(Exception):
    """Not a rational function of symbols and quantities."""


@dataclass(frozen=True, slots=True)
class _Ring:
    """Integer polynomials in some symbols and quantities, in sympy's order."""

    symbols: tuple[Expr, ...]
    context: fmpz_mpoly_ctx
    generators: dict[Expr, fmpz_mpoly]

    def expr(self, polynomial: fmpz_mpoly) -> Expr:
        """The polynomial, multiplied out, as sympy writes it."""
        return Add(
            *(
                Mul(Integer(int(number)), *(Pow(s, int(k)) for s, k in zip(self.symbols, powers, strict=True) if k))
                for powers, number in polynomial.to_dict().items()
            )
        )


@lru_cache(maxsize=4096)
def _ring(symbols: frozenset[Expr]) -> _Ring:
    # sympy's own order of the symbols, which decides the signs that `cancel` would give.
    ordered = tuple(Poly(Add(*symbols)).gens)
    context = fmpz_mpoly_ctx.get([f"x{n}" for n in range(len(ordered))], "lex")
    return _Ring(ordered, context, dict(zip(ordered, context.gens(), strict=True)))


Quotient = tuple[fmpz_mpoly, fmpz_mpoly]


def _lowest(top: fmpz_mpoly, below: fmpz_mpoly) -> Quotient:
    if below.is_one():
        return top, below
    if not below:
        raise _Other  # 1/(x - x): sympy's to name
    common = top.gcd(below)
    if not common.is_one():
        top, below = top // common, below // common
    return (-top, -below) if below.leading_coefficient() < 0 else (top, below)


def _read(expr: Expr, ring: _Ring) -> Quotient:
    context = ring.context
    if isinstance(expr, Unknown):
        return ring.generators[expr], context.constant(1)
    if isinstance(expr, Rational):
        return context.constant(int(expr.p)), context.constant(int(expr.q))
    if isinstance(expr, Pow):
        power = expr.exp
        if not isinstance(power, Integer) or abs(int(power)) > LARGEST_POWER:
            raise _Other
        top, below = _read(expr.base, ring)
        top, below = top ** abs(int(power)), below ** abs(int(power))
        return (top, below) if int(power) > 0 else _lowest(below, top)
    if isinstance(expr, Mul):
        top, below = context.constant(1), context.constant(1)
        for part in expr.args:
            more, under = _read(part, ring)
            top, below = top * more, below * under
        return _lowest(top, below)
    if isinstance(expr, Add):
        top, below = context.constant(0), context.constant(1)
        for part in expr.args:
            more, under = _read(part, ring)
            if under == below:
                top = top + more
                continue
            common = below.gcd(under)
            left, right = under // common, below // common
            top, below = top * left + more * right, below * left
        return _lowest(top, below)
    raise _Other


def _quotient(expr: Expr) -> tuple[_Ring, Quotient]:
    letters: set[Expr] = set()
    _collect(expr, letters)
    if not letters:
        raise _Other  # a number
    ring = _ring(frozenset(letters))
    return ring, _read(expr, ring)


def _collect(expr: Expr, found: set[Expr]) -> None:
    if isinstance(expr, Unknown):
        found.add(expr)
    elif isinstance(expr, Add | Mul):
        for part in expr.args:
            _collect(part, found)
    elif isinstance(expr, Pow):
        _collect(expr.base, found)


@lru_cache(maxsize=16384)
def cancelled(expr: Expr) -> Expr:
    """The expression as one fraction without common factors, `cancel(together(expr))`, kept for the next time."""
    if isinstance(expr, Rational | Symbol):
        return expr
    try:
        ring, (top, below) = _quotient(expr)
    except _Other:
        return cancel(together(expr))
    return ring.expr(top) / ring.expr(below)


def over_common(expr: Expr) -> tuple[Expr, Expr]:
    """Numerator and denominator in lowest terms. Positive symbols that multiply the whole numerator are left out, for
    they do not change its sign.
    """
    try:
        ring, (top, below) = _quotient(expr)
    except _Other:
        numerator, denominator = cancel(together(expr)).as_numer_denom()
        return _without_positive_factor(numerator), denominator
    if not top:
        return Integer(0), ring.expr(below)
    shared = [min(powers) for powers in zip(*top.to_dict(), strict=True)]
    kept = [Pow(s, k) for s, k in zip(ring.symbols, shared, strict=True) if k and not s.is_positive]
    for s, k in zip(ring.symbols, shared, strict=True):
        top = top // ring.generators[s] ** k if k else top
    return Mul(*kept, ring.expr(top)), ring.expr(below)


def _without_positive_factor(numerator: Expr) -> Expr:
    symbols = sorted(numerator.free_symbols, key=lambda symbol: symbol.sort_key())
    if not symbols:
        return numerator
    (powers, poly) = Poly(numerator, *symbols).terms_gcd()
    kept = [s**k for s, k in zip(symbols, powers, strict=True) if k and not s.is_positive]
    return Mul(*kept, poly.as_expr())


def vanishes(expr: Expr) -> bool:
    """Whether it is the rational function 0."""
    try:
        return not _quotient(expr)[1][0]
    except _Other:
        difference = together(expr)
        return bool(difference == 0 or cancel(difference) == 0)


def factors_of(polynomial: Expr) -> tuple[Expr, list[tuple[Expr, int]]]:
    """`factor_list`: a number, and irreducible factors with their powers."""
    try:
        ring, (top, below) = _quotient(polynomial)
    except _Other:
        return factor_list(polynomial)
    if not below.is_one():
        return factor_list(polynomial)
    number, parts = top.factor()
    return Integer(int(number)), [(ring.expr(part), int(power)) for part, power in parts]


def never_negative(polynomial: Expr, least: Mapping[Expr, Expr]) -> bool:
    """Whether no coefficient is negative once every symbol is written as the least that it can be, plus something.

    `least` is a number, or another symbol, and does not go in circles. A "no" means nothing.
    """

    def written(symbol: Expr) -> Expr:
        start = least[symbol]
        return symbol + (written(start) if isinstance(start, Symbol) else start)

    symbols = polynomial.free_symbols
    if not symbols <= least.keys():
        return False
    try:
        _, (top, below) = _quotient(polynomial.xreplace({s: written(s) for s in symbols}))
    except _Other:
        return isinstance(polynomial, Rational) and polynomial >= 0
    return below.is_one() and all(number >= 0 for number in top.coeffs())
