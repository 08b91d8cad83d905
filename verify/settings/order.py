"""Orders of growth: every parameter is a path c n^a (or 1 - c n^-a below 1), and "lhs <= rhs" reads lhs = O(rhs).

Floats look at two large n and fit a slope; the kernel decides by leading terms, for all large n and every constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil
from typing import cast

import numpy as np

from .. import kernel
from ..search.genome import Gene, Genome, Kind, exactly
from ..search.score import Places, Scores, Span, conditions, genes_of
from ..search.tree_arrays import Array, Evaluator, Table
from .base import Counts, Exact, ExactValues, Genes, Json, Reading, Reductions, Setting, Shape

NEAR, FAR = 1e4, 1e8  # the two n between which a slope is fitted
TRANSIENT = 0.05  # a slope this small may still be a constant that has not settled; (log n)^1 fits 0.075
MOST_NEAR_ONE = 3
BEYOND = 9.0  # the slope where one side is 0 or has left the floats
STEEPEST = 4  # powers of n stay below it: only their ratios matter
MILD = Fraction(1, 4)  # coefficients stay between it and its inverse (or are 0): they settle soon
EXACT_ROWS = 4  # of a batch of growth paths: the steepest, which the kernel measures
MOST_EXACT = 64  # of a new batch where the kernel denies the steepest: constants that settle late may look steeper
REFUSED = TRANSIENT / 2  # the most of a path that the kernel refuses: less than of any that it confirms
SETTLED = 1e-3  # a slope below it is one of equal orders
DIGITS = 2  # of the rationals that it measures
_KINDS: dict[str, Kind] = {"positive": "positive", "nonnegative": "nonnegative", "real": "real"}


class Order(Setting):
    """Genes: a coefficient and a power of n for every parameter; powers of those that are `fixed` are 0."""

    name = "order"
    precision = np.longdouble  # n^a spans many decades
    droppable = ("fixed", "grows", "vanishes")
    fitted = True
    nothing_met = "no path was found that meets the conditions and along which both sides are real and not negative"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        """Which of the parameters that stay below 1 tend to 1."""
        below = _below_one(reading)[:MOST_NEAR_ONE]
        choices = product(*(("", near) for near in below))
        return [Shape.of({"near": " ".join(filter(None, choice))}, T=1) for choice in choices]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        domains = reading.lowered.symbols
        coefficients = [Gene(_c(s), _KINDS.get(d, "positive")) for s, d in domains.items() if s != _alone(reading)]
        return [*coefficients, *self.powers(reading)]

    def powers(self, reading: Reading) -> list[Gene]:
        """Those of the genes that are powers of n; the others are coefficients."""
        fixed = assumed_of(reading, "fixed")
        return [Gene(_a(s), _power_kind(reading, s, d)) for s, d in reading.lowered.symbols.items() if s not in fixed]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return self.table(reading, shape, genome, FAR)

    def table(self, reading: Reading, shape: Shape, genome: Genome, n: float) -> Table:
        """The parameters (rows,) at one n."""
        rows = len(next(iter(genome.values())))
        values: dict[str, Array] = {}
        for s, domain in reading.lowered.symbols.items():
            coefficient = genome.get(_c(s), np.ones(rows))
            c = np.sign(coefficient) * np.clip(np.abs(coefficient), float(MILD), float(1 / MILD))
            a = np.clip(genome.get(_a(s), np.zeros(rows)), -STEEPEST, STEEPEST)
            a = a * _side(reading, s)
            if s in shape.flag("near").split():
                values[s] = 1 - c * _raised(n, -np.abs(a))
            else:
                values[s] = (np.ceil(c) if domain in ("count", "index") else c) * _raised(n, a)
        return Table(rows, values, {}, {})

    def scores(self, reading: Reading, shape: Shape, genome: Genome) -> Scores:
        """`ratio` and `margin` are fitted powers of n by which the sides differ; 0 is tight.

        Of the steepest rows the kernel says the exact power, of more of them where it denies what the fit says: the
        others are not taken for violations.
        """
        with np.errstate(all="ignore"):  # far along a path values may leave the floats
            far, slope, lhs, rhs = self._slopes(
                reading, shape, {name: values.astype(np.longdouble) for name, values in genome.items()}
            )
            usable = conditions(far, reading.claim["when"])
        excess = np.stack([_excess(op, s) for (op, *_), s in zip(reading.claim["then"], slope, strict=True)])
        which = np.argmax(np.where(np.isnan(excess), -np.inf, excess), axis=0)
        pick = which, np.arange(len(which))
        margin = np.where(usable, excess[pick] - TRANSIENT, np.nan)
        at = Places(Span((), (), {}), which, np.zeros_like(which))
        ranked = np.argsort(-np.nan_to_num(margin, nan=-np.inf), kind="stable")
        asked, fails = 0, False
        for row in map(int, ranked[:MOST_EXACT]):
            if asked >= EXACT_ROWS and (fails or not margin[row] > SETTLED - TRANSIENT):
                break
            asked += 1
            if np.isfinite(margin[row]):
                margin[row] = self._exact_excess(reading, shape, genome, row, at[row], float(margin[row]))
                fails = fails or margin[row] > REFUSED
        margin[ranked[asked:]] = np.minimum(margin[ranked[asked:]], -TRANSIENT)
        return Scores(shape, genome, far.table, margin, margin, margin, lhs[pick], rhs[pick], at)

    def _exact_excess(
        self, reading: Reading, shape: Shape, genome: Genome, row: int, at: dict[str, int], fitted: float
    ) -> float:
        """The power of n by which the claim fails, or minus that by which it holds; at most `REFUSED` if unknown."""
        exact = exactly(genes_of(reading, self, shape), genome, row, DIGITS)
        instance = self.instance(reading, shape, exact, ExactValues({}, {}))
        if not kernel.admissible(reading.claim, instance, reading.dropped):
            return math.nan
        try:
            lhs, rhs, holds = kernel.evaluate(reading.claim, instance, reading.dropped, at)
        except kernel.Rejected:
            return min(fitted, REFUSED)
        difference = abs(float(lhs - rhs))
        return -difference if holds else max(difference, TRANSIENT)

    def _slopes(self, reading: Reading, shape: Shape, genome: Genome) -> tuple[Evaluator, Array, Array, Array]:
        """Evaluator at the far n, slopes of log(lhs/rhs) against log n, and both sides there: (relations, rows)."""
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

    def ratio(self, small: Exact, large: Exact) -> float:
        """The difference of the two powers of n: 0 is tight."""
        return float(small - large)

    def told_sizes(self, reading: Reading, shape: Shape) -> Counts:
        return ()  # a path has none

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        def path(s: str, domain: str) -> list[list[str]]:
            c = _mild(exact_number(genome[_c(s)])) if _c(s) in genome else Fraction(1)
            a = _clipped(genome[_a(s)]) * _side(reading, s) if _a(s) in genome else Fraction(0)
            if s in shape.flag("near").split():
                terms = {Fraction(0): Fraction(1)}
                terms[-abs(a)] = terms.get(-abs(a), Fraction(0)) - c
            else:
                terms = {a: Fraction(ceil(c)) if domain in ("count", "index") else c}
            return [[str(c), str(a)] for a, c in terms.items() if c]

        return {"paths": {s: path(s, domain) for s, domain in reading.lowered.symbols.items()}}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        for s in shape.flag("near").split():
            rest = " ".join(name for name in shape.flag("near").split() if name != s)
            yield Shape.of({"near": rest}, T=1), dict(genome)
        powers = {gene.name for gene in self.powers(reading)}
        steepest = max((abs(_clipped(genome[name])) for name in powers), default=Fraction(0))
        # only the ratios of powers matter
        for scale in (Fraction(1), steepest or Fraction(1), steepest / 2 or Fraction(1)):
            for q in (1, 2, 3):  # all coefficients 1 (or 0), powers with a small denominator
                yield (
                    shape,
                    {
                        name: _power_near(value, scale, q) if name in powers else _sign_of(value)
                        for name, value in genome.items()
                    },
                )


def _c(symbol: str) -> str:
    """The gene of a parameter's coefficient."""
    return f"c_{symbol}"


def _a(symbol: str) -> str:
    """The gene of a parameter's power."""
    return f"a_{symbol}"


def _excess(op: str, slope: Array) -> Array:
    """By which power of n the relation fails, where it does."""
    match op:
        case "<=":
            return slope
        case ">=":
            return -slope
        case "=":
            return np.abs(slope)
        case _:  # o and omega: the same order is too much
            # Twice, since `scores` takes one off again.
            return (slope if op == "<" else -slope) + 2 * TRANSIENT


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


def exact_number(value: Array) -> Fraction:
    """The one number of an array without axes, or of an entry that was taken out of an array."""
    return Fraction(cast("Fraction", np.asarray(value)[()]))


def _clipped(value: Array) -> Fraction:
    """A power of n that is not too steep."""
    return max(Fraction(-STEEPEST), min(Fraction(STEEPEST), exact_number(value)))


def _power_near(value: Array, scale: Fraction, q: int) -> Array:
    """A power with a denominator of at most q, in units of `scale`."""
    return np.array((_clipped(value) / scale).limit_denominator(q), dtype=object)


def _sign_of(value: Array) -> Array:
    x = exact_number(value)
    return np.array(Fraction(x > 0) - Fraction(x < 0), dtype=object)


def _mild(c: Fraction) -> Fraction:
    """The coefficient, not too large and not too small unless it is 0; sign kept."""
    return c and max(MILD, min(1 / MILD, abs(c))) * (1 if c > 0 else -1)


def assumed_of(reading: Reading, assumption: str) -> set[str]:
    """Parameters that an assumption of the claim is about, unless it is dropped."""
    implicit = [one for one in reading.claim["implicit"] if one[0] not in reading.dropped]
    return {s for name, *symbols in (*reading.claim["let"], *implicit) if name == assumption for s in symbols}


def _power_kind(reading: Reading, s: str, domain: str) -> Kind:
    if s in assumed_of(reading, "grows") | assumed_of(reading, "vanishes"):
        return "unit"
    return "fraction" if domain in ("count", "index") else "real"


def _side(reading: Reading, s: str) -> int:
    return -1 if s in assumed_of(reading, "vanishes") else 1


def _alone(reading: Reading) -> str:
    """The one parameter that moves, to 0 or to infinity, if only one does: its path is n^a, for n has any unit."""
    domains, moves = reading.lowered.symbols, assumed_of(reading, "grows") | assumed_of(reading, "vanishes")
    moving = [s for s in domains if s not in assumed_of(reading, "fixed")]
    return moving[0] if len(moving) == 1 and moving[0] in moves and domains[moving[0]] == "positive" else ""


def _below_one(reading: Reading) -> list[str]:
    """Parameters with a condition x < 1 or x <= 1 of their own."""
    moved = ("fixed", "grows", "vanishes")
    apart = set[str]().union(*(assumed_of(reading, assumption) for assumption in moved))
    below: list[str] = []
    for op, left, right in reading.claim["when"]:
        small, large = (left, right) if op in ("<", "<=") else (right, left)
        if op in ("<", "<=", ">", ">=") and large == "1" and isinstance(small, str) and small not in apart:
            below.append(small)
    return below


SETTING = Order()
