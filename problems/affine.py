"""Quadratics fast-forwarded: the E local steps of all clients and their average are one affine server map.

With N_i = -gamma (alpha I + A_i) and S_E = sum_{m<E} (I + N_i)^m, client i goes from wbar to
wbar - gamma S_E (A_i wbar - b_i) in one round, so wbar' = M wbar + c with
M = I - gamma sum_i p_i S_E A_i and c = gamma sum_i p_i S_E b_i.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import cos, pi, prod

from .arrays import (
    Array,
    Namespace,
    add_identity,
    all_true,
    check_local_steps,
    matvec,
    namespace,
    quiet,
    sum_of_squares,
)
from .quadratics import Quadratics, argmin
from .run import ALL, LOCAL, Run, Setup, blank, check_record, set_up

AHEAD = 64  # rounds that are advanced together
BLOCK = 1 << 18  # bytes of A_i that are powered together, so that all that is at hand stays in cache
SCRATCH = 1 << 16  # numbers in the local iterates that are taken together, unless one instance has more


@dataclass(frozen=True, slots=True, eq=False)
class ServerMap:
    """wbar' = M wbar + c."""

    M: Array  # (..., d, d)
    c: Array  # (..., d)


def geometric(N: Array, E: int) -> Array:
    """S_E = sum_{m<E} (I + N)^m by repeated squaring: S_2n = S_n (2 I + N S_n), S_{n+1} = I + S_n + N S_n."""
    check_local_steps(E)
    xp = namespace(N)
    if E == 1:
        return xp.broadcast_to(xp.eye(N.shape[-1], dtype=xp.float64), N.shape)
    total = add_identity(xp, xp.asarray(N, copy=True), 2.0)  # S_2
    for place, bit in enumerate(bin(E)[3:]):
        if place > 0:
            total = xp.matmul(total, add_identity(xp, xp.matmul(N, total), 2.0))
        if bit == "1":
            total += add_identity(xp, xp.matmul(N, total), 1.0)
    return total


def server_map(problem: Quadratics, alpha: Array, gamma: Array, E: int) -> ServerMap:
    """One round with alpha (...) and step size gamma (...)."""
    xp = namespace(problem.A)
    A, b, p = problem.A, problem.b, problem.p
    d = problem.d
    eye = xp.eye(d, dtype=xp.float64)
    gamma, alpha = xp.asarray(gamma), xp.asarray(alpha)
    step, pull = gamma[..., None, None, None], (alpha * gamma)[..., None, None, None]
    linear = xp.zeros((1, 1), dtype=xp.float64)
    constant = xp.zeros((1,), dtype=xp.float64)
    uniform = all_true(xp, p == p[..., :1])  # then p_i comes out of the sum
    for clients in _client_blocks(problem):
        block = A[..., clients, :, :]
        S = geometric(add_identity(xp, -step * block, -pull[..., 0, 0]), E)
        rows = _rows(xp, S if uniform else p[..., clients, None, None] * S)  # (..., C d, d): S_i is symmetric
        linear = linear + xp.matmul(xp.matrix_transpose(rows), _rows(xp, block))
        column = xp.reshape(b[..., clients, :], (*b.shape[:-2], -1, 1))
        constant = constant + xp.matmul(xp.matrix_transpose(rows), column)[..., 0]
    if uniform:
        gamma = gamma * p[..., 0]
    return ServerMap(eye - gamma[..., None, None] * linear, gamma[..., None] * constant)


def _client_blocks(problem: Quadratics) -> list[slice]:
    """Clients in blocks whose matrices stay in cache while S_E is built."""
    A = problem.A
    size = max(1, BLOCK * problem.C // (8 * A.size))
    return [slice(j, min(j + size, problem.C)) for j in range(0, problem.C, size)]


def _rows(xp: Namespace, x: Array) -> Array:
    """(..., C, d, d) -> (..., C d, d)."""
    return xp.reshape(x, (*x.shape[:-3], x.shape[-3] * x.shape[-2], x.shape[-1]))


def is_constant(gamma: Array) -> bool:
    return all_true(namespace(gamma), gamma == gamma[..., :1])


def servers(problem: Quadratics, setup: Setup) -> Iterator[tuple[int, Array]]:
    """wbar_{t,0} for t = 0..T in blocks (t of the first, (*batch, d, rounds)), so that memory does not grow with T."""
    if is_constant(setup.gamma):
        return _servers_constant(setup, server_map(problem, setup.alpha, setup.gamma[..., 0], setup.E))
    return _servers_varying(problem, setup)


def _servers_constant(setup: Setup, one: ServerMap) -> Iterator[tuple[int, Array]]:
    """Doubling: n rounds known and the map over n rounds give 2n rounds."""
    xp = setup.xp
    ahead, add = one.M, one.c[..., None]
    w = setup.w0[..., None]
    while w.shape[-1] < min(AHEAD, setup.T + 1):
        w = xp.concat([w, xp.matmul(ahead, w) + add], axis=-1)
        ahead, add = xp.matmul(ahead, ahead), xp.matmul(ahead, add) + add
    for t in range(0, setup.T + 1, w.shape[-1]):
        if t > 0:
            w = xp.matmul(ahead, w) + add
        yield t, w[..., : min(w.shape[-1], setup.T + 1 - t)]


def _servers_varying(problem: Quadratics, setup: Setup) -> Iterator[tuple[int, Array]]:
    xp, T = setup.xp, setup.T
    maps = _Maps.of(problem, setup)
    w = setup.w0
    yield 0, w[..., None]
    for t in range(0, T, AHEAD):
        M, c = maps.at(setup.gamma[..., t : min(t + AHEAD, T)])
        seen: list[Array] = []
        for j in range(c.shape[-2]):
            w = matvec(xp, M[..., j, :, :], w) + c[..., j, :]
            seen.append(w)
        yield t + 1, xp.stack(seen, axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class _Maps:
    """Server maps for many step sizes: M and c are polynomials of degree E in gamma, so E + 1 of them give the rest."""

    problem: Quadratics
    setup: Setup
    middle: Array  # (*batch)
    half: Array  # (*batch)
    nodes: Array = None  # (*batch, E+1, d (d+1)), the maps at the Chebyshev nodes of middle +- half, if that pays

    @staticmethod
    def of(problem: Quadratics, setup: Setup) -> "_Maps":
        xp, n = setup.xp, setup.E + 1
        low, high = xp.min(setup.gamma, axis=-1), xp.max(setup.gamma, axis=-1)
        plain = _Maps(problem, setup, 0.5 * (low + high), 0.5 * (high - low))
        if n >= setup.T:
            return plain
        at = [plain.middle + cos((j + 0.5) * pi / n) * plain.half for j in range(n)]
        nodes = xp.stack([_flat(xp, server_map(problem, setup.alpha, g, setup.E), setup.batch) for g in at], axis=-2)
        if not all_true(
            xp, xp.abs(nodes[..., : problem.d**2]) < 100
        ):  # a divergent run: interpolation would lose digits
            return plain
        return _Maps(problem, setup, plain.middle, plain.half, nodes)

    def at(self, gamma: Array) -> tuple[Array, Array]:
        """M (*batch, n, d, d) and c (*batch, n, d) for gamma (*batch, n)."""
        xp, d, E = self.setup.xp, self.problem.d, self.setup.E
        if self.nodes is None:
            each = [server_map(self.problem, self.setup.alpha, gamma[..., j], E) for j in range(gamma.shape[-1])]
            flat = xp.stack([_flat(xp, one, self.setup.batch) for one in each], axis=-2)
        else:
            wide = self.half > 0
            scale = xp.where(wide, self.half, xp.ones_like(self.half))[..., None]
            x = xp.where(wide[..., None], (gamma - self.middle[..., None]) / scale, xp.zeros_like(gamma))
            flat = xp.matmul(_lagrange(xp, x, E + 1), self.nodes)
        M = xp.reshape(flat[..., : d * d], (*flat.shape[:-1], d, d))
        return M, flat[..., d * d :]


def _flat(xp: Namespace, one: ServerMap, batch: tuple[int, ...]) -> Array:
    d = one.c.shape[-1]
    M, c = xp.broadcast_to(one.M, (*batch, d, d)), xp.broadcast_to(one.c, (*batch, d))
    return xp.concat([xp.reshape(M, (*batch, d * d)), c], axis=-1)


def _lagrange(xp: Namespace, x: Array, n: int) -> Array:
    """The n Lagrange polynomials of the Chebyshev nodes cos((j + 1/2) pi / n) at x (..., T) in [-1, 1]: (..., T, n)."""
    degrees = xp.arange(n, dtype=xp.float64)
    angle = xp.acos(xp.minimum(xp.maximum(x, xp.full_like(x, -1.0)), xp.full_like(x, 1.0)))
    chebyshev = xp.cos(angle[..., None] * degrees)  # (..., T, n)
    at_nodes = xp.cos(degrees[:, None] * (degrees[None, :] + 0.5) * (pi / n)) * (2 / n)
    halved = xp.where(degrees > 0, xp.ones_like(degrees), xp.full_like(degrees, 0.5))
    return xp.matmul(chebyshev, halved[:, None] * at_nodes)


def simulate(problem: Quadratics, w0: Array, alpha: Array, gamma: Array, E: int, record: Collection[str] = ALL) -> Run:
    """As `fedprox.simulate` without noise. Two phases: the server recursion, then, where the local iterates matter, all
    rounds of a block as columns of one product a local step.
    """
    check_record(record)
    setup = set_up(problem, w0, alpha, gamma, E)
    with quiet(setup.xp):
        return _simulate(problem, setup, record)


def _simulate(problem: Quadratics, setup: Setup, record: Collection[str]) -> Run:
    xp, T = setup.xp, setup.T
    A, b = problem.mean()
    w_star = argmin(A, b)[..., None]
    out = blank(problem, setup, record)
    local = [name for name in LOCAL if name in record]
    for first, w in servers(problem, setup):
        x, stop = w - w_star, first + w.shape[-1]
        if "gap" in record:
            out["gap"][..., first:stop] = 0.5 * xp.sum(x * xp.matmul(A, x), axis=-2)
        if "dist2" in record:
            out["dist2"][..., first:stop] = xp.sum(x * x, axis=-2)
        stop = min(stop, T)
        if local and stop > first:
            part = _drift(problem, setup, w[..., : stop - first], setup.gamma[..., first:stop], local)
            for name in local:
                out[name][..., first:stop, :, :] = part[name]
    return Run(**out)


def _drift(problem: Quadratics, setup: Setup, w: Array, gamma: Array, record: Collection[str]) -> dict[str, Array]:
    """Drift (*batch, n, E+1, C) in n rounds from w (*batch, d, n) with gamma (*batch, n), some instances at a time."""
    xp, batch = setup.xp, setup.batch
    columns = max(16, SCRATCH // (problem.C * problem.d))
    if w.shape[-1] > columns:
        starts = range(0, w.shape[-1], columns)
        spans = [slice(j, min(j + columns, w.shape[-1])) for j in starts]
        parts = [_drift(problem, setup, w[..., span], gamma[..., span], record) for span in spans]
        return {name: xp.concat([part[name] for part in parts], axis=-3) for name in record}
    alpha = setup.alpha
    if not batch:
        return _local_iterates(xp, problem.A, problem.b, problem.p, w, alpha, gamma, setup.E, record)
    each = problem.C * problem.d * w.shape[-1] * prod(batch[1:])
    size = max(1, SCRATCH // each)
    parts: list[dict[str, Array]] = []
    for first in range(0, batch[0], size):
        some = slice(first, min(first + size, batch[0]))

        def take(x: Array, core: int, some: slice = some) -> Array:
            return x[some, ...] if x.ndim - core == len(batch) and x.shape[0] > 1 else x

        A, b, p = take(problem.A, 3), take(problem.b, 2), take(problem.p, 1)
        parts.append(_local_iterates(xp, A, b, p, w[some, ...], alpha[some, ...], gamma[some, ...], setup.E, record))
    return {name: xp.concat([part[name] for part in parts], axis=0) for name in record}


def _local_iterates(
    xp: Namespace, A: Array, b: Array, p: Array, w: Array, alpha: Array, gamma: Array, E: int, record: Collection[str]
) -> dict[str, Array]:
    """u = w^i_{t,k} - wbar_{t,0} for all clients and rounds, the rounds as columns: (..., C, d, n)."""
    C, d, n = b.shape[-2], b.shape[-1], w.shape[-1]
    batch = w.shape[:-2]
    step = gamma[..., None, None, :]
    keep = 1 - alpha[..., None, None, None] * step
    g0 = xp.matmul(A, w[..., None, :, :]) - b[..., None]
    u = xp.zeros((*batch, C, d, n), dtype=xp.float64)
    seen: dict[str, list[Array]] = {name: [] for name in record}
    for k in range(E + 1):
        if "deviation" in record:
            seen["deviation"].append(sum_of_squares(xp, u))
        if "divergence" in record:
            mean = xp.matmul(p[..., None, :], xp.reshape(u, (*batch, C, d * n)))
            apart = xp.reshape(mean, (*batch, 1, d, n)) - u
            seen["divergence"].append(sum_of_squares(xp, apart))
        if k == E and "grad2" not in record:
            break
        g = xp.matmul(A, u)
        g += g0
        if "grad2" in record:
            seen["grad2"].append(sum_of_squares(xp, g))
        u *= keep
        g *= step
        u -= g
    # (..., C, n) for every k, stacked to (..., C, E+1, n) and turned to (..., n, E+1, C)
    last = len(batch) + 2
    turn = (*range(last - 2), last, last - 1, last - 2)
    return {name: xp.permute_dims(xp.stack(parts, axis=-2), turn) for name, parts in seen.items()}
