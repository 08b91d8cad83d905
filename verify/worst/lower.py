"""The lower end: the worst run as an instance in rationals, with losses known at finitely many points.

Of the programme with constraints that have a little room, the Gram matrix is factored and the leaves are rounded. All
other vectors are computed from the leaves, so the method's rules hold exactly. Values are the largest ones that the
constraints allow below the rounded ones: shortest paths. The kernel reads the instance like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..kernel.gram.form import Form, Vec
from ..kernel.gram.programme import Programme
from ..kernel.gram.variables import Leaves
from ..search.tree_arrays import Array
from .blocks import Blocks, places
from .cone import Solved, eased, smallest
from .faces import Face

__all__ = ["Run", "attainable", "coarser", "runs"]

# Of L - mu, how much is cut off at both ends; of the Gram matrix, how much room constraints have besides.
SHAVED = ((1e-6, 0.0), (1e-5, 0.0), (1e-5, 1e-8), (1e-5, 1e-7), (1e-4, 1e-6), (1e-3, 1e-5))
COARSE = ((2e-3, 2e-5), (4e-3, 4e-5), (1e-2, 1e-4), (5e-2, 1e-3))  # the same, where none of these gave a run
SMALL = 1e-3  # of what is shaved: directions that are dropped
FLAT = 1e-6  # of the Gram matrix: directions that a run in few dimensions would not have
NOTHING = 1e-7  # of the largest square of a leaf: what may be 0 but for the solver's accuracy
DIGITS = 1
ALLOWED = 1e-12
RANKS, PARTS = 4, (1, 2, 4, 10, 20, 100, 1000, 10**4, 10**6)  # dimensions and parts of a unit that are tried
CLOSE = (1e-6, 1e-7, 1e-8)  # of values on a face: what may be rounding


_optimize: Any = optimize


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The leaves as vectors (columns), and the unknowns; it meets every constraint."""

    leaves: fmpq_mat
    place: Mapping[str, int]  # of every leaf: its column
    unknowns: Mapping[str, fmpq]
    on_face: bool = False  # of the worst runs, up to how well values are guessed

    @property
    def dimension(self) -> int:
        return self.leaves.nrows()

    def value(self, name: str) -> fmpq:
        """A value of a loss; 0 where nothing depends on it."""
        return self.unknowns.get(name, fmpq(0))

    def vector(self, of: Vec) -> list[fmpq]:
        """A combination of leaves; one that nothing depends on is 0."""
        terms = [(self.place[leaf], x) for leaf, x in of.terms.items() if leaf in self.place]
        return [sum((x * self.leaves[r, n] for n, x in terms), fmpq(0)) for r in range(self.dimension)]


def runs(programme: Programme, shape: Blocks, best: Solved, on: Face | None, bounded: bool = True) -> Iterator[Run]:
    """Runs that come close to the worst one, the closest first: on its face exactly, or beside it.

    `bounded`: whether something bounds lhs by rhs. Otherwise `best` is of a right side that is a little larger.
    """
    if on is not None and len(on.directions) == 1:
        direction = np.array(on.directions[0], dtype=float)
        gram = shape.gram(best) / best.scale
        length = sqrt(float(direction @ gram @ direction)) / float(direction @ direction)
        size = _short(length, CLOSE[0]) if shape.cone.constant else fmpq(1)
        leaves = fmpq_mat(1, len(direction), [size * fmpq(x.numerator, x.denominator) for x in on.directions[0]])
        unknowns = _largest(programme, leaves, best.factor)
        corner = None if unknowns is None else list(_shifted(programme, unknowns))
        for close in CLOSE:
            values = [_short(x, close) for x in corner or ()]
            if len(values) == len(programme.unknowns):
                yield from (replace(run, on_face=True) for run in _admitted(programme, leaves, values))
    largest, none = float(np.abs(shape.gram(best)).max()), True
    for shaved, room in (*SHAVED, *COARSE):
        if shaved >= COARSE[0][0] and not none:
            return
        narrow = shape.cone if None in programme.L else shape.like(_narrower(programme, shaved))
        # Where a client has no L, nothing is cut off the curvatures, and the constraints get that room themselves.
        spare = max(room, shaved if narrow is shape.cone else 0.0) * largest
        inside = smallest(narrow if bounded else eased(narrow), spare)
        if inside is None or inside.scale <= 0:
            continue
        gram, unknowns = shape.gram(inside) / inside.scale, _shifted(programme, shape.unknowns(inside) / inside.scale)
        size = max(float(np.abs(gram).max()), 1e-30)
        # First without directions that may be the solver's rounding, which leaves few dimensions; then with nearly all.
        for small, nothing in ((FLAT / shaved, NOTHING), (SMALL, NOTHING), (SMALL / 1000, 0.0)):
            exact = min(small, SMALL)
            # Fine enough for the room that was made, by the size of a leaf: the root of that of the Gram matrix.
            parts = 10 ** (DIGITS + int(np.ceil(-np.log10(shaved * exact))) - int(np.floor(np.log10(size) / 2)))
            there = np.diag(gram) > nothing * size
            leaves = _rounded(_factor(gram * np.outer(there, there), small * shaved * size), parts)
            for run in _admitted(programme, leaves, [_part(x, parts**2) for x in unknowns]):
                none = False
                yield run


def coarser(programme: Programme, run: Run) -> Iterator[Run]:
    """The run with fewer dimensions and shorter numbers, as far as constraints allow; the simplest first."""
    exact = run.leaves.transpose() * run.leaves
    size = exact.nrows()
    gram = np.array([[float(exact[r, s]) for s in range(size)] for r in range(size)])
    digits = -int(np.floor(np.log10(max(float(np.abs(gram).max()), 1e-30)) / 2))
    guesses = [run.value(name) for name in programme.unknowns]
    for rank in range(1, min(run.dimension, RANKS) + 1):
        vectors = _factor(gram, float(np.sort(np.linalg.eigvalsh(gram))[::-1][rank - 1]) * (1 - 1e-9))
        for parts in PARTS:
            unit = Fraction(10) ** digits * parts
            leaves = _rounded(vectors, unit)
            yield from _admitted(programme, leaves, [_part(float(x), unit**2) for x in guesses])


def attainable(programme: Programme) -> Programme:
    """The programme with what makes sure that w* is a minimiser, where that does not follow from convexity.

    Every f_i less its tangent at w* is least there, as verify/kernel/losses/minimum.py asks. Of one client without a
    regulariser that says nothing new. Of several it is more than is needed, so that the worst of these runs may be less
    than the worst case.
    """
    more: dict[str, Form] = {}
    for i, (table, mu, L) in enumerate(zip(programme.tables, programme.mu, programme.L, strict=True)):
        origin = next((entry for entry in table if not entry.x.terms), None)
        if origin is None or mu >= 0 or L is None or L <= 0:
            continue
        plain = Leaves((), fmpq(0), L, ())
        others = [(a, entry) for a, entry in enumerate(table) if entry is not origin]
        more |= {f"tangent{i + 1}_{a}": plain.above(entry, origin) for a, entry in others}
    if not more:
        return programme
    forms = [*programme.constraints.values(), *more.values(), programme.lhs, programme.rhs]
    return replace(
        programme,
        constraints={**programme.constraints, **more},
        leaves=tuple(sorted({leaf for form in forms for pair in form.gram for leaf in pair})),
        unknowns=tuple(sorted({name for form in forms for name in form.linear})),
    )


def _narrower(programme: Programme, shaved: float) -> Programme:
    """The programme with curvatures from a little more than mu to a little less than L."""
    by = Fraction(shaved).limit_denominator(10**9)
    part, constraints = fmpq(by.numerator, by.denominator), dict(programme.constraints)
    for i, (table, mu, L) in enumerate(zip(programme.tables, programme.mu, programme.L, strict=True)):
        if L is None:
            continue
        less = Leaves((), mu + part * (L - mu), L - part * (L - mu), ())
        for (a, b), form in less.all_above(table).items():
            if (name := f"f{i + 1}_{a}_{b}") in constraints:
                constraints[name] = form
        origin = next((entry for entry in table if not entry.x.terms), None)
        for a, entry in enumerate(table):
            if origin is not None and (name := f"tangent{i + 1}_{a}") in constraints:
                constraints[name] = Leaves((), fmpq(0), L - part * (L - mu), ()).above(entry, origin)
    return replace(programme, constraints=constraints)


def _largest(programme: Programme, leaves: fmpq_mat, factor: float) -> Array | None:
    """Unknowns with which these leaves do worst: a corner, so that short rationals are near."""
    gram, place, entry = leaves.transpose() * leaves, places(programme.leaves), places(programme.unknowns)
    rows, rooms = np.zeros((len(programme.constraints), len(entry))), list[float]()
    for row, form in zip(rows, programme.constraints.values(), strict=True):
        for u, x in form.linear.items():
            row[entry[u]] = -float(x)
        rooms.append(float(_at(form, gram, place)))
    # The linear programme is least where lhs - factor * rhs is largest.
    cost = np.zeros(len(entry))
    for u, n in entry.items():
        cost[n] = factor * float(programme.rhs.linear.get(u, 0)) - float(programme.lhs.linear.get(u, 0))
    if not len(entry):
        return cost
    solution = _optimize.linprog(cost, rows, np.array(rooms) + ALLOWED, bounds=(None, None))
    return None if solution.x is None else np.array(solution.x)


def _shifted(programme: Programme, unknowns: Array) -> Array:
    """Values of a client from the one at w* on, or from its first one, where only differences count."""
    forms, place, shifted = (
        (programme.lhs, programme.rhs, *programme.constraints.values()),
        places(programme.unknowns),
        unknowns.copy(),
    )
    for table in (*programme.tables, programme.penalty):
        names = [entry.f for entry in table if entry.f in place]
        if names and not any(sum((form.linear.get(name, fmpq(0)) for name in names), fmpq(0)) for form in forms):
            first = next((entry.f for entry in table if not entry.x.terms and entry.f in place), names[0])
            shifted[[place[name] for name in names]] -= unknowns[place[first]]
    return shifted


def _short(x: float, close: float) -> fmpq:
    """A rational with a small denominator that is so close: the first one of its continued fraction."""
    exact, rest = Fraction(float(x)), Fraction(float(x))
    below, last = (Fraction(1), Fraction(0)), (Fraction(rest.__floor__()), Fraction(1))
    while abs(last[0] / last[1] - exact) > close:
        rest = 1 / (rest - rest.__floor__())
        whole = rest.__floor__()
        below, last = last, (whole * last[0] + below[0], whole * last[1] + below[1])
    return fmpq(int(last[0]), int(last[1]))


def _part(x: float, parts: int | Fraction) -> fmpq:
    whole = round(Fraction(float(x)) * parts)
    return fmpq(whole * Fraction(parts).denominator, Fraction(parts).numerator)


def _rounded(leaves: Array, parts: int | Fraction) -> fmpq_mat:
    rows, columns = len(leaves), len(leaves[0])
    return fmpq_mat(rows, columns, [_part(x, parts) for x in leaves.ravel()])


def _factor(gram: Array, small: float) -> Array:
    """Vectors (columns) with this Gram matrix, without small directions; the first leaf along the first axis."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > max(small, 1e-14 * float(values[-1]))
    rows = (vectors[:, kept] * np.sqrt(values[kept])).T
    # The triangle has the same Gram matrix as the rows, and the zeros below its diagonal are short numbers.
    triangle = np.linalg.qr(rows)[1]
    return triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None] if len(triangle) else np.zeros((1, len(gram)))


def _admitted(programme: Programme, leaves: fmpq_mat, unknowns: Sequence[fmpq]) -> Iterator[Run]:
    """The run, with the largest unknowns below these that all constraints allow, if there are any."""
    gram, place = leaves.transpose() * leaves, places(programme.leaves)
    forms = [(form, _at(form, gram, place)) for form in programme.constraints.values()]
    values = _relaxed(forms, dict(zip(programme.unknowns, unknowns, strict=True)))
    if values is not None:
        yield Run(leaves, place, values)


def _at(form: Form, gram: fmpq_mat, place: Mapping[str, int]) -> fmpq:
    """The value of a form on these leaves, without its unknowns."""
    return sum((x * gram[place[a], place[b]] for (a, b), x in form.gram.items()), form.constant)


def _relaxed(forms: Sequence[tuple[Form, fmpq]], values: dict[str, fmpq]) -> dict[str, fmpq] | None:
    """Shortest paths: an unknown that a constraint has with a minus sign falls until the constraint holds.

    One that only a plus sign could help rises first, to what its constraints ask.
    """
    if any(rest < 0 for form, rest in forms if not form.linear):
        return None
    linear = [([*form.linear.items()], rest) for form, rest in forms if form.linear]
    least = [min(terms, key=lambda one: one[1]) for terms, _ in linear]
    alone = [(terms, rest) for (terms, rest), (_, x) in zip(linear, least, strict=True) if x > 0]
    for terms, rest in alone:
        room = _with(rest, terms, values)
        if room < 0:
            u, x = terms[0]
            values[u] -= room / x
    paths = [(terms, rest, one) for (terms, rest), one in zip(linear, least, strict=True) if one[1] < 0]
    # A shortest path has no more steps than there are unknowns: what still falls after that goes round in a circle.
    for _ in range(len(values) + 1):
        moved = False
        for terms, rest, (u, x) in paths:
            room = _with(rest, terms, values)
            if room < 0:
                values[u] += room / -x
                moved = True
        if not moved:
            break
    else:
        return None
    return values if all(_with(rest, terms, values) >= 0 for terms, rest in alone) else None


def _with(rest: fmpq, terms: Sequence[tuple[str, fmpq]], values: Mapping[str, fmpq]) -> fmpq:
    """What a constraint is at these unknowns; `rest`: without them."""
    for u, x in terms:
        rest = rest + x * values[u]
    return rest
