"""The certificate of a line: which products of what it rests on add up to a contradiction with its negation.

The kernel multiplies out what is found here and believes nothing of it. Equations are used first, as definitions of
one of their atoms; then a linear programme looks for non-negative numbers before products of constraints and of atoms
that are not negative, and an exact solution is read off the columns that it uses.
"""

# flint has no types of its own (2026-11).
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from flint import fmpq

from ...kernel.core.expression import Relation
from ...kernel.proofs.forms import Forms
from ...kernel.proofs.polynomials import Monomial, atoms_of
from ...kernel.proofs.rules.line import STRICT, Constraint, constraint, negations
from ..atom_trees import Json, atom_tree
from ..z3_lines import AtomSign, Countermodel, needed_for_contradiction, sign_of
from .contradiction_programme import contradiction
from .line_system import LineSystem
from .overlapping_products import overlapping_columns
from .product_columns import Column, ColumnSearch, sharing_columns, targets
from .written_certificate import written

NOTHING: Constraint = ("=", {})  # 0 = 0, in the place of what is not needed
COLUMNS = 1200  # of a linear programme
MANY = 4000  # of a linear programme, for lines of few terms
Attempts = Iterator[tuple[LineSystem, list[Column]]]  # columns of linear programmes, and the line that they are of


def certificates(
    relation: Relation, rests: Sequence[Relation], forms: Forms, *, quick: bool = False
) -> list[Json] | None:
    """One for every way in which the relation may fail; None if one is not found. `quick`: only short ones."""
    premises = [constraint(rest, forms) for rest in rests]
    certificates_of_goals: list[Json] = []
    for goal in negations(relation, forms):
        one = certificate(goal, premises, forms, quick=quick)
        if one is None:
            return None
        certificates_of_goals.append(one)
    return certificates_of_goals


@dataclass(frozen=True, slots=True)
class _Problem:
    """A goal and premises over atoms that are numbered: lines that differ in names alone are one problem."""

    constraints: tuple[tuple[str, frozenset[tuple[Monomial, fmpq]]], ...]  # the goal first
    signs: tuple[tuple[str, AtomSign], ...]

    @classmethod
    def of(cls, goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> tuple[_Problem, dict[str, str]]:
        """The problem, and the atom behind each name."""
        atoms = atoms_of(*(polynomial for _, polynomial in (goal, *premises)))
        names = {atom: f"x{n:03}" for n, atom in enumerate(atoms)}  # in the order of the atoms' own names
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
    """The certificate that a negated goal and the premises contradict each other; None if none is found.

    A goal comes again with more premises, or fewer. What was found against it is kept: where its values meet these
    premises too, there is no certificate, and none is looked for.
    """
    countermodels = _AGAINST.setdefault((goal[0], frozenset(goal[1].items())), [])
    if any(one.holds((goal, *premises), lambda atom: sign_of(atom, forms)) for one in countermodels):
        return None
    problem, atoms = _Problem.of(goal, premises, forms)
    answer = _of_problem(problem, quick)
    if isinstance(answer, Countermodel):
        values = answer.values
        if values is not None:
            countermodels.append(Countermodel({atoms[name]: x for name, x in values.items()}))
        return None
    return None if answer is None else _named(answer, {name: atom_tree(atom) for name, atom in atoms.items()})


_AGAINST: dict[object, list[Countermodel]] = {}  # by the goal


def _named(json: Json, trees: Mapping[str, Json]) -> Json:
    """The certificate with the trees of its atoms for their numbers."""
    if isinstance(json, str):
        return trees.get(json, json)
    if isinstance(json, dict):
        return {key: _named(value, trees) for key, value in json.items()}
    return [_named(value, trees) for value in json] if isinstance(json, list) else json


@lru_cache(maxsize=20_000)
def _of_problem(problem: _Problem, quick: bool) -> Json | Countermodel | None:
    """From all premises in a simple way; else from those that z3 needs: few of them have more products in reach."""
    # A frozen set has no order, and columns have to come in the same one in every process.
    goal, *premises = ((name, dict(sorted(polynomial))) for name, polynomial in problem.constraints)
    signs = dict(problem.signs)
    simple = _searched(LineSystem.of(goal, premises, signs), _first if quick else _simple)
    if simple is not None or not premises:
        return simple
    needed = needed_for_contradiction(goal, premises, signs)
    if isinstance(needed, Countermodel):
        return needed
    few: list[Constraint] = [p if n in needed else NOTHING for n, p in enumerate(premises)]
    if quick:
        return _searched(LineSystem.of(goal, few, signs), _second)
    # z3 does without a short one by an argument that is much longer
    more = [p if n in needed or _is_short(p) else NOTHING for n, p in enumerate(premises)]
    for offered, attempts in ((few, _pairs), (more, _overlapping_pairs), (few, _triples)):
        certificate_of_few = _searched(LineSystem.of(goal, offered, signs), attempts)
        if certificate_of_few is not None:
            return certificate_of_few
    return None


def _is_short(premise: Constraint) -> bool:
    """Whether it compares two atoms or numbers, or says the sign of one."""
    name, polynomial = premise
    return name in STRICT and len(polynomial) <= 2 and all(sum(n for _, n in m) <= 1 for m in polynomial)


def _searched(line: LineSystem, attempts: Callable[[LineSystem], Attempts]) -> Json | None:
    """The certificate of the first attempt that has a solution."""
    if line.absurd is not None:
        line.bounds = [line.absurd]
        one = (0,) * len(line.atoms)
        return written(line, [(Column.bare((0,), one, strict=True), fmpq(1))])
    if not line.atoms:
        number = line.bounds[0].terms.get((), fmpq(0)) if line.bounds else fmpq(0)
        if not line.bounds or number > 0 or (number == 0 and not line.bounds[0].strict):
            return None
        constant = Column.bare((), (), strict=True)
        return written(line, [(Column.bare((0,), (), strict=False), fmpq(1)), (constant, -number)])
    for of, attempt in attempts(line):
        weights = contradiction(attempt, line.goal)
        if weights is not None:
            certificate_of_attempt = written(of, [(attempt[n], c) for n, c in weights])
            if certificate_of_attempt is not None:
                return certificate_of_attempt
    return None


def _first(line: LineSystem) -> Attempts:
    """Products of one bound and a monomial."""
    yield line, sharing_columns(ColumnSearch.of(line), 1, 1, COLUMNS)


def _second(line: LineSystem) -> Attempts:
    """After them, products of two bounds and a monomial."""
    yield from _first(line)
    yield line, sharing_columns(ColumnSearch.of(line), 2, 1, COLUMNS)


def _simple(line: LineSystem) -> Attempts:
    """Products of one bound and a monomial, those that overlap with the goal in several rounds too."""
    yield from _first(line)
    # Overlapping products add squares to their line: each attempt gets a list of its own.
    for one in (_unshifted(line), replace(line, squares=[*line.squares])):
        yield from ((one, columns) for columns in overlapping_columns(ColumnSearch.of(one), 1))


def _pairs(line: LineSystem) -> Attempts:
    """Products of two bounds, in one round and more, with the goal and with multiples of it."""
    yield from _second(line)
    search = ColumnSearch.of(line)
    aims = list(targets(search))
    yield from ((line, sharing_columns(search, 2, 1, COLUMNS, aim)) for aim in aims)
    yield line, sharing_columns(search, 2, 2, COLUMNS)
    if search.small:
        yield from ((line, sharing_columns(search, 2, 3, MANY, aim)) for aim in aims)


def _overlapping_pairs(line: LineSystem) -> Attempts:
    """Products of two bounds that overlap with the goal or with multiples of it."""
    one = _unshifted(line)
    search = ColumnSearch.of(one)
    for aim in (None, *targets(search)):
        yield from ((one, columns) for columns in overlapping_columns(search, 2, aim))


def _triples(line: LineSystem) -> Attempts:
    """Products of three bounds, of lines of few terms."""
    search = ColumnSearch.of(line)
    if search.small:
        yield line, sharing_columns(search, 3, 2, MANY)


def _unshifted(line: LineSystem) -> LineSystem:
    """The line with its counts as they are, for which terms overlap that a shift would expand."""
    return replace(line, from_one=[], squares=[*line.squares])
