"""The stepwise kernel for quadratics on NumPy: every local step taken, only scalars kept.

Same result as `fedprox.simulate_any` up to rounding. A local step is one affine map a client, w <- B_i w + r_i. The
clients of all instances are rows; rows are taken in blocks whose B_i stay in cache for all E steps, small d with the
rows as the fastest axis (einsum), large d or several noise paths as matrix products with the paths as columns.
"""

from collections.abc import Callable, Collection
from itertools import pairwise

import numpy as np

from .arrays import Array
from .quadratics import Quadratics
from .run import Run, Setup

BLOCK = 5 << 18  # bytes of B_i in one block: 1.25 MiB, to stay in a second-level cache
SMALL = 12  # dimensions below which einsum along the rows beats one product a row


def simulate(problem: Quadratics, setup: Setup, noise: Array, probability: Array, record: Collection[str]) -> Run:
    """noise (S, ..., T, E, C, d) or None; record within gap and dist2."""
    batch, C, d, T, E = setup.batch, problem.C, problem.d, setup.T, setup.E
    B = int(np.prod(batch))
    paths = probability.shape[0]
    rows = B * C
    p = np.broadcast_to(problem.p, (*batch, C)).reshape(B, 1, C)
    A = np.broadcast_to(problem.A, (*batch, C, d, d)).reshape(rows, d, d)
    b = np.broadcast_to(problem.b, (*batch, C, d)).reshape(rows, d, 1)
    alpha, gamma = setup.alpha.reshape(B, 1), setup.gamma.reshape(B, T)
    xi = None if noise is None else np.broadcast_to(noise, (paths, *batch, T, E, C, d)).reshape(paths, B, T, E, C, d)
    measure = _measure(problem, batch, record)
    out = {name: np.empty((B, T + 1)) for name in record}

    server = np.repeat(setup.w0.reshape(B, d, 1), paths, axis=2)
    w, spare, r = np.empty((rows, d, paths)), np.empty((rows, d, paths)), np.empty((rows, d, paths))
    last = d < SMALL and paths == 1
    if last:
        w, spare, r = (np.moveaxis(np.empty((d, 1, rows)), -1, 0) for _ in range(3))
    blocks = _blocks(rows, d)
    maps: list[Array] = []
    step = pull = drift = np.zeros(())
    for t in range(T + 1):
        for name, values in measure(server).items():
            out[name][:, t] = values @ probability
        if t == T:
            break
        if t == 0 or not np.array_equal(gamma[:, t], gamma[:, t - 1]):
            step = np.repeat(gamma[:, t], C)[:, None, None]
            pull = np.repeat(alpha[:, 0] * gamma[:, t], C)[:, None, None]
            drift = step * b
            maps = [_map(A[rows_], step[rows_], pull[rows_], last) for rows_ in blocks]
        start = np.broadcast_to(server[:, None], (B, C, d, paths)).reshape(rows, d, paths)
        np.multiply(pull, start, out=r)
        r += drift
        w[...] = start
        for rows_, linear in zip(blocks, maps, strict=True):
            x, y, r_ = w[rows_], spare[rows_], r[rows_]
            for k in range(E):
                _apply(linear, x, y, last)
                y += r_
                if xi is not None:
                    y -= step[rows_] * np.moveaxis(xi[:, :, t, k].reshape(paths, rows, d)[:, rows_], 0, -1)
                x, y = y, x
            if E % 2:
                w[rows_] = x
        server = np.matmul(p, w.reshape(B, C, d * paths)).reshape(B, d, paths) if not last else _average(p, w)
    return Run(**{name: values.reshape(*batch, T + 1) for name, values in out.items()})


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
