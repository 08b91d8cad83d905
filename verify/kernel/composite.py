"""Composite federated learning, algorithm 1 of zhang, with g = theta |.|_1, under its assumptions 3.1 to 3.4.

Equal clients are one group. Noise is s v with a fair sign s at each of a few steps, so that clients of a group differ
only by their signs: a path is the number of clients of every group with every sequence of signs, and its probability
is multinomial. Clients with one loss and one sequence of signs are a block: they agree for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import comb, factorial, prod

from flint import fmpq

from .claim import Claim
from .expression import World
from .function import LOSSES
from .loss import ZERO, Loss, Matrix, Vector, combine, dot, minus, norm2, semidefinite
from .rational import Malformed, Node, Rejected, shown, small

COUNT, PATHS, WORK = 1_000, 4_096, 200_000
ONE = fmpq(1)


def soft(w: Vector, s: fmpq) -> Vector:
    """P_s for g = |.|_1."""
    return tuple(x - s if x > s else x + s if x < -s else ZERO for x in w)


@dataclass(frozen=True, eq=False)
class Group:
    size: int
    loss: Loss
    v: Vector


@dataclass(frozen=True, eq=False)
class Block:
    """Clients with the same loss and the same signs; the groups' order is kept."""

    group: int
    count: int
    loss: Loss
    kicks: tuple[Vector, ...]  # at the noisy steps


@dataclass(eq=False)
class Round:
    x: Vector
    P: Vector
    c: list[Vector]
    zhat: list[list[Vector]] = field(default_factory=list[list[Vector]])  # by step, by block
    z: list[list[Vector]] = field(default_factory=list[list[Vector]])
    g: list[list[Vector]] = field(default_factory=list[list[Vector]])


@dataclass(frozen=True, eq=False)
class Method:
    groups: tuple[Group, ...]
    theta: fmpq
    eta_t: fmpq  # eta~ = eta eta_g tau
    eta_g: fmpq
    tau: int
    noisy: tuple[int, ...]  # steps, counted through all rounds from 0
    shared: bool

    @cached_property
    def n(self) -> int:
        return sum(group.size for group in self.groups)

    @cached_property
    def weights(self) -> Vector:
        return tuple(fmpq(group.size, self.n) for group in self.groups)

    @cached_property
    def eta(self) -> fmpq:
        return self.eta_t / (self.eta_g * self.tau)

    def value(self, x: Vector) -> fmpq:
        """F."""
        return dot(self.weights, [group.loss.value(x) for group in self.groups]) + self.g(x)

    def g(self, x: Vector) -> fmpq:
        return self.theta * sum(map(abs, x), ZERO)

    def gradient(self, x: Vector) -> Vector:
        """Of f."""
        return combine(self.weights, [group.loss.gradient(x) for group in self.groups])

    def prox(self, w: Vector, s: fmpq) -> Vector:
        return soft(w, s * self.theta)

    def paths(self) -> list[tuple[fmpq, list[Block]]]:
        """Every path with its probability."""
        kinds = list(product((1, -1), repeat=len(self.noisy)))
        many = len(kinds)
        total = many if self.shared else prod(comb(group.size + many - 1, many - 1) for group in self.groups)
        if total > PATHS:
            raise Rejected(f"instance.noise: got {total} paths, expected at most {PATHS}")
        if self.shared:
            ways = ([[group.size * (kind == k) for kind in range(many)] for group in self.groups] for k in range(many))
            return [(fmpq(1, many), self.blocks(counts, kinds)) for counts in ways]
        each = [list(_compositions(group.size, many)) for group in self.groups]
        chosen = ((list(counts), self.blocks(counts, kinds)) for counts in product(*each))
        return [(prod((_chance(part) for part in counts), start=ONE), blocks) for counts, blocks in chosen]

    def blocks(self, counts: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]]) -> list[Block]:
        return [
            Block(k, count, group.loss, tuple(tuple(s * x for x in group.v) for s in signs))
            for k, (group, row) in enumerate(zip(self.groups, counts, strict=True))
            for count, signs in zip(row, kinds, strict=True)
            if count
        ]

    def mean(self, blocks: Sequence[Block], vectors: Sequence[Vector]) -> Vector:
        return combine([fmpq(block.count, self.n) for block in blocks], vectors)

    def stochastic(self, blocks: Sequence[Block], step: int, z: Sequence[Vector]) -> list[Vector]:
        """The blocks' gradients at a step, with its noise."""
        plain = [block.loss.gradient(w) for block, w in zip(blocks, z, strict=True)]
        if step not in self.noisy:
            return plain
        kicks = (block.kicks[self.noisy.index(step)] for block in blocks)
        return [combine((ONE, ONE), pair) for pair in zip(plain, kicks, strict=True)]

    def run(self, blocks: list[Block], x: Vector, rounds: int) -> list[Round]:
        """Algorithm 1, and after the last round one more that has only begun."""
        c, made = [tuple(ZERO for _ in x)] * len(blocks), list[Round]()
        for r in range(rounds):
            now = Round(x, self.prox(x, self.eta_t), c)
            now.zhat.append([now.P] * len(blocks))
            now.z.append([now.P] * len(blocks))
            for t in range(self.tau):
                now.g.append(self.stochastic(blocks, r * self.tau + t, now.z[t]))
                terms = zip(now.zhat[t], now.g[t], c, strict=True)
                now.zhat.append([tuple(map(small, combine((ONE, -self.eta, -self.eta), three))) for three in terms])
                now.z.append([self.prox(w, (t + 1) * self.eta) for w in now.zhat[t + 1]])
            x = combine((1 - self.eta_g, self.eta_g), (now.P, self.mean(blocks, now.zhat[self.tau])))
            back = tuple(y / self.eta_t for y in minus(now.P, x))
            c = [minus(back, combine([fmpq(1, self.tau)] * self.tau, own)) for own in zip(*now.g, strict=True)]
            made.append(now)
        return [*made, Round(x, self.prox(x, self.eta_t), c)]

    def compact(self, blocks: list[Block], x: Vector, rounds: int) -> list[Round]:
        """The compact form (2): directions from the gradients of the round before, no corrections."""
        before, made = [[tuple(ZERO for _ in x)] * len(blocks)] * self.tau, list[Round]()
        sums = [fmpq(1, self.tau)] * self.tau
        for r in range(rounds):
            own = [combine(sums, g) for g in zip(*before, strict=True)]
            ahead = [minus(self.mean(blocks, own), g) for g in own]
            P = self.prox(x, self.eta_t)
            now = Round(x, P, ahead, [[P] * len(blocks)], [[P] * len(blocks)])
            for t in range(self.tau):
                now.g.append(self.stochastic(blocks, r * self.tau + t, now.z[t]))
                moved = zip(now.zhat[t], now.g[t], ahead, strict=True)
                now.zhat.append(
                    [minus(w, tuple(self.eta * (a + b) for a, b in zip(g, c, strict=True))) for w, g, c in moved]
                )
                now.z.append([self.prox(w, (t + 1) * self.eta) for w in now.zhat[t + 1]])
            total = combine([self.eta_g * self.eta] * self.tau, [self.mean(blocks, g) for g in now.g])
            x, before = minus(P, total), now.g
            made.append(now)
        return [*made, Round(x, self.prox(x, self.eta_t), [])]


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _chance(counts: Sequence[int]) -> fmpq:
    """Of these numbers of clients with each of the equally likely sequences of signs."""
    total = sum(counts)
    return fmpq(factorial(total), prod(map(factorial, counts)) * len(counts) ** total)


class Composite(World):
    """Expectations over all paths by round r from 1; values on each path w from 1 where every group is one client."""

    def __init__(self, method: Method, x: Vector, T: int, b: int) -> None:
        self.method, self.T, self.d = method, T, len(x)
        paths = method.paths()
        if (work := len(paths) * T * method.tau * len(paths[0][1]) * self.d) > WORK:
            raise Malformed(f"instance: got {work} steps, expected at most {WORK}")
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
            return sum((self.quantity("G2", (r,)) for r in range(1, at[0] + 1)), ZERO) / at[0]
        if name == "sub_max":
            return max(
                self.once(name, at[0], run, blocks) for run, (_, blocks) in zip(self.runs, self.paths, strict=True)
            )
        return self.expect(lambda run, blocks: self.once(name, at[0], run, blocks))

    def expect(self, of: Callable[[list[Round], list[Block]], fmpq]) -> fmpq:
        return sum((q * of(run, blocks) for run, (q, blocks) in zip(self.runs, self.paths, strict=True)), ZERO)

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
                return sum((dot(self.counts(blocks), [norm2(minus(w, now.P)) for w in z]) for z in now.z[:-1]), ZERO)
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
                each = [
                    sum((norm2(minus(z[k], now.P)) for z in now.z[: place[1] + 1]), ZERO) for k in range(len(blocks))
                ]
            return sum((share * b.count * x for b, x in zip(blocks, each, strict=True) if b.group == mine), ZERO)

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


# --- F = f + theta |x| on the line: minimum, curvature, prox-PL ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line:
    """f is quadratic between two kinks, and 0 is one of them."""

    method: Method

    @cached_property
    def kinks(self) -> list[fmpq]:
        bends = [bend for group in self.method.groups for bend in group.loss.bends]
        return sorted({ZERO, *(x for _, lo, hi, c in bends for x in (c - lo, c + hi))})

    @cached_property
    def ends(self) -> list[fmpq]:
        """The kinks with a point beyond each end."""
        return [self.kinks[0] - 1, *self.kinks, self.kinks[-1] + 1]

    def slope(self, x: fmpq) -> fmpq:
        return self.method.gradient((x,))[0]

    def value(self, x: fmpq) -> fmpq:
        return self.method.value((x,))

    def curvatures(self) -> list[fmpq]:
        return [(self.slope(b) - self.slope(a)) / (b - a) for a, b in pairwise(self.ends)]

    def lowest(self) -> fmpq:
        """A global minimiser: the best of all kinks and stationary points."""
        theta, first, last = self.method.theta, self.kinks[0], self.kinks[-1]
        left, right = self.slope(first) - theta, self.slope(last) + theta
        low, *_, high = self.curvatures()
        if low < 0 or high < 0 or (low == 0 and left > 0) or (high == 0 and right < 0):
            raise Rejected("instance.groups: got an F that falls for ever, expected one bounded below")
        found = list(self.kinks)
        found += [first - left / low] if left > 0 else []
        found += [last - right / high] if right < 0 else []
        for a, b in pairwise(self.kinks):
            side = theta if a >= 0 else -theta
            down, up = self.slope(a) + side, self.slope(b) + side
            found += [a - down * (b - a) / (up - down)] if down < 0 < up else []
        return min(found, key=self.value)

    def prox_pl(self, mu: fmpq, f_star: fmpq) -> bool:
        """Whether mu (F - F*) <= D_g(x, mu) / 2 everywhere, assumption 3.3 (2): on pieces, a quadratic against 0."""
        if mu <= 0:
            return False
        theta = self.method.theta
        cuts = set(self.kinks)
        for n, (a, b) in enumerate(pairwise(self.ends)):  # where the minimiser y of D_g changes its sign or stays at 0
            ya, yb = a - self.slope(a) / mu, b - self.slope(b) / mu
            for level in (theta / mu, -theta / mu):
                if ya != yb:
                    x = a + (level - ya) * (b - a) / (yb - ya)
                    inside = (n == 0 or a <= x) and (n == len(self.ends) - 2 or x <= b)
                    cuts |= {x} if inside else set()

        def room(x: fmpq) -> fmpq:
            y = soft((x - self.slope(x) / mu,), theta / mu)[0]
            model = self.slope(x) * (y - x) + mu * (y - x) ** 2 / 2 + theta * (abs(y) - abs(x))
            return -model - (self.value(x) - f_star)

        points = sorted(cuts)
        inner = all(_nonnegative(room(a), room((a + b) / 2), room(b), bounded=True) for a, b in pairwise(points))
        ends = ((points[0], -1), (points[-1], 1))
        return inner and all(_nonnegative(*(room(x + k * side) for k in range(3)), bounded=False) for x, side in ends)


def _nonnegative(p: fmpq, q: fmpq, r: fmpq, bounded: bool) -> bool:
    """Whether the quadratic with values p, q, r at 0, 1, 2 is >= 0 on [0, 2], or on [0, inf)."""
    a, b = (p - 2 * q + r) / 2, (4 * q - 3 * p - r) / 2  # a s^2 + b s + p
    if p < 0 or (bounded and r < 0) or (not bounded and (a < 0 or (a == 0 and b < 0))):
        return False
    inside = a > 0 and b < 0 and (not bounded or -b < 4 * a)
    return not inside or 4 * a * p >= b * b


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
    eta_t, eta_g = (given[name].rational() for name in ("eta_t", "eta_g"))
    if not groups or eta_t <= 0 or eta_g <= 0 or len(set(steps)) < len(steps):
        raise Malformed("instance: got no group, a step size <= 0 or a noisy step twice, expected none of these")
    theta, shared = given["theta"].rational(least=0), noisy and signs["shared"].flag()
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
    constants = given["constants"].fields("", "L mu mu_sc sigma B_g")
    made.values |= {name: constant.rational(least=0) for name, constant in constants.items()}
    taken = {*made.values, "L", "mu", "mu_sc", "sigma", "B_g"}
    made.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    made.facts["mu_at_most_L"] = made.values.get("mu", ONE) <= made.values.get("L", ZERO)
    return made
