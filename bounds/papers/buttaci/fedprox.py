"""FedProx on strongly convex losses: section 4.2.2, appendices B.1 and B.2."""

from dataclasses import replace

from ...language.algebra import Gt, Integer, Le, Min, oo
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Limit, Statement
from . import derivations
from .methods import FEDPROX
from .symbols import (
    CHANGING,
    GLOSSARY,
    PARTITION,
    C,
    Delta,
    E,
    G,
    Gamma,
    L,
    L_alpha,
    S,
    T,
    alpha,
    bounded_gradients,
    bounded_variance,
    deviation,
    dist2,
    divergence,
    full_participation,
    gamma,
    gamma_,
    gap,
    i,
    independent_noise,
    k,
    mu,
    nonnegative_weights,
    sigma,
    smooth,
    strongly_convex,
    sum_p2,
    t,
    weights_sum_to_one,
)  # fmt: skip

_s = GLOSSARY.symbol
upsilon = _s("upsilon", "W^2/F", "numerator of the diminishing step size (B.14)", r"\upsilon")
tau = _s("tau", "1", "offset of the diminishing step size (B.14)", r"\tau")
kappa = _s("kappa", "1", "contraction of the squared distance in one round (lemma B.1)", r"\kappa", nonnegative=True)
A = _s("A", "W^2", "error added in one round (lemma B.1)", nonnegative=True)
R = _s("R", "F", "accumulated error (lemma B.3)", nonnegative=True)
S_gamma = _s("S_B2", "F", "printed S in lemma B.2: the error that a fixed step size leaves", "S", nonnegative=True)

ASSUMPTIONS_1_TO_4 = (
    full_participation,
    weights_sum_to_one,
    nonnegative_weights,
    bounded_variance,
    bounded_gradients,
    smooth,
)
ASSUMPTIONS_1_TO_5 = (*ASSUMPTIONS_1_TO_4, strongly_convex)
STEP_LIMIT = Min(1 / (2 * L), 1 / (alpha + mu))
KAPPA = (alpha + mu * (1 - gamma(t) * (alpha + mu)) ** E) / (alpha + mu)
ON_THE_RUN = "G bounds E|g_i|^2 at the points that the run visits (t < T, 0 <= k <= E), not on all of R^D"

LEMMA_4_1 = Statement(
    id="buttaci/lem4.1",
    kind="inequality",
    title="FedProx: local deviation in one round",
    cite="Lemma 4.1, section 4.2.1; proof in B.1",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_4,
    when=(Le(gamma(t), 1 / alpha),),
    then=Le(deviation(t, k, i), gamma(t) ** 2 * E**2 * G**2),
    for_all={t: (0, T - 1), k: (0, E), i: (1, C)},
    sweep={gamma(t): CHANGING / alpha},
    reading=(ON_THE_RUN, "k runs from 0 to E, i over all clients"),
    follows_from=(Derivation(derivations.lemma_4_1),),
)

LEMMA_4_2 = Statement(
    id="buttaci/lem4.2",
    kind="inequality",
    title="FedProx: local divergence in one round",
    cite="Lemma 4.2, section 4.2.1; proof in B.1",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_4,
    when=(Le(gamma(t), 1 / alpha),),
    then=Le(divergence(t, k, i), 4 * gamma(t) ** 2 * E**2 * G**2),
    for_all={t: (0, T - 1), k: (0, E), i: (1, C)},
    sweep={gamma(t): CHANGING / alpha},
    reading=(ON_THE_RUN,),
    follows_from=(Derivation(derivations.lemma_4_2),),
)

LEMMA_4_2_ANY_WEIGHTS = replace(
    LEMMA_4_2,
    id="buttaci/lem4.2~any-weights",
    let=tuple(one for one in LEMMA_4_2.let if one != nonnegative_weights),
    implicit=(replace(nonnegative_weights, says="p_i >= 0: Jensen's inequality over the clients needs it", cite=""),),
    reading=(
        *LEMMA_4_2.reading,
        "section 4.1 alone, which says of the weights no more than that they sum to 1; section 2.3.1 makes them "
        "probabilities",
    ),
)

LEMMA_B_1 = Statement(
    id="buttaci/lemB.1",
    kind="inequality",
    title="FedProx: progress of one round, strongly convex",
    cite="Lemma B.1, appendix B.2",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=(independent_noise,),
    when=(Le(gamma(t), STEP_LIMIT),),
    then=Le(dist2(t + 1), kappa * dist2(t) + A),
    where={
        kappa: KAPPA,
        A: gamma(t) ** 2 * E * sigma**2 * sum_p2 + 6 * gamma(t) ** 2 * L * E * Gamma + 8 * gamma(t) ** 2 * E**3 * G**2,
    },
    for_all={t: (0, T - 1)},
    sweep={gamma(t): CHANGING * STEP_LIMIT},
    reading=(ON_THE_RUN, PARTITION),
    follows_from=(Derivation(derivations.lemma_B_1, cites=("buttaci/lem4.1", "buttaci/lem4.2")),),
)

LEMMA_B_1_KAPPA = Statement(
    id="buttaci/lemB.1-kappa",
    kind="inequality",
    title="FedProx: the contraction factor is at most 1 - gamma mu",
    cite="Lemma B.1, side claim",
    method="scalar",
    glossary=GLOSSARY,
    when=(Le(gamma(t), STEP_LIMIT),),
    then=Le(kappa, 1 - gamma(t) * mu),
    where={kappa: KAPPA},
    for_all={t: (0, T - 1)},
    sweep={gamma(t): CHANGING * STEP_LIMIT},
    follows_from=(Derivation(derivations.lemma_B_1_kappa),),
)

LEMMA_B_2 = Statement(
    id="buttaci/lemB.2",
    kind="inequality",
    title="FedProx: fixed step size, strongly convex",
    cite="Lemma B.2, appendix B.2",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=(independent_noise,),
    choose={gamma(t): gamma_},
    when=(Le(gamma_, STEP_LIMIT),),
    then=Le(
        gap(t),
        L / mu * ((alpha + mu * (1 - gamma_ * (alpha + mu)) ** E) / (alpha + mu)) ** t * (Delta - S_gamma)
        + L * S_gamma / mu,
    ),
    where={
        Delta: gap(0),
        S_gamma: gamma_ * E * sigma**2 / 2 * sum_p2 + 3 * gamma_ * L * E * Gamma + 4 * gamma_ * E**3 * G**2,
    },
    for_all={t: (0, T)},
    limits=(Limit(t, oo, L * S_gamma / mu),),
    sweep={gamma_: unit("gamma") * STEP_LIMIT},
    reading=(
        ON_THE_RUN,
        PARTITION,
        "4.1 to 4.4 are asked for below the title, which names strong convexity (4.5), as mu and w* do",
    ),
    follows_from=(Derivation(derivations.lemma_B_2, cites=("buttaci/lemB.1", "buttaci/lemB.1-kappa")),),
)

LEMMA_B_3 = Statement(
    id="buttaci/lemB.3",
    kind="inequality",
    title="FedProx: diminishing step size, strongly convex",
    cite="Lemma B.3, appendix B.2",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=(independent_noise,),
    choose={gamma(t): upsilon / (tau + t)},
    when=(Le(upsilon / tau, STEP_LIMIT / E), Gt(upsilon, 2 / (mu * E)), Gt(tau, 1)),
    then=Le(gap(t), L / mu * (1 / (tau + t)) * (Delta * tau + R)),
    where={
        Delta: gap(0),
        R: mu
        * upsilon**2
        / (upsilon * mu * E / 2 - 1)
        * (E * sigma**2 / 2 * sum_p2 + 3 * L * E * Gamma + 4 * E**3 * G**2),
    },
    for_all={t: (0, T)},
    limits=(Limit(t, oo, Integer(0)),),
    sweep={
        tau: 2 / unit("gamma") * (1 + free("upsilon")) / (mu * STEP_LIMIT),
        upsilon: 2 * (1 + free("upsilon")) / (mu * E),
    },
    reading=(ON_THE_RUN, PARTITION),
    follows_from=(Derivation(derivations.lemma_B_3, cites=("buttaci/lemB.1",)),),
)

THEOREM_4_1_I = Statement(
    id="buttaci/thm4.1-I",
    kind="inequality",
    title="FedProx: strongly convex, fixed step size 1/(2 L_alpha E)",
    cite="Theorem 4.1 (I), section 4.2.2",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=(independent_noise,),
    choose={gamma(t): 1 / (2 * L_alpha * E)},
    then=Le(
        gap(t),
        L * Delta / mu * (1 - mu / (3 * (alpha + L))) ** t
        + L / L_alpha * (S * sigma**2 / (4 * mu) + 3 * L * Gamma / (2 * mu) + 2 * E**2 * G**2 / mu),
    ),
    where={Delta: gap(0), S: sum_p2, L_alpha: alpha + L},
    for_all={t: (0, T)},
    reading=(ON_THE_RUN, PARTITION),
    follows_from=(
        Derivation(derivations.theorem_4_1_I, cites=("buttaci/lemB.2",), substitute={gamma_: 1 / (2 * L_alpha * E)}),
    ),
)

THEOREM_4_1_II = Statement(
    id="buttaci/thm4.1-II",
    kind="inequality",
    title="FedProx: strongly convex, diminishing step size",
    cite="Theorem 4.1 (II), section 4.2.2",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=(independent_noise,),
    choose={gamma(t): 4 / (mu * E * (8 * L_alpha / mu + t))},
    then=Le(
        gap(t),
        L
        / mu
        * ((8 * L_alpha / mu) / (8 * L_alpha / mu + t))
        * (Delta + S * sigma**2 / (L_alpha * E) + 6 * L * Gamma / (L_alpha * E) + 8 * E * G**2 / L_alpha),
    ),
    where={Delta: gap(0), S: sum_p2, L_alpha: alpha + L},
    for_all={t: (0, T)},
    reading=(ON_THE_RUN, PARTITION),
    follows_from=(
        Derivation(
            derivations.theorem_4_1_II,
            cites=("buttaci/lemB.3",),
            substitute={upsilon: 4 / (mu * E), tau: 8 * L_alpha / mu},
        ),
    ),
)
