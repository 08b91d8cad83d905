"""Exact expectations of FedProx on quadratics with additive noise: no sampling, no enumeration.

The dynamics are affine, so the mean and the covariance of wbar_{t,0} obey a closed recursion. With
S_k = sum_{m<k} B^m, B = (1 - alpha gamma) I - gamma A_i, client i is after k steps at
w^i_{t,k} = wbar - gamma S_k (A_i wbar - b_i) - gamma sum_{m<k} B^{k-1-m} xi_m.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .affine import AHEAD, is_constant, server_map
from .arrays import EPS, Array, Namespace, all_true, as_floats, check_finite, fail, matvec, namespace, norm2, quiet
from .quadratics import Quadratics, argmin, half_square
from .run import ALL, LOCAL, Run, Setup, blank, check_record, set_up


@dataclass(frozen=True, slots=True, eq=False)
class _Round:
    """One round: wbar' = M wbar + c + noise of covariance N."""

    M: Array  # (..., d, d)
    c: Array  # (..., d)
    N: Array  # (..., d, d)


@dataclass(frozen=True, slots=True, eq=False)
class _Noise:
    """What the noise of one round adds to the drift after k steps: (..., E+1, C) each."""

    deviation: Array
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
    local = [name for name in LOCAL if name in record]
    constant = is_constant(setup.gamma)
    powers = _Powers(problem, setup, factor, shared)
    out = blank(problem, setup, record)
    A_mean, b_mean = problem.mean()
    w_star = argmin(A_mean, b_mean)[..., None, :]
    A = A_mean[..., None, :, :]
    eye = xp.eye(problem.d, dtype=xp.float64)
    for first, m, V in powers.servers(constant):
        x, stop = m - w_star, first + m.shape[-2]
        if "gap" in record:
            out["gap"][..., first:stop] = half_square(A, x) + 0.5 * _inner(xp, A, V)
        if "dist2" in record:
            out["dist2"][..., first:stop] = norm2(xp, x) + _inner(xp, eye, V)
        stop = min(stop, T)
        if local and stop > first:
            n = stop - first  # 1 if the step size varies
            part = powers.drift(setup.gamma[..., first], m[..., :n, :], V[..., :n, :, :], local)
            for name in local:
                out[name][..., first:stop, :, :] = part[name]
    return Run(**out)


def _inner(xp: Namespace, A: Array, B: Array) -> Array:
    """tr(A'B): (..., d, d) -> (...)."""
    return xp.sum(A * B, axis=(-2, -1))


@dataclass(frozen=True, slots=True, eq=False)
class _Powers:
    """One problem with its noise; `factor` (..., C, d, r) has cov xi^i = F_i F_i'."""

    problem: Quadratics
    setup: Setup
    factor: Array
    shared: bool

    def servers(self, constant: bool) -> Iterator[tuple[int, Array, Array]]:
        """Mean (*batch, n, d) and covariance (*batch, n, d, d) of wbar_{t,0}, t = 0..T, in blocks of n rounds."""
        xp, setup = self.setup.xp, self.setup
        d, rounds = self.problem.d, setup.T + 1
        m = setup.w0[..., None, :]
        cov = xp.zeros((*setup.batch, 1, d, d), dtype=xp.float64)
        if constant:
            one = self.round(setup.gamma[..., 0])
            while m.shape[-2] < min(AHEAD, rounds):  # n rounds known and the map over n rounds give 2n rounds
                after = _after(xp, one, m, cov)
                m, cov = xp.concat([m, after[0]], axis=-2), xp.concat([cov, after[1]], axis=-3)
                one = _twice(xp, one)
            for t in range(0, rounds, m.shape[-2]):
                if t > 0:
                    m, cov = _after(xp, one, m, cov)
                n = min(m.shape[-2], rounds - t)
                yield t, m[..., :n, :], cov[..., :n, :, :]
            return
        for t in range(rounds):
            yield t, m, cov
            if t < setup.T:
                m, cov = _after(xp, self.round(setup.gamma[..., t]), m, cov)

    def round(self, gamma: Array) -> _Round:
        """The server's round with step size gamma (...)."""
        xp, p = self.setup.xp, self.problem.p[..., None, None]
        one = server_map(self.problem, self.setup.alpha, gamma, self.setup.E)
        noise = xp.zeros((1, 1), dtype=xp.float64)
        for u in self._pushed(gamma):
            weighted = p * u
            if self.shared:
                common = xp.sum(weighted, axis=-3)
                noise = noise + xp.matmul(common, xp.matrix_transpose(common))
            else:
                columns = _columns(xp, weighted)
                noise = noise + xp.matmul(columns, xp.matrix_transpose(columns))
        return _Round(one.M, one.c, noise)

    def drift(self, gamma: Array, m: Array, V: Array, record: Collection[str]) -> dict[str, Array]:
        """Drift (..., n, E+1, C) in rounds with step size gamma (...) from mean m (..., n, d), covariance V."""
        xp, problem = self.setup.xp, self.problem
        P, q = self._client_maps(gamma)
        noise = self._noise(gamma)
        out: dict[str, Array] = {}
        if "deviation" in record:
            eye = xp.eye(problem.d, dtype=xp.float64)
            out["deviation"] = _square(xp, P - eye, q, m, V) + noise.deviation[..., None, :, :]
        if "divergence" in record:
            weights = problem.p[..., None, :, None]
            P_ = xp.sum(weights[..., None] * P, axis=-3, keepdims=True) - P
            q_ = xp.sum(weights * q, axis=-2, keepdims=True) - q
            out["divergence"] = _square(xp, P_, q_, m, V) + noise.divergence[..., None, :, :]
        if "grad2" in record:
            A, b = problem.A[..., None, :, :, :], problem.b[..., None, :, :]
            out["grad2"] = _square(xp, xp.matmul(A, P), matvec(xp, A, q) - b, m, V) + noise.grad2[..., None, :, :]
        return out

    def _step(self, gamma: Array) -> tuple[Array, Array]:
        """gamma against (..., C, d, d), and B_i = (1 - alpha gamma) I - gamma A_i."""
        xp = self.setup.xp
        step = gamma[..., None, None, None]
        eye = xp.eye(self.problem.d, dtype=xp.float64)
        return step, eye - step * (self.setup.alpha[..., None, None, None] * eye + self.problem.A)

    def _pushed(self, gamma: Array) -> Iterator[Array]:
        """gamma B^m F for m = 0..E-1: what noise does, m steps after it came."""
        step, B = self._step(gamma)
        u = step * self.factor
        for m in range(self.setup.E):
            if m > 0:
                u = self.setup.xp.matmul(B, u)
            yield u

    def _client_maps(self, gamma: Array) -> tuple[Array, Array]:
        """E w^i_{t,k} = P wbar + q: P (..., E+1, C, d, d), q (..., E+1, C, d)."""
        xp, problem = self.setup.xp, self.problem
        step, B = self._step(gamma)
        eye = xp.eye(problem.d, dtype=xp.float64)
        total = xp.zeros_like(B)  # S_k
        P: list[Array] = []
        q: list[Array] = []
        for k in range(self.setup.E + 1):
            if k > 0:
                total = eye + xp.matmul(B, total)
            P.append(eye - step * xp.matmul(total, problem.A))
            q.append(step[..., 0] * matvec(xp, total, problem.b))
        return xp.stack(P, axis=-4), xp.stack(xp.broadcast_arrays(*q), axis=-3)

    def _noise(self, gamma: Array) -> _Noise:
        xp, problem, p = self.setup.xp, self.problem, self.problem.p
        none = xp.zeros((*self.setup.batch, problem.C), dtype=xp.float64)
        own, apart, steep = [none], [none], [none]
        for u in self._pushed(gamma):
            size = _inner(xp, u, u)
            if self.shared:
                others = xp.sum(p[..., None, None] * u, axis=-3, keepdims=True) - u
                between = _inner(xp, others, others)
            else:
                between = (1 - 2 * p) * size + xp.sum(p**2 * size, axis=-1, keepdims=True)
            slope = xp.matmul(problem.A, u)
            own.append(own[-1] + size)
            apart.append(apart[-1] + between)
            steep.append(steep[-1] + _inner(xp, slope, slope))
        return _Noise(*(xp.stack(parts, axis=-2) for parts in (own, apart, steep)))


def _after(xp: Namespace, one: _Round, m: Array, V: Array) -> tuple[Array, Array]:
    """Mean (..., n, d) and covariance (..., n, d, d) one application of the map later."""
    M = one.M[..., None, :, :]
    mean = xp.matmul(m, xp.matrix_transpose(one.M)) + one.c[..., None, :]
    return mean, xp.matmul(xp.matmul(M, V), xp.matrix_transpose(M)) + one.N[..., None, :, :]


def _twice(xp: Namespace, one: _Round) -> _Round:
    """The map applied two times."""
    M = one.M
    N = xp.matmul(xp.matmul(M, one.N), xp.matrix_transpose(M)) + one.N
    return _Round(xp.matmul(M, M), matvec(xp, M, one.c) + one.c, N)


def _columns(xp: Namespace, u: Array) -> Array:
    """(..., C, d, r) -> (..., d, C r)."""
    C, d, r = u.shape[-3:]
    first = u.ndim - 3
    return xp.reshape(xp.permute_dims(u, (*range(first), first + 1, first, first + 2)), (*u.shape[:-3], d, C * r))


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
    return norm2(xp, x) + xp.reshape(spread, (*spread.shape[:-2], T, K, C))
