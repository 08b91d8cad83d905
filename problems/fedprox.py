"""FedProx, rule (4.3), stepwise; FedAvg is alpha = 0.

w^i <- (1 - alpha gamma_t) w^i + alpha gamma_t wbar_{t,0} - gamma_t (grad f_i(w^i) + xi), and after E steps the server
takes wbar = sum_i p_i w^i.
"""

from collections.abc import Collection

from . import stepwise
from .arrays import Array, check_finite, fail, is_numpy, norm2, quiet
from .quadratics import Quadratics
from .run import ALL, LOCAL, SERVER, Objective, Run, Setup, blank, check_record, set_up

__all__ = ["ALL", "LOCAL", "SERVER", "Run", "simulate"]


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
    if noise is not None:
        expected = (setup.T, E, problem.C, problem.d)
        if noise.ndim < 5 or noise.shape[-4:] != expected:
            raise fail(f"noise of shape {noise.shape}", f"(..., S, T, E, C, d) = (..., S, {expected})", "match the run")
        check_finite(xp, noise=noise)
        noise = xp.moveaxis(noise, -5, 0)
    paths = 1 if noise is None else noise.shape[0]
    if probability is None:
        probability = xp.full((paths,), 1 / paths, dtype=xp.float64)
    if probability.shape != (paths,) or abs(float(xp.sum(probability)) - 1) > 1e-9:
        raise fail(f"probability of shape {probability.shape}", f"({paths},) with sum 1", "give one number a path")
    with quiet(xp):
        servers_only = set(record) <= set(SERVER)
        if servers_only and is_numpy(xp) and isinstance(problem, Quadratics) and stepwise.suits(problem, setup, noise):
            return stepwise.simulate(problem, setup, noise, probability, record)
        return simulate_any(problem, setup, noise, probability, record)


def simulate_any(problem: Objective, setup: Setup, noise: Array, probability: Array, record: Collection[str]) -> Run:
    """Any losses, any array library; noise (S, ..., T, E, C, d) or None; the state is (S, *batch, C, d)."""
    xp, paths = setup.xp, probability.shape[0]
    w_star = problem.minimiser()
    gap = problem.gap_from(w_star)
    out = blank(problem, setup, record)
    local = any(name in record for name in LOCAL)

    def mean(x: Array) -> Array:  # (S, ...) -> (...)
        return xp.tensordot(probability, x, axes=1)

    def stochastic(g: Array, t: int, k: int) -> Array:
        return g if noise is None else g + noise[..., t, k, :, :]

    def see_server(t: int, w: Array) -> None:
        if "gap" in record:
            out["gap"][..., t] = mean(gap(w))
        if "dist2" in record:
            out["dist2"][..., t] = mean(norm2(xp, w - w_star))

    def see_local(t: int, k: int, start: Array, w: Array, g: Array) -> None:
        if "deviation" in record:
            out["deviation"][..., t, k, :] = mean(norm2(xp, w - start))
        if "divergence" in record:
            apart = problem.average(w)[..., None, :] - w
            out["divergence"][..., t, k, :] = mean(norm2(xp, apart))
        if "grad2" in record:
            out["grad2"][..., t, k, :] = mean(norm2(xp, g))

    server = xp.broadcast_to(setup.w0, (paths, *setup.batch, problem.d))
    see_server(0, server)
    for t in range(setup.T):
        gamma = setup.gamma[..., t, None, None]
        pull = setup.alpha[..., None, None] * gamma
        start = server[..., None, :]
        w = xp.broadcast_to(start, (paths, *setup.batch, problem.C, problem.d))
        for k in range(setup.E + 1):
            if not local and k == setup.E:
                break
            g = problem.grad(w)
            if local:
                see_local(t, k, start, w, g)
            if k < setup.E:
                w = w - pull * (w - start) - gamma * stochastic(g, t, k)
        server = problem.average(w)
        see_server(t + 1, server)
    return Run(**out)
