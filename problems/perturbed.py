"""The perturbed-gradient method (algorithm 2, rules 4.5 to 4.7) with exact expectations.

Client i takes its stochastic gradients at w~^i_{t,k} = beta w^i_{t,k} + (1 - beta) u^i_t, steps
w^i <- w^i - gamma_t (grad f_i(w~^i) + xi), and after E steps the server takes wbar = sum_i p_i w^i and, for the next
round, u^i = p_i^{-1} sum_j p_ij w^j; u^i_0 is the start. p_ij is symmetric with zero diagonal, p_i its row sums.

`simulate` walks given noise paths, for any losses. `expected` is exact for quadratics: with X = m + sum_s xi_s x_s,
independent xi_s of mean 0 and variance 1, E|X|^2 = |m|^2 + sum_s |x_s|^2, so the run carries m and the columns x_s as
paths of their own. As factors of the covariance they keep what is zero at the size of rounding.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from .arrays import EPS, Array, Namespace, all_true, as_floats, check_finite, fail, matvec, norm2, quiet
from .quadratics import Quadratics, half_square
from .run import Objective, Setup, set_up

SERVER = ("gap", "dist2", "rise")
LOCAL = ("deviation", "perturbation", "grad2", "local2")
PAIRS = ("spread",)
MEANS = ("mean", "centre")
STEPS = ("mismatch", "slope2")
ALL = (*SERVER, *LOCAL, *PAIRS, *MEANS, *STEPS)


@dataclass(frozen=True, slots=True, eq=False)
class PerturbedRun:
    """Expectations over the noise, measured along a run; None where not asked for."""

    drop: Array = None  # (...)              f(wbar_{0,0}) - inf f, NaN where f is not bounded below
    gap: Array = None  # (..., T+1)         E f(wbar_{t,0}) - f_*
    dist2: Array = None  # (..., T+1)         E |wbar_{t,0} - w_*|^2
    rise: Array = None  # (..., T+1)         E f(wbar_{t,0}) - f(wbar_{0,0})
    deviation: Array = None  # (..., T, E+1, C)   E |w^i_{t,k} - wbar_{t,0}|^2
    perturbation: Array = None  # (..., T, E+1, C)   E |wbar_{t,k} - w~^i_{t,k}|^2
    grad2: Array = None  # (..., T, E+1, C)   E |grad f_i(w~^i_{t,k})|^2, without the variance of the noise
    local2: Array = None  # (..., T, E+1, C)   E |grad f_i(w^i_{t,k})|^2, where no gradient is taken
    spread: Array = None  # (..., T, C, C)     E |u^i_t - u^j_t|^2
    mean: Array = None  # (..., T, E+1, d)   E wbar_{t,k}
    centre: Array = None  # (..., T, E+1, d)   E sum_i p_i w~^i_{t,k}
    mismatch: Array = None  # (..., T, E+1)      E |sum_i p_i w~^i_{t,k} - beta wbar_{t,k} - (1 - beta) wbar_{t,0}|^2
    slope2: Array = None  # (..., T, E+1)      E |grad f(wbar_{t,k})|^2


def simulate(
    problem: Objective,
    pairs: Array,
    w0: Array,
    beta: Array,
    gamma: Array,
    E: int,
    noise: Array = None,
    record: Collection[str] = ALL,
) -> PerturbedRun:
    """Run from w0 (..., d) with p_ij = pairs (..., C, C), beta (...), gamma (..., T) and noise (..., S, T, E, C, d).

    What is measured is the mean over the S paths: with all sign paths it is an exact expectation.
    """
    setup = _set_up(problem, pairs, w0, beta, gamma, E, record, *(() if noise is None else (noise.shape[:-5],)))
    xp = setup.xp
    if noise is not None:
        shape = (setup.T, E, problem.C, problem.d)
        if noise.ndim < 5 or noise.shape[-4:] != shape:
            raise fail(f"noise of shape {noise.shape}", f"(..., S, T, E, C, d) = (..., S, {shape})", "match the run")
        check_finite(xp, noise=noise)
        noise = xp.moveaxis(noise, -5, 0)
    with quiet(xp):
        return _walk(problem, as_floats(xp, pairs), setup, _Paths(xp, problem, setup, noise), record)


def expected(
    problem: Quadratics,
    pairs: Array,
    w0: Array,
    beta: Array,
    gamma: Array,
    E: int,
    v: Array = None,
    shared: bool = False,
    record: Collection[str] = ALL,
) -> PerturbedRun:
    """Exact expectations on quadratics, convex or not, for noise s v_i, v (..., C, d), with independent fair signs s.

    `shared`: one sign for all clients of a step.
    """
    if v is not None and (v.ndim < 2 or v.shape[-2:] != (problem.C, problem.d)):
        raise fail(f"v of shape {v.shape}", f"(..., C, d) = (..., {problem.C}, {problem.d})", "give a vector a client")
    setup = _set_up(problem, pairs, w0, beta, gamma, E, record, *(() if v is None else (v.shape[:-2],)))
    if v is not None:
        check_finite(setup.xp, v=v)
    with quiet(setup.xp):
        law = _Columns(setup.xp, problem, setup, _kicks(problem, setup, v, shared))
        return _walk(problem, as_floats(setup.xp, pairs), setup, law, record)


class _Law(Protocol):
    """How the paths of a run (leading axis) make up a law."""

    def begin(self, w: Array) -> Array:
        """Where clients ended (S, *batch, C, d), as the next round carries it."""
        ...

    def grad(self, w: Array) -> Array: ...
    def noisy(self, g: Array, t: int, k: int) -> Array: ...
    def from_point(self, w: Array, point: Array) -> Array:
        """w - point for a constant point."""
        ...

    def mean(self, x: Array) -> Array:
        """Of something linear: (S, ...) -> (...)."""
        ...

    def expect(self, x: Array) -> Array:
        """Of something quadratic, evaluated on each path: (S, ...) -> (...)."""
        ...

    def gap(self, w: Array, w_star: Array) -> Array:
        """f(w) - f(w_star) - grad f(w_star)'(w - w_star), in expectation."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """Equally likely runs."""

    xp: Namespace
    problem: Objective
    setup: Setup
    kicks: Array  # (S, ..., T, E, C, d) or None

    def begin(self, w: Array) -> Array:
        S = 1 if self.kicks is None else self.kicks.shape[0]
        return self.xp.broadcast_to(w, (S, *w.shape[1:]))

    def grad(self, w: Array) -> Array:
        return self.problem.grad(w)

    def noisy(self, g: Array, t: int, k: int) -> Array:
        return g if self.kicks is None else g + self.kicks[..., t, k, :, :]

    def from_point(self, w: Array, point: Array) -> Array:
        return w - point

    def mean(self, x: Array) -> Array:
        return self.xp.mean(x, axis=0)

    def expect(self, x: Array) -> Array:
        return self.xp.mean(x, axis=0)

    def gap(self, w: Array, w_star: Array) -> Array:
        return self.mean(self.problem.gap_from(w_star)(w))


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The mean (path 0) and the columns of a factor of the covariance."""

    xp: Namespace
    problem: Quadratics
    setup: Setup
    kicks: Array  # (K, *batch, C, d): what each independent sign of a step adds to the gradients; K may be 0

    def begin(self, w: Array) -> Array:
        """At most C d columns, and zeros for those that this round's noise will make."""
        xp, K = self.xp, self.kicks.shape[0]
        S, batch, C, d = w.shape[0] - 1, w.shape[1:-2], w.shape[-2], w.shape[-1]
        carried = w[1:, ...]
        if C * d < S:
            flat = xp.moveaxis(xp.reshape(carried, (S, *batch, C * d)), 0, -2)
            R = xp.linalg.qr(flat)[1]  # columns (Q R)' have the covariance R'R
            carried = xp.reshape(xp.moveaxis(R, -2, 0), (R.shape[-2], *batch, C, d))
        none = xp.zeros((self.setup.E * K, *batch, C, d), dtype=xp.float64)
        return xp.concat([w[:1, ...], carried, none], axis=0)

    def grad(self, w: Array) -> Array:
        return self.from_point(matvec(self.xp, self.problem.A, w), self.problem.b)

    def noisy(self, g: Array, t: int, k: int) -> Array:
        K = self.kicks.shape[0]
        first = g.shape[0] - (self.setup.E - k) * K
        g[first : first + K, ...] += self.kicks
        return g

    def from_point(self, w: Array, point: Array) -> Array:
        return self.xp.concat([w[:1, ...] - point, w[1:, ...]], axis=0)

    def mean(self, x: Array) -> Array:
        return x[0, ...]

    def expect(self, x: Array) -> Array:
        return self.xp.sum(x, axis=0)

    def gap(self, w: Array, w_star: Array) -> Array:
        return self.expect(half_square(self.problem.mean()[0], self.from_point(w, w_star)))


def _kicks(problem: Quadratics, setup: Setup, v: Array, shared: bool) -> Array:
    """(K, *batch, C, d), K = 1 sign a step for all clients or K = C signs."""
    xp, C, d = setup.xp, problem.C, problem.d
    if v is None or not bool(xp.any(v != 0)):
        return xp.zeros((0, *setup.batch, C, d), dtype=xp.float64)
    v = xp.broadcast_to(as_floats(xp, v), (*setup.batch, C, d))[None, ...]
    if shared:
        return v
    one = xp.reshape(xp.eye(C, dtype=xp.float64), (C, *(1 for _ in setup.batch), C, 1))
    return one * v


def _walk(problem: Objective, pairs: Array, setup: Setup, law: _Law, record: Collection[str]) -> PerturbedRun:
    xp, C, d, batch = setup.xp, problem.C, problem.d, setup.batch
    beta, p = setup.alpha[..., None, None], problem.p[..., None]
    w_star = problem.minimiser()
    out = _blank(problem, setup, record)
    everywhere = (*batch, C, d)

    def slope(w: Array) -> Array:  # grad f(w) for w (S, *batch, d)
        return problem.average(law.grad(xp.broadcast_to(w[..., None, :], (w.shape[0], *everywhere))))

    tilt = slope(setup.w0[None, ...])[0, ...]

    def see(name: str, index: tuple[int, ...], value: Callable[[], Array], trailing: int = 0) -> None:
        if name in record:
            out[name][(..., *index, *(slice(None) for _ in range(trailing)))] = value()

    def square(x: Array) -> Array:
        return law.expect(norm2(xp, x))

    def rise(start: Array) -> Array:
        return law.gap(start, setup.w0) + xp.sum(tilt * (law.mean(start) - setup.w0), axis=-1)

    def off(start: Array, w: Array, tilde: Array) -> Array:  # lemma 4.3: this is 0
        return problem.average(tilde) - beta[..., 0] * problem.average(w) - (1 - beta[..., 0]) * start

    def see_server(t: int, start: Array) -> None:
        see("gap", (t,), lambda: law.gap(start, w_star))
        see("dist2", (t,), lambda: square(law.from_point(start, w_star)))
        see("rise", (t,), lambda: rise(start))

    def see_local(t: int, k: int, start: Array, w: Array, tilde: Array, g: Array) -> None:
        at = t, k
        see("deviation", at, lambda: square(w - start[..., None, :]), 1)
        see("perturbation", at, lambda: square(problem.average(w)[..., None, :] - tilde), 1)
        see("grad2", at, lambda: square(g), 1)
        see("local2", at, lambda: square(law.grad(w)), 1)
        see("mean", at, lambda: law.mean(problem.average(w)), 1)
        see("centre", at, lambda: law.mean(problem.average(tilde)), 1)
        see("mismatch", at, lambda: square(off(start, w, tilde)))
        see("slope2", at, lambda: square(slope(problem.average(w))))

    w = law.begin(xp.broadcast_to(setup.w0[..., None, :], (1, *everywhere)))
    start, u = problem.average(w), w  # all clients are at w0, and so is every u^i
    for t in range(setup.T):
        step = setup.gamma[..., t, None, None]
        see_server(t, start)
        see("spread", (t,), lambda u=u: square(u[..., :, None, :] - u[..., None, :, :]), 2)
        w = xp.broadcast_to(start[..., None, :], u.shape)
        for k in range(setup.E + 1):
            tilde = beta * w + (1 - beta) * u
            g = law.grad(tilde)
            see_local(t, k, start, w, tilde, g)
            if k < setup.E:
                w = w - step * law.noisy(g, t, k)
        ends = law.begin(w)
        start, u = problem.average(ends), xp.matmul(pairs, ends) / p
    see_server(setup.T, start)
    drop = xp.broadcast_to(problem.gap_from(w_star)(setup.w0), batch)
    return PerturbedRun(drop=drop, **out)


def _set_up(
    problem: Objective, pairs: Array, w0: Array, beta: Array, gamma: Array, E: int, record: Collection[str],
    *batches: tuple[int, ...],
) -> Setup:  # fmt: skip
    """The checked input; beta stands where FedProx has alpha."""
    if unknown := set(record) - set(ALL):
        raise fail(f"record {sorted(unknown)}", f"some of {', '.join(ALL)}", "ask for measured quantities only")
    C = problem.C
    if pairs.ndim < 2 or pairs.shape[-2:] != (C, C) or C < 2:
        raise fail(f"pair weights of shape {pairs.shape}", f"(..., {C}, {C}) with C >= 2", "a client needs a neighbour")
    setup = set_up(problem, w0, beta, gamma, E, pairs.shape[:-2], *batches)
    xp, p_ij = setup.xp, as_floats(setup.xp, pairs)
    check_finite(xp, pairs=p_ij)
    if not all_true(xp, p_ij >= 0) or not all_true(xp, xp.linalg.diagonal(p_ij) == 0):
        raise fail("a negative p_ij or a p_ii that is not 0", "similarities between different clients", "repair them")
    if not all_true(xp, p_ij == xp.matrix_transpose(p_ij)):
        raise fail("p_ij that differ from p_ji", "a symmetric similarity", "use (p + p') / 2")
    if not all_true(xp, xp.abs(xp.sum(p_ij, axis=-1) - problem.p) <= 16 * C * EPS) or not all_true(xp, problem.p > 0):
        raise fail("weights p that are not the row sums of p_ij", "p_i = sum_j p_ij > 0", "take p from the pairs")
    return setup


def _blank(problem: Objective, setup: Setup, record: Collection[str]) -> dict[str, Array]:
    xp, T, E, C = setup.xp, setup.T, setup.E, problem.C
    sizes = {
        **dict.fromkeys(SERVER, (T + 1,)), **dict.fromkeys(LOCAL, (T, E + 1, C)), **dict.fromkeys(PAIRS, (T, C, C)),
        **dict.fromkeys(MEANS, (T, E + 1, problem.d)), **dict.fromkeys(STEPS, (T, E + 1)),
    }  # fmt: skip
    return {name: xp.empty((*setup.batch, *sizes[name]), dtype=xp.float64) for name in record}
