"""FedProx and FedAvg (rule 4.3) on heterogeneous quadratics and Huberised quadratics, with exact expectations.

Curvatures lie in [mu, L] with L declared, minimisers and start anywhere, weights on the simplex (or, when the reading
drops `nonnegative_weights`, any reals that sum to one), noise s v_i with fair signs (shared between clients when the
reading drops `independent_noise`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
from flint import fmpq, fmpq_mat

from fedaudit.problems.components.bent import root
from fedaudit.problems.fedprox import Run, simulate
from fedaudit.problems.moments import expected
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, on_host, text, to_backend, to_numpy

MOST_PATHS = 256  # sign paths enumerated for a loss that is not quadratic


@dataclass(frozen=True, slots=True)
class FedProx:
    name: str = "fedprox"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("nonnegative_weights", "independent_noise")
    declared: tuple[str, ...] = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        noises = ["none"]
        if any(a[0] == "bounded_variance" for a in reading.claim["let"]):
            noises = ["shared"] if "independent_noise" in reading.dropped else ["none", "independent"]
        clients = (2, 3) if reading.dropped else (1, 2, 3)  # a literal reading differs only with several clients
        made = [
            Shape.of({"loss": loss, "noise": noise}, C=C, d=d, E=E, T=T)
            for loss, noise, (C, d), E, T in product(
                ("quadratic", "piecewise"), noises, [(c, 1) for c in clients] + [(2, 2)], (1, 2, 4), (1, 3)
            )
            if loss == "quadratic" or noise == "none" or _paths(noise, C, E, T) <= MOST_PATHS
        ]
        made += [
            Shape.of({"loss": "quadratic", "noise": noise}, C=C, d=d, E=E, T=T)
            for noise, (C, d, E, T) in product(noises, [(10, 1, 8, 10), (4, 3, 5, 20), (2, 1, 20, 40)])
        ]
        if "none" in noises:
            bent = {"loss": "piecewise", "noise": "none"}
            made += [Shape.of(bent, C=C, d=1, E=E, T=T) for C, E, T in [(5, 10, 20), (2, 30, 5)]]
        return made

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        C, d = shape["C"], shape["d"]
        genes = [
            Gene("mu", "positive"), Gene("ratio", "nonnegative"), Gene("prox", "positive"), Gene("scale", "positive"),
            Gene("curve", "fraction", (C, d)), Gene("centre", "real", (C, d)), Gene("start", "real", (d,)),
            Gene("weight", "real" if "nonnegative_weights" in reading.dropped else "positive", (C,)),
        ]  # fmt: skip
        if shape.flag("loss") == "piecewise":
            genes += [Gene("tail", "fraction", (C, d)), *(Gene(k, "nonnegative", (C, d)) for k in ("lo", "hi"))]
        elif d == 2:
            genes.append(Gene("turn", "real", (C,)))
        if shape.flag("noise") != "none":
            genes.append(Gene("noise", "nonnegative", (C,)))
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        mu = genome["mu"]
        L = mu * (1 + genome["ratio"])
        sigma = genome["noise"].max(axis=-1) if "noise" in genome else 0 * mu
        return {"mu": mu, "L": L, "alpha": L * genome["prox"], "sigma": sigma}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = _parts(reading, shape, genome)
        Gamma, run = _run(reading, shape, parts, known)
        noise2 = (parts["v"] ** 2).sum(axis=-1)  # (n, C)
        second = (run.grad2 + noise2[:, None, None, :]).max(axis=(1, 2, 3))
        scalars = {**known.scalars, "G": np.sqrt(second), "Gamma": Gamma}
        quantities = {
            **known.quantities,
            "gap": Quantity(run.gap, (0,)),
            "dist2": Quantity(run.dist2, (0,)),
            "deviation": Quantity(run.deviation, (0, 0, 1)),
            "divergence": Quantity(run.divergence, (0, 0, 1)),
            "p": Quantity(parts["p"], (1,)),
        }
        if "nonnegative_weights" in reading.dropped:
            # with a negative weight f need not be convex nor Gamma (4.2) be positive: keep to where both are as usual
            usual = ((_least_curvature(shape, parts) > 0) & (scalars["Gamma"] >= 0))[:, None]
            for name in ("gap", "dist2"):
                quantities[name] = Quantity(np.where(usual, quantities[name].values, np.nan), (0,))
        W = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        return Table(known.n, scalars, quantities, known.counts, (known.scalars["L"] * W**2, W))

    def sampled_shape(self, reading: Reading) -> Shape | None:
        """Huberised quadratics with noise on more paths than can be enumerated, for claims about gap(t) alone."""
        about_gap = all(left == ["at", "gap", "t"] for _, left, _ in reading.claim["then"])
        noisy = any(a[0] == "bounded_variance" for a in reading.claim["let"])
        flags = {"loss": "piecewise", "noise": "independent"}
        return Shape.of(flags, C=4, d=1, E=4, T=10) if about_gap and noisy and not reading.dropped else None

    def sampled(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Table]:
        """Sampled gaps, and constants that hold on every path: |w - c_i| cannot leave the radius of `_reach`."""
        parts = _parts(reading, shape, genome)
        problem = Piecewise(*(parts[k] for k in ("a", "m", "lo", "hi", "c", "p")))
        many = Piecewise(*(np.repeat(parts[k], runs, axis=0) for k in ("a", "m", "lo", "hi", "c", "p")))
        w0, v = (np.repeat(parts[k], runs, axis=0) for k in ("w0", "v"))
        alpha, gamma = known.scalars["alpha"], known.quantities["gamma"].values
        signs = rng.choice([-1.0, 1.0], (known.n * runs, 1, shape["T"], shape["E"], shape["C"], 1))
        run = simulate(
            many, w0, np.repeat(alpha, runs), np.repeat(gamma, runs, axis=0), shape["E"], signs * v[:, None, None, None]
        )
        w_star, reach = problem.minimiser(), _reach(shape, parts, known, problem.minimiser())
        gap0 = problem.gap(parts["w0"], w_star)
        L = known.scalars["L"]
        noise = np.abs(parts["v"]).sum(axis=-1)
        G = (L[:, None] * reach["local"].max(axis=1) + noise).max(axis=1)
        quantities = {
            "gap": Quantity(np.repeat(gap0[:, None], shape["T"] + 1, 1), (0,)),
            "p": Quantity(parts["p"], (1,)),
        }
        scalars = {**known.scalars, "G": G, "Gamma": problem.heterogeneity()}
        table = Table(known.n, scalars, {**known.quantities, **quantities}, known.counts)
        return np.moveaxis(run.gap.reshape(known.n, runs, -1), 1, -1), L[:, None] / 2 * reach["server"] ** 2, table

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        parts = {k: v[0] for k, v in _parts(reading, shape, {k: v[None] for k, v in genome.items()}).items()}
        scalars = dict(known["scalars"])
        constants = {k: text(scalars.pop(k)) for k in ("L", "mu", "sigma")}
        alpha = scalars.pop("alpha")
        made: dict[str, Any] = {
            **dict(shape.counts),
            "p": text(parts["p"]),
            "w0": text(parts["w0"]),
            "alpha": text(alpha),
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items()},
            "clients": _clients(shape, parts),
            "noise": {"kind": "none"},
        }
        if any(reading.uses(name) for name in ("gap", "dist2", "Gamma")):
            made |= {"minimisers": text(parts["c"]), "w_star": text(_minimiser(shape, parts))}
        if "gamma" not in reading.claim["choose"]:
            made["steps"] = {"gamma": [text(x) for x in known["quantities"]["gamma"]]}
        if shape.flag("noise") != "none":
            made["noise"] = {"kind": "signs", "shared": shape.flag("noise") == "shared", "v": text(parts["v"])}
        return made

    def paths(self, shape: Shape) -> int:
        return walked(shape)

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        C, d = shape["C"], shape["d"]
        per_client = ("curve", "centre", "weight", "tail", "lo", "hi", "turn", "noise")
        if C > 1:
            for out in range(C):
                yield (
                    shape.but(C=C - 1),
                    {k: np.delete(v, out, axis=0) if k in per_client else v for k, v in genome.items()},
                )
        if d > 1:
            for keep in range(d):
                cut = {
                    k: v[..., keep : keep + 1] if k in ("curve", "centre", "tail", "lo", "hi", "start") else v
                    for k, v in genome.items()
                    if k != "turn"
                }
                yield shape.but(d=1), cut
        for name in ("T", "E"):
            for smaller in sorted({1, 2, shape[name] // 2, shape[name] - 1}):
                if 0 < smaller < shape[name]:
                    yield shape.but(**{name: smaller}), dict(genome)
        if shape.flag("noise") != "none":
            quiet = Shape(shape.counts, tuple((k, "none" if k == "noise" else v) for k, v in shape.flags))
            yield quiet, {k: v for k, v in genome.items() if k != "noise"}


def walked(shape: Shape) -> int:
    """Sign paths of the noise that are walked; of quadratics the moments are known."""
    noise = "none" if shape.flag("loss") == "quadratic" else shape.flag("noise")
    return 1 if noise == "none" else _paths(noise, shape["C"], shape["E"], shape["T"])


def _paths(noise: str, C: int, E: int, T: int) -> int:
    return 2 ** min(60, E * T * (1 if noise == "shared" else C))


def _parts(reading: Reading, shape: Shape, g: Mapping[str, Array]) -> dict[str, Array]:
    """Genes -> curvatures, centres, weights, noise vectors. Pure arithmetic: floats and rationals alike."""
    C, d = shape["C"], shape["d"]
    mu, L = g["mu"][:, None, None], (g["mu"] * (1 + g["ratio"]))[:, None, None]
    scale = g["scale"][:, None, None]
    parts: dict[str, Array] = {"a": mu + (L - mu) * g["curve"], "c": scale * g["centre"]}
    parts["w0"] = scale[:, 0] * g["start"]
    if "nonnegative_weights" in reading.dropped:
        rest = g["weight"][:, : C - 1]
        parts["p"] = np.concatenate([rest, 1 - rest.sum(axis=1, keepdims=True)], axis=1)
    else:
        parts["p"] = g["weight"] / g["weight"].sum(axis=1, keepdims=True)
    if shape.flag("loss") == "piecewise":
        parts |= {"m": mu + (L - mu) * g["tail"], "lo": scale * g["lo"], "hi": scale * g["hi"]}
    else:
        parts["A"] = _matrices(parts["a"], g.get("turn"))
        parts["b"] = (parts["A"] * parts["c"][:, :, None, :]).sum(axis=-1)
    level = g["noise"] if "noise" in g else 0 * g["weight"]
    axis = np.array([[1 if j == i % d else 0 for j in range(d)] for i in range(C)])
    parts["v"] = level[:, :, None] * axis
    return parts


def _matrices(eigenvalues: Array, turn: Array | None) -> Array:
    """Symmetric matrices (n, C, d, d) with these eigenvalues; in the plane, turned by the rational rotation `turn`."""
    d = eigenvalues.shape[-1]
    diagonal = eigenvalues[..., None] * np.eye(d, dtype=int)
    if turn is None:
        return diagonal
    cos, sin = (1 - turn**2) / (1 + turn**2), 2 * turn / (1 + turn**2)
    rotation = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    return rotation @ diagonal @ np.swapaxes(rotation, -1, -2)


def _least_curvature(shape: Shape, parts: Mapping[str, Array]) -> Array:
    """A lower bound (n,) on the curvature of f = sum_i p_i f_i for weights of any sign."""
    high = parts["a"] if shape.flag("loss") == "quadratic" else np.maximum(parts["a"], parts["m"])
    low = parts["a"] if shape.flag("loss") == "quadratic" else np.minimum(parts["a"], parts["m"])
    weights, least, most = parts["p"], cast("Array", low.min(axis=-1)), cast("Array", high.max(axis=-1))
    return (np.where(weights >= 0, least, most) * weights).sum(axis=1)


def _reach(shape: Shape, parts: Mapping[str, Array], known: Table, w_star: Array) -> dict[str, Array]:
    """How far any path can be: |w_{t,0} - w*| (n, T+1) and |w^i_{t,k} - c_i| (n, T, C), by the triangle inequality."""
    alpha, gamma = known.scalars["alpha"][:, None], known.quantities["gamma"].values
    high, low = np.maximum(parts["a"], parts["m"]).max(-1), np.minimum(parts["a"], parts["m"]).min(-1)
    noise = np.abs(parts["v"]).sum(axis=-1)
    apart = np.sqrt(((parts["c"] - w_star[:, None]) ** 2).sum(axis=-1))
    server = [np.sqrt(((parts["w0"] - w_star) ** 2).sum(axis=-1))]
    local: list[Array] = []
    for t in range(shape["T"]):
        step = gamma[:, t : t + 1]
        shrink = np.maximum(np.abs(1 - step * (alpha + low)), np.abs(1 - step * (alpha + high)))
        start = server[-1][:, None] + apart
        now, most = start, start
        for _ in range(shape["E"]):
            now = shrink * now + step * (alpha * start + noise)
            most = np.maximum(most, now)
        local.append(most)
        server.append((parts["p"] * (now + apart)).sum(axis=1))
    return {"server": np.stack(server, axis=1), "local": np.stack(local, axis=1)}


def _run(reading: Reading, shape: Shape, parts: Mapping[str, Array], known: Table) -> tuple[Array, Run]:
    """Gamma (n,) and the run's exact expectations, computed with the reading's array library."""

    def on(*names: str) -> list[Any]:
        return [to_backend(reading.backend, parts[k]) for k in names]

    steps = known.quantities["gamma"].values, known.scalars["alpha"]
    (w0, v), (gamma, alpha) = on("w0", "v"), (to_backend(reading.backend, x) for x in steps)
    if shape.flag("loss") == "quadratic":
        problem = Quadratics(*on("A", "b", "p"))
        run = expected(problem, w0, alpha, gamma, shape["E"], v, shape.flag("noise") == "shared")
    else:
        problem = Piecewise(*on("a", "m", "lo", "hi", "c", "p"))
        kicks = _sign_paths(shape)[None] * parts["v"][:, None, None, None] if shape.flag("noise") != "none" else None
        noise = None if kicks is None else to_backend(reading.backend, kicks)
        run = simulate(problem, w0, alpha, gamma, shape["E"], noise)
    return to_numpy(problem.heterogeneity()), on_host(run)


def _sign_paths(shape: Shape) -> Array:
    """All sign paths, (S, T, E, C, 1), equally likely."""
    C, E, T = shape["C"], shape["E"], shape["T"]
    width = 1 if shape.flag("noise") == "shared" else C
    signs = np.array(list(product((-1.0, 1.0), repeat=T * E * width))).reshape(-1, T, E, width, 1)
    return np.broadcast_to(signs, (len(signs), T, E, C, 1))


def _clients(shape: Shape, parts: Mapping[str, Array]) -> list[dict[str, Any]]:
    if shape.flag("loss") == "quadratic":
        return [{"kind": "quadratic", "A": text(A), "b": text(b)} for A, b in zip(parts["A"], parts["b"], strict=True)]
    names = ("a", "m", "lo", "hi", "c")
    return [
        {"kind": "piecewise", **{k: text(v) for k, v in zip(names, row, strict=True)}}
        for row in zip(*(parts[k] for k in names), strict=True)
    ]


def _minimiser(shape: Shape, parts: Mapping[str, Array]) -> Array:
    """The exact minimiser of sum_i p_i f_i (rational input). The kernel checks it; zeros if there is none."""
    if shape.flag("loss") == "quadratic":
        A = (parts["p"][:, None, None] * parts["A"]).sum(axis=0)
        b = (parts["p"][:, None] * parts["b"]).sum(axis=0)
        system = fmpq_mat([[_q(x) for x in row] for row in A])
        if system.det() == 0:
            return 0 * b
        solved = system.solve(fmpq_mat([[_q(x)] for x in b]))
        return np.array([Fraction(int(s.p), int(s.q)) for s in solved.entries()], dtype=object)
    d = parts["a"].shape[-1]
    columns = [[parts[k][:, j] for k in ("a", "m", "lo", "hi", "c")] for j in range(d)]
    return np.array([root(parts["p"], *column) for column in columns], dtype=object)


def _q(x: Any) -> fmpq:
    return fmpq(Fraction(x).numerator, Fraction(x).denominator)


SETTING = FedProx()
