"""The certificate of a line: which products of what it rests on add up to a contradiction with its negation.

The kernel multiplies out what is found here and believes nothing of it. Equations are used first, as definitions of
one of their atoms; then a linear programme looks for non-negative numbers before products of constraints and of atoms
that are not negative, and an exact solution is read off the columns that it uses.
"""

# scipy, z3 and flint have no types of their own (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import combinations_with_replacement
from operator import or_
from typing import Any

import numpy as np
from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly_ctx
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from ..kernel.expression import Relation
from ..kernel.proofs.forms import Forms
from ..kernel.proofs.line import STRICT, Constraint, constraint, negations
from ..kernel.proofs.polynomials import Monomial, Polynomial, atoms_of
from .solver import Sign, needed_for_contradiction, sign_of
from .spelled import Json, atom_tree, product, raised, total

GOAL = "goal"
NOTHING: Constraint = ("=", {})  # 0 = 0, in the place of what is not needed
TERMS = 1500  # of a constraint after an elimination: beyond that it is not made
COLUMNS = 1200  # of a linear programme
MANY = 4000  # the same, for lines of few terms
SMALL = 100  # terms of all bounds of such a line
FACTORED = 200  # terms of what is looked through for squares
SQUARES = 6  # polynomials whose squares are multiplied with bounds
ROUNDS = 3  # of overlapping products
FEW = 12  # terms of a product that is tried wherever all of them are wanted; squares of differences
PLACES = 80  # at which such a product is tried
SHORT = 3  # terms of what is tried as a denominator
BALANCED = 3  # times that rows and columns are scaled
PAIRS = 40_000  # of terms that are compared to see where products overlap
Powers = tuple[int, ...]
Terms = dict[Powers, fmpq]  # a polynomial over the atoms of one line; while atoms are eliminated, with powers below 0
Factor = int | str  # the place of a judgement, or GOAL


def certificates(
    relation: Relation, rests: Sequence[Relation], forms: Forms, *, quick: bool = False
) -> list[Json] | None:
    """One for every way in which the relation may fail; None if one is not found. `quick`: only short ones."""
    premises = [constraint(rest, forms) for rest in rests]
    made: list[Json] = []
    for goal in negations(relation, forms):
        one = certificate(goal, premises, forms, quick=quick)
        if one is None:
            return None
        made.append(one)
    return made


@dataclass(frozen=True, slots=True)
class _Problem:
    """A goal and premises over atoms that are numbered: lines that differ in names alone are one problem."""

    constraints: tuple[tuple[str, frozenset[tuple[Monomial, fmpq]]], ...]  # the goal first
    signs: tuple[tuple[str, Sign], ...]

    @classmethod
    def of(cls, goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> tuple[_Problem, dict[str, str]]:
        """The problem, and the atom behind each name. Letters and measures are told apart: see `_pivot`."""
        atoms = atoms_of(*(polynomial for _, polynomial in (goal, *premises)))
        names = {atom: f"x{n:03}" if atom.isidentifier() else f"x{n:03}()" for n, atom in enumerate(atoms)}
        constraints = tuple(
            (
                name,
                frozenset((tuple((names[atom], n) for atom, n in monomial), c) for monomial, c in polynomial.items()),
            )
            for name, polynomial in (goal, *premises)
        )
        signs = tuple((names[atom], sign_of(atom, forms)) for atom in atoms)
        return cls(constraints, signs), {name: atom for atom, name in names.items()}


def certificate(goal: Constraint, premises: Sequence[Constraint], forms: Forms, *, quick: bool = False) -> Json | None:
    problem, atoms = _Problem.of(goal, premises, forms)
    found = _found(problem, quick)
    return None if found is None else _named(found, {name: atom_tree(atom) for name, atom in atoms.items()})


def _named(json: Json, trees: Mapping[str, Json]) -> Json:
    if isinstance(json, str):
        return trees.get(json, json)
    if isinstance(json, dict):
        return {key: _named(value, trees) for key, value in json.items()}
    return [_named(value, trees) for value in json] if isinstance(json, list) else json


@lru_cache(maxsize=20_000)
def _found(problem: _Problem, quick: bool) -> Json | None:
    """From all premises in a simple way; else from those that z3 needs: few of them have more products in reach."""
    goal, *premises = ((name, dict(sorted(polynomial))) for name, polynomial in problem.constraints)
    signs = dict(problem.signs)
    found = _searched(_Line.of(goal, premises, signs), _first if quick else _simple)
    if found is not None or not premises:
        return found
    needed = needed_for_contradiction(goal, premises, signs)
    if needed is None:
        return None
    few: list[Constraint] = [p if n in needed else NOTHING for n, p in enumerate(premises)]
    if quick:
        return _searched(_Line.of(goal, few, signs), _second)
    # z3 does without a short one by an argument that is much longer
    more = [p if n in needed or _is_short(p) else NOTHING for n, p in enumerate(premises)]
    for offered, attempts in ((few, _pairs), (more, _overlapping_pairs), (few, _triples)):
        found = _searched(_Line.of(goal, offered, signs), attempts)
        if found is not None:
            break
    return found


def _is_short(premise: Constraint) -> bool:
    """Whether it compares two atoms or numbers, or says the sign of one."""
    name, polynomial = premise
    return name in STRICT and len(polynomial) <= 2 and all(sum(n for _, n in m) <= 1 for m in polynomial)


def _searched(line: _Line, attempts: Callable[[_Line], Iterator[tuple[_Line, list[_Product]]]]) -> Json | None:
    if line.absurd is not None:
        line.bounds = [line.absurd]
        one = (0,) * len(line.atoms)
        return _written(line, [(_Product((0,), one, True, None, None, []), fmpq(1))])
    if not line.atoms:
        number = line.bounds[0].terms.get((), fmpq(0)) if line.bounds else fmpq(0)
        if not line.bounds or number > 0 or (number == 0 and not line.bounds[0].strict):
            return None
        constant = _Product((), (), True, None, None, [])
        return _written(line, [(_Product((0,), (), False, None, None, []), fmpq(1)), (constant, -number)])
    for of, attempt in attempts(line):
        weights = _solved(attempt, line.goal)
        if weights is not None:
            written = _written(of, [(attempt[n], c) for n, c in weights])
            if written is not None:
                return written
    return None


# --- a line as polynomials ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bound:
    """`terms` >= 0 (> 0 if strict): one of what is rested on, times `scale`, with equations put in."""

    terms: Terms
    strict: bool
    factor: Factor
    scale: Powers  # a monomial of positive atoms, powers below 0 too
    over: tuple[int, ...] = ()  # the places of positive rests that it was divided by


@dataclass(frozen=True, slots=True)
class _Equation:
    """`terms` = 0, which defines `atom` if there is one: coefficient * monomial * atom + rest.

    `made_of`: the multiples of the line's own equations that it is the sum of.
    """

    terms: Terms
    made_of: Mapping[Factor, Terms]
    atom: int | None = None
    lead: Powers = ()


@dataclass(frozen=True, slots=True)
class _Sign:
    """That an atom is not negative (positive, if strict): the judgement at `place` says so of `number` times it."""

    place: int
    strict: bool
    number: fmpq


@dataclass
class _Line:
    """A goal and what it rests on, over atoms that are numbered; counts are 1 + something from `shift` on."""

    atoms: list[str]
    signs: list[str]
    least: list[int]  # the atoms whose least value is 1
    originals: Mapping[Factor, Terms]
    bounds: list[_Bound]
    equations: list[_Equation]
    eliminated: list[_Equation] = field(default_factory=list["_Equation"])
    absurd: _Bound | None = None  # 0 > 0
    places: dict[int, _Sign] = field(default_factory=dict[int, "_Sign"])
    squares: list[Terms] = field(default_factory=list[Terms])  # polynomials whose squares are multiplied with

    @classmethod
    def of(cls, goal: Constraint, premises: Sequence[Constraint], signs: Mapping[str, Sign]) -> _Line:
        constraints: list[tuple[Factor, Constraint]] = [(GOAL, goal), *enumerate(premises)]
        atoms = atoms_of(*(polynomial for _, (_, polynomial) in constraints))
        place = {name: n for n, name in enumerate(atoms)}
        one = (0,) * len(atoms)
        originals = {factor: _numbered(polynomial, place) for factor, (_, polynomial) in constraints}
        line = cls(
            atoms,
            [signs[name].sign for name in atoms],
            [n for n, name in enumerate(atoms) if signs[name].from_one],
            originals,
            [],
            [],
        )
        seen: set[object] = set()
        for factor, (name, _) in constraints:
            terms = originals[factor]
            key = (name, frozenset((m, (c.p, c.q)) for m, c in terms.items()))
            if key in seen or name == "!=":
                continue
            seen.add(key)
            if not terms:
                line.absurd = _Bound(terms, True, factor, one) if STRICT.get(name) else line.absurd
            elif name == "=":
                line.equations.append(_Equation(terms, {factor: {one: fmpq(1)}}))
            else:
                line.bounds.append(line.cleared(_Bound(terms, STRICT[name], factor, one)))
        line.divide()
        line.eliminate()
        line.single_out()
        line.squares = line.repeated_factors()
        return line

    @property
    def goal(self) -> int | None:
        return next((n for n, b in enumerate(self.bounds) if b.factor == GOAL), None)

    def positive(self, n: int) -> bool:
        return self.signs[n] == "positive" or (n in self.places and self.places[n].strict)

    def nonnegative(self, n: int) -> bool:
        return self.signs[n] in ("positive", "nonnegative") or n in self.places

    def cleared(self, bound: _Bound) -> _Bound:
        """Without the monomial of positive atoms that all its terms share."""
        rows = list(bound.terms)
        shared = tuple(
            min(row[n] for row in rows) if self.signs[n] == "positive" else 0 for n in range(len(self.atoms))
        )
        if not any(shared):
            return bound
        terms = {_minus(m, shared): c for m, c in bound.terms.items()}
        return _Bound(terms, bound.strict, bound.factor, _minus(bound.scale, shared), bound.over)

    def divide(self) -> None:
        """Denominators that a rest says to be positive are divided out: a relation N/D is one about N D."""
        below = [b for b in self.bounds if b.strict and isinstance(b.factor, int) and 1 < len(b.terms) <= SHORT]
        if not below:
            return
        context = fmpq_mpoly_ctx.get([f"x{n}" for n in range(len(self.atoms))], Ordering.lex)
        for divisor in below:
            place, by = divisor.factor, context.from_dict(_whole(divisor.terms))
            assert isinstance(place, int)
            for n, bound in enumerate(self.bounds):
                if bound.factor == place or len(bound.terms) < len(divisor.terms):
                    continue
                quotient, rest = divmod(context.from_dict(bound.terms), by)
                while not rest and quotient.total_degree() > 0:
                    terms = {tuple(map(int, m)): c for m, c in quotient.to_dict().items()}
                    bound = _Bound(terms, bound.strict, bound.factor, bound.scale, (*bound.over, place))
                    quotient, rest = divmod(quotient, by)
                self.bounds[n] = bound

    def eliminate(self) -> None:
        """Every equation that defines an atom is put in for it."""
        while self.absurd is None and (pick := self._pivot()) is not None:
            equation, atom, lead = pick
            value = _value(equation.terms, atom, lead)
            kept = [e for e in self.equations if e is not equation]
            bounds = [_put_in(b.terms, atom, value) for b in self.bounds]
            defining = _Equation(equation.terms, equation.made_of, atom, lead)
            others = [_without(e, defining) for e in kept]
            if max(map(len, (*bounds, *(e.terms for e in others))), default=0) > TERMS:
                self.equations = [*kept, _Equation(equation.terms, equation.made_of, -1)]
                continue
            self.eliminated.append(defining)
            sign = self._sign_of(atom, value)
            made = [
                _Bound(terms, b.strict, b.factor, b.scale, b.over) for b, terms in zip(self.bounds, bounds, strict=True)
            ]
            sign = list(sign)
            self.absurd = next((b for b in (*made, *sign) if not b.terms and b.strict), self.absurd)
            self.bounds = [self.cleared(b) for b in (*made, *sign) if b.terms]
            self.equations = [e for e in others if e.terms]

    def _pivot(self) -> tuple[_Equation, int, Powers] | None:
        best: tuple[int, _Equation, int, Powers] | None = None
        for equation in self.equations:
            if equation.atom is not None:
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
                rest = tuple(0 if n == atom else power for n, power in enumerate(lead))
                if any(power and self.signs[n] != "positive" for n, power in enumerate(rest)):
                    continue
                name = self.atoms[atom]
                plain = name.isidentifier()
                cost = 8 * plain + sum(rest) + 2 * (self.signs[atom] != "real") + len(equation.terms)
                if best is None or cost < best[0]:
                    best = cost, equation, atom, lead
        return None if best is None else best[1:]

    def _sign_of(self, atom: int, value: Terms) -> Iterator[_Bound]:
        """What the sign of an atom says about its value."""
        if self.signs[atom] in ("positive", "nonnegative"):
            one = (0,) * len(self.atoms)
            least = fmpq(int(atom in self.least))
            factor = f"atom {atom}"
            self.originals = {
                **self.originals,
                factor: _added({_unit(atom, len(self.atoms)): fmpq(1)}, {one: -least}),
            }
            strict = self.signs[atom] == "positive" and not least
            yield _Bound(_added(value, {one: -least}), strict, factor, one)

    def repeated_factors(self) -> list[Terms]:
        """Polynomials whose squares divide what stands before a power of an atom: where 2 (1 - b)^2 X is to be replaced
        by a bound of X, that bound is multiplied with (1 - b)^2."""
        context = fmpq_mpoly_ctx.get([f"x{n}" for n in range(len(self.atoms))], Ordering.lex)
        found: dict[frozenset[Powers], Terms] = {}
        for terms in (*(b.terms for b in self.bounds), *(_whole(e.terms) for e in self.equations)):
            parts: dict[tuple[int, int], Terms] = {}
            for m, c in terms.items():
                for n, power in enumerate(m):
                    if power:
                        rest = tuple(0 if k == n else other for k, other in enumerate(m))
                        parts.setdefault((n, power), {})[rest] = c
            for cofactor in parts.values():
                if 2 < len(cofactor) <= FACTORED:
                    for factor, times in context.from_dict(_whole(cofactor)).factor_squarefree()[1]:
                        one = {tuple(map(int, m)): fmpq(c) for m, c in factor.to_dict().items()}
                        if times > 1 and len(one) > 1:
                            found.setdefault(frozenset(one), one)
        return sorted(found.values(), key=len)[:SQUARES]

    def single_out(self) -> None:
        """Rests that say that one atom is not negative are the atom's own sign."""
        kept: list[_Bound] = []
        for bound in self.bounds:
            (monomial, c), *more = bound.terms.items()
            atoms = [n for n, power in enumerate(monomial) if power]
            single = not more and c > 0 and len(atoms) == 1 and monomial[atoms[0]] == 1
            if single and isinstance(bound.factor, int) and not any(bound.scale):
                n = atoms[0]
                if self.signs[n] == "positive" or (self.nonnegative(n) and (not bound.strict or self.positive(n))):
                    continue
                self.places[n] = _Sign(bound.factor, bound.strict, c)
                self.originals = {**self.originals, bound.factor: bound.terms}
            else:
                kept.append(bound)
        self.bounds = kept


def _numbered(polynomial: Polynomial, place: Mapping[str, int]) -> Terms:
    terms: Terms = {}
    for monomial, c in polynomial.items():
        row = [0] * len(place)
        for name, n in monomial:
            row[place[name]] = n
        terms[tuple(row)] = c
    return terms


def _unit(n: int, length: int) -> Powers:
    return tuple(int(m == n) for m in range(length))


def _plus(a: Powers, b: Powers) -> Powers:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _minus(a: Powers, b: Powers) -> Powers:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _added(a: Terms, b: Terms) -> Terms:
    made = dict(a)
    for m, c in b.items():
        made[m] = made.get(m, 0) + c
    return {m: c for m, c in made.items() if c != 0}


def _times(a: Terms, b: Terms) -> Terms:
    made: Terms = {}
    for m, c in a.items():
        for n, d in b.items():
            key = _plus(m, n)
            made[key] = made.get(key, 0) + c * d
    return {m: c for m, c in made.items() if c != 0}


def _shift(a: Terms, m: Powers) -> Terms:
    return {_plus(n, m): c for n, c in a.items()}


def _value(terms: Terms, atom: int, lead: Powers) -> Terms:
    """What the equation says that the atom is."""
    below = _minus(lead, _unit(atom, len(lead)))
    return {_minus(m, below): -c / terms[lead] for m, c in terms.items() if m != lead}


def _put_in(terms: Terms, atom: int, value: Terms) -> Terms:
    powers = {m[atom] for m in terms}
    if powers <= {0}:
        return terms
    raised_: dict[int, Terms] = {0: {(0,) * len(next(iter(terms))): fmpq(1)}}
    for n in range(1, max(powers) + 1):
        raised_[n] = _times(raised_[n - 1], value)
        if len(raised_[n]) > TERMS:
            return dict.fromkeys(((n, *m[1:]) for n, m in enumerate([next(iter(terms))] * (TERMS + 2))), fmpq(1))
    made: Terms = {}
    for m, c in terms.items():
        rest = tuple(0 if n == atom else power for n, power in enumerate(m))
        for n, d in raised_[m[atom]].items():
            key = _plus(rest, n)
            made[key] = made.get(key, 0) + c * d
    return {m: c for m, c in made.items() if c != 0}


def _divided(terms: Terms, equation: _Equation) -> tuple[Terms, Terms]:
    """The multiple of the equation that takes its atom out, and what is left."""
    assert equation.atom is not None
    quotient: Terms = {}
    number = equation.terms[equation.lead]
    while (degree := max((m[equation.atom] for m in terms), default=0)) > 0:
        part = {_minus(m, equation.lead): c / number for m, c in terms.items() if m[equation.atom] == degree}
        quotient = _added(quotient, part)
        terms = _added(terms, {m: -c for m, c in _times(part, equation.terms).items()})
    return quotient, terms


def _without(one: _Equation, other: _Equation) -> _Equation:
    quotient, rest = _divided(one.terms, other)
    return _Equation(rest, _combined(one.made_of, quotient, other.made_of), one.atom) if quotient else one


def _combined(one: Mapping[Factor, Terms], quotient: Terms, other: Mapping[Factor, Terms]) -> Mapping[Factor, Terms]:
    """The first minus a multiple of the second."""
    made = dict(one)
    for factor, terms in other.items():
        made[factor] = _added(made.get(factor, {}), {m: -c for m, c in _times(quotient, terms).items()})
    return made


# --- products of constraints ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Product:
    """Factors times a monomial of the shifted atoms, or an equation times one.

    A factor is the place of a bound, or -1 - n for the square of the line's n-th polynomial.
    """

    factors: tuple[int, ...]
    times: Powers
    strict: bool
    keys: Any  # of its monomials: a sum of fixed random numbers, so that products of monomials are sums
    numbers: Any
    exact: list[fmpq]
    equation: int | None = None
    sign: int = 1


@dataclass(frozen=True, slots=True)
class _Table:
    """A polynomial as arrays."""

    rows: Any
    keys: Any
    numbers: Any
    exact: list[fmpq]

    @classmethod
    def of(cls, terms: Terms) -> _Table:
        rows = np.array(list(terms), dtype=np.int64)
        return cls(rows, _keys(rows), np.array([float(c) for c in terms.values()]), list(terms.values()))


_WEIGHTS = np.random.default_rng(0).integers(1, 2**62, size=4096, dtype=np.int64)


def _keys(rows: Any) -> Any:
    return (rows * _WEIGHTS[: rows.shape[-1]]).sum(axis=-1)


@dataclass(slots=True)
class _Search:
    """The bounds and equations of a line with counts shifted, ready to be multiplied."""

    line: _Line
    bounds: list[Terms]
    strict: list[bool]
    equations: list[Terms]
    goal: int | None
    even: Any  # atoms that are only multiplied with in even powers
    positive: Any
    tables: dict[tuple[int, ...], tuple[_Table, bool] | None] = field(default_factory=dict[Any, Any])

    @classmethod
    def of(cls, line: _Line) -> _Search:
        bounds = [_from_one(b.terms, line.least) for b in line.bounds]
        equations = [_from_one(_whole(e.terms), line.least) for e in line.equations]
        size = len(line.atoms)
        even = np.array([not line.nonnegative(n) for n in range(size)], dtype=bool)
        positive = np.array([line.positive(n) and n not in line.least for n in range(size)], dtype=bool)
        return cls(line, bounds, [b.strict for b in line.bounds], equations, line.goal, even, positive)

    @property
    def small(self) -> bool:
        return sum(map(len, self.bounds)) <= SMALL

    def table(self, factors: tuple[int, ...]) -> tuple[_Table, bool] | None:
        if factors not in self.tables:
            terms: Terms = {(0,) * len(self.line.atoms): fmpq(1)}
            for part in map(self.factor, factors):
                if len(terms) * len(part) > 4000:
                    self.tables[factors] = None
                    return None
                terms = _times(terms, part)
            strict = all(n >= 0 and self.strict[n] for n in factors)
            self.tables[factors] = (_Table.of(terms), strict) if terms else None
        return self.tables[factors]

    def product(self, factors: tuple[int, ...], times: Powers) -> _Product:
        made, row = self.table(factors), np.array(times, dtype=np.int64)
        assert made is not None
        table, strict = made
        sure = strict and bool(np.all(self.positive[row > 0]))
        return _Product(factors, times, sure, table.keys + _keys(row), table.numbers, table.exact)

    def factor(self, n: int) -> Terms:
        if n >= 0:
            return self.bounds[n]
        one = _from_one(self.line.squares[-1 - n], self.line.least)
        return _times(one, one)


def _whole(terms: Terms) -> Terms:
    low = tuple(min(0, *(m[n] for m in terms)) for n in range(len(next(iter(terms)))))
    return {_minus(m, low): c for m, c in terms.items()} if any(low) else terms


def _from_one(terms: Terms, least: Sequence[int]) -> Terms:
    """With 1 + n in place of n."""
    for n in least:
        degree = max((m[n] for m in terms), default=0)
        if degree <= 0:
            continue
        size = len(next(iter(terms)))
        one = {(0,) * size: fmpq(1), _unit(n, size): fmpq(1)}
        powers: list[Terms] = [{(0,) * size: fmpq(1)}]
        for _ in range(degree):
            powers.append(_times(powers[-1], one))
        made: Terms = {}
        for m, c in terms.items():
            rest = tuple(0 if k == n else power for k, power in enumerate(m))
            made = _added(made, _shift({k: c * d for k, d in powers[m[n]].items()}, rest))
        terms = made
    return terms


def _first(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    """Columns of linear programmes, and the line that they are of, with counts shifted or not."""
    yield from ((line, columns) for columns in _columns(_Search.of(line), 1, 1, COLUMNS))


def _second(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    yield from _first(line)
    yield from ((line, columns) for columns in _columns(_Search.of(line), 2, 1, COLUMNS))


def _simple(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    yield from _first(line)
    for one in (_unshifted(line), replace(line, squares=[*line.squares])):
        yield from ((one, columns) for columns in _overlapping(_Search.of(one), 1))


def _pairs(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    yield from _second(line)
    search = _Search.of(line)
    targets = list(_targets(search))
    for target in targets:
        yield from ((line, columns) for columns in _columns(search, 2, 1, COLUMNS, target))
    yield from ((line, columns) for columns in _columns(search, 2, 2, COLUMNS))
    if search.small:
        for target in targets:
            yield from ((line, columns) for columns in _columns(search, 2, 3, MANY, target))


def _overlapping_pairs(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    one = _unshifted(line)
    search = _Search.of(one)
    for target in (None, *_targets(search)):
        yield from ((one, columns) for columns in _overlapping(search, 2, target))


def _triples(line: _Line) -> Iterator[tuple[_Line, list[_Product]]]:
    search = _Search.of(line)
    if search.small:
        yield from ((line, columns) for columns in _columns(search, 3, 2, MANY))


def _unshifted(line: _Line) -> _Line:
    return replace(line, least=[], squares=[*line.squares])


def _overlapping(search: _Search, level: int, target: Terms | None = None) -> Iterator[list[_Product]]:
    """Products of at most `level` bounds, each times the monomials that take most of its terms to those of the goal and
    of what was there before; and squares of differences whose three terms are there.

    Few columns, so that products are tried in later rounds too: sums of inequalities between fractions, whose
    denominators differ, and of what was multiplied with a bound that is a sum itself.
    """
    if search.goal is None:
        return
    goal = np.array(list(search.bounds[search.goal]), dtype=np.int64)
    wanted = np.array(list(target), dtype=np.int64) if target else goal
    tried = [f for r in range(1, level + 1) for f in combinations_with_replacement(range(len(search.bounds)), r)]
    equations = [_Table.of(e) for e in search.equations]
    none = np.zeros_like(search.positive)
    places: dict[tuple[tuple[int, ...], Powers], None] = {}
    multiples: dict[tuple[int, Powers], None] = {}
    for n in range(ROUNDS):
        fresh = [wanted]
        for place, table in enumerate(equations):
            found = _multipliers(wanted, table.rows, None)
            multiples |= dict.fromkeys((place, times) for times in found)
            fresh += [table.rows + np.array(times) for times in found]
        for factors in tried:
            made = search.table(factors)
            if made is None or len(wanted) * len(made[0].rows) > PAIRS:
                continue
            for times in _overlaps(search, wanted, made[0].rows, len(factors), search.positive if level == 1 else none):
                places[factors, tuple(times.tolist())] = None
                fresh.append(made[0].rows + times)
        wanted = _different(np.concatenate(fresh))
        squares = _square_places(search, wanted if len(wanted) ** 2 <= 4 * PAIRS else goal)
        places |= dict.fromkeys(squares)
        if level > 1:
            new = list(dict.fromkeys(factors for factors, _ in squares))[:SQUARES]
            tried += [p for f in new for m in range(len(search.bounds)) if (p := (m, *f)) not in tried]
        if len(places) + 2 * len(multiples) > MANY:
            return
        if n:
            yield _placed(search, places, multiples, wanted)


def _overlaps(search: _Search, wanted: Any, rows: Any, factors: int, below: Any) -> Any:
    """The monomials that take most terms of a product to those that are wanted; of a short one, all terms."""
    differences = (wanted[:, None, :] - rows[None, :, :]).reshape(-1, wanted.shape[1])
    fits = np.all((differences >= 0) | below, axis=1)
    fits &= ~np.any((differences % 2 == 1) & search.even, axis=1)
    if not fits.any():
        return []
    ratios, counts = np.unique(differences[fits], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    whole = int((counts == len(rows)).sum()) if len(rows) <= FEW else 0
    best = order[: max(4 if factors == 1 else 2, min(whole, PLACES))]
    return ratios[best[counts[best] >= min(factors, 2)]]


def _square_places(search: _Search, wanted: Any) -> list[tuple[tuple[int], Powers]]:
    """Squares (p - q)^2 times monomials m for which m p^2, m p q and m q^2 are all wanted, the most frequent first."""
    line, keys = search.line, _keys(wanted)
    thirds = np.isin(2 * keys[None, :] - keys[:, None], keys)  # of m p^2 and m p q
    np.fill_diagonal(thirds, False)
    first, middle = np.nonzero(thirds)
    steps = wanted[middle] - wanted[first]
    p, q = np.maximum(steps, 0), np.maximum(-steps, 0)
    rest = wanted[middle] - p - q
    fits = np.all(rest >= 0, axis=1) & ~np.any((rest % 2 == 1) & search.even, axis=1)
    found: dict[tuple[Powers, Powers], list[Powers]] = {}
    for row in zip(*(part[fits].tolist() for part in (p, q, rest)), strict=True):
        one, other, times = map(tuple, row)
        if one > other:  # each is found twice
            found.setdefault((one, other), []).append(times)
    made: list[tuple[tuple[int], Powers]] = []
    for (one, other), times in sorted(found.items(), key=lambda item: -len(item[1]))[:FEW]:
        unsigned = np.any(np.array(one) + np.array(other) > 0, where=search.even)
        for sign in (-1, 1) if unsigned else (-1,):
            terms = _from_shift({one: fmpq(1), other: fmpq(sign)}, line.least)
            if terms not in line.squares:
                line.squares.append(terms)
            made += [((-1 - line.squares.index(terms),), m) for m in times]
    return made


def _placed(search: _Search, places: Iterable[Any], multiples: Iterable[Any], wanted: Any) -> list[_Product]:
    """The columns, times a monomial of positive atoms that leaves no powers below 0."""
    powers = np.array([m for _, m in (*places, *multiples)], dtype=np.int64)
    low = np.minimum(0, np.minimum(powers.min(axis=0), wanted.min(axis=0)))
    columns = [search.product(factors, _minus(m, tuple(low.tolist()))) for factors, m in places]
    for n, m in multiples:
        table = _Table.of(search.equations[n])
        row = np.array(m, dtype=np.int64) - low
        keys, times = table.keys + _keys(row), tuple(row.tolist())
        columns += [_Product((), times, False, keys, s * table.numbers, table.exact, n, s) for s in (1, -1)]
    return [*columns, *_monomials(search, wanted - low)]


def _targets(search: _Search) -> Iterator[Terms]:
    """The goal times what other bounds have before the atoms that they share with it, and times itself."""
    if search.goal is None:
        return
    goal = search.bounds[search.goal]
    shared = {n for m in goal for n, power in enumerate(m) if power and not search.line.atoms[n].isidentifier()}
    seen: set[frozenset[Powers]] = set()
    found: list[Terms] = []
    for bound in (*(b for n, b in enumerate(search.bounds) if n != search.goal), *search.equations):
        for atom in shared:
            cofactor = {_minus(m, _unit(atom, len(m))): c for m, c in bound.items() if m[atom] == 1}
            mark = frozenset(cofactor)
            if cofactor and mark not in seen and set(mark) != {(0,) * len(search.line.atoms)}:
                seen.add(mark)
                found.append(cofactor)
    for cofactor in sorted(found, key=len)[:4]:
        if len(cofactor) * len(goal) <= 3000:
            yield _times(goal, cofactor)
    if len(goal) <= 12:
        yield {**_times(goal, goal), **goal}


def _columns(search: _Search, level: int, rounds: int, most: int, target: Terms | None = None) -> Iterator[Any]:
    """Products of at most `level` constraints and a monomial that share a monomial with the goal (in later rounds, with
    a product of the round before)."""
    size = len(search.line.atoms)
    start = (
        target if target is not None else search.bounds[search.goal] if search.goal is not None else {(0,) * size: 1}
    )
    if search.goal is None:
        start = {**{(0,) * size: fmpq(1)}, **{m: c for e in search.equations for m, c in e.items()}}
    wanted = np.array(list(start), dtype=np.int64)
    products: list[tuple[tuple[int, ...], _Table, bool]] = []
    for r in range(1, level + 1):
        for factors in combinations_with_replacement(range(len(search.bounds)), r):
            made = search.table(factors)
            if made is not None:
                products.append((factors, *made))
    if level > 1:
        for n, short in enumerate(search.bounds):
            if n != search.goal and search.strict[n] and len(short) == 2 and search.goal is not None:
                for m in range(len(search.bounds)):
                    made = search.table((m, n, n)) if m not in (n, search.goal) else None
                    if made is not None:
                        products.append(((m, n, n), *made))
    squares = [(-1 - n,) for n in range(len(search.line.squares))]
    for factors in (*squares, *((*f, *s) for f, *_ in tuple(products) for s in squares)):
        made = search.table(factors)
        if made is not None:
            products.append((factors, *made))
    equations = [(n, _Table.of(e)) for n, e in enumerate(search.equations)]
    columns: list[_Product] = []
    seen: set[tuple[object, Powers]] = set()
    for _ in range(rounds):
        fresh: list[Any] = [wanted]
        for n, table in equations:
            for times in _multipliers(wanted, table.rows, None):
                if (-1 - n, times) not in seen:
                    seen.add((-1 - n, times))
                    keys = table.keys + _keys(np.array(times, dtype=np.int64))
                    columns += [
                        _Product((), times, False, keys, sign * table.numbers, table.exact, n, sign) for sign in (1, -1)
                    ]
                    fresh.append(table.rows + np.array(times))
        for factors, table, _ in products:
            for times in _multipliers(wanted, table.rows, search.even):
                if (factors, times) in seen:
                    continue
                seen.add((factors, times))
                columns.append(search.product(factors, times))
                fresh.append(table.rows + np.array(times))
            if len(columns) > most:
                break
        wanted = _different(np.concatenate(fresh))
        if len(columns) > most:
            break
    yield [*columns, *_monomials(search, wanted)]


def _monomials(search: _Search, rows: Any) -> Iterator[_Product]:
    """Those of the rows that are not negative by the signs of their atoms."""
    fits = np.all(rows >= 0, axis=1) & ~np.any((rows % 2 == 1) & search.even, axis=1)
    sure = ~np.any((rows > 0) & ~search.positive, axis=1)
    for row, key, strict in zip(rows[fits].tolist(), _keys(rows[fits]), sure[fits].tolist(), strict=True):
        yield _Product((), tuple(row), strict, np.array([key]), np.array([1.0]), [fmpq(1)])


def _multipliers(wanted: Any, rows: Any, even: Any | None) -> list[Powers]:
    """The monomials that take a term of a product to one that is wanted."""
    differences = (wanted[:, None, :] - rows[None, :, :]).reshape(len(wanted) * len(rows), wanted.shape[1])
    fits = np.all(differences >= 0, axis=1)
    if even is not None:
        fits &= ~np.any((differences % 2 == 1) & even, axis=1)
    return sorted(map(tuple, _different(differences[fits]).tolist()))


def _different(rows: Any) -> Any:
    """The rows, each once."""
    return rows[np.unique(_keys(rows), return_index=True)[1]]


# --- the linear programme -------------------------------------------------------------------------------------------


def _solved(columns: Sequence[_Product], goal: int | None) -> list[tuple[int, fmpq]] | None:
    """Non-negative numbers before the columns, one of a positive column not 0, that add up to the polynomial 0.

    The solver may find a positive monomial that is 0 within its tolerance; then the goal's own products are asked for.
    """
    strict = np.array([column.strict for column in columns], dtype=float)
    asked = np.array([column.strict and goal in column.factors for column in columns], dtype=float)
    places = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    _, rows = np.unique(np.concatenate([column.keys for column in columns]), return_inverse=True)
    numbers = _scaled(np.concatenate([column.numbers for column in columns]), rows, places)
    height = int(rows.max()) + 1
    rows = np.concatenate([rows, np.full(len(columns), height)])
    right = np.zeros(height + 1)
    right[-1] = 1
    for positive in (strict, asked):
        if not positive.any():
            return None
        matrix = csc_matrix(
            (np.concatenate([numbers, positive]), (rows, np.concatenate([places, np.arange(len(columns))]))),
            shape=(height + 1, len(columns)),
        )
        limit = {"time_limit": 5}
        answer = linprog(np.ones(len(columns)), A_eq=matrix, b_eq=right, method="highs-ds", options=limit)
        if answer.status != 0:
            return None
        found = _exact(columns, [n for n, x in enumerate(answer.x) if x > 1e-9])
        if found is not None:
            return found
    return None


def _scaled(numbers: Any, *lines: Any) -> Any:
    """With rows and columns multiplied so that their largest and smallest numbers are about 1.

    Right sides are 0, so that nothing else changes; what the solver takes for 0 would hide 1/150^4 beside 1.
    """
    for line in lines * BALANCED:
        size = np.log(np.abs(numbers))
        most, least = np.full(line.max() + 1, -np.inf), np.full(line.max() + 1, np.inf)
        np.maximum.at(most, line, size)
        np.minimum.at(least, line, size)
        numbers = numbers / np.exp((most + least) / 2)[line]
    return numbers


def _exact(columns: Sequence[_Product], used: Sequence[int]) -> list[tuple[int, fmpq]] | None:
    place: dict[int, int] = {}
    for n in used:
        for key in columns[n].keys:
            place.setdefault(int(key), len(place))
    height, width = len(place) + 1, len(used) + 1
    matrix = fmpq_mat(height, width)
    for j, n in enumerate(used):
        column = columns[n]
        for key, c in zip(column.keys, column.exact, strict=True):
            matrix[place[int(key)], j] += column.sign * c
        matrix[height - 1, j] = fmpq(int(column.strict))
    matrix[height - 1, width - 1] = fmpq(1)
    reduced, rank = matrix.rref()
    solution = [fmpq(0)] * len(used)
    for i in range(rank):
        j = next(j for j in range(width) if reduced[i, j] != 0)
        if j == width - 1:
            return None
        solution[j] = reduced[i, width - 1]
    if any(x < 0 for x in solution):
        return None
    return [(used[j], x) for j, x in enumerate(solution) if x != 0]


# --- the certificate as the kernel reads it -------------------------------------------------------------------------


def _written(line: _Line, weights: Sequence[tuple[_Product, fmpq]]) -> Json | None:
    """The products, and the multiples of equations that are left when they are added."""
    size = len(line.atoms)
    one = (0,) * size
    products: list[tuple[fmpq, list[_Bound | Terms], Powers, Powers]] = []
    multiples: Mapping[Factor, Terms] = {}
    leftover: Terms = {}
    overs = [Counter(p for n in column.factors if n >= 0 for p in line.bounds[n].over) for column, _ in weights]
    most = reduce(or_, overs, Counter[int]())  # every product times the denominators that others were divided by
    for (column, c), over in zip(weights, overs, strict=True):
        terms = _from_shift({column.times: c}, line.least)
        denominators = [_Bound(line.originals[p], True, p, one) for p in (most - over).elements()]
        for denominator in denominators:
            terms = _times(terms, denominator.terms)
        if column.equation is not None:
            equation = line.equations[column.equation]
            terms = _shift({m: column.sign * d for m, d in terms.items()}, _negated(_lowest([equation.terms])))
            multiples = _combined(multiples, {m: -d for m, d in terms.items()}, equation.made_of)
            leftover = _added(leftover, _times(terms, equation.terms))
            continue
        scale = one
        factors = [line.bounds[n] if n >= 0 else line.squares[-1 - n] for n in column.factors]
        for factor in factors:
            if isinstance(factor, _Bound):
                scale = _plus(scale, factor.scale)
                terms = _times(terms, line.originals[factor.factor])
            else:
                terms = _times(terms, _times(factor, factor))
        products.append((c, [*factors, *denominators], column.times, scale))
        leftover = _added(leftover, _shift(terms, scale))
    for equation in line.eliminated:
        quotient, leftover = _divided(leftover, equation)
        multiples = _combined(multiples, quotient, equation.made_of)
    if leftover:
        return None
    low = _lowest([*multiples.values(), *({scale: fmpq(1)} for *_, scale in products)])
    return {
        "products": [
            [str(c / _number(line, times)), _factors(line, factors, times, _minus(scale, low))]
            for c, factors, times, scale in products
        ],
        **(
            {
                "equations": [
                    [_polynomial(line, _shift(terms, _negated(low))), factor]
                    for factor, terms in multiples.items()
                    if terms
                ]
            }
            if any(multiples.values())
            else {}
        ),
    }


def _negated(m: Powers) -> Powers:
    return tuple(-x for x in m)


def _lowest(polynomials: Sequence[Terms]) -> Powers:
    """The powers below 0, if any."""
    rows = [m for terms in polynomials for m in terms]
    return tuple(min(0, *column) for column in zip(*rows, strict=True)) if rows else ()


def _from_shift(terms: Terms, least: Sequence[int]) -> Terms:
    """With n - 1 in place of n."""
    for n in least:
        degree = max((m[n] for m in terms), default=0)
        if degree <= 0:
            continue
        size = len(next(iter(terms)))
        one = {(0,) * size: fmpq(-1), _unit(n, size): fmpq(1)}
        powers: list[Terms] = [{(0,) * size: fmpq(1)}]
        for _ in range(degree):
            powers.append(_times(powers[-1], one))
        made: Terms = {}
        for m, c in terms.items():
            rest = tuple(0 if k == n else power for k, power in enumerate(m))
            made = _added(made, _shift({k: c * d for k, d in powers[m[n]].items()}, rest))
        terms = made
    return terms


def _factors(line: _Line, bounds: Sequence[_Bound | Terms], times: Powers, scale: Powers) -> list[Json]:
    """The factors of a product; of a polynomial, its square."""
    made: list[Json] = []
    for bound in bounds:
        if not isinstance(bound, _Bound):
            made.append(["square", _polynomial(line, bound)])
            continue
        factor = bound.factor
        if str(factor).startswith("atom "):
            n = int(str(factor)[5:])
            tree = line.atoms[n]
            made.append(["+", tree, "-1"] if n in line.least else tree)
        else:
            made.append(factor)
    plain: list[Json] = []
    square: list[Json] = []
    for n, power in enumerate(times):
        if not power:
            continue
        tree = line.atoms[n]
        if n in line.least:
            plain.append(raised(["+", tree, "-1"], power))
        elif n in line.places:
            made += [line.places[n].place] * power
        elif line.nonnegative(n):
            plain.append(raised(tree, power))
        else:
            square.append(raised(tree, power // 2))
    plain += [raised(line.atoms[n], power) for n, power in enumerate(scale) if power]
    if plain:
        made.append(product(plain))
    if square:
        made.append(["square", product(square)])
    return made


def _number(line: _Line, times: Powers) -> fmpq:
    """By how much the product of `_factors` is larger, since judgements say the signs of multiples of atoms."""
    number = fmpq(1)
    for n, power in enumerate(times):
        if n in line.places and n not in line.least:
            number *= line.places[n].number ** power
    return number


def _polynomial(line: _Line, terms: Terms) -> Json:
    parts: list[Json] = []
    for m, c in terms.items():
        factors = [raised(line.atoms[n], power) for n, power in enumerate(m) if power]
        parts.append(product(([] if c == 1 and factors else [str(c)]) + factors))
    return total(parts)
