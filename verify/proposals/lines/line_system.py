"""A line as polynomials: its negated goal and what it rests on, with equations and denominators put in.

Every equation that defines an atom is used as its definition, so that only inequalities are left to be multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from ...kernel.proofs.polynomials import atoms_of
from ...kernel.proofs.rules.line import GOAL, STRICT, Constraint
from ..z3_lines import AtomSign
from .sparse_polynomials import (
    TERMS,
    Powers,
    Terms,
    added,
    minus,
    numbered,
    put_in,
    times,
    unit,
    value_of,
    whole,
    without,
)

FACTORED = 200  # terms of what is looked through for squares
SQUARES = 6  # polynomials whose squares are multiplied with bounds
SHORT = 3  # terms of what is tried as a denominator


@dataclass(frozen=True, slots=True)
class OwnSign:
    """A factor of a product: what an atom is above its least value, 0 or 1."""

    atom: int
    least: int


Factor = int | Literal["goal"] | OwnSign  # an int is the place of a judgement


@dataclass(frozen=True, slots=True)
class LineBound:
    """`terms` >= 0 (> 0 if strict): one of what is rested on, times `scale`, with equations put in."""

    terms: Terms
    strict: bool
    factor: Factor
    scale: Powers  # a monomial of positive atoms, powers below 0 too
    over: tuple[int, ...] = ()  # the places of positive rests that it was divided by


@dataclass(frozen=True, slots=True)
class LineEquation:
    """`terms` = 0, which defines `atom` if there is one: coefficient * monomial * atom + rest.

    `made_of`: the multiples of the line's own equations that it is the sum of.
    """

    terms: Terms
    made_of: Mapping[Factor, Terms]
    atom: int | None = None
    lead: Powers = ()
    too_long: bool = False  # what it defines would make other relations too long


@dataclass(frozen=True, slots=True)
class StatedSign:
    """That an atom is not negative (positive, if strict): the judgement at `place` says so of `number` times it."""

    place: int
    strict: bool
    number: fmpq


@dataclass
class LineSystem:
    """What a line comes to: bounds and equations over numbered atoms that together are to be contradicted."""

    atoms: list[str]
    letters: list[bool]  # of every atom, whether it is a letter; measures and formulas are eliminated first
    signs: list[str]
    from_one: list[int]  # the atoms whose least value is 1
    originals: Mapping[Factor, Terms]
    bounds: list[LineBound]
    equations: list[LineEquation]
    eliminated: list[LineEquation] = field(default_factory=list[LineEquation])
    absurd: LineBound | None = None  # 0 > 0
    places: dict[int, StatedSign] = field(default_factory=dict[int, StatedSign])
    squares: list[Terms] = field(default_factory=list[Terms])  # polynomials whose squares are multiplied with

    @classmethod
    def of(cls, goal: Constraint, premises: Sequence[Constraint], signs: Mapping[str, AtomSign]) -> LineSystem:
        constraints: list[tuple[Factor, Constraint]] = [(GOAL, goal), *enumerate(premises)]
        atoms = atoms_of(*(polynomial for _, (_, polynomial) in constraints))
        numbers = {name: n for n, name in enumerate(atoms)}
        one = (0,) * len(atoms)
        originals: dict[Factor, Terms] = {
            factor: numbered(polynomial, numbers) for factor, (_, polynomial) in constraints
        }
        line = cls(
            atoms,
            [signs[name].letter for name in atoms],
            [signs[name].sign for name in atoms],
            [n for n, name in enumerate(atoms) if signs[name].from_one],
            originals,
            [],
            [],
        )
        relations: set[object] = set()
        for factor, (name, _) in constraints:
            terms = originals[factor]
            key = (name, frozenset((m, (c.p, c.q)) for m, c in terms.items()))
            if key in relations or name == "!=":
                continue
            relations.add(key)
            if not terms:
                line.absurd = LineBound(terms, True, factor, one) if STRICT.get(name) else line.absurd
            elif name == "=":
                line.equations.append(LineEquation(terms, {factor: {one: fmpq(1)}}))
            else:
                line.bounds.append(line.cleared(LineBound(terms, STRICT[name], factor, one)))
        line.divide()
        line.eliminate()
        line.single_out_signs()
        line.squares = line.repeated_factors()
        return line

    @property
    def goal(self) -> int | None:
        """The place of the negated goal among the bounds; None where the goal is an equation or was taken up."""
        return next((n for n, b in enumerate(self.bounds) if b.factor == GOAL), None)

    def positive(self, n: int) -> bool:
        return self.signs[n] == "positive" or (n in self.places and self.places[n].strict)

    def nonnegative(self, n: int) -> bool:
        return self.signs[n] in ("positive", "nonnegative") or n in self.places

    def cleared(self, bound: LineBound) -> LineBound:
        """Without the monomial of positive atoms that all its terms share."""
        rows = list(bound.terms)
        shared = tuple(
            min(row[n] for row in rows) if self.signs[n] == "positive" else 0 for n in range(len(self.atoms))
        )
        if not any(shared):
            return bound
        terms = {minus(m, shared): c for m, c in bound.terms.items()}
        return replace(bound, terms=terms, scale=minus(bound.scale, shared))

    def divide(self) -> None:
        """Denominators that a rest says to be positive are divided out: a relation N/D is one about N D."""
        below = [b for b in self.bounds if b.strict and isinstance(b.factor, int) and 1 < len(b.terms) <= SHORT]
        if not below:
            return
        context = fmpq_mpoly_ctx.get([f"x{n}" for n in range(len(self.atoms))], Ordering.lex)
        for divisor in below:
            place, by = divisor.factor, context.from_dict(whole(divisor.terms))
            assert isinstance(place, int)
            for n, bound in enumerate(self.bounds):
                if bound.factor == place or len(bound.terms) < len(divisor.terms):
                    continue
                quotient, rest = divmod(context.from_dict(bound.terms), by)
                # Where the quotient is a number the bound is the divisor itself: divided, it would say nothing.
                while not rest and quotient.total_degree() > 0:
                    terms = {tuple(map(int, m)): c for m, c in quotient.to_dict().items()}
                    bound = replace(bound, terms=terms, over=(*bound.over, place))
                    quotient, rest = divmod(quotient, by)
                self.bounds[n] = bound

    def eliminate(self) -> None:
        """Every equation that defines an atom is put in for it."""
        while self.absurd is None and (pick := self._pivot()) is not None:
            equation, atom, lead = pick
            value = value_of(equation.terms, atom, lead)
            kept = [e for e in self.equations if e is not equation]
            defining = replace(equation, atom=atom, lead=lead)
            others = [without_atom(e, defining) for e in kept]
            replaced = self._bounds_with(atom, value)
            if replaced is None or max(map(len, (e.terms for e in others)), default=0) > TERMS:
                self.equations = [*kept, replace(equation, too_long=True)]
                continue
            self.eliminated.append(defining)
            bounds = [*replaced, *self._sign_of(atom, value)]
            self.absurd = next((b for b in bounds if not b.terms and b.strict), self.absurd)
            self.bounds = [self.cleared(b) for b in bounds if b.terms]
            self.equations = [e for e in others if e.terms]

    def _bounds_with(self, atom: int, value: Terms) -> list[LineBound] | None:
        """The bounds with a value for an atom; None if one of them becomes too long."""
        bounds: list[LineBound] = []
        for bound in self.bounds:
            terms = put_in(bound.terms, atom, value)
            if terms is None or len(terms) > TERMS:
                return None
            bounds.append(replace(bound, terms=terms))
        return bounds

    def _pivot(self) -> tuple[LineEquation, int, Powers] | None:
        """The equation, the atom and the term of it by which it defines the atom, that are the simplest to use."""
        best: tuple[int, LineEquation, int, Powers] | None = None
        for equation in self.equations:
            if equation.too_long:
                continue
            used: dict[int, list[Powers]] = {}
            for monomial in equation.terms:
                for n, power in enumerate(monomial):
                    if power:
                        used.setdefault(n, []).append(monomial)
            for atom, monomials in used.items():
                lead = monomials[0]
                if len(monomials) > 1 or lead[atom] != 1:
                    continue
                rest = without(lead, atom)
                # The atom's value is a quotient by the rest of its term, which therefore must not be 0.
                if any(power and self.signs[n] != "positive" for n, power in enumerate(rest)):
                    continue
                # Measures go before letters, short equations before long ones, and atoms without a sign before those
                # whose sign stays behind as a bound.
                cost = 8 * self.letters[atom] + sum(rest) + 2 * (self.signs[atom] != "real") + len(equation.terms)
                if best is None or cost < best[0]:
                    best = cost, equation, atom, lead
        return None if best is None else best[1:]

    def _sign_of(self, atom: int, value: Terms) -> Iterator[LineBound]:
        """What the sign of an atom says about its value."""
        if self.signs[atom] in ("positive", "nonnegative"):
            one = (0,) * len(self.atoms)
            least = int(atom in self.from_one)
            factor = OwnSign(atom, least)
            self.originals = {
                **self.originals,
                factor: added({unit(atom, len(self.atoms)): fmpq(1)}, {one: fmpq(-least)}),
            }
            strict = self.signs[atom] == "positive" and not least
            yield LineBound(added(value, {one: fmpq(-least)}), strict, factor, one)

    def repeated_factors(self) -> list[Terms]:
        """Polynomials whose squares divide what stands before a power of an atom: where 2 (1 - b)^2 X is to be replaced
        by a bound of X, that bound is multiplied with (1 - b)^2."""
        context = fmpq_mpoly_ctx.get([f"x{n}" for n in range(len(self.atoms))], Ordering.lex)
        factors: dict[frozenset[Powers], Terms] = {}
        for terms in (*(b.terms for b in self.bounds), *(whole(e.terms) for e in self.equations)):
            parts: dict[tuple[int, int], Terms] = {}
            for m, c in terms.items():
                for n, power in enumerate(m):
                    if power:
                        parts.setdefault((n, power), {})[without(m, n)] = c
            for cofactor in (terms, *parts.values()):
                if 2 < len(cofactor) <= FACTORED and max(map(max, cofactor)) > 1:  # else it divides by no square
                    for factor, multiplicity in context.from_dict(whole(cofactor)).factor_squarefree()[1]:
                        one = {tuple(map(int, m)): fmpq(c) for m, c in factor.to_dict().items()}
                        if multiplicity > 1 and len(one) > 1:
                            factors.setdefault(frozenset(one), one)
        return sorted(factors.values(), key=len)[:SQUARES]

    def single_out_signs(self) -> None:
        """Rests that say that one atom is not negative are the atom's own sign."""
        kept: list[LineBound] = []
        for bound in self.bounds:
            (monomial, c), *more = bound.terms.items()
            atoms = [n for n, power in enumerate(monomial) if power]
            single = not more and c > 0 and len(atoms) == 1 and monomial[atoms[0]] == 1
            if single and isinstance(bound.factor, int) and not any(bound.scale):
                n = atoms[0]
                if self.signs[n] == "positive" or (self.nonnegative(n) and (not bound.strict or self.positive(n))):
                    continue
                self.places[n] = StatedSign(bound.factor, bound.strict, c)
                self.originals = {**self.originals, bound.factor: bound.terms}
            else:
                kept.append(bound)
        self.bounds = kept


def divided(terms: Terms, equation: LineEquation) -> tuple[Terms, Terms]:
    """The multiple of the equation that takes its atom out, and what is left."""
    assert equation.atom is not None
    quotient: Terms = {}
    number = equation.terms[equation.lead]
    while (degree := max((m[equation.atom] for m in terms), default=0)) > 0:
        part = {minus(m, equation.lead): c / number for m, c in terms.items() if m[equation.atom] == degree}
        quotient = added(quotient, part)
        terms = added(terms, {m: -c for m, c in times(part, equation.terms).items()})
    return quotient, terms


def without_atom(one: LineEquation, other: LineEquation) -> LineEquation:
    """The first equation with the atom that the other one defines taken out."""
    quotient, rest = divided(one.terms, other)
    return replace(one, terms=rest, made_of=combined(one.made_of, quotient, other.made_of)) if quotient else one


def combined(one: Mapping[Factor, Terms], quotient: Terms, other: Mapping[Factor, Terms]) -> Mapping[Factor, Terms]:
    """The first minus a multiple of the second."""
    total = dict(one)
    for factor, terms in other.items():
        total[factor] = added(total.get(factor, {}), {m: -c for m, c in times(quotient, terms).items()})
    return total
