"""Data for pictures of statements. No plotting here; figures only draw what this returns.

What a statement is decides what is shown: a counterexample its two sides crossing, a rate one representative problem, a
bound with choices a landscape, an order of growth its ratio along paths, all else both sides of thousands of instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import cast

from fedaudit.bounds.formulas.statement_text import relations_latex, sides_latex
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from ..experiments import Picture, experiment, pictures
from ..moves.audit import read
from ..search.claim_index import factor_of, is_rate, round_of
from ..search.longer_runs import lengthened
from ..search.tree_arrays import Array
from ..settings.base import Reading, Shape
from ..settings.runs.run import RunSetting
from .at_constants import reading_at
from .cloud_data import against, cloud
from .crossing import crossing
from .growth import paths
from .kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate, unit
from .landscape import landscape
from .logistic_clients import logistic_clients
from .relatives import profile
from .representative_run import Portrait, portrait, portrait_at
from .row_marks import Row, counterexample_of, has_worst_cases, tightest_at, worst_of

__all__ = ["Cloud", "Crossing", "Curves", "Landscape", "Profile", "Rate", "curves", "picture", "rate_at"]

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
    other = (
        logistic_clients(reading, problem.shape, problem.constants, world.counts_steps, seed)
        if _factor(reading, problem) is None
        else None
    )
    drawn = _shown(statement, reading, world, problem)
    unseen = "" if row is None or has_worst_cases(row) else "; worst case over all functions: not computed"
    index = round_of(reading)
    return replace(
        drawn,
        tightest=tightest_at(row, index),
        worst=worst_of(row, index),
        caption=f"{drawn.caption}{unseen}",
        logistic=other,
    )


def _factor(reading: Reading, problem: Portrait) -> Array | None:
    """What the left side is multiplied by that grows with the round; a mean over rounds stays a mean."""
    index = round_of(reading)
    factor = factor_of(reading.claim["then"][0][1], index, problem.x) if index else None
    return factor if factor is not None and factor[-1] > factor[0] else None


def _shown(statement: Statement, reading: Reading, world: RunSetting, problem: Portrait) -> Rate:
    """A problem along its rounds; a left side with a factor of the round is divided by that, and so is the bound."""
    index, factor = round_of(reading), _factor(reading, problem)
    counted = "step" if world.counts_steps else "round"
    noise = problem.shape.flag("noise") != "none" or problem.shape.flag("sampling") != "all"
    by = 1.0 if factor is None else factor
    along_T = () if index else tuple(reading.lowered.sweep)  # what the claim chooses by T has no one value
    constants = {name: value for name, value in problem.constants.items() if name not in along_T}
    divided = f"; both sides divided by the factor of the left side that grows with {index}"
    return Rate(
        id=statement.id,
        title=statement.title,
        relation=relations_latex(statement)[0],
        sign=reading.claim["then"][0][0],
        x=problem.x,
        xlabel=f"{counted} ${index}$" if index else f"{counted}s $T$",
        ylabel=sides_latex(statement)[0] if factor is None else r"\mathrm{left\ side\ /\ its\ factor}",
        unit=unit(reading.lowered.units[0]),
        expectation=problem.lhs / by,
        bound=problem.rhs / by,
        parts=tuple(replace(part, values=part.values / by) for part in problem.parts),
        band=problem.band if factor is None else None,
        exact=noise,
        tightest=None,
        worst=(),
        caption=_said(problem.shape, constants, noise, problem.smaller) + (divided if factor is not None else ""),
    )


def _said(shape: Shape, constants: Mapping[str, float], noise: bool, shrunk: str) -> str:
    sizes = ", ".join(f"{k} = {v}" for k, v in shape.counts if k in ("C", "d", "E", "m", "b"))
    values = ", ".join(f"{k} = {v:.3g}" for k, v in constants.items() if k not in dict(shape.counts))
    loss = {"stairs": "piecewise quadratic"}.get(shape.flag("loss"), shape.flag("loss").replace("_", "-"))
    kind = "expectation exact" if noise else "no noise"
    small = f"; {shrunk}" if shrunk else ""
    return f"one problem: {loss} losses, {sizes}, {values}; {kind}{small}"


def rate_at(statement: Statement, values: Mapping[str, Fraction], seed: int = 0) -> Rate:
    """One problem at constants of one's own along t, or along T up to its value: its run, its bound and its terms."""
    if statement.quoted or statement.kind == "experiment":
        raise UserError(f"{statement.id} with values", "a claim about runs", "plot it without values")
    as_stated, world = read(statement)
    reading = reading_at(as_stated, values)
    about_T = reading.uses("T") and any("T" in dict(shape.counts) for shape in world.shapes(reading))
    if not isinstance(world, RunSetting) or not (round_of(reading) or about_T):
        raise UserError(
            f"{statement.id} with values", "a claim for every round t, or about T rounds", "plot it without values"
        )
    return _shown(statement, reading, world, portrait_at(reading, world, values, seed))
