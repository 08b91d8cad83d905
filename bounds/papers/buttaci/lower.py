"""FedProx lower bound on the two-group quadratic: theorem 4.2, appendix B.4."""

from dataclasses import replace

from ...language.algebra import Ge, Gt, Le, Lt, Min, Sum, e
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Assumption, Statement
from . import derivations
from .methods import FEDPROX
from .noise_sum import M, lam, lemma_B_8, mean2, noise_sum2
from .symbols import (
    GLOSSARY,
    C,
    Delta,
    E,
    S,
    T,
    alpha,
    dist2,
    gamma,
    gamma_,
    gap,
    i,
    independent_noise,
    k,
    mu,
    p,
    sigma,
    sum_p2,
    t,
)

_s = GLOSSARY.symbol
nu = _s("nu", "1", "larger contraction in one step (lemma B.7)", r"\nu")
A_B7 = _s("A_B7", "1", "the constant that lemma B.7 says exists", "A", real=True)
G_lin = _s("G_lin", "F/W", "linear coefficient of the two-group losses (B.4), printed G", "G")
TWO_GROUPS = (
    Assumption(
        "two_groups",
        (mu, G_lin),
        "f_i = mu w^2/2 + G w for the first half of the clients, mu w^2/4 - G w for the second (signs flipped if "
        "w_{0,0} < 0); odd C: a last f_i = 0",
        "appendix B.4",
    ),
    Assumption("equal_weights", (), "p_i = 1/C", "appendix B.4"),
    Assumption("exact_variance", (sigma,), "g_i is unbiased with E|g_i - grad f_i|^2 = sigma^2", "appendix B.4"),
    independent_noise,
)
independent = Assumption(
    "independent", (), "all zeta^i_k are independent with mean Z_i and variance sigma^2", "lemma B.8"
)

LEMMA_B_7 = Statement(
    id="buttaci/lemB.7",
    kind="inequality",
    title="Lower bound on the sum of a_k",
    cite="Lemma B.7, appendix B.4",
    method="scalar",
    glossary=GLOSSARY,
    when=(Lt(lam, nu), Le(nu, 1 / E), Ge(E, 2)),
    then=(
        Ge(Sum((1 - lam) ** k - (1 - nu) ** k, (k, 0, E - 1)), A_B7 * (1 - lam / nu)),
        Gt(A_B7, 0),
        Le(A_B7, 1 - 1 / e),
    ),
    where={A_B7: 1 - (1 - nu) ** (E - 1)},
    sweep={nu: unit("nu") / E, lam: free("lambda") / (1 + free("lambda")) * unit("nu") / E},
    reading=("A may depend on nu and E: the proof's A = 1 - (1 - nu)^(E-1) is the witness",),
    follows_from=(Derivation(derivations.lemma_B_7),),
)

LEMMA_B_8 = Statement(
    id="buttaci/lemB.8",
    kind="inequality",
    title="Lower bound on the accumulated noise",
    cite="Lemma B.8, appendix B.4",
    method="noise_sum",
    glossary=GLOSSARY,
    let=(independent,),
    when=(Le(lam, 1 / E),),
    then=Ge(noise_sum2, E * sigma**2 / e**2 * Sum(p[i] ** 2, (i, 1, M)) + E**2 / e**2 * mean2),
    sweep={lam: unit("lambda") / E},
    reading=("V zeta = sigma^2 is E|zeta - Z|^2; the weights are any reals",),
    follows_from=(Derivation(lemma_B_8),),
)

THEOREM_4_2 = Statement(
    id="buttaci/thm4.2",
    kind="exists",
    title="FedProx: lower bound on the two-group quadratic",
    cite="Theorem 4.2, section 4.2.2; construction in B.4",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=TWO_GROUPS,
    choose={gamma(t): gamma_},
    when=(Le(gamma_, 1 / (E * (alpha + mu))), Ge(E, 2), Ge(C, 2)),
    then=(
        Ge(
            gap(t),
            Min(
                Delta * (1 - 3 * mu / (4 * (alpha + mu))) ** (2 * t),
                1
                / (t + 1) ** 2
                * (
                    3 * mu**3 * A_B7**2 * G_lin**2 / (128 * E**2 * (alpha + mu) ** 4)
                    + 3 * mu * S * sigma**2 / (64 * E * (alpha + mu) ** 2)
                ),
            ),
        ),
        Gt(A_B7, 0),
        Le(A_B7, 1 - 1 / e),
    ),
    where={Delta: gap(0), S: sum_p2, A_B7: 1 - (1 - gamma_ * (alpha + mu)) ** (E - 1)},
    for_all={t: (0, T)},
    sweep={gamma_: unit("gamma") / (E * (alpha + mu))},
    reading=(
        "the witness is the construction of B.4 with H = mu, h = mu/2, uniform weights within each group",
        "A is lemma B.7's at nu = gamma (alpha + mu)",
        "odd C: one further client has f_i = 0; all weights are then 1/C and f is (1 - 1/C) 3 mu/8 w^2",
        "w_{0,0} is given (deterministic); for w_{0,0} < 0 the signs of the linear terms are flipped, as the text says",
    ),
    follows_from=tuple(
        Derivation(
            proof,
            cites=("buttaci/lemB.7",),
            substitute={nu: gamma_ * (alpha + mu), lam: gamma_ * (alpha + mu / 2)},
        )
        for proof in (derivations.theorem_4_2_in_two_cases, derivations.theorem_4_2)
    ),
)


def strongly_convex_witness(theorem: Statement) -> Statement:
    """That the objective of a lower bound is mu/2-strongly convex, as the theorem says that it is."""
    return replace(
        theorem,
        id=f"{theorem.id}~strongly-convex",
        waits_for="the parity of the number of clients, which says whether one is idle",
        title=f"{theorem.title}: the objective is mu/2-strongly convex",
        then=Ge(gap(t), mu / 4 * dist2(t)),
        where={},
        reading=(
            f"a part of the claim of {theorem.cite.split(',')[0].lower()}; f is a parabola in one variable, so that it "
            "is mu/2-strongly convex exactly if its gap is at least mu/4 times the squared distance, at any point",
            "for odd C it is 3 mu/4 (1 - 1/C) that has to be at least mu/2: for C = 3 they are equal",
        ),
        follows_from=(),
    )


STRONGLY_CONVEX_4_2 = strongly_convex_witness(THEOREM_4_2)
