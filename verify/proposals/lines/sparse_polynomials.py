"""Polynomials over the numbered atoms of one line, exact; exponents may lie below 0 while atoms are eliminated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from ...kernel.proofs.polynomials import Polynomial

TERMS = 1500  # of a power of what an atom is replaced by: the replacement is given up beyond that
Powers = tuple[int, ...]  # the exponent of every atom
Terms = dict[Powers, fmpq]


def numbered(polynomial: Polynomial, numbers: Mapping[str, int]) -> Terms:
    """The kernel's polynomial with the numbers of its atoms for their names."""
    terms: Terms = {}
    for monomial, c in polynomial.items():
        row = [0] * len(numbers)
        for name, n in monomial:
            row[numbers[name]] = n
        terms[tuple(row)] = c
    return terms


def unit(n: int, length: int) -> Powers:
    """The n-th atom itself, as a monomial."""
    return tuple(int(m == n) for m in range(length))


def plus(a: Powers, b: Powers) -> Powers:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Powers, b: Powers) -> Powers:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def negated(m: Powers) -> Powers:
    return tuple(-x for x in m)


def without(m: Powers, atom: int) -> Powers:
    """The monomial with the power of one atom set to 0."""
    return tuple(0 if n == atom else power for n, power in enumerate(m))


def added(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, 0) + c
    return {m: c for m, c in total.items() if c != 0}


def times(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for m, c in a.items():
        for n, d in b.items():
            key = plus(m, n)
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c != 0}


def shift(terms: Terms, m: Powers) -> Terms:
    """The polynomial times a monomial."""
    return {plus(n, m): c for n, c in terms.items()}


def lowest(polynomials: Sequence[Terms]) -> Powers:
    """For every atom the least of 0 and its exponents; empty where there are no terms."""
    rows = [m for terms in polynomials for m in terms]
    return tuple(min(0, *column) for column in zip(*rows, strict=True)) if rows else ()


def whole(terms: Terms) -> Terms:
    """The polynomial times the least monomial that leaves no exponents below 0."""
    low = tuple(min(0, *(m[n] for m in terms)) for n in range(len(next(iter(terms)))))
    return {minus(m, low): c for m, c in terms.items()} if any(low) else terms


def translated(terms: Terms, atoms: Sequence[int], offset: int) -> Terms:
    """The polynomial with n + offset in the place of each of these atoms n."""
    for n in atoms:
        if max((m[n] for m in terms), default=0) > 0:
            size = len(next(iter(terms)))
            replaced = put_in(terms, n, {(0,) * size: fmpq(offset), unit(n, size): fmpq(1)})
            assert replaced is not None  # a power of a binomial has few terms
            terms = replaced
    return terms


def value_of(terms: Terms, atom: int, lead: Powers) -> Terms:
    """What an atom is where these terms are 0, if it stands in the term `lead` alone."""
    below = minus(lead, unit(atom, len(lead)))
    return {minus(m, below): -c / terms[lead] for m, c in terms.items() if m != lead}


def put_in(terms: Terms, atom: int, value: Terms) -> Terms | None:
    """The polynomial with a value for an atom; None where a power of the value has more than `TERMS` terms."""
    powers = {m[atom] for m in terms}
    if powers <= {0}:
        return terms
    power_of_value: list[Terms] = [{(0,) * len(next(iter(terms))): fmpq(1)}]
    for _ in range(max(powers)):
        power_of_value.append(times(power_of_value[-1], value))
        if len(power_of_value[-1]) > TERMS:
            return None
    total: Terms = {}
    for m, c in terms.items():
        rest = without(m, atom)
        for n, d in power_of_value[m[atom]].items():
            key = plus(rest, n)
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c != 0}
