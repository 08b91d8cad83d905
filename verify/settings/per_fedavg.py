"""Per-FedAvg with a set of users drawn in every round (Fallah, Mokhtari and Ozdaglar, appendices F and G).

f_i = base + a_i w + b_i eta in one dimension, with exactly known B, L and rho. Three kinds of runs:

- `bowl`: base is a parabola in the middle and straight far out, eta a spline; every step and every set is visited.
- `shelf`: base rises steadily over a long stretch, far steeper than users differ, and eta is where they arrive.
- `tilted`: as `bowl` with b = 0; grad F_i = h (w - c_i) on the whole run, which then may have any length, and noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from fedaudit.problems.per_fedavg import tilted, walked
from fedaudit.problems.splines import Splines, through

from ..evaluate import Array, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, View, text

GROUPS = ((2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (6, 1))  # users, how many of them take part
KNOTS = 4
MOST_UPDATES, MOST_ROUNDS = 10**9, 10**15  # the kernel's
MEASURED = ("slope2", "level", "level_next", "level_end", "round2", "mean2", "Delta")
MOST_STEPS = 4  # of a longer run off the tilted ones, whose exact numbers grow with every update
REACH = 1e-7  # beta tau L_F of the view
GIVEN = ("alpha", "beta", "E", "T", "k")  # fields of an instance of their own


@dataclass(frozen=True, slots=True)
class PerFedAvg:
    name: str = "per_fedavg"
    precision: type[np.floating[Any]] = np.longdouble
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("gamma_G", "gamma_H")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        one = {"D0": 1, "D1": 1, "D2": 1}
        rounds = (1, 2) if reading.uses("mean2") else (1,)
        lengths = ((2, 1), (1, 0), (3, 2), (2, 0))  # updates, and after how many one looks
        quiet = {"noise": "none", "start": "any"}
        made = [
            Shape.of({"run": run, **quiet}, C=n, m=m, E=tau, T=K, k=t, **one)
            for n, m in GROUPS[:4]
            for tau, t in lengths
            for run in ("bowl", "shelf")
            for K in rounds
            if tau * K < 4  # exact numbers grow with every update
        ]
        far = [
            Shape.of({"run": "tilted", "noise": "none", "start": start}, C=n, m=m, **one)
            for n, m in GROUPS
            for start in ("centre", "any")
        ]
        far += [
            Shape.of({"run": "tilted", "noise": "signs", "start": "any"}, C=n, m=m, **size)
            for n, m in GROUPS[:3]
            for size in (one, {**one, "D0": 5, "D1": 2})
        ]
        return [*far[:2], *made[:4], *far[2:], *made[4:]]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        n, run = shape["C"], shape.flag("run")
        genes = [Gene("curve", "positive"), Gene("fall", "positive"), Gene("a", "real", (n,))]
        if shape.flag("start") == "any":
            genes.append(Gene("start", "real"))
        if shape.flag("noise") == "signs":
            genes.append(Gene("noise", "positive"))
        if run == "tilted":
            return [*genes, Gene("updates", "positive"), Gene("rounds", "positive"), Gene("at", "fraction")]
        genes += [Gene("left", "real"), Gene("gap", "positive", (KNOTS - 1,)), Gene("bend", "real", (KNOTS - 2,))]
        genes += [Gene("g_eta", "real"), Gene("b", "real", (n,))]
        return [*genes, Gene("steep", "positive")] if run == "shelf" else genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        f, zero = _users(shape, genome), 0 * genome["curve"]
        least, most = f.slopes
        v = genome.get("noise", zero)
        found = {"L": f.smoothness.max(axis=-1), "rho": f.steepness.max(axis=-1), "sigma_G": v, "sigma_H": zero}
        found |= {"B": np.maximum(np.abs(least), np.abs(most)).max(axis=-1)}
        if shape.flag("run") == "tilted":
            tau, K = _whole(genome["updates"] ** 2, MOST_UPDATES), _whole(genome["rounds"] ** 4, MOST_ROUNDS)
            found |= {"E": tau, "T": K, "k": _whole(genome["at"] * (tau - 1), MOST_UPDATES)}
        return found

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        scalars = dict(known.scalars)
        alpha, beta, used = scalars["alpha"], scalars["beta"], _used(reading)
        with np.errstate(all="ignore"):  # a long step may carry a run out of the floats: it then says nothing
            a = genome["a"] - genome["a"].mean(axis=-1, keepdims=True)
            if shape.flag("run") == "tilted":
                k, v = genome["curve"], scalars["sigma_G"]
                h = k * (1 - alpha * k) ** 2
                noise2 = ((1 - alpha * k) * v) ** 2 * ((alpha * k) ** 2 / shape["D0"] + 1 / shape["D1"])
                long = (scalars[name] for name in ("E", "T", "k"))
                w0 = _start(genome) + _centre(shape, genome)
                run = tilted(h, -genome["a"] / k[:, None], beta, w0, noise2, shape["m"], *long)
                fits = (alpha * k <= (1 / 2 if shape.flag("noise") == "signs" else 1)) & (h > 0) & (beta * h < 1)
                gamma_G, gamma_H = np.sqrt((a**2).mean(axis=-1)), 0 * k
            else:
                f, sizes = _users(shape, genome), (shape[name] for name in ("m", "E", "T", "k"))
                w0 = _start(genome) + shape["k"] * beta * _pace(shape, genome)
                run, fits = walked(f, alpha, beta, w0, *sizes), np.isfinite(w0)
                eta = _eta(genome)
                b = genome["b"] - genome["b"].mean(axis=-1, keepdims=True)
                ends = [((a + b * end[:, None]) ** 2).mean(axis=-1) for end in eta.slopes]
                gamma_G = np.sqrt(np.maximum(*ends))
                gamma_H = np.sqrt((b**2).mean(axis=-1)) * eta.smoothness
            found = {name: run[name]() for name in MEASURED if name in used}
        scalars |= {name: np.where(fits, x, np.nan) for name, x in found.items()}
        W = 1 + np.abs(np.nan_to_num(w0)) + np.abs(genome["a"]).max(axis=-1) / scalars["L"]
        scale = scalars["L"] * W**2 + scalars["B"] * W, W
        return Table(known.n, {**scalars, "gamma_G": gamma_G, "gamma_H": gamma_H}, {}, known.counts, scale)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one, scalars = {k: v[None] for k, v in genome.items()}, known["scalars"]
        straight, n = _straight(shape, one), shape["C"]
        f = _base(shape, one)
        w0 = _start(one)[0]
        made: dict[str, Any] = {
            **{k: shape[k] for k in ("C", "m")},
            "alpha": text(scalars["alpha"]),
            "beta": text(scalars["beta"]),
            "base": _written(f),
            "eta": _written(_eta(one)) if "b" in one else {"x": [], "s": [], "a": "0", "g": "0"},
            "a": text(genome["a"]),
            "b": text(genome["b"]) if "b" in genome else ["0"] * n,
            "sizes": {k: shape[k] for k in ("D0", "D1", "D2")},
            "noise": text(scalars["sigma_G"]),
            "constants": {k: text(v) for k, v in scalars.items() if k not in GIVEN},
        }
        if shape.flag("run") == "tilted":
            reach = straight[1][0]
            long = {k: int(scalars[k]) for k in ("E", "T", "k")}
            w0 = w0 + _centre(shape, one)[0]
            return {**made, **long, "w0": text(w0), "inside": text(np.array([-reach, reach], dtype=object))}
        w0 = w0 + shape["k"] * scalars["beta"] * _pace(shape, one)[0]
        return {**made, **{k: shape[k] for k in ("E", "T", "k")}, "w0": text(w0)}

    def longer(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, Mapping[str, Array]] | str]:
        """More rounds where the claim is about all of them, more updates in the round otherwise.

        On a tilted run the genes are roots of tau and K: twice the gene is 4 times the updates, 16 times the rounds.
        """
        over_rounds = reading.uses("mean2")
        if shape.flag("run") == "tilted":
            name = "rounds" if over_rounds else "updates"
            for times in (2, 4, 8):
                yield shape, {**genome, name: np.asarray(times * genome[name])}
            return
        size = "T" if over_rounds else "E"
        for times in (2, 4):
            if shape["E"] * shape["T"] * times > MOST_STEPS:
                yield "exact numbers too long"
                return
            more = {size: times * shape[size]} | ({} if over_rounds else {"k": times * shape["k"]})
            yield shape.but(**more), genome

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        n, m, sizes = shape["C"], shape["m"], dict(shape.counts)
        if n > 2 and m < n:
            for i in range(n):
                yield (
                    shape.but(C=n - 1),
                    {k: np.delete(v, i, axis=0) if k in ("a", "b") else v for k, v in genome.items()},
                )
        if m > 1:
            yield shape.but(m=m - 1), dict(genome)
        if sizes.get("T", 1) > 1:
            yield shape.but(T=sizes["T"] - 1), dict(genome)
        if sizes.get("E", 1) > 1 and sizes["k"] < sizes["E"]:
            yield shape.but(E=sizes["E"] - 1, k=min(sizes["k"], sizes["E"] - 2)), dict(genome)
        if shape.flag("noise") == "signs":
            rest = {k: v for k, v in genome.items() if k != "noise"}
            yield Shape(shape.counts, (("run", "tilted"), ("noise", "none"), ("start", shape.flag("start")))), rest
        for size in ("D0", "D1", "D2"):
            if shape[size] > 1:
                yield shape.but(**{size: 1}), dict(genome)

    def view(self, reading: Reading) -> View:
        """Half of the users pull to -1, half to 1, with curvature 1; the rounds are many, beta tau L_F is small.

        Along tau, or along the share r of users where the statement asks for it.
        """
        given = {"L": 1.0, "rho": 1 / 6, "B": 10.0, "alpha": 1e-6, "gamma_G": 1.0, "gamma_H": 0.0}
        given |= {"sigma_G": 0.0, "sigma_H": 0.0, "T": 1e9}
        L_F = 4 * given["L"] + given["alpha"] * given["rho"] * given["B"]
        shape = Shape.of({"run": "tilted", "noise": "none", "start": "centre"}, C=2, m=1, D0=1, D1=1, D2=1)
        points: list[tuple[float, Shape, Mapping[str, float]]] = []

        def add(x: float, shape: Shape, tau: float) -> None:
            long = {"E": tau, "k": tau - 1, "beta": REACH / (tau * L_F), "phi": 1 / tau}
            points.append((x, shape, {**given, **long}))

        start = (
            "from the minimiser of F, two groups of users that pull to -1 and 1, exact gradients, beta tau L_F = 1e-7"
        )
        if reading.lowered.seen_along == "r":
            for m in range(1, 20):
                add(m / 20, shape.but(C=20, m=m), 1e5)
            return View("share of users $r$", points, f"{start}, 20 users, tau = 100,000 updates, K = 10^9 rounds")
        for tau in (2.0, *(10.0**k for k in range(1, 7))):
            add(tau, shape, tau)
        return View("local updates $\\tau$", points, f"{start}, one user of two takes part, K = 10^9 rounds")

    def observe(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        alpha, L, beta = (known.scalars[name].astype(self.precision) for name in ("alpha", "L", "beta"))
        c = np.where(np.arange(shape["C"]) % 2, 1.0, -1.0) + 0 * L[:, None]
        long = (known.scalars[name].astype(self.precision) for name in ("E", "T", "k"))
        run = tilted(L * (1 - alpha * L) ** 2, c, beta, 0 * L, 0 * L, shape["m"], *long)
        found = {name: run[name]() for name in _used(reading)}
        return Table(known.n, {**known.scalars, **found}, {}, known.counts)


def _used(reading: Reading) -> set[str]:
    return {name for name in MEASURED if reading.uses(name)}


def _whole(x: Array, most: int) -> Array:
    """The next whole number, of floats or rationals."""

    def one(y: Any) -> Fraction:
        return Fraction(min(max(ceil(y), 0), most))

    return np.vectorize(one, otypes=[object])(x) if x.dtype == object else np.clip(np.ceil(x), 0, most)


def _eta(genome: Mapping[str, Array]) -> Splines:
    gap, bend = genome["gap"], genome["bend"]
    x = genome["left"][:, None] + np.concatenate([0 * gap[:, :1], np.cumsum(gap, axis=-1)], axis=-1)
    none = 0 * bend[:, :1]
    return through(x, np.concatenate([none, bend, none], axis=-1), genome["g_eta"])


def _need(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """How far the users' gradients may be from that of base."""
    need = np.abs(genome["a"]).max(axis=-1)
    if shape.flag("run") == "tilted":
        return need
    least, most = _eta(genome).slopes
    return need + np.abs(genome["b"]).max(axis=-1) * np.maximum(np.abs(least), np.abs(most))


def _curve(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """The largest curvature of base; that of a shelf's far slope stays below what tells the users apart."""
    curve = genome["curve"]
    if shape.flag("run") != "shelf":
        return curve
    apart = np.abs(genome["b"]).max(axis=-1) * _eta(genome).smoothness
    return curve / (1 + curve) * (apart + 1 * (apart == 0))


def _straight(shape: Shape, genome: Mapping[str, Array]) -> tuple[Array, Array]:
    """Half the width of the stretch on which base'' (bowl) or base' (shelf) is constant, and of the run's interval."""
    curve, need, start = _curve(shape, genome), _need(shape, genome), np.abs(_start(genome))
    if shape.flag("run") == "tilted":
        noise = genome.get("noise", 0 * curve)
        far = 2 * need / curve + start + 3 * noise / curve
        reach = far + 1 * (far == 0)
        return 3 * reach + noise / curve, reach
    reach = start + np.abs(genome["left"]) + genome["gap"].sum(axis=-1)
    return need / curve + reach, reach


def _start(genome: Mapping[str, Array]) -> Array:
    """Where the run starts, from the minimiser of F (tilted), where it arrives (shelf), or from 0."""
    return genome["start"] if "start" in genome else 0 * genome["curve"]


def _centre(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """The minimiser of F on a tilted run, from which its start is counted."""
    return -genome["a"].sum(axis=-1) / (shape["C"] * genome["curve"])


def _base(shape: Shape, genome: Mapping[str, Array]) -> Splines:
    """A trapezoid of curvature: around 0 (bowl), or so far to the left that the run never sees it (shelf)."""
    curve, (half, _) = _curve(shape, genome), _straight(shape, genome)
    if shape.flag("run") == "shelf":
        need, top = _need(shape, genome), _top(shape, genome)
        width = (top + need) / (2 * curve)
        right = -(top + need) / curve - half
        x = np.stack([right - 3 * width, right - 2 * width, right - width, right], axis=-1)
        left = -need
    else:
        fall = genome["fall"] * half
        x = np.stack([-half - fall, -half, half, half + fall], axis=-1)
        left = -curve * (half + fall / 2)
    none = 0 * curve
    return through(x, np.stack([none, curve, curve, none], axis=-1), left)


def _top(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """The steady gradient of a shelf: at least what keeps all users' losses bounded below."""
    return _need(shape, genome) * (1 + genome["steep"] ** 2) + genome["fall"]


def _pace(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """The mean gradient to the right of all knots of eta: a shelf's run starts there and arrives at `start`."""
    if shape.flag("run") != "shelf":
        return 0 * genome["curve"]
    eta = _eta(genome)
    n = shape["C"]
    last = eta.grad(eta.x[..., -1])
    return _top(shape, genome) + genome["a"].sum(axis=-1) / n + genome["b"].sum(axis=-1) / n * last


def _users(shape: Shape, genome: Mapping[str, Array]) -> Splines:
    """The losses f_i, (N, n)."""
    base = _base(shape, genome).before(-1)
    none = 0 * genome["a"]
    if shape.flag("run") == "tilted":
        return Splines(base.x + none[..., None], base.s + none[..., None], base.a + none, base.g + genome["a"])
    return base.plus(genome["a"], genome["b"], _eta(genome).before(-1))


def _written(f: Splines) -> dict[str, Any]:
    return {"x": text(f.x[0]), "s": text(f.s[0]), "a": text(f.a[0]), "g": text(f.g[0])}


SETTING = PerFedAvg()
