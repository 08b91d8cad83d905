"""Figure 6 and the text around it: do FedSoftMax's weights tend to p_i, and at which rate?

Four problems: clients with one minimiser, with noise and without, and clients whose minimisers are a little or far
apart. Noise is Gaussian; distances are averaged over paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.weighted import fedsoftmax, simulate

from ..evaluate import Array
from ..seeds import seed_for
from . import Experiment, Outcome

ID = "benmansour/rem10-alpha-limit"
N, D, E, STEPS, PATHS = 10, 3, 2, 3000, 16
MU, L, TEMPERATURE = 1.0, 4.0, 10.0  # the text tries temperatures from 5 to 30
CASES = {  # how far minimisers are apart, size of the noise
    "one minimiser, minibatch noise": (0.0, 1.0),
    "one minimiser, exact gradients": (0.0, 0.0),
    "minimisers 0.1 apart, noise": (0.1, 1.0),
    "minimisers 2 apart, noise": (2.0, 1.0),
}
RATE, LEVEL = (-1.25, -0.75), -0.15  # slopes that count as 1/t, and as a limit that is not p


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Distances max_i |alpha_t^i - p_i|, one curve a problem, and their slopes."""

    figure: str
    id: str
    t: Array  # (m,)
    curves: Mapping[str, Array]  # (m,) each
    slopes: Mapping[str, float]
    temperature: float
    paths: int


@cache
def observed(seed: int) -> Weights:
    """Run FedSoftMax with corollary 4's step size on every problem."""
    rng = np.random.default_rng(seed_for(seed, ID))
    p = rng.dirichlet(np.full(N, 3.0))[None]
    curvature = rng.uniform(MU, L, (1, N, D))
    A = curvature[..., None] * np.eye(D)
    centre, start = rng.standard_normal((1, N, D)), 3 * rng.standard_normal((1, D))
    kicks = rng.standard_normal((PATHS, 1, STEPS, N, D))
    eta = 1 / (MU * (np.arange(STEPS) + 4 * L / MU))[None]
    rounds = np.arange(0, STEPS, E)
    curves: dict[str, Array] = {}
    for name, (apart, noise) in CASES.items():
        c = apart * centre
        problem = Quadratics(A, (A * c[:, :, None, :]).sum(axis=-1), p)
        policy = fedsoftmax(p, np.array([TEMPERATURE]))
        with np.errstate(divide="ignore", invalid="ignore"):  # rho(t, w*) is not defined for one minimiser
            run = simulate(problem, start, eta, E, policy, "printed", noise * kicks)
        far: Array = np.abs(run.alpha[:, 0, rounds] - p).max(axis=-1)  # (paths, rounds)
        curves[name] = far.mean(axis=0)
    late = rounds >= STEPS // 10
    slopes = {k: float(np.polyfit(np.log(rounds[late]), np.log(v[late]), 1)[0]) for k, v in curves.items()}
    return Weights("weights", ID, rounds, curves, slopes, TEMPERATURE, PATHS)


def run(seed: int, effort: float) -> Outcome:
    """Reproduced: 1/t where all clients have one minimiser and gradients are noisy, a limit off p where they differ."""
    seen = observed(seed)
    slopes = list(seen.slopes.values())
    iid, apart = RATE[0] <= slopes[0] <= RATE[1], slopes[-1] > LEVEL
    last = {name: float(values[-1]) for name, values in seen.curves.items()}
    rows: tuple[dict[str, Any], ...] = tuple(
        {"problem": name, "slope": round(slope, 3), "last distance": last[name]} for name, slope in seen.slopes.items()
    )
    reason = (
        f"slope of log max|alpha - p| against log t: {slopes[0]:.2f} with one minimiser and noise (1/t is -1), "
        f"{slopes[1]:.2f} with exact gradients, {slopes[2]:.2f} and {slopes[3]:.2f} with minimisers 0.1 and 2 apart: "
        "the weights tend to p only where the clients share their minimiser"
    )
    return Outcome(iid and apart, reason, len(CASES) * PATHS, rows)


EXPERIMENT = Experiment(ID, run, observed)
