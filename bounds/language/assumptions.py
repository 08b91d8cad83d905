"""The assumptions that a run understands: one record each, with all that this package says of it.

A record says what the assumption is about, which constants it introduces, what it asks of an instance, what a method
has to do for it to mean something, and which assumptions go with it or against it. The kernel checks every one of them
exactly (verify/kernel/core/assumptions.py); a test compares the two lists. So a new assumption is a line here and a
line there. One with `means`, a relation between measures of the method, needs no entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ASSUMPTIONS", "DATA", "RunAssumption"]

About = Literal["losses", "regulariser", "clients", "noise", "data", "oracle", "weights", "graph", "participation"]
DATA = ("oracle", "batch_grad")  # what reads clients with data points
OPERATIONS: dict[About, tuple[str, ...]] = {  # what it is about -> operations, one of which a rule has to use
    "noise": ("noisy", "again"),
    "data": DATA,
    "oracle": ("oracle",),
    "regulariser": ("prox",),
    "graph": ("neighbours",),
    "participation": ("sampled",),
}


@dataclass(frozen=True, slots=True)
class RunAssumption:
    """An assumption about runs.

    `against`: the assumptions that nobody means beside it, where the constants of both are positive (with a curvature
    that may be 0 a slope may be bounded). `beside`: the assumption that brings losses of which it can be checked.
    `of_points`: whether it is about the losses of data points, so that a method without them does not meet it.
    `of_mean`: whether it asks that f on the whole is convex, however the clients' own losses bend.
    `at_most`: assumptions whose constant is no smaller than this one's on any problem that meets both.
    """

    about: About
    constants: int
    asks: str
    against: tuple[str, ...] = ()
    beside: str = ""
    of_points: bool = False
    of_mean: bool = False
    at_most: tuple[str, ...] = ()

    @property
    def operations(self) -> tuple[tuple[str, ...], ...]:
        """Groups of operations; of each group a rule of the method uses one, or the assumption means nothing to it."""
        groups = [OPERATIONS[self.about]] if self.about in OPERATIONS else []
        return (*groups, DATA) if self.of_points else tuple(groups)

    @property
    def reads_points(self) -> bool:
        """Whether it is about data points."""
        return self.of_points or self.about in ("data", "oracle")


BOUNDED = ("bounded_gradients", "lipschitz")  # slopes that are bounded everywhere; those of a run need `means`
ONCE = ("with_replacement",)
STEEPEST = ("smooth", "descent")  # the largest curvature, which the least one cannot exceed
CURVED = "lipschitz_hessian"
ASSUMPTIONS: dict[str, RunAssumption] = {
    "smooth": RunAssumption("losses", 1, "every f_i has curvature between -L and L"),
    "descent": RunAssumption("losses", 1, "every f_i has curvature at most L; how far below 0 is not said"),
    "two_sided": RunAssumption("losses", 1, "every f_i has curvature at least -L"),
    "convex": RunAssumption("losses", 0, "every f_i is convex"),
    "strongly_convex": RunAssumption(
        "losses", 1, "every f_i has curvature at least mu", against=BOUNDED, at_most=STEEPEST,
    ),
    "mean_strongly_convex": RunAssumption(
        "losses", 1, "f = sum p_i f_i has curvature at least mu", against=BOUNDED, at_most=STEEPEST,
        of_mean=True,
    ),
    "mean_convex": RunAssumption(
        "losses", 0, "f = sum p_i f_i is convex; a client's own loss need not be", of_mean=True,
    ),
    "weakly_convex": RunAssumption("losses", 1, "every f_i has curvature at least -nu"),
    "prox_pl": RunAssumption(
        "losses", 1, "F = f + g meets the proximal Polyak-Lojasiewicz inequality with mu", of_mean=True,
    ),
    "lower_bounded": RunAssumption("losses", 0, "f, or F = f + g, has a minimum"),
    "subgradients": RunAssumption("losses", 0, "a gradient may be any subgradient, where f_i has no gradient"),
    "bounded_below": RunAssumption("losses", 0, "every f_i is bounded below", beside=CURVED),
    "nonnegative_loss": RunAssumption("losses", 0, "the loss of every data point is bounded below", of_points=True),
    "lipschitz": RunAssumption("losses", 1, "the loss of every data point has slopes of at most G", of_points=True),
    "bounded_gradients": RunAssumption("losses", 1, "every gradient has norm at most B, everywhere", beside=CURVED),
    "lipschitz_hessian": RunAssumption("losses", 1, "every Hessian is rho-Lipschitz"),
    "bounded_subgradients": RunAssumption("regulariser", 1, "every subgradient of g has norm at most B"),
    "meta_gap": RunAssumption(
        "losses", 2, "the meta-function with step alpha starts at most Delta above its least value", beside=CURVED,
    ),
    "two_groups": RunAssumption("losses", 2, "the two groups of quadratics of a lower bound, with mu and G"),
    "homogeneous": RunAssumption("clients", 0, "Gamma = f* - sum p_i f_i* is 0"),
    "similar_gradients": RunAssumption(
        "clients", 1, "gradients of the clients differ from their mean by at most gamma_G", beside=CURVED,
    ),
    "similar_hessians": RunAssumption(
        "clients", 1, "Hessians of the clients differ from their mean by at most gamma_H", beside=CURVED,
    ),
    "lgd": RunAssumption(
        "clients", 1, "gradients of the clients differ from their mean in square by at most B^2", of_points=True,
    ),
    "bounded_variance": RunAssumption("noise", 1, "the noise of a step has variance at most sigma^2; asks for noise"),
    "exact_variance": RunAssumption("noise", 1, "the noise of a step has variance sigma^2 exactly"),
    "minibatch_variance": RunAssumption("noise", 2, "the noise of a step has variance at most sigma^2/b"),
    "gradient_variance": RunAssumption("noise", 1, "stochastic gradients have variance at most sigma_G^2"),
    "hessian_variance": RunAssumption("noise", 1, "stochastic Hessians have variance at most sigma_H^2", beside=CURVED),
    "independent_noise": RunAssumption("noise", 0, "clients draw their noise independently"),
    "full_batch": RunAssumption("data", 0, "every client uses all of its data points in every round"),
    "independent_minibatches": RunAssumption("data", 0, "clients draw their minibatches independently"),
    "inexact": RunAssumption(
        "oracle", 1, "local problems are solved up to eps in value; the adversary picks the answer",
    ),
    "exact_oracle": RunAssumption("oracle", 0, "local problems are solved exactly", against=("inexact",)),
    "weights_sum_to_one": RunAssumption("weights", 0, "sum p_i = 1"),
    "nonnegative_weights": RunAssumption("weights", 0, "p_i >= 0"),
    "positive_weights": RunAssumption("weights", 0, "p_i > 0, also where the method chooses weights"),
    "distribution": RunAssumption("weights", 0, "p_i > 0 and sum p_i = 1"),
    "equal_weights": RunAssumption("weights", 0, "p_i = 1/C"),
    "fedavg_weights": RunAssumption("weights", 0, "chosen weights are the problem's own"),
    "similarity_weights": RunAssumption("graph", 0, "weights and graph come from similarities"),
    "broadcast": RunAssumption("graph", 0, "every client hears all others with the weights p"),
    "full_participation": RunAssumption("participation", 0, "all clients take part in every round", against=ONCE),
    "without_replacement": RunAssumption("participation", 0, "m clients are drawn without replacement", against=ONCE),
    "with_replacement": RunAssumption("participation", 0, "m clients are drawn with replacement"),
}  # fmt: skip
