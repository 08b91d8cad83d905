"""Data for pictures of statements. No plotting here; figures only draw what this returns.

What a statement is decides what is shown: a counterexample its two sides crossing, a rate one representative problem, a
bound with choices a landscape, an order of growth its ratio along paths, all else both sides of thousands of instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np

from fedaudit.bounds.formulas.statement_text import relations_latex, sides_latex
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from ..experiments import Picture, experiment, pictures
from ..moves.audit import read
from ..search.claim_index import factor_of, is_rate, round_of, sides_of
from ..search.genome import Gene, Genome, draw
from ..search.longer_runs import lengthened
from ..search.score import genes_of, tabulate
from ..search.seeds import seed_for
from ..search.tree_arrays import Array
from ..settings.base import Reading, Setting, Shape
from ..settings.runs.run import RunSetting
from .at_constants import genes_at, reading_at, shape_at
from .cloud_data import against, cloud
from .crossing import crossing
from .growth import paths
from .kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate, along, unit
from .landscape import landscape
from .logistic_clients import logistic_clients
from .relatives import profile
from .representative_run import portrait
from .row_marks import Row, counterexample_of, has_worst_cases, tightest_at, worst_of

__all__ = ["Cloud", "Crossing", "Curves", "Landscape", "Profile", "Rate", "curves", "curves_at", "picture"]

RUNS = 80
STEEPEST = 1e30
ROUNDS = 60  # that are drawn at constants of one's own
LENGTHS = (1, 2, 4, 9, 16, 36, 64, 144)  # of runs, where a claim is about T

Drawn = Curves | Profile | Cloud | Rate | Crossing | Landscape


def picture(statement: Statement, seed: int = 0, row: Row | None = None) -> Drawn | Picture:
    """What `fedaudit plot` shows: an experiment shows itself in its own way.

    `row`: what an audit found. Without it a counterexample is looked for among a few thousand random instances.
    """
    if statement.kind == "experiment":
        return experiment(statement.id).picture(seed)
    return curves(statement, seed, row)


def curves(statement: Statement, seed: int = 0, row: Row | None = None) -> Drawn:
    """What is worth looking at in the statement's own setting, with what the moves found where `row` says so."""
    if statement.quoted:
        raise UserError(
            f"got {statement.id}, quoted from {statement.quoted}, expected an encoded claim; do: plot its sibling"
        )
    if statement.id in pictures():
        return pictures()[statement.id](statement)
    reading, world = read(statement)
    view = world.view(reading)
    if view is not None:
        return profile(statement, reading, world, view)
    fallen = against(reading, world, seed) if row is None else counterexample_of(row)
    if isinstance(fallen, dict) and (replays := crossing(statement, reading, cast("Row", fallen))) is not None:
        return replays
    if (fallen or row is None) and (longer := lengthened(statement, reading, world, seed)) is not None:
        return longer
    if isinstance(world, RunSetting) and is_rate(reading) and (shown := _rate(statement, reading, world, seed, row)):
        return shown
    if reading.claim["setting"] in ("order", "scalar") and (plane := landscape(statement, reading, seed)) is not None:
        return plane
    if world.fitted:
        return paths(statement, reading, seed)
    instances = cloud(statement, reading, world, seed, row, falls=isinstance(fallen, dict))
    if not (isinstance(world, RunSetting) and is_rate(reading)):
        return instances
    return replace(instances, caption=f"{instances.caption}; no long run of ten clients could be followed")


def _rate(statement: Statement, reading: Reading, world: RunSetting, seed: int, row: Row | None) -> Rate | None:
    problem = portrait(reading, world, seed)
    if problem is None:
        return None
    index = round_of(reading)
    counted = "step" if world.counts_steps else "round"
    factor = factor_of(reading.claim["then"][0][1], index, problem.x) if index else None
    noise = problem.shape.flag("noise") != "none" or problem.shape.flag("sampling") != "all"
    left = sides_latex(statement)[0]
    along_T = () if index else tuple(reading.lowered.sweep)  # what the claim chooses by T has no one value
    constants = {name: value for name, value in problem.constants.items() if name not in along_T}
    other = (
        logistic_clients(reading, problem.shape, problem.constants, world.counts_steps, seed)
        if factor is None
        else None
    )
    return Rate(
        id=statement.id,
        title=statement.title,
        relation=relations_latex(statement)[0],
        sign=reading.claim["then"][0][0],
        x=problem.x,
        xlabel=f"{counted} ${index}$" if index else f"{counted}s $T$",
        ylabel=left if factor is None else r"\mathrm{left\ side\ /\ its\ factor}",
        unit=unit(reading.lowered.units[0]),
        expectation=problem.lhs if factor is None else problem.lhs / factor,
        bound=problem.rhs if factor is None else problem.rhs / factor,
        path=problem.path,
        exact=noise,
        tightest=tightest_at(row, index),
        worst=worst_of(row, index),
        caption=_said(problem.shape, constants, noise, row, problem.smaller)
        + (f"; both sides divided by the factor of the left side that grows with {index}" if factor is not None else "")
        + (f"; dashed: ten clients, {other}" if other else ""),
        logistic=other,
    )


def _said(shape: Shape, constants: Mapping[str, float], noise: bool, row: Row | None, shrunk: str) -> str:
    sizes = ", ".join(f"{k} = {v}" for k, v in shape.counts if k in ("C", "d", "E", "m", "b"))
    values = ", ".join(f"{k} = {v:.3g}" for k, v in constants.items() if k not in dict(shape.counts))
    loss = {"stairs": "piecewise quadratic"}.get(shape.flag("loss"), shape.flag("loss").replace("_", "-"))
    kind = "expectation exact" if noise else "no noise"
    small = f"; {shrunk}" if shrunk else ""
    unseen = "" if row is None or has_worst_cases(row) else "; worst case over all functions: not computed"
    return f"a representative problem: {loss} losses, {sizes}, {values}; {kind}{small}{unseen}"


def curves_at(statement: Statement, values: Mapping[str, Fraction], seed: int = 0) -> Curves:
    """Random runs at constants of one's own, each divided by its first bound: along t, or along T up to its value."""
    if statement.quoted or statement.kind == "experiment":
        raise UserError(f"{statement.id} with values", "a claim about runs", "plot it without values")
    as_stated, world = read(statement)
    reading = reading_at(as_stated, values)
    index = round_of(reading)
    if not index and not (reading.uses("T") and any("T" in dict(shape.counts) for shape in world.shapes(reading))):
        raise UserError(
            f"{statement.id} with values", "a claim for every round t, or about T rounds", "plot it without values"
        )
    shape = shape_at(reading, world, values, ROUNDS)
    counted = "step" if world.counts_steps else "round"
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
    whole = shape["E"] if world.counts_steps else 1  # T counts steps, and rounds are whole
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
    """Keeps sizes that conditions allow and that have a positive bound; returns them with both sides relative to
    that.
    """
    x = np.array([c[0] for c in columns])
    lhs, rhs = (np.stack([c[j] for c in columns], axis=1) for j in (1, 2))
    admitted = np.isfinite(lhs).any(axis=0) & (rhs > 0).any(axis=0)
    return x[admitted], *_relative(lhs[:, admitted], rhs[:, admitted])


def _relative(lhs: Array, rhs: Array) -> tuple[Array, Array]:
    """Both sides divided by the bound's first value that is not zero, where all of them are numbers fit to be drawn."""
    usable = (np.isfinite(lhs) & np.isfinite(rhs)).all(axis=1) & (rhs > 0).any(axis=1) & (rhs[:, 0] >= 0)
    lhs, rhs = lhs[usable], rhs[usable]
    first = np.take_along_axis(rhs, np.argmax(rhs > 0, axis=1)[:, None], 1)
    with np.errstate(over="ignore"):
        lhs, rhs = lhs / first, rhs / first
    shown = (np.maximum(lhs, rhs) < STEEPEST).all(axis=1)  # growing step sizes may explode
    return lhs[shown], rhs[shown]


def _same_draws(genes: Sequence[Gene], seed: int, label: str) -> Genome:
    """Draws genes so that those of the same name and shape come out the same, whatever others there are."""
    parts = (draw([g], RUNS, np.random.default_rng(seed_for(seed, label, "curves", g.name))) for g in genes)
    return {name: values for part in parts for name, values in part.items()}
