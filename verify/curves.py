"""Data for pictures: both sides of a statement along runs. No plotting here; figures only draw what this returns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from fedaudit.bounds.algebra import Symbol
from fedaudit.bounds.catalogue import catalogue
from fedaudit.bounds.latex import latex
from fedaudit.bounds.show import relations_latex, sides_latex
from fedaudit.bounds.statement import Statement
from fedaudit.errors import UserError

from .audit import read
from .check import Scores, conditions, genes_of, score, tabulate
from .claims import lower
from .evaluate import Array, Evaluator, Table
from .experiments import Picture, experiment, pictures
from .genome import Gene, Genome, draw, rows
from .held import genes_at, reading_at, shape_at
from .hunt import VIOLATION
from .seeds import seed_for
from .settings.base import Pictured, Reading, Setting, Shape, View, Viewed, with_scalars
from .settings.order import Order
from .sturdy import MOST_PATHS, Enumerates

RUNS = 80
PROPOSED = 4000
UNSEEN, STEEPEST = 1e-4, 1e30
ROUND, ROUNDS = ("t", "R", "r"), 60  # what papers call a round; how many are drawn
LENGTHS = (1, 2, 4, 9, 16, 36, 64, 144)  # of runs, where a claim is about T
CLOUD, SMALL = 600, 40  # instances of a cloud, and their largest size


@runtime_checkable
class Along(Protocol):
    """A setting that says along which sizes its pictures run."""

    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]: ...


class NoBound(UserError):
    """No run has a positive bound that it could be measured by."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Trajectories of the left side and the bound on the same instances; the caption says how they are scaled."""

    id: str
    title: str
    x: Array  # (m,)
    xlabel: str
    lhs: Array  # (n, m)
    rhs: Array  # (n, m)
    relation: str
    tightest: int
    ylabel: str
    bound_label: str
    caption: str
    extra: Mapping[str, Array] = field(default_factory=dict[str, Array])
    form: str = ""  # LaTeX of a relation that is more than two sides and a sign


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One side of a relation along the axis; `role` is "left", "bound" or "sibling" (of a related statement)."""

    label: str
    values: Array  # (m,)
    role: str


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A statement and its relatives (repaired, other side of the estimate) on chosen instances along one axis."""

    id: str
    title: str
    x: Array  # (m,)
    xlabel: str
    ylabel: str
    relation: str  # LaTeX
    lines: tuple[Line, ...]
    caption: str


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Both sides of every relation on random instances that have no common axis."""

    id: str
    title: str
    relations: tuple[str, ...]  # LaTeX, one a relation
    signs: tuple[str, ...]
    lhs: Array  # (relations, n)
    rhs: Array  # (relations, n)
    margin: Array  # (relations, n): above 0 is a violation
    caption: str


def picture(statement: Statement, seed: int = 0) -> Curves | Profile | Cloud | Picture:
    """What `fedaudit plot` shows: an experiment shows itself in its own way."""
    return experiment(statement.id).picture(seed) if statement.kind == "experiment" else curves(statement, seed)


def curves_at(statement: Statement, values: Mapping[str, Fraction], seed: int = 0) -> Curves:
    """Random runs at constants of one's own, each divided by its first bound: along t, or along T up to its value."""
    if statement.quoted or statement.kind == "experiment":
        raise UserError(f"{statement.id} with values", "a claim about runs", "plot it without values")
    given, world = read(statement)
    reading = reading_at(given, values)
    index = _round(reading)
    if not index and not (reading.uses("T") and any("T" in dict(shape.counts) for shape in world.shapes(reading))):
        raise UserError(
            f"{statement.id} with values", "a claim for every round t, or about T rounds", "plot it without values"
        )
    shape = shape_at(reading, world, values, ROUNDS)
    counted = "step" if getattr(world, "counts_steps", False) else "round"
    if index:
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        genome = genes_at(reading, world, shape, draw(genes_of(reading, world, shape), RUNS, rng), values)
        lhs, rhs = _relative(*sides_of(reading, tabulate(reading, world, shape, genome)))
        first = 0 if index == "t" else 1
        rounds: int = lhs.shape[1]
        x = np.arange(first, first + rounds)
    else:
        x, lhs, rhs = _lengths_at(reading, world, shape, values, seed)
        index, first, counted = "T", int(x[0]) if len(x) else 0, f"{counted}s"
    sizes = {k: v for k, v in shape.counts if k != "T"} | {k: str(v) for k, v in values.items() if k != "T"}
    constants = ", ".join(f"{k} = {v}" for k, v in sizes.items())
    loss = dict(shape.flags).get("loss", "")
    kind = f" ({loss} losses, {'no noise' if dict(shape.flags).get('noise') == 'none' else 'noise'})" if loss else ""
    caption = f"{len(lhs)} random problems{kind} at {constants}; each divided by its bound at {index} = {first}"
    return along(statement, x, f"{counted} ${index}$", lhs, rhs, caption)


def _lengths_at(
    reading: Reading, world: Setting, shape: Shape, values: Mapping[str, Fraction], seed: int
) -> tuple[Array, Array, Array]:
    """Runs of growing length T up to that of the shape, with the same draws at every T that the conditions allow."""
    whole = shape["E"] if getattr(world, "counts_steps", False) else 1  # T counts steps, and rounds are whole
    columns: list[tuple[int, Array, Array]] = []
    for T in sorted({shape["T"], *(n * whole for n in LENGTHS if n * whole < shape["T"])}):
        short = shape.but(T=T)
        held = {**values, "T": Fraction(T)}
        genome = genes_at(
            reading, world, short, _same_draws(genes_of(reading, world, short), seed, reading.lowered.id), held
        )
        lhs, rhs = sides_of(reading, tabulate(reading, world, short, genome))
        columns.append((T, lhs[:, 0], rhs[:, 0]))
    return _admitted(columns)


def _admitted(columns: Sequence[tuple[int, Array, Array]]) -> tuple[Array, Array, Array]:
    """Sizes that are neither excluded by conditions nor without any positive bound, and both sides relative to it."""
    x = np.array([c[0] for c in columns])
    lhs, rhs = (np.stack([c[j] for c in columns], axis=1) for j in (1, 2))
    admitted = np.isfinite(lhs).any(axis=0) & (rhs > 0).any(axis=0)
    return x[admitted], *_relative(lhs[:, admitted], rhs[:, admitted])


def curves(statement: Statement, seed: int = 0) -> Curves | Profile | Cloud:
    """What is worth looking at in the statement's own setting.

    The view that the setting offers; else random runs along t, or along T or another count if the same draws make sense
    at every value, or along a free parameter; else, or where no bound is positive, both sides of random instances
    against each other.
    """
    if statement.quoted:
        raise UserError(
            f"got {statement.id}, quoted from {statement.quoted}, expected an encoded claim; do: plot its sibling"
        )
    if statement.id in pictures():
        return pictures()[statement.id](statement)
    reading, world = read(statement)
    if isinstance(world, Order):
        return _along_paths(statement, reading, world, seed)
    if isinstance(world, Viewed):
        return _profile(statement, reading, world, world.view(reading))
    try:
        return _along(statement, reading, world, seed)
    except NoBound:
        return _cloud(statement, reading, world, seed)


def _along(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves | Cloud:
    index = _round(reading)
    moves = any(_moves(side, index) for _, *sides in reading.claim["then"] for side in sides)
    if index and moves and any(dict(s.counts).get("T", 1) > 1 for s in world.shapes(reading)):
        return _along_rounds(statement, reading, world, seed)
    if isinstance(world, Along):
        tried = (_along_sizes(statement, reading, world, columns, seed) for columns in world.along(reading))
        made = next((c for c in tried if c is not None), None)
        if made is not None:
            return made
    chosen = _by_count(reading, world)
    if chosen and (len(chosen[1]) > 1 or not statement.sweep):
        return _along_count(statement, reading, world, seed, *chosen)
    uncounted = chosen is not None or len({shape.counts for shape in world.shapes(reading)}) == 1
    alone = _along_knob if statement.sweep and uncounted else _cloud
    return alone(statement, reading, world, seed)


def _round(reading: Reading) -> str:
    """The index that counts rounds, if the claim has one (it is then the first)."""
    first = next(iter(reading.claim["for_all"]), "")
    return first if first in ROUND else ""


def _moves(tree: Any, index: str) -> bool:
    """Whether a side depends on the index; a sum over it does not."""
    if not isinstance(tree, list):
        return tree == index
    op, *parts = cast("list[Any]", tree)
    return any(_moves(part, index) for part in (parts[1:3] if op == "sum" and parts[0] == index else parts))


def _profile(statement: Statement, reading: Reading, world: Viewed, view: View) -> Profile:
    lines: list[Line] = []
    relatives = [statement, *_relatives(statement, reading)]
    for relative in relatives:
        mine = Reading(lower(relative))
        columns = [_both_sides(mine, world, shape, values) for _, shape, values in view.points]
        for n, (op, *_) in enumerate(mine.claim["then"]):
            left, right = (np.array([column[n][side] for column in columns]) for side in (0, 1))
            label = relative.id.partition("/")[2]
            known = next((line for line in lines if line.role == "left"), None)
            if known is None:
                lines.append(Line("left side", left, "left"))
            elif not np.allclose(known.values, left, rtol=1e-9):
                lines.append(Line(f"left side of {label}", left, "sibling"))
            sign = {"<=": "≤", ">=": "≥"}.get(op, op)
            lines.append(Line(f"{sign} {label}", right, "bound" if relative is statement else "sibling"))
    return Profile(
        id=statement.id,
        title=statement.title,
        x=np.array([x for x, *_ in view.points]),
        xlabel=view.label,
        ylabel=sides_latex(statement)[0],
        relation=", ".join(relations_latex(statement)),
        lines=tuple(lines),
        caption=view.caption,
    )


def _relatives(statement: Statement, reading: Reading) -> list[Statement]:
    """Statements of one proposition (prop3.3-lower, prop3.3-upper~repaired, ...) with the same left side."""

    def stem(identifier: str) -> str:
        return re.split("[-~]", identifier)[0]

    known = [s for s in catalogue([statement]).values() if stem(s.id) == stem(statement.id) and s.id != statement.id]
    left = reading.claim["then"][0][1]
    return [s for s in known if s.method == statement.method and lower(s).claim["then"][0][1] == left]


def _both_sides(
    reading: Reading, world: Viewed, shape: Shape, values: Mapping[str, float]
) -> list[tuple[float, float]]:
    """Both sides of every relation of one instance; no bound where the conditions fail."""
    known = with_scalars(reading, shape, values)
    table = world.observe(reading, shape, {k: np.array([v]) for k, v in values.items()}, known)
    evaluator = Evaluator(table, {})
    bound = 1.0 if conditions(evaluator, reading.claim["when"])[0] else np.nan
    return [
        (float(np.ravel(evaluator(left))[0]), bound * float(np.ravel(evaluator(right))[0]))
        for _, left, right in reading.claim["then"]
    ]


def _cloud(statement: Statement, reading: Reading, world: Setting, seed: int) -> Cloud:
    """Random instances of every small shape, each relation scored on its own."""
    shapes = [s for s in world.shapes(reading) if s.cost <= SMALL]
    rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
    each = max(4, CLOUD // len(shapes))
    genomes = [(shape, draw(genes_of(reading, world, shape), each, rng)) for shape in shapes]
    parts: list[list[Array]] = []
    for relation in range(len(reading.claim["then"])):
        one = replace(
            reading,
            lowered=replace(
                reading.lowered,
                claim={**reading.claim, "then": [reading.claim["then"][relation]]},
                units=(reading.lowered.units[relation],),
            ),
        )
        scores = [_settled(one, world, shape, genome) for shape, genome in genomes]
        sides = [(s.lhs, s.rhs, np.where(doubtful, np.nan, s.margin)) for s, doubtful in scores]
        parts.append([np.concatenate(side) for side in zip(*sides, strict=True)])
    lhs, rhs, margin = (np.stack([p[k] for p in parts]).astype(float) for k in range(3))
    usable = np.isfinite(margin).any(axis=0)
    if not usable.any():
        raise UserError("got no admissible instance among random ones, expected some; do: plot what it follows from")
    varied = [k for k, _ in shapes[0].counts if len({s[k] for s in shapes}) > 1]
    sizes = "".join(f", {k} = {', '.join(str(v) for v in sorted({s[k] for s in shapes}))}" for k in varied)
    return Cloud(
        id=statement.id,
        title=statement.title,
        relations=relations_latex(statement),
        signs=tuple(op for op, *_ in reading.claim["then"]),
        lhs=lhs[:, usable],
        rhs=rhs[:, usable],
        margin=margin[:, usable],
        caption=f"{int(usable.sum())} random admissible instances{sizes}; a dot on the line is an equality",
    )


def _telling(shape: Shape) -> tuple[bool, bool, bool, int]:
    """Several clients and noise, any weights rather than a rule's, few local steps (E^2 in a bound hides the rest)."""
    sizes, flags = dict(shape.counts), dict(shape.flags)
    ruled = flags.get("weights", "rows") != "rows"
    return sizes.get("C", 2) < 2, flags.get("noise") == "none", ruled, abs(sizes.get("E", 1) - 2)


def _lengthened(reading: Reading, world: Setting, rounds: int) -> Shape:
    """The most telling shape with so many rounds; with fewer where a run would have too many outcomes."""
    shapes = world.shapes(reading)
    while rounds > 1:
        long = [shape.but(T=rounds) for shape in shapes]
        few = [shape for shape in long if not isinstance(world, Enumerates) or world.paths(shape) <= MOST_PATHS]
        if few:
            return min(few, key=_telling)
        rounds //= 2
    return min(shapes, key=_telling)


def _along_rounds(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves:
    shape, held = _lengthened(reading, world, ROUNDS), dict[str, float]()
    if isinstance(world, Pictured):
        shape, held = world.picture(reading)
    rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
    genome = draw(genes_of(reading, world, shape), RUNS, rng)
    genome |= {k: np.full_like(genome[k], value) for k, value in held.items() if k in genome}
    lhs, rhs = _relative(*sides_of(reading, _resolved(reading, world, shape, genome)))
    rounds: int = lhs.shape[1]
    sizes = ", ".join(f"{k} = {v}" for k, v in shape.counts if k != "T")
    index = _round(reading)
    first = 0 if index == "t" else 1
    scaled = f"divided by their bound at {index} = {first}"
    caption = f"{len(lhs)} random admissible instances ({sizes}), exact expectations, {scaled}"
    counted = "step" if getattr(world, "counts_steps", False) else "round"
    return along(statement, np.arange(first, first + rounds), f"{counted} ${index}$", lhs, rhs, caption)


def _resolved(reading: Reading, world: Setting, shape: Shape, genome: Genome) -> Table:
    """The batch without runs that are only rounding."""
    _, doubtful = _settled(reading, world, shape, genome)
    return tabulate(reading, world, shape, rows(genome, np.flatnonzero(~doubtful)))


def _settled(reading: Reading, world: Setting, shape: Shape, genome: Genome) -> tuple[Scores, Array]:
    """Scores, and which runs are only rounding: above the bound as drawn, but not when their genes are moved."""
    raw = score(reading, world, shape, genome, again=False)
    moved = score(reading, world, shape, genome, table=raw.table)
    return moved, (raw.margin > VIOLATION) & ~(moved.margin > VIOLATION)


def _by_count(reading: Reading, world: Setting) -> tuple[str, dict[int, Shape]] | None:
    """A count along which the same draws can be followed, and a shape for each of its values."""
    shapes = world.shapes(reading)
    if reading.uses("T") and any(dict(s.counts).get("T", 1) > 1 for s in shapes):
        telling = _lengthened(reading, world, max(LENGTHS))
        return "T", {T: telling.but(T=T) for T in LENGTHS if telling["T"] >= T}
    counts = ("E", "C", "b", "M", "N", "n", "d")
    name = next((k for k in counts if len({dict(s.counts).get(k) for s in shapes}) > 1), None)
    if name is None:
        return None
    families: dict[Shape, dict[int, Shape]] = {}  # shapes that differ in this count alone
    for shape in shapes:
        families.setdefault(shape.but(**{name: 0}), {})[shape[name]] = shape
    chosen = max(families.values(), key=len)
    genes = {tuple((g.name, g.shape) for g in genes_of(reading, world, shape)) for shape in chosen.values()}
    return (name, chosen) if len(genes) == 1 < len(chosen) else None


def _along_count(
    statement: Statement, reading: Reading, world: Setting, seed: int, name: str, chosen: Mapping[int, Shape]
) -> Curves:
    columns: list[tuple[int, Array, Array]] = []
    for value, shape in sorted(chosen.items()):
        genome = _same_draws(genes_of(reading, world, shape), seed, statement.id)
        lhs, rhs = sides_of(reading, tabulate(reading, world, shape, genome))
        columns.append((value, lhs[:, 0], rhs[:, 0]))
    x, lhs, rhs = _admitted(columns)
    caption = f"{RUNS} random parameter choices at every {name}; each divided by its bound at the smallest {name}"
    return along(statement, x, f"${name}$", lhs, rhs, caption)


ASKED = {
    "<=": "stays bounded",
    "<": "falls to 0",
    ">=": "stays away from 0",
    ">": "grows beyond every bound",
    "=": "stays bounded and away from 0",
}  # of an order of growth


def _along_paths(statement: Statement, reading: Reading, world: Any, seed: int) -> Curves:
    """Both sides along random paths x = c n^a of the parameters, n over the decades."""
    n = np.logspace(2, 8, 25)  # conditions hold for large n
    sides: list[tuple[Array, Array]] = []
    for shape in world.shapes(reading):
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        genome = draw(genes_of(reading, world, shape), 50 * RUNS, rng)
        scores = score(reading, world, shape, genome)
        order = np.argsort(-np.nan_to_num(scores.margin, nan=-np.inf), kind="stable")
        some = np.concatenate([order[:8], np.flatnonzero(np.isfinite(scores.margin))[:24]])  # the steepest, and any
        chosen = {k: v.astype(world.precision) for k, v in rows(genome, some).items()}
        powers = [np.abs(v) for k, v in chosen.items() if k.startswith("a_")]
        steepest = np.maximum(1, np.max([np.zeros(len(some)), *powers], axis=0))  # only the ratios of powers matter
        chosen = {k: v / steepest if k.startswith("a_") else v for k, v in chosen.items()}
        tables = [world.table(reading, shape, chosen, float(at)) for at in n]
        both = [sides_of(reading, table) for table in tables]
        sides.append((np.concatenate([b[0] for b in both], axis=1), np.concatenate([b[1] for b in both], axis=1)))
    lhs, rhs = (np.concatenate([s[j] for s in sides]) for j in (0, 1))
    fine = np.isfinite(lhs) & np.isfinite(rhs) & (rhs > 0)
    counts = [int(fine[:, j:].all(axis=1).sum()) for j in range(len(n))]
    late = next(j for j, count in enumerate(counts) if 2 * count >= counts[-1])  # half of the paths meet the conditions
    first = 0 if counts[0] else late
    usable, n = fine[:, first:].all(axis=1), n[first:]
    lhs = (lhs[usable, first:] / rhs[usable, first:]).astype(float)
    caption = (
        "the left side in units of the right side, along paths x = c n^a of all parameters that may grow; "
        f"claimed is that every line {ASKED[statement.relation]} for large n, at whatever height"
    )
    made = along(statement, n, "$n$", lhs, np.ones(lhs.shape), caption)
    return replace(made, form=relations_latex(statement)[0])


def _along_sizes(
    statement: Statement, reading: Reading, world: Setting, columns: Mapping[int, Shape], seed: int
) -> Curves | None:
    """The same draws with ever more rounds; those that some size does not admit are left out. None without any left."""
    sides: list[tuple[Array, Array]] = []
    for shape in columns.values():
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        table = tabulate(reading, world, shape, draw(genes_of(reading, world, shape), PROPOSED, rng))
        lhs, rhs = sides_of(reading, table)
        sides.append((lhs[:, 0], rhs[:, 0]))
    lhs, rhs = _relative(*(np.stack([side[j] for side in sides], axis=1) for j in (0, 1)))
    seen = (lhs > UNSEEN * rhs).all(axis=1)  # a run that starts at its end would only stretch the picture
    lhs, rhs = lhs[seen], rhs[seen]
    if not len(lhs):
        return None
    kept = np.argsort(-np.nan_to_num(lhs[:, -1] / rhs[:, -1]), kind="stable")[: RUNS // 4]
    kept = np.concatenate([kept, np.setdiff1d(np.arange(len(lhs)), kept)[: RUNS - len(kept)]])
    loss = next(iter(columns.values())).flag("loss")
    caption = (
        f"{len(kept)} of {PROPOSED} random parameter choices ({loss}), the worst quarter at the largest T among them, "
    )
    caption += "expectations exact; each divided by its bound at the smallest T"
    return along(statement, np.array(list(columns)), "rounds $T$", lhs[kept], rhs[kept], caption)


def _relative(lhs: Array, rhs: Array) -> tuple[Array, Array]:
    """Both sides divided by the bound's first value that is not zero, where all of them are numbers fit to be drawn."""
    usable = (np.isfinite(lhs) & np.isfinite(rhs)).all(axis=1) & (rhs > 0).any(axis=1) & (rhs[:, 0] >= 0)
    lhs, rhs = lhs[usable], rhs[usable]
    first = np.take_along_axis(rhs, np.argmax(rhs > 0, axis=1)[:, None], 1)
    with np.errstate(over="ignore"):
        lhs, rhs = lhs / first, rhs / first
    shown = (np.maximum(lhs, rhs) < STEEPEST).all(axis=1)  # growing step sizes may explode
    return lhs[shown], rhs[shown]


KNOB_VALUES = 25


def _along_knob(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves:
    """Nothing to count: along the first free parameter, at many values of its knob."""
    shape, knob = world.shapes(reading)[-1], reading.lowered.knobs[0]
    grid = np.linspace(0.04, 1 if knob.startswith("unit_") else 4, KNOB_VALUES)
    genome = _same_draws(genes_of(reading, world, shape), seed, statement.id)
    whole = {k: np.repeat(v, len(grid), axis=0) for k, v in genome.items()} | {knob: np.tile(grid, RUNS)}
    lhs, rhs = (side[:, 0].reshape(RUNS, -1) for side in sides_of(reading, tabulate(reading, world, shape, whole)))
    swept, value = next((k, v) for k, v in statement.sweep.items() if knob in map(str, v.free_symbols))
    value = value.subs({s: Symbol("x", positive=True) for s in value.free_symbols if str(s) == knob})
    label = f"$x$ in ${latex(swept, statement.glossary)} = {latex(value, statement.glossary)}$"
    caption = f"{RUNS} random choices of all else; each divided by its bound at the smallest x"
    return along(statement, grid, label, *_relative(lhs, rhs), caption)


def _same_draws(genes: list[Gene], seed: int, label: str) -> Genome:
    """Genes of the same name and shape come out the same, whatever others there are."""
    parts = (draw([g], RUNS, np.random.default_rng(seed_for(seed, label, "curves", g.name))) for g in genes)
    return {name: values for part in parts for name, values in part.items()}


def along(statement: Statement, x: Array, xlabel: str, lhs: Array, rhs: Array, caption: str) -> Curves:
    if not len(lhs):
        raise NoBound("got no run with a positive bound, expected one to divide by; do: plot what it follows from")
    small, large = (rhs, lhs) if statement.relation in (">=", ">") else (lhs, rhs)
    with np.errstate(invalid="ignore", divide="ignore"):
        closeness = np.nan_to_num(np.where(large > 0, small / large, 0.0)[:, -max(1, len(x) // 2) :].mean(axis=1))
    left, right = sides_latex(statement)
    return Curves(
        id=statement.id,
        title=statement.title,
        x=x,
        xlabel=xlabel,
        lhs=lhs,
        rhs=rhs,
        relation=statement.relation,
        tightest=int(np.argmax(closeness)),
        ylabel=left,
        bound_label=right,
        caption=caption,
    )


def sides_of(reading: Reading, table: Table) -> tuple[Array, Array]:
    """The first relation's sides, (n, rounds): over the other indices, the one where the left side is largest."""
    ranges = {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()}
    evaluator = Evaluator(table, ranges)
    _, left, right = reading.claim["then"][0]
    lhs, rhs = (np.broadcast_to(evaluator(side), evaluator.shape) for side in (left, right))
    usable = conditions(evaluator, reading.claim["when"]).reshape((-1,) + (1,) * (lhs.ndim - 1))
    lhs, rhs = np.where(usable, lhs, np.nan), np.where(usable, rhs, np.nan)
    rounds = lhs.shape[1] if _round(reading) else 1
    lhs, rhs = (side.reshape(table.n, rounds, -1) for side in (lhs, rhs))
    place = np.nanargmax(np.nan_to_num(lhs, nan=-np.inf), axis=2)[..., None]
    return np.take_along_axis(lhs, place, 2)[..., 0], np.take_along_axis(rhs, place, 2)[..., 0]
