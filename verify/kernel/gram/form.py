"""Vectors as combinations of leaves that nobody has chosen yet, and numbers that are linear in the leaves' Gram matrix.

A vector has a weight: 1 for a point, 0 for a direction. What is computed from directions alone does not change when
all points move together, so one point may be the origin; it is no leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from flint import fmpq

from ..core.budget import SHORT, paid, price, spend
from ..core.loss import ONE, ZERO
from ..core.rational import BITS, Rejected

Pair = tuple[str, str]  # two leaves, in alphabetical order
Key = tuple[tuple[str, fmpq], ...]
Name = TypeVar("Name")


class OutOfReach(Rejected):
    """What is asked is no linear function of Gram matrix, values and squared constants, or is not known here."""


class UnknownAssumption(OutOfReach):
    """One that no worst case is known with: the claim is out of reach at every point."""


@dataclass(frozen=True, slots=True, eq=False)
class Vec:
    terms: Mapping[str, fmpq]  # leaf -> its coefficient, which is not 0
    weight: fmpq = ZERO

    @property
    def key(self) -> Key:
        return tuple(sorted(self.terms.items()))


NOTHING, ORIGIN = Vec({}), Vec({}, ONE)


def leaf(name: str, weight: fmpq = ZERO) -> Vec:
    return Vec({name: ONE}, weight)


def mixed(weights: Sequence[fmpq], vectors: Sequence[Vec]) -> Vec:
    """sum_j weights_j vectors_j."""
    pairs = [(q, vector) for q, vector in zip(weights, vectors, strict=True) if q]
    terms = _summed((name, q * x) for q, vector in pairs for name, x in vector.terms.items())
    return Vec(terms, sum((q * vector.weight for q, vector in pairs), ZERO))


def minus(x: Vec, y: Vec) -> Vec:
    return mixed((ONE, -ONE), (x, y))


@dataclass(frozen=True, slots=True)
class Form:
    """sum over pairs of c <a, b>, plus sum over unknowns of c u, plus a constant."""

    gram: Mapping[Pair, fmpq] = field(default_factory=dict[Pair, fmpq])
    linear: Mapping[str, fmpq] = field(default_factory=dict[str, fmpq])
    constant: fmpq = ZERO

    @property
    def known(self) -> bool:
        """Whether it is a number."""
        return not self.gram and not self.linear

    def at(self, gram: Mapping[Pair, fmpq], unknown: Mapping[str, fmpq]) -> fmpq:
        """Its value for the products of all leaves and the values of all unknowns."""
        products = sum((c * gram[pair] for pair, c in self.gram.items()), self.constant)
        return paid(sum((c * unknown[name] for name, c in self.linear.items()), products))


def number(x: fmpq) -> Form:
    return Form(constant=x)


def unknown(name: str) -> Form:
    return Form(linear={name: ONE})


def total(weights: Sequence[fmpq], forms: Sequence[Form]) -> Form:
    """sum_j weights_j forms_j."""
    pairs = [(q, form) for q, form in zip(weights, forms, strict=True) if q]
    return Form(
        _summed((pair, q * x) for q, form in pairs for pair, x in form.gram.items()),
        _summed((name, q * x) for q, form in pairs for name, x in form.linear.items()),
        paid(sum((q * form.constant for q, form in pairs), ZERO)),
    )


def inner(x: Vec, y: Vec) -> Form:
    """<x, y> of two directions."""
    if x.weight or y.weight:
        raise OutOfReach("out of reach: a product or a length of points, which depends on where the origin is")
    spend(len(x.terms) * len(y.terms))
    products = (((min(a, b), max(a, b)), p * q) for a, p in x.terms.items() for b, q in y.terms.items())
    return Form(_summed(products))


def square(x: Vec) -> Form:
    """|x|^2 of a direction."""
    if x.weight:
        return inner(x, x)
    terms = sorted(x.terms.items())
    spend(len(terms) ** 2)
    twice = [(name, 2 * q) for name, q in terms]
    squares = (((a, a), p * p) for a, p in terms)
    products = (((a, b), p * q) for n, (b, q) in enumerate(terms) for a, p in twice[:n])
    return Form(_summed(chain(squares, products)))


def _summed(terms: Iterable[tuple[Name, fmpq]]) -> dict[Name, fmpq]:
    """By name, without those that cancel; every partial sum is counted."""
    sums: dict[Name, fmpq] = {}
    cost = 0
    for name, x in terms:
        y = sums[name] + x if name in sums else x
        sums[name] = y
        bits = y.height_bits()
        cost += 1 if bits <= SHORT else price(bits)
        if bits > BITS:
            paid(y)
    spend(cost)
    return {name: x for name, x in sums.items() if x}
