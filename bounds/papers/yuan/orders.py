"""What the paper prints as an order, of the method itself: theorems 1 and 3, remarks 2 and 7, displays (1.5) and (1.6).

Such a claim is about all problems, so that it says something about a family of them along which only its parameters
change. There the left side has a closed form (`forms` builds the runs that it must agree with), and the kernel decides
whether any constant will do. What is left of the claims, algebra on the right-hand sides, is in `rates`.
"""

from dataclasses import replace
from typing import Any

from ...language.algebra import Ge, Integer, Le, Lt, Max, Min, sqrt
from ...language.statement import Assumption, Statement
from . import forms
from .forms import tied
from .run import picked2, picked_env2, picked_erm_env2
from .symbols import GLOSSARY, Delta, Delta_rho, G, I, L, M, T, b, eps, eta, rho
from .theorems import (
    ACCURACY_1,
    ACCURACY_3,
    LENGTHS,
    ONE_VALUE,
    RATE_1,
    REMARK_2_INEQUALITY,
    STEP_1,
    THEOREM_1_INEQUALITY,
    THEOREM_2,
    THEOREM_3_EXACT,
    THEOREM_3_INEQUALITY,
    THEOREM_3_REPAIRED,
    THEOREM_4,
    THIRD,
    UNIT,
    step_3,
)

epsilon = GLOSSARY.symbol("epsilon", "1", "accuracy in units of L Delta + G^2 (of Delta_rho/rho + G^2)", r"\epsilon")
K = GLOSSARY.count("K", "half of the devices")
step = GLOSSARY.symbol("step", "1", "eta L", r"\eta L")
shrinks = GLOSSARY.symbol("shrinks", "1", "factor by which a local step comes closer to its minimiser", "r")
g = GLOSSARY.symbol("g", "F/W", "size of the gradient of every device at w_0", "g")
c = GLOSSARY.symbol("c", "1", "constant of the step size", "c")

RATE_3 = Max(T ** (-2 * THIRD), 1 / sqrt(T * b * I))
ROUGH = 1 / sqrt(T)
UNIT_RHO = (Delta_rho + rho * G**2) / rho
SOME_PROBLEMS = "a consequence of the printed order on some problems, so that every constant in it falls with it"


def claim(label: str, title: str, cite: str, then: Any, **rest: Any) -> Statement:
    return Statement(
        id=f"yuan/{label}", kind="order", title=title, cite=cite, method="order", glossary=GLOSSARY, then=then, **rest
    )


# --- a solver that stands still: theorems 1 and 3, remark 2 -----------------------------------------------------------

many_rounds = Assumption("grows", (T,), "for large T")


def only_rounds(*symbols: Any) -> tuple[Assumption, ...]:
    return Assumption("fixed", symbols, "constants of the order: all but T"), many_rounds


STANDING = {Delta: g**2 / (2 * L), eps: eta * g**2 / (2 * (1 + eta * L))}
STILL = (
    "devices that are all alike: the risk L w^2/2 for |w| <= G/L, continued with slopes +-G; w_0 = g/L, so that Delta ="
    " g^2/(2 L). The local solver returns the point it was given, which is within eps_t = eta g^2/(2 (1 + eta L)) of"
    " the minimum of its problem: admissible where that is at most the printed accuracy. Then w_t = w_0, and the left"
    " side is g^2",
    SOME_PROBLEMS,
    "the kindest reading of the hidden constant: it may depend on L, G, I, b and the problem, not on T",
)
STILL_1 = tied(THEOREM_1_INEQUALITY, picked2(T), g**2, forms.still_1, forms.STILL_1, STANDING)
STILL_2 = tied(REMARK_2_INEQUALITY, picked2(T), g**2, forms.still_2, forms.STILL_2, STANDING)
STILL_3 = tied(THEOREM_3_INEQUALITY, picked2(T), g**2, forms.still_3, forms.STILL_3, STANDING)
THEOREM_1 = claim(
    "thm1",
    "FedProx on smooth losses: the printed order of E|grad R(w_t*)|^2",
    "theorem 1, section 2.1",
    Le(g**2, UNIT * RATE_1),
    let=only_rounds(L, G, I, g),
    when=(Le(eps, ACCURACY_1), Le(g, G)),
    where={**STANDING, eta: STEP_1},
    order=UNIT * RATE_1,
    reading=(*STILL, LENGTHS),
    form=STILL_1,
)
AT_2 = {**STANDING, eta: c / (L * T**THIRD)}
ALL_DEVICES = (
    "M = I: all devices take part. The step size is c/(L T^(1/3)) for any constant c, the accuracy theorem 1's"
)
REMARK_2 = claim(
    "rem2",
    "FedProx on smooth losses, all devices in every round: the rate T^(-2/3)",
    "remark 2, first sentence, section 2.1",
    Le(g**2, UNIT * T ** (-2 * THIRD)),
    let=only_rounds(L, G, I, g, c),
    when=(Le(eps, ACCURACY_1), Le(g, G)),
    where=AT_2,
    order=UNIT * T ** (-2 * THIRD),
    reading=(*STILL, ALL_DEVICES, LENGTHS, "the second sentence, 1/T under (B, 0)-LGD, is yuan/rem2~lgd"),
    form=STILL_2,
)
REMARK_2_LGD_INEXACT = claim(
    "rem2~lgd-inexact",
    "FedProx on smooth losses, all devices, (B, 0)-LGD, theorem 1's accuracy: the rate 1/T",
    "remark 2, second sentence, section 2.1; theorem 1's accuracy",
    Le(g**2, UNIT / T),
    let=only_rounds(L, G, I, g, c),
    when=(Le(eps, ACCURACY_1), Le(g, G)),
    where=AT_2,
    order=UNIT / T,
    reading=(
        *STILL,
        ALL_DEVICES,
        LENGTHS,
        "'in this same setting' taken to include theorem 1's accuracy; devices that are all alike have (1, 0)-LGD. With"
        " local problems that are solved exactly the sentence is right: yuan/rem2~lgd",
    ),
    form=STILL_2,
)
THEOREM_3 = claim(
    "thm3",
    "FedMSPP on smooth losses: the printed order of the mean of E|grad R(w_t)|^2",
    "theorem 3, section 3.1",
    Le(g**2, UNIT * RATE_3),
    let=only_rounds(L, G, I, b, g),
    when=(Le(eps, ACCURACY_3), Le(g, G)),
    where={**STANDING, eta: step_3(b * I)},
    order=UNIT * RATE_3,
    reading=(
        *STILL,
        ONE_VALUE,
        "the accuracy is not all: with exact local solutions 1/(b I) fails too, see yuan/eq1.6 and yuan/thm3~exact",
    ),
    form=STILL_3,
)

# --- two groups of devices: remark 7, (1.6) ---------------------------------------------------------------------------


def two_groups(size: Any) -> tuple[Any, dict[Any, Any]]:
    """E|grad R(w_t*)|^2 of the exact method, I of 2 K devices in a round, theorem 3's step with `size` for b I."""
    settled = G**2 / 4 * step / (2 + step) * (M - I) / (I * (M - 1))
    decay = (1 - shrinks ** (2 * T)) / ((1 - shrinks**2) * T)
    return settled * (1 - decay), {step: Min(T**-THIRD, sqrt(size / T)) / 8, shrinks: 1 / (1 + step), M: 2 * K}


def written(expr: Any, where: dict[Any, Any]) -> Any:
    """`expr` with its definitions written out."""
    for _ in where:
        expr = expr.subs(where)
    return expr


PRINTED, AT_PRINTED = two_groups(b * I)
REPAIRED, AT_REPAIRED = two_groups(I)
NO_GAP = {Delta: Integer(0), M: 2 * K}
GROUPS = tied(THEOREM_3_EXACT, picked2(T), written(PRINTED, AT_PRINTED), forms.two_groups, forms.GROUPS, NO_GAP)
GROUPS_REPAIRED = tied(
    THEOREM_3_REPAIRED,
    picked2(T),
    written(REPAIRED, AT_REPAIRED),
    forms.two_groups_repaired,
    forms.GROUPS_REPAIRED,
    {**NO_GAP, eps: Integer(0)},
)
TWO_GROUPS = (
    "K devices with the risk L (w - a)^2/2 and K with L (w + a)^2/2 between -a and a, continued with slopes +-G, "
    "G = 2 L a; w_0 = 0, so that Delta = 0; every local problem solved exactly. Data without randomness: b has no "
    "effect but on the step size",
    "the left side is what the method does there, in closed form: E w_t^2 = r^2 E w_{t-1}^2 + (1 - r)^2 a^2 (M - I)/"
    "(I (M - 1)), averaged over t < T",
    SOME_PROBLEMS,
    "the hidden constant may depend on anything but b, I and T, which the rate names",
)
IN_B = "I for b I, in the step size too: minibatches do not average out which devices were drawn"
ROUNDS = (
    "'communication complexity': after that many rounds, up to a constant, the left side is O(epsilon), with epsilon"
    " measured in units of L Delta + G^2"
)
REMARK_7 = claim(
    "rem7",
    "FedMSPP for T >= (b I)^3: O(1/sqrt(T b I)), 1/(b I epsilon^2) rounds, linear speedup in b and in I",
    "remark 7, section 3.1; abstract, 3)",
    (Le(PRINTED, G**2 / sqrt(T * b * I)), Le(PRINTED, epsilon * G**2)),
    when=(Lt(I, M), Ge(T, (b * I) ** 3), Ge(T, 1 / (b * I * epsilon**2))),
    where=AT_PRINTED,
    order=1 / (b * I * epsilon**2),
    reading=(*TWO_GROUPS, f"second relation, {ROUNDS}"),
    form=GROUPS,
)
REMARK_7_REPAIRED = replace(
    REMARK_7,
    id="yuan/rem7~repaired",
    title="FedMSPP for T >= I^3: O(1/sqrt(T I)), 1/(I epsilon^2) rounds, linear speedup in I, on two groups of devices",
    then=(Le(REPAIRED, G**2 / sqrt(T * I)), Le(REPAIRED, epsilon * G**2)),
    when=(Lt(I, M), Ge(T, I**3), Ge(T, 1 / (I * epsilon**2))),
    where=AT_REPAIRED,
    order=1 / (I * epsilon**2),
    repairs=IN_B,
    form=GROUPS_REPAIRED,
)
EQUATION_1_6 = claim(
    "eq1.6",
    "FedMSPP, smooth: the rate (1.6), with local problems that are solved exactly",
    "equation (1.6), section 1.2",
    Le(PRINTED, G**2 * RATE_3),
    when=(Lt(I, M),),
    where=AT_PRINTED,
    order=RATE_3,
    reading=(*TWO_GROUPS, "the display says nothing of accuracies: exact local solutions are the kindest reading"),
    form=GROUPS,
)
EQUATION_1_6_REPAIRED = replace(
    EQUATION_1_6,
    id="yuan/eq1.6~repaired",
    title="FedMSPP, smooth: the rate (1.6) with I for b I, on two groups of devices",
    then=Le(REPAIRED, G**2 * RATE_1),
    where=AT_REPAIRED,
    order=RATE_1,
    repairs=IN_B,
    form=GROUPS_REPAIRED,
)

# --- (1.5) as printed, and the display below (1.6), on two devices ----------------------------------------------------

AT_REST = {eta: rho / sqrt(T), Delta_rho: G**2 * eta**2 / (8 * (2 * eta + rho))}
REST = (
    "two devices, both in every round, exact local solutions: one has the risk w^2/(2 eta) for |w| <= G eta, "
    "continued with slopes +-G, the other one -G w/2 plus a constant, up to a point far to the right. Both are "
    "convex and G-Lipschitz. From w_0 = G eta the first one moves to G eta/2, the second one to 3 G eta/2: their "
    "mean stays, and the gradient of the risk is (G - G/2)/2 there in every round",
    "with a kink |w| in place of the parabola it is one problem for all T, with a gradient at every iterate",
    SOME_PROBLEMS,
)


def at_rest(theorem: Statement, measured: Any, form: Any, build: Any) -> Any:
    gap = {Delta_rho: AT_REST[Delta_rho]}
    return tied(theorem, measured, written(form, AT_REST), build, forms.REST, gap)


ENVELOPE_THERE = (G * eta / (2 * (2 * eta + rho))) ** 2
EQUATION_1_5 = claim(
    "eq1.5",
    "FedProx, non-smooth: the rate (1.5) as printed, with the gradient of the risk itself",
    "equation (1.5), section 1.2",
    Le(G**2 / 16, UNIT_RHO * ROUGH),
    where=AT_REST,
    order=ROUGH,
    reading=REST,
    form=at_rest(THEOREM_2, picked2(T), G**2 / 16, forms.at_rest),
)
ENVELOPE = "the gradient of the Moreau envelope, which the theorem is about, for that of the risk"
EQUATION_1_5_REPAIRED = replace(
    EQUATION_1_5,
    id="yuan/eq1.5~repaired",
    title="FedProx, non-smooth: the rate (1.5) with the gradient of the Moreau envelope, on two devices",
    then=Le(ENVELOPE_THERE, UNIT_RHO * ROUGH),
    repairs=ENVELOPE,
    form=at_rest(THEOREM_2, picked_env2(T), ENVELOPE_THERE, forms.at_rest),
)
NON_SMOOTH = claim(
    "eq1.6-nonsmooth",
    "FedMSPP, non-smooth: the rate as printed, with the gradient of the risk itself",
    "section 1.2, display below (1.6)",
    Le(G**2 / 16, UNIT_RHO * ROUGH),
    where=AT_REST,
    order=ROUGH,
    reading=(*REST, "a device has one data point, so that every minibatch is its risk"),
    form=at_rest(THEOREM_4, picked2(T), G**2 / 16, forms.at_rest_minibatch),
)
NON_SMOOTH_REPAIRED = replace(
    NON_SMOOTH,
    id="yuan/eq1.6-nonsmooth~repaired",
    title="FedMSPP, non-smooth: the rate with the gradient of the Moreau envelope, on two devices",
    then=EQUATION_1_5_REPAIRED.then,
    repairs=ENVELOPE,
    form=at_rest(THEOREM_4, picked_env2(T), ENVELOPE_THERE, forms.at_rest_minibatch),
)

# --- theorem 4 as printed: the empirical risk -------------------------------------------------------------------------

THEOREM_4_ERM = claim(
    "thm4",
    "FedMSPP on weakly convex losses: the envelope of the empirical risk, as printed",
    "theorem 4, section 3.2, literally: the index erm on the left side",
    Le(G**2, UNIT_RHO * ROUGH),
    let=only_rounds(G),
    where={Delta_rho: Integer(0)},
    order=UNIT_RHO * ROUGH,
    reading=(
        "one device, b = 1, two data points of probability 1/2 with the losses G |w - a| and G |w + a|, a far away: the"
        " population risk is G a between -a and a, so that w_0 = 0 is a minimum and Delta_rho = 0. The training sample"
        " of (1.2) is one of both points; its envelope has the slope G wherever the run can come",
        SOME_PROBLEMS,
        "for the population risk, or data that are drawn from the training sample, it is right: yuan/thm4~repaired",
    ),
    form=tied(THEOREM_4, picked_erm_env2(T), G**2, forms.one_sample, forms.ONE_SAMPLE, {Delta_rho: Integer(0)}),
)
