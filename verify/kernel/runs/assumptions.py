"""Assumptions about a run that few claims make, and those of data points, tables and curves.

They come on top of those in core/assumptions.py; where a name stands in both, what is said here counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from flint import fmpq

from ..core.assumptions import OF_MEAN, Ends
from ..core.budget import summed
from ..core.loss import ZERO, ClientLoss, Loss, Vector, dot, semidefinite
from ..core.problem import Problem, extreme_hessian
from ..core.randomness import Noise
from ..core.replay import Replay
from ..core.world import Bounds, Facts, Pairs
from ..losses.kinds.curves import Curves, meta_gap
from ..losses.kinds.sample import samples
from ..losses.kinds.sample import similar as similar_gradients
from ..losses.kinds.table import Table
from ..losses.minimum import lines, separable
from ..losses.regulariser import Regulariser
from ..losses.spline import hessian_spread, spread, steepest2
from .data import data_of
from .rest import rounds

STEEP = ("bounded_gradients", "lipschitz")


def assumptions(
    problem: Problem, replay: Replay[Vector, fmpq], noise: Noise, long: bool
) -> tuple[Facts, Bounds, Pairs]:
    """`long`: the run is followed by its moments, with an oracle that is exact."""
    losses, users, data = problem.losses, alike(problem.losses), data_of(problem)
    points, tables = samples(losses), [loss for loss in losses if isinstance(loss, Table)]
    each = [loss for client in points for loss in client.points]
    facts: dict[str, bool | Callable[[], bool]] = {
        **of_graph(problem.p, problem.graph), "exact_oracle": lambda: inaccuracy(replay, problem, long) == 0,
        "mean_convex": lambda: bent_mean(problem, (0, None), ZERO),
    }  # fmt: skip
    bounds: dict[str, Callable[[fmpq], bool]] = {
        **{name: partial(bent_mean, problem, ends) for name, ends in OF_MEAN.items()},
        "prox_pl": lambda mu: prox_pl(problem, mu),
        "lipschitz": lambda G: bool(points) and all(loss.lipschitz(G) for loss in each),
        "lgd": lambda B: bool(points) and similar_gradients(points, problem.p, B),
        "exact_variance": noise.exactly, "gradient_variance": noise.bounded, "hessian_variance": noise.bent_at_most,
        "bounded_subgradients": lambda B: B >= 0 if problem.g is None else problem.g.bounded(B, len(problem.start)),
        "inexact": lambda eps: inaccuracy(replay, problem, long) <= eps,
    }  # fmt: skip
    if points and data is not None:
        full = all(len(risks) == 1 for risks in data.batches)
        facts["nonnegative_loss"] = all(loss.bounded_below() for loss in each)
        facts["full_batch"] = full
        facts["independent_minibatches"] = not data.shared or len(problem.p) == 1 or full
    if users is not None:
        facts["bounded_below"] = all(part.rises() for user in users for part in user.parts)
        bounds |= _of_users(users)
    if len(tables) == len(losses):  # each is one data point
        low = all(table.bounded_below() for table in tables)
        facts |= {"full_batch": True, "independent_minibatches": True, "nonnegative_loss": low}
        facts["lower_bounded"] = problem.f_star is not None or (low and min(problem.p) >= 0)
        bounds |= dict.fromkeys(STEEP, lambda B: all(table.slopes_at_most(B) for table in tables))
    pairs: dict[str, Callable[[fmpq, fmpq], bool]] = {
        "two_groups": lambda mu, G: two_groups(losses, problem.start, mu, G),
        "meta_gap": lambda Delta, alpha: users is not None and meta_gap(users, problem.start, alpha) <= Delta,
    }
    return facts, bounds, pairs


def inaccuracy(replay: Replay[Vector, fmpq], problem: Problem, long: bool) -> fmpq:
    """How far from optimal the oracle's answers were, at most, in all rounds."""
    data = data_of(problem)
    if not replay.method.rules_use("oracle") or long or data is None:
        return ZERO
    for t, _ in rounds(replay):
        replay.law(t + 1, -1)
    return max(data.gaps)


def of_graph(p: Vector, graph: tuple[Vector, ...]) -> dict[str, bool]:
    return {"similarity_weights": similar(p, graph), "broadcast": bool(graph) and all(row == p for row in graph)}


def _of_users(users: list[Curves]) -> dict[str, Callable[[fmpq], bool]]:
    even, a, b = (fmpq(1, len(users)),) * len(users), [user.a for user in users], [user.b for user in users]
    return {
        "bounded_gradients": lambda B: all((x := steepest2(u.parts)) is not None and x <= B * B for u in users),
        "lipschitz_hessian": lambda rho: all(part.steepness() <= rho for u in users for part in u.parts),
        "similar_gradients": lambda s: spread(users[0].eta, even, a, b) <= s * s,
        "similar_hessians": lambda s: hessian_spread(users[0].eta, even, b) <= s * s,
    }


def alike(f: Sequence[ClientLoss]) -> list[Curves] | None:
    """The curves that all losses consist of, if they differ by a and b alone."""
    users = [loss for loss in f if isinstance(loss, Curves)]
    same = {(user.base, user.eta, user.turn) for user in users}
    return users if len(users) == len(f) and len(same) == 1 else None


def two_groups(f: Sequence[ClientLoss], start: Vector, mu: fmpq, G: fmpq) -> bool:
    """f_i = mu w^2/2 + G w in the first half, mu w^2/4 - G w in the second, odd C: a last f_i = 0.

    The signs of G are the other way round for a start below 0.
    """
    half, force = len(f) // 2, -G if start[0] < 0 else G
    losses = [(mu, -force)] * half + [(mu / 2, force)] * half + [(ZERO, ZERO)] * (len(f) % 2)
    plain = [(loss.A, loss.b) if isinstance(loss, Loss) else None for loss in f]
    return plain == [(((a,),), (b,)) for a, b in losses]


def similar(p: Vector, graph: tuple[Vector, ...]) -> bool:
    """p_ij = p_i a_ij is symmetric, not negative and zero for i = j; the rows a_i sum to one, and the p_i > 0 do."""
    if not graph or min(p) <= 0 or summed(p) != 1:
        return False
    rows = range(len(p))
    pairs = [[p[i] * graph[i][j] for j in rows] for i in rows]
    symmetric = all(pairs[i][j] == pairs[j][i] >= 0 for i in rows for j in rows)
    return symmetric and not any(pairs[i][i] for i in rows) and all(summed(row) == 1 for row in graph)


def bent_mean(problem: Problem, ends: Ends, c: fmpq) -> bool:
    """Whether every curvature of f is between these multiples of c."""
    low, high = (None if end is None else end * c for end in ends)
    if plain := separable(problem.losses):
        all_ = [x for line in lines(plain, problem.p, Regulariser()) for x in line.curvatures()]
        return (low is None or min(all_) >= low) and (high is None or max(all_) <= high)
    above = low is None or semidefinite(extreme_hessian(problem), 1, -low)
    return above and (high is None or semidefinite(extreme_hessian(problem, most=True), -1, high))


def prox_pl(problem: Problem, mu: fmpq) -> bool:
    """The proximal PL inequality of F: along every coordinate; or f is strongly convex enough; or, of quadratics
    without g, no curvature of f lies between 0 and mu.
    """
    f, p, g = problem.losses, problem.p, problem.g
    g = Regulariser() if g is None else g
    if isinstance(g, Regulariser) and (plain := separable(f)):
        return all((x := line.lowest()) is not None and line.prox_pl(mu, x) for line in lines(plain, p, g))
    H = extreme_hessian(problem)
    square = tuple(tuple(dot(row, other) - mu * row[s] for s, other in enumerate(H)) for row in H)
    plain = g == Regulariser() and all(loss.straight for loss in f)
    return mu > 0 and (semidefinite(H, 1, -mu) or (plain and semidefinite(H) and semidefinite(square)))
