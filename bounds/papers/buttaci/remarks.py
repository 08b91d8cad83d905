"""Sentences of chapters 2, 4 and 5 beside the theorems: gradient descent, assumption 4.4, rule (4.6), what is said of
limits, of a larger alpha, and of the perturbed iterate."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Gt, Integer, Le, Lt, Rational, oo
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Assumption, Limit, Statement
from . import forms, network_proofs, remark_proofs
from .claims import ITERATIONS_FEDPROX, LEADING_PERTURBED, alpha_any, restated
from .fedprox import THEOREM_4_1_II
from .methods import DESCENT, FROM_NEIGHBOURS, PERTURBED, TWO_POINTS
from .network import FROM_WEIGHTS, hom, spectrum
from .network import GLOSSARY as OF_NETWORKS
from .network import C as NODES
from .symbols import (
    GLOSSARY,
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
    apart2,
    bounded_variance,
    descent2,
    divergence,
    first_slope,
    full_participation,
    gamma,
    i,
    k,
    level,
    mu,
    sigma,
    slopes_apart2,
    smooth,
    t,
)
from .symbols_perturbed import (
    ANY_SIMILARITY,
    ASSUMPTIONS_1_TO_4,
    beta,
    perturbation,
    perturbed_gradients,
    rule_slope2,
    similarity_weights,
)

ONE_WEIGHT = (
    Assumption("weights_sum_to_one", (), "one function, of weight 1"),
    Assumption("nonnegative_weights", (), "one function, of weight 1"),
)
one_function = (Eq(C, 1), Eq(E, 1))
DISPLAY: Any = level(t) - gamma(t) * descent2(t) + L * gamma(t) ** 2 / 2 * descent2(t)
ONE_LOSS = "one function f: a single client"

GRADIENT_DESCENT = Statement(
    id="buttaci/sec2.2-descent",
    kind="inequality",
    title="Gradient descent on a smooth function goes down",
    cite="Section 2.2, the display and the line below it",
    method=DESCENT,
    glossary=GLOSSARY,
    let=(smooth, *ONE_WEIGHT),
    when=(*one_function, Lt(gamma(t), 2 / L), Gt(descent2(t), 0)),
    then=(
        Le(level(t + 1), DISPLAY),
        Le(DISPLAY, level(t) - gamma(t) * (1 - L * gamma(t) / 2) * descent2(t)),
        Lt(level(t + 1), level(t)),
    ),
    for_all={t: (0, T - 1)},
    sweep={gamma(t): 2 * unit("gamma") / L},
    follows_from=(Derivation(remark_proofs.gradient_descent),),
    reading=(
        ONE_LOSS,
        "the third relation is the line below: a decrease for gamma_t < 2/L where grad f is not 0",
    ),
)

upper_bound = Assumption(
    "descent",
    (L,),
    "f_i(w) <= f_i(v) + grad f_i(v)'(w - v) + L/2 |w - v|^2 for all v, w",
    "assumption 4.4, second display",
)
lower_bounded = Assumption("lower_bounded", (), "f is bounded below", "assumption 4.6")
EQUIVALENT = Statement(
    id="buttaci/asm4.4-equivalent",
    kind="inequality",
    title="The quadratic upper bound gives Lipschitz gradients",
    cite="Assumption 4.4: or equivalently",
    method=TWO_POINTS,
    glossary=GLOSSARY,
    let=(upper_bound, lower_bounded, *ONE_WEIGHT),
    when=one_function,
    then=Le(slopes_apart2(t), L**2 * apart2(t)),
    for_all={t: (0, T)},
    reading=(
        "the direction that is in question; that Lipschitz gradients give the upper bound is the descent lemma",
        "for the losses of section 4.2: differentiable, strongly convex or nonconvex and bounded below (4.6); for "
        "convex ones it holds",
    ),
)
EQUIVALENT_REPAIRED = replace(
    EQUIVALENT,
    id="buttaci/asm4.4-equivalent~repaired",
    let=(upper_bound, Assumption("convex", (), "f is convex", "4.5 implies it"), lower_bounded, *ONE_WEIGHT),
    follows_from=(Derivation(remark_proofs.upper_bound),),
    repairs="equivalent for convex losses; a nonconvex one needs the lower bound, with -L/2, too",
)

LANDING = replace(
    THEOREM_4_1_II,
    id="buttaci/sec4.2-landing",
    title="A decreasing step size lands on the critical point",
    cite="Section 4.2.2, below theorem 4.1",
    limits=(Limit(t, oo, Integer(0)),),
    reading=(
        *THEOREM_4_1_II.reading,
        "landing exactly on the critical point: E f tends to f*, for the decreasing step sizes of theorem 4.1 (II), of "
        "which the sentence speaks; what is claimed for every t is its bound, and the bound tends to 0",
    ),
    follows_from=(Derivation(restated, cites=("buttaci/thm4.1-II",)),),
)

EACH_TERM = Statement(
    id="buttaci/sec4.2-each-term",
    kind="order",
    title="If the average of the squared gradients goes to zero, each of them does",
    cite="Section 4.2.3, before theorem 4.3",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (first_slope,), "one problem"),
        Assumption("grows", (T,), "for large values of T"),
    ),
    then=Lt(T * first_slope**2, T * L * Delta),
    where={Delta: first_slope**2 / (2 * L)},
    reading=(
        "on one problem that theorem 4.3 (I) allows, whose average goes to zero by it: a client with f = L w^2/2 from "
        "w_{0,0} = g/L, exact gradients, E = 1; the first term of the average is |grad f(w_{0,0})|^2 = g^2 for every T",
        "approaching zero: o of L Delta, which does not depend on T (both times T, which is left to grow); a term at a "
        "fixed t stays, in case I as in case II, and of terms with t -> infinity an average says nothing either",
    ),
    form=forms.first_term(),
)

RULE = Statement(
    id="buttaci/sec4.3-rule",
    waits_for="vectors that a client keeps from its neighbours over the end of a round",
    kind="identity",
    title="Rule (4.6) solves problem (4.5)",
    cite="Section 4.3.2, (4.5) and (4.6)",
    method=FROM_NEIGHBOURS,
    glossary=GLOSSARY,
    let=(full_participation, similarity_weights, bounded_variance),
    when=(Lt(beta, 1),),
    then=Eq(rule_slope2(t, k, i), 0 * rule_slope2(t, k, i)),
    for_all={t: (0, T - 1), k: (0, E), i: (1, C)},
    sweep={beta: free("beta") / (1 + free("beta"))},
    reading=(
        ANY_SIMILARITY,
        "(4.5) is strongly convex with modulus beta + (1 - beta) sum_j p_ij/p_i = 1, so that a point solves it exactly "
        "if its gradient beta (w - w^i_{t,k}) + (1 - beta)/p_i sum_j p_ij (w - w^j_{t-1,E}) is 0 there, on every path",
        "before the first round the last iterates are w_{0,0}",
        "that the weights p_i of the network sum to 1 is sec4.3-rule~weights",
    ),
)
RULE_WEIGHTS = Statement(
    id="buttaci/sec4.3-rule~weights",
    waits_for=FROM_WEIGHTS,
    kind="identity",
    title="The weights that the network gives sum to one",
    cite="Section 4.3.2, observation: p_i = [A1]_i/(2C(C-1) hom(C))",
    method="graph",
    glossary=OF_NETWORKS,
    when=(Gt(NODES, 1), Gt(hom, 0)),
    then=Eq(spectrum / (2 * NODES * (NODES - 1) * hom), 1),
    reading=("the sum of the degrees [A1]_i is the trace of the Laplacian, and so the sum of its eigenvalues",),
    follows_from=(Derivation(network_proofs.proposition_3_1),),
)


def asymptotic(prox: Any) -> Any:
    """What theorem 4.1 (I) leaves for t -> infinity."""
    noise = S * sigma**2 / (4 * mu) + 3 * L * Gamma / (2 * mu) + 2 * E**2 * G**2 / mu
    return L / (prox + L) * noise


larger = GLOSSARY.symbol("larger", "F/W^2", "by how much alpha is larger (4.4)", nonnegative=True)
SPEED_OF_G4 = alpha_any**2 * E**3 * G**4 / (alpha_any + L) ** 2
SPEED_OF_G43 = alpha_any ** Rational(4, 3) * L ** Rational(2, 3) * E ** Rational(1, 3) * G ** Rational(4, 3)
LARGER_ALPHA = Statement(
    id="buttaci/sec4.4-alpha",
    kind="inequality",
    title="A larger alpha shrinks the asymptotic error, and two terms exist only for alpha > 0",
    cite="Section 4.4, end of the first paragraph, and below the first display of the last",
    method="scalar",
    glossary=GLOSSARY,
    then=(
        Le(asymptotic(alpha_any + larger), asymptotic(alpha_any)),
        Le(SPEED_OF_G4, alpha_any**2 * E**3 * G**4 / L**2),
        Le(SPEED_OF_G43 / (alpha_any + L) ** 2, SPEED_OF_G43 / L**2),
    ),
    follows_from=(Derivation(remark_proofs.by_algebra),),
    reading=(
        "about the bound of theorem 4.1 (I), whose asymptotic error has the factor L/(alpha + L)",
        "the terms in G^4/epsilon^2 and G^(4/3)/epsilon^(2/3) of FedProx's complexity are at most their "
        "values with L for L_alpha, which have a power of alpha as a factor: they are 0 for alpha = 0, FedAvg",
    ),
)

COMPARED = Statement(
    id="buttaci/sec4.4-compared",
    waits_for="lines with irrational powers of several symbols, which no certificate is found for",
    kind="inequality",
    title="The perturbed method needs fewer iterations than FedProx",
    cite="Section 4.4, last paragraph, below the second display",
    method="scalar",
    glossary=GLOSSARY,
    when=(Le(sigma, G), Le(S, 1), Gt(Delta, 0)),
    then=Lt(LEADING_PERTURBED, ITERATIONS_FEDPROX),
    where={L_alpha: alpha + L},
    sweep={sigma: G * unit("sigma"), S: unit("S")},
    follows_from=(Derivation(remark_proofs.compared),),
    reading=(
        "'asymptotically inferior' is smaller, with the numbers that are printed in O: as orders both are the same for "
        "small accuracies (sec4.4-complexity-compared)",
        "'a limited magnitude of the last term' leaves that term out",
        "sigma <= G: the variance is part of E|g|^2; S <= 1 is a sum of squared weights; Delta > 0: a gap to close",
    ),
)

CLOSER = Statement(
    id="buttaci/sec5.2-closer",
    kind="inequality",
    title="The perturbed iterate is closer to the average than the client's own",
    cite="Section 5.2, second paragraph",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS_1_TO_4,
    implicit=(perturbed_gradients,),
    when=(Lt(beta, 1),),
    then=Le(perturbation(t, k, i), divergence(t, k, i)),
    for_all={t: (0, T - 1), k: (1, E), i: (1, C)},
    sweep={beta: free("beta") / (1 + free("beta")), gamma(t): unit("gamma") / L},
    reading=(
        "'we believe it is worth finding' such an iterate, and that of (4.6) is offered as one",
        "kindest reading: in expectation, and not at k = 0, where the client's own iterate is the average itself",
        ANY_SIMILARITY,
    ),
)
