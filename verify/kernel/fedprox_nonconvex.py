"""FedProx on losses that need not be convex: assumptions 4.1 to 4.4 and 4.6 of Buttaci's thesis."""

from __future__ import annotations

from itertools import pairwise

from flint import fmpq

from .claim import Claim
from .fedprox import COUNT, FedProx
from .law import Problem, State
from .loss import ZERO, Loss, Vector, combine, dot, norm2, quadratic, semidefinite
from .rational import Node, Rejected, shown


class Nonconvex(FedProx):
    """Quantities: level E f(w_{t,0}) and excess E f(w_{t,0}) - inf f (t <= T), slope2 E|grad f(w_{t,k})|^2 (k <= E)."""

    def bounded(self, w_star: Vector) -> None:
        """`w_star` is known to minimise f."""
        self.f_inf = self.problem.value(w_star)
        self.ranges |= {"level": ((0, self.T),), "excess": ((0, self.T),), "slope2": ((0, self.T - 1), (0, self.E))}
        self.facts["lower_bounded"] = True

    def measured(self, name: str, t: int, k: int = 0, i: int = 0) -> fmpq:
        f, p = self.problem.losses, self.problem.p
        match name:
            case "level":
                return self.law(t, 0).expect(lambda w: self.problem.value(w[0]))
            case "excess":
                return self.quantity("level", (t,)) - self.f_inf
            case "slope2":

                def slope(w: State) -> Vector:
                    return combine(p, [loss.gradient(self.mean(w)) for loss in f])

                return self.law(t, k).expect(lambda w: norm2(slope(w)))
            case _:
                return super().measured(name, t, k, i)


def least(problem: Problem, w_star: Vector) -> Vector:
    """`w_star` if it minimises f = sum_i p_i f_i: a stationary point of a convex quadratic."""
    f, p = problem.losses, problem.p
    total = tuple(combine(p, [loss.A[r] for loss in f]) for r in range(len(w_star)))
    if any(loss.bends for loss in f) or any(combine(p, [loss.gradient(w_star) for loss in f])):
        raise Rejected(f"instance.w_star: got {shown(w_star)}, expected a stationary point of a quadratic f")
    if not semidefinite(total):
        raise Rejected("instance.clients: got a quadratic f with negative curvature, expected one bounded below")
    return w_star


def lowest(problem: Problem, d: int) -> Vector:
    """A minimiser of a separable f: in each coordinate the best of all kinks and stationary points."""
    f, p = problem.losses, problem.p
    if any(loss.A[r][s] for loss in f for r in range(d) for s in range(d) if r != s):
        raise Rejected("instance.clients: got coordinates that mix, expected a separable f or a quadratic with w_star")
    return tuple(_lowest(problem, d, j, dot(p, [loss.A[j][j] for loss in f])) for j in range(d))


def _lowest(problem: Problem, d: int, j: int, outer: fmpq) -> fmpq:
    f, p = problem.losses, problem.p

    def at(x: fmpq) -> Vector:
        return tuple(x if r == j else ZERO for r in range(d))

    def slope(x: fmpq) -> fmpq:
        return dot(p, [loss.gradient(at(x))[j] for loss in f])

    bends = [loss.bends[j] for loss in f if loss.bends]
    kinks = sorted({x for _, lo, hi, c in bends for x in (c - lo, c + hi)} or {ZERO})
    left, right = slope(kinks[0]), slope(kinks[-1])
    if outer < 0 or (outer == 0 and (left > 0 or right < 0)):
        raise Rejected(f"instance.clients: got an f that falls for ever along axis {j}, expected one bounded below")
    found = list(kinks)
    found += [kinks[0] - left / outer] if left > 0 else []
    found += [kinks[-1] - right / outer] if right < 0 else []
    for low, high in pairwise(kinks):  # between two kinks the slope is linear
        down, up = slope(low), slope(high)
        found += [low - down * (high - low) / (up - down)] if down < 0 < up else []
    return min(found, key=lambda x: problem.value(at(x)))


def well(node: Node, d: int) -> Loss:
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) in each coordinate, and phi(c) = 0; a may be negative."""
    given = node.fields("kind a m lo hi c")
    m, lo, hi = (given[name].vector(d, least=0) for name in ("m", "lo", "hi"))
    a, c = (given[name].vector(d) for name in ("a", "c"))
    A = tuple(tuple(m[r] * (r == s) for s in range(d)) for r in range(d))
    bends = tuple((a[j] - m[j], lo[j], hi[j], c[j]) for j in range(d))
    return Loss(A, tuple(x * y for x, y in zip(m, c, strict=True)), dot(m, [x * x / 2 for x in c]), bends)


KINDS = {"quadratic": quadratic, "well": well}


def read(node: Node, claim: Claim) -> Nonconvex:
    given = node.fields("C d E T p w0 alpha constants clients noise", "parameters steps w_star")
    C, d, E, T = (given[name].integer(1, COUNT) for name in ("C", "d", "E", "T"))
    losses = tuple(KINDS[n.kind(KINDS)](n, d) for n in given["clients"].items(C))
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    signs = given["noise"].fields("kind shared v" if noisy else "kind")
    noise = tuple(v.vector(d) for v in signs["v"].items(C)) if noisy else ((ZERO,) * d,) * C
    shared = noisy and signs["shared"].flag()
    problem = Problem(losses, given["p"].vector(C), claim.number("alpha", given["alpha"], least=0), noise, shared)
    run = Nonconvex(problem, given["w0"].vector(d), E, T)
    run.bounded(least(problem, given["w_star"].vector(d)) if "w_star" in given else lowest(problem, d))
    run.values |= claim.numbers(given["constants"], "", "L sigma G")
    taken = {*run.values, "L", "sigma", "G"}
    run.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    run.gamma = claim.steps(given.get("steps"), run, T)
    return run
