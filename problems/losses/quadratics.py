"""Heterogeneous quadratics f_i(w) = 1/2 w'A_i w - b_i'w with weights p_i, in any dimension.

Everything that a theorem asks of them has a closed form: L, mu, w_*, w_*^i, f_* and Gamma (4.2).
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..arrays.array_checks import (
    EPS,
    Array,
    Namespace,
    all_true,
    broadcast_shape,
    check_finite,
    check_weights,
    fail,
    matvec,
    namespace,
    summed,
)


@dataclass(frozen=True, slots=True, eq=False)
class Quadratics:
    """f_i(w) = 1/2 w'A_i w - b_i'w and f = sum_i p_i f_i; leading axes are batch axes and broadcast."""

    A: Array  # (..., C, d, d)  symmetric
    b: Array  # (..., C, d)
    p: Array  # (..., C)        weights, sum to 1, may be negative

    def __post_init__(self) -> None:
        xp = namespace(self.A, self.b, self.p)
        A, b, p = self.A, self.b, self.p
        if A.ndim < 3 or b.ndim < 2 or p.ndim < 1 or A.shape[-3:] != (p.shape[-1], b.shape[-1], b.shape[-1]):
            got = f"shapes A {A.shape}, b {b.shape}, p {p.shape}"
            raise fail(got, "A (..., C, d, d), b (..., C, d), p (..., C)", "make the trailing axes agree")
        if b.shape[-2] != p.shape[-1]:
            raise fail(f"b for {b.shape[-2]} clients", f"{p.shape[-1]} clients as in p", "give one b_i a client")
        broadcast_shape("batch axes of A, b, p", A.shape[:-3], b.shape[:-2], p.shape[:-1])
        check_finite(xp, A=A, b=b, p=p)
        check_weights(xp, p)
        scale = xp.max(xp.abs(A), axis=(-2, -1), keepdims=True)
        if not all_true(xp, xp.abs(A - xp.matrix_transpose(A)) <= 16 * EPS * scale):
            raise fail("an A_i that is not symmetric", "A_i = A_i'", "use (A + A') / 2, which gives the same f_i")

    @property
    def batch(self) -> tuple[int, ...]:
        return broadcast_shape("batch axes of A, b, p", self.A.shape[:-3], self.b.shape[:-2], self.p.shape[:-1])

    @property
    def C(self) -> int:
        return self.p.shape[-1]

    @property
    def d(self) -> int:
        return self.b.shape[-1]

    def value(self, w: Array) -> Array:  # (..., C, d) -> (..., C)
        xp = namespace(w)
        return summed(xp, w * (0.5 * matvec(xp, self.A, w) - self.b))

    def grad(self, w: Array) -> Array:  # (..., C, d) -> (..., C, d)
        return matvec(namespace(w), self.A, w) - self.b

    def hess(self, w: Array, v: Array) -> Array:
        """Hess f_i(w) v, (..., C, d)."""
        return matvec(namespace(v), self.A, v + 0 * w)

    def meta_gap(self, w: Array, alpha: Array) -> Array:
        """F(w) - F^* (n,), F the mean of f_i(. - alpha grad f_i(.)) in one dimension; w (n, d), alpha (n,)."""
        xp = namespace(w)
        short = 1 - alpha[:, None] * self.A[..., 0, 0]
        h, pull = xp.mean(short**2 * self.A[..., 0, 0], axis=-1), xp.mean(short**2 * self.b[..., 0], axis=-1)
        return h / 2 * (w[:, 0] - pull / xp.where(h == 0, 1 + h, h)) ** 2

    def average(self, w: Array) -> Array:  # (..., C, d) -> (..., d)
        return namespace(w).matmul(self.p[..., None, :], w)[..., 0, :]

    def mean(self) -> tuple[Array, Array]:
        """A (..., d, d) and b (..., d) of f = sum_i p_i f_i."""
        xp = namespace(self.A)
        d, row = self.d, self.p[..., None, :]
        flat = xp.matmul(row, xp.reshape(self.A, (*self.A.shape[:-2], d * d)))[..., 0, :]
        return xp.reshape(flat, (*flat.shape[:-1], d, d)), summed(xp, self.p[..., None] * self.b, -2)

    def smoothness(self) -> Array:
        """L (...): the least constant that serves every client."""
        xp = namespace(self.A)
        return xp.max(xp.abs(self._spectrum()), axis=(-2, -1))

    def strong_convexity(self) -> Array:
        """mu (...): the largest constant that serves every client; negative if a client is not convex."""
        return namespace(self.A).min(self._spectrum(), axis=(-2, -1))

    def minimisers(self) -> Array:
        """w_*^i (..., C, d); the one of least norm if a client has several, NaN if it has none."""
        return argmin(self.A, self.b)

    def minimiser(self) -> Array:
        """w_* (..., d) of f, as above."""
        return argmin(*self.mean())

    def optimum(self) -> Array:
        """f_* (...)."""
        _, b = self.mean()
        # A minus sign in front would make an optimum of 0 a -0.0.
        return 0.0 - 0.5 * namespace(b).sum(b * self.minimiser(), axis=-1)

    def gap(self, w: Array, w_star: Array) -> Array:
        """f(w) - f_* for w (..., d), without cancellation near w_*."""
        return self.gap_from(w_star)(w)

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        """`gap` with all that does not depend on w done once."""
        A, _ = self.mean()
        return lambda w: half_square(A, w - w_star)

    def heterogeneity(self) -> Array:
        """Gamma = f_* - sum_i p_i f_i(w_*^i) (...), as a sum of terms with the signs of p_i."""
        apart = self.minimiser()[..., None, :] - self.minimisers()
        return namespace(apart).sum(self.p * half_square(self.A, apart), axis=-1)

    def _spectrum(self) -> Array:
        if self.d == 1:
            return self.A[..., 0]
        return namespace(self.A).linalg.eigvalsh(self.A)


def half_square(A: Array, x: Array) -> Array:
    """1/2 x'A x: A (..., d, d), x (..., d) -> (...)."""
    xp = namespace(x)
    return 0.5 * summed(xp, x * matvec(xp, A, x))


def argmin(A: Array, b: Array) -> Array:
    """Least-norm minimiser of 1/2 w'A w - b'w, NaN where that is unbounded below: (..., d)."""
    xp = namespace(A)
    if b.shape[-1] == 1:
        return _argmin_diagonal(xp, A[..., 0], b, 0.0)
    eigenvalues, U = xp.linalg.eigh(A)
    tolerance = 8 * b.shape[-1] * EPS * xp.max(xp.abs(eigenvalues), axis=-1, keepdims=True)
    if all_true(xp, eigenvalues > tolerance):
        return xp.linalg.solve(A, b[..., None])[..., 0]
    y = _argmin_diagonal(xp, eigenvalues, matvec(xp, xp.matrix_transpose(U), b), tolerance)
    return matvec(xp, U, y)


def _argmin_diagonal(xp: Namespace, a: Array, b: Array, tolerance: Array | float) -> Array:
    """Minimiser of sum_j a_j/2 w_j^2 - b_j w_j; |a_j| <= tolerance counts as 0."""
    convex = a > tolerance
    # Turned into eigenvectors b has rounding of its own; in one dimension it is as it was given.
    small = 64 * EPS * xp.max(xp.abs(b), axis=-1, keepdims=True) if b.shape[-1] > 1 else 0.0
    flat = (xp.abs(a) <= tolerance) & (xp.abs(b) <= small)
    w = xp.where(convex, b / xp.where(convex, a, xp.ones_like(a)), xp.zeros_like(a * b))
    return xp.where(convex | flat, w, xp.full_like(w, float("nan")))
