"""What is printed up to a constant: theorem 4.5 as it stands in section 4.2, corollary 4.6, remark G.1.

The catalogue's ids are claims about the method. They are decided on two users that the theorem allows (`forms`), where
a run has a closed form; `~formula` is what becomes of the proof's right-hand side.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Ge, Gt, Integer, Le, log, sqrt
from ...language.method import Method
from ...language.statement import Assumption, Form, Statement
from . import forms
from .algorithm import PER_FEDAVG
from .forms import FAMILY, mean_square
from .method import ASSUMPTIONS, BOTH, CONSTANTS, SHARE, error, repaired_error
from .method_symbols import Delta, a1, a2, a3, bounded_below, c, eps, mean2
from .symbols import (
    D0,
    GLOSSARY,
    L_F,
    K,
    L,
    alpha,
    beta,
    gamma_F,
    n,
    r,
    sigma_F,
    sigma_G,
    tau,
)

PRINTED = 4 * Delta / (beta * tau * K) + (
    beta * L_F * (1 + beta * L_F * tau * (tau - 1)) * sigma_F**2
    + beta * L_F * gamma_F**2 * ((1 - r) / (r * (n - 1)) + beta * L_F * tau * (tau - 1))
    + alpha**2 * L**2 * sigma_G**2 / D0
)
TWO_USERS = {**FAMILY, L_F: CONSTANTS[L_F], gamma_F: CONSTANTS[gamma_F]}
SHORT = (Gt(alpha, 0), Le(2 * alpha * L, 1), Le(beta, 1 / (10 * tau * L_F)))
FAMILY_READING = (
    "on two users that the theorem allows, one of whom takes part (n = 2, r = 1/2): f_i' = L w -+ L c around the run, "
    "straight far out; exact gradients (sigma_F = 0), w_0 the minimiser of F (F(w_0) = F^*), alpha L <= 1/2",
    "the left side is the exact mean of E|grad F|^2 over this run; the claim is about every problem: one is enough",
)

NO_NOISE = "sigma_G is any bound on the deviation of the gradients, 0 allowed"


def run_of(
    label: str,
    left: Any,
    sizes: Iterable[forms.Values],
    instance: Callable[[forms.Values], Mapping[str, Any]],
    chosen: Mapping[Any, Any],
    measured: Any = mean2,
    method: Method = PER_FEDAVG,
) -> Form:
    """`left`, with the `chosen` updates, rounds and step put in, is measured on a run that theorem 4.5 allows."""
    written = {**FAMILY, **chosen}
    for _ in written:
        left = left.subs(written)
    identity = Statement(
        id=f"fallah/{label}~run",
        kind="identity",
        title="The closed form of a run of two users",
        cite=f"fallah/{label}",
        method=method,
        glossary=GLOSSARY,
        let=(bounded_below, *ASSUMPTIONS),
        when=(Gt(alpha, 0), *(Eq(name, value) for name, value in chosen.items())),
        then=Eq(measured, left),
    )
    return Form(identity, tuple({"instance": instance(values), "at": {"relation": 0}} for values in sizes))


THEOREM_45 = Statement(
    id="fallah/thm4.5",
    kind="order",
    title="Per-FedAvg finds stationary points",
    cite="theorem 4.5, as printed with O(1)",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (L, alpha, c, sigma_G, D0), "one problem: O(1) may even depend on it"),
        Assumption("grows", (tau, K), "for many updates and rounds"),
        Assumption("vanishes", (beta,), "for small steps"),
    ),
    when=SHORT,
    then=Le(mean_square(K), PRINTED),
    where=TWO_USERS,
    reading=(
        *FAMILY_READING,
        "O(1) is decided for every constant; (111) with (108), the constants of the paper's proof, is "
        "fallah/thm4.5~explicit",
        NO_NOISE,
        "printed eta_F is gamma_F of lemma 4.4",
    ),
    form=run_of("thm4.5", mean_square(K), forms.THEOREM_SIZES, forms.run, {}),
)

THEOREM_45_FORMULA = Statement(
    id="fallah/thm4.5~formula",
    kind="order",
    title="The constants of the proof are those of the theorem",
    cite="theorem 4.5 against (111) with (108)",
    method="order",
    glossary=GLOSSARY,
    let=(),
    when=(Le(r, 1), Ge(n, 2), Gt(alpha, 0)),
    then=Le(4 * Delta / (beta * tau * K) + 4 * error(tau * (tau - 1)), PRINTED),
    reading=(
        "about formulas: left is (111) with (108), right the theorem, term by term: the first is the same; O(1) is "
        "8 in beta L_F sigma_F^2, 2240 in (beta L_F)^2 tau (tau-1) sigma_F^2, 4 in the sampling term, 1120 in "
        "(beta L_F)^2 tau (tau-1) gamma_F^2, 16 in the bias",
    ),
)

ORDERS = {tau: a1 / sqrt(eps), K: a2 / (eps * sqrt(eps)), beta: eps}
SUITABLE = (
    "the two O are read as equalities up to constants a_1, a_2: with fewer rounds, such as K = 1 = O(eps^(-3/2)), or "
    "fewer updates nothing is reached"
)

COROLLARY_46 = Statement(
    id="fallah/cor4.6",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (L, alpha, c, sigma_G, D0, a1, a2), "the problem and the batches do not depend on epsilon"),
        Assumption("vanishes", (eps,), "for small epsilon"),
    ),
    when=SHORT,
    then=Le(mean_square(K), eps + alpha**2 * sigma_G**2 / D0),
    where={**TWO_USERS, **ORDERS},
    reading=(
        SUITABLE,
        *FAMILY_READING,
        "the stationary point is found in the mean over all rounds and updates (remark 4.7)",
        "left is a_1 h^3 c^2/2 epsilon^(1/2) and less, so that no a_1 and a_2 help",
        NO_NOISE,
    ),
    form=run_of("cor4.6", mean_square(K), forms.COROLLARY_SIZES, forms.corollary, ORDERS),
)

_CONSTANTS = (
    Assumption("fixed", (L, L_F, Delta, sigma_F, gamma_F, alpha, sigma_G, D0, n, r, a1, a2), "constants of O"),
    Assumption("vanishes", (eps,), "for small epsilon"),
)
_ENLARGED = "with tau^2 for tau (tau - 1), which only makes it larger"

COROLLARY_46_FORMULA = Statement(
    id="fallah/cor4.6~formula",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon, in the theorem's bound",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=_CONSTANTS,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(4 * Delta / (beta * tau * K) + 4 * error(tau**2), eps + alpha**2 * sigma_G**2 / D0),
    where=ORDERS,
    reading=(
        SUITABLE,
        f"about formulas: left is (111) with (108), from which the corollary is derived, {_ENLARGED}",
        "the method does not do it where only some users take part: fallah/cor4.6",
    ),
)

_REACHED = eps + (1 - r) * sqrt(eps) + alpha**2 * sigma_G**2 / D0
COROLLARY_46_REPAIRED = replace(
    COROLLARY_46,
    id="fallah/cor4.6~repaired",
    then=Le(mean_square(K), _REACHED),
    form=run_of("cor4.6~repaired", mean_square(K), forms.COROLLARY_SIZES, forms.corollary, ORDERS),
    reading=(*COROLLARY_46.reading[:-2], "for all problems it is what fallah/cor4.6~repaired-formula gives"),
    repairs="the accuracy is O(epsilon^(1/2)) where only some users take part, and as printed for r = 1",
)
COROLLARY_46_REPAIRED_FORMULA = Statement(
    id="fallah/cor4.6~repaired-formula",
    kind="order",
    title="Local updates, rounds and step for accuracy epsilon, in the repaired bound",
    cite="corollary 4.6",
    method="order",
    glossary=GLOSSARY,
    let=_CONSTANTS,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(4 * Delta / (beta * tau * K) + 4 * repaired_error(tau**2, tau), _REACHED),
    where=ORDERS,
    reading=(
        SUITABLE,
        f"about formulas: left is the bound of theorem 4.5~repaired, {_ENLARGED}, and tau for tau - 1; for the method "
        "it says as much as that theorem is worth",
    ),
)

# remark G.1: beta_k is held over the rounds 4^(j-1) < k <= 4^j, K = 4^J
_STEP = {tau: a1 / sqrt(eps), K: a2 / (eps * sqrt(eps)), beta: a3 / sqrt(tau * K)}
_HELD = (
    "beta_k = a_3/sqrt(tau 4^j) for 4^(j-1) < k <= 4^j, which is a_3/sqrt(tau k) up to a factor 2, and min with "
    "1/(10 tau L_F), which every step has to meet"
)
_LAST = {tau: _STEP[tau], K: 3 * _STEP[K] / 4, beta: _STEP[beta].subs(_STEP)}
_SAME = "the same complexity bound: tau = O(epsilon^(-1/2)), K = O(epsilon^(-3/2)), as in corollary 4.6"

REMARK_G1 = Statement(
    id="fallah/remG.1",
    kind="order",
    title="The same complexity with a diminishing step",
    cite="remark G.1, remark 4.8",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption(
            "fixed", (L, alpha, c, sigma_G, D0, a1, a2, a3), "the problem and the batches do not depend on epsilon"
        ),
        Assumption("vanishes", (eps,), "for small epsilon"),
    ),
    when=SHORT,
    then=Le(mean_square(3 * K / 4) / 2, eps + alpha**2 * sigma_G**2 / D0),
    where={**TWO_USERS, **_STEP},
    reading=(
        _SAME,
        f"O of the step is read as an equality up to a constant: {_HELD}; K = 4^J",
        "left is half the mean over the last three quarters of the rounds, which have one step, beta = a_3/sqrt(tau "
        "K): they are at least half of the sum, each round counted once or by its beta_k",
        "these rounds are taken from the minimiser of F: from anywhere else E|w|^2 is larger, the rest being the same",
        *FAMILY_READING,
    ),
    form=run_of("remG.1", mean_square(K) / 2, forms.REMARK_SIZES, forms.remark, _LAST, mean2 / 2),
    by_hand="that the last three quarters of the rounds are at least half of the run, whatever they start from",
)


def _summed(errors: Any) -> Any:
    """(109) with beta_k, added up and divided by the sum of tau beta_k; `errors` are the powers of beta in (108).

    From k_0 = 25 a_3^2 L_F^2 tau on a_3/sqrt(4 tau k_0) <= 1/(10 tau L_F). Over the blocks after it the sums of beta_k,
    beta_k^2 and beta_k^3 are geometric.
    """
    first = 25 * a3**2 * L_F**2 * tau
    one = a3 / sqrt(tau) * 3 / 2 * (sqrt(K) - sqrt(first))
    two = a3**2 / tau * 3 / 4 * log(K / first) / log(Integer(4))
    three = a3**3 / (tau * sqrt(tau)) * 3 / 4 * (1 / sqrt(first) - 1 / sqrt(K))
    zeroth, linear, square = errors
    return 4 * Delta / (tau * one) + 4 * (zeroth + linear * two / one + square * three / one)


_LATE = (
    _SAME,
    f"{_HELD}; the rounds before the first k with a_3/sqrt(tau k) <= 1/(10 tau L_F) are left out, K/k_0 = 4^j",
    "about formulas: left is (109) with beta_k, (108) in it, added up and divided by the sum of tau beta_k",
)
_FOR_ALL = (
    Assumption("fixed", (L, L_F, Delta, sigma_F, gamma_F, alpha, sigma_G, D0, n, r, a1, a2, a3), "constants of O"),
    Assumption("vanishes", (eps,), "for small epsilon"),
)
_BIAS = 4 * alpha**2 * L**2 * sigma_G**2 / D0
_DRIFT = 280 * L_F**2 * tau**2 * BOTH
_NOISE = L_F * (2 * sigma_F**2 + gamma_F**2 * SHARE)

REMARK_G1_FORMULA = Statement(
    id="fallah/remG.1~formula",
    kind="order",
    title="The same complexity with a diminishing step, in the sum of the descents",
    cite="remark G.1",
    method="order",
    glossary=GLOSSARY,
    let=_FOR_ALL,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(_summed((_BIAS, _NOISE, _DRIFT)), eps + alpha**2 * sigma_G**2 / D0),
    where=_STEP,
    reading=(
        *_LATE,
        "with tau^2 for tau (tau - 1): the same order for large tau",
        "the drift of the early rounds, tau^2 beta_k^2 up to 1/100, leaves epsilon^(1/2) even where all take part",
    ),
)

_SLOWER = sqrt(eps) * (1 + (1 - r) * log(K)) + alpha**2 * sigma_G**2 / D0
REMARK_G1_REPAIRED = replace(
    REMARK_G1,
    id="fallah/remG.1~repaired",
    then=Le(mean_square(3 * K / 4) / 2, _SLOWER),
    form=run_of("remG.1~repaired", mean_square(K) / 2, forms.REMARK_SIZES, forms.remark, _LAST, mean2 / 2),
    reading=(*REMARK_G1.reading, "for all problems it is what fallah/remG.1~repaired-formula gives"),
    repairs="the accuracy is O(epsilon^(1/2)), times log(1/epsilon) where only some users take part",
)
REMARK_G1_REPAIRED_FORMULA = Statement(
    id="fallah/remG.1~repaired-formula",
    kind="order",
    title="The complexity with a diminishing step, in the sum of the repaired descents",
    cite="remark G.1",
    method="order",
    glossary=GLOSSARY,
    let=_FOR_ALL,
    when=(Le(r, 1), Ge(n, 2)),
    then=Le(_summed((_BIAS, _NOISE + 11 * SHARE * L_F * tau * BOTH, _DRIFT)), _SLOWER),
    where=_STEP,
    reading=(
        *_LATE,
        "left has (109) as in fallah/eq109~repaired, a little enlarged; for the method it is worth as much",
    ),
)
