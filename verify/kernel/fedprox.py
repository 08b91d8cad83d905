"""FedProx, update rule (4.3), under the assumptions of section 4.1 of Buttaci's thesis."""

from __future__ import annotations

from itertools import product

from flint import fmpq

from .claim import Claim
from .expression import World
from .law import Law, Problem, State, work
from .loss import KINDS, ZERO, Vector, combine, minus, norm2, semidefinite
from .rational import Node, Rejected, affordable, shown
from .work import summed

COUNT, STEPS, WORK = 1_000, 100_000, 1_000_000
INPUTS = {"alpha": "nonnegative"}


class FedProx(World):
    """Quantities: gap, dist2 (t <= T); deviation, divergence (t < T, k <= E, client i from 1); gamma, p."""

    gamma: list[fmpq]
    listed = ("gamma", "p")

    def __init__(self, problem: Problem, w0: Vector, E: int, T: int, paths: bool = False, joint: int = 1) -> None:
        C, d, f, p = len(problem.p), len(w0), problem.losses, problem.p
        paths = paths or any(loss.bends for loss in f)
        affordable(E * T * C * d * d, STEPS)
        affordable(work(problem, (E, T, d), joint, paths), WORK)
        self.problem, self.E, self.T = problem, E, T
        self.laws = [Law.start(problem, w0, paths)]
        self.known: dict[tuple[str, tuple[int, ...]], fmpq] = {}
        self.values = {"C": fmpq(C), "E": fmpq(E), "T": fmpq(T), "D": fmpq(d), "alpha": problem.alpha}
        local = ((0, T - 1), (0, E), (1, C))
        self.ranges = {"gamma": ((0, T - 1),), "p": ((1, C),), "deviation": local, "divergence": local}
        self.facts = {
            "full_participation": True,
            "weights_sum_to_one": summed(p) == 1,
            "nonnegative_weights": min(p) >= 0,
            "independent_noise": not problem.shared or C == 1 or not problem.kicks,
        }
        self.bounds = {
            "smooth": self.smooth,
            "strongly_convex": lambda mu: all(semidefinite(loss.hessian(most=False), 1, -mu) for loss in f),
            "bounded_variance": lambda sigma: all(norm2(v) <= sigma**2 for v in problem.noise),
            "bounded_gradients": lambda G: self.largest_gradient2() <= G**2,
        }

    def smooth(self, L: fmpq) -> bool:
        least_most = ((loss.hessian(most=False), loss.hessian(most=True)) for loss in self.problem.losses)
        return all(semidefinite(least, 1, L) and semidefinite(most, -1, L) for least, most in least_most)

    def largest_gradient2(self) -> fmpq:
        """The largest E|g_i(w^i_{t,k})|^2 of the run; the noise of a step is independent of its point."""
        local = product(range(self.T), range(self.E + 1), enumerate(self.problem.losses, 1))
        return max(
            self.law(t, k).expect(lambda w, i=i, f=f: norm2(f.gradient(w[i]))) + norm2(self.problem.noise[i - 1])
            for t, k, (i, f) in local
        )

    def minimised(self, w_star: Vector, minimisers: list[Vector] | None) -> None:
        """Check the minimisers of f and, where given, of every f_i; they give gap, dist2 and Gamma (4.2)."""
        f, p, rows = self.problem.losses, self.problem.p, range(len(w_star))
        H = [loss.hessian(most=weight < 0) for loss, weight in zip(f, p, strict=True)]
        total = tuple(combine(p, [h[r] for h in H]) for r in rows)  # no Hessian of f is smaller
        if any(combine(p, [loss.gradient(w_star) for loss in f])) or not semidefinite(total):
            raise Rejected(f"instance.w_star: got {shown(w_star)}, expected a minimiser of a convex f")
        self.w_star, self.f_star = w_star, self.problem.value(w_star)
        self.ranges |= {"gap": ((0, self.T),), "dist2": ((0, self.T),)}
        for i, (loss, w) in enumerate(zip(f, minimisers or [], strict=minimisers is not None)):
            if any(loss.gradient(w)) or not semidefinite(loss.hessian(most=False)):
                raise Rejected(f"instance.minimisers[{i}]: got {shown(w)}, expected a minimiser of a convex f_{i + 1}")
        if minimisers is not None:
            least = (q * loss.value(w) for q, loss, w in zip(p, f, minimisers, strict=True))
            self.values["Gamma"] = self.f_star - summed(least)

    def law(self, t: int, k: int) -> Law:
        """Of round t after k local steps."""
        while len(self.laws) <= t * (self.E + 1) + k:
            s, done = divmod(len(self.laws) - 1, self.E + 1)
            last = self.laws[-1]
            self.laws.append(last.average() if done == self.E else last.step(self.gamma[s]))
        return self.laws[t * (self.E + 1) + k]

    def mean(self, state: State) -> Vector:
        """w_{t,k} = sum_i p_i w^i_{t,k}."""
        p = self.problem.p
        return combine(p, state[1 : len(p) + 1])

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        if (name, indices) not in self.known:
            self.known[name, indices] = self.measured(name, *indices)
        return self.known[name, indices]

    def measured(self, name: str, t: int, k: int = 0, i: int = 0) -> fmpq:
        p, law = self.problem.p, self.law
        match name:
            case "p":
                return p[t - 1]
            case "gamma":
                return self.gamma[t]
            case "gap":
                return law(t, 0).expect(lambda w: self.problem.value(w[0])) - self.f_star
            case "dist2":
                return law(t, 0).expect(lambda w: norm2(minus(w[0], self.w_star)))
            case "deviation":
                return law(t, k).expect(lambda w: norm2(minus(w[i], w[0])))
            case _:
                return law(t, k).expect(lambda w: norm2(minus(self.mean(w), w[i])))


def read(node: Node, claim: Claim, paths: bool = False) -> FedProx:
    given = node.fields("C d E T p w0 alpha constants clients noise", "parameters steps w_star minimisers")
    C, d, E, T = (given[name].integer(1, COUNT) for name in ("C", "d", "E", "T"))
    losses = tuple(KINDS[n.kind(KINDS)](n, d) for n in given["clients"].items(C))
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    signs = given["noise"].fields("kind shared v" if noisy else "kind")
    noise = tuple(v.vector(d) for v in signs["v"].items(C)) if noisy else ((ZERO,) * d,) * C
    shared = noisy and signs["shared"].flag()
    problem = Problem(losses, given["p"].vector(C), claim.number("alpha", given["alpha"], least=0), noise, shared)
    run = FedProx(problem, given["w0"].vector(d), E, T, paths)
    if "w_star" in given:
        minimisers = [w.vector(d) for w in given["minimisers"].items(C)] if "minimisers" in given else None
        run.minimised(given["w_star"].vector(d), minimisers)
    run.values |= claim.numbers(given["constants"], "", "L mu sigma G")
    taken = {*run.values, "Gamma", "L", "mu", "sigma", "G"}
    run.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    run.gamma = claim.steps(given.get("steps"), run, T)
    return run
