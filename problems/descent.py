"""What nonconvex statements measure along a run of FedProx, rule (4.3): E f(wbar_{t,0}) and E|grad f(wbar)|^2.

`walked` takes every noise path as it comes, for any losses; `expected_descent` carries mean and covariance of all
clients at once and is exact for quadratics, convex or not.
"""

from dataclasses import dataclass

from .arrays import Array, fail, matvec, namespace, norm2, quiet
from .quadratics import Quadratics, half_square
from .run import Objective, Setup, set_up


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Expectations over the noise. Values of f are counted from the start, where small differences stay exact."""

    drop: Array  # (...)             f(wbar_{0,0}) - inf f, NaN where f is not bounded below
    rise: Array  # (..., T+1)        E f(wbar_{t,0}) - f(wbar_{0,0})
    slope2: Array  # (..., T, E+1)     E |grad f(wbar_{t,k})|^2
    grad2: Array  # (..., T, E+1, C)  E |grad f_i(w^i_{t,k})|^2, without the variance of the noise


def walked(problem: Objective, w0: Array, alpha: Array, gamma: Array, E: int, noise: Array = None) -> Descent:
    """The mean over S equally likely noise paths (..., S, T, E, C, d), or one run without noise."""
    setup = set_up(problem, w0, alpha, gamma, E, *(() if noise is None else (noise.shape[:-5],)))
    xp = setup.xp
    if noise is not None and (noise.ndim < 5 or noise.shape[-4:] != (setup.T, E, problem.C, problem.d)):
        expected = (setup.T, E, problem.C, problem.d)
        raise fail(f"noise of shape {noise.shape}", f"(..., S, T, E, C, d) = (..., S, {expected})", "match the run")
    kicks = None if noise is None else xp.moveaxis(noise, -5, 0)
    out = _blank(problem, setup)
    bregman, tilt = problem.gap_from(setup.w0), _slope(problem, setup.w0)

    def rise(w: Array) -> Array:
        return xp.mean(bregman(w) + xp.sum(tilt * (w - setup.w0), axis=-1), axis=0)

    with quiet(xp):
        server = xp.broadcast_to(setup.w0, (1 if kicks is None else kicks.shape[0], *setup.batch, problem.d))
        out.rise[..., 0] = 0.0
        for t in range(setup.T):
            step = setup.gamma[..., t, None, None]
            start = server[..., None, :]
            w = xp.broadcast_to(start, (*server.shape[:-1], problem.C, problem.d))
            for k in range(E + 1):
                g = problem.grad(w)
                out.slope2[..., t, k] = xp.mean(norm2(xp, _slope(problem, problem.average(w))), axis=0)
                out.grad2[..., t, k, :] = xp.mean(norm2(xp, g), axis=0)
                if k < E:
                    kick = g if kicks is None else g + kicks[..., t, k, :, :]
                    w = w - step * (setup.alpha[..., None, None] * (w - start) + kick)
            server = problem.average(w)
            out.rise[..., t + 1] = rise(server)
    return out


def expected_descent(
    problem: Quadratics, w0: Array, alpha: Array, gamma: Array, E: int, v: Array, shared: bool = False
) -> Descent:
    """Exact for noise s v_i, v (..., C, d), independent fair signs s; `shared`: one sign a step for all clients."""
    setup = set_up(problem, w0, alpha, gamma, E, v.shape[:-2])
    xp, batch, C, d = setup.xp, setup.batch, problem.C, problem.d
    n, out = (C + 1) * d, _blank(problem, setup)
    A_mean, b_mean = problem.mean()
    tilt0 = matvec(xp, A_mean, setup.w0) - b_mean
    A, b = xp.broadcast_to(problem.A, (*batch, C, d, d)), xp.broadcast_to(problem.b, (*batch, C, d))
    slopes = _blocks(A)  # of all clients, (..., C d, C d)
    average = xp.matrix_transpose(xp.reshape(problem.p[..., :, None, None] * xp.eye(d), (*problem.p.shape[:-1], -1, d)))
    spread = xp.reshape(xp.broadcast_to(v, (*batch, C, d)), (*batch, C * d, 1))
    noise = xp.matmul(spread, xp.matrix_transpose(spread))
    if not shared:
        noise = noise * xp.reshape(xp.eye(C)[:, None, :, None] * xp.ones((1, d, 1, d)), (C * d, C * d))
    mean = xp.concat([xp.broadcast_to(setup.w0, (*batch, d))] * (C + 1), axis=-1)
    cov = xp.zeros((*batch, n, n))
    gather = xp.concat([xp.broadcast_to(average, (*batch, d, C * d))] * (C + 1), axis=-2)  # w^i -> C + 1 averages

    def see_server(t: int) -> None:
        moved = mean[..., :d] - setup.w0
        around = half_square(A_mean, moved) + 0.5 * xp.sum(A_mean * cov[..., :d, :d], axis=(-2, -1))
        out.rise[..., t] = xp.sum(tilt0 * moved, axis=-1) + around

    def see_local(t: int, k: int) -> None:
        inner, tilt = cov[..., d:, d:], xp.matmul(A_mean, average)
        middle = matvec(xp, average, mean[..., d:])
        slope = norm2(xp, matvec(xp, A_mean, middle) - b_mean)
        out.slope2[..., t, k] = slope + xp.sum(tilt * xp.matmul(tilt, inner), axis=(-2, -1))
        local = xp.reshape(mean[..., d:], (*batch, C, d))
        own = xp.sum(slopes * xp.matmul(slopes, inner), axis=-1)
        out.grad2[..., t, k, :] = norm2(xp, matvec(xp, A, local) - b) + xp.sum(xp.reshape(own, (*batch, C, d)), axis=-1)

    with quiet(xp):
        for t in range(setup.T):
            step, pull = setup.gamma[..., t, None, None], (setup.alpha * setup.gamma[..., t])[..., None, None]
            eye = xp.eye(d)
            kept = _blocks((1 - pull[..., None]) * eye - step[..., None] * A)
            anchor = xp.concat([pull * eye] * C, axis=-2)
            first = xp.concat([eye, xp.zeros((d, C * d))], axis=-1)
            move = xp.concat(
                [xp.broadcast_to(first, (*batch, d, n)), xp.concat([anchor, kept], axis=-1)], axis=-2
            )  # of (wbar_{t,0}, w^1, ..., w^C)
            push = xp.concat([xp.zeros((*batch, d)), step[..., 0] * xp.reshape(b, (*batch, C * d))], axis=-1)
            see_server(t)
            for k in range(E + 1):
                see_local(t, k)
                if k < E:
                    mean = matvec(xp, move, mean) + push
                    cov = xp.matmul(xp.matmul(move, cov), xp.matrix_transpose(move))
                    cov[..., d:, d:] += step**2 * noise
            mean = matvec(xp, gather, mean[..., d:])
            cov = xp.matmul(xp.matmul(gather, cov[..., d:, d:]), xp.matrix_transpose(gather))
        see_server(setup.T)
    return out


def _blocks(A: Array) -> Array:
    """(..., C, d, d) -> the block-diagonal (..., C d, C d)."""
    xp = namespace(A)
    C, d = A.shape[-3], A.shape[-1]
    apart = xp.eye(C)[:, None, :, None] * A[..., :, :, None, :]
    return xp.reshape(apart, (*A.shape[:-3], C * d, C * d))


def _slope(problem: Objective, w: Array) -> Array:
    """grad f(w) for w (..., d)."""
    xp = namespace(w)
    return problem.average(problem.grad(xp.broadcast_to(w[..., None, :], (*w.shape[:-1], problem.C, problem.d))))


def _blank(problem: Objective, setup: Setup) -> Descent:
    xp, T, E = setup.xp, setup.T, setup.E
    with quiet(xp):
        drop = xp.broadcast_to(problem.gap_from(problem.minimiser())(setup.w0), setup.batch)
    return Descent(
        drop,
        xp.empty((*setup.batch, T + 1), dtype=xp.float64),
        xp.empty((*setup.batch, T, E + 1), dtype=xp.float64),
        xp.empty((*setup.batch, T, E + 1, problem.C), dtype=xp.float64),
    )
