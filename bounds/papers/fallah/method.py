"""Per-FedAvg: proposition F.1 and corollary F.2, the steps (95) to (109) of appendix G, and (111)."""

from typing import Any

from ...language.algebra import Eq, Ge, Gt, Le, sqrt
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Statement
from . import method_proofs as proofs
from .algorithm import PER_FEDAVG
from .method_symbols import (
    YZ2,
    Z2,
    Delta,
    average,
    averaged2,
    bounded_below,
    drift,
    drift2,
    level,
    level_end,
    level_next,
    mean2,
    meta_gap,
    phi,
    product,
    product_all,
    round2,
    sampled,
    sampled2,
    sampled2_all,
    sigma_T2,
    slope2,
    slope2_all,
)
from .symbols import (
    D0,
    D1,
    D2,
    GLOSSARY,
    L_F,
    B,
    K,
    L,
    alpha,
    beta,
    bounded_gradients,
    gamma_F,
    gamma_G,
    gamma_H,
    gradient_variance,
    hessian_variance,
    lipschitz_hessian,
    n,
    r,
    rho,
    rn,
    sigma_F,
    sigma_G,
    sigma_H,
    similar_gradients,
    similar_hessians,
    smooth,
    t,
    tau,
)

_INNER, _OUTER = B**2 + sigma_G**2 * (1 / D1 + (alpha * L) ** 2 / D0), 1 + sigma_H**2 * alpha**2 / (4 * D2)
IN_RUNS = "a frame for Per-FedAvg: estimates of gradients inside of a run, and norms without squares"
CONSTANTS = {
    L_F: 4 * L + alpha * rho * B,
    sigma_F: sqrt(12 * _INNER * _OUTER - 12 * B**2),
    r: rn / n,
    gamma_F: sqrt(3 * B**2 * alpha**2 * gamma_H**2 + 192 * gamma_G**2),
}
_ALPHA = unit("alpha") ** 4 / L  # small ones too: alpha rho B and alpha B gamma_H stand in the constants
_STEPS = {alpha: _ALPHA, beta: unit("beta") ** 2 / (10 * tau * L_F)}
_BATCHES: dict[Any, Any] = {D0: 1, D1: 1, D2: 1}  # stochastic gradients and Hessians are of one data point
_LEMMAS = (bounded_gradients, smooth, lipschitz_hessian, gradient_variance, hessian_variance)
_RUNS = (average, sampled, *_LEMMAS)
ASSUMPTIONS = (*_RUNS, similar_gradients, similar_hessians)
_STEP = (Le(rn, n), Le(alpha, 1 / L), Le(beta, 1 / (10 * tau * L_F)))
_SOME = (*_STEP, Ge(n, 2))
_WITHIN, _UNTIL = {t: (0, tau - 1)}, {t: (0, tau)}
_FIVE = "gamma_F is that of lemma 4.4, whose assumption 5 belongs to it, although the text names assumptions 2-4"
_ROUND = "one round from a given w_k: E is over the set A_k (uniform, without replacement) and the round's batches"
_ALL = "all n users run from w_k (appendix G); w_t is their average and does not depend on A_k"
_POINTS = (
    "with batches of one point, at which gradients deviate by a fixed vector and Hessians by a fixed diagonal matrix, "
    "each with a random sign of its own"
)
_WIDE = (
    "tried on runs of at most 3 updates and 3 users, whose Hessians have the same eigenvectors, in 1 or 2 dimensions; "
    f"{_POINTS}",
)
_LONG = (
    "runs of more than 3 updates are tried in one dimension, on users that differ by straight lines and have one "
    f"Hessian around the run; {_POINTS}",
)
_TWO = "n >= 2: for n = 1 the fraction (1 - r)/(r (n - 1)) is 0/0"

SHARE = (1 - r) / (r * (n - 1))
BOTH = 2 * sigma_F**2 + gamma_F**2


def error(pairs: Any) -> Any:
    """sigma_T^2 of (108), where `pairs` is tau (tau - 1)."""
    return (
        280 * (beta * L_F) ** 2 * pairs * BOTH
        + beta * L_F * (2 * sigma_F**2 + gamma_F**2 * SHARE)
        + 4 * alpha**2 * L**2 * sigma_G**2 / D0
    )


def repaired_error(pairs: Any, others: Any) -> Any:
    """With what is left of sampling; `others` is tau - 1."""
    return error(pairs) + 11 * SHARE * beta * L_F * others * BOTH


ERROR, REPAIRED_ERROR = error(tau * (tau - 1)), repaired_error(tau * (tau - 1), tau - 1)
_REPAIR = (
    "sigma_T^2 gains 11 (1-r)/(r(n-1)) beta L_F (tau-1) (2 sigma_F^2 + gamma_F^2): all updates of a round have the "
    "same users, so that the error of sampling them adds up over the round"
)

PROPOSITION_F1_A = Statement(
    id="fallah/propF.1-a",
    waits_for=IN_RUNS,
    kind="inequality",
    title="Users drift apart at most linearly",
    cite="proposition F.1, (57a)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=(Le(rn, n), Le(alpha, 1 / L)),
    for_all=_UNTIL,
    then=Le(drift, 2 * beta * t * (1 + 2 * beta * L_F) ** (t - 1) * (sigma_F + gamma_F)),
    where=CONSTANTS,
    sweep={alpha: _ALPHA, beta: free("beta") / L_F, **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE, "the step beta is any positive number"),
    follows_from=(Derivation(proofs.proposition_a, closed=proofs.CLOSED),),
)

PROPOSITION_F1_B = Statement(
    id="fallah/propF.1-b",
    waits_for=IN_RUNS,
    kind="inequality",
    title="Users drift apart: second moment",
    cite="proposition F.1, (57b)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=(Le(rn, n), Le(alpha, 1 / L)),
    for_all=_UNTIL,
    then=Le(
        drift2,
        4 * beta**2 * (1 + 1 / phi) * t * (1 + phi + 16 * (1 + 1 / phi) * beta**2 * L_F**2) ** (t - 1) * BOTH,
    ),
    where=CONSTANTS,
    sweep={alpha: _ALPHA, beta: free("beta") / L_F, phi: free("phi"), **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE, "the step beta is any positive number, and so is phi"),
    follows_from=(Derivation(proofs.proposition_b, closed=proofs.CLOSED),),
)

COROLLARY_F2_A = Statement(
    id="fallah/corF.2-a",
    waits_for=IN_RUNS,
    kind="inequality",
    title="Users drift apart: short steps",
    cite="corollary F.2, (58a)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_STEP,
    for_all=_UNTIL,
    then=Le(drift, 4 * beta * t * (sigma_F + gamma_F)),
    where=CONSTANTS,
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE),
    follows_from=(Derivation(proofs.corollary_a, cites=("fallah/propF.1-a",), closed=proofs.CLOSED),),
)

COROLLARY_F2_B = Statement(
    id="fallah/corF.2-b",
    waits_for=IN_RUNS,
    kind="inequality",
    title="Users drift apart: second moment, short steps",
    cite="corollary F.2, (58b)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_STEP,
    for_all=_UNTIL,
    then=Le(drift2, 35 * beta**2 * t * tau * BOTH),
    where=CONSTANTS,
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE),
    follows_from=(
        Derivation(
            proofs.corollary_b, cites=("fallah/propF.1-b",), substitute={phi: 1 / (2 * tau)}, closed=proofs.CLOSED
        ),
    ),
)

EQUATION_95 = Statement(
    id="fallah/eq95",
    waits_for=IN_RUNS,
    kind="inequality",
    title="The average of the sampled users against that of all",
    cite="appendix G, (95)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_SOME,
    for_all=_WITHIN,
    then=Le(averaged2, 35 * SHARE * beta**2 * tau * (tau - 1) * BOTH),
    where=CONSTANTS,
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE, _ALL, _TWO),
    follows_from=(Derivation(proofs.equation_95, cites=("fallah/corF.2-b",), closed=proofs.CLOSED),),
)

EQUATION_97 = Statement(
    id="fallah/eq97",
    waits_for=IN_RUNS,
    kind="inequality",
    title="The second moment of Z",
    cite="appendix G, (97)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_SOME,
    for_all=_WITHIN,
    then=Le(Z2, 35 * SHARE * beta**2 * L_F**2 * tau * (tau - 1) * BOTH),
    where=CONSTANTS,
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_WIDE, _ALL, _TWO),
    follows_from=(Derivation(proofs.equation_97, cites=("fallah/eq95",), closed=proofs.CLOSED),),
)

_PAIRS = beta**2 * L_F**2 * tau * (tau - 1) * BOTH

EQUATION_101 = Statement(
    id="fallah/eq101",
    waits_for=IN_RUNS,
    kind="inequality",
    title="The second moment of Y + Z",
    cite="appendix G, (101)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_SOME,
    for_all=_WITHIN,
    then=(Le(YZ2, 70 * _PAIRS * (1 + SHARE)), Le(70 * _PAIRS * (1 + SHARE), 140 * _PAIRS)),
    where=CONSTANTS,
    sweep={**_STEPS, **_BATCHES},
    reading=(
        _FIVE,
        _ROUND,
        *_WIDE,
        _ALL,
        _TWO,
        "E|Y + Z|^2 <= 2 (E|Y|^2 + E|Z|^2), with which (101) begins, holds for every Y and Z: the rest is encoded",
    ),
    follows_from=(Derivation(proofs.equation_101, cites=("fallah/corF.2-b", "fallah/eq97"), closed=proofs.CLOSED),),
)

EQUATION_99 = Statement(
    id="fallah/eq99",
    kind="identity",
    title="The sampled gradient, multiplied by the gradient",
    cite="appendix G, (99)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=_RUNS,
    when=_SOME,
    for_all=_WITHIN,
    then=Eq(product, slope2),
    where=CONSTANTS,
    sweep=_STEPS,
    reading=(_ROUND, *_WIDE, "wbar_t is the average over A_k itself: from the first update on it depends on A_k"),
)

EQUATION_99_REPAIRED = Statement(
    id="fallah/eq99~repaired",
    kind="identity",
    title="The sampled gradient, multiplied by the gradient",
    cite="appendix G, (99)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=_RUNS,
    when=_SOME,
    for_all=_WITHIN,
    then=Eq(product_all, slope2_all),
    where=CONSTANTS,
    sweep=_STEPS,
    reading=(_ROUND, *_WIDE, _ALL),
    repairs="at the average w_t of all users, which does not depend on A_k, in place of wbar_t, which does",
    follows_from=(Derivation(proofs.equation_99, closed=proofs.CLOSED),),
)

EQUATION_105 = Statement(
    id="fallah/eq105",
    kind="inequality",
    title="The second moment of the sampled gradient",
    cite="appendix G, (105)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_SOME,
    for_all=_WITHIN,
    then=Le(sampled2, slope2 + gamma_F**2 * SHARE),
    where=CONSTANTS,
    sweep=_STEPS,
    reading=(_FIVE, _ROUND, *_WIDE, _TWO),
    follows_from=(Derivation(proofs.equation_105_printed, cites=("fallah/eq99",), closed=proofs.CLOSED),),
)

EQUATION_105_REPAIRED = Statement(
    id="fallah/eq105~repaired",
    kind="inequality",
    title="The second moment of the sampled gradient",
    cite="appendix G, (105)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    when=_SOME,
    for_all=_WITHIN,
    then=Le(sampled2_all, slope2_all + gamma_F**2 * SHARE),
    where=CONSTANTS,
    sweep=_STEPS,
    reading=(_FIVE, _ROUND, *_WIDE, _ALL, _TWO),
    repairs="at the average w_t of all users, which does not depend on A_k, in place of wbar_t, which does",
    follows_from=(Derivation(proofs.equation_105, closed=proofs.CLOSED),),
)

_DESCENT = "values of F are counted from F(w_k); the error alone stands on the right"
_LAST = "the last line of (107); the line before it is smaller, so that what breaks the last one breaks both"

EQUATION_107 = Statement(
    id="fallah/eq107",
    kind="inequality",
    title="Descent in one local update",
    cite="appendix G, (107) and (108)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, *ASSUMPTIONS),
    when=_SOME,
    for_all=_WITHIN,
    then=Le(level_next - level + beta / 4 * slope2, beta * sigma_T2),
    where={**CONSTANTS, sigma_T2: ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_LONG, _DESCENT, _LAST, _TWO),
    follows_from=(Derivation(proofs.equation_107, cites=("fallah/eq99", "fallah/eq105"), closed=proofs.CLOSED),),
)

EQUATION_107_REPAIRED = Statement(
    id="fallah/eq107~repaired",
    kind="inequality",
    title="Descent in one local update",
    cite="appendix G, (107) and (108)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, *ASSUMPTIONS),
    when=_SOME,
    for_all=_WITHIN,
    then=Le(level_next - level + beta / 4 * slope2, beta * sigma_T2),
    where={**CONSTANTS, sigma_T2: REPAIRED_ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_LONG, _DESCENT, _TWO),
    repairs=_REPAIR,
    follows_from=(Derivation(proofs.equation_107_repaired, cites=("fallah/eq95",), closed=proofs.CLOSED),),
)

_RUN = (Le(rn, n), Gt(alpha, 0), Le(alpha, 1 / L), Le(beta, 1 / (10 * tau * L_F)), Ge(n, 2))
_AVERAGE = "E is over the sets A_k of all rounds, drawn independently, and over all batches"
_INFIMUM = "F(w_0) - F^* is any Delta that it does not exceed: a larger one only weakens the claim"

_OWN_STEP = "the step is that of the round: remark G.1 takes it as beta_k; the values of F are counted from F(w_k)"

EQUATION_109 = Statement(
    id="fallah/eq109",
    kind="inequality",
    title="Descent in one round",
    cite="(109), appendix G, and remark G.1",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, *ASSUMPTIONS),
    when=_RUN,
    then=Le(level_end + beta * tau / 4 * round2, beta * tau * sigma_T2),
    where={**CONSTANTS, sigma_T2: ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_LONG, _OWN_STEP, _TWO),
    follows_from=(Derivation(proofs.equation_109, ("fallah/eq107",), proofs.UPDATE, (*proofs.CLOSED, sigma_T2)),),
)

EQUATION_109_REPAIRED = Statement(
    id="fallah/eq109~repaired",
    kind="inequality",
    title="Descent in one round",
    cite="(109), appendix G, and remark G.1",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, *ASSUMPTIONS),
    when=_RUN,
    then=Le(level_end + beta * tau / 4 * round2, beta * tau * sigma_T2),
    where={**CONSTANTS, sigma_T2: REPAIRED_ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _ROUND, *_LONG, _OWN_STEP, _TWO),
    repairs=_REPAIR,
    follows_from=(
        Derivation(proofs.equation_109, ("fallah/eq107~repaired",), proofs.UPDATE, (*proofs.CLOSED, sigma_T2)),
    ),
)

THEOREM_45_EXPLICIT = Statement(
    id="fallah/thm4.5~explicit",
    kind="inequality",
    title="Per-FedAvg finds stationary points, with the proof's constants",
    cite="(111) with (108), appendix G",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, meta_gap, *ASSUMPTIONS),
    when=_RUN,
    then=Le(mean2, 4 * Delta / (beta * tau * K) + 4 * sigma_T2),
    where={**CONSTANTS, sigma_T2: ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(
        _FIVE,
        _AVERAGE,
        *_LONG,
        _INFIMUM,
        _TWO,
        "what the proof of theorem 4.5 ends with; the theorem itself, with O(1), is fallah/thm4.5",
    ),
    follows_from=(Derivation(proofs.theorem, ("fallah/eq109",), proofs.ROUND, (*proofs.CLOSED, sigma_T2)),),
)

THEOREM_45_REPAIRED = Statement(
    id="fallah/thm4.5~repaired",
    kind="inequality",
    title="Per-FedAvg finds stationary points",
    cite="theorem 4.5, with the constants of (108) and (111)",
    method=PER_FEDAVG,
    glossary=GLOSSARY,
    let=(bounded_below, meta_gap, *ASSUMPTIONS),
    when=_RUN,
    then=Le(mean2, 4 * Delta / (beta * tau * K) + 4 * sigma_T2),
    where={**CONSTANTS, sigma_T2: REPAIRED_ERROR},
    sweep={**_STEPS, **_BATCHES},
    reading=(_FIVE, _AVERAGE, *_LONG, _INFIMUM, _TWO),
    repairs=_REPAIR,
    follows_from=(Derivation(proofs.theorem, ("fallah/eq109~repaired",), proofs.ROUND, (*proofs.CLOSED, sigma_T2)),),
)
