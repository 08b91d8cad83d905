"""Separable losses whose gradient is piecewise linear and may fall: wells, double wells, humps with convex tails.

Per coordinate phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) and phi(c) = 0, as in `piecewise`, but the inner
curvature a may be negative. L-smooth with L = max |a|, |m|; f is bounded below unless `minimiser` is NaN.
"""

from dataclasses import dataclass

from .arrays import Array, broadcast_shape, check_finite, check_weights, fail, namespace
from .piecewise import Piecewise


@dataclass(frozen=True, slots=True, eq=False)
class Wells(Piecewise):
    """f_i(w) = sum_j phi_ij(w_j) and f = sum_i p_i f_i; a of any sign."""

    def __post_init__(self) -> None:
        parts = {"a": self.a, "m": self.m, "lo": self.lo, "hi": self.hi, "c": self.c}
        xp = namespace(*parts.values(), self.p)
        shapes = {x.shape[-2:] for x in parts.values()}
        if len(shapes) > 1 or self.c.ndim < 2 or self.p.ndim < 1 or self.p.shape[-1] != self.c.shape[-2]:
            got = "shapes " + ", ".join(f"{name} {x.shape}" for name, x in {**parts, "p": self.p}.items())
            raise fail(got, "a, m, lo, hi, c (..., C, d) and p (..., C)", "make the trailing axes agree")
        broadcast_shape("batch axes", *(x.shape[:-2] for x in parts.values()), self.p.shape[:-1])
        check_finite(xp, **parts, p=self.p)
        check_weights(xp, self.p)
        for name in ("m", "lo", "hi"):
            if not bool(xp.all(parts[name] >= 0)):
                raise fail(f"a negative {name}", f"{name} >= 0", "put negative curvature inside, in a")

    def smoothness(self) -> Array:
        """L (...): the largest absolute curvature that occurs."""
        xp = namespace(self.a)
        inner = xp.where(self.lo + self.hi > 0, xp.abs(self.a), self.m)
        return xp.max(xp.maximum(inner, self.m), axis=(-2, -1))

    def minimiser(self) -> Array:
        """A global minimiser w_* (..., d) of f: the best of all kinks and stationary points; NaN if f has none."""
        return self._best_candidate()

    def minimisers(self) -> Array:
        raise fail("the clients' minimisers of wells", "losses with one minimiser each", "use Piecewise")

    def heterogeneity(self) -> Array:
        raise fail("Gamma of wells", "convex losses, for which (4.2) is defined", "use Piecewise")
