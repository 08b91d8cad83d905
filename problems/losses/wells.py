"""Separable losses whose gradient is piecewise linear and may fall: wells, double wells, humps with convex tails.

Per coordinate phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) and phi(c) = 0, as in `piecewise`, but the inner
curvature a may be negative. L-smooth with L = max |a|, |m|; f is bounded below unless `minimiser` is NaN.
"""

from dataclasses import dataclass

from ..arrays.array_checks import Array, fail, namespace
from .piecewise import Piecewise


@dataclass(frozen=True, slots=True, eq=False)
class Wells(Piecewise):
    """f_i(w) = sum_j phi_ij(w_j) and f = sum_i p_i f_i; a of any sign."""

    def __post_init__(self) -> None:
        self._checked(("m", "lo", "hi"), "put negative curvature inside, in a")

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
