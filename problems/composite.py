"""Composite federated learning (algorithm 1 of zhang) and its compact form (2), as two implementations that must agree.

Axes: (..., n, d) for what clients hold, (..., d) for what the server holds; leading axes are batch axes. A client may
stand for several equal ones: `weights` (..., n) are then their shares and sum to 1. Stochastic gradients come from an
oracle(r, t, z), so that minibatches and enumerated noise are the same to the method; rounds count from 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from .arrays import Array, Namespace, fail, namespace, norm2, quiet
from .piecewise import Piecewise
from .proximal import Prox
from .quadratics import Quadratics

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


def lambdas(P: Array, gradient: Callable[[Array], Array], eta: Array, tau: int, before: Array | None) -> Array:
    """Lambda^r (10) without the term that all clients share, (..., n, d): only its deviations from the mean are used.

    `before` are the gradients (..., tau, n, d) of round r - 1; None for r = 1, where they are 0.
    """
    xp = namespace(P)
    own = tau * gradient(P[..., None, :])
    return xp.asarray(eta)[..., None, None] * (own if before is None else own - xp.sum(before, axis=-3))


def spread(weights: Array, x: Array) -> Array:
    """|x_i - mean x|^2 (..., n) for x (..., n, d)."""
    return norm2(namespace(x), x - _mean(weights, x)[..., None, :])


def virtual(P: Array, gradient: Array, prox: Prox, whole: Array) -> Array:
    """The centralised proximal gradient step (4) from P, with the gradient of f there."""
    return prox(P - namespace(P).asarray(whole)[..., None] * gradient, whole)


# --- reference minimisers of F = f + theta |.|_1 ---------------------------------------------------------------------


def minimiser(problem: Quadratics | Piecewise, theta: Array) -> Array:
    """x* (..., d): exact up to rounding. Quadratics: the best of all sign patterns. Else d = 1: the best of all kinks
    and stationary points. f has to grow in every direction."""
    return _of_quadratic(problem, theta) if isinstance(problem, Quadratics) else _on_a_line(problem, theta)


def excess(problem: Quadratics | Piecewise, theta: Array, x_star: Array) -> Callable[[Array], Array]:
    """F(x) - F* for x (..., d), without cancellation in the smooth part."""
    xp = namespace(x_star)
    bregman, slope = problem.gap_from(x_star), problem.average(problem.grad(x_star[..., None, :]))
    weight = xp.asarray(theta)[..., None]

    def gap(x: Array) -> Array:
        rest = slope * (x - x_star) + weight * (xp.abs(x) - xp.abs(x_star))
        return bregman(x) + xp.sum(rest, axis=-1)

    return gap


def _of_quadratic(problem: Quadratics, theta: Array) -> Array:
    A, b = problem.mean()
    xp, d = namespace(A), b.shape[-1]
    if d > 2:
        raise fail(f"d = {d}", "d = 1 or d = 2", "use reference.py for a numerical minimiser")
    found: list[Array] = []
    for signs in product((-1.0, 0.0, 1.0), repeat=d):
        sign = xp.asarray(signs, dtype=b.dtype)
        on = sign != 0
        both = on[:, None] & on[None, :]
        system = xp.where(both, A, xp.eye(d, dtype=b.dtype))
        right = xp.where(on, b - xp.asarray(theta)[..., None] * sign, xp.zeros_like(b))
        found.append(_solve(system, right))
    candidates = _stack([x[..., None, :] for x in found])[..., 0, :]  # (..., patterns, d)
    Ax = xp.matmul(candidates, A)
    value = xp.sum(candidates * (0.5 * Ax - b[..., None, :]), axis=-1)
    return _best(candidates, value + xp.asarray(theta)[..., None] * xp.sum(xp.abs(candidates), axis=-1))


def _solve(A: Array, b: Array) -> Array:
    """A (..., d, d), d <= 2, by Cramer's rule; the origin where A is singular (another pattern is then best)."""
    xp = namespace(A)
    if b.shape[-1] == 1:
        det, top = A[..., 0], b
    else:
        det = (A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0])[..., None]
        first = A[..., 1, 1] * b[..., 0] - A[..., 0, 1] * b[..., 1]
        second = A[..., 0, 0] * b[..., 1] - A[..., 1, 0] * b[..., 0]
        top = xp.stack([first, second], axis=-1)
    regular = det != 0
    return xp.where(regular, top / xp.where(regular, det, xp.ones_like(det)), xp.zeros_like(b))


def _on_a_line(problem: Piecewise, theta: Array) -> Array:
    xp = namespace(problem.c)
    if problem.d != 1:
        raise fail(f"d = {problem.d}", "d = 1 for losses with kinks", "use quadratics, or one dimension")
    kinks = xp.concat([problem.c - problem.lo, problem.c + problem.hi, xp.zeros_like(problem.c[..., :1, :])], axis=-2)
    inner, weight = xp.sort(kinks[..., 0], axis=-1), xp.asarray(theta)[..., None]
    tail = xp.sum(problem.p * problem.m[..., 0], axis=-1)[..., None]

    def along(x: Array, of: Callable[[Array], Array]) -> Array:
        """sum_i p_i of_i at k points (..., k)."""
        return xp.stack([xp.sum(problem.p * of(x[..., k, None, None]), axis=-1) for k in range(x.shape[-1])], axis=-1)

    def slope(x: Array) -> Array:
        return along(x, lambda w: problem.grad(w)[..., 0])

    low, high = inner[..., :1], inner[..., -1:]  # 0 is among them: x < 0 below low, x > 0 above high
    left = low - xp.maximum(slope(low) - weight, xp.zeros_like(low)) / tail
    right = high + xp.maximum(-slope(high) - weight, xp.zeros_like(high)) / tail
    start, end = inner[..., :-1], inner[..., 1:]
    sign = xp.where(start >= 0, weight, -weight)
    at_start, at_end = slope(start) + sign, slope(end) + sign
    rise = at_end - at_start
    root = start - at_start * (end - start) / xp.where(rise != 0, rise, xp.ones_like(rise))
    points = xp.concat([left, inner, xp.minimum(xp.maximum(root, start), end), right], axis=-1)
    return _best(points[..., None], along(points, problem.value) + weight * xp.abs(points))


def _best(candidates: Array, values: Array) -> Array:
    xp = namespace(values)
    place = xp.argmin(values, axis=-1, keepdims=True)
    return xp.take_along_axis(candidates, place[..., None], axis=-2)[..., 0, :]


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
