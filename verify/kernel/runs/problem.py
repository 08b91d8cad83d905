"""The problem that a run is about: losses, weights, a regulariser, what the oracle answers, and its minimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from flint import fmpq

from ..core.budget import paid
from ..core.rational import Rejected, shown
from ..losses.loss import ZERO, Matrix, Vector, combine, dot, semidefinite
from ..losses.minimum import lowest
from ..losses.regulariser import NONE, AnyRegulariser
from ..losses.rotated import Rotated
from ..losses.sample import AnyLoss
from ..losses.table import Mixture, Table


@dataclass(frozen=True, slots=True)
class Oracle:
    """It returns x + step (best - x) + shift; a row per round, the last one for all later rounds; none: exact.

    A row has a step per client, and a shift per client, or per client and minibatch.
    """

    step: tuple[Vector, ...] = ()
    shift: tuple[tuple[tuple[Vector, ...], ...], ...] = ()

    def answer(self, x: Vector, best: Vector, t: int, i: int, batch: int) -> Vector:
        if not self.step:
            return best
        row = min(t, len(self.step) - 1)
        step, shifts = self.step[row][i], self.shift[row][i]
        moved = shifts[min(batch, len(shifts) - 1)]
        return tuple(paid(a + step * (b - a) + c) for a, b, c in zip(x, best, moved, strict=True))


EXACT = Oracle()


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Losses f_i, weights p_i, the graph's rows, the start, a minimiser of F = f + g if known, g, other points."""

    losses: tuple[AnyLoss, ...]
    p: Vector
    graph: tuple[Vector, ...]
    start: Vector
    w_star: Vector | None
    g: AnyRegulariser = NONE
    points: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    alike: tuple[int, ...] = ()  # of each client the first one with the same loss and weight; none where it matters who
    minimisers: tuple[Vector, ...] | None = None  # of every f_i
    f_star: fmpq | None = None  # the least value of F, if known
    rows: tuple[Vector, ...] | None = None  # chosen weights, one row per round; None: the largest, as FedMax has it
    whole: Mapping[str, Rotated | Mixture] = field(default_factory=dict[str, Rotated | Mixture])  # for full_prox
    batches: tuple[tuple[Rotated | Table, ...], ...] = ()  # risks of the minibatches that each client may draw
    oracle: Oracle = EXACT
    gaps: list[fmpq] = field(default_factory=list[fmpq])  # how far from optimal the oracle's answers were

    def value(self, w: Vector) -> fmpq:
        """f."""
        return dot(self.p, [loss.value(w) for loss in self.losses])

    def Gamma(self) -> fmpq | None:
        """f_star - sum_i p_i min f_i, where these are known."""
        if self.minimisers is None or self.f_star is None:
            return None
        return self.f_star - dot(self.p, [f.value(x) for f, x in zip(self.losses, self.minimisers, strict=True)])


def least_hessian(problem: Problem) -> Matrix:
    """No Hessian of f = sum_i p_i f_i is smaller."""
    H = [loss.hessian(most=weight < 0) for loss, weight in zip(problem.losses, problem.p, strict=True)]
    return tuple(combine(problem.p, [h[r] for h in H]) for r in range(len(H[0])))


def least_of_each(problem: Problem, w: Vector) -> bool:
    """Whether every f_i less its tangent at w, each known at a few points and with a weight >= 0, is least at w.

    Then F is least at w where minus the slope of f is a subgradient of g: F(x) - F(w) is at least sum_i p_i
    <grad f_i(w), x - w> + g(x) - g(w).
    """
    tables = [loss for loss in problem.losses if isinstance(loss, Table)]
    plain = len(tables) == len(problem.losses) and min(problem.p) >= 0
    return plain and all(table.above_tangent(w) for table in tables)


def minimised(problem: Problem) -> Problem:
    """With f_star, from a minimiser of a convex f or the best stationary point of a separable one.

    Of F = f + g where there is a regulariser. A minimiser that the instance gives is checked, and so are those of f_i.
    """
    p, f, g, w, f_star = problem.p, problem.losses, problem.g, problem.w_star, None
    best = lowest(f, p, g)
    if best is not None:
        f_star = problem.value(best) + g.value(best)
    if w is not None:
        slope = combine([-x for x in p], [loss.gradient(w) for loss in f])
        level = f_star is None and g.subgradient(w, slope)
        least = level and (semidefinite(least_hessian(problem)) or least_of_each(problem, w))
        if not least and problem.value(w) + g.value(w) != f_star:
            raise Rejected(f"instance.w_star: got {shown(w)}, expected a minimiser of a convex f")
        f_star = problem.value(w) + g.value(w)
    for i, x in enumerate(problem.minimisers or ()):
        if any(f[i].gradient(x)) or not f[i].above(ZERO):
            raise Rejected(f"instance.minimisers[{i}]: got {shown(x)}, expected a minimiser of a convex f_{i + 1}")
    return replace(problem, f_star=f_star, w_star=best if w is None else w)
