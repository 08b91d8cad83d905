"""A programme in floats, on blocks: equal clients are one representative, their mean and their spread.

A permutation of clients maps the leaves linearly. Where it maps constraints to constraints and leaves both sides as
they are, multipliers may be taken equal along orbits. A form with this symmetry is never negative exactly if it is
never negative on the assignments that all permutations keep, and on those that keep one client and have mean 0. If
something is missed here, the kernel refuses what comes of it: no proof rests on this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from fedaudit.errors import UserError

from ..kernel.gram.form import Form as Exact
from ..kernel.gram.form import Vec
from ..kernel.gram.programme import Programme
from ..search.tree_arrays import Array
from .cone import Cone, Form, Solved
from .solvers import OWN

__all__ = ["Blocks", "blocks", "places"]

DIGITS = 9  # that two equal forms share
RANK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A cone, and how its rows and unknowns stand for those of the programme."""

    cone: Cone
    names: tuple[str, ...]  # of the constraints
    orbit: Array  # of every constraint: its row
    unknown: Array  # of every unknown: its entry
    bases: tuple[Array, ...]  # of every block: its assignments, as columns
    spread: tuple[Sequence[Array], ...]  # of every block: the maps whose mean makes a run symmetric

    def multipliers(self, of_rows: Sequence[fmpq]) -> dict[str, fmpq]:
        """The multiplier of every constraint, by its name, from those of the rows."""
        return {name: of_rows[row] for name, row in zip(self.names, self.orbit, strict=True)}

    def gram(self, solved: Solved) -> Array:
        """The Gram matrix of all leaves."""
        total = np.zeros((len(self.bases[0]),) * 2)
        for basis, maps, block in zip(self.bases, self.spread, solved.gram, strict=True):
            own = basis @ block @ basis.T
            total += sum(one @ own @ one.T for one in maps) / len(maps)
        return total

    def like(self, programme: Programme) -> Cone:
        """The cone, on these blocks, of a programme whose constraints have other coefficients."""
        forms, sides = _both(programme)
        return _blocks(
            programme, forms, sides, (self.orbit, self.unknown), self.bases, self.spread, self.cone.solver
        ).cone

    def unknowns(self, solved: Solved) -> Array:
        # The rows know one unknown of every orbit, and its dual stands for the sum over the orbit.
        shared = np.bincount(self.unknown, minlength=len(solved.unknowns))
        return (solved.unknowns / np.maximum(shared, 1))[self.unknown]


def places(names: Sequence[str]) -> dict[str, int]:
    return {name: n for n, name in enumerate(names)}


def blocks(programme: Programme, solver: str = OWN) -> Blocks:
    """The programme on as few assignments as its symmetry allows, for a solver."""
    forms, sides = _both(programme)
    size, clients = len(programme.leaves), len(programme.tables)
    whole = [np.eye(size)]
    maps = _maps(programme)
    if maps is not None:
        orbits = _orbits(forms, sides, [*maps.values()])
        split = _split(maps, clients, size)
        if orbits is not None and split is not None:
            return _blocks(programme, forms, sides, orbits, *split, solver)
    alone = np.arange(len(forms)), np.arange(len(programme.unknowns))
    return _blocks(programme, forms, sides, alone, (np.eye(size),), (whole,), solver)


@dataclass(frozen=True, slots=True, eq=False)
class _Floats:
    gram: Array
    linear: Array
    constant: float

    def key(self) -> bytes:
        """Equal for equal forms, up to rounding."""
        flat = np.concatenate([self.gram.ravel(), self.linear, [self.constant]])
        # Adding 0.0 turns -0.0 into 0.0, which has other bytes.
        return (np.round(flat, DIGITS) + 0.0).tobytes()

    def moved(self, leaf: Array, unknown: Array) -> _Floats:
        return _Floats(leaf.T @ self.gram @ leaf, self.linear[unknown], self.constant)


def _both(programme: Programme) -> tuple[list[_Floats], list[_Floats]]:
    """The constraints and the two sides."""
    place, entry = places(programme.leaves), places(programme.unknowns)
    exact = (*programme.constraints.values(), programme.lhs, programme.rhs)
    try:
        forms = [_floats(place, entry, form) for form in exact]
    except OverflowError as error:
        expected = "coefficients below 1e308"
        raise UserError("a worst case with numbers beyond floats", expected, "take another point") from error
    return forms[:-2], forms[-2:]


def _floats(place: Mapping[str, int], entry: Mapping[str, int], form: Exact) -> _Floats:
    gram, linear = np.zeros((len(place),) * 2), np.zeros(len(entry))
    if form.gram:
        at = np.array([(place[a], place[b]) for a, b in form.gram]).T
        half = np.array([float(x) for x in form.gram.values()]) / 2
        gram[at[0], at[1]] = half
        gram[at[1], at[0]] += half
    for u, x in form.linear.items():
        linear[entry[u]] = float(x)
    return _Floats(gram, linear, float(form.constant))


Orbits = tuple[Array, Array]  # of every constraint and of every unknown: the orbit it is in
Split = tuple[tuple[Array, ...], tuple[Sequence[Array], ...]]  # bases of blocks, and the maps that spread each
Maps = dict[tuple[int, int], tuple[Array, Array]]  # by the two clients that change places: leaves and unknowns


def _maps(programme: Programme) -> Maps | None:
    """What an exchange of two clients does to leaves and unknowns; None where their tables are not of one kind."""
    tables = programme.tables
    if len(tables) < 2 or len({len(table) for table in tables}) > 1 or not tables[0]:
        return None
    entry = places(programme.unknowns)
    if not all(one.f in entry for table in tables for one in table):  # a client of which only one point is read
        return None
    vectors = np.array([[_vector(programme, v) for one in table for v in (one.x, one.g)] for table in tables])
    values = np.array([[entry[one.f] for one in table] for table in tables])
    shared = np.array([_vector(programme, v) for one in programme.penalty for v in (one.x, one.g)])
    shared = shared.reshape(-1, len(programme.leaves))
    source = np.vstack([vectors.reshape(-1, len(programme.leaves)), shared])
    # A map is read off points and gradients, so these have to determine every leaf.
    if np.linalg.matrix_rank(source, RANK) < len(programme.leaves):
        return None
    maps: Maps = {}
    for a in range(len(tables)):
        for b in range(a + 1, len(tables)):
            # Exchanges with the last client generate all permutations, those with the last but one all that keep it.
            if b < len(tables) - 2:
                continue
            order = list(range(len(tables)))
            order[a], order[b] = b, a
            target = np.vstack([vectors[order].reshape(-1, len(programme.leaves)), shared])
            leaf = np.linalg.lstsq(source, target, rcond=None)[0]
            if np.abs(source @ leaf - target).max() > RANK:
                return None
            unknown = np.arange(len(programme.unknowns))
            unknown[values.ravel()] = values[order].ravel()
            maps[a, b] = leaf, unknown
    return maps


def _vector(programme: Programme, vector: Vec) -> Array:
    coefficients, place = np.zeros(len(programme.leaves)), places(programme.leaves)
    for leaf, x in vector.terms.items():
        if leaf in place:  # otherwise nothing depends on it
            coefficients[place[leaf]] = float(x)
    return coefficients


def _orbits(forms: Sequence[_Floats], sides: Sequence[_Floats], maps: Iterable[tuple[Array, Array]]) -> Orbits | None:
    """Rows of constraints and of unknowns that may be taken equal; None where the programme has no such symmetry."""
    place = {form.key(): n for n, form in enumerate(forms)}
    rows, entries = np.arange(len(forms)), np.arange(len(forms[0].linear))
    for leaf, unknown in maps:
        if any(side.moved(leaf, unknown).key() != side.key() for side in sides):
            return None
        for n, form in enumerate(forms):
            m = place.get(form.moved(leaf, unknown).key())
            if m is None:
                return None
            rows = np.where(rows == max(rows[n], rows[m]), min(rows[n], rows[m]), rows)
        for n, m in enumerate(unknown):
            entries = np.where(entries == max(entries[n], entries[m]), min(entries[n], entries[m]), entries)
    return np.unique(rows, return_inverse=True)[1], np.unique(entries, return_inverse=True)[1]


def _split(maps: Maps, clients: int, size: int) -> Split | None:
    """Bases of the two blocks, and the maps that spread each; None where the leaves hold more than these."""
    last = clients - 1
    few = [leaf for (_, b), (leaf, _) in maps.items() if b < last]
    every = [leaf for leaf, _ in maps.values()]
    cosets = [np.eye(size), *(leaf for (_, b), (leaf, _) in maps.items() if b == last)]
    kept = _null([leaf - np.eye(size) for leaf in every], size)
    spare = _null([np.mean(cosets, axis=0), *(leaf - np.eye(size) for leaf in few)], size)
    # A run is what all clients share, and deviations that sum to 0: clients - 1 of them for every column of `spare`.
    # Where these dimensions do not add up, the leaves hold something else, which the two blocks would lose.
    if kept.shape[1] + last * spare.shape[1] != size or not kept.shape[1] or not spare.shape[1]:
        return None
    return (kept, spare), ([np.eye(size)], cosets)


def _null(conditions: Sequence[Array], size: int) -> Array:
    """An orthonormal basis of what all conditions map to 0, as columns."""
    if not conditions:
        return np.eye(size)
    stacked = np.vstack(conditions)
    _, values, vectors = np.linalg.svd(stacked, full_matrices=len(stacked) < size)
    rank = int((values > RANK * max(values[0], 1.0)).sum())
    return vectors[rank:].T


def _blocks(
    programme: Programme,
    forms: Sequence[_Floats],
    sides: Sequence[_Floats],
    orbits: tuple[Array, Array],
    bases: tuple[Array, ...],
    spread: tuple[Sequence[Array], ...],
    solver: str,
) -> Blocks:
    rows, entries = orbits
    first = np.unique(entries, return_index=True)[1]

    def restricted(form: _Floats) -> Form:
        return Form(tuple(basis.T @ form.gram @ basis for basis in bases), form.linear[first], form.constant)

    def total(row: int) -> _Floats:
        own = [forms[int(n)] for n in np.flatnonzero(rows == row)]
        gram, linear = (np.sum([getattr(f, part) for f in own], axis=0) for part in ("gram", "linear"))
        return _Floats(gram, linear, sum(f.constant for f in own))

    lhs, rhs = (restricted(side) for side in sides)
    summed = tuple(restricted(total(row)) for row in range(int(rows.max(initial=-1)) + 1))
    cone = Cone(lhs, rhs, summed, solver)
    return Blocks(cone, tuple(programme.constraints), rows, entries, bases, spread)
