"""Federated SGD with aggregation weights alpha_t: rules (2) and (4) of Ben Mansour, Carenini and Duplessis.

Time t counts local steps. Weights are a policy: generalised FedAvg, FedMax (15), FedMax(k), FedSoftMax, or given rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .arrays import Array, check_local_steps, fail, namespace, norm2, quiet
from .piecewise import Piecewise
from .quadratics import Quadratics, half_square

Rule: TypeAlias = Literal["printed", "rounds", "kept"]
Policy: TypeAlias = Callable[[int, Array], Array]  # (communication round, F_i(w_t) - F_i* (..., N)) -> alpha (..., N)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRun:
    """Measured along a run of T steps; expectations over the noise paths unless said otherwise."""

    gap: Array  # (..., T+1)      E F(w_t) - F*
    dist2: Array  # (..., T+1)      E |w_t - w*|^2
    spread: Array  # (..., T)        E sum_i alpha_t^i |w_t - w_t^i|^2
    spread_star: Array  # (..., T)        E sum_i alpha_t^i |w_t - w_i*|^2
    grad2: Array  # (..., N)        largest |grad F_i(w_t^i)|^2, t <= T, over all paths
    skew: Array  # (..., T)        least rho(t, w_t) (8) over all paths
    fedmax_skew: Array  # (..., T)   least rho(t, w_t) that FedMax's weights would have there
    star_least: Array  # (..., T)        rho(t, w*), the least over all paths
    star_most: Array  # (..., T)        and the largest
    alpha: Array  # (S, ..., T, N)  alpha_t on every path


def given(alpha: Array) -> Policy:
    """Weights (..., R, N) that do not look at the run: one row a communication round."""
    return lambda r, x: namespace(x).broadcast_to(alpha[..., r, :], x.shape)


def fedavg(p: Array) -> Policy:
    """Generalised FedAvg: alpha = p."""
    return lambda r, x: namespace(x).broadcast_to(p, x.shape)


def fedmax(r: int, x: Array) -> Array:
    """(15), (21): equal shares for the clients that attain the largest F_i(w_t) - F_i*."""
    xp = namespace(x)
    chosen = xp.astype(x == xp.max(x, axis=-1, keepdims=True), x.dtype)
    return chosen / xp.sum(chosen, axis=-1, keepdims=True)


def fedmax_k(k: int) -> Policy:
    """FedMax(k): equal shares for the first k clients in decreasing order of F_i(w_t) - F_i* (ties: by number)."""

    def choose(r: int, x: Array) -> Array:
        xp = namespace(x)
        if not 1 <= k <= x.shape[-1]:
            raise fail(f"k = {k}", f"1 <= k <= {x.shape[-1]} clients", "take fewer clients")
        place = xp.argsort(xp.argsort(-x, axis=-1, stable=True), axis=-1, stable=True)
        return xp.astype(place < k, x.dtype) / k

    return choose


def fedsoftmax(p: Array, temperature: Array) -> Policy:
    """FedSoftMax: p_i exp((F_i(w_t) - F_i*) / temperature), divided by their sum."""

    def choose(r: int, x: Array) -> Array:
        xp = namespace(x)
        weight = p * xp.exp((x - xp.max(x, axis=-1, keepdims=True)) / temperature[..., None])
        return weight / xp.sum(weight, axis=-1, keepdims=True)

    return choose


def excess(problem: Quadratics | Piecewise) -> Callable[[Array], Array]:
    """w (..., N, d) -> F_i(w_i) - F_i* (..., N), without cancellation near the minimisers."""
    if isinstance(problem, Piecewise):
        return problem.value
    c = problem.minimisers()
    return lambda w: half_square(problem.A, w - c)


def simulate(
    problem: Quadratics | Piecewise, w0: Array, eta: Array, E: int, policy: Policy, rule: Rule, noise: Array = None
) -> WeightedRun:
    """Run from w0 (..., d) with steps eta (..., T) and additive noise (S, ..., T, N, d) on S equally likely paths.

    printed: the step from t averages when E | t (2); elsewhere w_t moves with the weights p (4). rounds: algorithm 1,
    which averages when E | t + 1; p moves w_t before that. kept: as rounds, with the round's weights in (4).
    """
    check_local_steps(E)
    xp, p = namespace(w0, eta), problem.p
    T, N, S = eta.shape[-1], p.shape[-1], 1 if noise is None else noise.shape[0]
    w_star, c, over = problem.minimiser(), problem.minimisers(), excess(problem)
    gap, at_star = problem.gap_from(w_star), over(w_star[..., None, :])
    Gamma = xp.sum(p * at_star, axis=-1)
    kept: dict[str, list[Array]] = {name: [] for name in WeightedRun.__slots__}
    w = xp.broadcast_to(w0, (S, *w0.shape))
    local = xp.broadcast_to(w[..., None, :], (*w.shape[:-1], N, w.shape[-1]))
    alpha = xp.broadcast_to(p, (S, *p.shape))

    def see(w: Array, g: Array) -> None:
        kept["gap"].append(xp.mean(gap(w), axis=0))
        kept["dist2"].append(xp.mean(norm2(xp, w - w_star), axis=0))
        kept["grad2"].append(xp.max(norm2(xp, g), axis=0))

    def see_weights(w: Array, local: Array, x: Array, weights: Array) -> None:
        whole = xp.sum(p * x, axis=-1)
        star = xp.sum(weights * at_star, axis=-1) / Gamma
        kept["skew"].append(xp.min(xp.sum(weights * x, axis=-1) / whole, axis=0))
        kept["fedmax_skew"].append(xp.min(xp.max(x, axis=-1) / whole, axis=0))
        kept["star_least"].append(xp.min(star, axis=0))
        kept["star_most"].append(xp.max(star, axis=0))
        for name, others in (("spread", local), ("spread_star", c)):
            apart = norm2(xp, w[..., None, :] - others)
            kept[name].append(xp.mean(xp.sum(weights * apart, axis=-1), axis=0))
        kept["alpha"].append(weights)

    with quiet(xp):
        for t in range(T):
            x = over(xp.broadcast_to(w[..., None, :], local.shape))
            if t % E == 0:
                alpha = policy(t // E, x)
            weights = alpha if t % E == 0 or rule == "kept" else xp.broadcast_to(p, alpha.shape)
            g = problem.grad(local)
            see(w, g)
            see_weights(w, local, x, weights)
            g = g if noise is None else g + noise[..., t, :, :]
            step = eta[..., t, None]
            local = local - step[..., None] * g
            if (t if rule == "printed" else t + 1) % E == 0:
                w = xp.sum(alpha[..., None] * local, axis=-2)
                local = xp.broadcast_to(w[..., None, :], local.shape)
            else:
                moving = xp.broadcast_to(p, alpha.shape) if rule == "rounds" else weights
                w = w - step * xp.sum(moving[..., None] * g, axis=-2)
        see(w, problem.grad(local))
    made = {name: xp.stack(parts, axis=-2 if name == "alpha" else -1) for name, parts in kept.items()}
    return WeightedRun(**{**made, "grad2": xp.max(made["grad2"], axis=-1)})
