"""Per-FedAvg (algorithm 1 of Fallah, Mokhtari and Ozdaglar) on losses f_i(w) = base(w) + a_i w + b_i eta(w).

Every user runs from w_0, and every set A of m = r n users is visited. Where the run provably stays in an interval
`inside` on which all meta-gradients are h (w - c_i), the sums over updates, rounds and signs of noise are geometric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any

from flint import arb, fmpq

from .claim import Claim
from .expression import Value, World
from .loss import ONE, ZERO
from .meta import bent, meta, steepest
from .rational import Node, Rejected, affordable
from .spline import LINE, Spline, hessian_spread, mix, spread
from .spline import read as read_spline
from .work import paid, summed

USERS, UPDATES, PATHS, WORK, EXACT = 8, 8, 500, 20_000, 1 << 14
INPUTS = {"alpha": "nonnegative", "beta": "nonnegative"}


def mean(xs: Sequence[fmpq]) -> fmpq:
    return summed(xs) / len(xs)


def raised(x: fmpq, n: int) -> Value:
    """x^n, exactly where that is short."""
    return x**n if n * x.height_bits() <= EXACT else arb(x) ** n


def tails(f: Spline) -> tuple[fmpq, fmpq]:
    """f' to the left and to the right of all knots; for losses with bounded gradients."""
    return f.g, f.slope(max(f.places(), default=ZERO))


def lowest(f: Spline) -> fmpq:
    """A lower bound of f: the least Bernstein coefficient of its cubics."""
    found = [f.value(x) for x in f.places()] or [f.value(ZERO)]
    for x, y in pairwise(f.places()):
        third = (y - x) / 3
        found += [f.value(x) + third * f.slope(x), f.value(y) - third * f.slope(y)]
    return min(found)


class PerFedAvg(World):
    def __init__(self, node: Node, claim: Claim) -> None:
        given = node.fields("C m E T k alpha beta w0 base eta a b sizes noise constants", "inside")
        self.n = given["C"].integer(1, USERS)
        self.m, self.tau = given["m"].integer(1, self.n), given["E"].integer(1, 10**9)
        self.K, self.t = given["T"].integer(1, 10**15), given["k"].integer(0, self.tau)
        self.alpha, self.beta = (claim.number(name, given[name], least=0) for name in INPUTS)
        self.w0, self.noise = given["w0"].rational(), given["noise"].rational(least=0)
        base, eta = (read_spline(given[name]) for name in ("base", "eta"))
        self.a, self.b = (given[name].vector(self.n) for name in ("a", "b"))
        self.users = [mix((ONE, a, b), (base, LINE, eta)) for a, b in zip(self.a, self.b, strict=True)]
        self.sizes = {k: x.integer(1, 10**6) for k, x in given["sizes"].fields("D0 D1 D2").items()}
        whole = {"C": self.n, "E": self.tau, "T": self.K, "k": self.t, "m": self.m, **self.sizes}
        self.values = {k: fmpq(x) for k, x in whole.items()}
        self.values |= {"alpha": self.alpha, "beta": self.beta}
        measured = self.inside(base, *given["inside"].vector(2)) if "inside" in given else self.steps()
        self.measured = {k: f for k, f in measured.items() if (k, -1) in claim.needs()}
        self.values |= claim.parameters(given["constants"], {*self.values, *measured})
        self.values |= dict.fromkeys(self.measured, ZERO)  # which names are given; `value` computes them
        self.ranges = {}
        ends = [tails(f) for f in self.users]
        even, a, b = (fmpq(1, self.n),) * self.n, [(x,) for x in self.a], [(x,) for x in self.b]
        self.facts = {"bounded_below": all(left <= 0 <= right for left, right in ends)}
        self.facts |= {"equal_weights": True, "without_replacement": True}
        self.bounds = {
            "bounded_gradients": lambda B: all(steepest([f], B) for f in self.users),
            "smooth": lambda L: all(bent([f], L) for f in self.users),
            "lipschitz_hessian": lambda rho: all(f.steepness() <= rho for f in self.users),
            "gradient_variance": lambda sigma: self.noise <= sigma,
            "hessian_variance": lambda sigma: sigma >= 0,  # data points differ by straight lines
            "similar_gradients": lambda gamma: spread((eta,), even, a, b) <= gamma * gamma,
            "similar_hessians": lambda gamma: hessian_spread((eta,), even, b) <= gamma * gamma,
        }

    def value(self, name: str) -> Any:
        return self.measured[name]() if name in self.measured else super().value(name)

    def inhabit(self, name: str, kind: str) -> None:
        if name not in self.measured:  # those are computed, and checked where a claim reads them
            super().inhabit(name, kind)

    # --- step by step, without noise ---------------------------------------------------------------------------------

    def gradient(self, user: Spline, w: fmpq) -> fmpq:
        return paid(meta([user], (w,), self.alpha)[0])

    def slope(self, w: fmpq) -> fmpq:
        return mean([self.gradient(f, w) for f in self.users])

    def level(self, w: fmpq) -> fmpq:
        return mean([f.value(w - self.alpha * f.slope(w)) for f in self.users])

    def updates(self, w: fmpq, count: int) -> list[list[fmpq]]:
        """All users' points after 0, ..., count updates."""
        found = [[w] * self.n]
        for _ in range(count):
            found.append([x - self.beta * self.gradient(f, x) for f, x in zip(self.users, found[-1], strict=True)])
        return found

    def steps(self) -> dict[str, Callable[[], Value]]:
        if self.noise != 0 or self.tau > UPDATES:
            raise Rejected(f"instance: got noise or more than {UPDATES} updates, expected a run that stays `inside`")
        sets = list(combinations(range(self.n), self.m))
        path = self.updates(self.w0, self.tau)

        def average(of: Callable[[fmpq], fmpq], t: int) -> fmpq:
            """The mean over all sets A of `of` the average of A's points after t updates."""
            return mean([of(mean([path[t][i] for i in A])) for A in sets])

        start = self.level(self.w0)

        def squares(t: int) -> fmpq:
            return average(lambda w: self.slope(w) ** 2, t)

        def levels(t: int) -> fmpq:
            return average(self.level, t) - start

        return {
            "slope2": lambda: squares(self.t),
            "level": lambda: levels(self.t),
            "level_next": lambda: levels(min(self.t + 1, self.tau)),
            "level_end": lambda: levels(self.tau),
            "round2": lambda: mean([squares(t) for t in range(self.tau)]),
            "mean2": lambda: self.rounds(sets),
            "Delta": lambda: start - mean([lowest(f) for f in self.users]),
        }

    def rounds(self, sets: Sequence[tuple[int, ...]]) -> fmpq:
        """E|grad F|^2 at the sets' averages, over all updates and rounds; every sequence of sets."""
        affordable(self.K * self.tau * self.n, WORK, "instance.T")
        models, found = [self.w0], list[fmpq]()
        for _ in range(self.K):
            if len(models) * len(sets) > PATHS:
                raise Rejected(f"instance.T: got more than {PATHS} sequences of sets, expected fewer rounds")
            paths = [self.updates(w, self.tau) for w in models]
            averages = [[mean([now[i] for i in A]) for now in path] for path in paths for A in sets]
            found.append(mean([self.slope(w) ** 2 for each in averages for w in each[:-1]]))
            models = [each[-1] for each in averages]
        return mean(found)

    # --- all meta-gradients are h (w - c_i) --------------------------------------------------------------------------

    def inside(self, base: Spline, low: fmpq, high: fmpq) -> dict[str, Callable[[], Value]]:
        """f_i' = k w + d_i, so that grad F_i = (1 - alpha k)^2 (k w + d_i) = h (w - c_i), plus signs of noise."""
        alpha, beta, v, users = self.alpha, self.beta, self.noise, self.users
        bends = [base.a, *map(base.bend, base.places())]
        if any(self.b) or low >= high or min(bends) < 0 or alpha * max(bends) > 1 or beta == 0:
            raise Rejected("instance.inside: expected an interval, and users that differ by straight lines from convex")
        reached = [w - alpha * (f.slope(w) + s * v) for f in users for w in (low, high) for s in (1, -1)]
        first, last = min(low, *reached), max(high, *reached)
        k = base.bend(first)
        third = summed(s for x, s in base.knots if x <= first)
        if third != 0 or any(first < x < last for x, _ in base.knots) or k <= 0 or alpha * k >= 1:
            raise Rejected("instance.inside: got a curvature that changes there, expected a positive constant")
        h = k * (1 - alpha * k) ** 2
        c = [low - f.slope(low) / k for f in users]
        most = (1 - alpha * k) * (1 + alpha * k) * v / h
        ends = [self.w0, *(x + s * most for x in c for s in (1, -1))]
        if not (low <= min(ends) and max(ends) <= high and beta * h <= 1):
            raise Rejected("instance.inside: got a run that leaves it, expected start and minimisers inside")
        centre, tau, K = mean(c), self.tau, self.K
        e2 = (self.w0 - centre) ** 2
        spread = mean([(x - centre) ** 2 for x in c])
        S = spread * (self.n - self.m) / (self.m * (self.n - 1)) if self.n > 1 else ZERO  # of the mean of a set's c_i
        one = ((1 - alpha * k) * v) ** 2 * ((alpha * k) ** 2 / self.sizes["D0"] + fmpq(1, self.sizes["D1"]))
        q, q2 = 1 - beta * h, beta * h * (2 - beta * h)  # 1 - q2 = q^2

        def left(t: int) -> Value:  # 1 - q^t
            return 1 - raised(q, t)

        def noises(t: int) -> Value:
            """beta^2 times the variance of one user's noise, times 1 + q^2 + ... + q^(2 t - 2)."""
            return beta**2 * one * ((1 - raised(q, 2 * t)) / q2 if q2 != 0 else fmpq(t))

        def second(t: int, start: Value = e2) -> Value:
            """E|wbar_t - centre|^2 from E|w_k - centre|^2."""
            return raised(q, 2 * t) * start + left(t) ** 2 * S + noises(t) / self.m

        def over_updates(start: Value) -> Value:
            """The mean of `second` over t = 0, ..., tau - 1."""
            P, P2 = raised(q, tau), raised(q, 2 * tau)
            ones, squares = (1 - P) / (1 - q), (1 - P2) / q2
            noise = beta**2 * one / q2 * (tau - squares) / self.m
            return (squares * start + (tau - 2 * ones + squares) * S + noise) / tau

        def over_rounds() -> Value:
            P2, end = raised(q, 2 * tau), raised(q, 2 * tau * K)
            fixed = (left(tau) ** 2 * S + noises(tau) / self.m) / (1 - P2)
            done = (1 - end) / (1 - P2)
            return over_updates((e2 * done + fixed * (K - done)) / K)

        t = self.t

        return {
            "slope2": lambda: h**2 * second(t),
            "level": lambda: h / 2 * (second(t) - e2),
            "level_next": lambda: h / 2 * (second(t + 1) - e2),
            "level_end": lambda: h / 2 * (second(tau) - e2),
            "round2": lambda: h**2 * over_updates(e2),
            "mean2": lambda: h**2 * over_rounds(),
            "Delta": lambda: h / 2 * e2,  # convex f_i, alpha L < 1: F falls towards the centre from both sides
        }


def read(node: Node, claim: Claim) -> PerFedAvg:
    return PerFedAvg(node, claim)
