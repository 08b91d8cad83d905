"""Polynomials over named variables and fractions of them, exact, each product paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from ..core.budget import paid, spend
from ..core.rational import Rejected

Monomial = tuple[tuple[str, int], ...]  # variables with their powers, in the order of their names
Polynomial = Mapping[Monomial, fmpq]
ONE: Polynomial = {(): fmpq(1)}
POWER = 64  # the largest exponent that is multiplied out
TERMS = 20_000  # of one polynomial
# A fraction that is not in lowest terms is still the same number: above this size two equal fractions may look
# different, so that a proof is refused that could be accepted, never the other way round.
DIVISOR = 4_000_000  # pairs of terms up to which common factors are looked for


@dataclass(frozen=True, slots=True)
class Form:
    """A fraction of polynomials without a common factor; the first coefficient below the line is 1."""

    top: Polynomial
    below: Polynomial = field(default_factory=lambda: dict(ONE))

    def __add__(self, other: Form) -> Form:
        if self.below == other.below:
            return lowest(plus(self.top, other.top), self.below)
        top = plus(times(self.top, other.below), times(other.top, self.below))
        return lowest(top, times(self.below, other.below))

    def __mul__(self, other: Form) -> Form:
        return lowest(times(self.top, other.top), times(self.below, other.below))

    def __neg__(self) -> Form:
        return Form(scaled(self.top, -1), self.below)

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def __pow__(self, n: int) -> Form:
        """0^0 is 1."""
        if n < 0 and not self.top:
            raise Rejected("proof: got a division by 0")
        top, below = (power(part, abs(n)) for part in (self.top, self.below))
        return _led(top, below) if n >= 0 else _led(below, top)

    def inverse(self) -> Form:
        return self**-1

    @property
    def number(self) -> fmpq | None:
        """The number that it is, if it is one."""
        return self.top.get((), fmpq(0)) if self.below == ONE and set(self.top) <= {()} else None


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    spend(len(a) + len(b))
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, 0) + c
    return {monomial: c for monomial, c in total.items() if c != 0}


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    # Paid for before it is computed: a short file can ask for (x + y)^64 of polynomials that are long themselves.
    spend(4 * len(a) * len(b))
    total: dict[Monomial, fmpq] = {}
    for left, c in a.items():
        for right, d in b.items():
            key = _joined(left, right)
            total[key] = paid(total.get(key, 0) + c * d)
    if len(total) > TERMS:
        raise Rejected(f"proof: got a polynomial of {len(total)} terms, expected at most {TERMS}")
    return {monomial: c for monomial, c in total.items() if c != 0}


def scaled(a: Polynomial, c: fmpq | int) -> Polynomial:
    return {monomial: c * d for monomial, d in a.items()} if c != 0 else {}


def power(a: Polynomial, n: int) -> Polynomial:
    if n > POWER:
        raise Rejected(f"proof: got the power {n}, expected at most {POWER}")
    return reduce(times, [a] * n, ONE)


def _joined(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for name, n in b:
        powers[name] = powers.get(name, 0) + n
    return tuple(sorted(powers.items()))


def shifted(polynomial: Polynomial, name: str) -> Polynomial:
    """With 1 + name in place of name."""
    total: Polynomial = {}
    for monomial, c in polynomial.items():
        powers = dict(monomial)
        n = powers.pop(name, 0)
        rest: Polynomial = {tuple(sorted(powers.items())): c}
        total = plus(total, times(rest, power({(): fmpq(1), ((name, 1),): fmpq(1)}, n)))
    return total


def atoms_of(*polynomials: Polynomial) -> list[str]:
    return sorted({name for polynomial in polynomials for monomial in polynomial for name, _ in monomial})


def lowest(top: Polynomial, below: Polynomial) -> Form:
    """The fraction without common factors."""
    if set(below) - {()} and len(top) * len(below) <= DIVISOR:
        names = atoms_of(top, below)
        over, under = (_flint(polynomial, names) for polynomial in (top, below))
        spend(20 * len(top) * len(below))
        common = over.gcd(under)
        if not common.is_one():
            top, below = (_from_flint(part / common, names) for part in (over, under))
    return _led(top, below)


def _led(top: Polynomial, below: Polynomial) -> Form:
    # Only one of N/D and (c N)/(c D) may stand for a number, or equal formulas would have different texts.
    lead = below[min(below)]
    return (
        Form({}) if not top else Form(scaled(top, 1 / lead), scaled(below, 1 / lead)) if lead != 1 else Form(top, below)
    )


def _flint(polynomial: Polynomial, names: list[str]) -> fmpq_mpoly:
    context = fmpq_mpoly_ctx.get(tuple(f"x{n}" for n in range(len(names))), "lex")
    rows: dict[tuple[int, ...], fmpq] = {}
    for monomial, c in polynomial.items():
        powers = dict(monomial)
        rows[tuple(powers.get(name, 0) for name in names)] = c
    return context.from_dict(rows)


def _from_flint(polynomial: fmpq_mpoly, names: list[str]) -> Polynomial:
    rows = polynomial.to_dict()
    return {tuple((names[n], int(e)) for n, e in enumerate(row) if e): c for row, c in rows.items()}


def text(form: Form) -> str:
    """The normal form in writing: the same text is the same fraction."""
    top, below = (
        " + ".join(f"{c}" + "".join(f"*{name}^{n}" for name, n in m) for m, c in sorted(part.items())) or "0"
        for part in (form.top, form.below)
    )
    return top if form.below == ONE else f"({top})/({below})"
