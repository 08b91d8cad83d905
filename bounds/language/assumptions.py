"""The assumptions that a run understands, by name: how many constants each one has, and what it asks of an instance.

The kernel checks every one of them exactly (verify/kernel/core/assumptions.py); a test compares the two lists. An
assumption with `means`, a relation between measures of the method, needs no entry here.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ASSUMPTIONS", "Known"]


@dataclass(frozen=True, slots=True)
class Known:
    """What an assumption is about, how many constants it introduces, what it asks, and which others say otherwise.

    Those with constants do so where these are positive: with a curvature that may be 0 a slope may be bounded.
    """

    about: str
    constants: int
    asks: str
    against: tuple[str, ...] = ()  # nobody means both


BOUNDED = ("bounded_gradients", "lipschitz")  # slopes that are bounded everywhere; those of a run need `means`
ONCE = ("with_replacement",)
ASSUMPTIONS: dict[str, Known] = {
    "smooth": Known("losses", 1, "every f_i has curvature between -L and L"),
    "descent": Known("losses", 1, "every f_i has curvature at most L; how far below 0 is not said"),
    "two_sided": Known("losses", 1, "every f_i has curvature at least -L"),
    "convex": Known("losses", 0, "every f_i is convex"),
    "strongly_convex": Known("losses", 1, "every f_i has curvature at least mu", against=BOUNDED),
    "mean_strongly_convex": Known("losses", 1, "f = sum p_i f_i has curvature at least mu", against=BOUNDED),
    "weakly_convex": Known("losses", 1, "every f_i has curvature at least -nu"),
    "prox_pl": Known("losses", 1, "F = f + g meets the proximal Polyak-Lojasiewicz inequality with mu"),
    "lower_bounded": Known("losses", 0, "f, or F = f + g, has a minimum"),
    "subgradients": Known("losses", 0, "a gradient may be any subgradient, where f_i has no gradient"),
    "bounded_below": Known("losses", 0, "every f_i is bounded below"),
    "nonnegative_loss": Known("losses", 0, "the loss of every data point is bounded below"),
    "lipschitz": Known("losses", 1, "the loss of every data point has slopes of at most G"),
    "bounded_gradients": Known("losses", 1, "every gradient has norm at most B, everywhere"),
    "lipschitz_hessian": Known("losses", 1, "every Hessian is rho-Lipschitz"),
    "bounded_subgradients": Known("regulariser", 1, "every subgradient of g has norm at most B"),
    "meta_gap": Known("losses", 2, "the meta-function with step alpha starts at most Delta above its least value"),
    "two_groups": Known("losses", 2, "the two groups of quadratics of a lower bound, with mu and G"),
    "homogeneous": Known("clients", 0, "Gamma = f* - sum p_i f_i* is 0"),
    "similar_gradients": Known("clients", 1, "gradients of the clients differ from their mean by at most gamma_G"),
    "similar_hessians": Known("clients", 1, "Hessians of the clients differ from their mean by at most gamma_H"),
    "lgd": Known("clients", 1, "gradients of the clients differ from their mean in square by at most B^2"),
    "bounded_variance": Known("noise", 1, "the noise of a step has variance at most sigma^2; asks for noise"),
    "exact_variance": Known("noise", 1, "the noise of a step has variance sigma^2 exactly"),
    "minibatch_variance": Known("noise", 2, "the noise of a step has variance at most sigma^2/b"),
    "gradient_variance": Known("noise", 1, "stochastic gradients have variance at most sigma_G^2"),
    "hessian_variance": Known("noise", 1, "stochastic Hessians have variance at most sigma_H^2"),
    "independent_noise": Known("noise", 0, "clients draw their noise independently"),
    "full_batch": Known("data", 0, "every client uses all of its data points in every round"),
    "independent_minibatches": Known("data", 0, "clients draw their minibatches independently"),
    "inexact": Known("oracle", 1, "local problems are solved up to eps in value; the adversary picks the answer"),
    "exact_oracle": Known("oracle", 0, "local problems are solved exactly", against=("inexact",)),
    "weights_sum_to_one": Known("weights", 0, "sum p_i = 1"),
    "nonnegative_weights": Known("weights", 0, "p_i >= 0"),
    "positive_weights": Known("weights", 0, "p_i > 0, also where the method chooses weights"),
    "distribution": Known("weights", 0, "p_i > 0 and sum p_i = 1"),
    "equal_weights": Known("weights", 0, "p_i = 1/C"),
    "fedavg_weights": Known("weights", 0, "chosen weights are the problem's own"),
    "similarity_weights": Known("graph", 0, "weights and graph come from similarities"),
    "broadcast": Known("graph", 0, "every client hears all others with the weights p"),
    "full_participation": Known("participation", 0, "all clients take part in every round", against=ONCE),
    "without_replacement": Known("participation", 0, "m clients are drawn without replacement", against=ONCE),
    "with_replacement": Known("participation", 0, "m clients are drawn with replacement"),
}  # fmt: skip
