"""Figure 6 and the text around it: do FedSoftMax's weights tend to p_i, and at which rate?

Four problems: clients with one minimiser, with noise and without, and clients whose minimisers are a little or far
apart. Noise is Gaussian; distances are averaged over paths. First with table 2's clients, rounds and step sizes, then
with others: how steep the losses are is open, and a network on MNIST is not what runs here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.benmansour.methods import FEDSOFTMAX
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_method

from ....search.seeds import seed_for
from ....search.tree_arrays import Array
from ... import Experiment, Outcome, TableRow

ID = "benmansour/rem10-alpha-limit"
D, E, PATHS = 3, 2, 16
MU, L, TEMPERATURE = 1.0, 4.0, 10.0  # the text tries temperatures from 5 to 30
CASES = {  # how far minimisers are apart, size of the noise
    "one minimiser, minibatch noise": (0.0, 1.0),
    "one minimiser, exact gradients": (0.0, 0.0),
    "minimisers 0.1 apart, noise": (0.1, 1.0),
    "minimisers 2 apart, noise": (2.0, 1.0),
}
RATE, LEVEL = (-1.25, -0.75), -0.15  # slopes that count as 1/t, and as a limit that is not p
SETTLED_AFTER = (
    "that slopes are taken over the last nine tenths of the run, with 3000 steps of corollary 4's sizes; the first "
    "look left out one hundredth of 2000 steps",
)
FIRST = 1 / (4 * L)  # the first step of corollary 4


@dataclass(frozen=True, slots=True)
class Steps:
    """A reading of the step sizes, with the number of clients and of local steps."""

    name: str
    clients: int
    steps: int
    first: float
    decay: float | None = None  # a factor per step; None: corollary 4's 1/(mu (t + gamma))

    def sizes(self) -> Array:
        t = np.arange(self.steps)
        return self.first * self.decay**t if self.decay else 1 / (MU * (t + 4 * L / MU))


PRINTED = Steps("10^-4 0.99^t (table 2)", 50, 100, 1e-4, 0.99)
SCALED = (  # table 2's schedule: how steep the losses are is open
    Steps("0.99^t from 1/(4L): losses 625 times as steep", 50, 100, FIRST, 0.99),
)
OTHER = Steps("corollary 4's 1/(mu (t + gamma)), 1500 rounds", 10, 3000, FIRST)  # no reading: table 2 has other steps
SETTLED = (*SCALED, OTHER)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Distances max_i |alpha_t^i - p_i|, one curve per problem, and their slopes."""

    figure: str
    id: str
    t: Array  # (m,)
    curves: Mapping[str, Array]  # (m,) each
    slopes: Mapping[str, float]
    temperature: float
    paths: int

    @property
    def shown(self) -> bool:
        """1/t where all clients have one minimiser and gradients are noisy, a limit off p where they differ."""
        slopes = list(self.slopes.values())
        return RATE[0] <= slopes[0] <= RATE[1] and slopes[-1] > LEVEL


def weights_of(problem: Any, start: Array, sizes: Array, local: int = E, **noise: Any) -> Array:
    """FedSoftMax's weights at the averages, (n, rounds, N) or (n, rounds, N, paths), with these step sizes (steps,)."""
    values = {"temperature": np.full((1, 1, 1), TEMPERATURE), "eta": sizes[None, :, None]}

    def scalar(factor: Any) -> Array:
        return values[factor if isinstance(factor, str) else factor[1]]

    sized = Setup(problem, start, scalar, local, len(sizes), **noise)
    return run_method(FEDSOFTMAX.data(tree, {"alpha"}), sized)["alpha"][:, : len(sizes) : local]


def observed(seed: int) -> Weights:
    """What is drawn: the last of the step sizes that were settled on."""
    return with_steps(seed, SETTLED[-1])


@cache
def with_steps(seed: int, how: Steps) -> Weights:
    """Run FedSoftMax on every problem."""
    rng = np.random.default_rng(seed_for(seed, ID))
    N, steps = how.clients, how.steps
    p = rng.dirichlet(np.full(N, 3.0))[None]
    curvature = rng.uniform(MU, L, (1, N, D))
    A = curvature[..., None] * np.eye(D)
    centre, start = rng.standard_normal((1, N, D)), 3 * rng.standard_normal((1, D))
    kicks = rng.standard_normal((PATHS, 1, steps, N, D))[:, :, :, None]
    rounds = np.arange(0, steps, E)

    curves: dict[str, Array] = {}
    for name, (apart, noise) in CASES.items():
        c = apart * centre
        problem = Quadratics(A, (A * c[:, :, None, :]).sum(axis=-1), p)
        alpha = weights_of(problem, start, how.sizes(), v=np.full((1, N, D), noise), signs=kicks)[0]
        far: Array = np.abs(alpha - p[0][:, None]).max(axis=1)
        curves[name] = far.mean(axis=1)
    late = rounds >= steps // 10
    slopes = {k: float(np.polyfit(np.log(rounds[late]), np.log(v[late]), 1)[0]) for k, v in curves.items()}
    return Weights("benmansour.weights", ID, rounds, curves, slopes, TEMPERATURE, PATHS)


def run(seed: int, effort: float) -> Outcome:
    """What is seen with the paper's own step sizes, and then with others."""
    by_steps = {how.name: with_steps(seed, how) for how in (PRINTED, *SETTLED)}
    rows: tuple[TableRow, ...] = tuple(
        {
            "steps": name,
            "problem": problem,
            "slope": round(slope, 3),
            "last distance": float(weights.curves[problem][-1]),
        }
        for name, weights in by_steps.items()
        for problem, slope in weights.slopes.items()
    )
    told = "; ".join(
        f"{name}: {_listed(weights)}, {'shown' if weights.shown else 'not shown'}" for name, weights in by_steps.items()
    )
    reason = (
        "slope of log max|alpha - p| against log t (1/t is -1, a limit off p is 0) with one minimiser and noise, one "
        f"minimiser and exact gradients, minimisers 0.1 and 2 apart; as printed, {told}"
    )
    under = tuple(how.name for how in SCALED if by_steps[how.name].shown)
    return Outcome(by_steps[PRINTED.name].shown, reason, len(by_steps) * len(CASES) * PATHS, rows, under)


def _listed(weights: Weights) -> str:
    return ", ".join(f"{slope:.2f}" for slope in weights.slopes.values())


EXPERIMENT = Experiment(ID, run, observed, SETTLED_AFTER)
