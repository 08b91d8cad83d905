"""Exact expectations of FedProx on quadratics with additive noise: no sampling, no enumeration.

The dynamics are affine, so the mean and the covariance of wbar_{t,0} obey a closed recursion. With
S_k = sum_{m<k} B^m, B = (1 - alpha gamma) I - gamma A_i, client i is after k steps at
w^i_{t,k} = wbar - gamma S_k (A_i wbar - b_i) - gamma sum_{m<k} B^{k-1-m} xi_m.
"""

from collections.abc import Collection
from dataclasses import dataclass

from .arrays import EPS, Array, Namespace, all_true, as_floats, check_finite, fail, matvec, namespace, quiet
from .fedprox import ALL, LOCAL, Run, Setup, check_record, set_up
from .quadratics import Quadratics, half_square


@dataclass(frozen=True, slots=True, eq=False)
class _Round:
    """One round with a given step size: wbar' = M wbar + c + noise, and what the clients do meanwhile."""

    M: Array  # (..., d, d)
    c: Array  # (..., d)
    N: Array  # (..., d, d)          covariance of the noise
    P: Array  # (..., E+1, C, d, d)  E w^i_{t,k} = P wbar + q
    q: Array  # (..., E+1, C, d)
    deviation: Array  # (..., E+1, C)  what the noise of this round adds
    divergence: Array
    grad2: Array


def expected(
    problem: Quadratics,
    w0: Array,
    alpha: Array,
    gamma: Array,
    E: int,
    v: Array = None,
    shared: bool = False,
    covariance: Array = None,
    record: Collection[str] = ALL,
) -> Run:
    """Exact expectations for noise xi^i_{t,k} = s v_i, v (..., C, d), with E s = 0, E s^2 = 1, s independent over all.

    `shared`: one s for all clients of a step. Or give `covariance` (..., C, d, d) of xi^i, independent over clients.
    """
    check_record(record)
    factor = _factor(problem, v, shared, covariance)
    setup = set_up(problem, w0, alpha, gamma, E, factor.shape[:-3])
    with quiet(setup.xp):
        return _expected(problem, setup, factor, shared, record)


def _factor(problem: Quadratics, v: Array, shared: bool, covariance: Array) -> Array:
    """F_i (..., C, d, r) with cov xi^i = F_i F_i'."""
    xp = namespace(problem.p)
    C, d = problem.C, problem.d
    if v is not None and covariance is not None:
        raise fail("both v and covariance", "one of them", "drop the other")
    if covariance is None:
        v = xp.zeros((C, d), dtype=xp.float64) if v is None else as_floats(xp, v)
        if v.ndim < 2 or v.shape[-2:] != (C, d):
            raise fail(f"v of shape {v.shape}", f"(..., C, d) = (..., {C}, {d})", "give one vector a client")
        check_finite(xp, v=v)
        return v[..., None]
    covariance = as_floats(xp, covariance)
    if shared:
        raise fail("a covariance for shared noise", "v, which says how clients correlate", "use v = ..., shared=True")
    if covariance.ndim < 3 or covariance.shape[-3:] != (C, d, d):
        raise fail(f"covariance of shape {covariance.shape}", f"(..., {C}, {d}, {d})", "give one matrix a client")
    check_finite(xp, covariance=covariance)
    eigenvalues, U = xp.linalg.eigh(covariance)
    size = xp.max(xp.abs(eigenvalues), axis=-1, keepdims=True)
    if not all_true(xp, eigenvalues >= -16 * d * EPS * size):
        raise fail("a covariance with a negative eigenvalue", "a positive semidefinite matrix", "repair it")
    return U * xp.sqrt(xp.maximum(eigenvalues, xp.zeros_like(eigenvalues)))[..., None, :]


def _expected(problem: Quadratics, setup: Setup, factor: Array, shared: bool, record: Collection[str]) -> Run:
    xp, T = setup.xp, setup.T
    gamma = setup.gamma
    constant = all_true(xp, gamma == gamma[..., :1])
    mean = setup.w0
    cov = xp.zeros((*setup.batch, problem.d, problem.d), dtype=xp.float64)
    means, covs, local = [mean], [cov], []
    one = _round(problem, setup, gamma[..., 0], factor, shared)
    for t in range(T):
        if not constant and t > 0:
            one = _round(problem, setup, gamma[..., t], factor, shared)
        if not constant:
            local.append(_local(problem, one, mean[..., None, :], cov[..., None, :, :], record))
        mean = matvec(xp, one.M, mean) + one.c
        cov = xp.matmul(xp.matmul(one.M, cov), xp.matrix_transpose(one.M)) + one.N
        means.append(mean)
        covs.append(cov)
    m, V = xp.stack(means, axis=-2), xp.stack(covs, axis=-3)
    if constant:
        local = [_local(problem, one, m[..., :T, :], V[..., :T, :, :], record)]
    measured: dict[str, Array] = {x: xp.concat([part[x] for part in local], axis=-3) for x in LOCAL if x in record}
    w_star = problem.minimiser()[..., None, :]
    if "gap" in record:
        A, _ = problem.mean()
        measured["gap"] = half_square(A[..., None, :, :], m - w_star) + 0.5 * _inner(xp, A[..., None, :, :], V)
    if "dist2" in record:
        measured["dist2"] = xp.sum((m - w_star) ** 2, axis=-1) + _inner(xp, xp.eye(problem.d, dtype=xp.float64), V)
    return Run(**measured)


def _inner(xp: Namespace, A: Array, B: Array) -> Array:
    """tr(A'B): (..., d, d) -> (...)."""
    return xp.sum(A * B, axis=(-2, -1))


def _round(problem: Quadratics, setup: Setup, gamma: Array, factor: Array, shared: bool) -> _Round:
    """The maps of one round with step size gamma (...)."""
    xp, A, b, p = setup.xp, problem.A, problem.b, problem.p
    gamma = gamma[..., None, None]  # against (..., C, d)
    step = gamma[..., None]  # against (..., C, d, d)
    eye = xp.eye(problem.d, dtype=xp.float64)
    B = eye - step * (setup.alpha[..., None, None, None] * eye + A)
    S, u = xp.zeros_like(B), xp.broadcast_to(factor, (*B.shape[:-1], factor.shape[-1]))
    weights = p[..., None, None]
    P, q = [], []
    noise = xp.zeros((*setup.batch, problem.C), dtype=xp.float64)
    own, apart, steep = noise, noise, noise
    owns, aparts, steeps = [], [], []
    N = xp.zeros((*setup.batch, problem.d, problem.d), dtype=xp.float64)
    for k in range(setup.E + 1):
        P.append(eye - step * xp.matmul(S, A))
        q.append(gamma * matvec(xp, S, b))
        owns.append(own)
        aparts.append(apart)
        steeps.append(steep)
        if k == setup.E:
            break
        size = gamma[..., 0] ** 2 * _inner(xp, u, u)
        common = xp.sum(weights * u, axis=-3)
        if shared:
            others = common[..., None, :, :] - u
            apart = apart + gamma[..., 0] ** 2 * _inner(xp, others, others)
            N = N + gamma**2 * xp.matmul(common, xp.matrix_transpose(common))
        else:
            apart = apart + (1 - 2 * p) * size + xp.sum(p**2 * size, axis=-1, keepdims=True)
            N = N + gamma**2 * xp.sum(weights**2 * xp.matmul(u, xp.matrix_transpose(u)), axis=-3)
        own = own + size
        Au = xp.matmul(A, u)
        steep = steep + gamma[..., 0] ** 2 * _inner(xp, Au, Au)
        S, u = eye + xp.matmul(B, S), xp.matmul(B, u)
    return _Round(
        M=xp.sum(weights * P[-1], axis=-3),
        c=xp.sum(p[..., None] * q[-1], axis=-2),
        N=N,
        P=xp.stack(P, axis=-4),
        q=xp.stack(q, axis=-3),
        deviation=xp.stack(owns, axis=-2),
        divergence=xp.stack(aparts, axis=-2),
        grad2=xp.stack(steeps, axis=-2),
    )


def _local(problem: Quadratics, one: _Round, m: Array, V: Array, record: Collection[str]) -> dict[str, Array]:
    """Drift (..., T, E+1, C) in rounds that start with mean m (..., T, d) and covariance V (..., T, d, d)."""
    xp = namespace(m)
    out: dict[str, Array] = {}
    eye = xp.eye(problem.d, dtype=xp.float64)
    if "deviation" in record:
        out["deviation"] = _square(xp, one.P - eye, one.q, m, V) + one.deviation[..., None, :, :]
    if "divergence" in record:
        weights = problem.p[..., None, :, None]
        P = xp.sum(weights[..., None] * one.P, axis=-3, keepdims=True) - one.P
        q = xp.sum(weights * one.q, axis=-2, keepdims=True) - one.q
        out["divergence"] = _square(xp, P, q, m, V) + one.divergence[..., None, :, :]
    if "grad2" in record:
        A, b = problem.A[..., None, :, :, :], problem.b[..., None, :, :]
        out["grad2"] = _square(xp, xp.matmul(A, one.P), matvec(xp, A, one.q) - b, m, V) + one.grad2[..., None, :, :]
    return out


def _square(xp: Namespace, P: Array, q: Array, m: Array, V: Array) -> Array:
    """E |P w + q|^2 for w of mean m and covariance V, as two GEMMs: P (..., K, C, d, d) -> (..., T, K, C)."""
    K, C, d = P.shape[-4:-1]
    T = m.shape[-2]
    flat = xp.reshape(P, (*P.shape[:-4], K * C * d, d))
    moved = xp.matmul(m, xp.matrix_transpose(flat))  # (..., T, K C d)
    x = xp.reshape(moved, (*moved.shape[:-1], K, C, d)) + q[..., None, :, :, :]
    PtP = xp.matmul(xp.matrix_transpose(P), P)
    PtP = xp.reshape(PtP, (*PtP.shape[:-4], K * C, d * d))
    spread = xp.matmul(xp.reshape(V, (*V.shape[:-2], d * d)), xp.matrix_transpose(PtP))
    return xp.sum(x * x, axis=-1) + xp.reshape(spread, (*spread.shape[:-2], T, K, C))
