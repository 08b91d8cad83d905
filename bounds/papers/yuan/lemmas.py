"""Definition 1, lemmas 1 to 4, 7, 10, 11 and remark 5: functions, data sets, minibatches and sampled devices."""

from ...language.algebra import Eq, Integer, Le, Lt, Max, Min, Sum, sqrt
from ...language.derivation import Derivation
from ...language.knobs import free
from ...language.statement import Assumption, Statement
from . import lemma_proofs as proofs
from .run import FEDMSPP, OWN_BASES
from .symbols import (
    DEVICES,
    GLOSSARY,
    B,
    D,
    G,
    H,
    I,
    L,
    M,
    N,
    about_empirical,
    among,
    apart,
    averaged2,
    away,
    b,
    beta,
    bias,
    bias_m,
    deviation,
    envelope_slope,
    eps,
    eta,
    f_plus,
    f_u,
    fresh2,
    gamma,
    global2,
    independent_minibatches,
    inexact,
    j,
    lam,
    lipschitz,
    local2,
    m,
    mean_d,
    moved2,
    nonnegative_loss,
    nu,
    plus_u2,
    rho,
    sampled2,
    sampled_d,
    smooth,
    spread2,
    u_w2,
    variance,
    variance_m,
    weakly_convex,
)

EXCHANGED = "data sets with one point exchanged in proofs: stability of minimisers, Efron and Stein"
INEXACT = "inexact oracles inside of a run: |grad Q|^2 <= 2 (L + 1/eta) (Q - min Q)"
_WITHIN = (
    "what came before the step (F_{t-1}) is fixed: every expectation is over the devices and minibatches of t",
    OWN_BASES,
)
_STEP = {eta: 1 / (L * (1 + free("eta")))}

DEF_1 = Statement(
    id="yuan/def1-homogeneous",
    kind="inequality",
    title="Identical devices: B = 1 and H = 0",
    cite="section 1.1, below definition 1",
    method="devices",
    glossary=GLOSSARY,
    let=(Assumption("identical", (), "R^(m) = R for every device m", "section 1.1"), nonnegative_loss),
    then=Le(Sum(local2(m), (m, 1, M)) / M, B**2 * global2 + H**2),
    where={B: Integer(1), H: Integer(0)},
    reading=("that we have B = 1 and H = 0 means that the devices have (1, 0)-local gradient dissimilarity",),
    follows_from=(Derivation(proofs.homogeneous),),
)

LEMMA_1 = Statement(
    id="yuan/lem1",
    waits_for=EXCHANGED,
    kind="inequality",
    title="Stability of inexact regularised empirical risk minimisation",
    cite="lemma 1, appendix A (proof in D.1)",
    method="erm",
    glossary=GLOSSARY,
    let=(
        lipschitz,
        Assumption(
            "strongly_convex", (lam,), "the regularised risk R_S^r is lam-strongly convex for every S", "lemma 1"
        ),
        Assumption("inexact", (eps,), "R_S^r(w_S) <= min R_S^r + eps_t, for S and for its neighbour", "lemma 1"),
        nonnegative_loss,
    ),
    then=Le(apart, 4 * G / (lam * N) + 2 * sqrt(2 * eps / lam)),
    reading=(
        "printed min_w R_S^r(w_S^*) is the minimum of R_S^r, as in the proof (appendix D.1)",
        "both estimators err, each by at most eps_t and in any direction: the supremum is over them too",
    ),
    follows_from=(Derivation(proofs.lemma_1), Derivation(proofs.lemma_1_sharper)),
)

LEMMA_2 = Statement(
    id="yuan/lem2",
    waits_for=EXCHANGED,
    kind="inequality",
    title="The inequality of Efron and Stein for vectors",
    cite="lemma 2, appendix A",
    method="table",
    glossary=GLOSSARY,
    let=(Assumption("bounded_differences", (beta,), "a change of one point moves h by at most beta", "lemma 2"),),
    then=Le(spread2, beta**2 * N),
    reading=("h has values in a Euclidean space; h may be measured in any unit, so that beta has no dimension here",),
    follows_from=(Derivation(proofs.lemma_2),),
)

_ALGORITHM = (Assumption("stable", (gamma,), "A has gamma-uniform stability", "definition 4"), lipschitz, smooth)

LEMMA_3_BIAS = Statement(
    id="yuan/lem3-bias",
    waits_for=EXCHANGED,
    kind="inequality",
    title="Generalisation of gradients: the bias",
    cite="lemma 3, first bound, appendix A (proof in D.2)",
    method="algorithm",
    glossary=GLOSSARY,
    let=(*_ALGORITHM, nonnegative_loss),
    then=Le(bias, L * gamma),
    follows_from=(Derivation(proofs.lemma_3_bias),),
)

LEMMA_3_VARIANCE = Statement(
    id="yuan/lem3-variance",
    waits_for=EXCHANGED,
    kind="inequality",
    title="Generalisation of gradients: the variance",
    cite="lemma 3, second bound, appendix A (proof in D.2)",
    method="algorithm",
    glossary=GLOSSARY,
    let=(*_ALGORITHM, nonnegative_loss),
    then=Le(variance, L**2 * gamma**2 * N),
    reading=(
        "as stated in appendix A: around E grad R(A(S)); the last line of D.2 prints E grad R_S(A(S)) in its place, "
        "which lemma 2 does not give",
    ),
    follows_from=(
        Derivation(proofs.lemma_3_variance, cites=("yuan/lem2",), substitute={spread2: variance, beta: L * gamma}),
    ),
)

LEMMA_3_VARIANCE_PROOF = Statement(
    id="yuan/lem3-variance-proof",
    waits_for=EXCHANGED,
    kind="inequality",
    title="Generalisation of gradients: what the proof ends with",
    cite="appendix D.2, last display",
    method="algorithm",
    glossary=GLOSSARY,
    let=(*_ALGORITHM, nonnegative_loss),
    then=Le(about_empirical, L**2 * gamma**2 * N),
    reading=("lemma 2 bounds the variance around E grad R(A(S)); here the squared bias comes on top",),
    follows_from=(Derivation(proofs.lemma_3_last, cites=("yuan/lem3-bias",)),),
)

_UNIFORM = ("I_t is uniform among the subsets of I devices, without replacement, as the proof says",)

LEMMA_4_MEAN = Statement(
    id="yuan/lem4-mean",
    kind="identity",
    title="The sampled direction is unbiased",
    cite="lemma 4, first claim, appendix B.1",
    method="subset",
    glossary=GLOSSARY,
    let=(lipschitz,),
    then=Eq(sampled_d(j), mean_d(j)),
    for_all={j: (1, D)},
    reading=_UNIFORM,
    follows_from=(Derivation(proofs.lemma_4_mean),),
)

LEMMA_4_VARIANCE = Statement(
    id="yuan/lem4-variance",
    kind="inequality",
    title="The variance of the sampled direction",
    cite="lemma 4, second claim, appendix B.1",
    method="subset",
    glossary=GLOSSARY,
    let=(lipschitz,),
    then=Le(deviation, G**2 / I),
    reading=(
        *_UNIFORM,
        "d_t^(m) are any vectors of length at most G: gradients of losses that are straight around w_t^(m)",
    ),
    follows_from=(
        Derivation(proofs.lemma_4_printed, cites=("yuan/lem4-proof-step",)),
        Derivation(proofs.lemma_4_variance),
    ),
)

_PROOF_4 = "proof of lemma 4, second display, third line, appendix B.1"

LEMMA_4_STEP = Statement(
    id="yuan/lem4-proof-step",
    kind="identity",
    title="The sampled direction: variances that are added as if indices were independent",
    cite=_PROOF_4,
    method="subset",
    glossary=GLOSSARY,
    let=(lipschitz,),
    then=Eq(deviation, among / I),
    reading=(*_UNIFORM, "not a claim of the catalogue: the step says that the indices in I_t are independent"),
)

LEMMA_4_STEP_REPAIRED = Statement(
    id="yuan/lem4-proof-step~repaired",
    kind="identity",
    title="The sampled direction: the variance without replacement",
    cite=_PROOF_4,
    method="subset",
    glossary=GLOSSARY,
    let=(lipschitz,),
    then=Eq(deviation, (M - I) / (I * Max(M - 1, 1)) * among),
    reading=_UNIFORM,
    repairs="the factor (M - I)/(M - 1) of sampling without replacement; it is at most 1, so that lemma 4 stands",
    follows_from=(Derivation(proofs.lemma_4_step),),
)

LEMMA_7 = Statement(
    id="yuan/lem7",
    kind="inequality",
    title="Three points, weakly convex",
    cite="lemma 7, appendix B.2",
    method="prox",
    glossary=GLOSSARY,
    let=(weakly_convex,),
    when=(Lt(eta * nu, 1),),
    then=Le(
        f_plus + moved2 / (2 * eta),
        f_u + u_w2 / (2 * eta) - (1 / eta - nu) / 2 * plus_u2,
    ),
    sweep={eta: 1 / (nu * (1 + free("eta")))},
    reading=("eta < 1/nu is written eta nu < 1, so that nu = 0 has a meaning",),
    follows_from=(Derivation(proofs.lemma_7),),
)

REMARK_5 = Statement(
    id="yuan/rem5-identity",
    kind="identity",
    title="The proximal point is rho times the slope of the envelope away",
    cite="remark 5, section 2.2",
    method="prox",
    glossary=GLOSSARY,
    let=(lipschitz, weakly_convex),
    when=(Lt(rho, 1 / (2 * nu)),),
    then=Eq(away, rho * envelope_slope),
    sweep={rho: 1 / (2 * nu * (1 + free("rho")))},
    reading=(
        "R_erm is one weakly convex function; rho < 1/(2 nu) comes from theorem 2, of which this is a remark",
        "the remark goes on that w and its proximal point meet at the rate 1/sqrt(T): theorem 2 bounds the square",
    ),
    waits_for="the derivative of a Moreau envelope",
    follows_from=(Derivation(proofs.remark_5),),
)

_STEP_10 = (Lt(eta, 1 / L), Le(eps, G**2 * eta / (8 * b**2)))
_DEVICE = (*DEVICES, lipschitz, smooth, inexact, nonnegative_loss)
_MINIBATCHES = (*_DEVICE, independent_minibatches)

LEMMA_10_BIAS = Statement(
    id="yuan/lem10-bias",
    waits_for=f"{EXCHANGED}, inside of a run",
    kind="inequality",
    title="One step of FedMSPP: the bias of a device's direction",
    cite="lemma 10, first bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_DEVICE,
    when=_STEP_10,
    then=Le(bias_m(m), 5 * L * G * eta / ((1 - eta * L) * b)),
    for_all={m: (1, M)},
    sweep=_STEP,
    reading=_WITHIN,
    follows_from=(
        Derivation(
            proofs.lemma_10_bias,
            cites=("yuan/lem1", "yuan/lem3-bias"),
            substitute={lam: 1 / eta - L, N: b, bias: bias_m(m), gamma: 5 * G / ((1 / eta - L) * b)},
        ),
    ),
)

_VARIANCE_10 = Derivation(
    proofs.lemma_10_variance,
    cites=("yuan/lem1", "yuan/lem3-variance"),
    substitute={lam: 1 / eta - L, N: b, variance: variance_m(m), gamma: 5 * G / ((1 / eta - L) * b)},
)

LEMMA_10_VARIANCE = Statement(
    id="yuan/lem10-variance",
    kind="inequality",
    title="One step of FedMSPP: the variance of a device's gradient",
    cite="lemma 10, second bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_DEVICE,
    when=_STEP_10,
    then=Le(variance_m(m), 25 * L**2 * G**2 * eta / ((1 - eta * L) ** 2 * b)),
    for_all={m: (1, M)},
    sweep=_STEP,
    reading=(
        *_WITHIN,
        "literally: eta_t stands without a square, as printed. The likely meaning, eta_t^2, which the proof of lemma 11"
        " uses, is yuan/lem10-variance~repaired",
    ),
    follows_from=(_VARIANCE_10,),
)

LEMMA_10_VARIANCE_REPAIRED = Statement(
    id="yuan/lem10-variance~repaired",
    kind="inequality",
    title="One step of FedMSPP: the variance of a device's gradient",
    cite="lemma 10, second bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_DEVICE,
    when=_STEP_10,
    then=Le(variance_m(m), 25 * L**2 * G**2 * eta**2 / ((1 - eta * L) ** 2 * b)),
    for_all={m: (1, M)},
    sweep=_STEP,
    reading=_WITHIN,
    repairs="eta_t^2 in place of eta_t: what lemma 3 gives, what lemma 11 uses, and what the units ask for",
    follows_from=(_VARIANCE_10,),
)

_STEP_11 = (Lt(eta, 1 / L), Le(eps, Min(G / (2 * L), G**2 * eta / (8 * b**2))))
_DRIFT = 8 * L**2 * G**2 * eta**2
_SAMPLED = (
    *_WITHIN,
    "devices are drawn without replacement",
)

LEMMA_11_FIRST = Statement(
    id="yuan/lem11-first",
    kind="inequality",
    title="One step of FedMSPP: the sampled direction against the gradient",
    cite="lemma 11, first bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_MINIBATCHES,
    when=_STEP_11,
    then=Le(sampled2, _DRIFT + 2 * G**2 / (b * I)),
    sweep=_STEP,
    reading=_SAMPLED,
    follows_from=(
        Derivation(proofs.lemma_11_printed, cites=("yuan/lem9", "yuan/lem11-proof-step")),
        Derivation(proofs.lemma_11_first),
    ),
)

LEMMA_11_STEP = Statement(
    id="yuan/lem11-proof-step",
    kind="inequality",
    title="One step of FedMSPP: minibatch gradients at w_{t-1}, as if devices had one mean",
    cite="proof of lemma 11, first display, from zeta_1 on, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_MINIBATCHES,
    when=_STEP_11,
    then=Le(fresh2, G**2 / (b * I)),
    sweep=_STEP,
    reading=(
        *_SAMPLED,
        "not a claim of the catalogue: 'the independent sampling of data and devices' adds variances around the mean of"
        " all devices, as if every minibatch had that mean",
    ),
)

LEMMA_11_FIRST_REPAIRED = Statement(
    id="yuan/lem11-first~repaired",
    kind="inequality",
    title="One step of FedMSPP: the sampled direction against the gradient",
    cite="lemma 11, first bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_MINIBATCHES,
    when=_STEP_10,
    then=Le(sampled2, _DRIFT + 2 * G**2 / (b * I) + 2 * G**2 * (M - I) / (I * Max(M - 1, 1))),
    sweep=_STEP,
    reading=_SAMPLED,
    repairs="the variance of the sampled devices is added, which no minibatch lowers and which vanishes for I = M; "
    "the condition eps_t <= G/(2L), whose units do not fit, is not needed",
    follows_from=(Derivation(proofs.lemma_11_first),),
)

LEMMA_11_SECOND = Statement(
    id="yuan/lem11-second",
    waits_for=INEXACT,
    kind="inequality",
    title="One step of FedMSPP: the mean direction against the gradient",
    cite="lemma 11, second bound, appendix C.1",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=_DEVICE,
    when=_STEP_11,
    then=Le(
        averaged2,
        12 * L**2 * G**2 * eta**2
        + 75 * L**2 * G**2 * eta**2 / ((1 - eta * L) ** 2 * b**2)
        + 75 * L**2 * G**2 * eta**2 / ((1 - eta * L) ** 2 * b),
    ),
    sweep=_STEP,
    reading=_WITHIN,
    follows_from=(
        Derivation(proofs.lemma_11_second_printed, cites=("yuan/lem9", "yuan/lem10-bias", "yuan/lem10-variance")),
        Derivation(
            proofs.lemma_11_second_printed, cites=("yuan/lem9", "yuan/lem10-bias", "yuan/lem10-variance~repaired")
        ),
        Derivation(proofs.lemma_11_second),
    ),
)
