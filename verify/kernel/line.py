"""F = f + theta |x| on the line, f quadratic between kinks: its minimum, its curvatures, its proximal PL constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from flint import fmpq

from .composite_run import Method, soft
from .loss import ZERO
from .rational import Rejected


@dataclass(frozen=True, eq=False)
class Line:
    """f is quadratic between two kinks, and 0 is one of them."""

    method: Method

    @cached_property
    def kinks(self) -> list[fmpq]:
        bends = [bend for group in self.method.groups for bend in group.loss.bends]
        return sorted({ZERO, *(x for _, lo, hi, c in bends for x in (c - lo, c + hi))})

    @cached_property
    def ends(self) -> list[fmpq]:
        """The kinks with a point beyond each end."""
        return [self.kinks[0] - 1, *self.kinks, self.kinks[-1] + 1]

    def slope(self, x: fmpq) -> fmpq:
        return self.method.gradient((x,))[0]

    def value(self, x: fmpq) -> fmpq:
        return self.method.value((x,))

    def curvatures(self) -> list[fmpq]:
        return [(self.slope(b) - self.slope(a)) / (b - a) for a, b in pairwise(self.ends)]

    def lowest(self) -> fmpq:
        """A global minimiser: the best of all kinks and stationary points."""
        theta, first, last = self.method.theta, self.kinks[0], self.kinks[-1]
        left, right = self.slope(first) - theta, self.slope(last) + theta
        low, *_, high = self.curvatures()
        if low < 0 or high < 0 or (low == 0 and left > 0) or (high == 0 and right < 0):
            raise Rejected("instance.groups: got an F that falls for ever, expected one bounded below")
        found = list(self.kinks)
        found += [first - left / low] if left > 0 else []
        found += [last - right / high] if right < 0 else []
        for a, b in pairwise(self.kinks):
            side = theta if a >= 0 else -theta
            down, up = self.slope(a) + side, self.slope(b) + side
            found += [a - down * (b - a) / (up - down)] if down < 0 < up else []
        return min(found, key=self.value)

    def prox_pl(self, mu: fmpq, f_star: fmpq) -> bool:
        """Whether mu (F - F*) <= D_g(x, mu) / 2 everywhere, assumption 3.3 (2): on pieces, a quadratic against 0."""
        if mu <= 0:
            return False
        theta = self.method.theta
        cuts = set(self.kinks)
        for n, (a, b) in enumerate(pairwise(self.ends)):  # where the minimiser y of D_g changes its sign or stays at 0
            ya, yb = a - self.slope(a) / mu, b - self.slope(b) / mu
            for level in (theta / mu, -theta / mu):
                if ya != yb:
                    x = a + (level - ya) * (b - a) / (yb - ya)
                    inside = (n == 0 or a <= x) and (n == len(self.ends) - 2 or x <= b)
                    cuts |= {x} if inside else set()

        def room(x: fmpq) -> fmpq:
            y = soft((x - self.slope(x) / mu,), theta / mu)[0]
            model = self.slope(x) * (y - x) + mu * (y - x) ** 2 / 2 + theta * (abs(y) - abs(x))
            return -model - (self.value(x) - f_star)

        points = sorted(cuts)
        inner = all(_nonnegative(room(a), room((a + b) / 2), room(b), bounded=True) for a, b in pairwise(points))
        ends = ((points[0], -1), (points[-1], 1))
        return inner and all(_nonnegative(*(room(x + k * side) for k in range(3)), bounded=False) for x, side in ends)


def _nonnegative(p: fmpq, q: fmpq, r: fmpq, bounded: bool) -> bool:
    """Whether the quadratic with values p, q, r at 0, 1, 2 is >= 0 on [0, 2], or on [0, inf)."""
    a, b = (p - 2 * q + r) / 2, (4 * q - 3 * p - r) / 2  # a s^2 + b s + p
    if p < 0 or (bounded and r < 0) or (not bounded and (a < 0 or (a == 0 and b < 0))):
        return False
    inside = a > 0 and b < 0 and (not bounded or -b < 4 * a)
    return not inside or 4 * a * p >= b * b
