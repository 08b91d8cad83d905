"""Section 2: lemmas, theorem 3, corollary 4, and what is read off from them."""

from typing import Any

from ...language.algebra import Eq, Ge, Gt, Le, Rational, oo
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Limit, Statement
from ..buttaci import inequalities
from . import derivations, methods
from .symbols import (
    D_0,
    GLOSSARY,
    C,
    C_alpha,
    E,
    G,
    Gamma,
    L,
    N,
    T,
    alpha_max,
    alpha_min,
    at_rest,
    bounded_gradients,
    bounded_variance,
    decaying_steps,
    dist2,
    distance,
    distribution,
    error,
    eta,
    fedavg_weights,
    gamma,
    gap,
    homogeneous,
    kappa_max,
    kappa_min,
    lambda_1,
    lambda_2,
    least_speed,
    level,
    mu,
    nonnegative_weights,
    p,
    p_min,
    positive_weights,
    rho_bar,
    rho_floor,
    rho_least,
    rho_run,
    rho_run_max,
    rho_tilde,
    rule_kept,
    sigma,
    skew_witness,
    slow_decay,
    smooth,
    speed,
    spread,
    spread_star,
    strongly_convex,
    t,
    tau,
    weights_sum_to_one,
)  # fmt: skip

CLOCK = (
    "another way than corollary 4, which falls: a clock of steps, weights that depend on the state, and their ratios"
)
STATE = "a clock of steps, and weights that depend on the state"
RATIOS = "ratios and extremes of weights that depend on the state, (8) and (16)"
FRAMEWORK = (distribution, weights_sum_to_one, smooth, strongly_convex, bounded_variance, bounded_gradients)
KEPT = (rule_kept, *FRAMEWORK)
# of any size, and from step to step they may grow or fall
ANY_STEP: dict[Any, Any] = {eta(t): unit("eta") / L * (1 + free("growth") * t) / (1 + free("decay") * t)}
SLOW_STEP: dict[Any, Any] = {eta(t): unit("eta") / (4 * L) / (1 + unit("decay") * t / E)}
CHOSEN_STEP: dict[Any, Any] = {eta(t): 1 / (mu * (t + gamma))}

ON_THE_RUN = "G bounds E|g_i|^2 at the points w_t^i that the run visits; on all of R^d no strongly convex F_i allows it"
TIME = "t counts local steps, and so does T of (10), written t + 1 >= 1 here: w_T is an iterate of (9)"
OWN_MINIMUM = 'F_i* is printed as "F(w_i*)": F_i(w_i*) is meant, or rho and Gamma make no sense'
DEFINED = "Gamma > 0 where rho_tilde is used: rho(t, w*) is not defined otherwise (footnote 1)"
PATHS = "with noise, rho_bar is the least and rho_tilde the largest over all noise paths"
LIKELY = (
    "encoded as the stored text has it, perhaps a slip of the pen or of the transcription; the likely meaning is {}"
)
LITERAL = "the likely meaning of {}, which is audited as the text has it"
MEANS_E = "tau is never defined; theorem 3 has E in its place"
DIVIDES = Gt(rho_bar, 0)  # what is printed with 1/rho_bar says nothing where rho_bar is 0
CONSTANTS: dict[Any, Any] = {gamma: 4 * L / mu, tau: E, D_0: dist2(0)}


LEAST_SPEED = 8 * L**2 * Gamma / mu**2 + L * gamma * D_0 / 2  # (12)


def speed_of(rho: Any) -> Any:
    """V of corollary 4."""
    return 4 * L * (32 * tau**2 * G**2 + sigma**2) / (3 * mu**2 * rho) + 8 * L**2 * Gamma / mu**2 + L * gamma * D_0 / 2


def error_of(rho: Any) -> Any:
    """E of corollary 4."""
    return 8 * L * Gamma / (3 * mu) * (rho_tilde / rho - 1)


def recursion(rho: Any) -> Any:
    """The right-hand side of (9)."""
    return (
        (1 - eta(t) * mu * (1 + Rational(3, 8) * rho)) * dist2(t)
        + eta(t) ** 2 * (32 * E**2 * G**2 + 6 * rho * L * Gamma + sigma**2)
        + 2 * eta(t) * Gamma * (rho_tilde - rho)
    )


def _error_free(contraction: Any) -> Any:
    """The right-hand side of (13)."""
    return (1 - eta(t) * mu * (1 + contraction)) * dist2(t) + eta(t) ** 2 * (32 * E**2 * G**2 + sigma**2)


LEMMA_1 = Statement(
    id="benmansour/lem1",
    kind="inequality",
    title="The gradient of a smooth function with a minimum",
    cite="Lemma 1, (6)",
    method="function",
    glossary=inequalities.GLOSSARY,
    let=(inequalities.smooth, inequalities.has_minimum),
    then=Le(inequalities.grad2, 2 * inequalities.L * inequalities.gap),
    reading=("f need not be convex, and that the minimiser is unique is not used",),
    follows_from=(Derivation(derivations.lemma_1),),
)

_LEMMA_2: dict[Any, Any] = {
    "kind": "inequality",
    "cite": "Lemma 2, (7)",
    "glossary": GLOSSARY,
    "for_all": {t: (0, T - 1)},
}

LEMMA_2 = Statement(
    id="benmansour/lem2",
    method=methods.PRINTED,
    title="Average discrepancy between w_t and the clients' minimisers",
    let=(*FRAMEWORK, decaying_steps),
    implicit=(nonnegative_weights,),
    then=Le(spread_star(t), 16 * eta(t) ** 2 * E**2 * G**2),
    sweep=SLOW_STEP,
    reading=(ON_THE_RUN, OWN_MINIMUM, LIKELY.format("lem2~iterates")),
    **_LEMMA_2,
)

LEMMA_2_ITERATES = Statement(
    id="benmansour/lem2~iterates",
    method=methods.PRINTED,
    title="Average discrepancy between w_t and the clients' iterates, step sizes that decay as they like",
    let=(*FRAMEWORK, decaying_steps),
    implicit=(nonnegative_weights,),
    then=Le(spread(t), 16 * eta(t) ** 2 * E**2 * G**2),
    sweep={eta(t): free("eta") / L / (1 + free("decay") * t) ** 2},
    reading=(
        ON_THE_RUN,
        LITERAL.format("lem2"),
        "w_t^i for w_i*, as theorem 3's proof uses it; nothing else is changed",
    ),
    **_LEMMA_2,
)

LEMMA_2_REPAIRED = Statement(
    id="benmansour/lem2~repaired",
    waits_for=STATE,
    method=methods.KEPT,
    title="Average discrepancy between w_t and the clients' iterates",
    let=(*KEPT, decaying_steps, slow_decay),
    implicit=(nonnegative_weights,),
    then=Le(spread(t), 16 * eta(t) ** 2 * E**2 * G**2),
    sweep={eta(t): free("eta") / L / (1 + unit("decay") * t / E)},
    reading=(ON_THE_RUN, OWN_MINIMUM),
    repairs="w_t^i for w_i* (that is what theorem 3 uses), and a step size that at most halves within E steps",
    follows_from=(Derivation(derivations.lemma_2),),
    **_LEMMA_2,
)

_THEOREM_3: dict[Any, Any] = {
    "kind": "inequality",
    "cite": "Theorem 3, (9)",
    "glossary": GLOSSARY,
    "for_all": {t: (0, T - 1)},
}

THEOREM_3 = Statement(
    id="benmansour/thm3",
    method=methods.PRINTED,
    title="Progress of one step",
    let=FRAMEWORK,
    implicit=(nonnegative_weights,),
    then=Le(dist2(t + 1), recursion(rho_bar)),
    sweep=SLOW_STEP,
    reading=(
        ON_THE_RUN,
        OWN_MINIMUM,
        DEFINED,
        PATHS,
        "between averages alpha_t is p, as (4) says, and rho_bar looks at t = 0 mod E only",
    ),
    follows_from=(Derivation(derivations.theorem_3_printed, cites=("benmansour/lem1", "benmansour/lem2~repaired")),),
    **_THEOREM_3,
)

THEOREM_3_ROUNDS = Statement(
    id="benmansour/thm3~rounds",
    method=methods.ROUNDS,
    title="Progress of one step, averages as in algorithm 1",
    let=FRAMEWORK,
    implicit=(nonnegative_weights,),
    then=Le(dist2(t + 1), recursion(rho_bar)),
    sweep=SLOW_STEP,
    reading=(
        ON_THE_RUN,
        OWN_MINIMUM,
        DEFINED,
        PATHS,
        "the other reading of when the average happens: after the steps with E | t + 1",
    ),
    **_THEOREM_3,
)

THEOREM_3_KEPT = Statement(
    id="benmansour/thm3~kept",
    method=methods.KEPT,
    title="Progress of one step, with the round's weights and rho_bar as printed",
    let=(*KEPT, decaying_steps, slow_decay),
    implicit=(nonnegative_weights,),
    when=(Le(eta(t), 1 / (4 * L)),),
    then=Le(dist2(t + 1), recursion(rho_bar)),
    sweep={eta(t): (1 + 3 * unit("eta")) / (16 * L)},
    reading=(
        ON_THE_RUN,
        OWN_MINIMUM,
        DEFINED,
        PATHS,
        "half of the repair: all that the proof needs, except that rho_bar looks at t = 0 mod E only",
    ),
    **_THEOREM_3,
)

THEOREM_3_REPAIRED = Statement(
    id="benmansour/thm3~repaired",
    waits_for=STATE,
    method=methods.KEPT,
    title="Progress of one step, with the round's weights and a step size of at most 1/(4L)",
    let=(*KEPT, decaying_steps, slow_decay),
    implicit=(nonnegative_weights,),
    when=(Le(eta(t), 1 / (4 * L)),),
    then=Le(dist2(t + 1), recursion(rho_floor)),
    sweep=SLOW_STEP,
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, PATHS),
    repairs="the weights of the round in (4), rho_bar over all steps and w* (as in Cho et al.), lemma 2's step sizes, "
    "eta_t <= 1/(4L)",
    follows_from=(Derivation(derivations.theorem_3, cites=("benmansour/lem1", "benmansour/lem2~repaired")),),
    **_THEOREM_3,
)

_COROLLARY: dict[Any, Any] = {
    "kind": "inequality",
    "glossary": GLOSSARY,
    "choose": CHOSEN_STEP,
    "for_all": {t: (0, T - 1)},
}

COROLLARY_4 = Statement(
    id="benmansour/cor4",
    method=methods.PRINTED,
    title="O(1/T) bound with speed V and error E",
    cite="Corollary 4, (10)",
    let=FRAMEWORK,
    implicit=(nonnegative_weights,),
    when=(DIVIDES,),
    then=Le(gap(t + 1), speed / (t + 1 + gamma) + error),
    where={speed: speed_of(rho_bar), error: error_of(rho_bar), **CONSTANTS},
    limits=(Limit(t, oo, error),),
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, PATHS, TIME, MEANS_E),
    follows_from=(Derivation(derivations.corollary_4, cites=("benmansour/thm3",)),),
    **_COROLLARY,
)

COROLLARY_4_REPAIRED = Statement(
    id="benmansour/cor4~repaired",
    method=methods.KEPT,
    title="O(1/T) bound with speed V and error E, where the recursion contracts",
    cite="Corollary 4, (10)",
    let=(*KEPT, decaying_steps, slow_decay),
    implicit=(nonnegative_weights,),
    when=(Le(E, gamma), Le(1 + Rational(3, 8) * rho_floor, gamma), Gt(rho_floor, 0)),
    then=Le(gap(t + 1), speed / (t + 1 + gamma) + error),
    where={speed: speed_of(rho_floor), error: error_of(rho_floor), **CONSTANTS},
    limits=(Limit(t, oo, error),),
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, PATHS, TIME, MEANS_E),
    repairs="theorem 3 as repaired; rho_bar over all steps and w*, so that no learning error is negative; "
    "1 + 3 rho_bar/8 <= gamma, so that the factor of (9) is not negative; E <= gamma, so that the step size at most "
    "halves within E steps",
    follows_from=(Derivation(derivations.corollary_4_repaired, cites=("benmansour/thm3~repaired",)),),
    **_COROLLARY,
)

REMARK_5 = Statement(
    id="benmansour/rem5",
    method=methods.FEDMAX,
    title="The gap is O(1/T)",
    cite="Remark 5, (11)",
    let=(*FRAMEWORK, at_rest),
    implicit=(nonnegative_weights,),
    when=(Eq(E, 1), DIVIDES),
    then=Le(gap(t + 1), 0),
    order=1 / (t + 1),
    reading=(
        "(11) names no constant, but it makes the gap vanish; a run at rest has the same gap for every T, which "
        "(11) says is 0: one such run with a gap refutes every constant",
        "corollary 4 does not give (11): its bound tends to E, which is 0 only by chance unless alpha = p",
    ),
    where={gamma: 4 * L / mu},
    **_COROLLARY,
)

REMARK_5_REPAIRED = Statement(
    id="benmansour/rem5~repaired",
    method=methods.KEPT,
    title="The gap is O(1/T) for generalised FedAvg",
    cite="Remark 5, (11)",
    let=(*KEPT, decaying_steps, slow_decay, fedavg_weights),
    implicit=(nonnegative_weights,),
    when=(Le(E, gamma), Gt(rho_floor, 0)),
    then=Le((t + 1) * gap(t + 1), speed),
    where={speed: speed_of(rho_floor), **CONSTANTS},
    reading=(ON_THE_RUN, OWN_MINIMUM, DEFINED, TIME, MEANS_E, "E = 0 because rho(t, w) = 1 for alpha = p"),
    repairs="for alpha = p, with corollary 4's constant V: the learning error E is 0 there, and only there for certain",
    follows_from=(Derivation(derivations.remark_5, cites=("benmansour/cor4~repaired",), substitute={rho_tilde: 1}),),
    **_COROLLARY,
)

_REMARK_6: dict[Any, Any] = {
    "cite": "Remark 6, (12)",
    "glossary": GLOSSARY,
}

REMARK_6 = Statement(
    id="benmansour/rem6~any-data",
    method=methods.FEDMAX,
    kind="exists",
    title="V_min is the least value of the speed, for rho_bar may be arbitrarily large",
    let=(*FRAMEWORK, skew_witness),
    when=(Eq(N, 2), Eq(T, E), Gt(level, 1)),
    then=(Le(least_speed, speed), Ge(rho_bar, level)),
    where={least_speed: LEAST_SPEED, speed: speed_of(rho_bar), level: 1 / p(1), **CONSTANTS},
    reading=(
        "V falls to V_min as rho_bar grows, and never goes below it: what is claimed besides is that rho_bar, measured "
        "on a run, exceeds every level",
        "kinder than the print, which gives the data: over all data and weights p; the witness is FedMax with p_1 = "
        "1/level; for given data, see rem6",
    ),
    follows_from=(Derivation(derivations.remark_6),),
    sweep=ANY_STEP,
    **_REMARK_6,
)

REMARK_6_GIVEN_DATA = Statement(
    id="benmansour/rem6",
    method=methods.PRINTED,
    kind="inequality",
    title="For given data, weights alpha_t make rho_bar arbitrarily large",
    let=(distribution, weights_sum_to_one, smooth, strongly_convex, nonnegative_weights),
    when=(Gt(level, 1),),
    then=Ge(rho_run_max(0), level),
    reading=(
        '"a constant depending only on the data and the initial guess": data, start and p are given, alpha_t is '
        "chosen; over all data: rem6~any-data",
        "no non-negative weights give more than FedMax at w_0, and rho_bar is at most rho(0, w_0): the largest rho_bar "
        "of all is at most rho_run_max(0), for runs of every length",
        "with negative weights, which (3) alone does not exclude and the proof of theorem 3 does, rho(0, w_0) has no "
        "upper bound",
    ),
    sweep={**ANY_STEP, level: 1 + free("level")},
    **_REMARK_6,
)

REMARK_6_REPAIRED = Statement(
    id="benmansour/rem6~repaired",
    method=methods.PRINTED,
    kind="inequality",
    title="Minimal value of the speed for given data",
    let=FRAMEWORK,
    implicit=(nonnegative_weights,),
    when=(DIVIDES,),
    then=Le(least_speed + 4 * L * (32 * tau**2 * G**2 + sigma**2) * p_min / (3 * mu**2), speed),
    where={least_speed: LEAST_SPEED, speed: speed_of(rho_bar), **CONSTANTS},
    repairs="rho_bar is not arbitrarily large for given data: it is at most 1/min p_i, and V stays above V_min",
    follows_from=(Derivation(derivations.remark_6_repaired),),
    sweep=ANY_STEP,
    **_REMARK_6,
)

_EQ_13: dict[Any, Any] = {
    "kind": "inequality",
    "title": "Progress of one step when Gamma = 0",
    "cite": "(13)",
    "glossary": GLOSSARY,
    "implicit": (nonnegative_weights,),
    "for_all": {t: (0, T - 1)},
}

EQ_13 = Statement(
    id="benmansour/eq13",
    method=methods.PRINTED,
    let=(*FRAMEWORK, homogeneous),
    when=(DIVIDES,),
    then=Le(dist2(t + 1), _error_free(3 / (8 * rho_bar))),
    sweep=ANY_STEP,
    reading=(
        ON_THE_RUN,
        PATHS,
        "(13) has 3/(8 rho_bar) where (9) and appendix A have 3 rho_bar/8",
        LIKELY.format("eq13~likely"),
    ),
    follows_from=(Derivation(derivations.equation_13, cites=("benmansour/thm3",), substitute={Gamma: 0}),),
    **_EQ_13,
)

EQ_13_LIKELY = Statement(
    id="benmansour/eq13~likely",
    method=methods.PRINTED,
    let=(*FRAMEWORK, homogeneous),
    then=Le(dist2(t + 1), _error_free(Rational(3, 8) * rho_bar)),
    sweep=ANY_STEP,
    reading=(ON_THE_RUN, PATHS, LITERAL.format("eq13"), "3 rho_bar/8 as in (9); nothing else is changed"),
    follows_from=(Derivation(derivations.equation_13, cites=("benmansour/thm3",), substitute={Gamma: 0}),),
    **_EQ_13,
)

EQ_13_REPAIRED = Statement(
    id="benmansour/eq13~repaired",
    waits_for=STATE,
    method=methods.KEPT,
    let=(*KEPT, homogeneous, decaying_steps, slow_decay),
    when=(Le(eta(t), 1 / (4 * L)),),
    then=Le(dist2(t + 1), _error_free(Rational(3, 8) * rho_least)),
    sweep=SLOW_STEP,
    reading=(ON_THE_RUN, PATHS),
    repairs="3 rho_bar/8 as in (9), with what theorem 3 needs",
    follows_from=(Derivation(derivations.equation_13_repaired, cites=("benmansour/lem1", "benmansour/lem2~repaired")),),
    **_EQ_13,
)

EQ_14 = Statement(
    id="benmansour/eq14",
    waits_for=CLOCK,
    method=methods.PRINTED,
    title="Bound when Gamma = 0",
    cite="(14)",
    let=(*FRAMEWORK, homogeneous),
    implicit=(nonnegative_weights,),
    when=(DIVIDES,),
    then=Le(
        gap(t + 1),
        1 / (t + 1 + gamma) * (4 * L * (32 * tau**2 * G**2 + sigma**2) / (3 * mu**2 * rho_bar) + L * gamma * D_0 / 2),
    ),
    where=CONSTANTS,
    limits=(Limit(t, oo, 0 * gamma),),
    reading=(ON_THE_RUN, PATHS, TIME, MEANS_E),
    follows_from=(Derivation(derivations.equation_14, cites=("benmansour/cor4",), substitute={Gamma: 0}),),
    **_COROLLARY,
)

_EQ_15: dict[Any, Any] = {
    "kind": "inequality",
    "title": "FedMax maximises the weighting skew when Gamma = 0",
    "cite": "(15)",
    "glossary": GLOSSARY,
    "implicit": (nonnegative_weights,),
    "then": Le(rho_run(t), rho_run_max(t)),
    "for_all": {t: (0, T - 1)},
    "sweep": ANY_STEP,
}
_UNIFORM = (distribution, weights_sum_to_one, smooth, strongly_convex, homogeneous)

EQ_15 = Statement(
    id="benmansour/eq15",
    method=methods.SIDE_BY_SIDE,
    let=_UNIFORM,
    reading=(
        "rho_bar is a minimum along the run (after (8)), and the run depends on the weights: each choice of weights is "
        "measured on its own run from the same start; at the same points: eq15~same-iterates",
        "for every length t + 1 of the run",
    ),
    **_EQ_15,
)

EQ_15_SAME_ITERATES = Statement(
    id="benmansour/eq15~same-iterates",
    method=methods.PRINTED,
    let=_UNIFORM,
    reading=("both weights are measured at the same points w_t, those of eq15's first run: no text says so",),
    follows_from=(Derivation(derivations.equation_15),),
    **_EQ_15,
)

REMARK_7 = Statement(
    id="benmansour/rem7",
    method=methods.PRINTED,
    kind="inequality",
    title="alpha = p minimises the learning error, and gives 0",
    cite="Remark 7",
    glossary=GLOSSARY,
    let=(distribution, weights_sum_to_one, smooth, strongly_convex),
    implicit=(nonnegative_weights,),
    choose=CHOSEN_STEP,
    when=(DIVIDES,),
    then=Ge(rho_tilde / rho_bar, 1),
    where={gamma: 4 * L / mu},
    reading=(
        "alpha = p makes rho(t, w) = 1 for every w, hence E = 0; the claim is that no weights make E negative",
        "E is 8 L Gamma/(3 mu) times rho_tilde/rho_bar - 1: it is negative when rho_tilde/rho_bar < 1",
        "the text prints rho_bar/rho - 1 and E(rho_bar, rho_bar): rho_tilde/rho_bar - 1 is meant, as in corollary 4",
        "E is that of corollary 4, and so are the step sizes",
    ),
)

REMARK_7_REPAIRED = Statement(
    id="benmansour/rem7~repaired",
    method=methods.KEPT,
    kind="inequality",
    title="alpha = p minimises the learning error, and gives 0",
    cite="Remark 7",
    glossary=GLOSSARY,
    let=(rule_kept, distribution, weights_sum_to_one, smooth, strongly_convex),
    implicit=(nonnegative_weights,),
    choose=CHOSEN_STEP,
    when=(Gt(rho_floor, 0),),
    then=Ge(rho_tilde / rho_floor, 1),
    where={gamma: 4 * L / mu},
    repairs="rho_bar as Cho et al. have it: the minimum also looks at w*, so that it is at most rho_tilde",
    follows_from=(Derivation(derivations.remark_7),),
)

_RATIOS: dict[Any, Any] = {
    "kind": "inequality",
    "glossary": GLOSSARY,
    "let": (distribution, weights_sum_to_one, positive_weights, smooth, strongly_convex),
    "sweep": ANY_STEP,
}

EQ_16_RATIOS = Statement(
    id="benmansour/eq16-ratios",
    waits_for=RATIOS,
    method=methods.PRINTED,
    title="The skews are bounded by the ratios kappa",
    cite="after (16)",
    then=(Le(rho_tilde / rho_bar, kappa_max / kappa_min), Le(1 / rho_bar, 1 / kappa_min)),
    reading=("the text prints rho_bar/rho: rho_tilde/rho_bar is meant, as in corollary 4",),
    follows_from=(Derivation(derivations.ratios),),
    **_RATIOS,
)

FAMILY: dict[Any, Any] = {
    C: LEAST_SPEED,
    lambda_1: 4 * L * (32 * tau**2 * G**2 + sigma**2) / (3 * mu**2),
    lambda_2: 8 * L * Gamma / (3 * mu),
    **CONSTANTS,
}
NAMED = "C, lambda_1 and lambda_2 are called constants and not given: those that corollary 4 leaves"

EQ_17 = Statement(
    id="benmansour/eq17",
    waits_for=CLOCK,
    method=methods.PRINTED,
    title="Bound in pi and Pi",
    cite="(17)",
    let=(*FRAMEWORK, positive_weights, nonnegative_weights),
    then=Le(gap(t + 1), (C + lambda_1 / kappa_min) / (t + 1 + gamma) + lambda_2 * (kappa_max - kappa_min) / kappa_min),
    where=FAMILY,
    reading=(ON_THE_RUN, PATHS, TIME, MEANS_E, NAMED),
    follows_from=(Derivation(derivations.equation_17, cites=("benmansour/cor4", "benmansour/eq16-ratios")),),
    **_COROLLARY,
)

EQ_18 = Statement(
    id="benmansour/eq18",
    waits_for=RATIOS,
    method=methods.PRINTED,
    title="Chain that bounds Pi",
    cite="(18) and the line after it",
    then=(
        Le(kappa_max * p_min, alpha_max),
        Le(alpha_max, 1 - (N - 1) * alpha_min),
        Le(1 - (N - 1) * alpha_min, 1 - (N - 1) * kappa_min * p_min),
        Le(kappa_max, (1 - (N - 1) * kappa_min * p_min) / p_min),
    ),
    reading=("minima and maxima are over all clients and all rounds",),
    follows_from=(Derivation(derivations.equation_18),),
    **_RATIOS,
)

EQ_18_ERROR = Statement(
    id="benmansour/eq18-error",
    method=methods.PRINTED,
    title="Bound on the learning error in pi alone",
    cite="the line after (18)",
    then=Le(error, 1 / (kappa_min * p_min) - N),
    where={error: error_of(rho_bar)},
    reading=("E is the learning error of corollary 4",),
    follows_from=(Derivation(derivations.error_in_pi, cites=("benmansour/eq16-ratios", "benmansour/eq18")),),
    **_RATIOS,
)

EQ_18_ERROR_REPAIRED = Statement(
    id="benmansour/eq18-error~repaired",
    method=methods.PRINTED,
    title="Bound on the learning error in pi alone",
    cite="the line after (18)",
    then=Le(error, lambda_2 * (1 / (kappa_min * p_min) - N)),
    where={error: error_of(rho_bar), lambda_2: 8 * L * Gamma / (3 * mu)},
    repairs="times lambda_2 = 8 L Gamma/(3 mu), as (19) has it: E is a loss, the printed bound a pure number",
    follows_from=(Derivation(derivations.error_in_pi, cites=("benmansour/eq16-ratios", "benmansour/eq18")),),
    **_RATIOS,
)

EQ_19 = Statement(
    id="benmansour/eq19",
    waits_for=CLOCK,
    method=methods.PRINTED,
    title="Bound in pi alone",
    cite="(19)",
    let=(*FRAMEWORK, positive_weights, nonnegative_weights),
    then=Le(gap(t + 1), (C + lambda_1 / kappa_min) / (t + 1 + gamma) + lambda_2 * (1 / (kappa_min * p_min) - N)),
    where=FAMILY,
    reading=(ON_THE_RUN, PATHS, TIME, MEANS_E, NAMED),
    follows_from=(Derivation(derivations.equation_19, cites=("benmansour/eq17", "benmansour/eq18")),),
    **_COROLLARY,
)

_SPEED_OF_FEDAVG: dict[Any, Any] = {
    "kind": "identity",
    "title": "Speed of generalised FedAvg",
    "cite": "(20)",
    "glossary": GLOSSARY,
    "let": (*FRAMEWORK, fedavg_weights),
    "where": {speed: speed_of(rho_bar), least_speed: LEAST_SPEED, **CONSTANTS},
    "sweep": ANY_STEP,
}

EQ_20 = Statement(
    id="benmansour/eq20",
    method=methods.PRINTED,
    then=Eq(speed, least_speed + (4 * L - 32 * tau**2 * G**2 + sigma**2) / (3 * mu**2)),
    reading=(
        "V is that of corollary 4, with the rho_bar that alpha = p gives, which is 1",
        LIKELY.format("eq20~repaired"),
    ),
    follows_from=(Derivation(derivations.equation_20),),
    **_SPEED_OF_FEDAVG,
)

EQ_20_REPAIRED = Statement(
    id="benmansour/eq20~repaired",
    method=methods.PRINTED,
    then=Eq(speed, least_speed + 4 * L * (32 * tau**2 * G**2 + sigma**2) / (3 * mu**2)),
    reading=(LITERAL.format("eq20"),),
    repairs="4L(32 tau^2 G^2 + sigma^2) as in corollary 4: a bracket was lost, and with it the units",
    follows_from=(Derivation(derivations.equation_20),),
    **_SPEED_OF_FEDAVG,
)

REMARK_10 = Statement(
    id="benmansour/rem10-alpha-limit",
    kind="experiment",
    title="FedSoftMax's weights approach p_i at rate 1/t",
    cite="section 3.2 before remark 10, figure 6",
    method="scalar",
    glossary=GLOSSARY,
    then=Le(distance, C_alpha / (t + 1)),
    reading=(
        'observed in the IID framework, "almost always", with no proof and no code; the text adds that for a very '
        "non-IID dataset the weights tend to other limits",
        "seen here on strongly convex quadratics with minibatch noise, clients with one minimiser for IID, minimisers "
        "apart for non-IID; the rate is the slope of log distance against log t",
        "FedSoftMax's weights are irrational: the kernel has no exact replay of the method",
        "as printed: table 2's clients, rounds and step sizes 10^-4 0.99^t; settled after looking: the same steps on "
        "losses 625 times as steep. Corollary 4's step sizes with more rounds are looked at too, but no reading: table "
        "2 has others",
    ),
)

rounds_avg = GLOSSARY.symbol("rounds_avg", "1", "rounds of FedAvg to a level of the gap", r"R_{\mathrm{FedAvg}}")
rounds_soft = GLOSSARY.symbol("rounds_soft", "1", "rounds of FedSoftMax to it", r"R_{\mathrm{FedSoftMax}}")
REMARK_9 = Statement(
    id="benmansour/rem9",
    kind="experiment",
    title="FedSoftMax is faster than FedAvg, and its bias grows with the distance from IID",
    cite="Remark 9, section 3.2, table 3 and figures 2 to 4",
    method="scalar",
    glossary=GLOSSARY,
    then=Le(rounds_soft, rounds_avg),
    reading=(
        "observed on a network and images, without code; seen here on strongly convex quadratics with exact gradients, "
        "50 clients, E = 2 (table 2), temperature 10; how far the minimisers of the clients are apart is the distance "
        "from IID",
        "faster: fewer rounds until the gap has fallen by the factor 10; the discrepancy, rounds of FedAvg less rounds "
        "of FedSoftMax, does not fall with the distance, and there is none for IID (table 3); the bias is the distance "
        "of the last model from w*, less FedAvg's, directly proportional where its slope in log-log is between 3/4 and "
        "5/4",
        "as printed: 50 rounds of table 2's step sizes 10^-4 0.99^t; the text leaves open how steep the losses are, so "
        "that the same steps on losses 625 times as steep are looked at too",
    ),
)
