"""The variance of sampling without replacement (93), and what the choices of corollary 4.6 reach."""

from typing import Any

from ...algebra import Eq, Ge, Le, Rational, sqrt
from ...derivation import Argument, Derivation, Known, Step, View
from ...statement import Assumption, Statement
from .method_symbols import Delta
from .symbols import D0, GLOSSARY, L_F, K, L, alpha, beta, gamma_F, n, r, sigma_F, sigma_G, tau

_s, _n = GLOSSARY.symbol, GLOSSARY.count
M = _n("M", "how many numbers there are", "n")
I = _n("I", "how many of them are taken", "rn")  # noqa: E741 (as in the setting)
deviation = _s("deviation", "1", "E|mean of the subset - mean|^2",
    r"\mathbb{E}\bigl|\frac{\sum_{i\in A} a_i}{rn} - \mu\bigr|^2", nonnegative=True)  # fmt: skip
among = _s("among", "1", "variance of all numbers", r"\sigma^2", nonnegative=True)
eps = _s("eps", "F^2/W^2", "accuracy: E|grad F|^2 <= epsilon", r"\epsilon")
h = _s("h", "F/W^2", "curvature of F near the run")
x = _s("x", "1", "10 beta tau L_F, at most 1")
many = _n("many", "number of rounds in units of 4/(beta h tau)")
c = _s("c", "W", "distance of both users' minimisers from that of F")


def _without_replacement(goal: View) -> Argument:
    """Each pair of different places has covariance -sigma^2/(n - 1), because all n deviations add up to 0."""
    pairs = Known(
        Eq(deviation, (I * among + I * (I - 1) * (-among / (M - 1))) / I**2),
        "I variances, and I (I - 1) covariances of -sigma^2/(n - 1) each",
        "premise",
    )
    first = Step(goal.relations[0], given=(pairs,), where="(93), first equality")
    second = Step(goal.relations[1], given=(pairs,), where="(93), second equality")
    return Argument((first, second), (first, second))


EQUATION_93 = Statement(
    id="fallah/eq93",
    kind="identity",
    title="The variance of sampling without replacement",
    cite="appendix G, (93)",
    method="subset",
    glossary=GLOSSARY,
    when=(Ge(M, 2),),
    then=(
        Eq(deviation, among / I * (1 - (I - 1) / (M - 1))),
        Eq(deviation, among * (1 - r) / (r * (M - 1))),
    ),
    where={r: I / M},
    reading=(
        "the subset is uniform among those of its size; n >= 2, since for n = 1 the formula is 0/0",
        "printed for numbers; the paper uses it for vectors, on which it is tried too",
    ),
    follows_from=(Derivation(_without_replacement),),
)

_CHOICES = {tau: eps ** Rational(-1, 2), K: eps ** Rational(-3, 2), beta: eps}
_SUITABLE = "the three O are read as equalities: with fewer rounds, such as K = 1 = O(eps^(-3/2)), nothing is reached"


def two_users() -> Any:
    """Less than the mean of E|grad F|^2 over K rounds of tau updates, for grad F_i = h (w -+ c) and w_0 = 0.

    One of both takes part. After t updates from w_k the model is q^t w_k +- (1 - q^t) c with q = 1 - beta h. So
    v_k = E|w_k|^2 follows v_{k+1} = P^2 v_k + (1 - P)^2 c^2 with P = q^tau: v_k = c^2 (1 - P)/(1 + P) (1 - P^(2 k)).
    The mean over k is at least c^2 ((1 - P)/(1 + P) - 1/(K (1 + P)^2)), and that over t at least P^2 times it. With
    y = beta h tau, Bernoulli's 1 - y <= P <= 1 - y + y^2/2 makes it a polynomial.
    """
    y = beta * h * tau
    return (h * c * (1 - y)) ** 2 / 2 * (y - y**2 / 2 - 1 / K)


_FAMILY = (
    "on two users that the theorem allows, one of whom takes part (n = 2, r = 1/2): f_i' = L w -+ L c around the "
    "run and straight far out: grad F_i = h (w -+ c), h = L (1 - alpha L)^2; exact gradients, w_0 the minimiser"
)

THEOREM_45_ORDER = Statement(
    id="fallah/thm4.5-order",
    kind="order",
    title="Per-FedAvg finds stationary points, up to a constant",
    cite="theorem 4.5, as printed with O(1)",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (h, c, many), "one problem"),
        Assumption("grows", (tau,), "for many updates"),
        Assumption("vanishes", (x,), "for small steps"),
    ),
    when=(Le(x, 1),),
    then=Le(two_users(), beta * 4 * h * 192 * (h * c) ** 2 * (1 + beta * 4 * h * tau * (tau - 1))),
    where={beta: x / (40 * h * tau), K: 160 * many / x},
    reading=(
        _FAMILY,
        "there F(w_0) = F^*, sigma_F = 0, and for small alpha L_F = 4 h, gamma_F^2 = 192 (h c)^2 but for constants",
        "beta = x/(10 tau L_F) with x <= 1, and enough rounds to leave w_0: K beta h tau >= 4",
        "left is less than what the theorem averages; not an id of the catalogue: thm4.5 has the explicit constants",
    ),
)

COROLLARY_46_USERS = Statement(
    id="fallah/cor4.6-two-users",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon, what two users do",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (h, c, alpha, sigma_G, D0), "the problem and the batches do not depend on epsilon"),
        Assumption("vanishes", (eps,), "for small epsilon"),
    ),
    then=Le(two_users(), eps + alpha**2 * sigma_G**2 / D0),
    where=_CHOICES,
    reading=(
        _SUITABLE,
        _FAMILY,
        "beta = epsilon meets beta <= 1/(10 tau L_F) for small epsilon; left is less than what theorem 4.5 averages",
        "left is a closed form of the run, derived by hand: the certificate is about its growth, not about the run",
    ),
)

_SHARE, _BOTH = (1 - r) / (r * (n - 1)), 2 * sigma_F**2 + gamma_F**2
_CONSTANTS = (
    Assumption("fixed", (L, L_F, Delta, sigma_F, gamma_F, alpha, sigma_G, D0, n, r), "constants of O"),
    Assumption("vanishes", (eps,), "for small epsilon"),
)
# the right side of theorem 4.5 with tau in place of tau - 1
_PRINTED = 4 * (
    Delta / (beta * tau * K)
    + 280 * (beta * L_F * tau) ** 2 * _BOTH
    + beta * L_F * (2 * sigma_F**2 + gamma_F**2 * _SHARE)
    + 4 * alpha**2 * L**2 * sigma_G**2 / D0
)

COROLLARY_46 = Statement(
    id="fallah/cor4.6",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=_CONSTANTS,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(_PRINTED, eps + alpha**2 * sigma_G**2 / D0),
    where=_CHOICES,
    reading=(
        _SUITABLE,
        "about formulas: left is the bound of theorem 4.5, (111) with (108), from which the corollary is derived, with "
        "tau^2 for tau (tau - 1), which only makes it larger",
        "the method does not do it where only some users take part: fallah/thm4.5 falls, fallah/cor4.6-two-users too",
    ),
)

# that of theorem 4.5~repaired, likewise
_BOUND = _PRINTED + 44 * _SHARE * beta * L_F * tau * _BOTH

COROLLARY_46_REPAIRED = Statement(
    id="fallah/cor4.6~repaired",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=_CONSTANTS,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(_BOUND, eps + (1 - r) * sqrt(eps) + alpha**2 * sigma_G**2 / D0),
    where=_CHOICES,
    reading=(_SUITABLE, "the bound of theorem 4.5~repaired, a little enlarged"),
    repairs="the accuracy is O(epsilon^(1/2)) where only some users take part, and as printed for r = 1",
)
