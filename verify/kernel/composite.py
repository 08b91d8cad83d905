"""Composite federated learning, algorithm 1 of zhang, with g = theta |.|_1, under its assumptions 3.1 to 3.4."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from flint import fmpq

from .claim import Claim
from .composite_run import Block, Group, Method, Round
from .expression import World
from .function import LOSSES
from .line import Line
from .loss import DENSE, ONE, ZERO, Matrix, Vector, combine, dot, minus, norm2, semidefinite
from .rational import Malformed, Node, Rejected, affordable, shown
from .work import summed

COUNT, WORK = 1_000, 200_000
INPUTS = {"theta": "nonnegative", "eta_t": "positive", "eta_g": "positive"}


class Composite(World):
    """Expectations over all paths by round r from 1; values on each path w from 1 where every group is one client."""

    def __init__(self, method: Method, x: Vector, T: int, b: int) -> None:
        self.method, self.T, self.d = method, T, len(x)
        paths = method.paths()
        affordable(len(paths) * T * method.tau * len(paths[0][1]) * self.d, WORK)
        self.paths, self.x = paths, x
        self.known: dict[tuple[str, tuple[int, ...]], fmpq] = {}
        n, tau, losses = method.n, method.tau, [group.loss for group in method.groups]
        self.values = {"n": fmpq(n), "tau": fmpq(tau), "T": fmpq(T), "D": fmpq(self.d), "b": fmpq(b)}
        self.values |= {"eta_t": method.eta_t, "eta_g": method.eta_g, "theta": method.theta}
        once, after, clients = ((1, T),), ((1, T + 1),), (1, n)
        self.ranges = dict.fromkeys(
            ["G2", "mean_G2", "drift", "vdev", "step2", "vstep2", "vlevel", "sub_inner", "sub_g", "sub_max"], once
        )
        self.ranges |= dict.fromkeys(("lam2", "level"), after)
        self.ranges |= {"S": ((1, T), (0, tau - 1), clients), "lam2_i": ((1, T + 1), clients)}
        if all(group.size == 1 for group in method.groups):
            w, j = (1, len(paths)), (1, self.d)
            self.values["W"] = fmpq(len(paths))
            self.ranges |= dict.fromkeys(("xbar", "xbar_c", "post", "post_v"), ((1, T + 1), w, j))
            self.ranges["post_v"] = ((1, T), w, j)
            self.ranges |= dict.fromkeys(("zhat", "zhat_c"), ((1, T), (0, tau), w, clients, j))
            self.ranges["corr"] = ((1, T + 1), w, clients, j)
        self.facts = {
            "independent_noise": not method.shared or n == 1 or not method.noisy,
            "one_client": n == 1,
            "full_gradients": not method.noisy,
            "stationary_start": False,
        }
        self.bounds = {
            "bounded_subgradients": lambda B: B >= 0 and method.theta**2 * self.d <= B**2,
            "descent": lambda L: all(semidefinite(loss.hessian(most=True), -1, L) for loss in losses),
            "two_sided": lambda L: all(semidefinite(loss.hessian(most=False), 1, L) for loss in losses),
            "bounded_variance": lambda s: all(norm2(group.v) * b <= s**2 for group in method.groups),
        }

    @cached_property
    def runs(self) -> list[list[Round]]:
        return [self.method.run(blocks, self.x, self.T) for _, blocks in self.paths]

    @cached_property
    def compact_runs(self) -> list[list[Round]]:
        return [self.method.compact(blocks, self.x, self.T) for _, blocks in self.paths]

    def least(self, x_star: Vector, prox_pl: Callable[[fmpq], bool], strongly: Callable[[fmpq], bool]) -> None:
        """`x_star` is known to minimise F."""
        self.x_star, self.f_star = x_star, self.method.value(x_star)
        self.ranges |= dict.fromkeys(("Omega", "Omega_sc", "gap"), ((1, self.T + 1),))
        self.bounds |= {"prox_pl": prox_pl, "strongly_convex": strongly}

    def stationary(self, x_star: Vector) -> None:
        """Whether the run starts at x* - eta~ grad f(x*) for a point x* with -grad f(x*) a subgradient of g."""
        slope, theta = self.method.gradient(x_star), self.method.theta
        still = all(
            -g == theta * ((x > 0) - (x < 0)) if x else abs(g) <= theta for g, x in zip(slope, x_star, strict=True)
        )
        begun = self.x == minus(x_star, tuple(self.method.eta_t * g for g in slope))
        self.facts["stationary_start"] = still and begun
        self.point, self.ranges["x_stat"] = x_star, ((1, self.d),)

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        if (name, indices) not in self.known:
            self.known[name, indices] = self.measured(name, indices)
        return self.known[name, indices]

    def measured(self, name: str, at: tuple[int, ...]) -> fmpq:
        if name == "x_stat":
            return self.point[at[0] - 1]
        if name in ("xbar", "xbar_c", "post", "post_v", "zhat", "zhat_c", "corr"):
            return self.on_path(name, at)
        if name in ("S", "lam2_i"):
            return self.of_client(name, at)
        if name == "mean_G2":
            return summed(self.quantity("G2", (r,)) for r in range(1, at[0] + 1)) / at[0]
        if name == "sub_max":
            return max(
                self.once(name, at[0], run, blocks) for run, (_, blocks) in zip(self.runs, self.paths, strict=True)
            )
        return self.expect(lambda run, blocks: self.once(name, at[0], run, blocks))

    def expect(self, of: Callable[[list[Round], list[Block]], fmpq]) -> fmpq:
        return summed(q * of(run, blocks) for run, (q, blocks) in zip(self.runs, self.paths, strict=True))

    def once(self, name: str, r: int, run: list[Round], blocks: list[Block]) -> fmpq:
        """A quantity of round r on one path."""
        one, now = self.method, run[r - 1]
        slope = one.gradient(now.P)
        shifted = minus(now.P, tuple(one.eta_t * x for x in slope))
        ahead = one.prox(shifted, one.eta_t)  # the virtual iterate (4)
        match name:
            case "gap":
                return one.value(now.P) - self.f_star
            case "level":
                return one.value(now.P)
            case "vlevel":
                return one.value(ahead)
            case "vstep2":
                return norm2(minus(ahead, now.P))
            case "G2":
                return norm2(minus(ahead, now.P)) / one.eta_t**2
            case "step2":
                return norm2(minus(run[r].P, now.P))
            case "vdev":
                direction = combine([fmpq(1, one.tau)] * one.tau, [one.mean(blocks, g) for g in now.g])
                return norm2(minus(direction, slope))
            case "drift":
                return summed(dot(self.counts(blocks), [norm2(minus(w, now.P)) for w in z]) for z in now.z[:-1])
            case "lam2":
                return dot(self.counts(blocks), self.lambdas(r, run, blocks))
            case "Omega":
                return one.value(now.P) - self.f_star + self.once("lam2", r, run, blocks) / (one.n * one.eta_t)
            case "Omega_sc":
                return norm2(minus(now.P, self.x_star)) + self.once("lam2", r, run, blocks) / one.n
            case _:
                # s = G(P) - grad f(P) is in the subdifferential of theta |.|_1 at the virtual iterate if and only if
                # s'x = theta |x|_1 there and |s|_inf <= theta
                s = tuple(x / one.eta_t for x in minus(shifted, ahead))
                return {"sub_inner": dot(s, ahead), "sub_g": one.g(ahead), "sub_max": max(map(abs, s))}[name]

    def counts(self, blocks: list[Block]) -> list[fmpq]:
        return [fmpq(block.count) for block in blocks]

    def lambdas(self, r: int, run: list[Round], blocks: list[Block]) -> list[fmpq]:
        """|Lambda_i^r - mean|^2 by block, (10)."""
        one, now = self.method, run[r - 1]
        before = run[r - 2].g if r > 1 else [[tuple(ZERO for _ in now.P)] * len(blocks)] * one.tau
        sums = [ONE] * one.tau
        own = [combine(sums, g) for g in zip(*before, strict=True)]
        average = one.mean(blocks, own)
        rule = (one.eta * one.tau, one.eta, -one.eta)
        made = [combine(rule, (b.loss.gradient(now.P), average, g)) for b, g in zip(blocks, own, strict=True)]
        middle = one.mean(blocks, made)
        return [norm2(minus(x, middle)) for x in made]

    def of_client(self, name: str, at: tuple[int, ...]) -> fmpq:
        """Of client i: clients of one group have the same law, so the mean over the group."""
        *place, i = at
        ends = [sum(group.size for group in self.method.groups[: k + 1]) for k in range(len(self.method.groups))]
        mine = next(k for k, end in enumerate(ends) if i <= end)
        share = fmpq(1, self.method.groups[mine].size)

        def of(run: list[Round], blocks: list[Block]) -> fmpq:
            now = run[place[0] - 1]
            if name == "lam2_i":
                each = self.lambdas(place[0], run, blocks)
            else:
                each = [summed(norm2(minus(z[k], now.P)) for z in now.z[: place[1] + 1]) for k in range(len(blocks))]
            return summed(share * b.count * x for b, x in zip(blocks, each, strict=True) if b.group == mine)

        return self.expect(of)

    def on_path(self, name: str, at: tuple[int, ...]) -> fmpq:
        one, r, j = self.method, at[0], at[-1] - 1
        w = at[2 if name.startswith("zhat") else 1] - 1
        now = (self.compact_runs if name.endswith("_c") else self.runs)[w][r - 1]
        match name:
            case "zhat" | "zhat_c":
                return now.zhat[at[1]][at[3] - 1][j]
            case "corr":
                return now.c[at[2] - 1][j]
            case "xbar" | "xbar_c":
                return now.x[j]
            case "post":
                return now.P[j]
            case _:
                blocks = self.paths[w][1]
                v = combine([one.eta_t / one.tau] * one.tau, [one.mean(blocks, g) for g in now.g])
                return one.prox(minus(now.P, v), one.eta_t)[j]

    def probe(self, x: Vector, v: Vector, z: Vector) -> None:
        """One proximal step from x in the direction v, compared with z: fact 1."""
        one, eta = self.method, self.method.eta_t
        plus = one.prox(minus(x, tuple(eta * y for y in v)), eta)
        towards = minus(plus, z)
        self.values |= {
            "F_plus": one.value(plus),
            "F_z": one.value(z),
            "grad_inner": dot(minus(one.gradient(x), v), towards),
            "step_inner": dot(minus(plus, x), towards),
            "plus2": norm2(minus(plus, x)),
            "z2": norm2(minus(z, x)),
        }


# --- reading ---------------------------------------------------------------------------------------------------------


def _plane(made: Composite, x_star: Vector) -> None:
    """A convex quadratic f in any dimension with its minimiser, which is checked."""
    one, rows = made.method, range(made.d)
    H: Matrix = tuple(combine(one.weights, [group.loss.A[r] for group in one.groups]) for r in rows)
    slope = one.gradient(x_star)
    least = all(
        -g == one.theta * ((x > 0) - (x < 0)) if x else abs(g) <= one.theta for g, x in zip(slope, x_star, strict=True)
    )
    if any(group.loss.bends for group in one.groups) or not semidefinite(H) or not least:
        raise Rejected(f"instance.x_star: got {shown(x_star)}, expected a minimiser of a convex quadratic f plus g")

    def strongly(mu: fmpq) -> bool:
        return semidefinite(H, 1, -mu)

    def prox_pl(mu: fmpq) -> bool:
        """Strong convexity suffices; without g it is enough that no curvature lies between 0 and mu."""
        square = tuple(tuple(dot(H[r], H[s]) - mu * H[r][s] for s in rows) for r in rows)
        return mu > 0 and (strongly(mu) or (one.theta == 0 and semidefinite(square)))

    made.least(x_star, prox_pl, strongly)


def _needs_minimum(claim: Claim) -> bool:
    named = {name for name, _ in (*claim.needs(), *claim.let)}
    return bool(named & {"Omega", "Omega_sc", "gap", "prox_pl", "strongly_convex"})


def read(node: Node, claim: Claim) -> Composite:
    given = node.fields("d tau T b groups x1 theta eta_t eta_g constants noise", "parameters x_star x_stat probe")
    d, tau, T, b = (given[name].integer(1, COUNT) for name in ("d", "tau", "T", "b"))
    groups: list[Group] = []
    for entry in given["groups"].items():
        one = entry.fields("size loss", "v")
        loss = LOSSES[one["loss"].kind(LOSSES)](one["loss"], d)
        groups.append(Group(one["size"].integer(1, COUNT), loss, one["v"].vector(d) if "v" in one else (ZERO,) * d))
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    signs = given["noise"].fields("kind steps shared" if noisy else "kind")
    steps = tuple(step.integer(0, T * tau - 1) for step in signs["steps"].items()) if noisy else ()
    eta_t, eta_g = (claim.number(name, given[name]) for name in ("eta_t", "eta_g"))
    affordable(len(groups) * d**3, DENSE, "instance.groups")
    if not groups or eta_t <= 0 or eta_g <= 0 or len(set(steps)) < len(steps):
        raise Malformed("instance: got no group, a step size <= 0 or a noisy step twice, expected none of these")
    theta, shared = claim.number("theta", given["theta"], least=0), noisy and signs["shared"].flag()
    method = Method(tuple(groups), theta, eta_t, eta_g, tau, steps, shared)
    made = Composite(method, given["x1"].vector(d), T, b)
    if d == 1:
        line = Line(method)
        if _needs_minimum(claim):
            least = line.lowest()
            f_star = line.value(least)
            made.least((least,), lambda mu: line.prox_pl(mu, f_star), lambda mu: min(line.curvatures()) >= mu)
    elif "x_star" in given:
        _plane(made, given["x_star"].vector(d))
    if "x_stat" in given:
        made.stationary(given["x_stat"].vector(d))
    if "probe" in given:
        probe = given["probe"].fields("x v z")
        made.probe(*(probe[name].vector(d) for name in ("x", "v", "z")))
    made.values |= claim.numbers(given["constants"], "", "L mu mu_sc sigma B_g")
    taken = {*made.values, "L", "mu", "mu_sc", "sigma", "B_g"}
    made.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    made.facts["mu_at_most_L"] = made.values.get("mu", ONE) <= made.values.get("L", ZERO)
    return made
