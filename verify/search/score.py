"""Both sides of a claim on a batch of instances: which are admissible, how close they come, where.

`margin` is (lhs - rhs) / max(|lhs|, |rhs|) for "<=" (mirrored for ">="): positive means that floats see a violation.
Floats only propose; a violation counts once the kernel has replayed it in rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, cast, overload

import numpy as np

from fedaudit.problems.arrays.recording import at_rows, recorded
from fedaudit.problems.arrays.tape import NotTaped, Tape

from ..settings.base import Reading, Setting, Shape, knob_genes, known_table
from .genome import Gene, Genome, jitter, join, rows
from .tree_arrays import Array, Evaluator, Table

CONDITION_SLACK = 1e-12  # rounding of a condition that the sweep meets with equality; the kernel has none
NOISE_FLOOR = 1e-9  # of an instance's largest value: differences below it are rounding, not evidence
CLOSE, JITTER = 1e-6, 1e-7
BEYOND_ROUNDING = 1e-6  # a margin that is no rounding
TAPED_ROWS = (101, 103, 107)  # primes: rows of a batch that is recorded, which are no multiple of another size
MOSTRECORDED = 64  # shapes
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
    unmoved: tuple[Array, Array] | None = None  # margin and later margin before genes were moved, if they were

    @property
    def table(self) -> Table:
        """What was measured; where a recording was replayed, it is measured again."""
        return self.known if isinstance(self.known, Table) else self.known()

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
    often: bool = False,
) -> Scores:
    """Evaluate every relation at every index of every instance and keep the worst; `table`: if it is known already.

    Rows that look tight or broken are evaluated again with every gene moved by one part in 10^7: what is only rounding
    (a start that coincides with a minimiser, say) does not survive that, and the smaller margin counts. What will be
    evaluated `often` is recorded.
    """
    return score_parts(reading, setting, shape, [genome], again=again, table=table, often=often)[0]


def score_parts(
    reading: Reading,
    setting: Setting,
    shape: Shape,
    parts: Sequence[Genome],
    *,
    again: bool = True,
    table: Table | None = None,
    often: bool = False,
) -> list[Scores]:
    """The scores of several batches, as `score` has them: they are evaluated together."""
    own = [scores for genome in parts if (scores := setting.scores(reading, shape, genome)) is not None]
    if own:
        return own
    genome = parts[0] if len(parts) == 1 else join(parts)
    replayed = record(reading, setting, shape, genome) if often and table is None else None
    each = _split(_score(reading, setting, shape, genome, table, replayed), parts)
    return _moved(reading, setting, each) if again else each


def score_below(reading: Reading, setting: Setting, scores: Scores, best: Array, genome: Genome) -> Scores:
    """Some rows of a scored batch, and new ones below them: only what is new, or moved again, is evaluated."""
    whole = join([rows(scores.genome, best), genome])
    own = setting.scores(reading, scores.shape, whole)
    if own is not None:
        return own
    fresh = _score(reading, setting, scores.shape, genome)
    columns = [np.concatenate([x[best], y]) for x, y in zip(_columns(scores), _columns(fresh), strict=True)]
    below = _scores(
        scores.shape,
        whole,
        lambda: tabulate(reading, setting, scores.shape, whole),
        cast("Places", fresh.at).span,
        columns,
    )
    return _moved(reading, setting, [below])[0]


def _columns(scores: Scores) -> tuple[Array, ...]:
    """What `compared` said of a batch."""
    places = cast("Places", scores.at)
    margins = scores.unmoved or (scores.margin, scores.later)
    return *margins, scores.ratio, scores.lhs, scores.rhs, places.which, places.place


def _moved(reading: Reading, setting: Setting, each: list[Scores]) -> list[Scores]:
    """Rows that look tight or broken, evaluated again with genes moved a little."""
    close = [np.flatnonzero(scores.margin > -CLOSE) for scores in each]
    if not any(some.size for some in close):
        return each
    shape = each[0].shape
    genes = genes_of(reading, setting, shape)
    moved = [jitter(genes, rows(scores.genome, some), JITTER) for scores, some in zip(each, close, strict=True)]
    second = _split(_score(reading, setting, shape, moved[0] if len(moved) == 1 else join(moved)), moved)
    return [_steady(*both) for both in zip(each, close, second, strict=True)]


def _steady(scores: Scores, close: Array, moved: Scores) -> Scores:
    """The smaller margin of the rows that were evaluated again."""
    if not close.size:
        return scores
    margin, later = scores.margin.copy(), scores.later.copy()
    margin[close] = np.fmin(margin[close], np.where(np.isnan(moved.margin), 0.0, moved.margin))
    later[close] = np.fmin(later[close], np.where(np.isnan(moved.later), 0.0, moved.later))
    return replace(scores, margin=margin, later=later, unmoved=(scores.margin, scores.later))


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """The table of some rows of a batch."""

    scores: Scores
    rows: slice

    def __call__(self) -> Table:
        whole, cut = self.scores.table, self.rows
        scalars = {k: np.broadcast_to(v, (whole.n,))[cut] for k, v in whole.scalars.items()}
        quantities = {k: replace(q, values=q.values[cut]) for k, q in whole.quantities.items()}
        scale = None if whole.scale is None else (whole.scale[0][cut], whole.scale[1][cut])
        return Table(cut.stop - cut.start, scalars, quantities, whole.counts, scale)


def _split(scores: Scores, parts: Sequence[Genome]) -> list[Scores]:
    """The scores of each part of a batch."""
    if len(parts) == 1:
        return [scores]
    each, stop = list[Scores](), 0
    for genome in parts:
        start, stop = stop, stop + len(next(iter(genome.values())))
        cut = slice(start, stop)
        columns = scores.margin[cut], scores.later[cut], scores.ratio[cut], scores.lhs[cut], scores.rhs[cut]
        places = cast("Places", scores.at)
        at = replace(places, which=places.which[cut], place=places.place[cut])
        each.append(Scores(scores.shape, genome, _Cut(scores, cut), *columns, at))
    return each


def _score(
    reading: Reading,
    setting: Setting,
    shape: Shape,
    genome: Genome,
    table: Table | None = None,
    replayed: list[Array] | None = None,
) -> Scores:
    """The scores of a batch, of which the table or the replay of a recording may be known already."""
    recording = RECORDED.get((reading, shape)) if table is None else None
    if recording is not None and recording.tape is not None and recording.setting is setting:
        replayed = recording.replay(genome) if replayed is None else replayed
        if replayed is not None:
            return _scores(shape, genome, lambda: tabulate(reading, setting, shape, genome), recording.span, replayed)
    table = table or tabulate(reading, setting, shape, genome)
    evaluator = _evaluator(reading, table)
    return _scores(shape, genome, table, Span.of(evaluator), compared(reading, evaluator))


def _scores(
    shape: Shape, genome: Genome, known: Table | Callable[[], Table], span: Span, worst: Sequence[Array]
) -> Scores:
    margin, later, ratio, lhs, rhs, which, place = worst
    return Scores(shape, genome, known, margin, later, ratio, lhs, rhs, Places(span, which, place))


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """How a claim is compared on instances of one shape; `tape` is None where that cannot be recorded."""

    setting: Setting
    tape: Tape | None
    span: Span

    def replay(self, genome: Genome) -> list[Array] | None:
        """What `compared` says of a batch; None where it branches otherwise than the recorded one."""
        assert self.tape is not None
        return self.tape.replay(genome)


RECORDED: dict[tuple[Reading, Shape], Recorded] = {}


def record(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> list[Array] | None:
    """Record once for every shape, with the first instances, or those of a small batch again and again.

    The recording is kept where a replay on all of `genome` agrees with it; that replay is what `compared` says of it.
    """
    recording = RECORDED.get((reading, shape))
    if reading.backend != "numpy" or (recording is not None and recording.setting is setting):
        return None
    if len(RECORDED) >= MOSTRECORDED:
        del RECORDED[next(iter(RECORDED))]
    spans: list[Span] = []

    def compare(taped: Genome) -> tuple[Array, ...]:
        evaluator = _evaluator(reading, tabulate(reading, setting, shape, taped))
        spans.append(Span.of(evaluator))
        return compared(reading, evaluator)

    n = len(next(iter(genome.values())))
    sizes = [size + more for _, size in shape.counts for more in (0, 1)]
    prime = next((p for p in TAPED_ROWS if p != n and all(size % p for size in sizes if size)), TAPED_ROWS[0])
    first = np.arange(prime) % n
    try:
        tape = recorded(compare, rows(genome, first))
    except NotTaped:
        tape = None
    replayed = None if tape is None else tape.scales(genome, first)
    span = spans[0] if spans else Span((), (), {})
    RECORDED[reading, shape] = Recorded(setting, tape if replayed is not None else None, span)
    return replayed


def _evaluator(reading: Reading, table: Table) -> Evaluator:
    return Evaluator(table, {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()})


def compared(reading: Reading, evaluator: Evaluator) -> tuple[Array, ...]:
    """Margin, later margin, ratio and both sides of every row; of the worst index, its relation and its place."""
    table = evaluator.table
    usable = conditions(evaluator, reading.claim["when"])
    best: list[tuple[Array, ...]] = []
    for (op, left, right), unit in zip(reading.claim["then"], reading.lowered.units, strict=True):
        lhs, rhs = (np.broadcast_to(evaluator(side), evaluator.shape).reshape(table.n, -1) for side in (left, right))
        margin, ratio = _margin(op, lhs, rhs, _floor(table, unit))
        if lhs.shape[1] == 1:
            margin, ratio, lhs, rhs = (x[:, 0] for x in (margin, ratio, lhs, rhs))
            best.append((margin, ratio, lhs, rhs, np.zeros(table.n, dtype=int), margin))
            continue
        nothing = (lhs == 0) & (rhs == 0)  # 0 <= 0 looks tight and says nothing, where another index says more
        margin = np.where(nothing & ~nothing.all(axis=1, keepdims=True), np.nan, margin)
        later = _later(margin, evaluator, reading.lowered.starts)
        place = np.argmax(np.where(np.isnan(margin), -np.inf, margin), axis=1)
        best.append((*(at_rows(x, place) for x in (margin, ratio, lhs, rhs)), place, later))
    if len(best) == 1:
        margin, ratio, lhs, rhs, place, later = best[0]
        which = np.zeros(table.n, dtype=int)
    else:
        which = np.argmax(np.stack([np.where(np.isnan(b[0]), -np.inf, b[0]) for b in best], axis=1), axis=1)
        margin, ratio, lhs, rhs, place = (at_rows(np.stack([b[j] for b in best], axis=1), which) for j in range(5))
        later = reduce(np.fmax, [b[5] for b in best])
    return np.where(usable, margin, np.nan), np.where(usable, later, np.nan), ratio, lhs, rhs, which, place


def conditions(evaluator: Evaluator, when: list[Any]) -> Array:
    """Which instances (n,) meet every condition at every index."""
    usable = np.ones(evaluator.table.n, dtype=bool)
    for op, left, right in when:
        a, b = evaluator(left), evaluator(right)
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
