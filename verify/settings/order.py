"""Orders of growth: every parameter is a path c n^a (or 1 - c n^-a below 1), and "lhs <= rhs" reads lhs = O(rhs).

Floats look at two large n and fit a slope; the kernel decides by leading terms, for all large n and every constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any, cast

import numpy as np

from ..search.genome import Gene, Genome, Kind
from ..search.tree_arrays import Array, Evaluator, Table
from .base import Reading, Shape

NEAR, FAR = 1e4, 1e8  # the two n between which a slope is fitted
TRANSIENT = 0.05  # a slope this small may still be a constant that has not settled; (log n)^1 fits 0.075
MOST_NEAR_ONE = 3
BEYOND = 9.0  # the slope where one side is 0 or has left the floats
STEEPEST = 4  # powers of n stay below it: only their ratios matter
MILD = Fraction(1, 4)  # coefficients stay between it and its inverse (or are 0): they settle soon
_KINDS: dict[str, Kind] = {"positive": "positive", "nonnegative": "nonnegative", "real": "real"}


@dataclass(frozen=True, slots=True)
class Order:
    """Genes: a coefficient and a power of n for every parameter; powers of those that are `fixed` are 0."""

    name: str = "order"
    precision: type[np.floating[Any]] = np.longdouble  # n^a spans many decades
    droppable: tuple[str, ...] = ("fixed", "grows", "vanishes")
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        """Which of the parameters that stay below 1 tend to 1."""
        below = _below_one(reading)[:MOST_NEAR_ONE]
        choices = product(*(("", near) for near in below))
        return [Shape.of({"near": " ".join(filter(None, choice))}, T=1) for choice in choices]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        domains = reading.lowered.symbols
        coefficients = [Gene(f"c_{s}", _KINDS.get(d, "positive")) for s, d in domains.items() if s != _alone(reading)]
        powers = [
            Gene(f"a_{s}", _power(reading, s, d)) for s, d in domains.items() if s not in _named(reading, "fixed")
        ]
        return [*coefficients, *powers]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return self.table(reading, shape, genome, FAR)

    def table(self, reading: Reading, shape: Shape, genome: Genome, n: float) -> Table:
        """The parameters (rows,) at one n."""
        rows = len(next(iter(genome.values())))
        values: dict[str, Array] = {}
        for s, domain in reading.lowered.symbols.items():
            c = _mild(genome.get(f"c_{s}", np.ones(rows)))
            a = np.clip(genome.get(f"a_{s}", np.zeros(rows)), -STEEPEST, STEEPEST)
            a = a * _side(reading, s)
            if s in shape.flag("near").split():
                values[s] = 1 - c * _raised(n, -np.abs(a))
            else:
                values[s] = (np.ceil(c) if domain in ("count", "index") else c) * _raised(n, a)
        return Table(rows, values, {}, {})

    def slopes(self, reading: Reading, shape: Shape, genome: Genome) -> tuple[Evaluator, Array, Array, Array]:
        """Evaluator at the far n, slopes of log(lhs/rhs) against log n, and both sides there: (relations, rows)."""
        with np.errstate(all="ignore"):  # far along a path values may leave the floats
            return self._slopes(reading, shape, genome)

    def _slopes(self, reading: Reading, shape: Shape, genome: Genome) -> tuple[Evaluator, Array, Array, Array]:
        near, far = (Evaluator(self.table(reading, shape, genome, n), {}) for n in (NEAR, FAR))
        inside = _in_domains(reading, far.table)
        sides: list[tuple[Array, Array, Array]] = []
        for _, left, right in reading.claim["then"]:
            x, y = (np.broadcast_to(far(side), far.shape) for side in (left, right))
            x0, y0 = (np.broadcast_to(near(side), far.shape) for side in (left, right))
            slope = (np.log(x / y) - np.log(x0 / y0)) / np.log(FAR / NEAR)
            slope = np.where((x > 0) & (y == 0), BEYOND, np.where((x == 0) & (y > 0), -BEYOND, slope))
            slope = np.where(np.isinf(slope), np.sign(slope) * BEYOND, slope)  # one side has left the floats
            signed = (x >= 0) & (y >= 0) & (x0 >= 0) & (y0 >= 0)  # a side that is 0 far out may be a negative one
            sides.append((np.where(inside & signed, slope, np.nan), x, y))
        slope, x, y = (np.stack(part) for part in zip(*sides, strict=True))
        return far, slope, x, y

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        def path(s: str, domain: str) -> list[list[str]]:
            c: Fraction = _mild(_exact(genome[f"c_{s}"])) if f"c_{s}" in genome else Fraction(1)
            a = _clipped(genome[f"a_{s}"]) * _side(reading, s) if f"a_{s}" in genome else Fraction(0)
            if s in shape.flag("near").split():
                terms = {Fraction(0): Fraction(1)}
                terms[-abs(a)] = terms.get(-abs(a), Fraction(0)) - c
            else:
                terms = {a: Fraction(ceil(c)) if domain in ("count", "index") else c}
            return [[str(c), str(a)] for a, c in terms.items() if c]

        return {"paths": {s: path(s, domain) for s, domain in reading.lowered.symbols.items()}}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for s in shape.flag("near").split():
            rest = " ".join(name for name in shape.flag("near").split() if name != s)
            yield Shape.of({"near": rest}, T=1), dict(genome)
        powers = [abs(_clipped(v)) for k, v in genome.items() if k.startswith("a_")]
        steepest = max(powers, default=Fraction(0))
        for scale in (
            Fraction(1),
            steepest or Fraction(1),
            steepest / 2 or Fraction(1),
        ):  # only the ratios of powers matter
            for q in (1, 2, 3):  # all coefficients 1 (or 0), powers with a small denominator
                yield shape, {k: _simple(v, k, scale, q) for k, v in genome.items()}


def _in_domains(reading: Reading, table: Table) -> Array:
    """Which rows (n,) have every parameter in its domain: 1 - c n^-a need not be positive."""
    least = {"positive": np.greater, "count": np.greater, "nonnegative": np.greater_equal, "index": np.greater_equal}
    signed = {s: least[domain] for s, domain in reading.lowered.symbols.items() if domain in least}
    return np.all([compare(table.scalars[s], 0) for s, compare in signed.items()] or [np.ones(table.n, bool)], axis=0)


def _raised(n: float, a: Array) -> Array:
    """n^a for |a| <= STEEPEST: whole powers from a table, the rest by exp, which is far quicker than a power."""
    whole = np.rint(a)
    table = n ** np.arange(-STEEPEST, STEEPEST + 1).astype(a.dtype)
    return table[whole.astype(int) + STEEPEST] * np.exp(np.log(a.dtype.type(n)) * (a - whole))


def _exact(value: Array) -> Fraction:
    """The one number of an array without axes, or of an entry that was taken out of an array."""
    return Fraction(cast("Any", np.asarray(value)[()]))


def _clipped(value: Array) -> Fraction:
    return max(Fraction(-STEEPEST), min(Fraction(STEEPEST), _exact(value)))


def _simple(value: Array, name: str, scale: Fraction, q: int) -> Array:
    x = _clipped(value)
    made = (x / scale).limit_denominator(q) if name.startswith("a_") else Fraction(x > 0) - Fraction(x < 0)
    return np.array(made, dtype=object)


def _mild(c: Any) -> Any:
    """The coefficient, not too large and not too small unless it is 0; sign kept."""
    if isinstance(c, Fraction):
        return c and max(MILD, min(1 / MILD, abs(c))) * (1 if c > 0 else -1)
    return np.sign(c) * np.clip(np.abs(c), float(MILD), float(1 / MILD))


def _named(reading: Reading, assumption: str) -> set[str]:
    """Parameters that an assumption of the claim is about, unless it is dropped."""
    made = [*reading.claim["let"], *(a for a in reading.claim["implicit"] if a[0] not in reading.dropped)]
    return {s for name, *args in made if name == assumption for s in args}


def _power(reading: Reading, s: str, domain: str) -> Kind:
    if s in _named(reading, "grows") | _named(reading, "vanishes"):
        return "unit"
    return "fraction" if domain in ("count", "index") else "real"


def _side(reading: Reading, s: str) -> int:
    return -1 if s in _named(reading, "vanishes") else 1


def _alone(reading: Reading) -> str:
    """The one parameter that moves, to 0 or to infinity, if only one does: its path is n^a, for n has any unit."""
    domains, moves = reading.lowered.symbols, _named(reading, "grows") | _named(reading, "vanishes")
    moving = [s for s in domains if s not in _named(reading, "fixed")]
    return moving[0] if len(moving) == 1 and moving[0] in moves and domains[moving[0]] == "positive" else ""


def _below_one(reading: Reading) -> list[str]:
    """Parameters with a condition x < 1 or x <= 1 of their own."""
    fixed = _named(reading, "fixed") | _named(reading, "grows") | _named(reading, "vanishes")
    found: list[str] = []
    for op, left, right in reading.claim["when"]:
        small, large = (left, right) if op in ("<", "<=") else (right, left)
        if op in ("<", "<=", ">", ">=") and large == "1" and isinstance(small, str) and small not in fixed:
            found.append(small)
    return found


SETTING = Order()
