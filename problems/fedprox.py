"""FedProx, rule (4.3), stepwise; FedAvg is alpha = 0.

w^i <- (1 - alpha gamma_t) w^i + alpha gamma_t wbar_{t,0} - gamma_t (grad f_i(w^i) + xi), and after E steps the server
takes wbar = sum_i p_i w^i.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from .arrays import (
    Array,
    Namespace,
    as_floats,
    broadcast_shape,
    check_finite,
    check_local_steps,
    fail,
    namespace,
    quiet,
)

SERVER = ("gap", "dist2")
LOCAL = ("deviation", "divergence", "grad2")
ALL = (*SERVER, *LOCAL)


class Objective(Protocol):
    """What a run needs of its clients' losses."""

    @property
    def p(self) -> Array: ...
    @property
    def batch(self) -> tuple[int, ...]: ...
    @property
    def C(self) -> int: ...
    @property
    def d(self) -> int: ...
    def grad(self, w: Array) -> Array: ...
    def average(self, w: Array) -> Array: ...
    def minimiser(self) -> Array: ...
    def gap(self, w: Array, w_star: Array) -> Array: ...


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Expectations over the noise, measured along a run; None where not asked for."""

    gap: Array = None  # (..., T+1)        E f(wbar_{t,0}) - f_*
    dist2: Array = None  # (..., T+1)        E |wbar_{t,0} - w_*|^2
    deviation: Array = None  # (..., T, E+1, C)  E |w^i_{t,k} - wbar_{t,0}|^2
    divergence: Array = None  # (..., T, E+1, C)  E |wbar_{t,k} - w^i_{t,k}|^2
    grad2: Array = None  # (..., T, E+1, C)  E |grad f_i(w^i_{t,k})|^2, without the variance of the noise


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked input of a run, with common batch axes."""

    xp: Namespace
    batch: tuple[int, ...]
    w0: Array  # (*batch, d)
    alpha: Array  # (*batch)
    gamma: Array  # (*batch, T)
    E: int

    @property
    def T(self) -> int:
        return self.gamma.shape[-1]


def set_up(problem: Objective, w0: Array, alpha: Array, gamma: Array, E: int, *batches: tuple[int, ...]) -> Setup:
    """Check and broadcast what every way of running FedProx takes."""
    check_local_steps(E)
    xp = namespace(problem.p, w0)
    w0, alpha, gamma = as_floats(xp, w0), as_floats(xp, alpha), as_floats(xp, gamma)
    if w0.ndim < 1 or w0.shape[-1] != problem.d:
        raise fail(f"w0 of shape {w0.shape}", f"(..., {problem.d})", "give one coordinate a dimension")
    if gamma.ndim < 1 or gamma.shape[-1] < 1:
        raise fail(f"gamma of shape {gamma.shape}", "(..., T) with T >= 1", "give one step size a round")
    check_finite(xp, w0=w0, alpha=alpha, gamma=gamma)
    batch = broadcast_shape(
        "batch axes of problem, w0, alpha, gamma", problem.batch, w0.shape[:-1], alpha.shape, gamma.shape[:-1], *batches
    )
    return Setup(
        xp=xp,
        batch=batch,
        w0=xp.broadcast_to(w0, (*batch, problem.d)),
        alpha=xp.broadcast_to(alpha, batch),
        gamma=xp.broadcast_to(gamma, (*batch, gamma.shape[-1])),
        E=E,
    )


def check_record(record: Collection[str]) -> None:
    unknown = set(record) - set(ALL)
    if unknown:
        raise fail(f"record {sorted(unknown)}", f"some of {', '.join(ALL)}", "ask for measured quantities only")


def simulate(
    problem: Objective,
    w0: Array,
    alpha: Array,
    gamma: Array,
    E: int,
    noise: Array = None,
    probability: Array = None,
    record: Collection[str] = ALL,
) -> Run:
    """Run (4.3) from w0 (..., d) with alpha (...), gamma (..., T) and additive noise (..., S, T, E, C, d).

    What is measured is the mean over the S noise paths, weighted by probability (S,), 1/S unless given: all sign paths
    with their probabilities make it an exact expectation.
    """
    check_record(record)
    setup = set_up(problem, w0, alpha, gamma, E, *(() if noise is None else (noise.shape[:-5],)))
    xp = setup.xp
    if noise is None:
        noise = xp.zeros((1,) * 5, dtype=xp.float64)
    else:
        expected = (setup.T, E, problem.C, problem.d)
        if noise.ndim < 5 or noise.shape[-4:] != expected:
            raise fail(f"noise of shape {noise.shape}", f"(..., S, T, E, C, d) = (..., S, {expected})", "match the run")
        check_finite(xp, noise=noise)
    S = noise.shape[-5]
    if probability is None:
        probability = xp.full((S,), 1 / S, dtype=xp.float64)
    if probability.shape != (S,) or abs(float(xp.sum(probability)) - 1) > 1e-9:
        raise fail(f"probability of shape {probability.shape}", f"({S},) with sum 1", "give one probability a path")
    with quiet(xp):
        return _simulate(problem, setup, xp.moveaxis(noise, -5, 0), probability, record)


def _simulate(problem: Objective, setup: Setup, noise: Array, probability: Array, record: Collection[str]) -> Run:
    """noise (S, ..., T, E, C, d), of which T, E, C, d may be 1; the state is (S, *batch, C, d)."""
    xp, S = setup.xp, noise.shape[0]
    w_star = problem.minimiser()
    silent = noise.shape[-4:] == (1, 1, 1, 1)
    seen: dict[str, list[Array]] = {name: [] for name in ALL}

    def mean(x: Array) -> Array:  # (S, ...) -> (...)
        return xp.tensordot(probability, x, axes=1)

    def see(name: str, x: Array) -> None:
        seen[name].append(mean(x))

    def see_server(w: Array) -> None:
        if "gap" in record:
            see("gap", problem.gap(w, w_star))
        if "dist2" in record:
            see("dist2", xp.sum((w - w_star) ** 2, axis=-1))

    def see_local(start: Array, w: Array, g: Array) -> None:
        if "deviation" in record:
            see("deviation", xp.sum((w - start) ** 2, axis=-1))
        if "divergence" in record:
            see("divergence", xp.sum((problem.average(w)[..., None, :] - w) ** 2, axis=-1))
        if "grad2" in record:
            see("grad2", xp.sum(g**2, axis=-1))

    local = bool(set(record) & set(LOCAL))
    server = xp.broadcast_to(setup.w0, (S, *setup.batch, problem.d))
    see_server(server)
    for t in range(setup.T):
        gamma = setup.gamma[..., t, None, None]
        pull = setup.alpha[..., None, None] * gamma
        start = server[..., None, :]
        w = xp.broadcast_to(start, (S, *setup.batch, problem.C, problem.d))
        for k in range(setup.E):
            g = problem.grad(w)
            if local:
                see_local(start, w, g)
            g = g if silent else g + noise[..., t, k, :, :]
            w = w - pull * (w - start) - gamma * g
        if local:
            see_local(start, w, problem.grad(w))
        server = problem.average(w)
        see_server(server)
    shape = (*setup.batch, setup.T, setup.E + 1, problem.C)
    measured: dict[str, Array] = {name: xp.stack(seen[name], axis=-1) for name in SERVER if seen[name]}
    for name in LOCAL:
        if seen[name]:
            measured[name] = xp.reshape(xp.stack(seen[name], axis=-2), shape)
    return Run(**measured)
