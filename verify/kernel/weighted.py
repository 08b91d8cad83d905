"""Federated SGD with aggregation weights alpha_t, rules (2) and (4) of Ben Mansour, Carenini and Duplessis, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain

from flint import fmpq

from .claim import Claim
from .expression import World
from .law import PATHS, Problem
from .loss import KINDS, ONE, ZERO, Vector, combine, dot, minus, norm2, semidefinite
from .rational import Malformed, Node, Rejected, affordable, shown
from .work import price, spend, summed

COUNT, WORK = 1_000, 2_000_000
MEASURED = ("rho_bar", "rho_tilde", "rho_floor", "kappa_min", "kappa_max", "alpha_min", "alpha_max")
RULES = ("printed", "rounds", "kept")
Policy = Callable[[int, Vector], Vector]  # (communication round, F_i(w_t) - F_i*) -> aggregation weights


@dataclass(frozen=True, slots=True)
class Path:
    """One noise path: w_t, the clients' w_t^i, the weights of its round, its probability."""

    w: Vector
    local: tuple[Vector, ...]
    alpha: Vector
    odds: fmpq


def fedmax(r: int, excess: Vector) -> Vector:
    """(15): all weight on the largest F_i(w_t) - F_i*, in equal shares."""
    top = max(excess)
    most = [x == top for x in excess]
    share = fmpq(1, sum(most))
    return tuple(share if chosen else ZERO for chosen in most)


class Weighted(World):
    """Quantities: gap, dist2 (t <= T); spread, spread_star, eta (t < T); rho_run and rho_run_max, the least rho(s, w_s)
    over s <= t, E | s, for the run's weights and for FedMax's (t < T). Steps are counted, not rounds.

    `rule` says what happens between averages. printed: (2) averages in the step from t when E | t, and (4) moves w_t
    with the weights p elsewhere. rounds: algorithm 1 averages when E | t + 1, and p moves w_t before that. kept: as
    rounds, with the round's own weights in (4).
    """

    listed = ("eta",)

    def __init__(
        self, problem: Problem, w0: Vector, E: int, T: int, rule: str, policy: Policy, steady: bool = True
    ) -> None:
        self.problem, self.E, self.T, self.rule, self.policy = problem, E, T, rule, policy
        self.steady = steady  # the same point gets the same weights in every round
        N, d = len(problem.p), len(w0)
        if T % E:
            raise Malformed(f"instance: got E = {E}, T = {T}, expected whole rounds")
        noisy = sum(map(any, problem.noise))
        affordable(T * N * d * d * 2 ** min(noisy * T, 12) + N * d**3, WORK)
        self.values = {"N": fmpq(N), "E": fmpq(E), "T": fmpq(T), "D": fmpq(d), "p_min": min(problem.p)}
        self.ranges = {"gap": ((0, T),), "dist2": ((0, T),)}
        self.ranges |= dict.fromkeys(("spread", "spread_star", "eta", "rho_run", "rho_run_max"), ((0, T - 1),))
        self.paths = [[Path(w0, (w0,) * N, (ONE,) * N, ONE)]]
        self.known: dict[tuple[str, int], fmpq] = {}
        self.running: dict[str, list[fmpq]] = {}

    def minimised(self, w_star: Vector, minimisers: list[Vector]) -> None:
        """Check the minimisers of F and of every F_i: they give F_i*, Gamma (5), gap and dist2."""
        f, p = self.problem.losses, self.problem.p
        if not all(semidefinite(loss.hessian(most=False)) for loss in f):
            raise Rejected("instance.clients: got a loss that is not convex, expected convex ones")
        if any(combine(p, [loss.gradient(w_star) for loss in f])):
            raise Rejected(f"instance.w_star: got {shown(w_star)}, expected the minimiser of F")
        if any(any(loss.gradient(w)) for loss, w in zip(f, minimisers, strict=True)):
            raise Rejected(f"instance.minimisers: got {shown(minimisers)}, expected the minimiser of every F_i")
        self.w_star, self.minimisers = w_star, minimisers
        self.least = tuple(loss.value(w) for loss, w in zip(f, minimisers, strict=True))
        self.values["Gamma"] = dot(p, self.excess(w_star))

    def excess(self, w: Vector) -> Vector:
        """F_i(w) - F_i*."""
        return tuple(loss.value(w) - least for loss, least in zip(self.problem.losses, self.least, strict=True))

    def skew(self, alpha: Vector, w: Vector) -> fmpq:
        """rho (8)."""
        excess = self.excess(w)
        if not dot(self.problem.p, excess):
            raise Rejected(f"rho: got F(w) = sum_i p_i F_i* at {shown(w)}, expected another value (footnote 1)")
        return dot(alpha, excess) / dot(self.problem.p, excess)

    def alpha(self, t: int, path: Path) -> Vector:
        """alpha_t: the round's weights where E | t; otherwise p, unless the round's weights are kept."""
        return path.alpha if t % self.E == 0 or self.rule == "kept" else self.problem.p

    def step(self, t: int, path: Path) -> list[Path]:
        """From t to t + 1, once for every sign of the noise."""
        one, eta, E = self.problem, self.eta[t], self.E
        slopes = [loss.gradient(w) for loss, w in zip(one.losses, path.local, strict=True)]
        noises, odds = [slopes], path.odds
        for i, v in enumerate(one.noise):
            if any(v):
                affordable(2 * len(noises), PATHS, "instance.noise")
                sides = [(combine((ONE, s), (slopes[i], v))) for s in (ONE, -ONE)]
                noises, odds = [[*g[:i], side, *g[i + 1 :]] for g in noises for side in sides], odds / 2
        made: list[Path] = []
        for g in noises:
            local = tuple(combine((ONE, -eta), pair) for pair in zip(path.local, g, strict=True))
            weights = one.p if self.rule == "rounds" else self.alpha(t, path)
            w = combine((ONE, -eta), (path.w, combine(weights, g)))
            if (t if self.rule == "printed" else t + 1) % E == 0:
                w = combine(path.alpha, local)
                local = (w,) * len(local)
            made.append(Path(w, local, path.alpha, odds))
        return made

    def run(self, eta: list[fmpq]) -> None:
        """All T steps; every average begins with the weights that the policy chooses at w_t, E | t."""
        self.eta = eta
        for t in range(self.T):
            if t % self.E == 0:
                chosen = [self.policy(t // self.E, self.excess(path.w)) for path in self.paths[t]]
                self.paths[t] = [
                    Path(x.w, x.local, alpha, x.odds) for x, alpha in zip(self.paths[t], chosen, strict=True)
                ]
            self.paths.append([new for path in self.paths[t] for new in self.step(t, path)])
            if len(self.paths[-1]) > PATHS:
                raise Rejected(f"instance.noise: got more than {PATHS} sign paths, expected fewer steps or less noise")

    def measure(self, other: Weighted | None = None) -> None:
        """Constants of the run: rho_bar, rho_tilde, ..., the least over all paths (largest for rho_tilde)."""
        rounds = [(path.alpha, path.w) for t in range(0, self.T, self.E) for path in self.paths[t]]
        every = [(self.alpha(t, path), path.w) for t in range(self.T) for path in self.paths[t]]
        p, at_w = self.problem.p, [self.skew(*x) for x in rounds]
        weights = [alpha for alpha, _ in rounds]
        ratios = [a / q for alpha in weights for a, q in zip(alpha, p, strict=True)]
        entries = list(chain.from_iterable(weights))
        self.values |= {"rho_bar": min(at_w), "kappa_min": min(ratios), "kappa_max": max(ratios)}
        self.values |= {"alpha_min": min(entries), "alpha_max": max(entries)}
        own = self.least_skew(lambda path: path.alpha)
        best = self.least_skew(lambda path: fedmax(0, self.excess(path.w)))
        self.running = {"rho_run": own, "rho_run_max": best if other is None else other.running["rho_run"]}
        least = [self.skew(*x) for x in every]
        if self.values["Gamma"] > 0:  # otherwise rho(t, w*) is not defined
            least += [self.skew(alpha, self.w_star) for alpha, _ in every]
            self.values["rho_tilde"] = max(self.skew(alpha, self.w_star) for alpha in weights)
        self.values["rho_floor"] = min(least)
        self.assumptions(weights)

    def least_skew(self, weights: Callable[[Path], Vector]) -> list[fmpq]:
        """The least rho(s, w_s) over all paths and s <= t, E | s, for every t."""
        each = [min(self.skew(weights(path), path.w) for path in self.paths[s]) for s in range(0, self.T, self.E)]
        running = list(accumulate(each, min))
        return [running[t // self.E] for t in range(self.T)]

    def assumptions(self, weights: list[Vector]) -> None:
        f, problem, eta = self.problem.losses, self.problem, self.eta
        noise2 = [norm2(v) for v in problem.noise]
        longest = max(x.height_bits() for x in eta)
        spend(self.T * min(self.E, self.T) * price(longest))  # for `slow_decay`
        largest = max(
            norm2(loss.gradient(w)) + noise
            for path in chain.from_iterable(self.paths)
            for loss, w, noise in zip(f, path.local, noise2, strict=True)
        )
        self.facts = {
            "distribution": summed(problem.p) == 1 and min(problem.p) > 0,
            "weights_sum_to_one": all(summed(alpha) == 1 for alpha in weights),
            "nonnegative_weights": min(map(min, weights)) >= 0,
            "positive_weights": min(map(min, weights)) > 0,
            "fedavg_weights": all(alpha == problem.p for alpha in weights),
            "homogeneous": self.values["Gamma"] == 0,
            "heterogeneous": self.values["Gamma"] > 0,
            "at_rest": self.at_rest(),
            "positive_skew": self.values["rho_bar"] > 0,
            "decaying_steps": all(eta[t + 1] <= eta[t] for t in range(self.T - 1)),
            "slow_decay": all(eta[t] <= 2 * eta[s] for s in range(self.T) for t in range(max(0, s - self.E), s)),
            **{f"rule_{rule}": rule == self.rule or self.E == 1 for rule in RULES},
        }
        self.bounds = {
            "smooth": lambda L: all(semidefinite(loss.hessian(most=True), -1, L) for loss in f),
            "strongly_convex": lambda mu: all(semidefinite(loss.hessian(most=False), 1, -mu) for loss in f),
            "bounded_variance": lambda sigma: max(noise2) <= sigma**2,
            "bounded_gradients": lambda G: largest <= G**2,
            "skew_witness": self.skew_witness,
        }

    def skew_witness(self, level: fmpq) -> bool:
        """Two clients, p_1 = 1/level, one round of FedMax from the second client's minimiser."""
        (start,) = self.paths[0]
        two = len(self.problem.p) == 2 and self.problem.p[0] * level == 1 and self.T == self.E
        return two and start.w == self.minimisers[1] and start.alpha == fedmax(0, self.excess(start.w))

    def at_rest(self) -> bool:
        """Whether w_t = w_0 for ever, whatever the steps: E = 1, no noise, and weights that stay cancel the slopes."""
        (start,) = self.paths[0]
        slopes = [loss.gradient(w) for loss, w in zip(self.problem.losses, start.local, strict=True)]
        quiet = self.E == 1 and not any(map(any, self.problem.noise))
        return quiet and self.steady and not any(combine(start.alpha, slopes))

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        (t,) = indices
        if name == "eta":
            return self.eta[t]
        if name in self.running:
            return self.running[name][t]
        if (name, t) not in self.known:
            parts = (path.odds * self.measured(name, t, path) for path in self.paths[t])
            self.known[name, t] = summed(parts)
        return self.known[name, t]

    def measured(self, name: str, t: int, path: Path) -> fmpq:
        match name:
            case "gap":
                return dot(self.problem.p, self.excess(path.w)) - self.values["Gamma"]
            case "dist2":
                return norm2(minus(path.w, self.w_star))
            case _:
                others = path.local if name == "spread" else self.minimisers
                return dot(self.alpha(t, path), [norm2(minus(path.w, x)) for x in others])


def weights(node: Node, N: int, rounds: int) -> tuple[Policy, bool]:
    """The policy, and whether it gives the same point the same weights in every round."""
    if node.kind(("given", "fedmax")) == "fedmax":
        node.fields("kind")
        return fedmax, True
    table = [row.vector(N) for row in node.fields("kind alpha")["alpha"].items(rounds)]

    def policy(r: int, excess: Vector) -> Vector:
        return table[r]

    return policy, all(row == table[0] for row in table)


def read(node: Node, claim: Claim) -> Weighted:
    names = "N d E T p w0 rule weights compare constants clients noise w_star minimisers"
    given = node.fields(names, "parameters steps")
    N, d, E, T = (given[name].integer(1, COUNT) for name in ("N", "d", "E", "T"))
    losses = tuple(KINDS[n.kind(KINDS)](n, d) for n in given["clients"].items(N))
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    signs = given["noise"].fields("kind v" if noisy else "kind")
    noise = tuple(v.vector(d) for v in signs["v"].items(N)) if noisy else ((ZERO,) * d,) * N
    problem = Problem(losses, given["p"].vector(N, least=0), ZERO, noise, False)
    if min(problem.p) == 0:
        raise Rejected("instance.p: got a weight 0, expected positive weights")
    policy, steady = weights(given["weights"], N, T // E)

    def world(policy: Policy) -> Weighted:
        made = Weighted(problem, given["w0"].vector(d), E, T, given["rule"].one_of(RULES), policy, steady)
        made.minimised(given["w_star"].vector(d), [w.vector(d) for w in given["minimisers"].items(N)])
        made.values |= claim.numbers(given["constants"], "", "L mu sigma G")
        taken = {*made.values, *MEASURED, "L", "mu", "sigma", "G"}
        made.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
        made.run(claim.steps(given.get("steps"), made, T, "eta"))
        return made

    run = world(policy)
    if given["compare"].one_of(("same", "own")) == "own":
        other = world(fedmax)
        other.measure()
        run.measure(other)
    else:
        run.measure()
    if ("rho_tilde", -1) in claim.needs() and "rho_tilde" not in run.values:
        raise Rejected("rho_tilde: got Gamma = 0, expected F(w*) > sum_i p_i F_i* (footnote 1)")
    run.facts["same_iterates"] = given["compare"].raw == "same"
    return run
