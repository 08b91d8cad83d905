"""Per-FedAvg (algorithm 1 of Fallah, Mokhtari and Ozdaglar) in one dimension, with exact expectations.

All users run from w_0 (appendix G); expectations are over the set A of m = r n users, uniform without replacement.
`walked` takes the steps and visits every set; `tilted` knows the sums where meta-gradients are h (w - c_i), so that
updates and rounds may be millions and gradients noisy. Both return the quantities of the proof after t updates.
"""

from __future__ import annotations

from collections.abc import Callable

from .arrays import Array, namespace
from .meta import meta_gradient
from .minibatch import subsets
from .splines import Splines


def lowest(f: Splines) -> Array:
    """A lower bound of losses with bounded gradients that are bounded below: the least Bernstein coefficient."""
    xp, many = namespace(f.x), f.over()
    x = xp.sort(f.x, axis=-1)
    value, slope = many.value(x), many.grad(x)
    third = (x[..., 1:] - x[..., :-1]) / 3
    inner = [value[..., :-1] + third * slope[..., :-1], value[..., 1:] - third * slope[..., 1:]]
    return xp.min(xp.concat([value, *inner], axis=-1), axis=-1)


def walked(
    f: Splines, alpha: Array, beta: Array, w0: Array, m: int, tau: int, K: int, t: int
) -> dict[str, Callable[[], Array]]:
    """Losses (..., n); alpha, beta, w0 and the quantities (...), computed when asked for."""
    xp = namespace(w0)
    n = f.g.shape[-1]
    sets, wide = subsets(n, m), f.before(-2)
    a, b = alpha[..., None], beta[..., None]

    def each(w: Array) -> Array:  # (..., S) -> (..., S, n)
        return meta_gradient(wide, w[..., None], a[..., None])

    def slope(w: Array) -> Array:
        return xp.mean(each(w), axis=-1)

    def level(w: Array) -> Array:
        inner = w[..., None] - a[..., None] * wide.grad(w[..., None])
        return xp.mean(wide.value(inner), axis=-1)

    def updates(w: Array, g: Splines, step: Array, inner: Array) -> list[Array]:
        """The points (..., n) of all users after 0, ..., tau updates from w (...)."""
        found = [w[..., None] + 0 * g.g]
        for _ in range(tau):
            found.append(found[-1] - step * meta_gradient(g, found[-1], inner))
        return found

    def averages(points: Array) -> Array:  # (..., n) -> (..., S)
        return xp.sum(sets * points[..., None, :], axis=-1) / m

    path = updates(w0, f, b, a)
    bars = averages(path[t])
    start = level(w0[..., None])[..., 0]

    def over(values: Array) -> Array:
        return xp.mean(values, axis=-1)

    def levels(at: int) -> Array:
        return over(level(averages(path[at]))) - start

    def rounds() -> Array:
        models, total = w0[..., None], 0 * w0
        for _ in range(K):
            many = updates(models, wide, b[..., None], a[..., None])
            ends = [xp.sum(sets * x[..., None, :], axis=-1) / m for x in many]  # (..., models, S)
            flat = [xp.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1])) for x in ends]
            for x in flat[:-1]:
                total = total + over(slope(x) ** 2) / (tau * K)
            models = flat[-1]
        return total

    return {
        "slope2": lambda: over(slope(bars) ** 2),
        "level": lambda: levels(t),
        "level_next": lambda: levels(min(t + 1, tau)),
        "level_end": lambda: levels(tau),
        "round2": lambda: over(xp.stack([over(slope(averages(x)) ** 2) for x in path[:-1]], axis=-1)),
        "mean2": rounds,
        "Delta": lambda: start - xp.mean(lowest(f), axis=-1),
    }


def tilted(
    h: Array, c: Array, beta: Array, w0: Array, noise2: Array, m: int, tau: Array, K: Array, t: Array
) -> dict[str, Callable[[], Array]]:
    """Meta-gradients h (w - c_i), c (..., n), and independent noise of variance noise2 (...); all else (...)."""
    xp = namespace(w0)
    n = c.shape[-1]
    centre = xp.mean(c, axis=-1)
    off = c - centre[..., None]
    e2, spread = (w0 - centre) ** 2, xp.mean(off**2, axis=-1)
    S = spread * (n - m) / (m * max(n - 1, 1))
    rate, q2 = xp.log1p(-beta * h), beta * h * (2 - beta * h)  # log q, and 1 - q^2

    def left(at: Array) -> Array:  # 1 - q^at
        return -xp.expm1(at * rate)

    def summed(at: Array) -> Array:
        return beta**2 * noise2 * left(2 * at) / q2

    def second(at: Array) -> Array:
        """E|wbar_t - centre|^2."""
        return (1 - left(2 * at)) * e2 + left(at) ** 2 * S + summed(at) / m

    def over_updates(start: Array) -> Array:
        ones, squares = left(tau) / (beta * h), left(2 * tau) / q2
        bent = xp.maximum(tau - 2 * ones + squares, 0 * tau)
        return (squares * start + bent * S + beta**2 * noise2 / q2 * (tau - squares) / m) / tau

    def over_rounds() -> Array:
        fixed = (left(tau) ** 2 * S + summed(tau) / m) / left(2 * tau)
        done = left(2 * tau * K) / left(2 * tau)
        return over_updates((e2 * done + fixed * xp.maximum(K - done, 0 * done)) / K)

    return {
        "slope2": lambda: h**2 * second(t),
        "level": lambda: h / 2 * (second(t) - e2),
        "level_next": lambda: h / 2 * (second(t + 1) - e2),
        "level_end": lambda: h / 2 * (second(tau) - e2),
        "round2": lambda: h**2 * over_updates(e2),
        "mean2": lambda: h**2 * over_rounds(),
        "Delta": lambda: h / 2 * e2,
    }
