"""FedProx (1.3) and FedMSPP (algorithm 1) of Yuan and Li on losses of one variable, with an oracle that may err.

Expectations are exact: devices that take part (without replacement) and minibatches are enumerated, one axis of paths.
Leading axis n of instances; M devices (or one that stands for all of them), B minibatches that a device may draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np

from .arrays import Array, namespace
from .minibatch import multisets
from .pieces import Pieces


@dataclass(frozen=True, slots=True, eq=False)
class Devices:
    risk: Pieces  # (n, M)     R^(m)
    batch: Pieces  # (n, M, B)  R_B^(m)
    chance: Array  # (n, M, B)

    @classmethod
    def of(cls, losses: Pieces, q: Array, b: int | None) -> Devices:
        """Losses and their probabilities (n, M, K), minibatches of b of them; b = None: always all of them."""
        xp = namespace(q)
        risk = losses.mix(q)
        if b is None or q.shape[-1] == 1:
            return cls(risk, risk.spread(), xp.ones_like(q[..., :1]))
        times, orders = multisets(q.shape[-1], b)
        x, jump, bend = (k[:, :, None] for k in (losses.x, losses.jump, losses.bend))
        apart = Pieces(x, jump, bend, *(k[:, :, None] for k in (losses.a, losses.s, losses.c)))
        return cls(risk, apart.mix(times / b), orders * xp.prod(q[..., None, :] ** times, axis=-1))

    @property
    def average(self) -> Pieces:  # (n,)
        xp = namespace(self.chance)
        return self.risk.mix(xp.ones_like(self.chance[..., 0]) / self.chance.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Each (n,). The last three are the largest over rounds, devices and paths."""

    picked2: Array  # E|grad R(w_t)|^2, t uniform in 0, ..., T - 1
    picked_env2: Array  # the same of the Moreau envelope; NaN without rho
    eps: Array  # sub-optimality of the oracle, the largest
    move: Array  # |w_t^(m) - w_{t-1}|
    residual: Array  # |w_t^(m) - w_{t-1} + eta d_t^(m)|
    drift2: Array  # |grad R(w_{t-1}) - mean_m d_t^(m)|^2, of full batches


@cache
def outcomes(M: int, I: int, B: int) -> np.ndarray:  # noqa: E741 (the paper's letter)
    """Places (Q, I) among the M B pairs of device and minibatch, one row for each way a round can go."""
    rows = [list(c) for s in combinations(range(M), I) for c in product(*(range(m * B, m * B + B) for m in s))]
    return np.array(rows)


def walk(
    devices: Devices, w0: Array, eta: Array, rho: Array | None, step: Array, shift: Array, T: int, size: int
) -> Walk:
    """T rounds with |I_t| = size; w0, eta, rho (n,). In round t a device returns
    w_{t-1} + step (prox - w_{t-1}) + shift with row min(t, J) of step and shift (n, J, M); step = 1 is exact."""
    xp = namespace(w0)
    zero = 0 * w0
    total = {"picked2": zero, "picked_env2": zero + (float("nan") if rho is None else 0.0)}
    most: dict[str, Array] = dict.fromkeys(("eps", "move", "residual", "drift2"), zero)
    average = devices.average.spread()
    for share, w, q, found in _rounds(devices, w0, eta, step, shift, T, size):
        slope = average.grad(w)  # (n, P)
        total["picked2"] = total["picked2"] + share * xp.sum(q * slope**2, axis=-1)
        if rho is not None:
            envelope = (w - average.prox(w, rho[:, None])) / rho[:, None]
            total["picked_env2"] = total["picked_env2"] + share * xp.sum(q * envelope**2, axis=-1)
        found["drift2"] = (slope[..., None, None] - xp.mean(found["drift2"], axis=-2, keepdims=True)) ** 2
        most = {name: xp.maximum(most[name], xp.max(found[name], axis=(1, 2, 3))) for name in most}
    return Walk(**total, **most)


def _rounds(
    devices: Devices, w0: Array, eta: Array, step: Array, shift: Array, T: int, size: int
) -> Iterator[tuple[float, Array, Array, dict[str, Array]]]:
    """Of each round: w_{t-1} and its probabilities (n, P), and what the devices did (n, P, M, B). Before them the share
    of such rounds: 1/T, or all that is left once nothing moves any more."""
    xp = namespace(w0)
    n, M, B = devices.chance.shape
    x, jump, bend = (k[:, None] for k in (devices.batch.x, devices.batch.jump, devices.batch.bend))
    risk = Pieces(x, jump, bend, *(k[:, None] for k in (devices.batch.a, devices.batch.s, devices.batch.c)))
    w, q = w0[:, None], xp.ones_like(w0)[:, None]
    rate = eta[:, None, None, None]
    places = outcomes(M, min(size, M), B)  # (Q, I)
    likely = xp.prod(xp.reshape(devices.chance, (n, M * B))[:, places], axis=-1)
    likely = likely / xp.sum(likely, axis=-1, keepdims=True)
    for t in range(T):
        before = w[..., None, None]
        regularised = risk.plus(1 / rate, before)
        best = regularised.convex_least()
        row = min(t, step.shape[1] - 1)
        taken = step[:, None, row, :, None]
        point = xp.where(taken == 1, best, before + taken * (best - before)) + shift[:, None, row, :, None]
        d = risk.grad(point)
        still = row + 1 == step.shape[1] and bool(xp.all(point == before))
        yield (T - t if still else 1) / T, w, q, {
            "eps": xp.maximum(regularised.value(point) - regularised.value(best), 0 * point),
            "move": xp.abs(point - before),
            "residual": xp.abs(point - before + rate * d),
            "drift2": d,
        }  # fmt: skip
        if still:
            return
        w = xp.mean(xp.reshape(point, (n, w.shape[1], M * B))[..., places], axis=-1)
        w, q = (xp.reshape(k, (n, -1)) for k in (w, q[..., None] * likely[:, None]))


def settled2(a: Array, eta: Array, spread2: Array, offset2: Array, T: Array, M: int, I: int) -> Array:  # noqa: E741
    """E|grad R(w_t)|^2, t uniform in 0, ..., T - 1, of exact steps on quadratics of curvature a whose minimisers have
    variance spread2, I of M at a time: E(w_t - c)^2 = v + r^(2t) (offset2 - v) with r = 1/(1 + eta a). All (n,)."""
    xp = namespace(a)
    r = 1 / (1 + eta * a)
    v = (1 - r) / (1 + r) * spread2 * (M - I) / (I * max(M - 1, 1))
    decay = -xp.expm1(-2 * T * xp.log1p(eta * a)) / ((1 - r**2) * T)
    return a**2 * (v + decay * (offset2 - v))
