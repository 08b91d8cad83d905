"""The stepwise kernel for quadratics on NumPy: every local step taken, only scalars kept.

Same result as `fedprox.simulate_any` up to rounding. A local step is one affine map a client, w <- B_i w + r_i. The
clients of all instances are rows; rows are taken in blocks whose B_i stay in cache for all E steps, small d with the
rows as the fastest axis (einsum), large d as matrix products; noise paths, or starts that share A_i, are columns.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .arrays import Array
from .quadratics import Quadratics
from .run import Run, Setup

BLOCK = 5 << 18  # bytes of B_i in one block: 1.25 MiB, to stay in a second-level cache
SMALL = 12  # dimensions below which einsum along the rows beats one product a row


def suits(problem: Quadratics, setup: Setup, noise: Array) -> bool:
    """Whether this kernel takes the run: every instance has its own A_i, or all share them and differ in w0 only."""
    return problem.A.shape[:-3] == setup.batch or (noise is None and _only_starts_differ(problem, setup))


def _only_starts_differ(problem: Quadratics, setup: Setup) -> bool:
    alpha, gamma = setup.alpha.reshape(-1, 1), setup.gamma.reshape(-1, setup.T)
    return np.prod(problem.batch) == 1 and not np.any(np.ptp(alpha, axis=0)) and not np.any(np.ptp(gamma, axis=0))


def simulate(problem: Quadratics, setup: Setup, noise: Array, probability: Array, record: Collection[str]) -> Run:
    """noise (S, ..., T, E, C, d) or None; record within gap and dist2."""
    batch, C, d, T, E = setup.batch, problem.C, problem.d, setup.T, setup.E
    B, paths = int(np.prod(batch)), probability.shape[0]
    shared = problem.A.shape[:-3] != batch
    if shared:  # the starts are columns of one instance
        server, instances = setup.w0.reshape(B, d).T[None], (1,) * len(batch)
        alpha, gamma = setup.alpha.reshape(-1)[:1], setup.gamma.reshape(-1, T)[:1]
    else:  # the noise paths are
        server, instances = np.repeat(setup.w0.reshape(B, d, 1), paths, axis=2), batch
        alpha, gamma = setup.alpha.reshape(B), setup.gamma.reshape(B, T)
    xi = None if noise is None else np.broadcast_to(noise, (paths, *batch, T, E, C, d)).reshape(paths, B, T, E, C, d)
    measure = _measure(problem, instances, record)
    out = {name: np.empty((B, T + 1)) for name in record}
    rounds = _Rounds.of(problem, instances, server.shape[-1])
    for t in range(T + 1):
        for name, values in measure(server).items():
            out[name][:, t] = values[0] if shared else values @ probability
        if t < T:
            if t == 0 or not np.array_equal(gamma[:, t], gamma[:, t - 1]):
                rounds.set_step(alpha, gamma[:, t])
            server = rounds.advance(server, E, None if xi is None else xi[:, :, t])
    return Run(**{name: values.reshape(*batch, T + 1) for name, values in out.items()})


@dataclass(slots=True, eq=False)
class _Rounds:
    """The work space of a run: clients of all instances as rows, `columns` iterates each, updated in place."""

    A: Array  # (rows, d, d)
    b: Array  # (rows, d, 1)
    p: Array  # (B, 1, C)
    w: Array  # (rows, d, columns), with the rows as fastest axis in memory if `last`
    spare: Array
    r: Array  # what a step adds: alpha gamma wbar + gamma b_i
    last: bool
    blocks: list[slice]
    maps: list[Array]  # B_i of each block
    step: Array = None  # (rows, 1, 1)  gamma
    pull: Array = None  # (rows, 1, 1)  alpha gamma
    drift: Array = None  # (rows, d, 1)  gamma b_i

    @staticmethod
    def of(problem: Quadratics, batch: tuple[int, ...], columns: int) -> "_Rounds":
        C, d = problem.C, problem.d
        B = int(np.prod(batch))
        rows = B * C
        last = d < SMALL and columns == 1
        if last:
            w, spare, r = (np.moveaxis(np.empty((d, 1, rows)), -1, 0) for _ in range(3))
        else:
            w, spare, r = (np.empty((rows, d, columns)) for _ in range(3))
        return _Rounds(
            A=np.broadcast_to(problem.A, (*batch, C, d, d)).reshape(rows, d, d),
            b=np.broadcast_to(problem.b, (*batch, C, d)).reshape(rows, d, 1),
            p=np.broadcast_to(problem.p, (*batch, C)).reshape(B, 1, C),
            w=w,
            spare=spare,
            r=r,
            last=last,
            blocks=_blocks(rows, d),
            maps=[],
        )

    def set_step(self, alpha: Array, gamma: Array) -> None:
        """alpha and gamma (B,) from here on."""
        C = self.p.shape[-1]
        self.step = np.repeat(gamma, C)[:, None, None]
        self.pull = np.repeat(alpha * gamma, C)[:, None, None]
        self.drift = self.step * self.b
        self.maps = [_map(self.A[rows], self.step[rows], self.pull[rows], self.last) for rows in self.blocks]

    def advance(self, server: Array, E: int, xi: Array) -> Array:
        """One round: server (B, d, columns), noise xi (columns, B, E, C, d) or None."""
        B, d, columns = server.shape
        C, n = self.p.shape[-1], self.w.shape[0]
        start = np.broadcast_to(server[:, None], (B, C, d, columns)).reshape(n, d, columns)
        np.multiply(self.pull, start, out=self.r)
        self.r += self.drift
        alone = B == 1 and not self.last  # all clients start at one point: their first products are one
        if not alone:
            self.w[...] = start
        self.blocks.reverse()  # what came last is still in cache
        self.maps.reverse()
        for rows, linear in zip(self.blocks, self.maps, strict=True):
            x, y, r = self.w[rows], self.spare[rows], self.r[rows]
            for k in range(E):
                if k == 0 and alone:
                    _apply_to_one(linear, server[0], y)
                else:
                    _apply(linear, x, y, self.last)
                y += r
                if xi is not None:
                    y -= self.step[rows] * np.moveaxis(xi[:, :, k].reshape(columns, n, d)[:, rows], 0, -1)
                x, y = y, x
            if E % 2:
                self.w[rows] = x
        if self.last:
            return _average(self.p, self.w)
        return np.matmul(self.p, self.w.reshape(B, C, d * columns)).reshape(B, d, columns)


def _blocks(rows: int, d: int) -> list[slice]:
    size = max(1, BLOCK // (8 * d * d))
    count = -(-rows // size)
    edges = [rows * j // count for j in range(count + 1)]
    return [slice(a, z) for a, z in pairwise(edges)]


def _map(A: Array, step: Array, pull: Array, last: bool) -> Array:
    """B_i = (1 - alpha gamma) I - gamma A_i: (rows, d, d), or (d, d, rows) if `last`."""
    linear = (1 - pull) * np.eye(A.shape[-1]) - step * A
    if last:
        return np.ascontiguousarray(np.moveaxis(linear, 0, -1))
    return linear.swapaxes(-1, -2)  # symmetric, and read this way the faster of the two products in BLAS


def _apply(linear: Array, x: Array, y: Array, last: bool) -> None:
    """y <- B x for rows of x (rows, d, paths), in place."""
    if last:
        np.einsum("ijn,jn->in", linear, x[:, :, 0].T, out=y[:, :, 0].T)
    else:
        np.matmul(linear, x, out=y)


def _apply_to_one(linear: Array, start: Array, y: Array) -> None:
    """y <- B start for rows that share their start (d, columns), in place."""
    d, columns = start.shape
    np.matmul(linear.swapaxes(-1, -2).reshape(-1, d), start, out=y.reshape(-1, columns))


def _average(p: Array, w: Array) -> Array:
    """sum_i p_i w_i for w (rows, d, 1) stored with the rows as fastest axis: (B, d, 1)."""
    B, C = p.shape[0], p.shape[-1]
    return np.einsum("dbc,bc->bd", w[:, :, 0].T.reshape(-1, B, C), p[:, 0])[..., None]


def _measure(
    problem: Quadratics, batch: tuple[int, ...], record: Collection[str]
) -> Callable[[Array], dict[str, Array]]:
    """Server iterates (B, d, paths) to the recorded scalars (B, paths)."""
    d = problem.d
    w_star = np.broadcast_to(problem.minimiser(), (*batch, d)).reshape(-1, d, 1)
    A = np.broadcast_to(problem.mean()[0], (*batch, d, d)).reshape(-1, d, d)

    def measure(server: Array) -> dict[str, Array]:
        x = server - w_star
        found: dict[str, Array] = {}
        if "gap" in record:
            found["gap"] = 0.5 * np.sum(x * np.matmul(A, x), axis=1)
        if "dist2" in record:
            found["dist2"] = np.sum(x * x, axis=1)
        return found

    return measure
