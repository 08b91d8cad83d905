"""Algorithm 1 of zhang with g = theta |.|_1 on quadratics and piecewise quadratics, with exact expectations.

Clients come in groups of equal ones, the last of which may be large. Noise is s v with a fair sign at a few steps: a
path is the number of clients of each group with each sequence of signs, which makes many clients as cheap as two.
Curvatures lie in [-L, L]; where a claim speaks of F*, the average f is convex enough (quadratics) or grows (wells).
"""

# the setting shares parts with `fedprox`
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import factorial, prod
from typing import Any, cast

import numpy as np

from fedaudit.problems.composite import Round, compact, excess, lambdas, minimiser, per_client, spread, virtual
from fedaudit.problems.proximal import l1, scaled
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.wells import Wells

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, text
from .fedprox import _matrices

ROOT_2 = Fraction(99, 70)  # just above the square root of 2
DEEP = 10  # how far below -L a curvature may go in the literal reading of assumption 3.2
OF_MINIMUM = ("Omega", "Omega_sc", "gap")
ON_PATHS = ("xbar", "zhat", "corr", "post")
CONSTANTS = ("L", "mu", "mu_sc", "sigma", "B_g")
PROBE = ("F_plus", "F_z")
SIZES = ((1, 1, 1), (2, 2, 1), (2, 2, 2), (3, 3, 1), (5, 2, 1))  # n, groups, d
CROWDS = ((15, 1, 1, 1), (16, 2, 1, 1), (18, 1, 1, 1), (32, 1, 1, 1), (20, 1, 1, 2), (16, 1, 2, 1))  # n, groups, tau, T
SQUARES = ((1, 1, 1), (4, 2, 1), (4, 4, 1), (4, 2, 2), (9, 2, 1))  # where eta_g = sqrt(n)
SQUARE_CROWDS = ((16, 1, 1, 1), (25, 2, 1, 1))


@dataclass(frozen=True, slots=True)
class Composite:
    name: str = "composite"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("independent_noise", "two_sided", "mu_at_most_L")
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        square = _assumes(reading, "strongly_convex")
        if _assumes(reading, "stationary_start"):
            sizes, losses, noises, crowds = ((1, 1, 1), (1, 1, 2)), ["quadratic"], ["none"], ()
        elif "mu_at_most_L" in reading.dropped:
            sizes, losses, noises, crowds = ((2, 2, 1),), ["constant"], ["none", "independent"], ()
        else:
            sizes, crowds = (SQUARES, SQUARE_CROWDS) if square else (SIZES, CROWDS)
            losses, noises = ["quadratic", "well"], ["none", "independent"]
            losses += ["flat"] if _assumes(reading, "prox_pl") else []
        if "independent_noise" in reading.dropped:
            noises, sizes = ["shared"], tuple(size for size in sizes if size[0] > 1)
        if not _assumes(reading, "bounded_variance"):
            noises, crowds = ["none"], ()
        if _on_paths(reading):
            sizes, crowds = tuple(size for size in sizes if size[0] == size[1]), ()
        if reading.uses("corr"):
            sizes = (*sizes[1:], sizes[0])  # the correction of a single client is 0
        if any(reading.uses(name) for name in PROBE):
            flags = {"noise": "none", "start": "free"}
            return [
                _shape({"loss": loss, **flags}, n, G, d, 1, 1)
                for loss in losses
                for n, G, d in sizes
                if d == 1 or loss != "well"
            ]
        start = "stationary" if _assumes(reading, "stationary_start") else "free"
        made: list[Shape] = []
        for size, loss, noise in product(sizes, losses, noises):
            if (loss in ("well", "flat") and size[2] > 1) or (loss == "flat" and size[1] > 1):
                continue
            flags = {"loss": loss, "noise": noise, "start": start}
            for tau, T in ((1, 1), (2, 2), (4, 1)) if noise == "none" else ((1, 2), (3, 1)):
                made.append(_shape(flags, *size, tau, T, K=min(2 if size[1] < 3 else 1, tau * T)))
        kind = "shared" if "independent_noise" in reading.dropped else "independent"
        for n, G, tau, rounds in crowds:
            made.append(_shape({"loss": losses[0], "noise": kind, "start": start}, n, G, 1, tau, rounds, K=tau))
        if "none" in noises and start == "free" and not reading.dropped:
            flags, pair = {"loss": "quadratic", "noise": "none", "start": start}, SQUARES[1] if square else SIZES[1]
            made += [_shape(flags, *pair, 10, 3), _shape(flags, *pair, 2, 20)]
        return [shape for shape in made if shape["tau"] > 1 or not _drifts(reading)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        G, d, loss = shape["G"], shape["d"], shape.flag("loss")
        genes = [Gene("smooth", "positive"), Gene("scale", "positive"), Gene("start", "real", (d,))]
        if loss == "constant":
            return [*genes, Gene("steep", "positive"), Gene("tilt", "real"), *_noise_genes(shape)]
        genes += [
            Gene("mu", "unit"),
            Gene("dip", "fraction"),
            Gene("curve", "fraction", (G, d)),
            Gene("centre", "real", (G, d)),
        ]
        if loss != "flat":
            genes.append(Gene("reg", "nonnegative"))
        if loss == "quadratic":
            genes += [Gene("tilt", "real", (G, d)), *([Gene("turn", "real", (G,))] if d == 2 else [])]
        else:
            genes += [
                *([Gene("tail", "unit", (G, d))] if loss == "well" else []),
                *(Gene(k, "nonnegative", (G, d)) for k in ("lo", "hi")),
            ]
        if shape.flag("start") == "stationary":
            genes.append(Gene("side", "fraction", (d,)))
        if any(reading.uses(name) for name in PROBE):
            genes += [Gene("push", "real", (d,)), Gene("other", "real", (d,))]
        return [*genes, *_noise_genes(shape)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        L, unit = genome["smooth"], genome["smooth"] * genome["scale"]
        theta = unit * genome["reg"] if "reg" in genome else 0 * L
        mu = L * (genome["steep"] if "steep" in genome else genome["mu"])
        most = genome["noise"].max(axis=-1) if "noise" in genome else 0 * L
        root_b = {1: 1, 4: 2, 9: 3}[shape["b"]]
        exact = L.dtype == object
        lengthen = 1 if shape["d"] == 1 else (ROOT_2 if exact else float(ROOT_2))
        return {"L": L, "mu": mu, "mu_sc": mu, "theta": theta, "B_g": theta * lengthen, "sigma": root_b * unit * most}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = _parts(reading, shape, genome, known.scalars["eta_t"])
        made = Measured(reading, shape, parts, known.scalars)
        far = np.maximum(np.abs(parts["x1"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        if "b" in parts:
            far = np.maximum(far, np.abs(parts["b"]).max(axis=(1, 2)) / known.scalars["L"])
        W = np.where(far > 0, far, 1.0)
        counts = {**known.counts, "W": len(made.chance)}
        scalars = {**known.scalars, **made.probed()}
        return Table(known.n, scalars, made.quantities(), counts, (known.scalars["L"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = dict(known["scalars"])
        eta_t, eta_g, theta = (scalars.pop(k) for k in ("eta_t", "eta_g", "theta"))
        rows = {k: v[None] for k, v in genome.items()}
        parts = {k: v[0] for k, v in _parts(reading, shape, rows, np.array([eta_t], dtype=object)).items()}
        used = [name for name in CONSTANTS if name in reading.claim["domains"] or _constant(reading, name)]
        groups = [
            {"size": size, "loss": loss, **({"v": text(v)} if shape["K"] else {})}
            for size, loss, v in zip(_sizes(shape), _losses(shape, parts), parts["v"], strict=True)
        ]
        made: dict[str, Any] = {
            **{k: shape[k] for k in ("d", "tau", "T", "b")},
            "groups": groups,
            "x1": text(parts["x1"]),
            "theta": text(theta),
            "eta_t": text(eta_t),
            "eta_g": text(eta_g),
            "constants": {k: text(scalars[k]) for k in used},
            "parameters": {k: text(v) for k, v in scalars.items() if k not in CONSTANTS},
            "noise": {"kind": "none"},
        }
        if shape["K"]:
            shared = shape.flag("noise") == "shared"
            made["noise"] = {"kind": "signs", "steps": list(_noisy(shape)), "shared": shared}
        if shape["d"] > 1 and _bounded(reading):
            made["x_star"] = text(_exact_minimiser(shape, parts, Fraction(theta)))
        if "still" in parts:
            made["x_stat"] = text(parts["still"])
        if "push" in parts:
            made["probe"] = {"x": text(parts["x1"]), "v": text(parts["push"]), "z": text(parts["other"])}
        return made

    def picture(self, reading: Reading) -> tuple[Shape, Mapping[str, float]]:
        """Full gradients and the largest step size: how much of the residual that B_g leaves is there?"""
        flags = {"loss": "quadratic", "noise": "none", "start": "free"}
        held = {"mu": 0.5, "reg": 0.3, "scale": 1.0, "smooth": 1.0, "unit_eta": 1.0, "unit_eta_g": 1.0}
        square = _assumes(reading, "strongly_convex")
        return _shape(flags, 4 if square else 3, 4 if square else 3, 2, 5, 1500 if square else 300), held

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        n, G, d, K = (shape[k] for k in ("n", "G", "d", "K"))
        of_group = ("curve", "centre", "tilt", "turn", "tail", "lo", "hi", "noise")
        square = _assumes(reading, "strongly_convex")
        if G > 1 and shape.flag("loss") != "constant":
            for out in range(G):
                rest = {k: np.delete(v, out, axis=0) if k in of_group else v for k, v in genome.items()}
                for fewer in (n - 1, n):
                    if fewer >= G - 1 and (fewer == G - 1 or not _on_paths(reading)) and not (square and fewer < n):
                        yield shape.but(G=G - 1, n=fewer), rest
        for fewer in sorted({G, G + 1, n // 2, n - 1}):
            if G <= fewer < n and not square:
                yield shape.but(n=fewer), dict(genome)
        if d > 1:
            for keep in range(d):
                flat = ("curve", "centre", "tilt", "tail", "lo", "hi", "start", "side", "push", "other")
                cut = {k: v[..., keep : keep + 1] if k in flat else v for k, v in genome.items() if k != "turn"}
                yield shape.but(d=1), cut
        for name in ("T", "tau"):
            for smaller in sorted({1, 2, shape[name] // 2, shape[name] - 1}):
                if 0 < smaller < shape[name] and (name == "T" or smaller > 1 or not _drifts(reading)):
                    cut = shape.but(**{name: smaller})
                    yield cut.but(K=min(K, cut["T"] * cut["tau"])), dict(genome)
        if K > 1:
            yield shape.but(K=K - 1), dict(genome)
        if K:
            quiet = Shape(shape.but(K=0).counts, tuple((k, "none" if k == "noise" else v) for k, v in shape.flags))
            yield quiet, {k: v for k, v in genome.items() if k != "noise"}


def _shape(flags: Mapping[str, str], n: int, G: int, d: int, tau: int, T: int, K: int = 0) -> Shape:
    noisy = flags["noise"] != "none"
    return Shape.of(flags, n=n, G=G, d=d, tau=tau, T=T, b=4 if noisy and tau == 3 else 1, K=K if noisy else 0)


def _noise_genes(shape: Shape) -> list[Gene]:
    return [Gene("noise", "nonnegative", (shape["G"],))] if shape["K"] else []


def _assumes(reading: Reading, name: str) -> bool:
    return any(a[0] == name for a in reading.claim["let"])


def _constant(reading: Reading, name: str) -> bool:
    return any(name in a[1:] for a in (*reading.claim["let"], *reading.claim["implicit"]))


def _bounded(reading: Reading) -> bool:
    """Whether the claim speaks of the optimal value."""
    return any(reading.uses(name) for name in OF_MINIMUM) or _convex(reading)


def _convex(reading: Reading) -> bool:
    return _assumes(reading, "prox_pl") or _assumes(reading, "strongly_convex")


def _drifts(reading: Reading) -> bool:
    """Whether the claim is about several local steps."""
    return reading.uses("S") or "t" in reading.claim["for_all"]


def _on_paths(reading: Reading) -> bool:
    return any(reading.uses(name) for name in ON_PATHS)


def _sizes(shape: Shape) -> tuple[int, ...]:
    """Clients in each group: all but the last group have one."""
    G = shape["G"]
    return (*((1,) * (G - 1)), shape["n"] - G + 1)


def _noisy(shape: Shape) -> range:
    """The noisy steps: the last ones of the run."""
    total = shape["T"] * shape["tau"]
    return range(total - shape["K"], total)


@cache
def _law(sizes: tuple[int, ...], K: int, shared: bool) -> tuple[Array, Array, Array]:
    """Probabilities (W,), counts (W, groups * 2^K) of each kind of client, and the kinds' signs (2^K, K)."""
    kinds = list(product((1.0, -1.0), repeat=K))
    if shared:
        each = [tuple(tuple(size * (k == j) for j in range(len(kinds))) for size in sizes) for k in range(len(kinds))]
        chances = [1 / len(kinds)] * len(kinds)
    else:
        each = list(product(*(_compositions(size, len(kinds)) for size in sizes)))
        chances = [prod(_chance(part) for part in counts) for counts in each]
    return np.array(chances), np.array(each, dtype=float).reshape(len(each), -1), np.array(kinds).reshape(len(kinds), K)


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(k, *rest) for k in range(total + 1) for rest in _compositions(total - k, parts - 1)]


def _chance(counts: tuple[int, ...]) -> float:
    return factorial(sum(counts)) / prod(map(factorial, counts)) / len(counts) ** sum(counts)


def _parts(reading: Reading, shape: Shape, g: Mapping[str, Array], eta_t: Array) -> dict[str, Array]:
    """Genes -> losses, start, noise. Pure arithmetic: floats and rationals alike."""
    G, d, loss = shape["G"], shape["d"], shape.flag("loss")
    L, scale = g["smooth"][:, None, None], g["scale"][:, None, None]
    parts: dict[str, Array] = {"x1": scale[:, 0] * g["start"]}
    level = g["noise"] if "noise" in g else 0 * g["smooth"][:, None] * np.ones(G, dtype=int)
    axis = np.array([[1 if j == k % d else 0 for j in range(d)] for k in range(G)])
    parts["v"] = L * scale * level[:, :, None] * axis
    if loss == "constant":
        pull = (L[:, 0, 0] * scale[:, 0, 0] * g["tilt"])[:, None, None]
        parts["A"] = 0 * pull[..., None] * np.ones((2, 1, 1), dtype=int)
        parts["b"] = np.concatenate([pull, -pull], axis=1)
        return {**parts, "c": 0 * parts["b"]}
    mu, c = L * g["mu"][:, None, None], scale * g["centre"]
    parts["c"] = c
    if "push" in g:
        parts |= {"push": L[:, 0] * scale[:, 0] * g["push"], "other": scale[:, 0] * g["other"]}
    if loss == "flat":
        return {**parts, "a": 0 * c, "m": mu + 0 * c, "lo": scale * g["lo"], "hi": scale * g["hi"]}
    parts["a"] = _curvatures(reading, shape, g, mu, L)
    if loss == "well":
        tail = mu + (L - mu) * g["tail"] if _convex(reading) else L * g["tail"]
        return {**parts, "m": tail, "lo": scale * g["lo"], "hi": scale * g["hi"]}
    A = _matrices(parts["a"], g.get("turn"))
    parts |= {"A": A, "b": (A * c[:, :, None, :]).sum(axis=-1) + L * scale * g["tilt"]}
    if "side" in g:
        theta = (g["smooth"] * g["scale"] * g["reg"])[:, None]
        still = parts.pop("x1")
        pull = np.where(still > 0, 1, np.where(still < 0, -1, 2 * g["side"] - 1)) * theta
        parts["b"] = (A[:, 0] * still[:, None, :]).sum(axis=-1)[:, None] + pull[:, None]
        parts |= {"still": still, "x1": still + eta_t[:, None] * pull}
    return parts


def _curvatures(reading: Reading, shape: Shape, g: Mapping[str, Array], mu: Array, L: Array) -> Array:
    """(n, G, d): in [-L, L], and such that the average f is mu-strongly convex where the claim needs a minimum."""
    depth = DEEP if "two_sided" in reading.dropped else 1
    dip, curve, loss = g["dip"][:, None, None], g["curve"], shape.flag("loss")
    if not _bounded(reading) or (loss == "well" and not _convex(reading)):
        low = -depth * dip * L
        return low + (L - low) * curve
    convex = mu + (L - mu) * curve
    if shape["G"] == 1:
        return convex
    shares = np.array([Fraction(size, shape["n"]) for size in _sizes(shape)])
    shares = shares if curve.dtype == object else shares.astype(float)
    least = convex.min(axis=-1)
    if loss == "well":
        least = np.minimum(least, (mu + (L - mu) * g["tail"]).min(axis=-1))
    spare = (mu[:, 0, 0] - (shares[1:] * least[:, 1:]).sum(axis=-1)) / shares[0]
    lowest = np.maximum(-depth * L[:, 0, 0], np.minimum(spare, mu[:, 0, 0]))[:, None, None]
    low = mu + dip * (lowest - mu)
    return np.concatenate([low + (L - low) * curve[:, :1], convex[:, 1:]], axis=1)


class Measured:
    """The runs of a batch and what statements say about them."""

    def __init__(self, reading: Reading, shape: Shape, parts: Mapping[str, Array], known: Mapping[str, Array]) -> None:
        self.reading, self.shape, self.parts = reading, shape, parts
        self.sizes, self.many = _sizes(shape), 2 ** shape["K"]
        self.chance, self.counts, self.signs = _law(self.sizes, shape["K"], shape.flag("noise") == "shared")
        self.L, self.theta, self.eta_t, self.eta_g = (known[k] for k in ("L", "theta", "eta_t", "eta_g"))
        self.whole = self.eta_t[:, None]  # of every path
        self.eta = self.whole / (self.eta_g[:, None] * shape["tau"])
        self.prox = scaled(l1, self.theta[:, None])
        self.prox_clients = scaled(l1, self.theta[:, None, None])
        self.shares = np.array(self.sizes) / shape["n"]
        self.problem = self.losses(1, self.shares, 0)
        self.blocks = self.losses(self.many, np.repeat(self.shares, self.many) / self.many, 1)
        self.weights = self.counts / shape["n"]

    def losses(self, copies: int, p: Array, axes: int) -> Quadratics | Wells:
        def made(*names: str) -> list[Array]:
            arrays = (np.repeat(self.parts[k], copies, axis=1) for k in names)
            return [array.reshape(array.shape[:1] + (1,) * axes + array.shape[1:]) for array in arrays]

        if self.shape.flag("loss") in ("quadratic", "constant"):
            A, b = made("A", "b")
            return Quadratics(A, b, p)
        a, m, lo, hi, c = made("a", "m", "lo", "hi", "c")
        return Wells(a, m, lo, hi, c, p)

    def f_grad(self, x: Array) -> Array:
        """grad f at x (n, W, d)."""
        each = self.blocks.grad(x[..., None, :])[..., :: self.many, :]
        return (self.shares[:, None] * each).sum(axis=-2)

    def f_value(self, x: Array) -> Array:
        """F at x (n, W, d)."""
        each = self.blocks.value(x[..., None, :])[..., :: self.many]
        return (self.shares * each).sum(axis=-1) + self.theta[:, None] * np.abs(x).sum(axis=-1)

    def oracle(self, r: int, t: int, z: Array) -> Array:
        gradients = self.blocks.grad(z)
        step, noisy = (r - 1) * self.shape["tau"] + t, _noisy(self.shape)
        if step not in noisy:
            return gradients
        signs = self.signs[:, noisy.index(step)]
        kicks = self.parts["v"][:, :, None, :] * signs[:, None]
        return gradients + kicks.reshape(len(kicks), 1, -1, self.shape["d"])

    def prox_any(self, w: Array, s: Array) -> Array:
        return (self.prox if w.ndim == 3 else self.prox_clients)(w, s)

    def run(self, how: Any) -> list[Round]:
        x1 = np.repeat(self.parts["x1"][:, None], len(self.chance), axis=1)
        eta_g = self.eta_g[:, None]
        return list(
            how(self.oracle, self.prox_any, x1, self.eta, eta_g, self.shape["tau"], self.weights, self.shape["T"])
        )

    def expect(self, x: Array) -> Array:
        """(n, W, ...) -> (n, ...)."""
        return np.einsum("w,nw...->n...", self.chance, x)

    def quantities(self) -> dict[str, Quantity]:
        if any(self.reading.uses(name) for name in PROBE):
            return {}
        run, n, T, tau = self.run(per_client), self.shape["n"], self.shape["T"], self.shape["tau"]
        ends = np.stack([r.P for r in run] + [self.prox(run[-1].onward, self.whole)], axis=-2)  # (n, W, T + 1, d)
        by: dict[str, list[Array]] = {}

        def put(**values: Array) -> None:
            for name, value in values.items():
                by.setdefault(name, []).append(value)

        gap, dist = self.from_minimum()
        with np.errstate(over="ignore", invalid="ignore"):
            for r in range(1, T + 2):
                P = ends[..., r - 1, :]
                before = run[r - 2].g if r > 1 else None
                apart = spread(self.weights, lambdas(P, self.blocks.grad, self.eta, tau, before))
                total = (self.counts * apart).sum(axis=-1)
                put(lam2=self.expect(total), lam2_i=self.by_client(apart), level=self.expect(self.f_value(P)))
                if gap is not None and dist is not None:
                    put(gap=self.expect(gap(P)), Omega=self.expect(gap(P) + total / (n * self.whole)))
                    put(Omega_sc=self.expect(dist(P) + total / n))
                if r > T:
                    break
                now, slope = run[r - 1], self.f_grad(P)
                ahead = virtual(P, slope, self.prox, self.whole)
                moved = ((ahead - P) ** 2).sum(axis=-1)
                v = (self.weights[:, :, None] * now.g.mean(axis=-3)).sum(axis=-2)
                drift = ((now.z[..., :-1, :, :] - P[..., None, None, :]) ** 2).sum(axis=-1)  # (n, W, tau, B)
                s = (P - self.whole[..., None] * slope - ahead) / self.whole[..., None]
                put(
                    vstep2=self.expect(moved),
                    G2=self.expect(moved / self.whole**2),
                    vlevel=self.expect(self.f_value(ahead)),
                    step2=self.expect(((ends[..., r, :] - P) ** 2).sum(axis=-1)),
                    vdev=self.expect(((v - slope) ** 2).sum(axis=-1)),
                    drift=self.expect((self.counts[:, None] * drift).sum(axis=(-2, -1))),
                    S=self.by_client(np.cumsum(drift, axis=2)),
                    sub_inner=self.expect((s * ahead).sum(axis=-1)),
                    sub_g=self.expect(self.theta[:, None] * np.abs(ahead).sum(axis=-1)),
                    sub_max=np.abs(s).max(axis=(-2, -1)),
                )  # fmt: skip
        made = {name: Quantity(np.stack(values, axis=1), (1,)) for name, values in by.items()}
        made["mean_G2"] = Quantity(np.cumsum(made["G2"].values, axis=1) / np.arange(1, T + 1), (1,))
        made |= {"S": Quantity(made["S"].values, (1, 0, 1)), "lam2_i": Quantity(made["lam2_i"].values, (1, 1))}
        return made | (self.on_paths(run, ends) if _on_paths(self.reading) else {})

    def by_client(self, each: Array) -> Array:
        """Expectations of client i, (n, ..., clients), from values by block (n, W, ..., B)."""
        shape = (*each.shape[:-1], len(self.sizes), self.many)
        counts = self.counts.reshape(len(self.chance), *((1,) * (each.ndim - 3)), len(self.sizes), self.many)
        groups = self.expect((counts * each.reshape(shape)).sum(axis=-1)) / np.array(self.sizes)
        return np.repeat(groups, self.sizes, axis=-1)

    def from_minimum(self) -> tuple[Any, Any]:
        """F - F* and |x - x*|^2 at points (n, W, d), where the claim needs them."""
        if not _bounded(self.reading):
            return None, None
        x_star = minimiser(self.problem, self.theta)
        above = excess(self.losses(1, self.shares, 1), self.theta[:, None], x_star[:, None])
        far = np.maximum(np.abs(self.parts["x1"]), np.abs(x_star)).max(axis=-1)
        rounding = (1e-14 * self.L * far**2)[:, None]  # a minimum that is attained on an interval leaves only rounding

        def gap(x: Array) -> Array:
            made = above(x)
            return np.where(made > rounding, made, 0.0)

        def distance2(x: Array) -> Array:
            return ((x - x_star[:, None]) ** 2).sum(axis=-1)

        return gap, distance2

    def on_paths(self, run: list[Round], ends: Array) -> dict[str, Quantity]:
        """Values on every path, of every client: each group is one client, found by the kind it has on the path."""
        W, n, K = len(self.chance), self.shape["n"], self.many
        kind = self.counts.reshape(W, n, K).argmax(axis=-1) + K * np.arange(n)  # (W, n)
        other = self.run(compact)

        def clients(x: Array) -> Array:  # (N, W, ..., B, d) -> (N, W, ..., n, d)
            index = kind.reshape(1, W, *((1,) * (x.ndim - 4)), n, 1)
            return np.take_along_axis(
                x, np.broadcast_to(index, (*x.shape[:2], *x.shape[2:-2], n, x.shape[-1])), axis=-2
            )

        def models(rounds: list[Round]) -> Quantity:
            stacked = np.stack([clients(r.zhat) for r in rounds], axis=1)  # (N, T, W, tau + 1, n, d)
            return Quantity(np.moveaxis(stacked, 2, 3), (1, 0, 1, 1, 1))

        def server(rounds: list[Round]) -> Quantity:
            return Quantity(np.stack([*(r.x for r in rounds), rounds[-1].onward], axis=1), (1, 1, 1))

        v = [(self.weights[:, :, None] * r.g.mean(axis=-3)).sum(axis=-2) for r in run]
        stepped = [self.prox(r.P - self.whole[..., None] * u, self.whole) for r, u in zip(run, v, strict=True)]
        last = run[-1]
        direction = ((last.P - last.onward) / self.whole[..., None])[..., None, :] - last.g.mean(axis=-3)
        corrections = np.stack([clients(c) for c in [*(r.c for r in run), direction]], axis=1)
        used = np.abs(last.g).max(axis=(1, 2, 3, 4))[:, None, None, None, None]
        made = {
            "zhat": models(run),
            "zhat_c": models(other),
            "xbar": server(run),
            "xbar_c": server(other),
            "post": Quantity(np.moveaxis(ends, 2, 1), (1, 1, 1)),
            "post_v": Quantity(np.stack(stepped, axis=1), (1, 1, 1)),
            # with one client what is left is rounding of gradients
            "corr": Quantity(np.where(np.abs(corrections) > 1e-11 * used, corrections, 0.0), (1, 1, 1, 1)),
        }
        return made | ({"x_stat": Quantity(self.parts["still"], (1,))} if "still" in self.parts else {})

    def probed(self) -> dict[str, Array]:
        """Fact 1: one proximal step."""
        if "push" not in self.parts:
            return {}
        x, v, z = (self.parts[k][:, None] for k in ("x1", "push", "other"))
        plus = self.prox(x - self.whole[..., None] * v, self.whole)

        def inner(a: Array, b: Array) -> Array:
            return (a * b).sum(axis=-1)[:, 0]

        return {
            "F_plus": self.f_value(plus)[:, 0],
            "F_z": self.f_value(z)[:, 0],
            "grad_inner": inner(self.f_grad(x) - v, plus - z),
            "step_inner": inner(plus - x, plus - z),
            "plus2": inner(plus - x, plus - x),
            "z2": inner(z - x, z - x),
        }


def _losses(shape: Shape, parts: Mapping[str, Array]) -> list[dict[str, Any]]:
    if shape.flag("loss") in ("quadratic", "constant"):
        return [{"kind": "quadratic", "A": text(A), "b": text(b)} for A, b in zip(parts["A"], parts["b"], strict=True)]
    names = ("a", "m", "lo", "hi", "c")
    rows = zip(*(parts[k] for k in names), strict=True)
    return [{"kind": "piecewise", **{k: text(v) for k, v in zip(names, row, strict=True)}} for row in rows]


def _exact_minimiser(shape: Shape, parts: Mapping[str, Array], theta: Fraction) -> Array:
    """x* of a strongly convex quadratic in the plane plus theta |.|_1: the sign pattern that is consistent."""
    shares = np.array([Fraction(size, shape["n"]) for size in _sizes(shape)])
    A = (shares[:, None, None] * parts["A"]).sum(axis=0)
    b = (shares[:, None] * parts["b"]).sum(axis=0)
    for signs in product((0, 1, -1), repeat=2):
        on = [j for j in range(2) if signs[j]]
        x = [Fraction(0), Fraction(0)]
        right = [b[j] - theta * signs[j] for j in range(2)]
        if len(on) == 1:
            x[on[0]] = right[on[0]] / A[on[0], on[0]]
        elif on:
            det = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
            x = [(A[1, 1] * right[0] - A[0, 1] * right[1]) / det, (A[0, 0] * right[1] - A[1, 0] * right[0]) / det]
        slope = [cast("Fraction", sum(A[j] * np.array(x, dtype=object)) - b[j]) for j in range(2)]
        if all(x[j] * signs[j] > 0 if signs[j] else abs(slope[j]) <= theta for j in range(2)):
            return np.array(x, dtype=object)
    return np.array([Fraction(0)] * 2, dtype=object)  # the kernel says what is wrong with it


SETTING = Composite()
