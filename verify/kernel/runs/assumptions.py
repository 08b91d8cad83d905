"""The assumptions about a run, all in one place: by name, without a constant, with one, and with two.

What is said here of losses holds everywhere, not only where the run goes.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from ..core.budget import summed
from ..core.world import Bounds, Facts, Pairs
from ..losses.draws import SAMPLINGS
from ..losses.loss import ZERO, Loss, Vector, dot, semidefinite
from ..losses.minimum import lines, separable
from ..losses.regulariser import NONE, Regulariser
from ..losses.sample import AnyLoss, samples
from ..losses.sample import similar as similar_gradients
from ..losses.spline import Curves, hessian_spread, meta_gap, spread, steepest2
from ..losses.table import Table
from .measures import Measures
from .noise import Noise
from .problem import Problem, least_hessian

STEEP = ("bounded_gradients", "lipschitz")


def assumptions(measures: Measures, sampling: str, shared: bool, Gamma: fmpq | None) -> tuple[Facts, Bounds, Pairs]:
    """`sampling`: how clients are drawn, if they are; `shared`: whether all draw the same minibatch."""
    replay, problem, users = measures.replay, measures.replay.problem, alike(measures.replay.problem.losses)
    bounds: dict[str, Callable[[fmpq], bool]] = {**_of_losses(problem), **_of_noise(replay.noise)}
    bounds["inexact"] = lambda eps: measures.inaccuracy() <= eps
    facts: dict[str, bool | Callable[[], bool]] = {
        **of_weights(problem, replay.method.weighs("chosen") and problem.rows is None),
        "homogeneous": Gamma is not None and Gamma == 0,
        "full_participation": all(set(draw.counts) == {1} for draw, _ in replay.draws),
        **{kind: kind == sampling for kind in SAMPLINGS},
        "independent_noise": not replay.noise.shared or len(problem.p) == 1 or not replay.noise.kicks(),
        "convex": all(loss.above(ZERO) for loss in problem.losses),
        "subgradients": True,  # a gradient is one
        "lower_bounded": problem.f_star is not None,
        "exact_oracle": lambda: measures.inaccuracy() == 0,
    }
    if points := samples(problem.losses):
        full = all(len(risks) == 1 for risks in problem.batches)
        facts["nonnegative_loss"] = all(loss.bounded_below() for client in points for loss in client.points)
        facts["full_batch"] = full
        facts["independent_minibatches"] = not shared or len(problem.p) == 1 or full
    if users is not None:
        facts["bounded_below"] = all(part.rises() for user in users for part in user.parts)
        bounds |= _of_users(users)
    tables = [loss for loss in problem.losses if isinstance(loss, Table)]
    if len(tables) == len(problem.losses):  # each is one data point
        low = all(table.bounded_below() for table in tables)
        facts |= {"full_batch": True, "independent_minibatches": True, "nonnegative_loss": low}
        facts["lower_bounded"] = problem.f_star is not None or (low and min(problem.p) >= 0)
        bounds |= dict.fromkeys(STEEP, lambda B: all(table.slopes_at_most(B) for table in tables))
    pairs: dict[str, Callable[[fmpq, fmpq], bool]] = {
        "minibatch_variance": replay.noise.bounded,
        "two_groups": lambda mu, G: two_groups(problem.losses, problem.start, mu, G),
        "meta_gap": lambda Delta, alpha: users is not None and meta_gap(users, problem.start, alpha) <= Delta,
    }
    return facts, bounds, pairs


def of_weights(problem: Problem, looks: bool) -> dict[str, bool]:
    """`looks`: weights are those of the largest values, and may be 0."""
    p, graph = problem.p, problem.graph
    rows, plain = (p, *(problem.rows or ())), len(p) == 1 or not looks
    return {
        "distribution": summed(p) == 1 and min(p) > 0,
        "positive_weights": min(map(min, rows)) > 0 and plain,
        "fedavg_weights": all(row == p for row in rows) and plain,
        "weights_sum_to_one": all(summed(row) == 1 for row in rows),
        "nonnegative_weights": min(map(min, rows)) >= 0,
        "equal_weights": len(set(p)) == 1 and summed(p) == 1,
        "similarity_weights": similar(p, graph),
        "broadcast": bool(graph) and all(row == p for row in graph),
    }


def _of_losses(problem: Problem) -> dict[str, Callable[[fmpq], bool]]:
    f, points = problem.losses, samples(problem.losses)
    each = [loss for client in points for loss in client.points]
    return {
        "smooth": lambda L: all(loss.above(-L) and loss.below(L) for loss in f),
        "strongly_convex": lambda mu: all(loss.above(mu) for loss in f),
        "descent": lambda L: all(loss.below(L) for loss in f),
        "two_sided": lambda L: all(loss.above(-L) for loss in f),
        "weakly_convex": lambda nu: all(loss.above(-nu) for loss in f),
        "mean_strongly_convex": lambda mu: strongly_convex(problem, mu),
        "prox_pl": lambda mu: prox_pl(problem, mu),
        "bounded_subgradients": lambda B: problem.g.bounded(B, len(problem.start)),
        "lipschitz": lambda G: bool(points) and all(loss.lipschitz(G) for loss in each),
        "lgd": lambda B: bool(points) and similar_gradients(points, problem.p, B),
    }


def _of_noise(noise: Noise) -> dict[str, Callable[[fmpq], bool]]:
    return {
        "bounded_variance": noise.bounded,
        "exact_variance": noise.exactly,
        "gradient_variance": noise.bounded,
        "hessian_variance": noise.bent_at_most,
    }


def _of_users(users: list[Curves]) -> dict[str, Callable[[fmpq], bool]]:
    even, a, b = (fmpq(1, len(users)),) * len(users), [user.a for user in users], [user.b for user in users]
    return {
        "bounded_gradients": lambda B: all((x := steepest2(u.parts)) is not None and x <= B * B for u in users),
        "lipschitz_hessian": lambda rho: all(part.steepness() <= rho for u in users for part in u.parts),
        "similar_gradients": lambda s: spread(users[0].eta, even, a, b) <= s * s,
        "similar_hessians": lambda s: hessian_spread(users[0].eta, even, b) <= s * s,
    }


def alike(f: tuple[AnyLoss, ...]) -> list[Curves] | None:
    """The curves that all losses consist of, if they differ by a and b alone."""
    users = [loss.curves for loss in f if isinstance(loss, Loss) and isinstance(loss.curves, Curves)]
    same = {(user.base, user.eta, user.turn) for user in users}
    return users if len(users) == len(f) and len(same) == 1 else None


def two_groups(f: tuple[AnyLoss, ...], start: Vector, mu: fmpq, G: fmpq) -> bool:
    """f_i = mu w^2/2 + G w in the first half, mu w^2/4 - G w in the second, odd C: a last f_i = 0.

    The signs of G are the other way round for a start below 0.
    """
    half, force = len(f) // 2, -G if start[0] < 0 else G
    losses = [(mu, -force)] * half + [(mu / 2, force)] * half + [(ZERO, ZERO)] * (len(f) % 2)
    plain = [(loss.A, loss.b, loss.bends, loss.curves) for loss in f if isinstance(loss, Loss)]
    return plain == [(((a,),), (b,), (), None) for a, b in losses]


def similar(p: Vector, graph: tuple[Vector, ...]) -> bool:
    """p_ij = p_i a_ij is symmetric, not negative and zero for i = j; the rows a_i sum to one, and the p_i > 0 do."""
    if not graph or min(p) <= 0 or summed(p) != 1:
        return False
    rows = range(len(p))
    pairs = [[p[i] * graph[i][j] for j in rows] for i in rows]
    symmetric = all(pairs[i][j] == pairs[j][i] >= 0 for i in rows for j in rows)
    return symmetric and not any(pairs[i][i] for i in rows) and all(summed(row) == 1 for row in graph)


def strongly_convex(problem: Problem, mu: fmpq) -> bool:
    """Whether f is."""
    if plain := separable(problem.losses):
        return all(min(line.curvatures()) >= mu for line in lines(plain, problem.p, NONE))
    return semidefinite(least_hessian(problem), 1, -mu)


def prox_pl(problem: Problem, mu: fmpq) -> bool:
    """The proximal PL inequality of F: along every coordinate; or f is strongly convex enough; or, of quadratics
    without g, no curvature of f lies between 0 and mu.
    """
    f, p, g = problem.losses, problem.p, problem.g
    if isinstance(g, Regulariser) and (plain := separable(f)):
        return all((x := line.lowest()) is not None and line.prox_pl(mu, x) for line in lines(plain, p, g))
    H = least_hessian(problem)
    square = tuple(tuple(dot(row, other) - mu * row[s] for s, other in enumerate(H)) for row in H)
    plain = g == NONE and not any(loss.bends or (isinstance(loss, Loss) and loss.curves) for loss in f)
    return mu > 0 and (semidefinite(H, 1, -mu) or (plain and semidefinite(H) and semidefinite(square)))
