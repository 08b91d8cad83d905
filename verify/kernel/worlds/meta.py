"""Users' losses, their meta-functions, data on a finite set, and estimates of a meta-gradient, by enumeration.

Data point z has l_z(w) = sum_j base_j(w_j) + a_zj w_j + b_zj eta_j(w_j), drawn by user i with probability p[i][z].
Hessians are diagonal: the spectral norm is the largest entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

from flint import fmpq

from ..core.budget import summed
from ..core.claim import Claim
from ..core.loss import ONE, ZERO, Vector, combine, dot, minus, norm2
from ..core.rational import Node, Rejected, affordable
from ..core.world import Reader, World, named, tabled
from ..losses.draws import batches, number
from ..losses.spline import LINE, Cubic, Spline, hessian_spread, mix, spread, steepest2
from ..losses.spline import read as read_spline

COUNT, SIZE, WORK = 20, 200, 1_000_000
Loss = list[Spline]  # one a coordinate
INPUTS = {"alpha": "nonnegative", "delta": "positive"}


def gradient(f: Loss, w: Vector) -> Vector:
    return tuple(part.slope(x) for part, x in zip(f, w, strict=True))


def hessian(f: Loss, w: Vector) -> Vector:
    """Its diagonal."""
    return tuple(part.bend(x) for part, x in zip(f, w, strict=True))


def top2(x: Vector) -> fmpq:
    """The square of a diagonal matrix's spectral norm."""
    return max(y * y for y in x)


def along(w: Vector, step: fmpq, v: Vector) -> Vector:
    return combine((ONE, step), (w, v))


def meta(f: Loss, w: Vector, alpha: fmpq) -> Vector:
    """(5)."""
    inner = gradient(f, along(w, -alpha, gradient(f, w)))
    return tuple((1 - alpha * h) * g for h, g in zip(hessian(f, w), inner, strict=True))


def rate(f: Spline, w: fmpq, alpha: fmpq) -> fmpq:
    """The derivative of f(w - alpha f'(w)), from the polynomials themselves: the coefficient of h for small h > 0."""
    here = f.local(w)
    inner = [w - alpha * here[1], 1 - 2 * alpha * here[2], -3 * alpha * here[3]]  # w + h - alpha f'(w + h)
    there: Cubic = f.local(inner[0])
    total, power = [ZERO] * 7, [ONE]
    for c in there:
        total = [x + c * (power[n] if n < len(power) else 0) for n, x in enumerate(total)]
        power = [
            summed(power[n - s] * step for s, step in ((1, inner[1]), (2, inner[2])) if 0 <= n - s < len(power))
            for n in range(len(power) + 2)
        ]
    return total[1]


def _parts(claim: Claim) -> list[str]:
    """What an instance says only where the claim asks for it; `f` only where the claim leaves open what f is."""
    named = {name for name, _ in claim.needs} | {name for name, _ in claim.assumptions}
    return [part for part, uses in PARTS.items() if named & uses]


PARTS = {
    "u": {"moved2", "mean_moved2", "apart2"},
    "v": {"central", "hv", "v"},
    "f": {"average", "total"},
    "metric": {"metric", "lipschitz_in_z", "hessian_lipschitz_in_z", "W1"},
    "flows": {"W1"},
    "potentials": {"W1"},
}


@dataclass(frozen=True, eq=False)
class Meta:
    """What an instance gives. `numbers` are its scalars; `given` holds what is read only where a claim asks for it."""

    base: list[Spline]
    eta: list[Spline]
    a: list[Vector]
    b: list[Vector]
    p: list[Vector]
    w: Vector
    u: Vector
    v: Vector
    sizes: dict[str, int]
    average: bool
    numbers: dict[str, fmpq]
    given: dict[str, Node]

    def value(self, name: str) -> fmpq:
        return named(self.numbers, name)

    @cached_property
    def users(self) -> list[Loss]:
        return [self.loss(q) for q in self.p]

    @cached_property
    def points(self) -> list[Loss]:
        return [self.loss(q) for q in _units(len(self.a))]

    def loss(self, q: Vector) -> Loss:
        """sum_z q_z l_z."""
        tilt, scale = combine(q, self.a), combine(q, self.b)
        return [mix((ONE, x, y), (f, LINE, eta)) for x, y, f, eta in zip(tilt, scale, self.base, self.eta, strict=True)]

    @property
    def pieces(self) -> int:
        """The size of one gradient."""
        return sum(1 + len(part.knots) for part in self.users[0])

    @property
    def even(self) -> Vector:
        return (fmpq(1, len(self.p)),) * len(self.p)

    @property
    def tilts(self) -> tuple[list[Vector], list[Vector]]:
        """a and b of the users' losses."""
        return [combine(q, self.a) for q in self.p], [combine(q, self.b) for q in self.p]

    @cached_property
    def reach(self) -> list[tuple[fmpq, fmpq]]:
        """The least and the largest eta_j'."""
        slopes = [eta.slopes() for eta in self.eta]
        if None in slopes:
            raise Rejected("instance.eta: got an unbounded gradient, expected a bounded one")
        return [ends for ends in slopes if ends is not None]

    def scales(self) -> Vector:
        """sup |eta_j''|."""
        return tuple(x if (x := eta.smoothness()) is not None else _unbounded() for eta in self.eta)

    @cached_property
    def metric(self) -> list[Vector]:
        m = len(self.a)
        rows = [row.vector(m, least=0) for row in self.given["metric"].items(m)]
        every = range(m)
        if any(rows[x][y] != rows[y][x] or (rows[x][y] == 0) != (x == y) for x in every for y in every):
            raise self.given["metric"].malformed("symmetric distances, positive between different points")
        if any(rows[x][z] > rows[x][y] + rows[y][z] for x in every for y in every for z in every):
            raise self.given["metric"].malformed("the triangle inequality")
        return rows

    def lipschitz_in_z(self, L: fmpq) -> bool:
        """(15): |grad l_x(w) - grad l_y(w)| <= L d(x, y) for all w."""
        for x in range(len(self.a)):
            for y in range(x):
                a, b = minus(self.a[x], self.a[y]), minus(self.b[x], self.b[y])
                far = summed(max((a[j] + b[j] * e) ** 2 for e in ends) for j, ends in enumerate(self.reach))
                if far > (L * self.metric[x][y]) ** 2:
                    return False
        return True

    def hessian_lipschitz_in_z(self, L: fmpq) -> bool:
        pairs = [(x, y) for x in range(len(self.a)) for y in range(x)]
        off = {
            (x, y): [h * s for h, s in zip(minus(self.b[x], self.b[y]), self.scales(), strict=True)] for x, y in pairs
        }
        return all(top2(tuple(row)) <= (L * self.metric[x][y]) ** 2 for (x, y), row in off.items())

    def offsets(self) -> list[Vector]:
        mean = combine(self.even, self.p)
        return [minus(q, mean) for q in self.p]

    def distances(self) -> Vector:
        """W_1(p_i, p): a flow that moves the masses and a potential, of the same value; so both are optimal."""
        m, costs = len(self.a), list[fmpq]()
        parts = (self.given[name].items(len(self.p)) for name in ("flows", "potentials"))
        for off, flow, potential in zip(self.offsets(), *parts, strict=True):
            moved, g = [row.vector(m, least=0) for row in flow.items(m)], potential.vector(m)
            net = [summed(moved[z]) - summed(row[z] for row in moved) for z in range(m)]
            if net != list(off) or any(abs(g[x] - g[y]) > self.metric[x][y] for x in range(m) for y in range(x)):
                raise Rejected(f"{flow.where}: expected a flow between the distributions and a 1-Lipschitz potential")
            cost = summed(dot(row, far) for row, far in zip(moved, self.metric, strict=True))
            if cost != dot(g, off):
                raise Rejected(f"{flow.where}: got the costs {cost} and {dot(g, off)}, expected the same: W_1")
            costs.append(cost)
        return tuple(costs)

    # --- what statements speak of ------------------------------------------------------------------------------------

    def similarity(self, of: Callable[[Loss, Vector], Vector], norm: Callable[[Vector], fmpq]) -> fmpq:
        """(1/n) sum_i |x_i - x|^2, x the average of the x_i, or their sum."""
        each = [of(f, self.w) for f in self.users]
        mean = combine(self.even if self.average else (ONE,) * len(each), each)
        return dot(self.even, [norm(minus(x, mean)) for x in each])

    def meta_of(self, f: Loss, w: Vector) -> Vector:
        return meta(f, w, self.value("alpha"))

    def moved(self) -> list[Vector]:
        return [minus(self.meta_of(f, self.w), self.meta_of(f, self.u)) for f in self.users]

    def outcomes(self, kind: str) -> Iterator[tuple[Vector, fmpq]]:
        """Every value of an estimate of grad F_1(w), and its probability; batches are independent."""
        q, w, alpha, point = self.p[0], self.w, self.value("alpha"), [gradient(f, self.w) for f in self.points]
        alone = kind in ("FO", "shared")  # no third batch
        sizes = [self.sizes[name] for name in ("D0", "D1", *(() if alone else ("D2",)))]
        affordable(prod(number(q, size) for size in sizes) * self.pieces, WORK, "instance.sizes")
        for first, P in batches(q, self.sizes["D0"]):
            at = along(w, -alpha, combine(first, point))
            outer = [gradient(f, at) for f in self.points]
            for second, P1 in batches(q, self.sizes["D1"]):
                g = combine(second, outer)
                for third, P2 in [(second, ONE)] if alone else batches(q, self.sizes["D2"]):
                    yield self.estimate(kind, g, third), P * P1 * P2

    def estimate(self, kind: str, g: Vector, third: Vector) -> Vector:
        """(112), (120), or (8) with the Hessian of `third`."""
        if kind == "FO":
            return g
        f, alpha = self.loss(third), self.value("alpha")
        if kind == "HF":
            delta = self.step()
            apart = minus(gradient(f, along(self.w, delta, g)), gradient(f, along(self.w, -delta, g)))
            return along(g, -alpha / (2 * delta), apart)
        return tuple((1 - alpha * h) * x for h, x in zip(hessian(f, self.w), g, strict=True))

    def step(self) -> fmpq:
        if (delta := self.value("delta")) <= 0:
            raise Rejected(f"delta: got {delta}, expected it positive")
        return delta

    def bias2(self, kind: str) -> fmpq:
        outcomes = list(self.outcomes(kind))
        return norm2(minus(combine([P for _, P in outcomes], [x for x, _ in outcomes]), self.target()))

    def mse(self, kind: str) -> fmpq:
        target = self.target()
        return summed(P * norm2(minus(x, target)) for x, P in self.outcomes(kind))

    def target(self) -> Vector:
        return self.meta_of(self.users[0], self.w)

    def hessian_error(self) -> fmpq:
        """E|e_1|^2 of (30b)."""
        true, total = hessian(self.users[0], self.w), ZERO
        affordable(number(self.p[0], self.sizes["D2"]) * self.pieces, WORK, "instance.sizes")
        for third, P in batches(self.p[0], self.sizes["D2"]):
            total += P * top2(minus(hessian(self.loss(third), self.w), true))
        return self.value("alpha") ** 2 * total

    def central(self) -> Vector:
        f, delta = self.users[0], self.step()
        return minus(gradient(f, along(self.w, delta, self.v)), gradient(f, along(self.w, -delta, self.v)))


def steepest(f: Loss, B: fmpq) -> bool:
    most = steepest2(f)
    return most is not None and most <= B * B


def bent(f: Loss, L: fmpq) -> bool:
    return all((x := part.smoothness()) is not None and x <= L for part in f)


def inner(o: Meta) -> Vector:
    """grad f_1(w - alpha grad f_1(w))."""
    f = o.users[0]
    return gradient(f, along(o.w, -o.value("alpha"), gradient(f, o.w)))


def _unbounded() -> fmpq:
    raise Rejected("instance.eta: got an unbounded Hessian, expected a bounded one")


def _units(m: int) -> list[Vector]:
    return [tuple(ONE if x == y else ZERO for y in range(m)) for x in range(m)]


QUANTITIES: dict[str, Callable[[Meta], fmpq | Vector]] = {
    "dF": lambda o: tuple(rate(f, x, o.value("alpha")) for f, x in zip(o.users[0], o.w, strict=True)),
    "hess": lambda o: hessian(o.users[0], o.w),
    "inner": lambda o: inner(o),
    "hess_inner": lambda o: tuple(h * x for h, x in zip(hessian(o.users[0], o.w), inner(o), strict=True)),
    "moved2": lambda o: tuple(map(norm2, o.moved())),
    "mean_moved2": lambda o: norm2(combine(o.even, o.moved())),
    "apart2": lambda o: norm2(minus(o.w, o.u)),
    "spread_G": lambda o: o.similarity(gradient, norm2),
    "spread_H": lambda o: o.similarity(hessian, top2),
    "spread_F": lambda o: o.similarity(o.meta_of, norm2),
    "tv": lambda o: tuple(summed(map(abs, off)) / 2 for off in o.offsets()),
    "W1": lambda o: o.distances(),
    "bias2": lambda o: o.bias2("full"),
    "mse": lambda o: o.mse("full"),
    "bias2_shared": lambda o: o.bias2("shared"),
    "bias2_FO": lambda o: o.bias2("FO"),
    "mse_FO": lambda o: o.mse("FO"),
    "bias2_HF": lambda o: o.bias2("HF"),
    "mse_HF": lambda o: o.mse("HF"),
    "error_H": lambda o: o.hessian_error(),
    "central": lambda o: o.central(),
    "hv": lambda o: tuple(h * x for h, x in zip(hessian(o.users[0], o.w), o.v, strict=True)),
    "v": lambda o: o.v,
}


def read(node: Node, claim: Claim) -> World:
    fields = node.fields(" ".join(("d base eta p a b w sizes constants", *_parts(claim))))
    d, m = fields["d"].integer(1, COUNT), len(fields["a"].items())
    base, eta = ([read_spline(part) for part in fields[name].items(d)] for name in ("base", "eta"))
    a, b = ([row.vector(d) for row in fields[name].items(m)] for name in ("a", "b"))
    p = [row.vector(m, least=0) for row in fields["p"].items()]
    if not 1 <= m <= COUNT or not 1 <= len(p) <= COUNT or any(summed(row) != 1 for row in p):
        raise fields["p"].malformed(f"from 1 to {COUNT} distributions on from 1 to {COUNT} points")
    w = fields["w"].vector(d)
    u, v = (fields[name].vector(d) if name in fields else w for name in ("u", "v"))
    sizes = {name: size.integer(1, SIZE) for name, size in fields["sizes"].fields("D0 D1 D2").items()}
    average = "f" not in fields or fields["f"].one_of(("average", "sum")) == "average"
    values = {"D": fmpq(d), "C": fmpq(len(p)), **{name: fmpq(size) for name, size in sizes.items()}}
    values |= claim.parameters(fields["constants"], {*values, *QUANTITIES})
    o = Meta(base, eta, a, b, p, w, u, v, sizes, average, values, fields)
    lists: dict[str, Vector] = {}
    for name, arity in claim.needs:
        if name in QUANTITIES:
            quantity = QUANTITIES[name](o)
            if arity < 0 and isinstance(quantity, fmpq):
                values[name] = quantity
            elif isinstance(quantity, tuple):
                lists[name] = quantity
    facts = {"average": average, "total": not average, "metric": "metric" in fields}
    bounds: dict[str, Callable[[fmpq], bool]] = {
        "bounded_gradients": lambda B: all(steepest(f, B) for f in o.users),
        "smooth": lambda L: all(bent(f, L) for f in o.users),
        "lipschitz_hessian": lambda rho: all(part.steepness() <= rho for f in o.users for part in f),
        "gradient_variance": lambda s: all(spread(eta, q, a, b) <= s * s for q in p),
        "hessian_variance": lambda s: all(hessian_spread(eta, q, b) <= s * s for q in p),
        "similar_gradients": lambda s: spread(eta, o.even, *o.tilts) <= s * s,
        "similar_hessians": lambda s: hessian_spread(eta, o.even, o.tilts[1]) <= s * s,
        "point_gradients": lambda B: all(steepest(f, B) for f in o.points),
        "point_hessians": lambda L: all(bent(f, L) for f in o.points),
        "lipschitz_in_z": o.lipschitz_in_z,
        "hessian_lipschitz_in_z": o.hessian_lipschitz_in_z,
    }
    return tabled(values, lists, facts, bounds)


WORLDS = {"meta": Reader(read, INPUTS)}
