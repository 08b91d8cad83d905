"""Figures 6 and 7 of benmansour on synthetic clients: quadratics, and logistic regression with a ridge.

The paper trains a network on MNIST. Here clients, rounds, local epochs, minibatches and step sizes are those of table
2, and the losses are synthetic: IID clients differ by their samples or by noise alone, the others by their minimisers
or by what tells their classes apart. With 10^-4 0.99^t such losses hardly move; other step sizes are tried after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.losses.ridge_logistic import RidgeLogistic, clients, two_classes
from fedaudit.verify.results.json_fields import Json

from ....search.seeds import seed_for
from ....search.tree_arrays import Array
from ... import Outcome, TableRow
from ...displays import Answer, Claim, Display, Rebuilt, table
from .softmax_weights import LEVEL, RATE, TEMPERATURE, weights_of

CLIENTS, ROUNDS, SAMPLES, BATCH = 50, 50, 200, 64  # table 2
EPOCH = -(-SAMPLES // BATCH)  # steps
LOCAL = 2 * EPOCH  # two local epochs
LONG = 400  # rounds of corollary 4's step sizes: 1/t is seen over more than a decade
PATHS = 8  # of the noise of quadratics; distances are means over them
DIMENSION, RIDGE, APART = 10, 0.05, 1.0
TOP = 10  # clients that figure 7 colours
SMALL = 2 * TOP  # a small group
MOVES = 0.1  # of the largest weight: with less, nothing has gone anywhere
PRINTED = "10^-4 0.99^t (table 2)"
STEPS = (PRINTED, "0.99^t from 1/(4L)", "corollary 4's 1/(mu (t + gamma))")
SPREADS = {"IID": 0.0, "not IID": 2.0}  # how far quadratics' minimisers are apart
OWN = {"IID": 0.0, "not IID": 0.7}  # how much of what tells two classes apart is a client's own
WHERE = "section 3.2, before remark 10"
OTHER_CLIENTS = (
    "how logistic clients that are not IID differ: by what tells their classes apart; in the first look they had "
    "unequal shares of one pair of classes"
)
MOVED = f"that weights have to change by {100 * MOVES:g} % of the largest one, after 1 %"
SLOPES = (
    f"means over {PATHS} paths of noise and {LONG} rounds of corollary 4's step sizes, after one path and 600 rounds, "
    "and that each kind of loss is answered on its own, after both at once"
)
SETTLED_AFTER = {"rate": (OTHER_CLIENTS, SLOPES), "limit": (OTHER_CLIENTS, SLOPES, MOVED)}


@dataclass(frozen=True, slots=True, eq=False)
class Clients:
    """A problem with its constants, and how its gradients are disturbed."""

    problem: Any
    start: Array
    mu: float
    L: float
    noise: Json

    def sizes(self, how: str) -> Array:
        """Step sizes, one per local step."""
        t = np.arange(LOCAL * (LONG if how == STEPS[2] else ROUNDS))
        if how == STEPS[2]:
            return 1 / (self.mu * t + 4 * self.L)
        return (1e-4 if how == PRINTED else 1 / (4 * self.L)) * 0.99**t


@cache
def quadratics(seed: int, kind: str, steps: int) -> Clients:
    """Strongly convex quadratics with Gaussian noise, three dimensions."""
    rng = np.random.default_rng(seed_for(seed, "benmansour/fig6", "quadratics"))
    d, mu, L = 3, 1.0, 4.0
    A = rng.uniform(mu, L, (1, CLIENTS, d))[..., None] * np.eye(d)
    centre = SPREADS[kind] * rng.standard_normal((1, CLIENTS, d))
    start, p = 3 * rng.standard_normal((1, d)), rng.dirichlet(np.full(CLIENTS, 3.0))[None]
    kicks = rng.standard_normal((PATHS, 1, steps, CLIENTS, d))[:, :, :, None]
    problem = Quadratics(A, (A * centre[:, :, None, :]).sum(axis=-1), p)
    size = np.full((1, CLIENTS, d), 1 / np.sqrt(BATCH))  # a sample's noise has size 1
    return Clients(problem, start, mu, L, {"v": size, "signs": kicks})


@cache
def logistic(seed: int, kind: str) -> Clients:
    """Two classes of Gaussian features; what tells them apart differs among clients that are not IID. Minibatches."""
    rng = np.random.default_rng(seed_for(seed, "benmansour/fig6", "logistic"))
    common, own = rng.standard_normal((1, DIMENSION)), rng.standard_normal((CLIENTS, DIMENSION))
    mixed = (1 - OWN[kind]) * common + OWN[kind] * own
    ba = two_classes(rng, APART * mixed / np.linalg.norm(mixed, axis=-1, keepdims=True), SAMPLES)
    p = np.full((1, CLIENTS), 1 / CLIENTS)
    problem = clients(ba, p, RIDGE)
    who = np.arange(CLIENTS)[:, None]

    def batches(t: int, k: int) -> RidgeLogistic:
        epoch, part = divmod(t + k, EPOCH)
        order = np.random.default_rng([seed, epoch]).random((CLIENTS, SAMPLES)).argsort(axis=1)
        return RidgeLogistic(ba[:, who, order[:, part * BATCH : (part + 1) * BATCH]], p, RIDGE)

    start = 3 * rng.standard_normal((1, DIMENSION))
    return Clients(problem, start, RIDGE, float(problem.smoothness()[0]), {"batches": batches})


FAMILIES = ("quadratics", "logistic")


@cache
def weights(seed: int, family: str, kind: str, how: str) -> tuple[Array, Array]:
    """FedSoftMax's weights (rounds, N, paths) and p (N,)."""
    steps = LOCAL * (LONG if how == STEPS[2] else ROUNDS)
    run = quadratics(seed, kind, steps) if family == "quadratics" else logistic(seed, kind)
    alpha = weights_of(run.problem, run.start, run.sizes(how), LOCAL, **run.noise)[0]
    return (alpha if alpha.ndim == 3 else alpha[..., None]), run.problem.p[0]


# --- figure 6 ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """max_i |alpha_i - p_i| over the rounds: a panel per step size, a line per problem."""

    title: str
    caption: str
    panels: Mapping[str, Mapping[str, Array]]  # step sizes -> problem -> (rounds,)
    slopes: Mapping[str, Mapping[str, float]]
    figure: str = "benmansour.distances"


def distance(seed: int, family: str, kind: str, how: str) -> tuple[Array, float]:
    """How far the weights are from p, and the slope of its logarithm over the last nine tenths of the rounds."""
    alpha, p = weights(seed, family, kind, how)
    far: Array = np.abs(alpha - p[:, None]).max(axis=1).mean(axis=1)
    t = np.arange(len(far))
    late = t >= max(1, len(far) // 10)
    return far, float(np.polyfit(np.log(t[late]), np.log(far[late]), 1)[0])


def figure_6(seed: int) -> Rebuilt:
    """Does the distance fall like 1/t with IID clients, and stop where they are not?"""
    panels, slopes, rows = dict[str, dict[str, Array]](), dict[str, dict[str, float]](), list[TableRow]()
    for how in STEPS:
        panels[how], slopes[how] = {}, {}
        for family in FAMILIES:
            for kind in SPREADS:
                far, slope = distance(seed, family, kind, how)
                name = f"{family}, {kind}"
                panels[how][name], slopes[how][name] = far, slope
                rows.append({"steps": how, "problem": name, "slope": slope, "first": far[0], "last": far[-1]})
    shown = {(how, f): RATE[0] <= slopes[how][f"{f}, IID"] <= RATE[1] for how in STEPS for f in FAMILIES}
    limit = {
        (how, f): slopes[how][f"{f}, not IID"] > LEVEL and change(weights(seed, f, "not IID", how)[0]) > MOVES
        for how in STEPS
        for f in FAMILIES
    }
    told = "; ".join(f"{how}: {', '.join(f'{x:.2f} ({name})' for name, x in by.items())}" for how, by in slopes.items())
    reason = f"slope of log max|alpha - p| against log of the round (1/t is -1): {told}"

    def outcome(shown_by: Mapping[tuple[str, str], bool]) -> Outcome:
        """With the printed steps on both kinds of loss, or else where."""
        printed = all(shown_by[PRINTED, family] for family in FAMILIES)
        under = tuple(f"{family}, steps {how}" for how in STEPS for family in FAMILIES if shown_by[how, family])
        return Outcome(printed, reason, len(rows), table(rows), () if printed else under)

    claims = (
        ("rate", "With IID clients the weights alpha_i converge to p_i like 1/t.", WHERE, outcome(shown)),
        (
            "limit",
            "With clients that are far from IID they converge to other limits (read: the slope is above -0.15 although "
            "the weights have moved).",
            "section 3.3, research question 3",
            outcome(limit),
        ),
    )
    answers = tuple(
        Answer(Claim(f"benmansour/fig6-{label}", says, where, SETTLED_AFTER[label]), shown_by)
        for label, says, where, shown_by in claims
    )
    caption = (
        f"{CLIENTS} clients, {LOCAL} local steps per round (two epochs of {SAMPLES} samples in minibatches of "
        f"{BATCH}), "
        f"temperature {TEMPERATURE:g}; quadratics: means over {PATHS} paths of noise; slopes over the last nine "
        f"tenths of the rounds"
    )
    return Rebuilt(Distances("benmansour, figure 6: FedSoftMax's weights", caption, panels, slopes), answers)


def change(alpha: Array) -> float:
    """How far weights move from the first round to the last, relative to the largest one."""
    return float(np.abs(alpha[-1] - alpha[0]).max() / alpha.max())


# --- figure 7 ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Participation:
    """Which clients have the ten largest weights: rounds by clients, a panel per problem and step size."""

    title: str
    caption: str
    panels: Mapping[str, Array]  # (rounds, N) of truth values
    figure: str = "benmansour.participation"


def largest(alpha: Array) -> Array:
    """The ten largest weights of every round."""
    rank = np.argsort(np.argsort(-alpha, axis=1, kind="stable"), axis=1, kind="stable")
    return rank < TOP


def figure_7(seed: int) -> Rebuilt:
    """How many clients are ever among the ten largest?"""
    panels, rows = dict[str, Array](), list[TableRow]()
    for how in STEPS[:2]:
        for family in FAMILIES:
            alpha = weights(seed, family, "not IID", how)[0][..., 0]
            top = largest(alpha)
            kept = float((top[1:] & top[:-1]).sum(axis=1).mean() / TOP)
            ever = int(top.any(axis=0).sum())
            moves = change(alpha)
            panels[f"{family}, {how}"] = top
            rows.append({"steps": how, "problem": family, "clients ever in the top ten": ever})
            rows[-1] |= {"kept from round to round": kept, "change of the weights": moves}
    small = {
        how: all(r["clients ever in the top ten"] <= SMALL for r in rows if r["steps"] == how) for how in STEPS[:2]
    }
    moving = {how: all(r["change of the weights"] > MOVES for r in rows if r["steps"] == how) for how in STEPS[:2]}
    told = "; ".join(
        f"{r['steps']}, {r['problem']}: {r['clients ever in the top ten']} clients, weights change by "
        f"{100 * r['change of the weights']:.2g} %"
        for r in rows
    )
    reason = (
        f"clients that are ever among the ten largest weights in {ROUNDS} rounds, of {CLIENTS} (read: small is at most "
        f"{SMALL}, and weights that hardly move show nothing); {told}"
    )
    claim = Claim(
        "benmansour/fig7-group",
        "Only a small group of clients has the large weights through all rounds.",
        "section 3.2, after remark 10",
        (OTHER_CLIENTS, MOVED),
    )
    shown = {how: small[how] and moving[how] for how in STEPS[:2]}
    under = tuple(how for how in STEPS[1:2] if shown[how])
    shown_by = Outcome(shown[PRINTED], reason, len(rows), table(rows), under)
    caption = f"blue: among the ten largest weights alpha_i of the round; clients that are not IID, {CLIENTS} of them"
    picture = Participation("benmansour, figure 7: clients in the aggregation", caption, panels)
    return Rebuilt(picture, (Answer(claim, shown_by),))


DIFFERS = (
    "Synthetic losses stand in for a network on MNIST: quadratics with Gaussian noise, and logistic regression with a "
    "ridge. N = 50, 50 rounds, two local epochs, minibatches of 64 of 200 samples and the step sizes are those of "
    "table 2."
)
DISPLAYS = (
    Display(
        "benmansour/fig6",
        "figure 6",
        WHERE,
        "Distance of FedSoftMax's weights alpha_i from p_i over the rounds, IID clients, MNIST.",
        DIFFERS,
        figure_6,
    ),
    Display(
        "benmansour/fig7",
        "figure 7",
        "section 3.2, after remark 10",
        "Clients by rounds, the ten largest weights alpha_i of a round in yellow, MNIST.",
        DIFFERS,
        figure_7,
    ),
)
