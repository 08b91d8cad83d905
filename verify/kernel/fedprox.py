"""FedProx, update rule (4.3), under the assumptions of section 4.1 of Buttaci's thesis."""

from __future__ import annotations

from itertools import product

from flint import fmpq, fmpq_mat

from .claim import Claim
from .expression import World
from .law import Law, Moments, Paths, Problem, identity, norm2
from .loss import KINDS, ZERO, Vector, semidefinite
from .rational import Malformed, Node, Rejected

COUNT, STEPS = 1_000, 100_000


class FedProx(World):
    """Quantities: gap, dist2 (t <= T); deviation, divergence (t < T, k <= E, client i from 1); gamma, p."""

    gamma: list[fmpq]
    w_star: Vector | None = None

    def __init__(self, problem: Problem, w0: Vector, E: int, T: int, paths: bool = False) -> None:
        C, d = len(problem.p), len(w0)
        if E * T * C * d > STEPS:
            raise Malformed(f"instance: got E T C d = {E * T * C * d}, expected at most {STEPS}")
        self.problem, self.E, self.T = problem, E, T
        paths = paths or any(loss.bends for loss in problem.losses)
        self.laws: list[Law] = [Paths.at(problem, w0) if paths else Moments.at(problem, fmpq_mat(d, 1, list(w0)))]
        self.known: dict[tuple[str, tuple[int, ...]], fmpq] = {}
        self.values = {"C": fmpq(C), "E": fmpq(E), "T": fmpq(T), "D": fmpq(d), "alpha": problem.alpha}
        run = ((0, T - 1), (0, E), (1, C))
        self.ranges = {"gap": ((0, T),), "gamma": ((0, T - 1),), "p": ((1, C),), "deviation": run, "divergence": run}
        self.assumptions = {
            "full_participation": (0, lambda: ""),
            "weights_sum_to_one": (0, lambda: _unless(sum(problem.p, ZERO) == 1, "sum p_i other than 1", "1")),
            "nonnegative_weights": (0, lambda: _unless(min(problem.p) >= 0, "a negative weight", "p_i >= 0")),
            "independent_noise": (0, lambda: _unless(not (problem.shared and len(problem.active) > 1), "shared signs",
                                                     "independent ones")),
            "smooth": (1, self.smooth),
            "strongly_convex": (1, self.strongly_convex),
            "bounded_variance": (1, self.bounded_variance),
            "bounded_gradients": (1, self.bounded_gradients),
        }  # fmt: skip

    def minimised(self, w_star: Vector, minimisers: list[Vector] | None) -> None:
        """Check the minimisers of f and, where given, of every f_i, and set w*, f* and Gamma (4.2)."""
        losses, p = self.problem.losses, self.problem.p
        curvature = fmpq_mat(len(w_star), len(w_star))
        for loss, weight in zip(losses, p, strict=True):
            curvature = curvature + weight * loss.hessian(most=weight < 0)
        if any(self.problem.gradient(w_star)) or not semidefinite(curvature):
            raise Rejected("instance.w_star: got a point or an f that fails, expected a minimiser of a convex f")
        self.w_star, self.f_star = w_star, self.problem.value(w_star)
        self.ranges["dist2"] = ((0, self.T),)
        if minimisers is not None:
            total = self.f_star
            for i, (loss, w, weight) in enumerate(zip(losses, minimisers, p, strict=True)):
                if any(loss.gradient(w)) or not semidefinite(loss.hessian(most=False)):
                    raise Rejected(f"instance.minimisers[{i}]: got {w}, expected a minimiser of a convex f_{i + 1}")
                total -= weight * loss.value(w)
            self.values["Gamma"] = total

    def law(self, t: int, k: int) -> Law:
        """Of round t after k local steps."""
        while len(self.laws) <= t * (self.E + 1) + k:
            s, done = divmod(len(self.laws) - 1, self.E + 1)
            last = self.laws[-1]
            self.laws.append(last.average() if done == self.E else last.step(self.gamma[s]))
        return self.laws[t * (self.E + 1) + k]

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        if (name, indices) not in self.known:
            self.known[name, indices] = self.measured(name, *indices)
        return self.known[name, indices]

    def measured(self, name: str, t: int, k: int = 0, i: int = 0) -> fmpq:
        if name == "p":
            return self.problem.p[t - 1]
        if name == "gamma":
            return self.gamma[t]
        if name == "gap" or name == "dist2":
            if self.w_star is None:
                raise Malformed("instance: got no w_star, expected one, since the claim needs f* or w*")
            start = self.law(t, 0)
            return start.value() - self.f_star if name == "gap" else start.distance2(self.w_star)
        from_start = (fmpq(-1), *(ZERO for _ in self.problem.p))
        weights = list(from_start if name == "deviation" else (ZERO, *(-p for p in self.problem.p)))
        weights[i] += 1
        return self.law(t, k).square(tuple(weights))

    def smooth(self, L: fmpq) -> str:
        bound = L * identity(int(self.values["D"].p))
        for i, f in enumerate(self.problem.losses, 1):
            if not (semidefinite(bound - f.hessian(most=True)) and semidefinite(bound + f.hessian(most=False))):
                return f"got f_{i} with more curvature, expected every f_i {L}-smooth"
        return ""

    def strongly_convex(self, mu: fmpq) -> str:
        bound = mu * identity(int(self.values["D"].p))
        for i, f in enumerate(self.problem.losses, 1):
            if not semidefinite(f.hessian(most=False) - bound):
                return f"got f_{i} with less curvature, expected every f_i {mu}-strongly convex"
        return ""

    def bounded_variance(self, sigma: fmpq) -> str:
        most = max(norm2(v) for v in self.problem.noise)
        return _unless(most <= sigma**2, f"a variance of {most}", f"at most {sigma**2}")

    def bounded_gradients(self, G: fmpq) -> str:
        """E|g_i(w^i_{t,k})|^2 <= G^2 on the run; the noise is independent of the point."""
        for t, k, (i, v) in product(range(self.T), range(self.E + 1), enumerate(self.problem.noise)):
            found = self.law(t, k).gradient2(i) + norm2(v)
            if found > G**2:
                return f"got E|g_{i + 1}|^2 = {found} at t = {t}, k = {k}, expected at most {G**2}"
        return ""


def _unless(holds: bool, got: str, expected: str) -> str:
    return "" if holds else f"got {got}, expected {expected}"


def read(node: Node, claim: Claim, paths: bool = False) -> FedProx:
    given = node.fields("C d E T p w0 alpha constants clients noise", "parameters steps w_star minimisers")
    C, d, E, T = (given[name].integer(1, COUNT) for name in ("C", "d", "E", "T"))
    losses = tuple(KINDS[n.kind(KINDS)](n, d) for n in given["clients"].items(C))
    noise, shared = ((ZERO,) * d,) * C, False
    if given["noise"].kind(("none", "signs")) == "signs":
        signs = given["noise"].fields("kind shared v")
        noise, shared = tuple(v.vector(d) for v in signs["v"].items(C)), signs["shared"].flag()
    else:
        given["noise"].fields("kind")
    problem = Problem(losses, given["p"].vector(C), given["alpha"].rational(least=0), noise, shared)
    run = FedProx(problem, given["w0"].vector(d), E, T, paths)
    if "w_star" in given:
        minimisers = [w.vector(d) for w in given["minimisers"].items(C)] if "minimisers" in given else None
        run.minimised(given["w_star"].vector(d), minimisers)
    constants = given["constants"].fields("", "L mu sigma G")
    run.values |= {name: constant.rational(least=0) for name, constant in constants.items()}
    if "parameters" in given:
        run.values |= claim.parameters(given["parameters"], set(run.values) | {"Gamma", "L", "mu", "sigma", "G"})
    run.gamma = claim.steps(given.get("steps"), run, T)
    return run
