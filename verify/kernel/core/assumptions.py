"""The assumptions about a run, by name: without a constant, with one, and with two; each is decided exactly.

What is said here of losses holds everywhere, not only where the run goes. Assumptions that few claims make, and those
of data points and curves, are in runs/assumptions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from flint import fmpq

from .budget import summed
from .loss import ZERO, ClientLoss, Vector
from .method import Method
from .problem import Problem
from .randomness import SAMPLINGS, Draws, Noise
from .world import Bounds, Facts, Pairs

Ends = tuple[int | None, int | None]
CURVATURE: dict[str, Ends] = {  # assumption -> the least and the largest curvature of every f_i, per constant
    "smooth": (-1, 1), "descent": (None, 1), "two_sided": (-1, None), "weakly_convex": (-1, None),
    "strongly_convex": (1, None),
}  # fmt: skip
OF_MEAN: dict[str, Ends] = {"mean_strongly_convex": (1, None), "mean_smooth": (-1, 1)}  # the same of f on the whole


def assumptions(
    problem: Problem, method: Method, noise: Noise, draws: Draws, sampling: str, Gamma: fmpq | None
) -> tuple[Facts, Bounds, Pairs]:
    """`sampling`: how clients are drawn, if they are."""
    losses = problem.losses
    facts: dict[str, bool] = {
        **of_weights(problem.p, problem.rows, method.weighs("chosen") and problem.rows is None),
        "homogeneous": Gamma is not None and Gamma == 0,
        "full_participation": all(set(draw.counts) == {1} for draw, _ in draws),
        **{kind: kind == sampling for kind in SAMPLINGS},
        "independent_noise": not noise.shared or len(problem.p) == 1 or not noise.kicks(),
        "convex": all(loss.above(ZERO) for loss in losses),
        "subgradients": True,  # a gradient is one
        "lower_bounded": problem.f_star is not None,
    }
    bounds: dict[str, Callable[[fmpq], bool]] = {
        **{name: partial(bent, losses, ends) for name, ends in CURVATURE.items()},
        "bounded_variance": noise.bounded,
    }
    return facts, bounds, {"minibatch_variance": noise.bounded}


def bent(losses: Sequence[ClientLoss], ends: Ends, c: fmpq) -> bool:
    low, high = ends
    return all((low is None or f.above(low * c)) and (high is None or f.below(high * c)) for f in losses)


def of_weights(p: Vector, chosen: tuple[Vector, ...] | None, looks: bool) -> dict[str, bool]:
    """`chosen`: the weights of every round; `looks`: weights are those of the largest values, and may be 0."""
    rows, plain = (p, *(chosen or ())), len(p) == 1 or not looks
    return {
        "distribution": summed(p) == 1 and min(p) > 0,
        "positive_weights": min(map(min, rows)) > 0 and plain,
        "fedavg_weights": all(row == p for row in rows) and plain,
        "weights_sum_to_one": all(summed(row) == 1 for row in rows),
        "nonnegative_weights": min(map(min, rows)) >= 0,
        "equal_weights": len(set(p)) == 1 and summed(p) == 1,
    }
