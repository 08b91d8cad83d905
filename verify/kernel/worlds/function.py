"""Statements about functions and vectors: two points, a weighted mean of points, a weighted sum of functions."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from ..core.budget import summed
from ..core.claim import Claim
from ..core.loss import ONE, ZERO, ClientLoss, Vector, combine, dot, minus, norm2, quadratic
from ..core.rational import Malformed, Node, Rejected, shown
from ..core.world import Reader, World, tabled
from ..losses.kinds import bent
from ..losses.minimum import lines, lowest, separable
from ..losses.regulariser import Regulariser

COUNT = 100
LOSSES = {"quadratic": quadratic, "piecewise": bent.read}


def regularity(f: ClientLoss) -> tuple[dict[str, bool], dict[str, Callable[[fmpq], bool]]]:
    """Assumptions about one function; L-smooth: -L <= f'' <= L wherever f'' exists."""
    facts = {"differentiable": True, "convex": f.above(ZERO)}
    return facts, {"smooth": lambda L: f.above(-L) and f.below(L), "strongly_convex": f.above}


def weighed(weights: Vector) -> dict[str, bool]:
    return {"weights_sum_to_one": summed(weights) == 1, "nonnegative_weights": min(weights) >= 0}


def loss(node: Node, d: int) -> ClientLoss:
    return LOSSES[node.kind(LOSSES)](node, d)


def vectors(node: Node, claim: Claim) -> World:
    """Vectors v and w by their components v[j], w[j]."""
    fields = node.fields("kind d v w")
    d = fields["d"].integer(1, COUNT)
    return tabled({"D": fmpq(d)}, {name: fields[name].vector(d) for name in ("v", "w")}, listed=["v", "w"])


def points(node: Node, claim: Claim) -> World:
    """f at w and v; with a minimiser w_star, which is checked, also gap and dist2."""
    fields = node.fields("kind d f v w constants", "w_star")
    d = fields["d"].integer(1, COUNT)
    f, v, w = loss(fields["f"], d), fields["v"].vector(d), fields["w"].vector(d)
    facts, bounds = regularity(f)
    slope, apart = minus(f.gradient(w), f.gradient(v)), minus(w, v)
    values = {"D": fmpq(d), "grad_diff2": norm2(slope), "grad_inner": dot(slope, apart), "diff2": norm2(apart)}
    values["grad2"] = norm2(f.gradient(w))
    facts["has_minimum"] = "w_star" in fields
    if "w_star" in fields:
        w_star = fields["w_star"].vector(d)
        least = w_star if facts["convex"] else lowest((f,), (ONE,), None)
        if least is None or any(f.gradient(w_star)) or f.value(w_star) > f.value(least):
            raise Rejected(f"instance.w_star: got {shown(w_star)}, expected a minimiser of f")
        values |= {"gap": f.value(w) - f.value(w_star), "dist2": norm2(minus(w, w_star))}
    return tabled(values | claim.numbers(fields["constants"], "", "L mu"), {}, facts, bounds)


def mean(node: Node, claim: Claim) -> World:
    """f at points w_i, f_at(i), and at sum_i lam_i w_i, f_mean."""
    fields = node.fields("kind d f lam points")
    d, n = fields["d"].integer(1, COUNT), _number(fields["lam"])
    f, where = loss(fields["f"], d), [entry.vector(d) for entry in fields["points"].items(n)]
    lists = {"lam": fields["lam"].vector(n), "f_at": tuple(f.value(w) for w in where)}
    values = {"D": fmpq(d), "n": fmpq(n), "f_mean": f.value(combine(lists["lam"], where))}
    facts, bounds = regularity(f)
    return tabled(values, lists, facts | weighed(lists["lam"]), bounds, listed=[*lists])


def combination(node: Node, claim: Claim) -> World:
    """Separable f_i that are L_i-smooth, and the least smoothness constant of sum_i lam_i f_i."""
    fields = node.fields("kind d functions lam L_i")
    d, N = fields["d"].integer(1, COUNT), _number(fields["lam"])
    losses = [loss(entry, d) for entry in fields["functions"].items(N)]
    if not (plain := separable(losses)):
        raise Malformed("instance.functions: got a Hessian that is not diagonal, expected separable functions")
    L, lam = fields["L_i"].vector(N, least=0), fields["lam"].vector(N)
    each = all(f.above(-x) and f.below(x) for f, x in zip(losses, L, strict=True))
    most = max(abs(x) for line in lines(plain, lam, Regulariser()) for x in line.curvatures())
    values = {"D": fmpq(d), "N": fmpq(N), "smoothness": most}
    return tabled(values, {"lam": lam, "L_i": L}, {"each_smooth": each, **weighed(lam)}, listed=["lam", "L_i"])


def _number(weights: Node) -> int:
    n = len(weights.items())
    if not 1 <= n <= COUNT:
        raise weights.malformed(f"from 1 to {COUNT} weights")
    return n


KINDS: dict[str, Callable[[Node, Claim], World]] = {
    "vectors": vectors, "points": points, "mean": mean, "combination": combination,
}  # fmt: skip


def read(node: Node, claim: Claim) -> World:
    return KINDS[node.kind(KINDS)](node, claim)


WORLDS = {"function": Reader(read)}
