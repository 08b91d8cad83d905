"""benmansour/sec4-tight: is the upper bound of the main theorem quite tight on runs like those of section 3?

The quadratics of remark 9 under FedSoftMax, with exact gradients and the least constants that the run allows. (9)
bounds one step. With steps that tend to 0 every such bound is about what it bounds, so that it is carried along the
run too: from |w_0 - w*|^2, step by step, to |w_T - w*|^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sympy import Symbol

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.benmansour.methods import FEDSOFTMAX
from fedaudit.bounds.papers.benmansour.statements import recursion
from fedaudit.bounds.papers.benmansour.symbols import dist2, eta, rho_bar, t
from fedaudit.problems.runs.interpreter import run as run_method

from ....search.tree_arrays import Array
from ... import Experiment, Outcome, TableRow
from ...bound_arrays import values
from .faster import APART, READINGS, E, Speeds, problems

ID = "benmansour/sec4-tight"
QUITE = 10.0  # times what is bounded
SETTLED_AFTER = (
    f"that quite tight means at most {QUITE:g} times what is bounded, and that this is asked after the whole run: the "
    "text has no number and no quantity",
)
MEASURED = {"dist2", "grad2", "rho_bar", "rho_tilde"}


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """|w_t - w*|^2 along a run, (steps + 1,), and (9) carried along it; the largest ratio of a single step."""

    distances: Array
    bounds: Array
    one_step: float

    @property
    def ratio(self) -> float:
        return float(self.bounds[-1] / self.distances[-1])


@cache
def runs(seed: int, reading: str) -> tuple[Bounded, ...]:
    """One run for every distance from IID."""
    before, step = Symbol("before"), Symbol("step")
    bound: Any = recursion(rho_bar).subs({dist2(t): before, eta(t): step})
    bounded = list[Bounded]()
    for problem, sized in problems(seed, reading):
        measured = run_method(FEDSOFTMAX.data(tree, MEASURED), sized)
        steps = sized.scalar("eta").ravel()
        constants = {
            "mu": problem.strong_convexity(),
            "L": problem.smoothness(),
            "Gamma": problem.heterogeneity(),
            "G": np.sqrt(measured["grad2"].max()),
            "rho_bar": measured["rho_bar"],
            "rho_tilde": np.nan_to_num(measured["rho_tilde"]),  # not defined where Gamma, its factor, is 0
        }
        added = values(bound, before=0.0, step=steps, sigma=0.0, E=float(E), **constants)
        kept = values(bound, before=1.0, step=steps, sigma=0.0, E=float(E), **constants) - added
        distances = measured["dist2"][0]
        carried = [float(distances[0])]
        for factor, error in zip(kept, added, strict=True):
            carried.append(factor * carried[-1] + error)
        one_step = float(((kept * distances[:-1] + added) / distances[1:]).max())
        bounded.append(Bounded(distances, np.array(carried), one_step))
    return tuple(bounded)


def rows_of(seed: int, reading: str) -> tuple[TableRow, ...]:
    """One row for each distance from IID."""
    return tuple(
        {
            "steps": reading,
            "apart": apart,
            "bound / distance": one.ratio,
            "largest of one step": one.one_step,
            "distance that is left": float(one.distances[-1] / one.distances[0]),
        }
        for apart, one in zip(APART, runs(seed, reading), strict=True)
    )


def run(seed: int, effort: float) -> Outcome:
    """With table 2's steps on losses as they are, and on steep ones."""
    by_steps = {reading: rows_of(seed, reading) for reading in READINGS}
    told = (
        f"{reading}: {_listed(rows, 'bound / distance')} after the run, {_listed(rows, 'largest of one step')} in one "
        f"step, with {_listed(rows, 'distance that is left')} of the first distance left"
        for reading, rows in by_steps.items()
    )
    shown = {reading: all(row["bound / distance"] <= QUITE for row in rows) for reading, rows in by_steps.items()}
    printed, *others = READINGS
    reason = f"(9) over |w_t - w*|^2 for minimisers {APART} apart; {'; '.join(told)}"
    rows = tuple(row for rows in by_steps.values() for row in rows)
    return Outcome(shown[printed], reason, len(rows), rows, tuple(name for name in others if shown[name]))


def _listed(rows: tuple[TableRow, ...], column: str) -> str:
    return ", ".join(f"{row[column]:.3g}" for row in rows)


def picture(seed: int) -> Speeds:
    """With table 2's steps: IID, and the farthest from it."""
    reading = next(iter(READINGS))
    ends = (runs(seed, reading)[0], runs(seed, reading)[-1])
    return Speeds(
        title=f"{ID}: theorem 3 along the run",
        caption=f"(9) carried from step to step, and what it bounds, at the averages; step size {reading}",
        names=("IID", f"minimisers {APART[-1]:g} apart"),
        curves=tuple({"bound": one.bounds[::E], "run": one.distances[::E]} for one in ends),
        ylabel=r"$\|w_t - w^\star\|^2$",
    )


EXPERIMENT = Experiment(ID, run, picture, SETTLED_AFTER)
