"""Data for pictures: both sides of a statement along runs. No plotting here; figures only draw what this returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from fedaudit.bounds.algebra import Symbol
from fedaudit.bounds.catalogue import statement as find
from fedaudit.bounds.show import latex
from fedaudit.bounds.statement import Statement
from fedaudit.problems.moments import expected
from fedaudit.problems.quadratics import two_group

from .audit import read
from .check import conditions, genes_of, score, tabulate
from .evaluate import Array, Evaluator, Quantity, Table
from .genome import Gene, Genome, draw, rows
from .hunt import VIOLATION
from .lower import lower
from .seeds import seed_for
from .settings.base import Reading, Setting, Shape

RUNS = 80
PROPOSED = 4000
UNSEEN = 1e-4
ROUNDS = 60


@runtime_checkable
class Along(Protocol):
    """A setting that says along which sizes its pictures run."""

    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]: ...


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


def curves(statement: Statement, seed: int = 0) -> Curves:
    """Runs of the statement's own setting; along t where it has rounds, else along a count such as E."""
    reading, world = read(statement)
    if world.name == "two_group":
        return _two_group(statement)
    if "t" in reading.claim["for_all"] and any(dict(s.counts).get("T", 1) > 1 for s in world.shapes(reading)):
        return _along_rounds(statement, reading, world, seed)
    if isinstance(world, Along):
        tried = (_along_sizes(statement, reading, world, columns, seed) for columns in world.along(reading))
        made = next((c for c in tried if c is not None), None)
        if made is not None:
            return made
    return _along_count(statement, reading, world, seed)


def _telling(shape: Shape) -> tuple[bool, bool, int]:
    """Several clients and noise, few local steps (a bound with E^2 in it hides the rest)."""
    sizes, flags = dict(shape.counts), dict(shape.flags)
    return sizes.get("C", 2) < 2, flags.get("noise") == "none", abs(sizes.get("E", 1) - 2)


def _along_rounds(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves:
    shape = min(world.shapes(reading), key=_telling).but(T=ROUNDS)
    rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
    genome = draw(genes_of(reading, world, shape), RUNS, rng)
    lhs, rhs = _relative(*_sides(reading, _resolved(reading, world, shape, genome)))
    rounds: int = lhs.shape[1]
    sizes = ", ".join(f"{k} = {v}" for k, v in shape.counts if k != "T")
    caption = f"{len(lhs)} random admissible instances ({sizes}), exact expectations, divided by their bound at t = 0"
    return _curves(statement, np.arange(rounds), "round $t$", lhs, rhs, caption)


def _resolved(reading: Reading, world: Setting, shape: Shape, genome: Genome) -> Table:
    """The batch without runs that are only rounding: above the bound as drawn, but not when their genes are moved."""
    raw, moved = score(reading, world, shape, genome, again=False), score(reading, world, shape, genome)
    only_rounding = (raw.margin > VIOLATION) & ~(moved.margin > VIOLATION)
    return tabulate(reading, world, shape, rows(genome, np.flatnonzero(~only_rounding)))


def _along_count(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves:
    shapes = world.shapes(reading)
    counts = ("E", "C", "b", "M", "N", "n", "d")
    if statement.sweep and not any(len({dict(s.counts).get(k) for s in shapes}) > 1 for k in (*counts, "T")):
        return _along_knob(statement, reading, world, seed)
    name = next((k for k in counts if len({dict(s.counts).get(k) for s in shapes}) > 1), "T")
    families: dict[Shape, dict[int, Shape]] = {}  # shapes that differ in this count alone
    for shape in shapes:
        families.setdefault(shape.but(**{name: 0}), {})[shape[name]] = shape
    chosen = max(families.values(), key=len)
    if len(chosen) == 1 and statement.sweep:
        return _along_knob(statement, reading, world, seed)
    columns: list[tuple[int, Array, Array]] = []
    for value, shape in sorted(chosen.items()):
        genome = _same_draws(genes_of(reading, world, shape), seed, statement.id)
        lhs, rhs = _sides(reading, tabulate(reading, world, shape, genome))
        columns.append((value, lhs[:, 0], rhs[:, 0]))
    x = np.array([c[0] for c in columns])
    lhs, rhs = (np.stack([c[j] for c in columns], axis=1) for j in (1, 2))
    admitted = np.isfinite(lhs).any(axis=0) & (rhs > 0).any(axis=0)  # neither excluded by conditions nor all zero
    x, lhs, rhs = x[admitted], lhs[:, admitted], rhs[:, admitted]
    caption = f"{RUNS} random parameter choices at every {name}; each divided by its bound at the smallest {name}"
    return _curves(statement, x, f"${name}$", *_relative(lhs, rhs), caption)


def _along_sizes(
    statement: Statement, reading: Reading, world: Setting, columns: Mapping[int, Shape], seed: int
) -> Curves | None:
    """The same draws with ever more rounds; those that some size does not admit are left out. None without any left."""
    sides: list[tuple[Array, Array]] = []
    for shape in columns.values():
        rng = np.random.default_rng(seed_for(seed, statement.id, "curves"))
        table = tabulate(reading, world, shape, draw(genes_of(reading, world, shape), PROPOSED, rng))
        lhs, rhs = _sides(reading, table)
        sides.append((lhs[:, 0], rhs[:, 0]))
    lhs, rhs = _relative(*(np.stack([side[j] for side in sides], axis=1) for j in (0, 1)))
    seen = (lhs > UNSEEN * rhs).all(axis=1)  # a run that starts at its end would only stretch the picture
    lhs, rhs = lhs[seen], rhs[seen]
    if not len(lhs):
        return None
    kept = np.argsort(-np.nan_to_num(lhs[:, -1] / rhs[:, -1]), kind="stable")[: RUNS // 4]
    kept = np.concatenate([kept, np.setdiff1d(np.arange(len(lhs)), kept)[: RUNS - len(kept)]])
    law = next(iter(columns.values())).flag("law")
    caption = (
        f"{len(kept)} of {PROPOSED} random parameter choices ({law}), the worst quarter at the largest T among them, "
    )
    caption += "expectations exact; each divided by its bound at the smallest T"
    return _curves(statement, np.array(list(columns)), "rounds $T$", lhs[kept], rhs[kept], caption)


def _relative(lhs: Array, rhs: Array) -> tuple[Array, Array]:
    """Both sides divided by the bound's first value, where all of them are numbers."""
    usable = (np.isfinite(lhs) & np.isfinite(rhs)).all(axis=1) & (rhs[:, 0] > 0)
    return lhs[usable] / rhs[usable, :1], rhs[usable] / rhs[usable, :1]


KNOB_VALUES = 25


def _along_knob(statement: Statement, reading: Reading, world: Setting, seed: int) -> Curves:
    """Nothing to count: along the first free parameter, at many values of its knob."""
    shape, knob = world.shapes(reading)[-1], reading.lowered.knobs[0]
    grid = np.linspace(0.04, 1 if knob.startswith("unit_") else 4, KNOB_VALUES)
    genome = _same_draws(genes_of(reading, world, shape), seed, statement.id)
    whole = {k: np.repeat(v, len(grid), axis=0) for k, v in genome.items()} | {knob: np.tile(grid, RUNS)}
    lhs, rhs = (side[:, 0].reshape(RUNS, -1) for side in _sides(reading, tabulate(reading, world, shape, whole)))
    swept, value = next((k, v) for k, v in statement.sweep.items() if knob in map(str, v.free_symbols))
    value = value.subs({s: Symbol("x", positive=True) for s in value.free_symbols if str(s) == knob})
    label = f"$x$ in ${latex(swept, statement.glossary)} = {latex(value, statement.glossary)}$"
    caption = f"{RUNS} random choices of all else; each divided by its bound at the smallest x"
    return _curves(statement, grid, label, *_relative(lhs, rhs), caption)


def _same_draws(genes: list[Gene], seed: int, label: str) -> Genome:
    """Genes of the same name and shape come out the same, whatever others there are."""
    parts = (draw([g], RUNS, np.random.default_rng(seed_for(seed, label, "curves", g.name))) for g in genes)
    return {name: values for part in parts for name, values in part.items()}


def _curves(statement: Statement, x: Array, xlabel: str, lhs: Array, rhs: Array, caption: str) -> Curves:
    small, large = (rhs, lhs) if statement.relation in (">=", ">") else (lhs, rhs)
    with np.errstate(invalid="ignore", divide="ignore"):
        closeness = np.nan_to_num(np.where(large > 0, small / large, 0.0)[:, -max(1, len(x) // 2) :].mean(axis=1))
    relation = statement.relations[0]
    return Curves(
        id=statement.id,
        title=statement.title,
        x=x,
        xlabel=xlabel,
        lhs=lhs,
        rhs=rhs,
        relation=statement.relation,
        tightest=int(np.argmax(closeness)),
        ylabel=latex(relation.args[0], statement.glossary),
        bound_label=latex(relation.args[1], statement.glossary),
        caption=caption,
    )


def _sides(reading: Reading, table: Table) -> tuple[Array, Array]:
    """The first relation's sides, (n, rounds): over the other indices, the one where the left side is largest."""
    ranges = {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()}
    evaluator = Evaluator(table, ranges)
    _, left, right = reading.claim["then"][0]
    lhs, rhs = (np.broadcast_to(evaluator(side), evaluator.shape) for side in (left, right))
    usable = conditions(evaluator, reading.claim["when"]).reshape((-1,) + (1,) * (lhs.ndim - 1))
    lhs, rhs = np.where(usable, lhs, np.nan), np.where(usable, rhs, np.nan)
    rounds = lhs.shape[1] if evaluator.names[:1] == ["t"] else 1
    lhs, rhs = (side.reshape(table.n, rounds, -1) for side in (lhs, rhs))
    place = np.nanargmax(np.nan_to_num(lhs, nan=-np.inf), axis=2)[..., None]
    return np.take_along_axis(lhs, place, 2)[..., 0], np.take_along_axis(rhs, place, 2)[..., 0]


def _two_group(statement: Statement) -> Curves:
    """Theorem 4.2's problem with theorem 4.1's step size: upper bound, exact expectation and lower bound together."""
    mu, alpha, sigma, G, C, E, w0 = 1.0, 0.5, 0.5, 1.0, 4, 5, 2.0
    problem = two_group(mu / 2, mu, G, C)
    gamma = np.full((1, ROUNDS), 1 / (2 * (alpha + mu) * E))
    v = np.full((1, C, 1), sigma)
    run = expected(problem, np.array([[w0]]), np.array([alpha]), gamma, E, v, False)
    largest = float(np.sqrt(np.max(run.grad2) + sigma**2))
    scalars = {"mu": mu, "alpha": alpha, "sigma": sigma, "G_lin": G, "gamma": gamma[0, 0], "L": mu, "G": largest}
    scalars |= {"Gamma": float(np.ravel(problem.heterogeneity())[0])}
    table = Table(
        1,
        {k: np.array([x]) for k, x in scalars.items()},
        {"gap": Quantity(run.gap, (0,)), "p": Quantity(np.full((1, C), 1 / C), (1,)), "gamma": Quantity(gamma, (0,))},
        {"C": C, "E": E, "T": ROUNDS},
    )
    lhs, lower_bound = _sides(Reading(lower(statement)), table)
    weaker = {**table.scalars, "mu": np.array([mu / 2])}  # every f_i is h-strongly convex
    theorem = Reading(lower(find("buttaci/thm4.1-I")))
    _, upper = _sides(theorem, Table(1, weaker, table.quantities, table.counts))
    made = _curves(statement, np.arange(ROUNDS + 1), "round $t$", lhs, lower_bound, "")
    given = f"mu = {mu:g}, alpha = {alpha:g}, sigma = {sigma:g}, G = {G:g}, C = {C}, E = {E}, w = {w0:g}"
    return Curves(
        **{k: getattr(made, k) for k in made.__slots__ if k not in ("caption", "extra")},
        caption=f"two-group quadratic of B.4 with {given}, step size 1/(2 L_alpha E); expectation exact, no sampling",
        extra={
            "upper bound": upper[0],
            "exact expectation": lhs[0],
            "lower bound": lower_bound[0],
        },
    )
