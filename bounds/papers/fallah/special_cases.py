"""What the text reads off from lemmas 4.3 and 4.4, theorem 4.5 and corollary 4.6: special cases and settings, remark
4.7, and appendix H's theorem for the cheaper estimates."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Ge, Integer, Le, simplify, sqrt
from ...language.derivation import Argument, Derivation, Step, View
from ...language.statement import Assumption, Statement
from . import forms
from .algorithm import FIRST_ORDER
from .forms import mean_square
from .method import CONSTANTS
from .method_symbols import Delta, a1, a2, a4, c, eps, first_order
from .orders import (
    COROLLARY_46,
    FAMILY_READING,
    NO_NOISE,
    ORDERS,
    PRINTED,
    SHORT,
    SUITABLE,
    THEOREM_45,
    TWO_USERS,
    run_of,
)
from .symbols import (
    D0,
    D1,
    GLOSSARY,
    L_F,
    B,
    K,
    L,
    alpha,
    beta,
    gamma_F,
    gamma_G,
    gamma_H,
    n,
    r,
    sigma_F,
    sigma_G,
    tau,
)

_CLASSIC = {alpha: Integer(0)}
SIGMA_F = sqrt(simplify((CONSTANTS[sigma_F] ** 2).subs(_CLASSIC)))  # lemma 4.3 at alpha = 0
_SLIP = "printed sigma_F = O(1) sigma_G^2/D'; both sides have one dimension only with sigma_F^2: {}"

LEMMA_43_CLASSIC = Statement(
    id="fallah/lem4.3-alpha0",
    kind="order",
    title="sigma_F for alpha = 0",
    cite="after lemma 4.3, section 4.2: the second special case",
    method="order",
    glossary=GLOSSARY,
    then=Eq(sigma_F, sigma_G**2 / D1),
    where={sigma_F: SIGMA_F},
    reading=(
        "\"O(1) sigma_G^2/D', which is tight up to constants\": each is O of the other, for every sigma_G and D'",
        _SLIP.format("the likely meaning is fallah/lem4.3-alpha0~likely"),
    ),
)
LEMMA_43_CLASSIC_LIKELY = replace(
    LEMMA_43_CLASSIC,
    id="fallah/lem4.3-alpha0~likely",
    then=Eq(sigma_F**2, sigma_G**2 / D1),
    reading=(
        "the likely meaning of fallah/lem4.3-alpha0, which is audited as the text has it: sigma_F^2 for sigma_F, as "
        "after theorem 4.5",
        "tight: E|estimate - grad f_i|^2 is sigma_G^2/D' where (11) is an equality",
    ),
)


def special_cases_at_once(goal: View) -> Argument:
    """192 is between 1 and 14^2."""
    steps = tuple(Step(relation) for relation in goal.relations)
    return Argument(steps, steps)


GAMMA_F = CONSTANTS[gamma_F]

LEMMA_44_CLASSIC = Statement(
    id="fallah/lem4.4-alpha0",
    kind="inequality",
    title="gamma_F for equal gradients and for alpha = 0",
    cite="after lemma 4.4, section 4.2: both special cases",
    method="scalar",
    glossary=GLOSSARY,
    then=(
        Le(GAMMA_F, sqrt(3) * B * alpha * gamma_H + 14 * gamma_G),
        Ge(GAMMA_F.subs(_CLASSIC), gamma_G),
    ),
    follows_from=(Derivation(special_cases_at_once),),
    reading=(
        "both cases at once: the right side of the first relation is 0 for gamma_G = gamma_H = 0, and O(1) gamma_G for "
        "alpha = 0, with O(1) = 14",
        "optimal up to a constant factor: the left side of lemma 4.4 is that of (13) for alpha = 0, which may be "
        "gamma_G^2, so that no bound is below gamma_G",
    ),
)

_SGD = {alpha: Integer(0), tau: Integer(1), r: Integer(1)}
_SECOND: Any = (PRINTED - 4 * Delta / (beta * tau * K)).subs(_SGD)
_REDUCES = "the second term: all that O(1) stands before in theorem 4.5, at alpha = 0, tau = 1, r = 1"
THEOREM_45_SGD = Statement(
    id="fallah/thm4.5-sgd",
    kind="order",
    title="alpha = 0, tau = 1, r = 1: the noise term of stochastic gradient descent",
    cite="after theorem 4.5, section 4.2",
    method="order",
    glossary=GLOSSARY,
    when=(Ge(n, 2),),
    then=(Le(_SECOND, beta * L_F * sigma_F**2), Eq(sigma_F**2, sigma_G**2 / D0)),
    where={sigma_F: SIGMA_F},
    reading=(
        _REDUCES,
        "'sigma_F^2 itself is equal to sigma_G^2/D': lemma 4.3 has 12 sigma_G^2/D' there, so that the equality is "
        "read up to a constant",
        "D is the batch of the inner gradient, which is not used for alpha = 0; the likely meaning, D', is "
        "fallah/thm4.5-sgd~likely",
    ),
)
THEOREM_45_SGD_LIKELY = replace(
    THEOREM_45_SGD,
    id="fallah/thm4.5-sgd~likely",
    then=(THEOREM_45_SGD.relations[0], Eq(sigma_F**2, sigma_G**2 / D1)),
    reading=(
        _REDUCES,
        "the likely meaning of fallah/thm4.5-sgd, which is audited as the text has it: D' for D, up to a constant",
    ),
)

_BATCH = (
    "D = O(1/epsilon) is read as an equality up to a constant; gradients are exact on these users, so that any D is as "
    "good as an infinite one; setting alpha = O(epsilon^(1/2)) instead is fallah/cor4.6-eps~small-alpha"
)
COROLLARY_46_EPS = replace(
    COROLLARY_46,
    id="fallah/cor4.6-eps",
    title="Batches of 1/epsilon points reach an epsilon-first-order stationary point",
    cite="after corollary 4.6, section 4.2",
    let=(
        Assumption("fixed", (L, alpha, c, a1, a2), "the problem does not depend on epsilon"),
        Assumption("vanishes", (eps,), "for small epsilon"),
    ),
    then=Le(mean_square(K), eps),
    reading=(_BATCH, *COROLLARY_46.reading),
    form=run_of("cor4.6-eps", mean_square(K), forms.COROLLARY_SIZES, forms.corollary, ORDERS),
)
_SMALL = {alpha: a4 * sqrt(eps)}
COROLLARY_46_SMALL = replace(
    COROLLARY_46,
    id="fallah/cor4.6-eps~small-alpha",
    title="A meta-step of epsilon^(1/2) reaches an epsilon-first-order stationary point",
    cite="after corollary 4.6, section 4.2",
    let=(
        Assumption("fixed", (L, c, a1, a2, a4), "the problem does not depend on epsilon"),
        Assumption("vanishes", (eps,), "for small epsilon"),
    ),
    when=(Le(2 * alpha * L, 1), *SHORT[2:]),
    then=Le(mean_square(K), eps),
    where={**TWO_USERS, **ORDERS, **_SMALL},
    reading=("alpha = O(epsilon^(1/2)) is read as an equality up to a constant a_4", SUITABLE, *FAMILY_READING),
    form=run_of("cor4.6-eps~small-alpha", mean_square(K), forms.SMALL_ALPHA_SIZES, forms.small_alpha, ORDERS | _SMALL),
)
COROLLARY_46_EPS_REPAIRED = replace(
    COROLLARY_46_EPS,
    id="fallah/cor4.6-eps~repaired",
    then=Le(mean_square(K), eps + (1 - r) * sqrt(eps)),
    form=run_of("cor4.6-eps~repaired", mean_square(K), forms.COROLLARY_SIZES, forms.corollary, ORDERS),
    reading=COROLLARY_46_EPS.reading[:-2],
    repairs="the accuracy is O(epsilon^(1/2)) where only some users take part, and as printed for r = 1",
)

REMARK_47 = replace(
    THEOREM_45,
    id="fallah/rem4.7",
    title="The same bound for models at uniformly chosen local steps",
    cite="remark 4.7",
    reading=(
        "t_k is uniform and independent of the run, so that the mean over k of E|grad F|^2 at wbar_{k+1,t_k} is the "
        "mean over all rounds and updates: the same upper bound is that of theorem 4.5, and falls or stands with it",
        *THEOREM_45.reading,
    ),
    form=run_of("rem4.7", mean_square(K), forms.THEOREM_SIZES, forms.run, {}),
)

# appendix H: sigma_F and alpha^2 L^2 sigma_G^2/D of theorem 4.5 replaced, on the two users with exact gradients
_SLOPE_FO = L * (1 - alpha * L)
_BOUND_H: Any = PRINTED - alpha**2 * L**2 * sigma_G**2 / D0 + first_order**2
APPENDIX_H = Statement(
    id="fallah/appH-thm4.5",
    kind="order",
    title="Theorem 4.5 for the first-order estimate",
    cite="appendix H, before (112); lemma H.1",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (L, c), "one problem: O(1) may even depend on it"),
        Assumption("grows", (tau, K), "for many updates and rounds"),
        Assumption("vanishes", (beta, alpha), "for small steps"),
    ),
    when=SHORT[1:],
    then=Le(mean_square(K, _SLOPE_FO), _BOUND_H),
    where={
        **TWO_USERS,
        sigma_F: sqrt(2) * alpha * L * B,
        first_order: alpha * L * B,
        sigma_G: Integer(0),
    },
    reading=(
        *FAMILY_READING,
        "updates are along grad f_i(w - alpha grad f_i(w)) = L (1 - alpha L) (w -+ c) there",
        "sigma_F is tilde sigma_F and alpha^2 L^2 sigma_G^2/D is m_F^2, both of lemma H.1 with sigma_G = 0: they "
        "vanish with alpha, as the text says; what falls is the drift of the sampled users, as in theorem 4.5",
        "the Hessian-free variant does on these users what Per-FedAvg does, for gradients are straight lines there and "
        "central differences exact: m_F and tilde sigma_F of lemma H.2 vanish with delta, and the claim is that of "
        "fallah/thm4.5",
        NO_NOISE,
    ),
    form=run_of("appH-thm4.5", mean_square(K, _SLOPE_FO), forms.THEOREM_SIZES, forms.run, {}, method=FIRST_ORDER),
)
