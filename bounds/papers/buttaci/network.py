"""Federated networks as similarity graphs: chapter 3, definitions 3.2 to 3.4, propositions 3.1 to 3.4."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Abs, Eq, Ge, Gt, IndexedBase, Le, Lt, Sum, erf, sqrt
from ...language.derivation import Derivation
from ...language.dimension import ONE
from ...language.knobs import free
from ...language.statement import Assumption, Entry, Glossary, Statement
from . import network_proofs as proofs

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

C = _n("C", "number of clients")
D = _n("D", "dimension of the messages")
d = _n("d", "coordinate of a message")
a, b = IndexedBase("a", real=True), IndexedBase("b", real=True)
GLOSSARY[a.label] = Entry("message m_i of client i", ONE, "m^i")
GLOSSARY[b.label] = Entry("message m_j of client j", ONE, "m^j")
hom = _s("hom", "1", "network homogeneity (3.2)", r"\hom(\mathcal C)", real=True)
spectrum = _s("spectrum", "1", "sum of the Laplacian's eigenvalues but the first", r"\sum_{k=2}^C \lambda_k", real=True)
form = _s("form", "1", "the Laplacian's quadratic form Q(v) = v'Lv (definition 3.1)", r"Q(\mathbf v)", real=True)
variability = _s("variability", "1", "half the sum over all i and j of a_ij (v_i - v_j)^2",
    r"\tfrac12\sum_i\sum_j a_{ij}(v_i - v_j)^2", real=True)  # fmt: skip
eigenform = _s("eigenform", "1", "Q at an eigenvector of the Laplacian", r"Q(\mathbf x)", real=True)
lam = _s("lam", "1", "the eigenvalue of that vector", r"\lambda", real=True)
length2 = _s("length2", "1", "squared length of that vector", r"\|\mathbf x\|^2")
shift = _s("shift", "1", "relative variation of the mean, between 0 and 1", r"\varepsilon")
A_delta = _s("A_delta", "1", "2 + delta (proposition 3.3)", r"(2 + \delta)")
rest = _s("rest", "1", "1 - epsilon, where epsilon tends to 1", r"(1 - \varepsilon)")
theta = _s("theta", "1", "-ln mis(i, j) has mean theta (3.3)", r"\theta")
phi = _s("phi", "1", "-ln mis(i, j) has standard deviation phi (3.3)", r"\phi")
epsilon = _s("epsilon", "1", "relative variation of the mean", r"\varepsilon", real=True)
delta = _s("delta", "1", "relative variation of the variance", r"\delta", real=True)
A = _s("A", "1", "the constant of proposition 3.3")
A2 = _s("A2", "1", "square of A in propositions 3.2 and 3.4, which has the sign of epsilon", "A^2", nonnegative=True)
o_C = _s("o_C", "1", "a remainder that is o(C)", "o(C)", real=True)
o_C2 = _s("o_C2", "1", "a remainder that is o(C^2)", "o(C^2)", real=True)
probability = _q("probability", "1", "P(hom(C~) < hom(C)), a function of the number of clients",
    r"\mathbb P\left(\hom(\widetilde{{\mathcal C}}) < \hom(\mathcal C)\right)", nonnegative=True)  # fmt: skip
hom_mean = _q(
    "hom_mean", "1", "E hom(C), a function of the number of clients", r"\mathbb E \hom(\mathcal C)", real=True
)
hom_variance = _q("hom_variance", "1", "the variance of hom(C)", r"\mathbb V \hom(\mathcal C)", nonnegative=True)
msd = _q("msd", "1", "average of E(lambda~_i - lambda_i)^2 over i = 2, ..., C",
    r"\frac{{1}}{{C-1}}\sum_{{i=2}}^C \mathbb E(\widetilde\lambda_i - \lambda_i)^2", nonnegative=True)  # fmt: skip
sad = _q("sad", "1", "average of E|lambda~_i - lambda_i| over i = 2, ..., C",
    r"\frac{{1}}{{C-1}}\sum_{{i=2}}^C \mathbb E|\widetilde\lambda_i - \lambda_i|", nonnegative=True)  # fmt: skip
Phi = _q("Phi", "1", "the normal distribution function at A", r"\Phi(A)", nonnegative=True)
density = _q("density", "1", "the normal density at A", r"\Phi'(A)", nonnegative=True)

independent_networks = Assumption(
    "independent_networks", (), "the altered network is drawn independently of the first: the proof adds variances"
)

ANY_SHIFT = (Lt(epsilon, 1), Gt(delta, -1), Ge(C, 2))
SWEEP = {epsilon: 1 - free("epsilon"), delta: free("delta") - 1}
VARIANCE = (2 + delta) * phi**2  # of the difference of the two weights on a pair
FROM_WEIGHTS = "what a network's quantities are in its weights, from which the kernel would compute it"
EIGENVALUES = "eigenvalues of symmetric matrices in proofs (Hoffman and Wielandt), and moments of Gaussian weights"
SYMMETRIC = "mis(i, j) = mis(j, i) by definition 3.2 and the graph is undirected: one weight a pair, C(C-1)/2 in all"
ORDERED = "lambda_2 <= ... <= lambda_C are the eigenvalues orthogonal to the constant vector, in order"
SIGNS = (
    "definition 3.2 keeps mis in [0, 1] and (3.3) makes it log-normal; no distribution is both: the propositions are "
    "about (3.3), so that a weight may be negative and the Laplacian indefinite, here and in all of chapter 3"
)
AT_A = "Phi is taken at A with A^2 as in the conditions and the sign of epsilon"

DEFINITION_3_2 = Statement(
    id="buttaci/def3.2-identity",
    kind="identity",
    title="Misalignment is a quarter of the squared distance",
    cite="Definition 3.2, the text below it",
    method="messages",
    glossary=GLOSSARY,
    when=(Eq(Sum(a[d] ** 2, (d, 1, D)), 1), Eq(Sum(b[d] ** 2, (d, 1, D)), 1)),
    then=Eq((1 - Sum(a[d] * b[d], (d, 1, D))) / 2, Sum((a[d] - b[d]) ** 2, (d, 1, D)) / 4),
    follows_from=(Derivation(proofs.definition_3_2),),
)

PROPOSITION_3_1 = Statement(
    id="buttaci/prop3.1",
    waits_for=FROM_WEIGHTS,
    kind="identity",
    title="Network homogeneity is a scaled sum of Laplacian eigenvalues",
    cite="Proposition 3.1, section 3.2.2",
    method="graph",
    glossary=GLOSSARY,
    when=(Ge(C, 2),),
    then=Eq(hom, spectrum / (2 * C * (C - 1))),
    reading=(
        "lambda_1 = 0 belongs to the constant vector and lambda_2, ..., lambda_C to what is orthogonal to it, whatever "
        "the signs of the weights: the chapter takes them from (3.3) too, where they may be negative",
    ),
    follows_from=(Derivation(proofs.proposition_3_1),),
)

similarities = Assumption("nonnegative_weights", (), "w(i, j) >= 0: weights are similarities", "section 3.1.1")
eigenvector = Assumption(
    "eigenvector", (), "x is an eigenvector of the Laplacian, with eigenvalue lambda", "section 3.1"
)
QUADRATIC_FORM = Statement(
    id="buttaci/sec3.1-quadratic-form",
    kind="identity",
    title="The Laplacian's quadratic form, its sign, and its value at an eigenvector",
    cite="Definition 3.1 and below it, section 3.1.1",
    method="graph",
    glossary=GLOSSARY,
    let=(similarities, eigenvector),
    when=(Ge(C, 2),),
    then=(Eq(form, variability), Ge(form, 0), Eq(eigenform, lam * length2)),
    reading=(
        "a matrix V of D columns has the sum of their forms: one column is enough",
        "eigenvectors have length 1, as those of an eigendecomposition do: Q(x_i) = lambda_i, written for any length; "
        "tried at the constant vector, whose form is 0, and at the difference of two nodes that are alike",
    ),
    waits_for=FROM_WEIGHTS,
)

PROPOSITION_3_2 = Statement(
    id="buttaci/prop3.2",
    kind="identity",
    title="Probability that the altered network is less homogeneous",
    cite="Proposition 3.2, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=(
        Gt(epsilon, 0), Lt(epsilon, 1), Gt(delta, -1), Ge(C, 2),
        Eq(A2, theta**2 * epsilon**2 / phi**2 * (C * (C - 1) / (2 + delta))),
    ),
    then=Eq(probability(C), Phi(C)),
    sweep={
        epsilon: free("epsilon") / (1 + free("epsilon")),
        delta: free("delta") - 1,
        A2: theta**2 * epsilon**2 / phi**2 * (C * (C - 1) / (2 + delta)),
    },
    reading=(SYMMETRIC, AT_A),
    follows_from=(Derivation(proofs.proposition_3_2),),
)  # fmt: skip


def law(variance: Any) -> tuple[Any, Any]:
    """Mean and variance of the network's homogeneity."""
    return Eq(hom_mean(C), theta / 2), Eq(hom_variance(C), variance)


PROPOSITION_3_2_LAW = Statement(
    id="buttaci/prop3.2-law",
    kind="identity",
    title="The law of the network's homogeneity",
    cite="Proof of proposition 3.2, first display",
    method="network",
    glossary=GLOSSARY,
    when=(Ge(C, 2), Gt(delta, -1)),
    then=law(phi**2 / (4 * C * (C - 1))),
    sweep=SWEEP,
    reading=(SYMMETRIC, "a sum of Gaussian weights is Gaussian: its mean and its variance are the law"),
)
PROPOSITION_3_2_LAW_REPAIRED = replace(
    PROPOSITION_3_2_LAW,
    id="buttaci/prop3.2-law~repaired",
    then=law(phi**2 / (2 * C * (C - 1))),
    waits_for=FROM_WEIGHTS,
    repairs="hom averages C(C-1)/2 independent weights, each counted twice, not C(C-1): twice the variance",
)
ALONE = Statement(
    id="buttaci/sec3.3-alone",
    kind="identity",
    title="Altering the variance or the number of clients alone",
    cite="Section 3.3, below proposition 3.2",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=(Eq(epsilon, 0), Gt(delta, -1), Ge(C, 2)),
    then=Eq(2 * probability(C), 1),
    sweep={epsilon: 0 * theta, delta: free("delta") - 1},
    reading=(
        SYMMETRIC,
        "without influencing the mean: epsilon = 0; that the probability is not affected means that it is the same for "
        "every delta and C, which is 1/2",
    ),
    waits_for=FROM_WEIGHTS,
)
PARTICIPANTS = Statement(
    id="buttaci/sec3.4-participants",
    kind="identity",
    title="Homogeneity does not depend on the number of participants",
    cite="Section 3.4.3, last paragraph",
    method="network",
    glossary=GLOSSARY,
    when=(Ge(C, 2), Gt(delta, -1)),
    then=Eq(hom_mean(C), theta / 2),
    sweep=SWEEP,
    reading=(
        "similarities have the law (3.3) whatever C is: homogeneity is their average, halved, and its expectation is "
        "the same for every C; not so its law, which is sec3.4-participants~law",
    ),
    waits_for=FROM_WEIGHTS,
)
PARTICIPANTS_LAW = replace(
    PARTICIPANTS,
    id="buttaci/sec3.4-participants~law",
    title="The law of the homogeneity does not depend on the number of participants",
    then=(Eq(hom_mean(C), theta / 2), Eq(hom_variance(C), phi**2 / 4)),
    waits_for="",
    reading=("more than sec3.4-participants: the variance too is what it is for two clients", SYMMETRIC),
)

PROPOSITION_3_2_REPAIRED = Statement(
    id="buttaci/prop3.2~repaired",
    kind="identity",
    title="Probability that the altered network is less homogeneous",
    cite="Proposition 3.2, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=(
        Gt(epsilon, 0), Lt(epsilon, 1), Gt(delta, -1), Ge(C, 2),
        Eq(A2, theta**2 * epsilon**2 / phi**2 * (C * (C - 1) / (2 * (2 + delta)))),
    ),
    then=Eq(probability(C), Phi(C)),
    sweep={
        epsilon: free("epsilon") / (1 + free("epsilon")),
        delta: free("delta") - 1,
        A2: theta**2 * epsilon**2 / phi**2 * (C * (C - 1) / (2 * (2 + delta))),
    },
    reading=(SYMMETRIC, AT_A),
    waits_for="the law of a sum of independent Gaussian weights",
    follows_from=(Derivation(proofs.proposition_3_2),),
    repairs="hom averages C(C-1)/2 independent weights, not C(C-1): its variance is phi^2/(2C(C-1)); A / sqrt 2",
)  # fmt: skip


def normal(x: Any) -> Any:
    """The normal distribution function at x."""
    return (1 + erf(x / sqrt(2))) / 2


MANY_CLIENTS = Assumption("grows", (C,), "C >> 1", "section 3.3")
SAME_VARIANCE = Assumption("vanishes", (delta,), "a negligible change in the variance, delta ~ 0", "section 3.3")
NETWORK_FIXED = Assumption("fixed", (theta, phi), "the network that is altered")
ALL_FIXED = Assumption("fixed", (theta, phi, epsilon, delta), "o(C) is about C alone")
BY_LIMITS = (
    "'=' compares the limits of both sides for C -> infinity, delta -> 0; the limit of the probability is that of the "
    "exact normal law of the trace (closed form of the moments, replayed against sums over all pairs)"
)
PROPOSITION_3_2_LARGE_C = Statement(
    id="buttaci/prop3.2-largeC",
    kind="order",
    title="The same for many clients and an unchanged variance, for every shift",
    cite="Section 3.3, below proposition 3.2",
    method="network_limit",
    glossary=GLOSSARY,
    let=(MANY_CLIENTS, SAME_VARIANCE, NETWORK_FIXED),
    implicit=(independent_networks,),
    when=(Gt(epsilon, 0), Lt(epsilon, 1), Gt(delta, -1)),
    then=Eq(probability(C), normal(theta * epsilon * C / (phi * sqrt(2)))),
    reading=(
        SYMMETRIC,
        BY_LIMITS,
        "the text goes on to read the result as a function of epsilon in (0, 1), so that epsilon may vary with C. With "
        "epsilon fixed both sides tend to 1, as every Phi(c C) does, and nothing is said: prop3.2-largeC~fixed-shift",
    ),
)  # fmt: skip

PROPOSITION_3_2_FIXED_SHIFT = replace(
    PROPOSITION_3_2_LARGE_C,
    id="buttaci/prop3.2-largeC~fixed-shift",
    title="The same for many clients and an unchanged variance",
    let=(MANY_CLIENTS, SAME_VARIANCE, replace(NETWORK_FIXED, args=(theta, phi, epsilon))),
    reading=(
        SYMMETRIC,
        BY_LIMITS,
        "the text lets C and delta vary (C >> 1, delta ~ 0) and nothing else: epsilon does not depend on C, and both "
        "limits are 1, whatever stands before C. For epsilon of order 1 / C see prop3.2-largeC",
    ),
)

PROPOSITION_3_2_LARGE_C_REPAIRED = replace(
    PROPOSITION_3_2_LARGE_C,
    id="buttaci/prop3.2-largeC~repaired",
    then=Eq(probability(C), normal(theta * epsilon * C / (2 * phi))),
    repairs="as for proposition 3.2: Phi(theta epsilon C / (2 phi)); the printed argument is too large by sqrt 2",
)

PROPOSITION_3_3_LOWER = Statement(
    id="buttaci/prop3.3-lower",
    waits_for=EIGENVALUES,
    kind="inequality",
    title="Average squared spectral deviation, lower bound",
    cite="Proposition 3.3, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=Gt(msd(C), A * C**2),
    where={A: VARIANCE / (C * (C - 1)) + epsilon**2 * theta**2},
    sweep=SWEEP,
    reading=(SYMMETRIC, ORDERED, SIGNS),
    follows_from=(Derivation(proofs.proposition_3_3_lower),),
)

PROPOSITION_3_3_UPPER = Statement(
    id="buttaci/prop3.3-upper",
    kind="inequality",
    title="Average squared spectral deviation, upper bound",
    cite="Proposition 3.3, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=Le(msd(C), A * C**2 * (C - 1)),
    where={A: VARIANCE / (C * (C - 1)) + epsilon**2 * theta**2},
    sweep=SWEEP,
    reading=(SYMMETRIC, ORDERED, SIGNS),
    follows_from=(Derivation(proofs.proposition_3_3_upper_traces), Derivation(proofs.proposition_3_3_upper)),
)

PROPOSITION_3_3_UPPER_REPAIRED = Statement(
    id="buttaci/prop3.3-upper~repaired",
    waits_for=EIGENVALUES,
    kind="inequality",
    title="Average squared spectral deviation, upper bound",
    cite="Proposition 3.3, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=Le(msd(C), A * C**2 * (C - 1)),
    where={A: 2 * VARIANCE / (C * (C - 1)) + epsilon**2 * theta**2},
    sweep=SWEEP,
    reading=(SYMMETRIC, ORDERED, SIGNS),
    repairs="one weight a pair: twice the variance in A; tr M^2 <= (tr M)^2 needs M >= 0, Hoffman-Wielandt does not",
    follows_from=(Derivation(proofs.proposition_3_3_upper),),
)

PROPOSITION_3_3_LARGE_C = Statement(
    id="buttaci/prop3.3-largeC",
    waits_for=EIGENVALUES,
    kind="order",
    title="Average squared spectral deviation for many clients",
    cite="Section 3.3, below proposition 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=(
        Gt(msd(C), epsilon**2 * theta**2 * C**2 + o_C),
        Le(msd(C), epsilon**2 * theta**2 * C**3 + o_C2),
    ),
    where={o_C: VARIANCE * C / (C - 1), o_C2: 2 * VARIANCE * C},
    sweep=SWEEP,
    reading=(
        SYMMETRIC,
        ORDERED,
        SIGNS,
        "o(C) and o(C^2) are remainders that exist: the witnesses are prop3.3-lower's own, and 2 (2 + delta) phi^2 C",
        "prop3.3-upper's own remainder, (2 + delta) phi^2 C - epsilon^2 theta^2 C^2, is O(C^2) and not o(C^2), and "
        "C = 2 breaks it; as an upper bound a larger remainder will do",
    ),
    follows_from=(
        Derivation(proofs.proposition_3_3_large_C, cites=("buttaci/prop3.3-lower", "buttaci/prop3.3-upper~repaired")),
    ),
)

A_3_4 = epsilon**2 * theta**2 / phi**2 * (C * (C - 1) / (2 + delta))
PROPOSITION_3_4_LOWER = Statement(
    id="buttaci/prop3.4-lower",
    waits_for=EIGENVALUES,
    kind="inequality",
    title="Average absolute spectral deviation, lower bound",
    cite="Proposition 3.4, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=(*ANY_SHIFT, Eq(A2, A_3_4)),
    then=Ge(sad(C), epsilon * theta * C * (2 * Phi(C) - 1) + 2 * phi * sqrt(C * (2 + delta) / (C - 1)) * density(C)),
    sweep={**SWEEP, A2: A_3_4},
    reading=(SYMMETRIC, ORDERED, SIGNS, AT_A),
    follows_from=(Derivation(proofs.proposition_3_4_lower),),
)

PROPOSITION_3_4_UPPER = Statement(
    id="buttaci/prop3.4-upper",
    kind="inequality",
    title="Average absolute spectral deviation, upper bound",
    cite="Proposition 3.4, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=Le(sad(C), (2 - epsilon) * theta * C),
    sweep=SWEEP,
    reading=(
        SYMMETRIC,
        ORDERED,
        SIGNS,
        "the proof needs eigenvalues >= 0 (mis <= 1 in definition 3.2), which no law of (3.3) has",
    ),
    follows_from=(
        Derivation(proofs.proposition_3_4_upper),
        Derivation(proofs.proposition_3_4_upper_squares),
    ),
)

PROPOSITION_3_4_UPPER_REPAIRED = Statement(
    id="buttaci/prop3.4-upper~repaired",
    waits_for=EIGENVALUES,
    kind="inequality",
    title="Average absolute spectral deviation, upper bound",
    cite="Proposition 3.4, section 3.3",
    method="network",
    glossary=GLOSSARY,
    implicit=(independent_networks,),
    when=ANY_SHIFT,
    then=Le(sad(C), C * sqrt(epsilon**2 * theta**2 + 2 * VARIANCE / C)),
    sweep=SWEEP,
    reading=(SYMMETRIC, ORDERED, SIGNS),
    repairs="Gaussian weights may be negative, so |lambda| is not lambda: Hoffman-Wielandt and Cauchy-Schwarz instead",
    follows_from=(Derivation(proofs.proposition_3_4_upper_squares),),
)

PROPOSITION_3_4_LARGE_C = Statement(
    id="buttaci/prop3.4-largeC",
    waits_for="limits of measured quantities: only formulas have orders of growth in proofs",
    kind="order",
    title="Average absolute spectral deviation for many clients",
    cite="Section 3.3, below proposition 3.4",
    method="network_limit",
    glossary=GLOSSARY,
    let=(MANY_CLIENTS, ALL_FIXED),
    implicit=(independent_networks,),
    when=(Lt(epsilon, 1), Gt(delta, -1)),
    then=(Ge(sad(C) / C, Abs(epsilon) * theta), Le(sad(C) / C, (2 - epsilon) * theta)),
    reading=(
        SYMMETRIC,
        ORDERED,
        SIGNS,
        "both sides divided by C, in the limit: the left one is what |epsilon| theta C + o(C) says; the right one is "
        "what is printed for all large C, since |epsilon| < 2 - epsilon for epsilon < 1",
        "o(C) leaves the other parameters fixed; for phi that grows like C the right side falls as prop3.4-upper does",
        "the limit of the middle, |epsilon| theta, is between Jensen's bound and Hoffman-Wielandt's, in closed form",
    ),
)

REMAINDERS = Statement(
    id="buttaci/prop3.3-largeC~remainders",
    kind="order",
    title="The remainders of prop3.3-largeC are o(C) and o(C^2)",
    cite="Section 3.3, below proposition 3.3",
    method="order",
    glossary=GLOSSARY,
    let=(MANY_CLIENTS, Assumption("fixed", (phi, A_delta), "the network and its alteration")),
    when=(Ge(C, 2),),
    then=(Lt(A_delta * phi**2 * C / (C - 1), C), Lt(2 * A_delta * phi**2 * C, C**2)),
    reading=("the witnesses that prop3.3-largeC names: without this any remainder would do",),
)

GAPS = Statement(
    id="buttaci/sec3.3-gaps",
    kind="order",
    title="The gaps between the bounds of propositions 3.3 and 3.4",
    cite="Section 3.3, below propositions 3.3 and 3.4",
    method="order",
    glossary=GLOSSARY,
    let=(
        MANY_CLIENTS,
        Assumption("fixed", (theta, phi, shift, A_delta), "the network and its alteration"),
        Assumption("vanishes", (rest,), "as epsilon approaches 1", "section 3.3"),
    ),
    when=(Lt(shift, 1), Ge(C, 2)),
    then=(
        Le((A_delta * phi**2 / (C * (C - 1)) + shift**2 * theta**2) * C**2 * (C - 2), shift**2 * theta**2 * C**3),
        Le(2 * (1 - shift) * theta * C, 2 * theta * C),
        Lt(2 * rest * theta * C, theta * C),
    ),
    reading=(
        "upper minus lower bound: A C^2 (C - 1) - A C^2 of proposition 3.3, and (2 - epsilon) theta C - |epsilon| "
        "theta C below proposition 3.4, without its o(C)",
        "epsilon is between 0 and 1; for epsilon < 0 the second gap is 2 theta C exactly",
        "narrower: for epsilon -> 1 the second gap is o(theta C)",
    ),
)
