"""Statements about functions and vectors: two points, a weighted mean of points, a weighted sum of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from flint import fmpq

from .claim import Claim
from .expression import World
from .loss import ONE, ZERO, Loss, Vector, combine, dot, minus, norm2, piecewise, quadratic, semidefinite
from .minimum import lines, separable
from .rational import Malformed, Node, Rejected, shown
from .regulariser import Regulariser
from .work import summed

COUNT = 100
LOSSES = {"quadratic": quadratic, "piecewise": piecewise}


class Functions(World):
    """Scalars in `values`; indexed quantities (from 1) in `lists`; f's convexity and smoothness as assumptions."""

    def __init__(self, d: int, f: Loss | None = None) -> None:
        self.values, self.ranges, self.lists = {"D": fmpq(d)}, {}, dict[str, Vector]()
        self.facts, self.bounds = {}, {}
        if f is not None:
            self.facts |= {"differentiable": True, "convex": semidefinite(f.hessian(most=False))}
            self.bounds["smooth"] = partial(smooth, f)
            self.bounds["strongly_convex"] = lambda mu: semidefinite(f.hessian(most=False), 1, -mu)

    def give(self, name: str, values: Vector) -> None:
        self.lists[name], self.ranges[name] = values, ((1, len(values)),)
        self.listed = (*self.listed, name)

    def weigh(self, weights: Vector) -> None:
        self.give("lam", weights)
        self.facts["weights_sum_to_one"] = summed(weights) == 1
        self.facts["nonnegative_weights"] = min(weights) >= 0

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        return self.lists[name][indices[0] - 1]


def smooth(f: Loss, L: fmpq) -> bool:
    """Whether -L <= f'' <= L wherever f'' exists: the gradient is L-Lipschitz."""
    return semidefinite(f.hessian(most=False), 1, L) and semidefinite(f.hessian(most=True), -1, L)


def lowest(f: Loss) -> Vector | None:
    """A minimiser of a separable f that is bounded below."""
    least = [line.lowest() for line in lines((f,), (ONE,), Regulariser())] if separable((f,)) else [None]
    return None if None in least else tuple(x for x in least if x is not None)


def smoothness(losses: Sequence[Loss], weights: Vector, d: int) -> fmpq:
    """The least L for which sum_i weights_i f_i is L-smooth, the f_i separable: the largest |slope| of its gradient."""
    most = ZERO
    for j in range(d):
        bends = [(f.bends[j] if f.bends else (ZERO, ZERO, ZERO, ZERO)) for f in losses]
        kinks = sorted({x for _, lo, hi, c in bends for x in (c - lo, c + hi)})
        for x in (kinks[0] - 1, *((a + b) / 2 for a, b in pairwise(kinks)), kinks[-1] + 1):
            bent = (h if c - lo < x < c + hi else ZERO for h, lo, hi, c in bends)
            slopes = [f.A[j][j] + h for f, h in zip(losses, bent, strict=True)]
            most = max(most, abs(dot(weights, slopes)))
    return most


def loss(node: Node, d: int) -> Loss:
    return LOSSES[node.kind(LOSSES)](node, d)


def vectors(node: Node, claim: Claim) -> Functions:
    """Vectors v and w by their components v[j], w[j]."""
    given = node.fields("kind d v w")
    d = given["d"].integer(1, COUNT)
    made = Functions(d)
    for name in ("v", "w"):
        made.give(name, given[name].vector(d))
    return made


def points(node: Node, claim: Claim) -> Functions:
    """f at w and v; with a minimiser w_star, which is checked, also gap and dist2."""
    given = node.fields("kind d f v w constants", "w_star")
    d = given["d"].integer(1, COUNT)
    f, v, w = loss(given["f"], d), given["v"].vector(d), given["w"].vector(d)
    made, slope, apart = Functions(d, f), minus(f.gradient(w), f.gradient(v)), minus(w, v)
    made.values |= {"grad_diff2": norm2(slope), "grad_inner": dot(slope, apart), "diff2": norm2(apart)}
    made.values["grad2"] = norm2(f.gradient(w))
    made.facts["has_minimum"] = "w_star" in given
    if "w_star" in given:
        w_star = given["w_star"].vector(d)
        least = w_star if made.facts["convex"] else lowest(f)
        if least is None or any(f.gradient(w_star)) or f.value(w_star) > f.value(least):
            raise Rejected(f"instance.w_star: got {shown(w_star)}, expected a minimiser of f")
        made.values |= {"gap": f.value(w) - f.value(w_star), "dist2": norm2(minus(w, w_star))}
    made.values |= claim.numbers(given["constants"], "", "L mu")
    return made


def mean(node: Node, claim: Claim) -> Functions:
    """f at points w_i, f_at(i), and at sum_i lam_i w_i, f_mean."""
    given = node.fields("kind d f lam points")
    d, weights = given["d"].integer(1, COUNT), given["lam"]
    f, n = loss(given["f"], d), len(weights.items())
    if not 1 <= n <= COUNT:
        raise weights.malformed(f"from 1 to {COUNT} weights")
    where = [entry.vector(d) for entry in given["points"].items(n)]
    made = Functions(d, f)
    made.weigh(weights.vector(n))
    made.give("f_at", tuple(f.value(w) for w in where))
    made.values |= {"n": fmpq(n), "f_mean": f.value(combine(made.lists["lam"], where))}
    return made


def combination(node: Node, claim: Claim) -> Functions:
    """Separable f_i that are L_i-smooth, and the least smoothness constant of sum_i lam_i f_i."""
    given = node.fields("kind d functions lam L_i")
    d, N = given["d"].integer(1, COUNT), len(given["lam"].items())
    if not 1 <= N <= COUNT:
        raise given["lam"].malformed(f"from 1 to {COUNT} weights")
    losses = [loss(entry, d) for entry in given["functions"].items(N)]
    if any(f.A[r][s] for f in losses for r in range(d) for s in range(d) if r != s):
        raise Malformed("instance.functions: got a Hessian that is not diagonal, expected separable functions")
    made, L = Functions(d), given["L_i"].vector(N, least=0)
    made.weigh(given["lam"].vector(N))
    made.give("L_i", L)
    made.facts["each_smooth"] = all(smooth(f, x) for f, x in zip(losses, L, strict=True))
    made.values |= {"N": fmpq(N), "smoothness": smoothness(losses, made.lists["lam"], d)}
    return made


KINDS: dict[str, Callable[[Node, Claim], Functions]] = {
    "vectors": vectors, "points": points, "mean": mean, "combination": combination,
}  # fmt: skip


def read(node: Node, claim: Claim) -> Functions:
    return KINDS[node.kind(KINDS)](node, claim)
