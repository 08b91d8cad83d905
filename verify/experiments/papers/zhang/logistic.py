"""Section 4.1 of zhang: the problem, the printed step sizes, the methods, and their optimality over the rounds.

optimality = |G(P(x^r))| / |G(P(x^1))| (before (12) and section 4.1); every method is measured with algorithm 1's
eta~ = eta eta_g tau. A run ends when it has reached PRECISION, or at the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.papers.zhang.baselines import FAST_FEDDA, FEDDA, FEDMID
from fedaudit.bounds.papers.zhang.methods import COMPACT, PROPOSED
from fedaudit.problems.losses.logistic import Logistic, Reading, draw
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.runs.interpreter import Setup as Rounds
from fedaudit.problems.runs.interpreter import resumed
from fedaudit.problems.runs.interpreter import run as run_method

from ....search.seeds import seed_for
from ....search.tree_arrays import Array, Evaluator, Table

CLIENTS, DIMENSION, ALPHA, BETA = 30, 20, 50.0, 50.0  # n, d, (alpha, beta)
PRECISION = (
    1e-10  # machine precision: the corrections never forget a rounding error, and thousands of rounds add to 1e-11
)
SETS = 12  # data sets on which methods race
LIMIT = {1: 2000, 10: 200}  # rounds, by tau: as many gradients
CHUNK = 40  # rounds between two looks at the optimality
DEFAULT = Reading()  # settled after looking
PRINTED = replace(DEFAULT, scale="none", factor=1.0)  # the text names no scale: features as generated
READINGS: tuple[tuple[str, Reading], ...] = (
    ("features as generated", PRINTED),
    ("largest norm 1/2", DEFAULT),
    ("every feature vector of norm 1", replace(DEFAULT, scale="unit", factor=1.0)),
    ("columns of norm 1 at every client", replace(DEFAULT, scale="client columns", factor=1.0)),
    ("columns of norm 1 over all clients", replace(DEFAULT, scale="columns", factor=1.0)),
    ("largest norm 1/4", replace(DEFAULT, factor=0.25)),
    ("largest norm 1", replace(DEFAULT, factor=1.0)),
    ("largest norm 2", replace(DEFAULT, factor=2.0)),
    ("largest norm 1/2, alpha and beta as standard deviations", replace(DEFAULT, spread="deviation")),
    ("largest norm 1/2, labels by the sign of one model", replace(DEFAULT, labels="sign")),
    ("largest norm 1/2, labels sampled from one model", replace(DEFAULT, labels="sampled")),
    ("largest norm 1/2, start N(0, I)", replace(DEFAULT, start="normal")),
)
SETTLED_AFTER = (
    f"the scale 1/2, after 1 was tried, and limits of {LIMIT[1]} and {LIMIT[10]} rounds, after 4000 and 400",
)
AS_PRINTED = 6  # data sets of the printed reading
OTHERS, SHORT = 3, 2  # data sets of the other readings, and by what their limits are divided


@dataclass(frozen=True, slots=True)
class Setup:
    """A printed set of numbers."""

    samples: int  # m
    theta: float
    eta: float
    eta_g: float
    b: int | None = None  # None: full gradients


FULL = Setup(100, 0.003, 4.0, 15.0)
STOCHASTIC = Setup(2000, 0.0005, 2.0, 8.0, b=1)  # the second set, figure 3; b is 1 or 20
TAU_STOCHASTIC = 20
FEDMID_STEPS = (1.0, 5.0)  # "For FedDA, we use eta = 1 and eta_g = 5" right after FedDA's own 4 and 15: FedMid is meant
METHODS = {"algorithm 1": PROPOSED, "FedDA": FEDDA, "Fast-FedDA": FAST_FEDDA, "FedMid": FEDMID}


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Data sets, which are run at once, and the first models."""

    problem: Logistic
    x: Array  # (data sets, d)
    setup: Setup

    def only(self, rows: Any) -> Task:
        """Some of the data sets."""
        return replace(self, problem=Logistic(self.problem.ba[rows]), x=self.x[rows])


@lru_cache(maxsize=16)
def task(seed: int, draws: int, how: Reading, setup: Setup = FULL) -> Task:
    """The first data sets of this seed, the same for every caller."""
    problems, starts = list[Array](), list[Array]()
    for number in range(draws):
        rng = np.random.default_rng(seed_for(seed, "zhang/sec4.1", str(number)))
        problems.append(draw(rng, CLIENTS, setup.samples, DIMENSION, ALPHA, BETA, how).ba)
        starts.append(rng.standard_normal(DIMENSION) if how.start == "normal" else np.zeros(DIMENSION))
    return Task(Logistic(np.concatenate(problems)), np.stack(starts), setup)


def together(tasks: Sequence[Task]) -> Task:
    """All of their data sets."""
    problem = Logistic(np.concatenate([one.problem.ba for one in tasks]))
    return Task(problem, np.concatenate([one.x for one in tasks]), tasks[0].setup)


def rounds_of(method: Method, sets: Task, tau: int, first: int, rounds: int) -> Rounds:
    """Rounds `first` + 1, ... with the printed step sizes; all start from algorithm 1's first post-proximal model.

    Fast-FedDA: the text gives no strong convexity (the loss has next to none): mu = L/10, and L is a client's.
    """
    printed = (sets.setup.eta, sets.setup.eta_g)
    eta, eta_g = FEDMID_STEPS if method is FEDMID else printed
    whole, L = printed[0] * printed[1] * tau, (sets.problem.ba**2).sum(axis=-1).max(axis=(1, 2)) / 4
    values = {"eta": eta, "eta_g": eta_g, "eta_t": whole, "a": 60.0}
    constants = Table(len(L), {"L": L, **{name: np.array([x]) for name, x in values.items()}}, {}, {"E": tau})
    scalar = Evaluator(constants, {"t": (str(first + 1), str(first + rounds)), "k": ("0", str(tau - 1))})
    theta = np.full(len(L), sets.setup.theta)
    g = Regulariser(theta, theta, 0 * theta, affine=False, unit=theta)
    start = sets.x if method in (PROPOSED, COMPACT) else g.prox(sets.x[:, None], whole)[:, 0]
    return Rounds(sets.problem, start, scalar, tau, rounds, regulariser=g, batches=_minibatches(sets, first))


def _minibatches(sets: Task, first: int) -> Callable[[int, int], Logistic] | None:
    """Samples drawn without replacement, the same for all methods; None: full gradients."""
    b, (_, n, m, _) = sets.setup.b, sets.problem.ba.shape
    if b is None:
        return None

    clients = np.arange(int(n))[:, None]

    def drawn(t: int, k: int) -> Logistic:
        return Logistic(sets.problem.ba[:, clients, _rows(first + t, k, n, m, b)])

    return drawn


@lru_cache(maxsize=8192)
def _rows(r: int, k: int, n: int, m: int, b: int) -> Array:
    """Which b of m samples each client draws in step k of round r, (n, b)."""
    rng = np.random.default_rng([r, k])
    return rng.integers(0, m, (n, 1)) if b == 1 else np.argpartition(rng.random((n, m)), b, axis=-1)[:, :b]


def models(method: Method, sets: Task, tau: int, rounds: int) -> Array:
    """The server's models (data sets, rounds, d)."""
    return run_method(method.data(tree, {"model"}), rounds_of(method, sets, tau, 0, rounds - 1))["model"]


def optimality(
    method: Method, sets: Task, tau: int, limit: int, stop: float = PRECISION, of: str = "vstep2"
) -> list[Array]:
    """Relative to the first round, (rounds,) for every data set; 0 if the start is optimal already."""
    data, left, state = method.data(tree, {of}), np.arange(len(sets.x)), None
    parts_by_set: list[list[Array]] = [[] for _ in left]
    for first in range(0, limit, CHUNK):
        measured, state = resumed(data, rounds_of(method, sets, tau, first, min(CHUNK, limit - first)), state)
        sizes = np.sqrt(measured[of][:, :-1])
        for number, row in zip(left, sizes, strict=True):
            parts_by_set[number].append(row)
        more = ~(sizes.min(axis=1) <= stop * np.array([parts_by_set[number][0][0] for number in left]))
        if not more.any():
            break
        left, sets, state = left[more], sets.only(more), {name: x[:, more] for name, x in state.items()}
    curves = [np.concatenate(parts) for parts in parts_by_set]
    return [curve / curve[0] if curve[0] else curve for curve in curves]


def reached(curve: Array, level: float) -> int | None:
    """The first round (0 is the start) at or below this level."""
    below = np.flatnonzero(curve <= level)
    return int(below[0]) if below.size else None


@dataclass(frozen=True, slots=True)
class Look:
    """A reading, how many data sets of it are looked at, and by what its limits of rounds are divided."""

    name: str
    how: Reading
    draws: int
    short: int = 1

    def task(self, seed: int) -> Task:
        return task(seed, self.draws, self.how)

    def limit(self, tau: int) -> int:
        return LIMIT[tau] // self.short


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Algorithm 1 with full gradients under one reading."""

    look: Look
    curves: Mapping[int, Sequence[Array]]  # tau -> the optimality (rounds,) of every data set

    @property
    def moving(self) -> list[int]:
        """Data sets whose start is not optimal already."""
        return [k for k, curve in enumerate(self.curves[1]) if curve[0] > 0]


def observed(seed: int, looks: Sequence[Look]) -> tuple[Observation, ...]:
    """What is seen under several readings; kept, for three statements and their pictures look at the same runs."""
    groups: dict[tuple[bool, int], list[Look]] = {}
    for look in looks:
        groups.setdefault((look.how == DEFAULT, look.short), []).append(look)  # pictures show the settled one alone
    by_look = {one.look: one for some in groups.values() for one in _observed(seed, tuple(some))}
    return tuple(by_look[look] for look in looks)


@lru_cache(maxsize=8)
def _observed(seed: int, looks: tuple[Look, ...]) -> tuple[Observation, ...]:
    """Data sets with the same limits, which are run at once."""
    sets = together([look.task(seed) for look in looks])
    every = {tau: iter(optimality(PROPOSED, sets, tau, looks[0].limit(tau))) for tau in LIMIT}
    return tuple(Observation(look, {tau: list(islice(every[tau], look.draws)) for tau in LIMIT}) for look in looks)


def settled(seed: int) -> Observation:
    """The settled reading on as many data sets as every effort looks at."""
    return observed(seed, looks(0.0)[1:2])[0]


def looks(effort: float) -> tuple[Look, ...]:
    """What is printed, the settled reading on more data sets for an effort in nominal seconds, the others on a few."""
    sizes = {PRINTED: (AS_PRINTED, 1), DEFAULT: (int(min(40, max(24, effort))), 1)}
    return tuple(Look(name, how, *sizes.get(how, (OTHERS, SHORT))) for name, how in READINGS)


def races(seed: int, how: Reading, tau: int) -> list[dict[str, Array]]:
    """All methods on those data sets on which algorithm 1 reaches machine precision with this tau."""
    look = Look("", how, SETS)
    ours = observed(seed, (look,))[0].curves[tau]
    there = [k for k, curve in enumerate(ours) if curve[0] > 0 and reached(curve, PRECISION) is not None]
    if not there:
        return []
    sets = look.task(seed).only(there)
    every = {name: optimality(method, sets, tau, LIMIT[tau]) for name, method in METHODS.items()}
    return [{name: curves[k] for name, curves in every.items()} for k in range(len(there))]
