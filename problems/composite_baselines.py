"""What zhang compares algorithm 1 with: FedMid, FedDA and Fast-FedDA, each one server model a round.

FedMid and FedDA: Yuan, Zaheer and Reddi, Federated composite optimization (ICML 2021), with the distance-generating
function |.|^2/2, so that mirror maps are proximal operators. Fast-FedDA: Bao, Crawshaw, Luo and Liu, Fast composite
optimization and statistical recovery in federated learning (ICML 2022). Axes and oracles as in composite.py: x
(..., d), eta and eta_g (...), weights (..., n); the first model yielded is x itself, and generators do not end.
"""

from collections.abc import Iterator
from itertools import count

from .arrays import Array, Namespace, fail, namespace
from .composite import Oracle
from .proximal import Prox


def fedmid(oracle: Oracle, prox: Prox, x: Array, eta: Array, eta_g: Array, tau: int, weights: Array) -> Iterator[Array]:
    """Federated mirror descent: proximal gradient steps at the clients, and at the server with their mean move."""
    xp = _checked(tau, x)
    step, server = xp.asarray(eta), xp.asarray(eta_g)
    for r in count(1):
        yield x
        z = _copies(xp, x, weights)
        for t in range(tau):
            z = prox(z - step[..., None, None] * oracle(r, t, z), step[..., None])
        x = prox(x + server[..., None] * (_mean(xp, weights, z) - x), server * step * tau)


def fedda(oracle: Oracle, prox: Prox, x: Array, eta: Array, eta_g: Array, tau: int, weights: Array) -> Iterator[Array]:
    """Federated dual averaging: the dual state is never reset, and the proximal parameter is the sum of all steps."""
    xp = _checked(tau, x)
    step, server = xp.asarray(eta), xp.asarray(eta_g)
    dual = x
    for r in count(1):
        so_far = server * step * (tau * (r - 1))
        yield prox(dual, so_far)
        z = _copies(xp, dual, weights)
        for t in range(tau):
            z = z - step[..., None, None] * oracle(r, t, prox(z, (so_far + t * step)[..., None]))
        dual = dual + server[..., None] * (_mean(xp, weights, z) - dual)


def fedda_restarted(
    oracle: Oracle, prox: Prox, x: Array, eta: Array, eta_g: Array, tau: int, weights: Array
) -> Iterator[Array]:
    """FedDA as section 1.1 of zhang describes it: dual averaging within a round, and a proximal step at the server.

    Every round starts from the model, not from the dual state: algorithm 1 without its corrections.
    """
    xp = _checked(tau, x)
    step, server = xp.asarray(eta), xp.asarray(eta_g)
    for r in count(1):
        yield x
        z = _copies(xp, x, weights)
        for t in range(tau):
            z = z - step[..., None, None] * oracle(r, t, prox(z, (t * step)[..., None]))
        x = prox(x + server[..., None] * (_mean(xp, weights, z) - x), server * step * tau)


def fast_fedda(oracle: Oracle, prox: Prox, x: Array, mu: Array, L: Array, tau: int, weights: Array) -> Iterator[Array]:
    """Weighted dual averaging for mu-strongly convex losses: step s has the weight alpha_s = (s + a)^2, the model is

        argmin_w <sum alpha_s g_s, w> + mu/4 sum alpha_s |w - w_s|^2 + gamma/2 |w - x|^2 + (sum alpha_s) g(w);

    clients exchange both sums. With a = 6 L/mu and gamma = mu a^3/6 the step size alpha_s / (gamma + mu/2 sum alpha)
    starts at 1/L and decays like 6/(mu s).
    """
    xp = _checked(tau, x)
    half, a = xp.asarray(mu / 2)[..., None], xp.asarray(6 * L / mu)[..., None]
    gamma, first = half * a**3 / 3, x
    gradients, models, total, s = xp.zeros_like(x), xp.zeros_like(x), 0 * a, 0
    for r in count(1):
        yield x
        z, g, w = (_copies(xp, part, weights) for part in (x, gradients, models))
        for t in range(tau):
            alpha = (s + a) ** 2
            g, w = g + alpha[..., None] * oracle(r, t, z), w + alpha[..., None] * z
            total, s = total + alpha, s + 1
            curve = gamma + half * total
            pull = half[..., None] * w - g + _copies(xp, gamma * first, weights)
            z = prox(pull / curve[..., None], total / curve)
        gradients, models = _mean(xp, weights, g), _mean(xp, weights, w)
        curve = gamma + half * total
        x = prox((half * models - gradients + gamma * first) / curve, (total / curve)[..., 0])


def _copies(xp: Namespace, server: Array, weights: Array) -> Array:
    return xp.broadcast_to(server[..., None, :], (*server.shape[:-1], weights.shape[-1], server.shape[-1]))


def _mean(xp: Namespace, weights: Array, x: Array) -> Array:
    return xp.sum(weights[..., None] * x, axis=-2)


def _checked(tau: int, x: Array) -> Namespace:
    if tau < 1:
        raise fail(f"tau = {tau}", "tau at least 1", "use tau = 1 for no local updates")
    return namespace(x)
