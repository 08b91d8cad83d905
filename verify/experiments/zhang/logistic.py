"""Section 4.1 of zhang: the problem, the printed step sizes, the methods, and their optimality over the rounds.

optimality = |G(P(x^r))| / |G(P(x^1))| (before (12) and section 4.1); every method is measured with algorithm 1's
eta~ = eta eta_g tau. A run ends when it has reached PRECISION, or at the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np

from fedaudit.problems.composite import Oracle, Round, compact, per_client
from fedaudit.problems.composite_baselines import fast_fedda, fedda, fedda_restarted, fedmid
from fedaudit.problems.logistic import Logistic, Reading, draw, prox_gradient
from fedaudit.problems.proximal import Prox, l1, scaled

from ...evaluate import Array
from ...seeds import seed_for

CLIENTS, DIMENSION, ALPHA, BETA = 30, 20, 50.0, 50.0  # n, d, (alpha, beta)
PRECISION = (
    1e-10  # machine precision: the corrections never forget a rounding error, and thousands of rounds add to 1e-11
)
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
FEDMID = (1.0, 5.0)  # "For FedDA, we use eta = 1 and eta_g = 5" right after FedDA's own 4 and 15: FedMid is meant


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One data set and the first model."""

    problem: Logistic
    x: Array  # (d,)
    setup: Setup

    @property
    def prox(self) -> Prox:
        return scaled(l1, np.float64(self.setup.theta))

    @property
    def weights(self) -> Array:
        return np.full(self.problem.n, 1 / self.problem.n)


def task(seed: int, number: int, how: Reading, setup: Setup = FULL) -> Task:
    """Data set `number` of this seed, the same for every caller."""
    rng = np.random.default_rng(seed_for(seed, "zhang/sec4.1", str(number)))
    problem = draw(rng, CLIENTS, setup.samples, DIMENSION, ALPHA, BETA, how)
    return Task(problem, rng.standard_normal(DIMENSION) if how.start == "normal" else np.zeros(DIMENSION), setup)


def oracle(made: Task, rng: np.random.Generator | None) -> Oracle:
    """Full gradients, or minibatches drawn without replacement."""
    b = made.setup.b
    if b is None or rng is None:
        return lambda r, t, z: made.problem.grad(z)

    def sampled(r: int, t: int, z: Array) -> Array:
        del r, t
        n, m = made.problem.n, made.setup.samples
        rows = rng.integers(0, m, (n, 1)) if b == 1 else np.argpartition(rng.random((n, m)), b, axis=1)[:, :b]
        return made.problem.minibatch(rows, z)

    return sampled


def ours(form: Callable[..., Iterator[Round]], made: Task, tau: int, gradients: Oracle) -> Iterator[Array]:
    """Algorithm 1: the post-proximal global models."""
    s = made.setup
    rounds = form(gradients, made.prox, made.x, np.float64(s.eta), np.float64(s.eta_g), tau, made.weights, 10**9)
    return (r.P for r in rounds)


def other(
    step: Callable[..., Iterator[Array]],
    made: Task,
    tau: int,
    gradients: Oracle,
    steps: tuple[float, float] | None = None,
) -> Iterator[Array]:
    """FedMid or FedDA from algorithm 1's first post-proximal model, with its step sizes or others."""
    eta, eta_g = steps or (made.setup.eta, made.setup.eta_g)
    first = made.prox(made.x, _whole(made.setup, tau))
    return step(gradients, made.prox, first, np.float64(eta), np.float64(eta_g), tau, made.weights)


def fast(made: Task, tau: int, gradients: Oracle) -> Iterator[Array]:
    """Fast-FedDA. The text gives no strong convexity (the loss has next to none): mu = L/10, and L is a client's."""
    L = np.float64((made.problem.ba**2).sum(axis=-1).max() / 4)
    first = made.prox(made.x, _whole(made.setup, tau))
    return fast_fedda(gradients, made.prox, first, L / 10, L, tau, made.weights)


Method = Callable[[Task, int, Oracle], Iterator[Array]]
METHODS: dict[str, Method] = {
    "algorithm 1": partial(ours, per_client),
    "FedDA": partial(other, fedda),
    "Fast-FedDA": fast,
    "FedMid": partial(other, fedmid, steps=FEDMID),
}
COMPACT: Method = partial(ours, compact)
RESTARTED: Method = partial(other, fedda_restarted)


def models(method: Method, made: Task, tau: int, limit: int, rng: np.random.Generator | None = None) -> Iterator[Array]:
    """The server's models in chunks (rounds, d)."""
    run = islice(method(made, tau, oracle(made, rng)), limit)
    while chunk := list(islice(run, CHUNK)):
        yield np.stack(chunk)


def optimality(
    method: Method, made: Task, tau: int, limit: int, stop: float = PRECISION, rng: np.random.Generator | None = None
) -> Array:
    """Relative to the first round, (rounds,); 0 throughout if the start is optimal already."""
    seen: list[Array] = []
    first = 0.0
    for chunk in models(method, made, tau, limit, rng):
        size = prox_gradient(made.problem, made.prox, chunk, _whole(made.setup, tau))
        first = first or float(size[0])
        seen.append(size / first if first else size)
        if seen[-1].min() <= stop:
            break
    return np.concatenate(seen)


def reached(curve: Array, level: float) -> int | None:
    """The first round (0 is the start) at or below this level."""
    below = np.flatnonzero(curve <= level)
    return int(below[0]) if below.size else None


@lru_cache(maxsize=512)
def run(seed: int, number: int, how: Reading, tau: int, limit: int) -> Array:
    """Algorithm 1 with full gradients on data set `number`; kept, for three statements look at the same runs."""
    curve = optimality(METHODS["algorithm 1"], task(seed, number, how), tau, limit)
    curve.setflags(write=False)
    return curve


def _whole(setup: Setup, tau: int) -> Any:
    return np.float64(setup.eta * setup.eta_g * tau)


def size(how: Reading, draws: int) -> tuple[int, int]:
    """How many data sets of a reading are looked at, and by what its limits of rounds are divided."""
    return {DEFAULT: (draws, 1), PRINTED: (AS_PRINTED, 1)}.get(how, (OTHERS, SHORT))


def drawn(effort: float) -> int:
    """Data sets of the default reading for an effort in nominal seconds."""
    return int(min(40, max(24, effort)))
