"""A theorem on ten clients with logistic regression: data drawn at random, a ridge, no noise.

Only for claims whose assumptions such losses meet whatever the data are: smooth, with a ridge strongly convex, all
clients in every round. What bounds the run, as G does, is measured on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedaudit.errors import UserError
from fedaudit.problems.losses.ridge_logistic import RidgeLogistic, two_classes

from ..search.claim_index import round_of, sides_of
from ..search.seeds import seed_for
from ..search.tree_arrays import Array, Table
from ..settings.base import Reading, Shape, resolve
from ..settings.runs import requirements as asked
from ..settings.runs.batch_runs import on_problem
from ..settings.runs.proposed_sizes import meets_counts

__all__ = ["LogisticRun", "logistic_clients"]

CLIENTS, DIMENSION, SAMPLES = 10, 10, 50
RIDGE, OWN, FAR = 0.1, 0.3, 3.0  # of the smoothness; how much of a client's classes is its own; of the start
ROUNDS, LENGTHS = 512, (1, 2, 4, 8, 16, 32, 64, 128, 256)
MET = {
    *("smooth", "strongly_convex", "convex", "lower_bounded", "bounded_variance", "bounded_gradients"),
    *("full_participation", "weights_sum_to_one", "distribution", "equal_weights", "nonnegative_weights"),
    "independent_noise",
}
OUT_OF_REACH = ("neighbours", "sampled", "prox", "oracle", "hess", "batch_grad", "full_prox")


@dataclass(frozen=True, slots=True, eq=False)
class LogisticRun:
    """Both sides along the rounds, and the problem's constants."""

    x: Array
    lhs: Array
    rhs: Array
    L: float
    mu: float

    def __str__(self) -> str:
        data = f"{SAMPLES} samples each, d = {DIMENSION}"
        return f"logistic losses with a ridge, {data}, L = {self.L:.3g}, mu = {self.mu:.2g}, no noise"


def logistic_clients(
    reading: Reading, shape: Shape, constants: Mapping[str, float], counts_steps: bool, seed: int
) -> LogisticRun | None:
    """Runs the claim with the local steps and the parameters of a portrait; None where it is about other losses."""
    claim = reading.claim
    if {a[0] for a in (*claim["let"], *claim["implicit"])} - MET or counts_steps or reading.lowered.knobs:
        return None
    if any(asked.uses(reading, what) for what in OUT_OF_REACH) or not meets_counts(reading, {"C": CLIENTS}):
        return None
    problem, start = _problem(seed, reading.lowered.id)
    L, mu = float(problem.smoothness()[0]), problem.lam
    sizes = {"C": CLIENTS, "d": DIMENSION, "E": shape["E"]}
    lengths = (ROUNDS,) if round_of(reading) else LENGTHS
    columns: list[tuple[Array, Array]] = []
    for T in lengths:
        at = shape.but(**sizes, T=T)
        if not meets_counts(reading, dict(at.counts)):
            return None
        try:
            table = on_problem(reading, at, problem, start, _known(reading, at, L, mu, constants))
        except (KeyError, UserError):  # a measure that these losses do not have
            return None
        lhs, rhs = sides_of(reading, table)
        columns.append((lhs[0], rhs[0]))
    lhs, rhs = (np.concatenate([column[k] for column in columns]) for k in (0, 1))
    first = 0 if round_of(reading) == "t" else 1
    x = np.arange(first, first + len(lhs)) if round_of(reading) else np.array(lengths)
    usable = np.isfinite(lhs) & np.isfinite(rhs) & (lhs > 1e-13 * np.nanmax(np.abs(lhs)))
    return LogisticRun(x[usable], lhs[usable], rhs[usable], L, mu) if usable.sum() > 3 else None


def _problem(seed: int, label: str) -> tuple[RidgeLogistic, Array]:
    rng = np.random.default_rng(seed_for(seed, label, "logistic"))
    common, own = rng.standard_normal((1, DIMENSION)), rng.standard_normal((CLIENTS, DIMENSION))
    mixed = (1 - OWN) * common + OWN * own
    samples = two_classes(rng, mixed / np.linalg.norm(mixed, axis=-1, keepdims=True), SAMPLES)
    p = np.full((1, CLIENTS), 1 / CLIENTS)
    ridge = RIDGE * float(RidgeLogistic(samples, p, 0.0).smoothness()[0])
    return RidgeLogistic(samples, p, ridge), FAR * rng.standard_normal((1, DIMENSION))


def _known(reading: Reading, shape: Shape, L: float, mu: float, constants: Mapping[str, float]) -> Table:
    """Returns constants of the assumptions, parameters as the portrait has them (in units of L), chosen step sizes."""
    values = {"smooth": L, "strongly_convex": mu}
    named = asked.constants(reading)
    scale = next((constants[name] for name, a in named.items() if a == "smooth" and name in constants), L)
    scalars = {name: np.array([values.get(a, 0.0)]) for name, a in named.items()}
    scalars |= {name: np.ones(1) for name in asked.ones(reading)}
    for name in asked.free_symbols(reading):
        scalars[name] = np.array([constants[name] * (L / scale) ** reading.lowered.scales.get(name, (0.0, 0.0))[0]])
    return resolve(reading.lowered, Table(1, scalars, {}, {**dict(shape.counts), "D": DIMENSION}))
