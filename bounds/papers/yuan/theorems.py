"""FedProx and FedMSPP: lemmas 5, 6, 8, 9, 12, and the inequalities that end the proofs of theorems 1 to 4.

The theorems print an order, their proofs end with an explicit inequality. It carries the id where it holds (theorems 2
and 4); where the order itself falls, `orders` has the id, and the inequality is a sibling. The mean over t = 0, ...,
T - 1 is the expectation over the uniformly random index t*.
"""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Le, Lt, Max, Min, Rational, sqrt
from ...language.derivation import Derivation
from ...language.knobs import free
from ...language.statement import Assumption, Statement
from . import proofs
from .lemmas import INEXACT
from .run import FEDMSPP, ONE_BASIS, OWN_BASES, drift2, move, picked2, picked_env2, residual
from .symbols import (
    DEVICES,
    GLOSSARY,
    B,
    Delta,
    Delta_rho,
    G,
    I,
    L,
    T,
    b,
    eps,
    eta,
    independent_minibatches,
    inexact,
    lipschitz,
    nonnegative_loss,
    nu,
    rho,
    smooth,
    weakly_convex,
)

full_batch = Assumption("full_batch", (), "a local problem holds all data of its device", "equation (1.3)")
exact_oracle = Assumption("exact_oracle", (), "local problems are solved exactly", "eps_t = 0")
full_participation = Assumption("full_participation", (), "every device takes part in every round", "I_t = [M]")

THIRD = Rational(1, 3)
SMALL_STEP = {eta: 1 / (L * (1 + free("eta")))}  # every step below 1/L
CALM_STEP = {eta: 1 / (nu * (1 + free("eta")))}  # every step below 1/nu
ENVELOPE = {rho: 1 / (2 * nu * (1 + free("rho"))), eta: rho / sqrt(T)}
OWN_SAMPLES = "algorithm 1: every device samples for itself, so that minibatches of different devices are independent"
CONVEX_TOO = "a bound by 1/nu is one of its product with nu, so that nu = 0, a convex loss, is allowed"
BRIDGE = (
    "the gradient of the envelope is measured as (w - prox(w))/rho: that both are one is rem5-identity, which no proof "
    "reaches yet"
)
WHOLE_SPACE = "the set W of (3.2) is the whole space, as in definition 3 and in the proofs"


def error(step_size: Any) -> Any:
    """|w_t^(m) - w_{t-1} + eta d| <= this: Q is (L + 1/eta)-smooth, so that |grad Q|^2 <= 2 (L + 1/eta) eps."""
    return sqrt(2 * eps * step_size * (1 + step_size * L))


def _statement(label: str, title: str, cite: str, let: tuple[Assumption, ...], **rest: Any) -> Statement:
    return Statement(
        id=f"yuan/{label}",
        kind="inequality",
        title=title,
        cite=cite,
        method=FEDMSPP,
        glossary=GLOSSARY,
        let=(*DEVICES, *let),
        **rest,
    )


# --- one round --------------------------------------------------------------------------------------------------------

LEMMA_5 = _statement(
    "lem5",
    "FedProx, one inexact step: how far it is from a gradient step",
    "lemma 5, appendix B.1",
    let=(full_batch, nonnegative_loss, smooth, inexact),
    when=(Lt(eta, 1 / L),),
    then=Le(residual, 2 * L * eps * eta),
    sweep=SMALL_STEP,
    reading=(OWN_BASES, "d_t^(m) is the gradient of the device's empirical risk at w_t^(m) (appendix B.1)"),
    follows_from=(Derivation(proofs.inexact_step),),
)
LEMMA_5_REPAIRED = replace(
    LEMMA_5,
    id="yuan/lem5~repaired",
    waits_for=INEXACT,
    then=Le(residual, error(eta)),
    repairs="Q is (L + 1/eta)-smooth and 2 (L + 1/eta) eps bounds |grad Q|^2; the proof has |grad Q| <= 2 L eps",
)
LEMMA_9 = _statement(
    "lem9",
    "FedMSPP, one inexact step: how far it is from a gradient step",
    "lemma 9, appendix C.1",
    let=(nonnegative_loss, smooth, inexact),
    when=(Lt(eta, 1 / L),),
    then=Le(residual, 2 * L * eps * eta),
    sweep=SMALL_STEP,
    reading=(OWN_BASES, WHOLE_SPACE, "d_t^(m) is the gradient of the minibatch risk at w_t^(m) (appendix C.1)"),
    follows_from=(Derivation(proofs.inexact_step),),
)
LEMMA_9_REPAIRED = replace(
    LEMMA_9,
    id="yuan/lem9~repaired",
    waits_for=INEXACT,
    then=LEMMA_5_REPAIRED.then,
    repairs=LEMMA_5_REPAIRED.repairs,
)
LEMMA_6 = _statement(
    "lem6",
    "FedProx: the mean direction against the gradient",
    "lemma 6, appendix B.1",
    let=(full_batch, nonnegative_loss, lipschitz, smooth, inexact),
    when=(Lt(eta, 1 / L),),
    then=Le(drift2, L**2 * (G + 2 * L * eps) ** 2 * eta**2),
    sweep=SMALL_STEP,
    reading=(OWN_BASES, "the mean direction is over all M devices, each with an eps_t-optimal local solution"),
    follows_from=(Derivation(proofs.mean_direction, cites=("yuan/lem5",)),),
)
LEMMA_6_REPAIRED = replace(
    LEMMA_6,
    id="yuan/lem6~repaired",
    waits_for=INEXACT,
    then=Le(drift2, L**2 * (G * eta + error(eta)) ** 2),
    repairs="with lemma 5 repaired: |w_t^(m) - w_{t-1}| <= G eta + sqrt(2 eta (1 + eta L) eps)",
    follows_from=(Derivation(proofs.mean_direction, cites=("yuan/lem5~repaired",)),),
)
LEMMA_8 = _statement(
    "lem8",
    "FedProx, exact: a local step is no longer than G eta",
    "lemma 8, appendix B.2",
    let=(full_batch, nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(eta * nu, 1),),
    then=Le(move, G * eta),
    sweep=CALM_STEP,
    reading=(OWN_BASES, CONVEX_TOO),
    follows_from=(Derivation(proofs.exact_step),),
)
LEMMA_12 = _statement(
    "lem12",
    "FedMSPP, exact: a local step is no longer than G eta",
    "lemma 12, appendix C.2",
    let=(nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(eta * nu, 1),),
    then=Le(move, G * eta),
    sweep=CALM_STEP,
    reading=(OWN_BASES, CONVEX_TOO, WHOLE_SPACE),
    follows_from=(Derivation(proofs.exact_step),),
)

# --- FedProx, smooth --------------------------------------------------------------------------------------------------

PICKED = (
    "t* is uniform in {0, ..., T - 1} and independent of the run: the left side is the mean over t of E|grad R(w_t)|^2"
)
LENGTHS = "both limits on eps_t have the dimension of a length, eps_t that of a value: read as the numbers they are"
STEP_1 = Min(T**-THIRD, sqrt(I / T)) / (3 * L)
ACCURACY_1 = Min(G / (2 * L * sqrt(I)), G * eta / I)  # as printed
RATE_1 = Max(T ** (-2 * THIRD), 1 / sqrt(T * I))
UNIT = L * Delta + G**2
ENDS = "the inequality that ends the proof, with its constants; the theorem prints its order (yuan/thm{})"
THEOREM_1_INEQUALITY = _statement(
    "thm1~inequality",
    "FedProx on smooth losses: E|grad R(w_t*)|^2, with the proof's constants",
    "the inequality that ends the proof of theorem 1, appendix B.1",
    let=(full_batch, nonnegative_loss, lipschitz, smooth, inexact),
    when=(Eq(eta, STEP_1), Le(eps, ACCURACY_1)),
    then=Le(picked2(T), 2 * Delta / (eta * T) + 4 * L**2 * G**2 * eta**2 + 10 * L * G**2 * eta / I),
    sweep={eta: STEP_1},
    order=UNIT * RATE_1,
    reading=(
        ONE_BASIS,
        PICKED,
        ENDS.format(1),
        "the proof's constants are taken where it ends, 10 L G^2 eta / I; the line before, 5 L G^2 eta^2 / (2 I), would"
        " give half of that",
        LENGTHS,
    ),
    follows_from=(Derivation(proofs.theorem_1, cites=("yuan/lem4-variance", "yuan/lem5", "yuan/lem6")),),
)
THEOREM_1_REPAIRED = replace(
    THEOREM_1_INEQUALITY,
    id="yuan/thm1~repaired",
    waits_for=INEXACT,
    when=(Eq(eta, STEP_1), Le(eps, 3 * L**2 * G**2 * eta**3 / (2 * I**2))),
    reading=(ONE_BASIS, PICKED, ENDS.format(1)),
    repairs="eps_t <= 3 L^2 G^2 eta^3 / (2 I^2) in place of min{G/(2 L sqrt(I)), G eta/I}, two lengths",
    follows_from=(
        Derivation(proofs.theorem_1, cites=("yuan/lem4-variance", "yuan/lem5~repaired", "yuan/lem6~repaired")),
    ),
)
STEP_2 = T**-THIRD / (3 * L)
REMARK_2_INEQUALITY = _statement(
    "rem2~inequality",
    "FedProx on smooth losses, all devices in every round: theorem 1's inequality without its term in I",
    "remark 2, first sentence, section 2.1; the inequality that ends the proof of theorem 1, appendix B.1",
    let=(full_batch, nonnegative_loss, lipschitz, smooth, inexact, full_participation),
    when=(Eq(eta, STEP_2), Le(eps, ACCURACY_1)),
    then=Le(picked2(T), 2 * Delta / (eta * T) + 4 * L**2 * G**2 * eta**2),
    sweep={eta: STEP_2},
    order=UNIT * T ** (-2 * THIRD),
    reading=(
        ONE_BASIS,
        PICKED,
        "the term related to I is the last one of theorem 1's inequality; the step size O(1/(L T^(1/3))) is theorem 1's"
        " without I; the accuracy is theorem 1's",
        LENGTHS,
    ),
    follows_from=(Derivation(proofs.remark_2, cites=("yuan/lem5", "yuan/lem6")),),
)
REMARK_2_REPAIRED = replace(
    REMARK_2_INEQUALITY,
    id="yuan/rem2~repaired",
    waits_for=INEXACT,
    when=(Eq(eta, STEP_2), Le(eps, 3 * L**4 * G**2 * eta**5 / 8)),
    reading=(ONE_BASIS, PICKED),
    repairs="eps_t <= 3 L^4 G^2 eta^5 / 8: without the term in 1/I no room of first order in eta is left for an error",
    follows_from=(Derivation(proofs.remark_2_repaired, cites=("yuan/lem5~repaired", "yuan/lem6~repaired")),),
)

similar = Assumption(
    "lgd", (B,), "(B, 0)-LGD: the mean of |grad R^(m)(w)|^2 is at most B^2 |grad R(w)|^2, for all w", "definition 1"
)
REMARK_2_LGD = _statement(
    "rem2~lgd",
    "FedProx on smooth losses, all devices in every round, (B, 0)-LGD: the rate 1/T",
    "remark 2, second sentence, section 2.1",
    let=(full_batch, nonnegative_loss, lipschitz, smooth, full_participation, exact_oracle, similar),
    when=(Le(1, B), Eq(eta, 1 / (4 * L * B))),
    then=Le(picked2(T), 9 * L * B * Delta / T),
    sweep={eta: 1 / (4 * L * B)},
    order=L * B * Delta / T,
    reading=(
        ONE_BASIS,
        PICKED,
        "the sentence names no step size and no accuracy: a step that does it, and exact local solutions, are the"
        " kindest reading; with theorem 1's accuracy it is yuan/rem2~lgd-inexact",
        "printed is O(1/T); 9 L B Delta is what the proof's steps give with this step size",
        "B >= 1 by Jensen's inequality, wherever the gradient is not 0",
    ),
    follows_from=(Derivation(proofs.remark_2_lgd),),
)

# --- FedMSPP, smooth --------------------------------------------------------------------------------------------------


def step_3(size: Any) -> Any:
    return Min(T**-THIRD, sqrt(size / T)) / (8 * L)


def bound_3(size: Any) -> Any:
    return 4 * Delta / (eta * T) + 376 * L**2 * G**2 * eta**2 + 24 * L * eta * G**2 / size


ACCURACY_3 = Min(G / (2 * L), G**2 * eta / (8 * b**2), G * eta / (2 * b * I))  # as printed
ONE_VALUE = "of the three limits on eps_t only the second has the dimension of a value: read as the numbers they are"
THEOREM_3_INEQUALITY = _statement(
    "thm3~inequality",
    "FedMSPP on smooth losses: the mean of E|grad R(w_t)|^2, with the proof's constants",
    "the inequality that ends the proof of theorem 3, appendix C.1",
    let=(independent_minibatches, nonnegative_loss, lipschitz, smooth, inexact),
    when=(Eq(eta, step_3(b * I)), Le(eps, ACCURACY_3)),
    then=Le(picked2(T), bound_3(b * I)),
    sweep={eta: step_3(b * I)},
    order=UNIT * Max(T ** (-2 * THIRD), 1 / sqrt(T * b * I)),
    reading=(ONE_BASIS, WHOLE_SPACE, OWN_SAMPLES, ENDS.format(3), ONE_VALUE),
    follows_from=(Derivation(proofs.theorem_3, cites=("yuan/lem9", "yuan/lem11-first", "yuan/lem11-second")),),
)
THEOREM_3_EXACT = replace(
    THEOREM_3_INEQUALITY,
    id="yuan/thm3~exact",
    let=(*DEVICES, independent_minibatches, nonnegative_loss, lipschitz, smooth, exact_oracle),
    when=(Eq(eta, step_3(b * I)),),
    reading=(ONE_BASIS, WHOLE_SPACE, OWN_SAMPLES),
    repairs="as printed, but with local problems that are solved exactly: what is left to fail is 1/(b I)",
    follows_from=(),
)
THEOREM_3_INEXACT = replace(
    THEOREM_3_INEQUALITY,
    id="yuan/thm3~inexact",
    let=(*THEOREM_3_INEQUALITY.let, full_participation),
    repairs="as printed, but with all devices in every round (I = M): what is left to fail is the accuracy eps_t",
    follows_from=(),
)
THEOREM_3_REPAIRED = replace(
    THEOREM_3_INEQUALITY,
    id="yuan/thm3~repaired",
    waits_for=INEXACT,
    when=(Eq(eta, step_3(I)), Le(eps, L**2 * G**2 * eta**3 / I**2)),
    then=Le(picked2(T), bound_3(I)),
    sweep={eta: step_3(I)},
    order=UNIT * RATE_1,
    reading=(ONE_BASIS, WHOLE_SPACE, OWN_SAMPLES),
    repairs="1/I for 1/(b I): minibatches do not average out which devices were drawn; eps_t <= L^2 G^2 eta^3 / I^2",
    follows_from=(Derivation(proofs.theorem_3_repaired, cites=("yuan/lem9~repaired",)),),
)
THEOREM_3_FULL = replace(
    THEOREM_3_INEQUALITY,
    id="yuan/thm3~full",
    waits_for=INEXACT,
    let=(*THEOREM_3_INEQUALITY.let, full_participation),
    when=(Eq(eta, step_3(b * I)), Le(eps, L**2 * G**2 * eta**3 / (b * I) ** 2)),
    reading=(ONE_BASIS, WHOLE_SPACE, OWN_SAMPLES),
    repairs="1/(b I) is right when all devices take part (I = M); and eps_t <= L^2 G^2 eta^3 / (b I)^2",
    follows_from=(Derivation(proofs.theorem_3_full, cites=("yuan/lem9~repaired",)),),
)

# --- non-smooth -------------------------------------------------------------------------------------------------------

STRONGER = "the proof's last inequality, which is stronger than the printed order: what it survives, the order does too"
BOUND_2 = Delta_rho / (T * rho) + (2 * Delta_rho + 4 * G**2 * rho) / (rho * sqrt(T))
THEOREM_2 = _statement(
    "thm2",
    "FedProx on weakly convex losses: the gradient of the Moreau envelope",
    "theorem 2, section 2.2; the inequality that ends its proof, appendix B.2",
    let=(full_batch, nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(2 * rho * nu, 1), Eq(eta, rho / sqrt(T))),
    then=Le(picked_env2(T), BOUND_2),
    sweep=ENVELOPE,
    order=(Delta_rho + rho * G**2) / (rho * sqrt(T)),
    reading=(ONE_BASIS, PICKED, CONVEX_TOO, BRIDGE, STRONGER),
    follows_from=(Derivation(proofs.theorem_2, cites=("yuan/lem8",)),),
)
THEOREM_4 = _statement(
    "thm4~repaired",
    "FedMSPP on weakly convex losses: the gradient of the Moreau envelope",
    "theorem 4, section 3.2; the inequality that ends its proof, appendix C.2",
    let=(nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(2 * rho * nu, 1), Eq(eta, rho / sqrt(T))),
    then=Le(picked_env2(T), BOUND_2),
    sweep=ENVELOPE,
    order=(Delta_rho + rho * G**2) / (rho * sqrt(T)),
    reading=(
        ONE_BASIS,
        PICKED,
        CONVEX_TOO,
        BRIDGE,
        WHOLE_SPACE,
        STRONGER,
        "the left side is about the population risk, as the proof and the gap on the right are, or, as in remark 8, the"
        " data are drawn from the training sample, so that both risks are one; the theorem prints the envelope of the"
        " empirical risk, which is yuan/thm4",
    ),
    repairs="the envelope of the population risk, R_rho for R_erm,rho: the proof and the gap on the right have it",
    follows_from=(Derivation(proofs.theorem_2, cites=("yuan/lem12",)),),
)

# --- printed orders that hold -----------------------------------------------------------------------------------------

FROM_PROOF = "the printed order, with the constant that the proof's inequality gives"


def _ordered(stronger: Statement, constant: int) -> Statement:
    """The printed order, with a constant that the stronger inequality gives."""
    order: Any = stronger.order
    return replace(
        stronger,
        id=f"{stronger.id}~order",
        title=f"{stronger.title}, printed order with the constant {constant}",
        then=Le(stronger.relations[0].args[0], constant * order),
        repairs=FROM_PROOF,
        follows_from=(Derivation(proofs.order_2, cites=(stronger.id,)),),
    )


THEOREM_2_ORDER, THEOREM_4_ORDER = _ordered(THEOREM_2, 4), _ordered(THEOREM_4, 4)
