"""Claims beside the theorems: lines of appendix A, remark 8, and what the text calls optimal and tight."""

from typing import Any

from ...language.algebra import Ge, Gt, Le, Max, Rational
from ...language.derivation import Derivation
from ...language.knobs import free
from ...language.statement import Statement
from . import derivations, methods
from .statements import (
    ANY_STEP,
    CHOSEN_STEP,
    CLOCK,
    CONSTANTS,
    DEFINED,
    FAMILY,
    FRAMEWORK,
    KEPT,
    MEANS_E,
    NAMED,
    ON_THE_RUN,
    OWN_MINIMUM,
    PATHS,
    SLOW_STEP,
    STATE,
    error_of,
    recursion,
    speed_of,
)
from .symbols import (
    A_5,
    D_0,
    GLOSSARY,
    C,
    E,
    G,
    Gamma,
    L,
    N,
    T,
    beta,
    bounded_gradients,
    bounded_gradients_of_fedmax,
    decaying_steps,
    dist2,
    distribution,
    error,
    eta,
    gamma,
    kappa_min,
    lambda_1,
    lambda_2,
    local_excess,
    local_fall,
    mu,
    nonnegative_weights,
    p_min,
    positive_weights,
    psi,
    recursion_holds,
    rho_bar,
    rho_floor,
    rho_run,
    rho_run_max,
    rho_tilde,
    sigma,
    slow_decay,
    smooth,
    speed,
    strongly_convex,
    t,
    weights_sum_to_one,
)  # fmt: skip

TILDES = "the stored text prints rho_bar - rho_bar, which is 0: rho_tilde - rho_bar is meant, as in (9)"

_FIFTH: dict[Any, Any] = {
    "kind": "inequality",
    "title": "Bound on the term A_5",
    "cite": "Appendix A, the bound on A_5",
    "glossary": GLOSSARY,
    "implicit": (nonnegative_weights,),
    "for_all": {t: (0, T - 1)},
}


def _fifth(rho: Any) -> Any:
    """The printed bound on A_5."""
    return (
        eta(t) ** 2 * (16 * E**2 * G**2 + 6 * rho * L * Gamma)
        - Rational(3, 8) * eta(t) * mu * rho * dist2(t)
        + 2 * eta(t) * Gamma * (rho_tilde - rho)
    )


FIFTH_TERM = 4 * L * eta(t) ** 2 * local_excess(t) - 2 * eta(t) * local_fall(t)

APP_A_5 = Statement(
    id="benmansour/appA-A5",
    method=methods.PRINTED,
    let=FRAMEWORK,
    then=Le(A_5, _fifth(rho_bar)),
    where={A_5: FIFTH_TERM},
    sweep=ANY_STEP,
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, PATHS, TILDES),
    **_FIFTH,
)

APP_A_5_REPAIRED = Statement(
    id="benmansour/appA-A5~repaired",
    waits_for=STATE,
    method=methods.KEPT,
    let=(*KEPT, decaying_steps, slow_decay),
    when=(Le(eta(t), 1 / (4 * L)),),
    then=Le(A_5, _fifth(rho_floor)),
    where={A_5: FIFTH_TERM},
    sweep=SLOW_STEP,
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, PATHS, TILDES),
    repairs="what theorem 3 needs: the weights of the round in (4), rho_bar over all steps and w*, lemma 2's step "
    "sizes, eta_t <= 1/(4L)",
    **_FIFTH,
)

B = 1 + Rational(3, 8) * rho_bar
D = 2 * Gamma * (rho_tilde - rho_bar)
PSI = Max(
    gamma * D_0,
    (beta**2 * (32 * E**2 * G**2 + 6 * rho_bar * L * Gamma + sigma**2) + D * beta * (t + gamma)) / (beta * mu * B - 1),
)

_INDUCTION: dict[Any, Any] = {
    "kind": "inequality",
    "title": "The induction of corollary 4",
    "cite": "Appendix A, proof of corollary 4",
    "method": methods.PRINTED,
    "glossary": GLOSSARY,
    "let": (*FRAMEWORK, recursion_holds),
    "choose": {eta(t): beta / (t + gamma)},
    "then": Le(dist2(t), psi / (t + gamma)),
    "where": {psi: PSI, D_0: dist2(0)},
    "for_all": {t: (0, T)},
}
GIVEN_RECURSION = "it starts from theorem 3's inequality: runs on which that one holds are looked at"
ANY_BETA = (
    "eta_t = beta/(t + gamma): C is multiplied by beta^2; corollary 4 has beta = 1/mu, and gamma > 0 is free here"
)

APP_A_INDUCTION = Statement(
    id="benmansour/appA-induction",
    when=(Gt(beta * mu * B, 1),),
    sweep={beta: (1 + free("beta")) / mu, gamma: free("gamma")},
    reading=(ON_THE_RUN, DEFINED, PATHS, TILDES, GIVEN_RECURSION, ANY_BETA),
    **_INDUCTION,
)

APP_A_INDUCTION_REPAIRED = Statement(
    id="benmansour/appA-induction~repaired",
    when=(Gt(beta * mu * B, 1), Le(beta * mu * B, gamma), Ge(rho_tilde, rho_bar)),
    sweep={beta: (1 + free("beta")) / mu, gamma: (1 + free("beta")) * (1 + free("gamma"))},
    reading=(ON_THE_RUN, DEFINED, PATHS, TILDES, GIVEN_RECURSION, ANY_BETA),
    repairs="beta mu B <= gamma and rho_bar <= rho_tilde: no factor 1 - eta_t mu B is negative, and D is not",
    **_INDUCTION,
)

REMARK_8 = Statement(
    id="benmansour/rem8",
    waits_for=CLOCK,
    kind="inequality",
    title="Bounds on speed and error in pi alone",
    cite="Remark 8, on (19)",
    method=methods.PRINTED,
    glossary=GLOSSARY,
    let=(*FRAMEWORK, positive_weights),
    then=(Le(speed, C + lambda_1 / kappa_min), Le(error, lambda_2 * (1 / (kappa_min * p_min) - N))),
    where={speed: speed_of(rho_bar), error: error_of(rho_bar), **FAMILY},
    sweep=ANY_STEP,
    reading=(
        ON_THE_RUN,
        PATHS,
        MEANS_E,
        NAMED,
        "V and E of corollary 4 are at most what stands beside 1/(T + gamma), and alone, in (19): there nothing but pi "
        "depends on the weights, if data, start, p and G are given",
    ),
    follows_from=(Derivation(derivations.remark_8, cites=("benmansour/eq16-ratios", "benmansour/eq18")),),
)

_OPTIMAL: dict[Any, Any] = {
    "kind": "inequality",
    "title": "FedMax gives the least bound on the speed",
    "cite": "Section 2.3, after (22)",
    "glossary": GLOSSARY,
    "implicit": (nonnegative_weights,),
    "when": (Gt(rho_run(t), 0), Gt(rho_run_max(t), 0)),
    "then": Le(speed_of(rho_run_max(t)), speed_of(rho_run(t))),
    "where": CONSTANTS,
    "for_all": {t: (0, T - 1)},
}
_LOSSES = (distribution, weights_sum_to_one, smooth, strongly_convex)

SECTION_3_OPTIMAL = Statement(
    id="benmansour/sec3-fedmax-optimal",
    method=methods.SIDE_BY_SIDE,
    let=(*_LOSSES, bounded_gradients, bounded_gradients_of_fedmax),
    sweep={**ANY_STEP, sigma: free("sigma")},
    reading=(
        'the bound on the speed is V of corollary 4; "as observed above" is (15) and remark 7, which maximise rho_bar',
        "rho_bar is a minimum along the run, so that each choice of weights is measured on its own run from the same "
        "start; at the same points: sec3-fedmax-optimal~same-iterates",
        "full gradients are run, which assumption 3 allows with every sigma",
    ),
    **_OPTIMAL,
)

SECTION_3_OPTIMAL_SAME = Statement(
    id="benmansour/sec3-fedmax-optimal~same-iterates",
    method=methods.PRINTED,
    let=FRAMEWORK,
    reading=(
        ON_THE_RUN,
        "both weights are measured at the same points w_t: no text says so",
    ),
    follows_from=(Derivation(derivations.fedmax_optimal),),
    **_OPTIMAL,
)

bound_T = GLOSSARY.symbol("bound_T", "W^2", "(9), carried from step to step along the run", r"B_T")
distance_T = GLOSSARY.symbol("distance_T", "W^2", "|w_T - w*|^2 at the end of the run", r"\|w_T - w^\star\|^2")
quite = GLOSSARY.symbol("quite", "1", "the factor that 'quite tight' allows; no number is printed", "c")
SECTION_4_TIGHT = Statement(
    id="benmansour/sec4-tight",
    kind="experiment",
    title="The upper bound of the main theorem is quite tight",
    cite="Section 3.2, end of the first paragraph; footnote 3 says that those for V and E are not",
    method="scalar",
    glossary=GLOSSARY,
    then=Le(bound_T, quite * distance_T),
    reading=(
        "an observation: 'experiments ... tend to prove' it; seen here on the runs of remark 9, with FedSoftMax, exact "
        "gradients, and the least G, L and 1/mu that a run allows",
        "(9) bounds one step, and with table 2's steps, which are near 0, both of its sides are |w_t - w*|^2 up to the "
        "step: the row has that ratio too, but what experiments show are whole runs, so that (9) is carried along them",
        "as printed: 50 rounds of table 2's step sizes 10^-4 0.99^t; the text leaves open how steep the losses are, so "
        "that the same steps on losses 625 times as steep are looked at too",
        "for all runs, with a number: sec4-tight~ten",
    ),
)

SECTION_4_TIGHT_TEN = Statement(
    id="benmansour/sec4-tight~ten",
    kind="inequality",
    title="The upper bound of the main theorem is at most ten times what it bounds",
    cite=SECTION_4_TIGHT.cite,
    method=methods.PRINTED,
    glossary=GLOSSARY,
    let=FRAMEWORK,
    implicit=(nonnegative_weights,),
    choose=CHOSEN_STEP,
    then=Le(recursion(rho_bar), 10 * dist2(t + 1)),
    where={gamma: 4 * L / mu},
    for_all={t: (0, T - 1)},
    reading=(
        "sec4-tight as an inequality for all runs: the factor ten is ours, no number is printed; the main theorem is "
        "read with the step sizes that corollary 4 takes from it",
        "with steps that tend to 0 both sides of (9) are |w_t - w*|^2 up to the step: that says nothing of the bound",
        "no factor would do: where client gradients do not vanish, 32 eta_t^2 E^2 G^2 grows with E^2",
        ON_THE_RUN,
        OWN_MINIMUM,
        DEFINED,
        PATHS,
    ),
)
