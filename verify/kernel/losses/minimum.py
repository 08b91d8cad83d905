"""F = f + g along one coordinate, f quadratic between kinks: its minimum, its curvatures, its proximal PL constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from flint import fmpq

from ..core.loss import ZERO, ClientLoss, Loss, Vector, dot, semidefinite
from ..core.problem import Problem, extreme_hessian, stationary
from ..core.problem import Regulariser as AnyRegulariser
from ..core.rational import Rejected, shown
from .kinds.bent import Bent
from .kinds.sample import samples
from .kinds.table import Table
from .pieces import nonnegative
from .regulariser import Regulariser
from .rotated import mix


def separable(losses: Sequence[ClientLoss]) -> list[Bent]:
    """The losses, if no coordinate is mixed with another one and all are quadratic between kinks; otherwise none."""
    plain = [Bent(loss, ()) if isinstance(loss, Loss) else loss for loss in losses if isinstance(loss, Loss | Bent)]
    rows = range(len(plain[0].smooth.b) if plain else 0)
    mixed = any(loss.smooth.A[r][s] for loss in plain for r in rows for s in rows if r != s)
    return [] if mixed or len(plain) < len(losses) else plain


def lowest(losses: Sequence[ClientLoss], p: Vector, g: AnyRegulariser | None) -> Vector | None:
    """A global minimiser of F, where F is a sum over coordinates and does not fall for ever."""
    g = Regulariser() if g is None else g
    if clients := samples(losses):
        if any(loss.risk.basis != clients[0].risk.basis for loss in clients):
            return None
        f = mix(p, [loss.risk for loss in clients])
        return f.least() if g == Regulariser() and f.bounded_below() else None
    if not isinstance(g, Regulariser):
        return None
    least = [line.lowest() for line in lines(separable(losses), p, g)]
    return tuple(x for x in least if x is not None) if least and None not in least else None


def with_minimum(problem: Problem) -> Problem:
    """With f_star, from a minimiser of a convex f or the best stationary point of a separable one.

    Of F = f + g where there is a regulariser. A minimiser that the instance gives is checked.
    """
    w, f_star = problem.w_star, None
    best = lowest(problem.losses, problem.p, problem.g)
    if best is not None:
        f_star = problem.value(best) + problem.penalty(best)
    if w is not None:
        level = f_star is None and stationary(problem, w)
        least = level and (semidefinite(extreme_hessian(problem)) or least_of_each(problem, w))
        if not least and problem.value(w) + problem.penalty(w) != f_star:
            raise Rejected(f"instance.w_star: got {shown(w)}, expected a minimiser of a convex f")
        f_star = problem.value(w) + problem.penalty(w)
    return replace(problem, f_star=f_star, w_star=best if w is None else w)


def least_of_each(problem: Problem, w: Vector) -> bool:
    """Whether every f_i less its tangent at w, each known at a few points and with a weight >= 0, is least at w.

    Then F is least at w where minus the slope of f is a subgradient of g: F(x) - F(w) is at least sum_i p_i
    <grad f_i(w), x - w> + g(x) - g(w).
    """
    tables = [loss for loss in problem.losses if isinstance(loss, Table)]
    plain = len(tables) == len(problem.losses) and min(problem.p) >= 0
    return plain and all(table.above_tangent(w) for table in tables)


def lines(losses: Sequence[Bent], p: Vector, g: Regulariser) -> list[Line]:
    """F as a sum over coordinates."""
    return [Line(losses, p, g, j) for j in range(len(losses[0].smooth.b) if losses else 0)]


@dataclass(frozen=True, eq=False)
class Line:
    """F along coordinate j of separable losses; between two kinks it is quadratic, and 0 is a kink."""

    losses: Sequence[Bent]
    p: Vector
    g: Regulariser
    j: int

    def at(self, x: fmpq) -> Vector:
        return tuple(x if r == self.j else ZERO for r in range(len(self.losses[0].smooth.b)))

    def smooth(self, x: fmpq) -> fmpq:
        """f'."""
        return dot(self.p, [loss.gradient(self.at(x))[self.j] for loss in self.losses])

    def value(self, x: fmpq) -> fmpq:
        """F, up to a constant."""
        return dot(self.p, [loss.value(self.at(x)) for loss in self.losses]) + self.g.value((x,))

    @cached_property
    def kinks(self) -> list[fmpq]:
        bends = [loss.bends[self.j] for loss in self.losses if loss.bends]
        return sorted({ZERO, *(x for _, lo, hi, c in bends for x in (c - lo, c + hi))})

    @cached_property
    def ends(self) -> list[fmpq]:
        """The kinks with a point beyond each end."""
        return [self.kinks[0] - 1, *self.kinks, self.kinks[-1] + 1]

    def curvatures(self) -> list[fmpq]:
        """The curvature of f on every piece."""
        middles = [(a + b) / 2 for a, b in pairwise(self.ends)]
        return [dot(self.p, [curvature(loss, self.j, x) for loss in self.losses]) for x in middles]

    def lowest(self) -> fmpq | None:
        """A global minimiser: the best of all kinks and stationary points; None where F falls for ever."""
        first, last, g = self.kinks[0], self.kinks[-1], self.g
        left, right = self.smooth(first) + g.slope(first, False), self.smooth(last) + g.slope(last, True)
        curvatures = self.curvatures()
        low, high = curvatures[0] + g.ridge, curvatures[-1] + g.ridge
        if low < 0 or high < 0 or (low == 0 and left > 0) or (high == 0 and right < 0):
            return None
        places = list(self.kinks)
        places += [first - left / low] if left > 0 else []
        places += [last - right / high] if right < 0 else []
        for a, b in pairwise(self.kinks):  # between two kinks the slope is linear
            down, up = self.smooth(a) + g.slope(a, True), self.smooth(b) + g.slope(b, False)
            places += [a - down * (b - a) / (up - down)] if down < 0 < up else []
        return min(places, key=self.value)

    def prox_pl(self, mu: fmpq, least: fmpq) -> bool:
        """Whether mu (F - F*) <= D_g(x, mu) / 2 everywhere, F* at `least`: on pieces, a quadratic against 0."""
        if mu <= 0:
            return False
        g, f_star, cuts = self.g, self.value(least), set(self.kinks)
        for n, (a, b) in enumerate(pairwise(self.ends)):  # where the minimiser y of D_g changes its sign or stays at 0
            ya, yb = a - self.smooth(a) / mu, b - self.smooth(b) / mu
            for level in (g.up / mu, -g.down / mu):
                if ya != yb:
                    x = a + (level - ya) * (b - a) / (yb - ya)
                    inside = (n == 0 or a <= x) and (n == len(self.ends) - 2 or x <= b)
                    cuts |= {x} if inside else set()

        def room(x: fmpq) -> fmpq:
            y = g.prox((x - self.smooth(x) / mu,), 1 / mu)
            model = self.smooth(x) * (y[0] - x) + mu * (y[0] - x) ** 2 / 2 + g.value(y) - g.value((x,))
            return -model - (self.value(x) - f_star)

        points = sorted(cuts)
        inner = all(nonnegative(room(a), room((a + b) / 2), room(b), bounded=True) for a, b in pairwise(points))
        ends = ((points[0], -1), (points[-1], 1))
        return inner and all(nonnegative(*(room(x + k * side) for k in range(3)), bounded=False) for x, side in ends)


def curvature(loss: Bent, j: int, x: fmpq) -> fmpq:
    """The curvature of a separable loss along coordinate j, at a point that is no kink."""
    h, lo, hi, c = loss.bends[j] if loss.bends else (ZERO,) * 4
    return loss.smooth.A[j][j] + (h if c - lo < x < c + hi else 0)
