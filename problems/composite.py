"""Composite federated learning (algorithm 1 of zhang) and its compact form (2), as two implementations that must agree.

Axes: (..., n, d) for what clients hold, (..., d) for what the server holds; leading axes are batch axes. A client may
stand for several equal ones: `weights` (..., n) are then their shares and sum to 1. Stochastic gradients come from an
oracle(r, t, z), so that minibatches and enumerated noise are the same to the method; rounds count from 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .arrays import Array, Namespace, fail, namespace, quiet
from .proximal import Prox

Oracle = Callable[[int, int, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What happens between two broadcasts."""

    x: Array  # (..., d)  the pre-proximal global model that the round starts from
    P: Array  # (..., d)  the post-proximal one, P_{eta~}(x)
    zhat: Array  # (..., tau + 1, n, d)  pre-proximal local models
    z: Array  # (..., tau + 1, n, d)  post-proximal local models; gradients are taken at the first tau
    g: Array  # (..., tau, n, d)  stochastic gradients
    c: Array  # (..., n, d)  corrections in use
    onward: Array  # (..., d)  the next pre-proximal global model


def per_client(
    oracle: Oracle, prox: Prox, x: Array, eta: Array, eta_g: Array, tau: int, weights: Array, rounds: int
) -> Iterator[Round]:
    """Algorithm 1 as each client runs it: x (..., d), eta and eta_g (...), weights (..., n)."""
    xp = _checked(tau, rounds, x)
    step, server = xp.asarray(eta)[..., None, None], xp.asarray(eta_g)[..., None]
    whole = eta * eta_g * tau
    c = xp.zeros((*x.shape[:-1], weights.shape[-1], x.shape[-1]), dtype=x.dtype)
    with quiet(xp):
        for r in range(1, rounds + 1):
            P = prox(x, whole)
            zhat, z, g = [_copies(P, c)], [_copies(P, c)], list[Array]()
            for t in range(tau):
                g.append(oracle(r, t, z[t]))
                zhat.append(zhat[t] - step * (g[t] + c))
                z.append(prox(zhat[t + 1], xp.asarray((t + 1) * eta)[..., None]))
            onward = P + server * (_mean(weights, zhat[tau]) - P)
            yield Round(x, P, _stack(zhat), _stack(z), _stack(g), c, onward)
            c = _copies((P - onward) / xp.asarray(whole)[..., None], c) - sum(g) / tau
            x = onward


def compact(
    oracle: Oracle, prox: Prox, x: Array, eta: Array, eta_g: Array, tau: int, weights: Array, rounds: int
) -> Iterator[Round]:
    """The compact form (2): no corrections are stored, the gradients of the round before make up the direction."""
    xp = _checked(tau, rounds, x)
    old = xp.zeros((*x.shape[:-1], weights.shape[-1], x.shape[-1]), dtype=x.dtype)  # gradients of round 0 are 0
    with quiet(xp):
        for r in range(1, rounds + 1):
            P = prox(x, eta_g * eta * tau)
            ahead = (xp.expand_dims(_mean(weights, old), axis=-2) - old) / tau
            zhat = z = P[..., None, :] + xp.zeros_like(old)
            pre, post, used, total = [zhat], [z], list[Array](), xp.zeros_like(old)
            for t in range(tau):
                gradients = oracle(r, t, z)
                zhat = zhat - xp.asarray(eta)[..., None, None] * (gradients + ahead)
                z = prox(zhat, xp.asarray((t + 1) * eta)[..., None])
                total = total + gradients
                pre, post, used = [*pre, zhat], [*post, z], [*used, gradients]
            onward = P - xp.asarray(eta_g * eta)[..., None] * _mean(weights, total)
            yield Round(x, P, _stack(pre), _stack(post), _stack(used), ahead, onward)
            x, old = onward, total


def _mean(weights: Array, x: Array) -> Array:
    """The clients' average: (..., n, d) -> (..., d)."""
    return namespace(x).sum(weights[..., None] * x, axis=-2)


def _copies(server: Array, like: Array) -> Array:
    return namespace(like).broadcast_to(server[..., None, :], like.shape)


def _stack(parts: list[Array]) -> Array:
    """(..., n, d) a step -> (..., steps, n, d)."""
    return namespace(parts[0]).stack(parts, axis=-3)


def _checked(tau: int, rounds: int, x: Array) -> Namespace:
    if tau < 1 or rounds < 1:
        raise fail(f"tau = {tau}, rounds = {rounds}", "both at least 1", "use tau = 1 for no local updates")
    return namespace(x)
