"""Meta-functions, similarity of users and of their data, and estimates of meta-gradients: lemmas 4.2 to 4.4, H.1, H.2,
the claims of section 4.1, and the differences of gradients of section 5 and appendix H."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Ge, Integer, Le, Rational, Sum, sqrt
from ...language.derivation import Derivation
from ...language.knobs import free, unit
from ...language.statement import Assumption, Limit, Statement
from . import estimator_proofs as proofs
from .measured import (
    W1,
    W_mean2,
    W_u2,
    apart2,
    bias2,
    bias2_FO,
    bias2_HF,
    bias2_shared,
    central,
    dF,
    error_H,
    hess,
    hess_inner,
    hv,
    inner,
    mean_moved2,
    moved2,
    mse,
    mse_FO,
    mse_HF,
    spread_F,
    spread_G,
    spread_H,
    tv,
    v,
)
from .symbols import (
    D0,
    D1,
    D2,
    GLOSSARY,
    L_F,
    L_Z,
    B,
    D,
    L,
    R,
    alpha,
    bounded_gradients,
    delta,
    gamma_F,
    gamma_G,
    gamma_H,
    gradient_variance,
    hessian_variance,
    i,
    j,
    lipschitz_hessian,
    m,
    n,
    rho,
    rho_Z,
    sigma_F,
    sigma_G,
    sigma_H,
    similar_gradients,
    similar_hessians,
    smooth,
)

_STEP = {alpha: unit("alpha") / L}
_BOTH = {**_STEP, delta: free("delta") / L}
_WITHIN = Le(alpha, 1 / L)
_USERS = (bounded_gradients, smooth, lipschitz_hessian)
_DATA = (*_USERS, gradient_variance, hessian_variance)
_LIKE = (*_USERS, similar_gradients, similar_hessians)
BATCHES = "batches in proofs: means, variances and independence of estimates that rest on others"
USERS = "the users of a setting without a method in proofs: averages over them, their laws, how far these are apart"
HESSIANS = "operators on the vectors of a proof: Hessians"
_SEPARABLE = "tried on sums over the coordinates, where a Hessian is diagonal"

average = Assumption("average", (), "f is the average of the f_i", "(1)")
total = Assumption("total", (), "f = sum_i f_i, as printed in assumption 5, which calls it the average", "assumption 5")
point_gradients = Assumption("point_gradients", (B,), "|grad l(z; w)| <= B for every z and w", "section 4.1")
point_hessians = Assumption("point_hessians", (L,), "|Hess l(z; w)| <= L for every z and w", "section 4.1")
metric = Assumption("metric", (), "d(., .) is a distance on the set of data points", "section 4.1")
lipschitz_in_z = Assumption(
    "lipschitz_in_z", (L_Z,), "|grad l(z1; w) - grad l(z2; w)| <= L_Z d(z1, z2) for every w", "(15)"
)
hessian_lipschitz_in_z = Assumption(
    "hessian_lipschitz_in_z", (rho_Z,), "|Hess l(z1; w) - Hess l(z2; w)| <= rho_Z d(z1, z2) for every w", "(15)"
)

EQ_5 = Statement(
    id="fallah/eq5",
    kind="identity",
    title="Gradient of the meta-function",
    cite="(5), section 3",
    method="meta",
    glossary=GLOSSARY,
    let=(smooth,),
    then=Eq(dF(j), inner(j) - alpha * hess_inner(j)),
    for_all={j: (1, D)},
    sweep=_STEP,
    reading=(
        "coordinate by coordinate: (I - alpha Hess f_i(w)) times the gradient, for any Hessian",
        _SEPARABLE,
        "f_i is twice differentiable, as assumption 2 says later",
    ),
    waits_for=f"{HESSIANS}, and the chain rule",
    follows_from=(Derivation(proofs.eq_5),),
)
EQ_5_DIAGONAL = replace(
    EQ_5,
    id="fallah/eq5~diagonal",
    title="Gradient of the meta-function, for diagonal Hessians",
    then=Eq(dF(j), (1 - alpha * hess(j)) * inner(j)),
    reading=("no more than a special case: Hess f_i(w) is diagonal", *EQ_5.reading[2:]),
    waits_for=HESSIANS,
    follows_from=(),
)

ASM_5 = Statement(
    id="fallah/asm5-default",
    waits_for=USERS,
    kind="inequality",
    title="Assumption 5 holds with 2B and 2L",
    cite="after assumption 5, section 4",
    method="meta",
    glossary=GLOSSARY,
    let=(bounded_gradients, smooth, average),
    then=(Le(spread_G, gamma_G**2), Le(spread_H, gamma_H**2)),
    where={gamma_G: 2 * B, gamma_H: 2 * L},
    reading=("f is the average (1), as assumption 5 calls it, although it prints f = sum_i f_i: see ~sum", _SEPARABLE),
    follows_from=(Derivation(proofs.assumption_5),),
)
ASM_5_SUM = Statement(
    id="fallah/asm5-default~sum",
    kind="inequality",
    title="Assumption 5 holds with 2B and 2L, f being the sum",
    cite="after assumption 5, section 4",
    method="meta",
    glossary=GLOSSARY,
    let=(bounded_gradients, smooth, total),
    then=(Le(spread_G, gamma_G**2), Le(spread_H, gamma_H**2)),
    where={gamma_G: 2 * B, gamma_H: 2 * L},
    reading=("the literal print of assumption 5: f(w) = sum_i f_i(w), a factor 1/n lost", _SEPARABLE),
)

_TV: dict[str, Any] = {
    "kind": "inequality",
    "cite": "(14a), section 4.1, appendix B.1",
    "method": "meta",
    "glossary": GLOSSARY,
    "reading": ("all users share the loss l and differ in p_i; finitely many data points", _SEPARABLE),
}
EQ_14A_GRAD = Statement(
    **_TV,
    id="fallah/eq14a-grad",
    waits_for=USERS,
    title="gamma_G from total variation",
    let=(point_gradients,),
    then=Le(spread_G, gamma_G**2),
    where={gamma_G: sqrt(4 * B**2 / n * Sum(tv(i) ** 2, (i, 1, n)))},
    follows_from=(Derivation(proofs.total_variation),),
)
EQ_14A_HESS = Statement(
    **_TV,
    id="fallah/eq14a-hess",
    waits_for=USERS,
    title="gamma_H from total variation",
    let=(point_hessians,),
    then=Le(spread_H, gamma_H**2),
    where={gamma_H: sqrt(4 * L**2 / n * Sum(tv(i) ** 2, (i, 1, n)))},
    follows_from=(Derivation(proofs.total_variation),),
)

_WASSERSTEIN: dict[str, Any] = {**_TV, "cite": "(16), section 4.1, appendix B.2"}
EQ_16_GRAD = Statement(
    **_WASSERSTEIN,
    id="fallah/eq16-grad",
    waits_for=USERS,
    title="gamma_G from the 1-Wasserstein distance",
    let=(metric, lipschitz_in_z),
    then=Le(spread_G, gamma_G**2),
    where={gamma_G: sqrt(L_Z**2 / n * Sum(W1(i) ** 2, (i, 1, n)))},
    follows_from=(Derivation(proofs.wasserstein),),
)
EQ_16_HESS = Statement(
    **_WASSERSTEIN,
    id="fallah/eq16-hess",
    waits_for=USERS,
    title="gamma_H from the 1-Wasserstein distance",
    let=(metric, hessian_lipschitz_in_z),
    then=Le(spread_H, gamma_H**2),
    where={gamma_H: sqrt(rho_Z**2 / n * Sum(W1(i) ** 2, (i, 1, n)))},
    follows_from=(Derivation(proofs.wasserstein),),
)

on_a_line = Assumption("on_a_line", (), "data are real numbers, with d(x, y) = |x - y|", "[41]")
homogeneous = Assumption("homogeneous", (), "each p_i is the empirical distribution of m draws from p_u", "section 4.1")
_CUBE = (2 * m) ** Rational(-1, 3) / 4
SAMPLE_RATE = Statement(
    id="fallah/sec4.1-sample-rate",
    kind="order",
    title="Homogeneous users with m data points are similar up to 1/sqrt(m)",
    cite="section 4.1, last paragraph",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (n, L_Z, rho_Z), "the users and the loss do not depend on m"),
        Assumption("grows", (m,), "for large m"),
    ),
    when=(Ge(n, 2),),
    then=(
        Le(_CUBE, 1 / sqrt(m)),
        Le(L_Z * (1 - 1 / n) * _CUBE, L_Z / sqrt(m)),
        Le(rho_Z * (1 - 1 / n) * _CUBE, rho_Z / sqrt(m)),
    ),
    order=1 / sqrt(m),
    reading=(
        "as printed, for data in any metric space and of bounded support; the constant of O may depend on p_u, "
        "which is fixed: uniform on the unit cube of three dimensions with the maximum norm. That W_1 = O(1/sqrt(m)) "
        "is quoted from [41], which is about the line: see ~on-a-line; the footnote says that the dimension matters",
        "W_1(p_i, p_u), left in the first claim, is a lower bound for every distribution on m points: cubes of side "
        "(2m)^(-1/3) around them hold at most half of the mass, and the rest is moved by half a side or more",
        "gamma_G = L_Z (mean of W_1(p_i, p)^2)^(1/2) of (16) is at least L_Z times the mean of W_1(p_i, p), in "
        "expectation at least L_Z (1 - 1/n) W_1(p_i, p_u): the other users' data averaged out (W_1 is convex); so is "
        "gamma_H",
    ),
    by_hand="the distance of any m points from the uniform distribution on a cube",
)
_RATE = R / (2 * sqrt(m))
SAMPLE_RATE_LINE = Statement(
    id="fallah/sec4.1-sample-rate~on-a-line",
    kind="inequality",
    title="The same for data on a line, with a constant",
    cite="section 4.1, last paragraph",
    method="samples",
    glossary=GLOSSARY,
    let=(homogeneous, on_a_line),
    then=(Le(sqrt(W_u2), _RATE), Le(gamma_G, L_Z * _RATE), Le(gamma_H, rho_Z * _RATE)),
    where={gamma_G: L_Z * sqrt(W_mean2), gamma_H: rho_Z * sqrt(W_mean2)},
    order=1 / sqrt(m),
    reading=(
        "data on a line, as in [41], and of bounded support",
        "O is read in mean square over the draws, with the constant R/2, R the diameter of the data",
        "tried on finitely many points",
    ),
    follows_from=(Derivation(proofs.sample_rate),),
)

LEMMA_4_2 = Statement(
    id="fallah/lem4.2",
    waits_for=HESSIANS,
    kind="inequality",
    title="Meta-functions are smooth",
    cite="Lemma 4.2, section 4.2, appendix C",
    method="meta",
    glossary=GLOSSARY,
    let=_USERS,
    when=(_WITHIN,),
    then=(Le(sqrt(moved2(i)), L_F * sqrt(apart2)), Le(sqrt(mean_moved2), L_F * sqrt(apart2))),
    where={L_F: 4 * L + alpha * rho * B},
    for_all={i: (1, n)},
    sweep=_STEP,
    reading=("first every F_i, then their average F", _SEPARABLE),
    follows_from=(Derivation(proofs.lemma_4_2),),
)

LEMMA_4_3_BIAS = Statement(
    id="fallah/lem4.3-bias",
    waits_for=BATCHES,
    kind="inequality",
    title="Bias of the meta-gradient estimate",
    cite="Lemma 4.3, section 4.2, appendix D",
    method="meta",
    glossary=GLOSSARY,
    let=_DATA,
    when=(_WITHIN,),
    then=Le(sqrt(bias2), 2 * alpha * L * sigma_G / sqrt(D0)),
    sweep=_STEP,
    reading=(
        "the estimate is (8), as the lemma says: the Hessian has its own batch D''; for D' see ~algorithm1",
        "batches are independent draws; finitely many data points",
        _SEPARABLE,
    ),
    follows_from=(Derivation(proofs.lemma_4_3_bias),),
)

LEMMA_4_3_ALGORITHM = Statement(
    id="fallah/lem4.3-bias~algorithm1",
    kind="inequality",
    title="Bias of the estimate that algorithm 1 prints",
    cite="Lemma 4.3 for algorithm 1, sections 3 and 4.2",
    method="meta",
    glossary=GLOSSARY,
    let=_DATA,
    when=(_WITHIN,),
    then=Le(sqrt(bias2_shared), 2 * alpha * L * sigma_G / sqrt(D0)),
    sweep=_STEP,
    reading=(
        "not the lemma: the literal reading of algorithm 1 and of the two stages below (8), whose Hessian is printed"
        " with the batch D' of the outer gradient",
        *LEMMA_4_3_BIAS.reading[1:],
    ),
)

_S2 = sigma_G**2 * (1 / D1 + (alpha * L) ** 2 / D0)
LEMMA_4_3_VARIANCE = Statement(
    id="fallah/lem4.3-variance",
    waits_for=BATCHES,
    kind="inequality",
    title="Deviation of the meta-gradient estimate",
    cite="Lemma 4.3, section 4.2, appendix D",
    method="meta",
    glossary=GLOSSARY,
    let=_DATA,
    when=(_WITHIN,),
    then=Le(mse, sigma_F**2),
    where={sigma_F: sqrt(12 * (B**2 + _S2) * (1 + sigma_H**2 * alpha**2 / (4 * D2)) - 12 * B**2)},
    sweep=_STEP,
    limits=(Limit(alpha, Integer(0), 12 * sigma_G**2 / D1),),
    reading=LEMMA_4_3_BIAS.reading,
    follows_from=(
        Derivation(proofs.lemma_4_3_variance, ("fallah/eq30b",)),
        Derivation(proofs.lemma_4_3_products),
        Derivation(proofs.lemma_4_3_sharp),
    ),
)

EQ_30B = Statement(
    id="fallah/eq30b",
    kind="inequality",
    title="Deviation of the estimated Hessian",
    cite="(30b), appendix D",
    method="meta",
    glossary=GLOSSARY,
    let=_DATA,
    when=(_WITHIN,),
    then=Le(error_H, alpha**2 * sigma_H**2 / D2),
    sweep=_STEP,
    reading=(
        "a step of the proof of lemma 4.3, not of the catalogue; the norm of a matrix is spectral",
        _SEPARABLE,
    ),
)
EQ_30B_REPAIRED = Statement(
    id="fallah/eq30b~repaired",
    waits_for=BATCHES,
    kind="inequality",
    title="Deviation of the estimated Hessian",
    cite="(30b), appendix D",
    method="meta",
    glossary=GLOSSARY,
    let=_DATA,
    when=(_WITHIN,),
    then=Le(error_H, D * alpha**2 * sigma_H**2 / D2),
    sweep=_STEP,
    reading=EQ_30B.reading,
    repairs="times the dimension d: an average has 1/D'' of the variance in the Frobenius norm, up to sqrt(d) larger",
    follows_from=(Derivation(proofs.frobenius),),
)

LEMMA_4_4 = Statement(
    id="fallah/lem4.4",
    waits_for=HESSIANS,
    kind="inequality",
    title="Similarity of the meta-gradients",
    cite="Lemma 4.4, section 4.2, appendix E",
    method="meta",
    glossary=GLOSSARY,
    let=_LIKE,
    when=(_WITHIN,),
    then=Le(spread_F, gamma_F**2),
    where={gamma_F: sqrt(3 * B**2 * alpha**2 * gamma_H**2 + 192 * gamma_G**2)},
    sweep=_STEP,
    limits=(Limit(alpha, Integer(0), 192 * gamma_G**2),),
    reading=(
        "f in assumption 5 is the average (1); with the printed sum gamma_G and gamma_H only become larger",
        _SEPARABLE,
    ),
    follows_from=(Derivation(proofs.lemma_4_4), Derivation(proofs.lemma_4_4_sharper)),
)

_FIRST: dict[str, Any] = {
    "kind": "inequality",
    "cite": "Lemma H.1, appendix H",
    "method": "meta",
    "glossary": GLOSSARY,
    "let": _DATA,
    "when": (_WITHIN,),
    "sweep": _STEP,
    "reading": ("the estimate is (112)", *LEMMA_4_3_BIAS.reading[1:]),
}
LEMMA_H_1_BIAS = Statement(
    **_FIRST,
    id="fallah/lemH.1-bias",
    waits_for=BATCHES,
    title="Bias of the first-order estimate",
    then=Le(sqrt(bias2_FO), alpha * L * (sigma_G / sqrt(D0) + B)),
    follows_from=(Derivation(proofs.lemma_H_1_bias),),
)
LEMMA_H_1_VARIANCE = Statement(
    **_FIRST,
    id="fallah/lemH.1-variance",
    waits_for=BATCHES,
    title="Deviation of the first-order estimate",
    then=Le(mse_FO, 2 * _S2 + 2 * (alpha * L * B) ** 2),
    follows_from=(Derivation(proofs.lemma_H_1_variance),),
)

_FREE: dict[str, Any] = {
    **_FIRST,
    "cite": "Lemma H.2, appendix H",
    "sweep": _BOTH,
    "reading": ("the estimate is (120) with (121), delta > 0", *LEMMA_4_3_BIAS.reading[1:]),
}
LEMMA_H_2_BIAS = Statement(
    **_FREE,
    id="fallah/lemH.2-bias",
    waits_for=BATCHES,
    title="Bias of the Hessian-free estimate",
    then=Le(
        sqrt(bias2_HF),
        alpha * (2 * L * sigma_G / sqrt(D0) + L * sigma_G / sqrt(D1) + rho * delta * B**2),
    ),
    follows_from=(Derivation(proofs.lemma_H_2_bias, ("fallah/eq119",)),),
)
LEMMA_H_2_VARIANCE = Statement(
    **_FREE,
    id="fallah/lemH.2-variance",
    waits_for=BATCHES,
    title="Deviation of the Hessian-free estimate",
    then=Le(
        mse_HF,
        6 * sigma_G**2 * (2 * (alpha * L) ** 2 / D0 + 2 / D1 + alpha**2 / (2 * delta**2 * D2))
        + 2 * (alpha * rho * delta) ** 2 * B**4,
    ),
    follows_from=(Derivation(proofs.lemma_H_2_variance, ("fallah/eq119",)),),
)

_APART: dict[str, Any] = {
    "kind": "inequality",
    "method": "meta",
    "glossary": GLOSSARY,
    "let": (lipschitz_hessian,),
    "sweep": {delta: free("delta")},
}
_LENGTH2 = Sum(v(j) ** 2, (j, 1, D))
EQ_119 = Statement(
    **_APART,
    id="fallah/eq119",
    waits_for=HESSIANS,
    title="Error of the central difference",
    cite="(119), appendix H",
    then=Le(sqrt(Sum((central(j) / (2 * delta) - hv(j)) ** 2, (j, 1, D))), rho * delta * _LENGTH2),
    reading=("delta > 0", _SEPARABLE),
    follows_from=(Derivation(proofs.central_difference),),
)
SEC_5_HF = Statement(
    **_APART,
    id="fallah/sec5-hf-formula",
    title="The Hessian-free formula of section 5",
    cite="section 5 (ii)",
    then=Le(sqrt(Sum((central(j) / delta - hv(j)) ** 2, (j, 1, D))), rho * delta * _LENGTH2),
    reading=(
        "printed: Hess phi(w) u ~ (grad phi(u + delta v) - grad phi(u - delta v))/delta. Point and vector are mixed up;"
        " they are read as in (119): Hess phi(w) v and grad phi(w + delta v) - grad phi(w - delta v)",
        "~ has the error that appendix H gives for it, rho delta |v|^2; for a quadratic that is 0, and so is any"
        " other multiple of it",
        _SEPARABLE,
    ),
)
SEC_5_HF_REPAIRED = Statement(
    **_APART,
    id="fallah/sec5-hf-formula~repaired",
    waits_for=HESSIANS,
    title="The Hessian-free formula of section 5",
    cite="section 5 (ii)",
    then=Le(sqrt(Sum((central(j) / (2 * delta) - hv(j)) ** 2, (j, 1, D))), rho * delta * _LENGTH2),
    reading=(
        SEC_5_HF.reading[0],
        "the likely meaning: a 2 that was lost in print, with the error of appendix H",
        _SEPARABLE,
    ),
    repairs="divided by 2 delta as in (119)",
    follows_from=(Derivation(proofs.restated, ("fallah/eq119",)),),
)
