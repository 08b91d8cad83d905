"""The perturbed-gradient method on strongly convex losses: section 4.3, appendices C.1 and C.2."""

from dataclasses import replace

from ...language.algebra import Eq, Gt, Integer, Le, Lt, Min, oo
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Limit, Statement
from . import perturbed_proofs as proofs
from .fedprox import tau, upsilon
from .methods import PERTURBED
from .symbols import (
    CHANGING,
    GLOSSARY,
    PARTITION,
    C,
    D,
    Delta,
    E,
    G,
    Gamma,
    L,
    S,
    T,
    dist2,
    gamma,
    gamma_,
    gap,
    i,
    independent_noise,
    k,
    mu,
    sigma,
    sum_p2,
    t,
)  # fmt: skip
from .symbols_perturbed import (
    ANY_SIMILARITY,
    ASSUMPTIONS_1_TO_4,
    ASSUMPTIONS_1_TO_5,
    AT_THE_PERTURBED_POINTS,
    BEFORE,
    VARIANCE_THERE,
    at_perturbed_points,
    beta,
    centre,
    j,
    mean,
    mismatch,
    n,
    perturbation,
    perturbed_gradients,
    perturbed_variance,
    previous,
    similarity_weights,
    spread,
)  # fmt: skip

_s = GLOSSARY.symbol
kappa = _s("kappa_C", "1", "printed kappa in lemma C.1: contraction of the squared distance", r"\kappa", real=True)
A_round = _s("A_C1", "W^2", "printed A in lemma C.1: error added in one round", "A", nonnegative=True)
A_fixed = _s("A_44I", "1", "printed A in theorem 4.4 (I)", "A", nonnegative=True)
A_fading = _s("A_C3", "1", "printed A in lemma C.3 and theorem 4.4 (II)", "A", nonnegative=True)
S_fixed = _s("S_C2", "F", "second printed S in lemma C.2: the error that a fixed step size leaves", "S", real=True)
R_fading = _s("R_C3", "F", "printed R in lemma C.3: accumulated error", "R", nonnegative=True)

USED = (perturbed_gradients, perturbed_variance, independent_noise)
STEP_LIMIT = Min(1 / (2 * L), 1 / (beta * mu))
KAPPA = 1 - 1 / beta + 1 / beta * (1 - beta * mu * gamma(t)) ** E
BRACKET = 4 + (1 - beta) ** 2 + 8 * previous(t) ** 2 / gamma(t) ** 2 * (1 - 1 / beta) ** 2
FIXED = 4 + (1 - beta) ** 2 + 8 * (1 - 1 / beta) ** 2
FADING = 4 + (1 - beta) ** 2 + 32 * (1 - 1 / beta) ** 2
FIRST = {n: Integer(1)}  # where a vector identity is cited, any coordinate of it
READING = (AT_THE_PERTURBED_POINTS, ANY_SIMILARITY)
NOISY = (*READING, VARIANCE_THERE, PARTITION)  # where the proof speaks of noise
IN_THE_TITLE = "4.1 to 4.4 are asked for below the title, which names strong convexity (4.5), as mu and w* do"
ROUNDS = {gamma(t): free("gamma") / L * free("fade") ** t}
SHARE = {beta: unit("beta")}  # in (0, 1]
CHANGES = {gamma(t): CHANGING * STEP_LIMIT, **SHARE}

LEMMA_4_3 = Statement(
    id="buttaci/lem4.3",
    kind="identity",
    title="Perturbed method: average of the perturbed iterates",
    cite="Lemma 4.3, section 4.3.2; repeated in C.1",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=(similarity_weights,),
    when=(Le(beta, 1),),
    then=(
        Eq(centre(t, k, n), beta * mean(t, k, n) + (1 - beta) * mean(t, 0, n)),
        Eq(mismatch(t, k), Integer(0)),
    ),
    for_all={t: (0, T - 1), k: (0, E), n: (1, D)},
    sweep=SHARE,
    reading=(
        "the second term is (1 - beta) w_{t,0}, as the proof ends and appendix C.1 prints",
        "an identity of random vectors: its expectation by coordinates, and the mean square of the difference is 0",
        "beta in (0, 1], u_0 = w_{0,0}",
        ANY_SIMILARITY,
    ),
    follows_from=(Derivation(proofs.lemma_4_3),),
)

LEMMA_4_4 = Statement(
    id="buttaci/lem4.4",
    kind="inequality",
    title="Perturbed method: deviation between the neighbour averages",
    cite="Lemma 4.4, section 4.3.2; repeated in C.1",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_4,
    implicit=(perturbed_gradients,),
    when=(Le(beta, 1),),
    then=Le(spread(t, i, j), 4 * previous(t) ** 2 * E**2 * G**2),
    for_all={t: (0, T - 1), i: (1, C), j: (1, C)},
    sweep={**ROUNDS, **SHARE},
    reading=(*READING, BEFORE),
    follows_from=(Derivation(proofs.lemma_4_4),),
)

LEMMA_4_5 = Statement(
    id="buttaci/lem4.5",
    kind="inequality",
    title="Perturbed method: deviation of the perturbed iterates from the average",
    cite="Lemma 4.5, appendix C.1; proof in section 4.3.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_4,
    implicit=(perturbed_gradients,),
    when=(Le(beta, 1),),
    then=Le(perturbation(t, k, i), 4 * gamma(t) ** 2 * E**2 * G**2 * BRACKET),
    for_all={t: (0, T - 1), k: (0, E), i: (1, C)},
    sweep={**ROUNDS, **SHARE},
    reading=(*READING, BEFORE, "k runs from 0 to E, i over all clients"),
    follows_from=(Derivation(proofs.lemma_4_5, cites=("buttaci/lem4.3", "buttaci/lem4.4"), substitute=FIRST),),
)

LEMMA_C_1 = Statement(
    id="buttaci/lemC.1",
    kind="inequality",
    title="Perturbed method: progress of one round, strongly convex",
    cite="Lemma C.1, appendix C.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=USED,
    when=(Le(gamma(t), STEP_LIMIT), Le(beta, 1)),
    then=Le(dist2(t + 1), kappa * dist2(t) + A_round),
    where={
        kappa: KAPPA,
        A_round: 8 * gamma(t) ** 2 * E**3 * G**2 * BRACKET
        + mu * gamma(t) ** 3 * beta * (1 - beta) * E**3 * G**2
        + gamma(t) ** 2 * E * S * sigma**2
        + 6 * gamma(t) ** 2 * L * E * Gamma,
        S: sum_p2,
    },
    for_all={t: (0, T - 1)},
    sweep=CHANGES,
    reading=(*NOISY, BEFORE, IN_THE_TITLE, "S = sum_i p_i^2, as in lemma C.2"),
    follows_from=(Derivation(proofs.lemma_C_1, cites=("buttaci/lem4.3", "buttaci/lem4.5"), substitute=FIRST),),
)

LEMMA_C_1_KAPPA = Statement(
    id="buttaci/lemC.1-kappa",
    kind="inequality",
    title="Perturbed method: the contraction factor is at most 1 - mu gamma",
    cite="Lemma C.1, side claim",
    method="scalar",
    glossary=GLOSSARY,
    when=(Le(gamma(t), STEP_LIMIT),),
    then=Le(kappa, 1 - mu * gamma(t)),
    where={kappa: KAPPA},
    for_all={t: (0, T - 1)},
    sweep={gamma(t): CHANGING * STEP_LIMIT},
    reading=("beta is any positive number: the claim needs no more than gamma beta mu <= 1",),
    follows_from=(Derivation(proofs.lemma_C_1_kappa),),
)

LEMMA_C_2 = Statement(
    id="buttaci/lemC.2",
    kind="inequality",
    title="Perturbed method: fixed step size, strongly convex",
    cite="Lemma C.2, appendix C.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=USED,
    choose={gamma(t): gamma_},
    when=(Le(gamma_, STEP_LIMIT), Lt(beta, 1)),
    then=Le(
        gap(t),
        L / mu * (1 - 1 / beta + 1 / beta * (1 - beta * mu * gamma_) ** E) ** t * (Delta - S_fixed) + L * S_fixed / mu,
    ),
    where={
        Delta: gap(0),
        S: sum_p2,
        S_fixed: gamma_ * S * E * sigma**2 / 2
        + 3 * gamma_ * L * E * Gamma
        + 4 * gamma_ * E**3 * G**2 * FIXED
        + mu * gamma_**2 * beta * (1 - beta) * E**3 * G**2 / 2,
    },
    for_all={t: (0, T)},
    limits=(Limit(t, oo, L * S_fixed / mu),),
    sweep={gamma_: unit("gamma") * STEP_LIMIT, **SHARE},
    reading=(
        *NOISY,
        IN_THE_TITLE,
        "two things are called S: sum_i p_i^2 (within the second) and the error that is left",
    ),
    follows_from=(Derivation(proofs.lemma_C_2, cites=("buttaci/lemC.1", "buttaci/lemC.1-kappa")),),
)

LEMMA_C_2_REPAIRED = replace(
    LEMMA_C_2,
    id="buttaci/lemC.2~repaired",
    title="Perturbed method: fixed step size, strongly convex, small enough for kappa >= 0",
    when=(Le(gamma_, STEP_LIMIT / E), Lt(beta, 1)),
    sweep={gamma_: unit("gamma") * STEP_LIMIT / E, **SHARE},
    follows_from=(Derivation(proofs.lemma_C_2_repaired, cites=("buttaci/lemC.1", "buttaci/lemC.1-kappa")),),
    repairs="the step size meets gamma <= min{1/(2L), 1/(beta mu)}/E, as in lemma C.3: otherwise kappa may be below "
    "-1, and the recursion (C.22) multiplies an inequality by a negative number",
)

LEMMA_C_3 = Statement(
    id="buttaci/lemC.3",
    kind="inequality",
    title="Perturbed method: diminishing step size, strongly convex",
    cite="Lemma C.3, appendix C.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=USED,
    choose={gamma(t): upsilon / (tau + t)},
    when=(Le(upsilon / tau, STEP_LIMIT / E), Gt(upsilon, 2 / (mu * E)), Le(1, tau), Lt(beta, 1)),
    then=Le(gap(t), L / mu * (1 / (tau + t)) * (tau * Delta + R_fading)),
    where={
        Delta: gap(0),
        S: sum_p2,
        A_fading: FADING,
        R_fading: mu
        * upsilon**2
        / (upsilon * mu * E / 2 - 1)
        * (
            E * S * sigma**2 / 2
            + 3 * L * E * Gamma
            + 4 * A_fading * E**3 * G**2
            + mu * beta * (1 - beta) * E**2 * G**2 / (4 * L)
        ),
    },
    for_all={t: (0, T)},
    limits=(Limit(t, oo, Integer(0)),),
    sweep={
        tau: 2 / unit("gamma") * (1 + free("upsilon")) / (mu * STEP_LIMIT),
        upsilon: 2 * (1 + free("upsilon")) / (mu * E),
        **SHARE,
    },
    reading=(*NOISY, IN_THE_TITLE),
    follows_from=(Derivation(proofs.lemma_C_3, cites=("buttaci/lemC.1",)),),
)

THEOREM_4_4_I = Statement(
    id="buttaci/thm4.4-I",
    kind="inequality",
    title="Perturbed method: strongly convex, fixed step size 1/(2 L E)",
    cite="Theorem 4.4 (I), section 4.3.3; proof in C.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=USED,
    choose={gamma(t): 1 / (2 * L * E)},
    when=(Lt(beta, 1),),
    then=Le(
        gap(t),
        L * Delta / mu * (1 - mu / ((beta + 2) * L)) ** t
        + S * sigma**2 / (4 * mu)
        + 3 * L * Gamma / (2 * mu)
        + 2 * A_fixed * E**2 * G**2 / mu
        + beta * (1 - beta) * E * G**2 / (8 * L),
    ),
    where={Delta: gap(0), S: sum_p2, A_fixed: FIXED},
    for_all={t: (0, T)},
    sweep=SHARE,
    reading=(*NOISY, "lemma C.2 is cited as repaired: the step size of this theorem is within what is left of it"),
    follows_from=(
        Derivation(proofs.theorem_4_4_I, cites=("buttaci/lemC.2~repaired",), substitute={gamma_: 1 / (2 * L * E)}),
    ),
)

THEOREM_4_4_II = Statement(
    id="buttaci/thm4.4-II",
    kind="inequality",
    title="Perturbed method: strongly convex, diminishing step size",
    cite="Theorem 4.4 (II), section 4.3.3; proof in C.2",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_5,
    implicit=USED,
    choose={gamma(t): 4 / (mu * E * (8 * L / mu + t))},
    when=(Lt(beta, 1),),
    then=Le(
        gap(t),
        L
        / mu
        * ((8 * L / mu) / (8 * L / mu + t))
        * (
            Delta
            + S * sigma**2 / (L * E)
            + 6 * Gamma / E
            + 8 * A_fading * E * G**2 / L
            + mu * beta * (1 - beta) * G**2 / (2 * L**2)
        ),
    ),
    where={Delta: gap(0), S: sum_p2, A_fading: FADING},
    for_all={t: (0, T)},
    sweep=SHARE,
    reading=NOISY,
    follows_from=(
        Derivation(
            proofs.theorem_4_4_II,
            cites=("buttaci/lemC.3",),
            substitute={upsilon: 4 / (mu * E), tau: 8 * L / mu},
        ),
    ),
)

# --- assumption 4.3 where this method takes its gradients, and nowhere else -------------------------------------------

_NEIGHBOURS, _APART = (f"buttaci/lem4.{number}~perturbed-points" for number in (4, 5))
LEMMA_4_4_THERE = at_perturbed_points(LEMMA_4_4, Derivation(proofs.lemma_4_4))
LEMMA_4_5_THERE = at_perturbed_points(
    LEMMA_4_5, Derivation(proofs.lemma_4_5, cites=("buttaci/lem4.3", _NEIGHBOURS), substitute=FIRST)
)
LEMMA_C_1_THERE = at_perturbed_points(
    LEMMA_C_1, Derivation(proofs.lemma_C_1, cites=("buttaci/lem4.3", _APART), substitute=FIRST)
)
THEOREM_4_4_I_THERE = at_perturbed_points(THEOREM_4_4_I)
