"""FedAvg on strongly convex losses: clients that agree on the minimiser, and one round of clients that do not."""

from typing import Any

from ...language.algebra import Eq, Le, Rational
from ...language.knobs import free, unit
from ...language.statement import Assumption, Statement
from .methods import DESCENT
from .symbols import GLOSSARY, C, E, L, T, dist2, gamma, h, mu, smooth, star2, strongly_convex, t, young

DISTRIBUTION = Assumption("distribution", (), "p_i > 0 and sum_i p_i = 1")
AGREE = Assumption("homogeneous", (), "one point minimises all f_i")
EQUAL = Assumption("equal_weights", (), "p_i = 1/C")
ABOUT: dict[str, Any] = {"kind": "inequality", "method": DESCENT, "glossary": GLOSSARY}
CLIENTS = (smooth, strongly_convex, DISTRIBUTION)
STEP: dict[str, Any] = {"choose": {gamma(t): h / L}, "sweep": {h: 2 / (1 + mu / L) * unit("h")}}
short = Le(h * (L + mu), 2 * L)

rho, c = 1 - h * mu / L, 1 - h * (1 + mu / L) / 2  # by how much a step contracts, and the middle of its factors
# sum_{k < E} (rho^k - c^k) h / L: how far the mean of E local steps from x* is away, over the clients' gradients there
away = (1 - rho**E) / mu - 2 * (1 - c**E) / (L + mu)

IDENTICAL = Statement(
    id="classic/fedavg-agree", title="FedAvg where all clients have one minimiser", let=(*CLIENTS, AGREE),
    cite="Polyak 1963 for every client, and Jensen's inequality: (1 - gamma mu)^(2 E N), attained by equal quadratics",
    then=Le(dist2(T), rho ** (2 * E * T) * dist2(0)), when=(Le(mu, L), short), **ABOUT, **STEP,
)  # fmt: skip
ROUND = Statement(
    id="classic/fedavg-round", title="One round of FedAvg, by the triangle inequality", let=CLIENTS,
    cite="folklore: the round from x is at most rho^E |x - x*| away from the round from x*, whose first steps cancel",
    then=Le(dist2(1), (1 + young) * rho ** (2 * E) * dist2(0) + (1 + 1 / young) * away**2 * star2(0)),
    when=(Le(mu, L), short), reading=("an upper bound: its exact worst case is not known",), **ABOUT,
    choose=STEP["choose"], sweep={**STEP["sweep"], young: free("theta")},
)  # fmt: skip
TWO_CLIENTS = Statement(
    id="classic/fedavg-two-clients", title="One round of FedAvg, two clients, two steps, L <= 10 mu",
    cite="computed: multipliers of the worst case 0.868043 at |x_0 - x*|^2 = sum p_i |grad f_i(x*)|^2/L^2 = 1, rounded"
    " up; no closed formula is known",
    let=(*CLIENTS, EQUAL), when=(Le(L, 10 * mu), Le(mu, L), Eq(C, 2), Eq(E, 2)), choose={gamma(t): 1 / (2 * L)},
    then=Le(dist2(1), Rational(8172, 10**4) * dist2(0) + Rational(509, 10**4) * star2(0) / L**2), **ABOUT,
)  # fmt: skip
