"""Meta-functions of Per-FedAvg at a point: users, data on a finite set, and estimates of a meta-gradient.

The point is w = 0, without loss of generality. Curvatures are piecewise linear; the noise of gradients and Hessians has
the shape a_z + b_z eta'(w).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fedaudit.problems.losses import meta_functions
from fedaudit.problems.losses.meta_functions import Tasks
from fedaudit.problems.losses.splines import Splines, through

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Quantity, Table
from .base import (
    ExactValues,
    Genes,
    Json,
    Reading,
    Reductions,
    Setting,
    Shape,
    as_batch,
    one_less,
    resized,
    text,
    without,
)
from .table import shares

SIZES = ((1, 1, 1), (1, 2, 2), (2, 1, 1), (1, 8, 1), (3, 2, 2), (1, 30, 1))
CAUTION = 1e3  # differences of nearly equal numbers: sigma_F^2 is what is left of 12 B^2, a difference of gradients
_COORDINATE = ("left", "g", "curve", "left_eta", "g_eta", "step", "v")  # genes whose first axis is d
_KNOTS = ("gap", "bend", "gap_eta", "bend_eta")  # (d, .)
_POINTS = ("a", "b")  # (m, d)


class Meta(Setting):
    name = "meta"
    precision = np.longdouble
    declared = ("B", "sigma_G", "sigma_H", "gamma_G", "gamma_H", "L_Z", "rho_Z")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        kind, one = _kind(reading), {"D0": 1, "D1": 1, "D2": 1}
        if kind == "function":
            return [Shape.of(None, d=d, C=1, m=1, J=J, **one, T=1) for d, J in product((1, 2), (4, 6))]
        if kind == "users":
            return [Shape.of(None, d=d, C=n, m=n, J=J, **one, T=1) for n, d, J in product((1, 2, 3, 5), (1, 2), (4, 6))]
        if kind == "data":
            sizes = product(((2, 2), (2, 3), (3, 3), (3, 4), (5, 2)), (1, 2))
            return [Shape.of(None, d=d, C=n, m=m, J=4, **one, T=1) for (n, m), d in sizes]
        shapes = [(1, 2, 4), (1, 2, 6), (1, 1, 4), (1, 3, 6), (2, 2, 4), (2, 3, 4), (2, 4, 4)]  # d, m, J
        signs = [(1, 2, 4, "signs"), (2, 4, 4, "signs"), (1, 2, 6, "signs")]
        shapes = [*signs, *((*sizes, "any") for sizes in shapes)]
        batches = [
            Shape.of({"noise": noise}, d=d, C=1, m=m, J=J, D0=a, D1=b, D2=c, T=1)
            for (a, b, c), (d, m, J, noise) in product(_sizes(reading), shapes)
        ]
        return [s for s in batches if s["m"] < 3 or s["D0"] * s["D1"] * s["D2"] < 10]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        kind, d, n, m, J = _kind(reading), shape["d"], shape["C"], shape["m"], shape["J"]
        genes = [Gene("g", "real", (d,)), Gene("step", "real", (d,)), Gene("v", "real", (d,))]
        genes += _spline("", d, J) if J else []
        if kind == "function" and not J:
            genes.append(Gene("curve", "real", (d,)))
        if kind == "function":
            return genes
        rows = 1 if _signs(shape) else m
        genes += [*_spline("_eta", d, 4)[1 if _signs(shape) else 0 :], Gene("g_eta", "real", (d,))]
        genes += [Gene("a", "real", (rows, d)), Gene("b", "real", (rows, d))]
        if kind in ("data", "estimate") and not _signs(shape):
            genes.append(Gene("weight", "positive", (n, m)))
        if "metric" in _let(reading):
            genes += [Gene("place", "real", (m,)), Gene("height", "positive", (m,))]
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        tasks = _tasks(reading, shape, genome)
        L = tasks.point_L if "point_hessians" in _let(reading) else tasks.L
        return {"L": np.where(L == 0, 1 + 0 * L, L), "rho": tasks.rho}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        tasks, needed = _tasks(reading, shape, genome), _constants(reading)
        zero = 0 * known.scalars["L"]
        scalars = {k: v(tasks, genome) if k in needed else zero for k, v in _DECLARED.items()}
        if "point_gradients" in _let(reading):
            scalars["B"] = tasks.point_B
        alpha, delta = (known.scalars.get(k, zero) for k in ("alpha", "delta"))
        here = _Run(tasks, shape, genome, alpha, delta, "total" not in _let(reading))
        single = {k: f(here) for k, f in _SCALARS.items() if reading.uses(k)}
        lists = {k: Quantity(f(here), (1,)) for k, f in _LISTS.items() if reading.uses(k)}
        L = known.scalars["L"]
        W = 1e-3 + np.abs(genome["step"]).max(axis=1) + (np.abs(genome["v"]).max(axis=1) + 100 * scalars["B"]) / L
        scale = (CAUTION * L * W**2, W)
        return known.measured({**scalars, **single}, lists, scale)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        batch, d = as_batch(genome), range(shape["d"])
        tasks = _tasks(reading, shape, batch)
        instance: Json = {
            "d": shape["d"],
            **{k: [_written(getattr(tasks, k), j) for j in d] for k in ("base", "eta")},
            **{k: text(getattr(tasks, k)[0]) for k in ("p", "a", "b")},
            "w": text(0 * genome["g"]),
            "sizes": {k: shape[k] for k in ("D0", "D1", "D2")},
            "constants": {k: text(v) for k, v in known.scalars.items()},
        }
        if "metric" in _let(reading):
            metric = _metric(batch)[0]
            instance["metric"] = text(metric)
            instance |= _transport(tasks.p[0], metric) if reading.uses("W1") else {}
        if _let(reading) & {"average", "total"}:
            instance["f"] = "sum" if "total" in _let(reading) else "average"
        if any(map(reading.uses, ("moved2", "mean_moved2", "apart2"))):
            instance["u"] = text(genome["step"])
        if any(map(reading.uses, ("central", "hv", "v"))):
            instance["v"] = text(genome["v"])
        return instance

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        n, kind = shape["C"], _kind(reading)
        if shape["d"] > 1:
            for keep in range(shape["d"]):
                one = shape.but(d=1, m=2) if _signs(shape) else shape.but(d=1)
                yield one, {k: _coordinate(k, v, keep) for k, v in genome.items()}
        every_point = (*_POINTS, "place", "height")
        if kind == "users":
            for less, rest in one_less(shape, genome, "m", every_point):
                yield less.but(C=n - 1), rest
        if kind in ("data", "estimate") and not _signs(shape):
            for out, (less, rest) in enumerate(one_less(shape, genome, "m", every_point)):
                yield less, without(rest, ("weight",), out, axis=1)
        if kind == "data":
            yield from one_less(shape, genome, "C", ("weight",), least=2)
        for size in ("D0", "D1", "D2"):
            yield from resized(shape, genome, size, (shape[size] - 1,))
        if shape["J"] > 4:
            for out in range(1, shape["J"] - 1):
                yield shape.but(J=shape["J"] - 1), {k: _fewer(k, v, out) for k, v in genome.items()}
        if shape["J"]:  # a quadratic; a straight line where gradients are bounded
            left = {k: v for k, v in genome.items() if k not in ("left", "gap", "bend")}
            yield shape.but(J=0), {**left, **({"curve": genome["bend"][:, 0]} if kind == "function" else {})}


def _let(reading: Reading) -> set[str]:
    return {name for name, *_ in reading.claim["let"]}


def _constants(reading: Reading) -> set[str]:
    named = {arg for _, *args in reading.claim["let"] for arg in args}
    return named | {k for k in _DECLARED if reading.uses(k)}


def _kind(reading: Reading) -> str:
    """What the instances of a claim are made of: one function, users, users' data, or one user's data."""
    let = _let(reading)
    if let & {"metric", "point_gradients", "point_hessians"}:
        return "data"
    if "gradient_variance" in let:
        return "estimate"
    return "users" if "bounded_gradients" in let else "function"


def _sizes(reading: Reading) -> list[tuple[int, ...]]:
    """Batch sizes, 1 where the claim does not name them."""
    named = [reading.uses(name) for name in ("D0", "D1", "D2")]
    return list(dict.fromkeys(tuple(s if use else 1 for s, use in zip(sizes, named, strict=True)) for sizes in SIZES))


def _signs(shape: Shape) -> bool:
    """Whether noise consists of independent fair signs, one for each coordinate."""
    return ("noise", "signs") in shape.flags


def _spline(suffix: str, d: int, J: int) -> list[Gene]:
    gap, bend = Gene(f"gap{suffix}", "positive", (d, J - 1)), Gene(f"bend{suffix}", "real", (d, J - 2))
    return [Gene(f"left{suffix}", "real", (d,)), gap, bend]


def _spline_of(genome: Genes, suffix: str) -> Splines:
    """Knots from the left one on; the curvature is 0 at the outer ones. Floats and rationals alike."""
    gap, bend, g = (genome[f"{k}{suffix}"] for k in ("gap", "bend", "g"))
    left = genome.get(f"left{suffix}", -gap[..., 0])  # else the second knot is at w
    x = left[..., None] + np.concatenate([0 * gap[..., :1], np.cumsum(gap, axis=-1)], axis=-1)
    none = 0 * bend[..., :1]
    return through(x, np.concatenate([none, bend, none], axis=-1), g)


def _tasks(reading: Reading, shape: Shape, genome: Genes) -> Tasks:
    g = genome["g"]
    none = Splines(np.zeros((*g.shape, 0), dtype=g.dtype), np.zeros((*g.shape, 0), dtype=g.dtype), 0 * g, 0 * g)
    base = _spline_of(genome, "") if shape["J"] else Splines(none.x, none.s, genome.get("curve", 0 * g), g)
    if _kind(reading) == "function":
        zero = 0 * g[:, None, :]
        return Tasks(base, none, 1 + zero[..., :1], zero, zero)
    n, m, eta = shape["C"], shape["m"], _spline_of(genome, "_eta")
    if _signs(shape):
        even = (1 + 0 * g[:, :1, None]) / m
        signs = np.array(list(product((1, -1), repeat=shape["d"])))
        return Tasks(base, eta, np.repeat(even, m, axis=-1), signs * genome["a"], signs * genome["b"])
    one = np.broadcast_to(np.eye(n, dtype=int), (len(g), n, n))
    p = shares(genome["weight"]) if "weight" in genome else one + 0 * g[:, :1, None]
    return Tasks(base, eta, p, genome["a"], genome["b"])


def _metric(genome: Genes) -> Array:
    """Distances (.., m, m) of data points: those of their places on a line, plus the heights of both points."""
    place, height = genome["place"], genome["height"]
    far = np.abs(place[..., :, None] - place[..., None, :]) + height[..., :, None] + height[..., None, :]
    return far * (1 - np.eye(place.shape[-1], dtype=int))


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    tasks: Tasks
    shape: Shape
    genome: Genome
    alpha: Array
    delta: Array
    average: bool

    @property
    def w(self) -> Array:
        return 0 * self.genome["g"]

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.shape["D0"], self.shape["D1"], self.shape["D2"]

    def meta(self, w: Array) -> Array:  # (N, n, d)
        return meta_functions.meta_gradient(self.tasks.users, w[:, None, :], self.alpha[:, None, None])

    def spread(self, each: Array, spectral: bool = False) -> Array:
        """(1/n) sum_i |x_i - x|^2 for x_i (N, n, d)."""
        total = np.sum(each, axis=1, keepdims=True)
        off = (each - (total / each.shape[1] if self.average else total)) ** 2
        return np.mean(np.max(off, axis=-1) if spectral else np.sum(off, axis=-1), axis=1)

    def moved(self) -> Array:
        return self.meta(self.w) - self.meta(self.genome["step"])

    def full(self) -> meta_functions.Errors:
        return meta_functions.three_batches(self.tasks, self.w, self.alpha, *self.sizes)

    def algorithm_1(self) -> Array:
        return meta_functions.shared_batch(self.tasks, self.w, self.alpha, *self.sizes[:2])

    def first_order(self) -> meta_functions.Errors:
        return meta_functions.first_order(self.tasks, self.w, self.alpha, *self.sizes[:2])

    def hessian_free(self) -> meta_functions.Errors:
        return meta_functions.hessian_free(self.tasks, self.w, self.alpha, self.delta, *self.sizes)

    def one(self) -> Splines:
        f = self.tasks.users
        return Splines(f.x[:, 0], f.s[:, 0], f.a[:, 0], f.g[:, 0])

    def central(self) -> Array:
        step, f = self.delta[:, None] * self.genome["v"], self.one()
        return f.grad(step) - f.grad(-step)


def _inner(o: _Run) -> Array:
    return o.one().grad(-o.alpha[:, None] * o.one().grad(o.w))


_DECLARED: dict[str, Callable[[Tasks, Genome], Array]] = {
    "B": lambda o, _: o.B,
    "sigma_G": lambda o, _: o.sigma_G,
    "sigma_H": lambda o, _: o.sigma_H,
    "gamma_G": lambda o, _: o.gamma_G,
    "gamma_H": lambda o, _: o.gamma_H,
    "L_Z": lambda o, genome: o.in_z(_metric(genome))[0],
    "rho_Z": lambda o, genome: o.in_z(_metric(genome))[1],
}
_SCALARS: dict[str, Callable[[_Run], Array]] = {
    "mean_moved2": lambda o: np.sum(np.mean(o.moved(), axis=1) ** 2, axis=-1),
    "apart2": lambda o: np.sum(o.genome["step"] ** 2, axis=-1),
    "spread_G": lambda o: o.spread(o.tasks.users.grad(o.w[:, None, :])),
    "spread_H": lambda o: o.spread(o.tasks.users.hess(o.w[:, None, :]), spectral=True),
    "spread_F": lambda o: o.spread(o.meta(o.w)),
    "bias2": lambda o: o.full().bias2,
    "mse": lambda o: o.full().mse,
    "bias2_shared": lambda o: o.algorithm_1(),
    "bias2_FO": lambda o: o.first_order().bias2,
    "mse_FO": lambda o: o.first_order().mse,
    "bias2_HF": lambda o: o.hessian_free().bias2,
    "mse_HF": lambda o: o.hessian_free().mse,
    "error_H": lambda o: meta_functions.hessian_error(o.tasks, o.w, o.alpha, o.shape["D2"]),
}
_LISTS: dict[str, Callable[[_Run], Array]] = {
    "dF": lambda o: meta_functions.meta_derivative(o.one(), o.w, o.alpha[:, None]),
    "hess": lambda o: o.one().hess(o.w),
    "inner": lambda o: _inner(o),
    "hess_inner": lambda o: o.one().hess(o.w) * _inner(o),
    "moved2": lambda o: np.sum(o.moved() ** 2, axis=-1),
    "tv": lambda o: meta_functions.variation(o.tasks.p),
    "W1": lambda o: meta_functions.wasserstein(o.tasks.p, _metric(o.genome)),
    "central": lambda o: o.central(),
    "hv": lambda o: o.one().hess(o.w) * o.genome["v"],
    "v": lambda o: o.genome["v"],
}


def _written(f: Splines, j: int) -> Json:
    """One coordinate of the first loss in the kernel's format; knots at which nothing changes are left out."""
    real = f.s[0, j] != 0
    return {"x": text(f.x[0, j][real]), "s": text(f.s[0, j][real]), "a": text(f.a[0, j]), "g": text(f.g[0, j])}


def _transport(p: Array, metric: Array) -> Json:
    """The best flow on a spanning tree of each user, and the potential that shows that none is better."""
    plans = [
        min((_on_tree(tree, off, metric) for tree in meta_functions.trees(len(off))), key=lambda plan: plan.rank)
        for off in p - p.sum(axis=0) / len(p)
    ]
    return {"flows": [text(plan.flow) for plan in plans], "potentials": [text(plan.potential) for plan in plans]}


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """A flow, a potential, and their rank: the flow's cost, then how far from 1-Lipschitz the potential is."""

    rank: tuple[Fraction, Fraction]
    flow: Array
    potential: Array


def _on_tree(tree: Iterable[tuple[int, int, list[int]]], off: Array, metric: Array) -> _Plan:
    """The one flow on the edges of this tree, and the potential whose drops are the lengths of edges with a flow.

    Along an edge without a flow the potential may drop or rise: both are tried.
    """
    m = len(off)
    flow, cost = 0 * metric, Fraction(0)
    drops: dict[tuple[int, int], Fraction | None] = {}
    for u, v, side in tree:
        moved = off[side].sum()
        flow[(u, v) if moved >= 0 else (v, u)] = abs(moved)
        cost = cost + metric[u, v] * abs(moved)
        drops[u, v] = metric[u, v] if moved > 0 else -metric[u, v] if moved < 0 else None
    best: tuple[Fraction, Array] | None = None
    for signs in product((1, -1), repeat=sum(drop is None for drop in drops.values())):
        open_, g = iter(signs), {0: 0 * metric[0, 0]}
        filled = {e: drop if drop is not None else next(open_) * metric[e] for e, drop in drops.items()}
        while len(g) < m:
            for (u, v), drop in filled.items():
                if u in g and v not in g:
                    g[v] = g[u] - drop
                elif v in g and u not in g:
                    g[u] = g[v] + drop
        potential = np.array([g[z] for z in range(m)], dtype=object)
        excess = max(abs(potential[x] - potential[y]) - metric[x, y] for x in range(m) for y in range(m))
        if best is None or excess < best[0]:
            best = excess, potential
    assert best is not None
    return _Plan((cost, best[0]), flow, best[1])


def _coordinate(name: str, values: Array, keep: int) -> Array:
    if name in _COORDINATE or name in _KNOTS:
        return values[keep : keep + 1]
    return values[:, keep : keep + 1] if name in _POINTS else values


def _fewer(name: str, values: Array, out: int) -> Array:
    """Without the inner knot `out` of the base: its gaps become one."""
    if name == "bend":
        return np.delete(values, out - 1, axis=1)
    if name != "gap":
        return values
    joined = values[:, out - 1 : out] + values[:, out : out + 1]
    return np.concatenate([values[:, : out - 1], joined, values[:, out + 1 :]], axis=1)


SETTING = Meta()
