"""The assumptions that a run understands: one record each, with all that this package says of it.

A record says what the assumption is about, which constants it introduces, what it asks of an instance, what a method
has to do for it to mean something, what it gives to a proof, and which assumptions go with it or against it. Generic
code reads these fields and knows no assumption by its name. The kernel checks every one of them exactly
(verify/kernel/core/assumptions.py, verify/kernel/runs/assumptions.py); a test compares the two lists. So a new
assumption is a record here and a line there. One with `means`, a relation between measures of the method, needs no
entry here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .statement import Assumption

__all__ = ["ASSUMPTIONS", "COMMON", "DATA", "USUAL", "LossClass", "RunAssumption", "loss_class", "record_of"]

About = Literal["losses", "regulariser", "clients", "noise", "data", "oracle", "weights", "graph", "participation"]
Curvature = tuple[int | None, int | None]
Atom = Literal["smooth", "convex", "variance", "proximal_pl", "subgradient", "minimum"]  # kinds that a search offers
Noise = Literal["", "steps", "minibatches", "gradients", "Hessians"]
SUM, SIGN, UNBIASED, INDEPENDENT, FLAT = "sum of weights", "sign of weights", "unbiased", "independent", "flat"
EVEN, STILL = "equal weights", "still"  # sum_i p_i^2 = 1/n; a proximal gradient step from w* stays there
DRAWN = "drawn"  # a subset of the clients, uniform and independent of all else
GROUPS, SENT = "groups", "sent"  # two groups of parabolas; a client's vector is the server's
EXACT = "exact"  # local problems are solved exactly
NEAR = "neighbours"  # p_ij = p_ji >= 0: rows of q_ij sum to one, and a mean over neighbours keeps the mean over all
STEEPER = "any subgradient"  # the slope at a minimiser need not be 0
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

    `letter`: what papers mostly call its constant. `against`: the assumptions that nobody means beside it, where the
    constants of both are positive (with a curvature that may be 0 a slope may be bounded). `beside`: the assumption
    that brings losses of which it can be checked. `of_points`: whether it is about the losses of data points, so that
    a method without them does not meet it. `of_mean`: whether it is about f on the whole, however the clients' own
    losses bend. `at_most`: assumptions whose constant is no smaller than this one's on any problem that meets both.

    `curvature`: the least and the largest curvature that it allows, as multiples of its constant, or 0; None where it
    sets no bound. It is the interpolation condition that worst cases take. `atoms`: the inequalities of a proof that it
    gives. `gives`: the rules that proofs may then read vectors by. `noise`: the variance of what it bounds, if it does;
    `exact`: it is no bound but the value. `measured`: its first constant is what the run turns out to have.
    `no_minimum`: the losses that are known to meet it have no minimum.
    """

    about: About
    constants: int
    asks: str
    letter: str = ""
    against: tuple[str, ...] = ()
    beside: str = ""
    of_points: bool = False
    of_mean: bool = False
    at_most: tuple[str, ...] = ()
    curvature: Curvature | None = None
    atoms: tuple[Atom, ...] = ()
    gives: tuple[str, ...] = ()
    noise: Noise = ""
    exact: bool = False
    measured: bool = False
    no_minimum: bool = False

    @property
    def operations(self) -> tuple[tuple[str, ...], ...]:
        """Groups of operations; of each group a rule of the method uses one, or the assumption means nothing to it."""
        groups = [OPERATIONS[self.about]] if self.about in OPERATIONS else []
        return (*groups, DATA) if self.of_points else tuple(groups)

    @property
    def drawn(self) -> bool:
        """Whether losses and noise are drawn with the constant."""
        return not self.measured and (self.constants == 1 or self.noise != "")

    @property
    def reads_points(self) -> bool:
        """Whether it is about data points."""
        return self.of_points or self.about in ("data", "oracle")


BOUNDED = ("bounded_gradients", "lipschitz")  # slopes that are bounded everywhere; those of a run need `means`
ONCE = ("with_replacement",)
STEEPEST = ("smooth", "descent")  # the largest curvature, which the least one cannot exceed
CURVED = "lipschitz_hessian"
ASSUMPTIONS: dict[str, RunAssumption] = {
    "smooth": RunAssumption(
        "losses", 1, "every f_i has curvature between -L and L", letter="L", curvature=(-1, 1), atoms=("smooth",),
        gives=(FLAT,),
    ),
    "descent": RunAssumption(
        "losses", 1, "every f_i has curvature at most L; how far below 0 is not said", letter="L",
        curvature=(None, 1), atoms=("smooth",), gives=(FLAT,),
    ),
    "two_sided": RunAssumption(
        "losses", 1, "every f_i has curvature at least -L", letter="L", curvature=(-1, None), atoms=("smooth",),
    ),
    "convex": RunAssumption("losses", 0, "every f_i is convex", curvature=(0, None), atoms=("convex",)),
    "strongly_convex": RunAssumption(
        "losses", 1, "every f_i has curvature at least mu", letter="mu", against=BOUNDED, at_most=STEEPEST,
        curvature=(1, None), atoms=("convex",),
    ),
    "mean_smooth": RunAssumption(
        "losses", 1, "f = sum p_i f_i has curvature between -L and L; a client's own loss need not", letter="L",
        of_mean=True, curvature=(-1, 1), atoms=("smooth",),
    ),
    "mean_strongly_convex": RunAssumption(
        "losses", 1, "f = sum p_i f_i has curvature at least mu", letter="mu", against=BOUNDED,
        at_most=(*STEEPEST, "mean_smooth"), of_mean=True, curvature=(1, None), atoms=("convex",),
    ),
    "mean_convex": RunAssumption(
        "losses", 0, "f = sum p_i f_i is convex; a client's own loss need not be", of_mean=True, curvature=(0, None),
    ),
    "prox_pl": RunAssumption(
        "losses", 1, "F = f + g meets the proximal Polyak-Lojasiewicz inequality with mu", letter="mu", of_mean=True,
        atoms=("proximal_pl",),
    ),
    "lower_bounded": RunAssumption("losses", 0, "f, or F = f + g, has a minimum", atoms=("minimum",)),
    "subgradients": RunAssumption(
        "losses", 0, "a gradient may be any subgradient, where f_i has no gradient", gives=(STEEPER,),
    ),
    "bounded_below": RunAssumption("losses", 0, "every f_i is bounded below", beside=CURVED),
    "nonnegative_loss": RunAssumption("losses", 0, "the loss of every data point is bounded below", of_points=True),
    "lipschitz": RunAssumption(
        "losses", 1, "the loss of every data point has slopes of at most G", letter="G", of_points=True,
    ),
    "weakly_convex": RunAssumption(
        "losses", 1, "every f_i has curvature at least -nu", letter="nu", curvature=(-1, None),
        atoms=("subgradient",),
    ),
    "bounded_gradients": RunAssumption(
        "losses", 1, "every gradient has norm at most B, everywhere", letter="B", beside=CURVED,
    ),
    "lipschitz_hessian": RunAssumption("losses", 1, "every Hessian is rho-Lipschitz", letter="rho", no_minimum=True),
    "meta_gap": RunAssumption(
        "losses", 2, "the meta-function with step alpha starts at most Delta above its least value", beside=CURVED,
        measured=True,
    ),
    "two_groups": RunAssumption(
        "losses", 2, "the two groups of quadratics of a lower bound, with mu and G", gives=(GROUPS,),
    ),
    "bounded_variance": RunAssumption(
        "noise", 1, "the noise of a step has variance at most sigma^2; asks for noise", letter="sigma", noise="steps",
        atoms=("variance",), gives=(UNBIASED,),
    ),
    "exact_variance": RunAssumption(
        "noise", 1, "the noise of a step has variance sigma^2 exactly", noise="steps", exact=True, gives=(UNBIASED,),
    ),
    "minibatch_variance": RunAssumption(
        "noise", 2, "the noise of a step has variance at most sigma^2/b", noise="minibatches", gives=(UNBIASED,),
    ),
    "gradient_variance": RunAssumption(
        "noise", 1, "stochastic gradients have variance at most sigma_G^2", noise="gradients",
    ),
    "hessian_variance": RunAssumption(
        "noise", 1, "stochastic Hessians have variance at most sigma_H^2", noise="Hessians", beside=CURVED,
    ),
    "independent_noise": RunAssumption("noise", 0, "clients draw their noise independently", gives=(INDEPENDENT,)),
    "bounded_subgradients": RunAssumption(
        "regulariser", 1, "every subgradient of g has norm at most B", gives=(STILL,),
    ),
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
    "full_batch": RunAssumption("data", 0, "every client uses all of its data points in every round"),
    "independent_minibatches": RunAssumption("data", 0, "clients draw their minibatches independently"),
    "inexact": RunAssumption(
        "oracle", 1, "local problems are solved up to eps in value; the adversary picks the answer", measured=True,
    ),
    "exact_oracle": RunAssumption(
        "oracle", 0, "local problems are solved exactly", against=("inexact",), gives=(EXACT,),
    ),
    "weights_sum_to_one": RunAssumption("weights", 0, "sum p_i = 1", gives=(SUM,)),
    "nonnegative_weights": RunAssumption("weights", 0, "p_i >= 0", gives=(SIGN,)),
    "distribution": RunAssumption("weights", 0, "p_i > 0 and sum p_i = 1", gives=(SUM, SIGN)),
    "positive_weights": RunAssumption(
        "weights", 0, "p_i > 0, also where the method chooses weights", gives=(SIGN,),
    ),
    "fedavg_weights": RunAssumption("weights", 0, "chosen weights are the problem's own"),
    "similarity_weights": RunAssumption(
        "graph", 0, "weights and graph come from similarities", gives=(SUM, SIGN, NEAR),
    ),
    "equal_weights": RunAssumption("weights", 0, "p_i = 1/C", gives=(SUM, SIGN, EVEN)),
    "broadcast": RunAssumption("graph", 0, "every client hears all others with the weights p", gives=(SENT,)),
    "full_participation": RunAssumption("participation", 0, "all clients take part in every round", against=ONCE),
    "without_replacement": RunAssumption(
        "participation", 0, "m clients are drawn without replacement", against=ONCE, gives=(DRAWN,),
    ),
    "with_replacement": RunAssumption("participation", 0, "m clients are drawn with replacement"),
}  # fmt: skip
# Read backwards, so that of several records with one rule or letter the first one is written last, and stays.
USUAL = {
    rule: name for name, record in reversed(ASSUMPTIONS.items()) for rule in record.gives
}  # rule -> its first giver
COMMON = {record.letter: name for name, record in reversed(ASSUMPTIONS.items()) if record.letter}  # the first of each


def record_of(assumption: Assumption) -> RunAssumption | None:
    """What is known of an assumption by its name; of one with a name of its own, nothing."""
    return ASSUMPTIONS.get(assumption.name)


class LossClass(NamedTuple):
    """What a statement assumes of the curvature of every f_i: the assumptions that bound it, each with its constant."""

    both: Assumption | None = None  # from above and from below
    above: Assumption | None = None
    below: Assumption | None = None
    strong: Assumption | None = None  # from below, above 0
    convex: bool = False

    @property
    def bounded(self) -> bool:
        """Whether it has parabolas on both sides, or is convex."""
        return self.both is not None or self.strong is not None or self.convex


KINDS: dict[Curvature, str] = {(-1, 1): "both", (None, 1): "above", (-1, None): "below", (1, None): "strong"}


def loss_class(assumptions: Iterable[Assumption]) -> LossClass:
    """The class of every f_i, by those of the assumptions that give a proof its parabolas."""
    bounds: dict[str, Assumption] = {}
    convex = False
    for one in assumptions:
        record = record_of(one)
        # `weakly_convex` bounds a curvature too, but gives proofs subgradients and no parabola.
        if record is None or record.of_mean or record.curvature is None or not {"smooth", "convex"} & {*record.atoms}:
            continue
        convex = convex or record.curvature == (0, None)
        if record.curvature in KINDS:
            bounds[KINDS[record.curvature]] = one
    return LossClass(**bounds, convex=convex)
