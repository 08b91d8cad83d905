"""Both sides of a claim on a batch of instances: which are admissible, how close they come, where.

`margin` is (lhs - rhs) / max(|lhs|, |rhs|) for "<=" (mirrored for ">="): positive means that floats see a violation.
Floats only propose; a violation counts once the kernel has replayed it in rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from typing import cast, overload

import numpy as np

from fedaudit.bounds.language.assumptions import ASSUMPTIONS

from ..settings.base import Reading, Setting, Shape, knob_genes, known_table
from .claim_trees import Tree, shares
from .genome import Gene, Genome, jitter, join, rows
from .tree_arrays import Array, Evaluator, Table

CONDITION_SLACK = 1e-12  # rounding of a condition that the sweep meets with equality; the kernel has none
NOISE_FLOOR = 1e-9  # of an instance's largest value: differences below it are rounding, not evidence
CLOSE, JITTER = 1e-6, 1e-7
BEYOND_ROUNDING = 1e-6  # a margin that is no rounding
CURVATURES = {name for name, record in ASSUMPTIONS.items() if record.curvature or record.letter == "mu"}
ROUNDING = 1e-20  # of an instance's natural scale: squares of rounding errors stay below it


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The worst index of every instance. `margin` is NaN where an instance is not admissible."""

    shape: Shape
    genome: Genome
    known: Table | Callable[[], Table]
    margin: Array  # (n,)
    later: Array  # (n,) the same without the first index where that one is trivial (t = 0)
    ratio: Array  # (n,) smaller side / larger side as the relation orders them: 1 is tight
    lhs: Array
    rhs: Array
    at: Sequence[dict[str, int]]
    part: Array | None = None  # (n,) which part of the larger side is the largest one, where it has several

    @property
    def table(self) -> Table:
        """What was measured; of a batch that was put together, it is measured again."""
        return self.known if isinstance(self.known, Table) else self.known()

    @property
    def region(self) -> Array:
        """The part of the larger side that dominates (n,): a search looks at every one of them."""
        return np.zeros(len(self.margin), dtype=int) if self.part is None else self.part

    @property
    def admissible(self) -> int:
        return int(np.isfinite(self.margin).sum())


@lru_cache(maxsize=1024)
def genes_of(reading: Reading, setting: Setting, shape: Shape) -> tuple[Gene, ...]:
    """The setting's genes and the statement's knobs."""
    return (*setting.genes(reading, shape), *knob_genes(reading.lowered))


def tabulate(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Table:
    """Constants, step sizes and measured quantities of a batch."""
    precision = np.float64 if shape.follows_moments else setting.precision  # nothing cancels between moments
    genome = {k: v.astype(precision) for k, v in genome.items()}
    return setting.measure(reading, shape, genome, known_table(reading, setting, shape, genome))


def score(
    reading: Reading,
    setting: Setting,
    shape: Shape,
    genome: Genome,
    *,
    again: bool = True,
    table: Table | None = None,
) -> Scores:
    """Evaluate every relation at every index of every instance and keep the worst; `table`: if it is known already.

    Rows that look tight or broken are evaluated again with every gene moved by one part in 10^7: what is only rounding
    (a start that coincides with a minimiser, say) does not survive that, and the smaller margin counts.
    """
    own = setting.scores(reading, shape, genome)
    if own is not None:
        return own
    scores = _score(reading, setting, shape, genome, table)
    return _moved(reading, setting, scores) if again else scores


def score_below(reading: Reading, setting: Setting, scores: Scores, best: Array, genome: Genome) -> Scores:
    """Some rows of a scored batch, and new ones below them: only what is new is evaluated."""
    fresh = score(reading, setting, scores.shape, genome)
    whole = join([rows(scores.genome, best), genome])
    columns = [np.concatenate([x[best], y]) for x, y in zip(_columns(scores), _columns(fresh), strict=True)]
    known = partial(tabulate, reading, setting, scores.shape, whole)
    return _scores(scores.shape, whole, known, cast("Places", fresh.at).span, columns)


def _columns(scores: Scores) -> tuple[Array, ...]:
    """The columns of a scored batch, in the order in which `compared` gives them."""
    places = cast("Places", scores.at)
    sides = scores.ratio, scores.lhs, scores.rhs
    return scores.margin, scores.later, *sides, places.which, places.place, scores.region


def _moved(reading: Reading, setting: Setting, scores: Scores) -> Scores:
    """With the smaller margin of rows that look tight or broken and were evaluated again with genes moved a little."""
    close = np.flatnonzero(scores.margin > -CLOSE)
    if not close.size:
        return scores
    genes = genes_of(reading, setting, scores.shape)
    moved = _score(reading, setting, scores.shape, jitter(genes, rows(scores.genome, close), JITTER))
    margin, later = scores.margin.copy(), scores.later.copy()
    # A row whose moved copy is not admissible (NaN) is on the edge of a condition: it counts as tight, not as broken.
    margin[close] = np.fmin(margin[close], np.where(np.isnan(moved.margin), 0.0, moved.margin))
    later[close] = np.fmin(later[close], np.where(np.isnan(moved.later), 0.0, moved.later))
    return replace(scores, margin=margin, later=later)


def _score(reading: Reading, setting: Setting, shape: Shape, genome: Genome, table: Table | None = None) -> Scores:
    """The scores of a batch, of which the table may be known already."""
    table = table or tabulate(reading, setting, shape, genome)
    evaluator = Evaluator(table, {v: (low, high) for v, (low, high) in reading.claim["for_all"].items()})
    return _scores(shape, genome, table, Span.of(evaluator), compared(reading, evaluator))


def _scores(
    shape: Shape, genome: Genome, known: Table | Callable[[], Table], span: Span, worst: Sequence[Array]
) -> Scores:
    margin, later, ratio, lhs, rhs, which, place, part = worst
    return Scores(shape, genome, known, margin, later, ratio, lhs, rhs, Places(span, which, place), part=part)


def compared(reading: Reading, evaluator: Evaluator) -> tuple[Array, ...]:
    """Margin, later margin, ratio and both sides of every row; of the worst index, its relation, its place, and which
    part of the larger side is the largest one there.
    """
    table = evaluator.table
    usable = conditions(evaluator, reading.claim["when"])
    best: list[tuple[Array, ...]] = []
    parts_of = larger_parts(reading)
    for (op, left, right), unit, parts in zip(reading.claim["then"], reading.lowered.units, parts_of, strict=True):
        lhs, rhs = (np.broadcast_to(evaluator(side), evaluator.shape).reshape(table.n, -1) for side in (left, right))
        margin, ratio = _margin(op, lhs, rhs, _floor(table, unit))
        if lhs.shape[1] == 1:
            margin, ratio, lhs, rhs = (x[:, 0] for x in (margin, ratio, lhs, rhs))
            place = np.zeros(table.n, dtype=int)
            best.append((margin, ratio, lhs, rhs, place, margin, _largest_part(evaluator, parts, place)))
            continue
        nothing = (lhs == 0) & (rhs == 0)  # 0 <= 0 looks tight and says nothing, where another index says more
        margin = np.where(nothing & ~nothing.all(axis=1, keepdims=True), np.nan, margin)
        later = _later(margin, evaluator, reading.lowered.starts)
        place = np.argmax(np.where(np.isnan(margin), -np.inf, margin), axis=1)
        largest = _largest_part(evaluator, parts, place)
        best.append((*(_at_rows(x, place) for x in (margin, ratio, lhs, rhs)), place, later, largest))
    if len(best) == 1:
        margin, ratio, lhs, rhs, place, later, part = best[0]
        which = np.zeros(table.n, dtype=int)
    else:
        which = np.argmax(np.stack([np.where(np.isnan(b[0]), -np.inf, b[0]) for b in best], axis=1), axis=1)
        margin, ratio, lhs, rhs, place, part = (
            _at_rows(np.stack([b[j] for b in best], axis=1), which) for j in (0, 1, 2, 3, 4, 6)
        )
        later = reduce(np.fmax, [b[5] for b in best])
    return np.where(usable, margin, np.nan), np.where(usable, later, np.nan), ratio, lhs, rhs, which, place, part


@lru_cache
def larger_parts(reading: Reading) -> list[list[Tree]]:
    """The parts of every relation's larger side: terms of the start, of noise, of heterogeneity.

    Where one of them is far larger than the others, lhs/rhs tends to what it is there, which says nothing of the
    others: each dominates in a region of its own.
    """
    claim = reading.claim
    # L and mu are in nearly every term of a bound, so that they tell no terms apart.
    assumed = (a for a in (*claim["let"], *claim["implicit"]) if a[0] not in CURVATURES)
    sources = frozenset({"Gamma", *(name for a in assumed for name in a[1:])})
    sources |= {*claim["method"]["measures"]} if "method" in claim else set[str]()
    sides = ((left if op in (">=", ">") else right) for op, left, right in claim["then"])
    return [shares(side, sources) for side in sides]


def _largest_part(evaluator: Evaluator, parts: Sequence[Tree], place: Array) -> Array:
    """The number of the largest part (n,) of every row at its place."""
    if len(parts) == 1:
        return np.zeros(len(place), dtype=int)
    shape = evaluator.shape
    values = [_at_rows(np.broadcast_to(evaluator(part), shape).reshape(shape[0], -1), place) for part in parts]
    return np.argmax(np.nan_to_num(np.stack(values, axis=1), nan=-np.inf), axis=1)


def _at_rows(x: Array, place: Array) -> Array:
    """One entry of every row: of x (n, ...) the one at the row's place (n,)."""
    return x[np.arange(len(place)), place]


def conditions(evaluator: Evaluator, when: Sequence[tuple[str, Tree, Tree]]) -> Array:
    """Which instances (n,) meet every condition at every index."""
    usable = np.ones(evaluator.table.n, dtype=bool)
    for op, left, right in when:
        a, b = evaluator(left), evaluator(right)
        # The slack is for conditions that are met with equality, which strict ones never are.
        slack = CONDITION_SLACK * np.maximum(np.abs(a), np.abs(b))
        holds = {
            "<=": a <= b + slack, ">=": a >= b - slack, "<": a < b, ">": a > b, "=": abs(a - b) <= slack, "!=": a != b,
        }[op]  # fmt: skip
        usable &= np.broadcast_to(holds, evaluator.shape).reshape(evaluator.table.n, -1).all(axis=1)
    return usable


def _floor(table: Table, unit: tuple[float, float]) -> Array:
    if table.scale is None or unit == (0.0, 0.0):
        return np.zeros((table.n, 1))
    f, w = table.scale
    with np.errstate(divide="ignore", invalid="ignore"):  # an instance at the origin has no scale
        return (ROUNDING * f ** unit[0] * w ** unit[1])[:, None]


def _margin(op: str, lhs: Array, rhs: Array, rounding: Array) -> tuple[Array, Array]:
    small, large = (rhs, lhs) if op in (">=", ">") else (lhs, rhs)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sizes = np.abs(small) + np.abs(large)
        one = sizes.shape[1] == 1
        largest = np.fmax(sizes, 0.0) if one else np.fmax.reduce(sizes, axis=1, keepdims=True, initial=0.0)
        floor = NOISE_FLOOR * largest
        scale = np.maximum(np.maximum(np.abs(small), np.abs(large)), floor)
        gap = np.abs(small - large) if op == "=" else small - large
        margin = gap / scale
        drowned = (scale <= floor) & (margin <= BEYOND_ROUNDING)  # beside a far larger index rounding looks tight
        margin = np.where((scale > rounding) & ~drowned, margin, np.nan)
        if op == "=":  # 0 = 0 holds, and is never closer than another index or instance
            margin = np.where((small == 0) & (large == 0), -1.0, margin)
        # A bound of 0 or less has no tightness.
        ratio = np.where((large > 0) & (scale > rounding), small / large, np.nan)
    return margin, ratio


def _later(margin: Array, evaluator: Evaluator, starts: bool) -> Array:
    """The worst margin (n,) beyond the first index, where the claim compares with its own start."""
    cut = margin.reshape(evaluator.shape)
    if starts and cut.ndim > 1 and cut.shape[1] > 1:
        cut = cut[:, 1:]
    return np.fmax.reduce(cut.reshape(len(cut), -1), axis=1)


@dataclass(frozen=True, slots=True)
class Span:
    """The indices of a claim: their names, how many values each has, and the first."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    first: Mapping[str, int]

    @classmethod
    def of(cls, evaluator: Evaluator) -> Span:
        return cls(tuple(evaluator.names), evaluator.shape[1:], evaluator.starts())


@dataclass(frozen=True, slots=True, eq=False)
class Places(Sequence[dict[str, int]]):
    """Where the rows of a batch are worst, written out for those that are asked for."""

    span: Span
    which: Array  # (n,) the relation
    place: Array  # (n,) the index, counted through

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, row: int) -> dict[str, int]: ...
    @overload
    def __getitem__(self, row: slice) -> list[dict[str, int]]: ...
    def __getitem__(self, row: int | slice) -> dict[str, int] | list[dict[str, int]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        span = self.span
        places = np.unravel_index(int(self.place[row]), span.sizes) if span.sizes else ()
        at = {name: int(i) + span.first[name] for name, i in zip(span.names, places, strict=True)}
        return {"relation": int(self.which[row]), **at}
