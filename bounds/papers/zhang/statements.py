"""Composite federated learning: sections 2.2 and 3, appendices A.1 to A.6."""

from typing import Any

from ...language.algebra import Eq, Ge, Le, Max, Rational, Sum, oo, sqrt
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Limit, Statement
from . import derivations
from . import drift as drift_proofs
from .methods import COMPACT, FROM_STATIONARY, PROPOSED, PROXIMAL_STEP
from .symbols import (
    G2,
    GLOSSARY,
    XX,
    ZZ,
    A_r,
    B_g,
    F_plus,
    F_z,
    L,
    Omega,
    Omega_sc,
    R,
    S,
    T,
    average,
    b,
    bounded_subgradients,
    bounded_variance,
    cc,
    cc_apart,
    descent,
    drift,
    eta,
    eta_g,
    eta_t,
    gap,
    grad_inner,
    i,
    independent_noise,
    l,
    lam2,
    lam2_i,
    level,
    mean_G2,
    mu,
    mu_at_most_L,
    mu_sc,
    n,
    plus2,
    post2,
    post_server,
    post_star,
    prox_pl,
    r,
    server2,
    sigma,
    star2,
    step2,
    step_inner,
    strongly_convex,
    sub_conj,
    sub_g,
    sub_inner,
    t,
    tau,
    two_sided,
    vdev,
    vlevel,
    vstep2,
    xX,
    xx,
    z2,
    zZ,
    zz,
)  # fmt: skip

NOISE = sigma**2 / b
CLIENT_STEP = {eta: eta_t / (eta_g * tau)}
ASSUMPTIONS = (average, bounded_subgradients, descent, bounded_variance)
# eta_g >= max{1.5, sqrt(n/8)}, squared where there is a root: equality then has a rational meaning
CONDITION_13 = (Le(eta_t, 1 / (10 * L)), Ge(eta_g, Rational(3, 2)), Ge(eta_g**2, n / 8))
# rational and at least max{3/2, sqrt(n/8)}: the tangent of the root at n = 18, where the two are equal
SWEEP_13 = {eta_t: unit("eta") / (10 * L), eta_g: Max(Rational(3, 2), n / 24 + Rational(3, 4)) / unit("eta_g")}
REPAIRED_13 = (Le(eta_t, 1 / (10 * L)), Ge(eta_g, Rational(3, 2)), Ge(eta_g**2, n))
SWEEP_REPAIRED = {eta_t: unit("eta") / (10 * L), eta_g: Max(Rational(3, 2), n / 4 + 1) / unit("eta_g")}
CONDITION_DRIFT = (Le(20 * L**2 * eta_t**2, eta_g**2),)  # eta~ <= eta_g / (sqrt(20) L)
SWEEP_DRIFT = {eta_g: free("eta_g"), eta_t: unit("eta") * free("eta_g") * Rational(2236, 10000) / L}
SWEEP_MILD = {eta_t: unit("eta") / L, eta_g: 1 / (2 * unit("eta_g"))}  # runs that stay where floats can follow them
B_TERM = Rational(28, 10) * 20 * L**2 * B_g**2 / eta_g**2

SMOOTH = "assumption 3.2 is printed with an upper bound only; L-smooth is read as it is used: both sides (two_sided)"
CONVEX_PART = (
    "g = theta |.|_1, up max(x, 0) + down max(-x, 0), or 0: g with exact proximal steps and bounded subgradients"
)
ALL_PATHS = (
    "where g or a loss has a kink, all paths of the noise are walked: over at most 4 rounds with noise at every step,"
    " over 10 to 16 with noise at 3 to 6 of the steps"
)
NOISY_KINKS = f"{ALL_PATHS}; longer runs with noise at every step have quadratic losses and g = 0"
ROUND_ONE = "at r = 1 the gradients of round 0 are 0 and c_i^1 = 0, so Lambda_i^1 = eta tau grad f_i(P(x^1))"
ON_PATHS = "two vectors a and b are equal on every path exactly if E|a|^2 + E|b|^2 = 2 E<a, b>"


EQ_2_COMPACT = Statement(
    id="zhang/eq2-compact",
    kind="identity",
    title="Algorithm 1 equals the compact form (2)",
    cite="Equation (2), section 2.2; derivation in A.1",
    method=COMPACT,
    glossary=GLOSSARY,
    let=(average, bounded_variance),
    then=(
        Eq(xx(r + 1) + XX(r + 1), 2 * xX(r + 1)),
        Eq(zz(r, t + 1) + ZZ(r, t + 1), 2 * zZ(r, t + 1)),
    ),
    for_all={r: (1, T), t: (0, tau - 1)},
    reading=(
        ON_PATHS,
        NOISY_KINKS,
        "sums printed from t = 1 in (A.2) and below run from t = 0, as in (A.3) and in (2)",
    ),
    follows_from=(Derivation(derivations.compact_form),),
)

EQ_2_ZERO_MEAN = Statement(
    id="zhang/eq2-zero-mean",
    kind="identity",
    title="The corrections average to zero",
    cite="Section 2.2, point 1; W C^r = 0 in A.1",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(average, bounded_variance),
    then=Eq(cc_apart(r + 1), cc(r + 1)),
    for_all={r: (1, T)},
    reading=("mean c = 0 on every path exactly if sum_i E|c_i - mean c|^2 = sum_i E|c_i|^2", NOISY_KINKS),
    follows_from=(Derivation(derivations.zero_mean),),
)

EQ_3_SERVER = Statement(
    id="zhang/eq3-server",
    kind="identity",
    title="The server's update is a proximal step along the average gradient",
    cite="Equation (3), section 2.2",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(average, bounded_variance),
    then=Eq(post2(r + 1) + server2(r + 1), 2 * post_server(r + 1)),
    for_all={r: (1, T)},
    reading=(ON_PATHS, NOISY_KINKS),
    follows_from=(Derivation(derivations.server_update),),
)

EQ_12 = Statement(
    id="zhang/eq12",
    kind="identity",
    title="The prox-gradient map lies in grad f(P) + ∂g at the virtual iterate",
    cite="Equation (12); derivation in A.3",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(average, bounded_variance),
    then=Eq(sub_inner(r), sub_g(r) + sub_conj(r)),
    for_all={r: (1, T)},
    reading=(
        "s = G(P) - grad f(P) is a subgradient of g at x exactly if <s, x> = g(x) + g*(s) (Fenchel and Young)",
        ALL_PATHS,
    ),
    follows_from=(Derivation(derivations.virtual_subgradient),),
)

APP_A_2 = Statement(
    id="zhang/appA.2-fixed-point",
    kind="identity",
    title="A stationary point is a fixed point when n = 1 with full gradients",
    cite="Appendix A.2, algorithm 2",
    method=FROM_STATIONARY,
    glossary=GLOSSARY,
    let=(average,),
    when=(Eq(n, 1),),
    then=Eq(post2(r + 1) + star2(r + 1), 2 * post_star(r + 1)),
    for_all={r: (1, T)},
    reading=(ON_PATHS, "of stationary points only minimisers are run"),
    follows_from=(Derivation(derivations.fixed_point),),
)

FACT_1 = Statement(
    id="zhang/fact1",
    kind="inequality",
    title="One proximal step, function values",
    cite="Fact 1, appendix A.5 (from its [10, Lemma 1])",
    method=PROXIMAL_STEP,
    glossary=GLOSSARY,
    let=(average, bounded_subgradients, descent),
    implicit=(two_sided,),
    then=Le(F_plus(r), F_z(r) + grad_inner(r) - step_inner(r) / eta_t + L / 2 * plus2(r) + L / 2 * z2(r)),
    for_all={r: (1, T)},
    sweep={eta_t: free("eta") / L},
    reading=(SMOOTH, "printed grad F(x) is grad f(x): g has no gradient, and (A.25), (A.26) use grad f", CONVEX_PART),
    follows_from=(Derivation(derivations.fact_1),),
)

DRIFT_BOUND = (
    5 * tau**3 * eta**2 * n * 4 * B_g**2
    + 5 * n * tau**3 * eta**2 * G2(r)
    + 5 * tau * lam2(r)
    + 10 * n * tau**2 * eta**2 * NOISE
)

LEMMA_A_1 = Statement(
    id="zhang/lemA.1",
    kind="inequality",
    title="Drift of the local models",
    cite="Lemma A.1, appendix A.4",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided,),
    when=CONDITION_DRIFT,
    then=Le(drift(r), DRIFT_BOUND),
    where=CLIENT_STEP,
    for_all={r: (1, T)},
    sweep=SWEEP_DRIFT,
    reading=(
        SMOOTH,
        CONVEX_PART,
        NOISY_KINKS,
        ROUND_ONE,
        "printed |G|^2 on the right is its expectation",
        "G_{eta~ g} is G of (11)",
    ),
    follows_from=(
        Derivation(drift_proofs.lemma_A_1_printed, cites=("zhang/eqA.21",)),
        Derivation(drift_proofs.lemma_A_1),
    ),
)

A_I = 16 * tau**2 * eta**2 * B_g**2 + 4 * tau**2 * eta**2 * G2(r) + 4 * lam2_i(r, i) + 8 * tau * eta**2 * NOISE
GROWTH = 1 + 1 / (8 * tau)

SWEEP_EIGHTH = {eta_g: free("eta_g"), eta_t: unit("eta") * free("eta_g") / (8 * L)}
OTHER_PROOF = (
    "the printed proof telescopes a one-round inequality that is refuted; the second derivation does without it, by a"
    " smaller weight on |Lambda - mean|^2"
)
EIGHTH = "under eta~ <= eta_g/(8 L), which (A.20) asks for and (13) gives; lemma A.1: eta~ <= eta_g/(sqrt(20) L)"
TAU_2 = "tau >= 2, as in the proof; A^r depends on i through |Lambda_i - mean|^2"

EQ_A_20 = Statement(
    id="zhang/eqA.20",
    kind="inequality",
    title="The drift recursion",
    cite="Equations (A.19) and (A.20), appendix A.4",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided,),
    when=(Le(eta_t, eta_g / (8 * L)), Ge(tau, 2)),
    then=Le(S(r, t + 1, i), GROWTH * S(r, t, i) + A_r),
    where={**CLIENT_STEP, A_r: A_I},
    for_all={r: (1, T), t: (0, tau - 2), i: (1, n)},
    sweep=SWEEP_EIGHTH,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, EIGHTH, TAU_2),
    follows_from=(Derivation(drift_proofs.drift_recursion),),
)

_EQ_A_21: dict[str, Any] = {
    "kind": "inequality",
    "title": "The sum of the drift recursion",
    "cite": "Equation (A.21), appendix A.4",
    "method": PROPOSED,
    "glossary": GLOSSARY,
    "let": ASSUMPTIONS,
    "implicit": (two_sided,),
    "then": (
        Le(S(r, tau - 1, i), A_r * Sum(GROWTH**l, (l, 0, tau - 2))),
        Le(A_r * Sum(GROWTH**l, (l, 0, tau - 2)), Rational(115, 100) * tau * A_r),
    ),
    "where": {**CLIENT_STEP, A_r: A_I},
    "for_all": {r: (1, T), i: (1, n)},
}
_REPEATED = Derivation(drift_proofs.drift_sum, cites=("zhang/eqA.20",))

EQ_A_21 = Statement(
    id="zhang/eqA.21",
    when=CONDITION_DRIFT,
    sweep=SWEEP_DRIFT,
    reading=(
        SMOOTH,
        CONVEX_PART,
        NOISY_KINKS,
        ROUND_ONE,
        "under lemma A.1's condition, in whose proof it stands; (A.20), which it repeats, asks for more: eqA.21~eighth",
        "for tau = 1 the sum is empty and S is 0; A^r depends on i through |Lambda_i - mean|^2",
    ),
    follows_from=(_REPEATED, Derivation(drift_proofs.drift_sum_with_short_steps)),
    **_EQ_A_21,
)

EQ_A_21_EIGHTH = Statement(
    id="zhang/eqA.21~eighth",
    when=(Le(eta_t, eta_g / (8 * L)),),
    sweep=SWEEP_EIGHTH,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, EIGHTH, "under lemma A.1's condition: eqA.21"),
    follows_from=(_REPEATED,),
    **_EQ_A_21,
)

LEMMA_A_2 = Statement(
    id="zhang/lemA.2",
    kind="inequality",
    title="Recursion of the correction mismatch",
    cite="Lemma A.2, appendix A.4",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided,),
    when=CONDITION_DRIFT,
    then=Le(
        lam2(r + 1) / n - 2 * eta**2 * tau**2 * L**2 * step2(r),
        4 * eta**2 * tau * L**2 / n * DRIFT_BOUND + 4 * eta**2 * n**2 * tau**2 * sigma**2 / (n * tau * b) / n,
    ),
    where=CLIENT_STEP,
    for_all={r: (1, T)},
    sweep=SWEEP_DRIFT,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, "printed |G|^2 on the right is its expectation"),
    follows_from=(Derivation(drift_proofs.lemma_A_2, cites=("zhang/lemA.1",)),),
)

EQ_A_25 = Statement(
    id="zhang/eqA.25",
    kind="inequality",
    title="Decrease by the virtual prox-gradient step",
    cite="Equation (A.25), appendix A.5",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided,),
    then=Le(vlevel(r), level(r) + (L / 2 - 1 / (2 * eta_t)) * vstep2(r) - vstep2(r) / (2 * eta_t)),
    for_all={r: (1, T)},
    sweep=SWEEP_MILD,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS),
    follows_from=(
        Derivation(derivations.virtual_decrease, cites=("zhang/fact1",)),
        Derivation(derivations.virtual_decrease_anew),
    ),
)

EQ_A_29 = Statement(
    id="zhang/eqA.29",
    kind="inequality",
    title="Error of the averaged direction",
    cite="Equation (A.29), appendix A.5",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided, independent_noise),
    then=Le(vdev(r), 2 * L**2 / (n * tau) * drift(r) + 2 * NOISE / (tau * n)),
    for_all={r: (1, T)},
    sweep=SWEEP_MILD,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS),
    follows_from=(Derivation(drift_proofs.direction_error),),
)

DESCENT = Le(
    Omega(r + 1),
    Omega(r) + 6 * eta_t / (n * tau) * NOISE + B_TERM * eta_t**3 - Rational(3, 10) * eta_t * G2(r),
)
ANY_HORIZON = {T: T + r}  # the lemmas hold for any number of rounds that is run
CHAIN = ("zhang/lemA.1", "zhang/eqA.29", "zhang/lemA.2")

EQ_A_33 = Statement(
    id="zhang/eqA.33",
    kind="inequality",
    title="One-round descent of Omega, general non-convex",
    cite="Equation (A.33), appendix A.5",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided, independent_noise),
    when=CONDITION_13,
    then=DESCENT,
    for_all={r: (1, T)},
    sweep=SWEEP_13,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE),
    follows_from=(Derivation(derivations.one_round, cites=CHAIN),),
)

EQ_A_33_REPAIRED = Statement(
    id="zhang/eqA.33~repaired",
    kind="inequality",
    title="One-round descent of Omega, general non-convex, eta_g >= sqrt(n)",
    cite="Equation (A.33), appendix A.5",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided, independent_noise),
    when=REPAIRED_13,
    then=DESCENT,
    for_all={r: (1, T)},
    sweep=SWEEP_REPAIRED,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE),
    repairs="eta_g >= max{1.5, sqrt(n)} in place of max{1.5, sqrt(n/8)}: lemma A.2's noise has to fit into that 6",
    follows_from=(Derivation(derivations.one_round_repaired, cites=CHAIN),),
)

EQ_A_34 = Statement(
    id="zhang/eqA.34",
    kind="inequality",
    title="Decrease under the proximal PL inequality",
    cite="Equation (A.34), appendix A.6",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(*ASSUMPTIONS, prox_pl),
    when=(Le(eta_t, 1 / (10 * L)),),
    then=Le(vlevel(r), level(r) - mu * eta_t * gap(r)),
    for_all={r: (1, T)},
    sweep={eta_t: unit("eta") / (10 * L), eta_g: free("eta_g")},
    reading=(
        "only the printed side of assumption 3.2 is used",
        CONVEX_PART,
        NOISY_KINKS,
        "D_g(x, mu) = -2 mu min_y {<grad f(x), y - x> + mu/2 |y - x|^2 + g(y) - g(x)}: the minimum is over all terms"
        " and the printed grad F is grad f, as in [10, 11]",
    ),
    follows_from=(Derivation(derivations.pl_decrease),),
)

CONTRACTION = Le(
    eta_t * Omega(r + 1),
    (1 - mu * eta_t / 3) * eta_t * Omega(r) + 6 * eta_t**2 / (n * tau) * NOISE + B_TERM * eta_t**4,
)

EQ_A_38 = Statement(
    id="zhang/eqA.38",
    kind="inequality",
    title="One-round contraction under the proximal PL inequality",
    cite="Equation (A.38), appendix A.6",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(*ASSUMPTIONS, prox_pl),
    implicit=(two_sided, independent_noise, mu_at_most_L),
    when=CONDITION_13,
    then=CONTRACTION,
    for_all={r: (1, T)},
    sweep=SWEEP_13,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, "eta~ (F - F*) + |Lambda - mean|^2/n is eta~ Omega"),
    follows_from=(Derivation(derivations.one_round_pl, cites=CHAIN),),
)

EQ_A_38_REPAIRED = Statement(
    id="zhang/eqA.38~repaired",
    kind="inequality",
    title="One-round contraction under the proximal PL inequality, eta_g >= sqrt(n)",
    cite="Equation (A.38), appendix A.6",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(*ASSUMPTIONS, prox_pl),
    implicit=(two_sided, independent_noise, mu_at_most_L),
    when=REPAIRED_13,
    then=CONTRACTION,
    for_all={r: (1, T)},
    sweep=SWEEP_REPAIRED,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, "eta~ (F - F*) + |Lambda - mean|^2/n is eta~ Omega"),
    repairs="eta_g >= max{1.5, sqrt(n)} in place of max{1.5, sqrt(n/8)}, as for (A.33)",
    follows_from=(Derivation(derivations.one_round_pl_repaired, cites=CHAIN),),
)

THEOREM_3_5 = Statement(
    id="zhang/thm3.5",
    kind="inequality",
    title="General non-convex: mean squared prox-gradient map",
    cite="Theorem 3.5, section 3",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=(two_sided, independent_noise),
    when=CONDITION_13,
    then=Le(
        mean_G2(R),
        Omega(1) / (Rational(3, 10) * eta_t * R)
        + 20 * sigma**2 / (n * tau * b)
        + 187 * L**2 * eta_t**2 * B_g**2 / eta_g**2,
    ),
    for_all={R: (1, T)},
    limits=(Limit(R, oo, 20 * sigma**2 / (n * tau * b) + 187 * L**2 * eta_t**2 * B_g**2 / eta_g**2),),
    sweep=SWEEP_13,
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, OTHER_PROOF),
    follows_from=(
        Derivation(derivations.theorem_3_5, cites=("zhang/eqA.33",), substitute=ANY_HORIZON),
        Derivation(derivations.theorem_3_5_anew, cites=CHAIN, substitute=ANY_HORIZON),
    ),
)

THEOREM_3_6 = Statement(
    id="zhang/thm3.6",
    kind="inequality",
    title="Proximal PL inequality: linear convergence of Omega",
    cite="Theorem 3.6, section 3",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(*ASSUMPTIONS, prox_pl),
    implicit=(two_sided, independent_noise, mu_at_most_L),
    when=CONDITION_13,
    then=Le(
        Omega(R + 1),
        (1 - mu * eta_t / 3) ** R * Omega(1)
        + 18 * sigma**2 / (mu * n * tau * b)
        + 168 * L**2 * eta_t**2 * B_g**2 / (mu * eta_g**2),
    ),
    for_all={R: (1, T)},
    limits=(Limit(R, oo, 18 * sigma**2 / (mu * n * tau * b) + 168 * L**2 * eta_t**2 * B_g**2 / (mu * eta_g**2)),),
    sweep=SWEEP_13,
    reading=(
        SMOOTH,
        CONVEX_PART,
        NOISY_KINKS,
        ROUND_ONE,
        OTHER_PROOF,
        "mu <= L is used where the printed proof telescopes: 1 - mu eta~/3 must not be negative; mu can be above L "
        "only where F is constant",
    ),
    follows_from=(
        Derivation(derivations.theorem_3_6, cites=("zhang/eqA.38",), substitute=ANY_HORIZON),
        Derivation(derivations.theorem_3_6_anew, cites=CHAIN, substitute=ANY_HORIZON),
    ),
)

THEOREM_3_8 = Statement(
    id="zhang/thm3.8",
    kind="inequality",
    title="Strongly convex: linear convergence of the iterates",
    cite="Theorem 3.8, section 3",
    method=PROPOSED,
    glossary=GLOSSARY,
    let=(*ASSUMPTIONS, strongly_convex),
    implicit=(two_sided, independent_noise),
    when=(Le(eta_t, mu_sc / (150 * L**2)), Eq(eta_g, sqrt(n))),
    then=Le(
        Omega_sc(R + 1),
        (1 - mu_sc * eta_t / 3) ** R * Omega_sc(1)
        + 30 * eta_t * sigma**2 / (mu_sc * n * tau * b)
        + 21 * eta_t * B_g**2 / (mu_sc * eta_g**2),
    ),
    for_all={R: (1, T)},
    limits=(Limit(R, oo, 30 * eta_t * sigma**2 / (mu_sc * n * tau * b) + 21 * eta_t * B_g**2 / (mu_sc * eta_g**2)),),
    sweep={eta_t: unit("eta") * mu_sc / (150 * L**2), eta_g: sqrt(n)},
    reading=(SMOOTH, CONVEX_PART, NOISY_KINKS, ROUND_ONE, "only f is strongly convex, single f_i need not be convex"),
    follows_from=(Derivation(derivations.theorem_3_8, cites=("zhang/lemA.1", "zhang/lemA.2"), substitute=ANY_HORIZON),),
)
