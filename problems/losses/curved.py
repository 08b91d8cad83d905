"""Losses of several users with bounded gradients, Lipschitz Hessians that need not be diagonal, and known constants.

f_i(w) = sum_j base_j(y_j) + a_ij y_j + b_ij eta_j(y_j), where y is w reflected at the plane across `turn`: users
differ by a and b alone. Leading axes are batch axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays.array_checks import Array, dot, namespace, summed
from .splines import Splines


@dataclass(frozen=True, slots=True, eq=False)
class Curved:
    users: Splines  # (n, C, d)
    turn: Array  # (n, d): zero for no reflection
    p: Array  # (n, C)

    @property
    def C(self) -> int:
        return self.p.shape[-1]

    @property
    def d(self) -> int:
        return self.turn.shape[-1]

    def value(self, w: Array) -> Array:  # (..., C, d) -> (..., C)
        y, inside = self._inside(w)
        value, grad = self.users.value_and_grad(inside)
        return summed(namespace(w), value + (y - inside) * grad)

    def grad(self, w: Array) -> Array:  # (..., C, d) -> (..., C, d)
        return self._turned(self.users.grad(self._inside(w)[1]))

    def hess(self, w: Array, v: Array) -> Array:
        """Hess f_i(w) v, (..., C, d)."""
        return self._turned(self.users.hess(self._inside(w)[1]) * self._turned(v))

    def meta_gap(self, w: Array, alpha: Array) -> Array:
        """F(w) - F^* (n,) or more, F the mean of f_i(. - alpha grad f_i(.)); w (n, d), alpha (n,)."""
        xp, x = namespace(w), w[:, None, :] + 0 * self.turn[:, None, :]
        above = self.value(x - alpha[:, None, None] * self.grad(x)) - summed(xp, self.users.lowest)
        return xp.mean(above, axis=-1)

    def _inside(self, w: Array) -> tuple[Array, Array]:
        """w reflected, and cut off at the last knot: beyond it all is straight, but cubes that cancel are inexact."""
        xp, y = namespace(w), self._turned(w)
        return y, xp.minimum(y, xp.max(self.users.x, axis=-1))

    def _turned(self, w: Array) -> Array:
        xp, turn = namespace(w), self.turn[:, None, :]
        one = 1 + 0 * turn
        if self.d == 1:
            return w * xp.where(turn == 0, one, -one)
        square = summed(xp, turn * turn)[..., None]
        share = 2 * turn / xp.where(square == 0, one[..., :1], square)
        return w - dot(turn, w)[..., None] * share
