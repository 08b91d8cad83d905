"""Multipliers by a linear programme: floats propose which terms take part, rationals decide.

The unknowns are constants that are not negative, each times a product of generators (quantities that the conditions
keep from being negative) times an atom. That none are found says nothing about the claim.
"""

# sympy, scipy and python-flint are annotated only in part.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Add, Expr, Integer, Rational, Sum

from fedaudit.bounds.language.dimension import ONE, Dimension, dimension_of
from fedaudit.bounds.proofs.atom import Atom
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.method_vectors import Reader
from fedaudit.bounds.proofs.premise_identity import Shown, difference, reader_of
from fedaudit.bounds.proofs.vectors import Coefficient, Key, added

from ..proposals.exact_solution import exact_solution
from .shared_programme import Terms, common_denominator, products_of, rows_of, vertex

MOST = 8_000  # unknowns


@dataclass(frozen=True, slots=True)
class Question:
    """Which multipliers of these atoms, products of the generators up to a degree, add up to the claim?"""

    claim: object
    frame: Frame
    atoms: tuple[Atom, ...]
    generators: tuple[Expr, ...]
    degree: int = 3
    at: tuple[Any, Any] | None = None


def find(question: Question) -> tuple[tuple[Expr, Atom], ...] | None:
    """Atoms, each with its multiplier, that the kernel's arithmetic agrees with; None if there are none."""
    products = products_of(question.generators, question.degree)
    if not question.atoms:
        return None
    letters = [(generator, question.atoms[0]) for generator in question.generators]  # whose product may be 1
    everything = (*letters, *((Integer(1), atom) for atom in question.atoms))
    reader = reader_of(Shown(question.claim, question.frame, everything, question.at))
    target = reader.expand(difference(question.claim, reader)).terms
    atoms = [reader.expand(atom.read(reader)).terms for atom in question.atoms]
    factors = {b: reader.coefficient(b) for b in products}
    units = _units(reader)
    scales = {key: _unit(c, units) for key, c in target.items()}
    sizes = {b: _unit(c, units) for b, c in factors.items()}
    # Both sides of the claim have one dimension: multipliers that lead to another could only cancel among themselves.
    labels = [
        (n, b)
        for n, terms in enumerate(atoms)
        for size in (_size(terms, scales, units),)
        for b in products
        if size is None or sizes[b] in (None, size)
    ]
    if len(labels) > MOST or not labels:
        return None
    columns = [added(({key: factors[b] * c for key, c in atoms[n].items()},)) for n, b in labels]
    common = common_denominator(reader, [target, *columns])
    rows = [rows_of(terms, common) for terms in (target, *columns)]
    numbers = {row: n for n, row in enumerate(dict.fromkeys(row for part in rows for row in part))}
    right, *left = ({numbers[row]: q for row, q in part.items()} for part in rows)
    weights = [1.0 + len(b.free_symbols) for _, b in labels]
    chosen = vertex(left, right, len(numbers), [0.0] * len(left), weights)
    if chosen is None:
        return None
    exact = exact_solution([left[m] for m in chosen], right)
    if exact is None or any(x < 0 for x in exact):
        return None
    totals: list[Expr] = [Integer(0)] * len(atoms)
    for m, x in zip(chosen, exact, strict=True):
        n, b = labels[m]
        totals[n] = Add(totals[n], Rational(int(x.p), int(x.q)) * b)
    return tuple((m, atom) for m, atom in zip(totals, question.atoms, strict=True) if m != 0)


def _units(reader: Reader) -> list[Dimension]:
    """The dimension of every parameter."""
    glossary = reader.frame.method.glossary
    return [(isinstance(leaf, Sum) and ONE) or dimension_of(leaf, glossary) or ONE for leaf in reader.letters]


def _unit(c: Coefficient, units: Sequence[Dimension]) -> Dimension | None:
    """The dimension of a coefficient; None if its terms differ."""
    dimensions: list[Dimension] = []
    for polynomial in (c.top, c.below):
        sizes = {_product(zip(units, exponents, strict=True)) for exponents in polynomial.to_dict()}
        if len(sizes) != 1:
            return None
        dimensions += sizes
    return dimensions[0] * dimensions[1] ** Fraction(-1)


def _product(powers: Iterable[tuple[Dimension, Any]]) -> Dimension:
    total = ONE
    for unit, power in powers:
        total = total * unit ** Fraction(int(power))
    return total


def _size(terms: Terms, scales: Mapping[Key, Dimension | None], units: Sequence[Dimension]) -> Dimension | None:
    """The dimension that a multiplier of an atom with these terms must have; None if any will do."""
    for key, c in terms.items():
        wanted, own = scales.get(key), _unit(c, units)
        if wanted is not None and own is not None:
            return wanted * own ** Fraction(-1)
    return None
