"""benmansour/rem9: is FedSoftMax faster than FedAvg, more so far from IID, with a bias that grows with that distance?

Strongly convex quadratics whose minimisers are more and more apart; exact gradients, so that nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.rule_expressions import own
from fedaudit.bounds.papers.benmansour.methods import FEDSOFTMAX, averaging
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_method

from ....search.seeds import seed_for
from ....search.tree_arrays import Array
from ... import Experiment, Outcome, TableRow
from .softmax_weights import FIRST, MU, TEMPERATURE, L

ID = "benmansour/rem9"
GENERALISED = averaging("generalised-fedavg", "Generalised FedAvg", "section 2.3", "printed", lambda by: own)
METHODS: dict[str, Method] = {"FedAvg": GENERALISED, "FedSoftMax": FEDSOFTMAX}
CLIENTS, D, E, ROUNDS = 50, 3, 2, 50  # clients, dimension, local steps and rounds (table 2, but for the dimension)
APART = (0.0, 0.25, 0.5, 1.0, 2.0)  # of the clients' minimisers, in units of a standard deviation
FALL = 10.0  # the factor that the gap falls by
PROPORTIONAL = (0.75, 1.25)  # slopes of log(bias) against log(distance)
READINGS: dict[str, tuple[int, float, float]] = {  # rounds, first step, factor per step
    "10^-4 0.99^t (table 2)": (ROUNDS, 1e-4, 0.99),
    "0.99^t from 1/(4L): losses 625 times as steep": (ROUNDS, FIRST, 0.99),
}


@dataclass(frozen=True, slots=True, eq=False)
class Speeds:
    """Curves by name over the rounds, a panel for each distance from IID."""

    title: str
    caption: str
    names: tuple[str, ...]
    curves: tuple[Mapping[str, Array], ...]
    ylabel: str = "$F(w_t) - F^*$"
    figure: str = "benmansour.faster"


def problems(seed: int, reading: str) -> Iterator[tuple[Quadratics, Setup]]:
    """For every distance from IID: the clients, and a run of theirs with these step sizes."""
    rounds, first, factor = READINGS[reading]
    rng = np.random.default_rng(seed_for(seed, ID))
    p = rng.dirichlet(np.full(CLIENTS, 3.0))[None]
    A = rng.uniform(MU, L, (1, CLIENTS, D))[..., None] * np.eye(D)
    centre, start = rng.standard_normal((1, CLIENTS, D)), 3 * rng.standard_normal((1, D))
    values = {
        "temperature": np.full((1, 1, 1), TEMPERATURE),
        "eta": (first * factor ** np.arange(rounds * E))[None, :, None],
    }

    def scalar(factor: Any) -> Array:
        return values[factor if isinstance(factor, str) else factor[1]]

    for apart in APART:
        c = apart * centre
        problem = Quadratics(A, (A * c[:, :, None, :]).sum(axis=-1), p)
        yield problem, Setup(problem, start, scalar, E, rounds * E, w_star=problem.minimiser())


@cache
def gaps(seed: int, reading: str) -> tuple[dict[str, tuple[Array, float]], ...]:
    """For every distance from IID and each method: the gap at the averages, and |w_T - w*| at the end."""
    runs = list[dict[str, tuple[Array, float]]]()
    for _, sized in problems(seed, reading):
        both = dict[str, tuple[Array, float]]()
        for name, method in METHODS.items():
            measured = run_method(method.data(tree, {"gap", "dist2"}), sized)
            both[name] = measured["gap"][0][::E], float(np.sqrt(measured["dist2"][0][-1]))
        runs.append(both)
    return tuple(runs)


def _reached(gap: Array) -> int | None:
    """The first round in which the gap is a tenth of the first one."""
    below = np.flatnonzero(gap <= gap[0] / FALL)
    return int(below[0]) if below.size else None


def rows_of(seed: int, reading: str) -> tuple[TableRow, ...]:
    """One row for each distance from IID."""
    rows = list[TableRow]()
    for apart, both in zip(APART, gaps(seed, reading), strict=True):
        row: TableRow = {"steps": reading, "apart": apart}
        row |= {f"{name}: rounds": _reached(gap) for name, (gap, _) in both.items()}
        rows.append(row | {"bias": both["FedSoftMax"][1] - both["FedAvg"][1]})
    return tuple(rows)


def shown(rows: tuple[TableRow, ...]) -> tuple[bool, bool, bool]:
    """Faster off IID and not on it; a discrepancy that does not fall; a bias in proportion to the distance."""
    pairs = [(row["FedAvg: rounds"], row["FedSoftMax: rounds"]) for row in rows]
    if any(one is None or other is None for one, other in pairs):
        return False, False, False
    saved = [one - other for one, other in pairs]
    biases = [row["bias"] for row in rows[1:]]
    proportional = min(biases) > 0 and PROPORTIONAL[0] <= _slope(biases) <= PROPORTIONAL[1]
    return min(saved[1:]) > 0, saved == sorted(saved), proportional


def _slope(biases: list[float]) -> float:
    return float(np.polyfit(np.log(APART[1:]), np.log(biases), 1)[0])


def run(seed: int, effort: float) -> Outcome:
    """With table 2's steps on losses as they are, and on steep ones."""
    by_steps = {reading: rows_of(seed, reading) for reading in READINGS}
    parts = ("faster off IID", "more so farther off", "bias in proportion to the distance")
    told = list[str]()
    for reading, rows in by_steps.items():
        counts = ", ".join(f"{row['FedAvg: rounds']} and {row['FedSoftMax: rounds']}" for row in rows)
        answers = ", ".join(
            f"{part}: {'yes' if holds else 'no'}" for part, holds in zip(parts, shown(rows), strict=True)
        )
        told.append(f"{reading}: rounds of FedAvg and FedSoftMax {counts} for minimisers {APART} apart; {answers}")
    printed, *others = READINGS
    under = tuple(reading for reading in others if all(shown(by_steps[reading])))
    rows = tuple(row for rows in by_steps.values() for row in rows)
    return Outcome(all(shown(by_steps[printed])), "; ".join(told), len(rows), rows, under)


def picture(seed: int) -> Speeds:
    """With the longer steps: IID, and the farthest from it."""
    reading = list(READINGS)[-1]
    runs = gaps(seed, reading)
    return Speeds(
        title=f"{ID}: FedSoftMax and FedAvg",
        caption=f"gap at the averages, step size {reading}, temperature {TEMPERATURE:g}",
        names=("IID", f"minimisers {APART[-1]:g} apart"),
        curves=tuple({name: gap for name, (gap, _) in both.items()} for both in (runs[0], runs[-1])),
    )


EXPERIMENT = Experiment(ID, run, picture)
