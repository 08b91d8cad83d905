"""A certificate as the kernel reads it: products of judgements and formulas, and multiples of equations."""

# flint has no types of its own (2026-11).
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from flint import fmpq

from ..atom_trees import Json, product, raised, total
from .line_system import Factor, LineBound, LineSystem, OwnSign, combined, divided
from .product_columns import Column
from .sparse_polynomials import Powers, Terms, added, lowest, minus, negated, plus, shift, times, translated


def written(line: LineSystem, weights: Sequence[tuple[Column, fmpq]]) -> Json | None:
    """The certificate of these products: with it the multiples of equations that are left when they are added.

    Equations and counts are put back: what the products add up to is written in the line's own atoms. None where
    something is left over that no equation takes out.
    """
    size = len(line.atoms)
    one = (0,) * size
    products: list[tuple[fmpq, list[LineBound | Terms], Powers, Powers]] = []
    multiples: Mapping[Factor, Terms] = {}
    leftover: Terms = {}
    overs = [Counter(p for n in column.factors if n >= 0 for p in line.bounds[n].over) for column, _ in weights]
    most = reduce(or_, overs, Counter[int]())  # every product times the denominators that others were divided by
    for (column, c), over in zip(weights, overs, strict=True):
        terms = translated({column.times: c}, line.from_one, -1)
        denominators = [LineBound(line.originals[p], True, p, one) for p in (most - over).elements()]
        for denominator in denominators:
            terms = times(terms, denominator.terms)
        if column.equation is not None:
            equation = line.equations[column.equation]
            terms = shift({m: column.sign * d for m, d in terms.items()}, negated(lowest([equation.terms])))
            multiples = combined(multiples, {m: -d for m, d in terms.items()}, equation.made_of)
            leftover = added(leftover, times(terms, equation.terms))
            continue
        scale = one
        factors = [line.bounds[n] if n >= 0 else line.squares[-1 - n] for n in column.factors]
        for factor in factors:
            if isinstance(factor, LineBound):
                scale = plus(scale, factor.scale)
                terms = times(terms, line.originals[factor.factor])
            else:
                terms = times(terms, times(factor, factor))
        products.append((c, [*factors, *denominators], column.times, scale))
        leftover = added(leftover, shift(terms, scale))
    for equation in line.eliminated:
        quotient, leftover = divided(leftover, equation)
        multiples = combined(multiples, quotient, equation.made_of)
    if leftover:
        return None
    low = lowest([*multiples.values(), *({scale: fmpq(1)} for *_, scale in products)])
    certificate: dict[str, Json] = {
        "products": [
            [str(c / _number(line, monomial)), _factors(line, factors, monomial, minus(scale, low))]
            for c, factors, monomial, scale in products
        ]
    }
    equations = [
        [_polynomial(line, shift(terms, negated(low))), factor] for factor, terms in multiples.items() if terms
    ]
    return {**certificate, "equations": equations} if equations else certificate


def _factors(line: LineSystem, bounds: Sequence[LineBound | Terms], times: Powers, scale: Powers) -> list[Json]:
    """The factors of a product; of a polynomial, its square."""
    written_factors: list[Json] = []
    for bound in bounds:
        if not isinstance(bound, LineBound):
            written_factors.append(["square", _polynomial(line, bound)])
            continue
        if isinstance(bound.factor, OwnSign):
            n = bound.factor.atom
            written_factors.append(["+", line.atoms[n], "-1"] if bound.factor.least else line.atoms[n])
        else:
            written_factors.append(bound.factor)
    plain: list[Json] = []
    square: list[Json] = []
    for n, power in enumerate(times):
        if not power:
            continue
        tree = line.atoms[n]
        if n in line.from_one:
            plain.append(raised(["+", tree, "-1"], power))
        elif n in line.places:
            written_factors += [line.places[n].place] * power
        elif line.nonnegative(n):
            plain.append(raised(tree, power))
        else:
            square.append(raised(tree, power // 2))
    plain += [raised(line.atoms[n], power) for n, power in enumerate(scale) if power]
    if plain:
        written_factors.append(product(plain))
    if square:
        written_factors.append(["square", product(square)])
    return written_factors


def _number(line: LineSystem, times: Powers) -> fmpq:
    """By how much the product of `_factors` is larger, since judgements say the signs of multiples of atoms."""
    number = fmpq(1)
    for n, power in enumerate(times):
        if n in line.places and n not in line.from_one:
            number *= line.places[n].number ** power
    return number


def _polynomial(line: LineSystem, terms: Terms) -> Json:
    """A polynomial over the line's atoms as a tree."""
    parts: list[Json] = []
    for m, c in terms.items():
        factors = [raised(line.atoms[n], power) for n, power in enumerate(m) if power]
        parts.append(product(([] if c == 1 and factors else [str(c)]) + factors))
    return total(parts)
