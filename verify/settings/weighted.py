"""Federated SGD with aggregation weights on strongly convex losses: rules (2) and (4) of Ben Mansour et al., exactly.

Curvatures lie in [mu, L] with L declared. Client minimisers are `apart` from one another, so that the heterogeneity
Gamma goes down to 0. Aggregation weights are free rows on the simplex, or FedMax's. T counts local steps and
holds whole rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, cast

import numpy as np

from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.weighted import WeightedRun, fedmax, given, simulate

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, text, to_backend, to_numpy
from .fedprox import _clients, _matrices, _minimiser  # pyright: ignore[reportPrivateUsage]

Rule = Literal["printed", "rounds", "kept"]
ROUNDING = 1e-13  # Gamma below this share of its scale is 0: rho(t, w*) is not defined
SMALL = [
    (1, 1, 1, 1), (2, 1, 1, 1), (2, 1, 2, 2), (2, 1, 1, 2), (2, 2, 1, 2), (3, 1, 1, 1), (2, 1, 2, 4), (1, 1, 2, 4),
    (3, 1, 2, 4), (2, 2, 1, 3), (2, 2, 2, 4), (2, 1, 4, 8), (3, 1, 3, 6),
]  # fmt: skip
LARGE = [(5, 1, 5, 20), (2, 1, 1, 40), (3, 2, 10, 20), (2, 1, 30, 60)]
CORNER = [(2, 1, 1, 1), (2, 1, 2, 2), (2, 1, 1, 2), (2, 1, 2, 4)]  # from the last client's minimiser
NOISY = [(1, 1, 1, 1), (2, 1, 1, 1), (2, 1, 1, 2), (1, 1, 2, 4), (2, 1, 2, 2), (1, 1, 1, 6)]


@dataclass(frozen=True, slots=True)
class Weighted:
    name: str = "weighted"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("nonnegative_weights",)
    declared: tuple[str, ...] = ("G",)
    counts_steps: bool = True

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        policies = ("free",) if reading.dropped or reading.uses("rho_run_max") else ("fedmax", "free")
        if _assumes(reading, "positive_weights"):
            policies = ("free",)
        if _assumes(reading, "fedavg_weights"):
            policies = ("fedavg",)
        if _assumes(reading, "at_rest"):
            opposed = {"loss": "quadratic", "weights": "fedmax", "signs": "no"}
            return [Shape.of(opposed, N=N, d=1, E=1, T=T) for N, T in product((2, 3), (1, 3))]
        if _assumes(reading, "skew_witness"):
            witness = {"loss": "quadratic", "weights": "fedmax", "signs": "no", "start": "client"}
            return [Shape.of(witness, N=2, d=d, E=E, T=E) for d, E in product((1, 2), (1, 2, 5))]
        in_one = not reading.uses("rho_run_max")  # on a line with one minimiser rho does not depend on w
        sizes = sorted(SMALL, key=lambda size: in_one or size[1] == 1)
        made = [
            Shape.of({"loss": loss, "weights": policy, "signs": "no"}, N=N, d=d, E=E, T=T)
            for (N, d, E, T), loss, policy in product(sizes, ("quadratic", "piecewise"), policies)
            if N > 1 or not reading.dropped
        ]
        made += [
            Shape.of({"loss": "quadratic", "weights": policy, "signs": "no"}, N=N, d=d, E=E, T=T)
            for (N, d, E, T), policy in product(LARGE, policies)
        ]
        if not _assumes(reading, "homogeneous"):
            made += [
                Shape.of({"loss": "quadratic", "weights": policy, "signs": "no", "start": "client"}, N=N, d=d, E=E, T=T)
                for (N, d, E, T), policy in product(CORNER, policies)
            ]
        if _assumes(reading, "bounded_variance"):
            made += [
                Shape.of({"loss": "quadratic", "weights": policy, "signs": "yes"}, N=N, d=d, E=E, T=T)
                for (N, d, E, T), policy in product(NOISY, policies)
            ]
        return made

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        N, d, rounds = shape["N"], shape["d"], _rounds(shape)
        genes = [
            Gene("mu", "positive"), Gene("ratio", "nonnegative"), Gene("scale", "positive"),
            Gene("curve", "fraction", (N, d)), Gene("start", "real", (d,)), Gene("weight", "positive", (N,)),
        ]  # fmt: skip
        if reading.uses("level"):
            genes.append(Gene("level", "positive"))
        if not _assumes(reading, "homogeneous"):
            genes += [Gene("apart", "unit"), Gene("centre", "real", (N, d))]
        if shape.flag("weights") == "free":
            kind = "real" if "nonnegative_weights" in reading.dropped else "fraction"
            genes.append(Gene("share", "positive", (rounds, N)) if _assumes(reading, "positive_weights") else
                         Gene("share", kind, (rounds, N - 1)))  # fmt: skip
        if shape.flag("loss") == "piecewise":
            genes += [Gene("tail", "fraction", (N, d)), *(Gene(k, "nonnegative", (N, d)) for k in ("lo", "hi"))]
        elif d == 2:
            genes.append(Gene("turn", "real", (N,)))
        if shape.flag("signs") == "yes":
            genes.append(Gene("noise", "nonnegative", (N,)))
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        mu = genome["mu"]
        sigma = genome["noise"].max(axis=-1) if "noise" in genome else 0 * mu
        asked = {"level": 1 + genome["level"]} if "level" in genome else {}
        return {"mu": mu, "L": mu * (1 + genome["ratio"]), "sigma": sigma, **asked}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = _parts(reading, shape, genome)
        eta = known.quantities["eta"].values if "eta" in known.quantities else np.ones((known.n, shape["T"]))
        Gamma, run = _run(reading, shape, parts, eta, shape.flag("weights"))
        W = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        F = known.scalars["L"] * W**2
        starts = slice(0, shape["T"], shape["E"])
        alpha = run.alpha[:, :, starts]  # (S, n, R, N)
        kappa = alpha / parts["p"][:, None]
        undefined = Gamma <= ROUNDING * F
        tilde = np.where(undefined, np.nan, run.star_most[:, starts].max(axis=1))
        at_star = np.where(undefined, np.inf, run.star_least.min(axis=1))
        best = run.fedmax_skew
        if _own_runs(reading):
            best = _run(reading, shape, parts, eta, "fedmax")[1].skew
        running = {"rho_run": run.skew, "rho_run_max": best}
        noise2 = (parts["v"] ** 2).sum(axis=-1)
        scalars = {
            **known.scalars,
            "G": np.sqrt((run.grad2 + noise2).max(axis=1)),
            "Gamma": Gamma,
            "rho_bar": _nonnegative(run.skew[:, starts].min(axis=1)),
            "rho_tilde": tilde,
            "rho_floor": _nonnegative(np.fmin(run.skew.min(axis=1), at_star)),
            "kappa_min": kappa.min(axis=(0, 2, 3)),
            "kappa_max": kappa.max(axis=(0, 2, 3)),
            "alpha_min": alpha.min(axis=(0, 2, 3)),
            "alpha_max": alpha.max(axis=(0, 2, 3)),
            "p_min": parts["p"].min(axis=1),
        }
        measured = {name: getattr(run, name) for name in ("gap", "dist2", "spread", "spread_star")}
        for name, skew in running.items():
            least = np.minimum.accumulate(skew[:, starts], axis=1)
            measured[name] = np.repeat(least, shape["E"], axis=1)
        quantities = {**known.quantities, **{name: Quantity(values, (0,)) for name, values in measured.items()}}
        return Table(known.n, scalars, quantities, known.counts, (F, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        parts = {k: v[0] for k, v in _parts(reading, shape, {k: v[None] for k, v in genome.items()}).items()}
        scalars = dict(known["scalars"])
        constants = {k: text(scalars.pop(k)) for k in ("L", "mu", "sigma")}
        given_rows = "alpha" in parts
        made: dict[str, Any] = {
            **dict(shape.counts),
            "p": text(parts["p"]),
            "w0": text(parts["w0"]),
            "rule": _rule(reading),
            "weights": {"kind": "given", "alpha": text(parts["alpha"])} if given_rows else {"kind": "fedmax"},
            "compare": "own" if _own_runs(reading) else "same",
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items()},
            "clients": _clients(shape, parts),
            "noise": {"kind": "none"},
            "minimisers": text(parts["c"]),
            "w_star": text(_minimiser(shape, parts)),
        }
        if "eta" not in reading.claim["choose"]:
            made["steps"] = {"eta": [text(x) for x in known["quantities"].get("eta", [1] * shape["T"])]}
        if shape.flag("signs") == "yes":
            made["noise"] = {"kind": "signs", "v": text(parts["v"])}
        return made

    def paths(self, shape: Shape) -> int:
        """Of the noise: all sign paths are walked."""
        return 2 ** (shape["T"] * shape["N"]) if shape.flag("signs") == "yes" else 1

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        N, d = shape["N"], shape["d"]
        per_client = ("curve", "centre", "weight", "tail", "lo", "hi", "turn", "noise")
        if N > 1:
            for out in range(N):
                cut = {k: np.delete(v, out, axis=0) if k in per_client else v for k, v in genome.items()}
                if "share" in genome:
                    share = genome["share"]
                    cut["share"] = np.delete(share, min(out, share.shape[1] - 1), axis=1)
                yield shape.but(N=N - 1), cut
        if d > 1:
            coordinates = ("curve", "centre", "tail", "lo", "hi", "start")
            for keep in range(d):
                one = {k: v[..., keep : keep + 1] if k in coordinates else v for k, v in genome.items()}
                yield shape.but(d=1), {k: v for k, v in one.items() if k != "turn"}
        E, rounds = shape["E"], _rounds(shape)
        for fewer in sorted({1, 2, rounds // 2, rounds - 1}):
            if 0 < fewer < rounds:
                yield _resized(shape.but(T=fewer * E), genome)
        for smaller in sorted({1, 2, E // 2, E - 1}):
            if 0 < smaller < E:
                yield _resized(shape.but(E=smaller, T=smaller * rounds), genome)
        flags = dict(shape.flags)
        if flags["signs"] == "yes":
            quiet = Shape(shape.counts, tuple({**flags, "signs": "no"}.items()))
            yield quiet, {k: v for k, v in genome.items() if k != "noise"}
        if flags["loss"] == "piecewise" and d == 1:
            plain = Shape(shape.counts, tuple({**flags, "loss": "quadratic"}.items()))
            yield plain, {k: v for k, v in genome.items() if k not in ("tail", "lo", "hi")}


def _nonnegative(skew: Array) -> Array:
    """With negative weights it may have any sign, and then the theory says nothing."""
    return np.where(skew >= 0, skew, np.nan)


def _own_runs(reading: Reading) -> bool:
    """Whether FedMax is measured on a run of its own and not at the points of the run that it is compared with."""
    return reading.uses("rho_run_max") and not _assumes(reading, "same_iterates")


def _assumes(reading: Reading, name: str) -> bool:
    claim = reading.claim
    return any(a[0] == name for a in (*claim["let"], *claim["implicit"])) and name not in reading.dropped


def _rule(reading: Reading) -> Rule:
    """Which reading of (2) and (4) the statement takes; the printed one unless it says otherwise."""
    named = [a[0].removeprefix("rule_") for a in reading.claim["let"] if a[0].startswith("rule_")]
    return cast("Rule", named[0] if named else "printed")


def _rounds(shape: Shape) -> int:
    return shape["T"] // shape["E"]


def _resized(shape: Shape, genome: Mapping[str, Array]) -> tuple[Shape, dict[str, Array]]:
    """The genome with one row of weights for every communication round of `shape`."""
    if "share" not in genome:
        return shape, dict(genome)
    rows = [min(r, len(genome["share"]) - 1) for r in range(_rounds(shape))]
    return shape, {**genome, "share": genome["share"][rows]}


def _parts(reading: Reading, shape: Shape, g: Mapping[str, Array]) -> dict[str, Array]:
    """Genes -> curvatures, minimisers, p, alpha, noise vectors. Pure arithmetic: floats and rationals alike."""
    N, d = shape["N"], shape["d"]
    mu, L = g["mu"][:, None, None], (g["mu"] * (1 + g["ratio"]))[:, None, None]
    scale = g["scale"][:, None, None]
    parts: dict[str, Array] = {"a": mu + (L - mu) * g["curve"], "w0": scale[:, 0] * g["start"]}
    parts["c"] = scale * g["apart"][:, None, None] * g["centre"] if "centre" in g else 0 * parts["a"]
    parts["p"] = g["weight"] / g["weight"].sum(axis=1, keepdims=True)
    if _assumes(reading, "skew_witness"):
        small = 1 / (1 + g["level"])
        parts["p"] = np.stack([small, 1 - small], axis=1)
    if ("start", "client") in shape.flags:
        parts["w0"] = parts["c"][:, -1]
    if _assumes(reading, "at_rest"):
        parts |= _at_rest(parts)
    if shape.flag("loss") == "piecewise":
        parts |= {"m": mu + (L - mu) * g["tail"], "lo": scale * g["lo"], "hi": scale * g["hi"]}
    else:
        parts["A"] = _matrices(parts["a"], g.get("turn"))
        parts["b"] = (parts["A"] * parts["c"][:, :, None, :]).sum(axis=-1)
    if shape.flag("weights") == "fedavg":
        parts["alpha"] = np.repeat(parts["p"][:, None], _rounds(shape), axis=1)
    if "share" in g:
        parts["alpha"] = _simplex(reading, g["share"], N)[:, : _rounds(shape)]
    level = g["noise"] if "noise" in g else 0 * g["weight"]
    axis = np.array([[1 if j == i % d else 0 for j in range(d)] for i in range(N)])
    parts["v"] = level[:, :, None] * axis
    return parts


def _at_rest(parts: Mapping[str, Array]) -> dict[str, Array]:
    """Two opposite clients that FedMax weighs alike, and a start between them that it never leaves."""
    c, a = parts["c"], parts["a"]
    side = np.array([1, -1] + [0] * c.shape[1])[: c.shape[1], None]
    return {"c": side * c[:, :1], "a": a[:, :1] + 0 * a, "w0": 0 * c[:, 0]}


def _simplex(reading: Reading, share: Array, N: int) -> Array:
    """Rows (n, R, N) that sum to one: shares of what is left, divided positive numbers, or reals and their rest."""
    if share.shape[-1] == N:
        return share / share.sum(axis=-1, keepdims=True)
    if "nonnegative_weights" in reading.dropped:
        return np.concatenate([share, 1 - share.sum(axis=-1, keepdims=True)], axis=-1)
    left, rows = 1 + 0 * share.sum(axis=-1), list[Array]()
    for i in range(N - 1):
        rows.append(left * share[..., i])
        left = left - rows[-1]
    return np.stack([*rows, left], axis=-1)


def _run(
    reading: Reading, shape: Shape, parts: Mapping[str, Array], eta: Array, weights: str
) -> tuple[Array, WeightedRun]:
    """Gamma (n,) and the run, computed with the reading's array library."""

    def on(*names: str) -> list[Any]:
        return [to_backend(reading.backend, parts[k]) for k in names]

    separable = shape.flag("loss") == "piecewise"
    problem = Piecewise(*on("a", "m", "lo", "hi", "c", "p")) if separable else Quadratics(*on("A", "b", "p"))
    kicks = None
    if shape.flag("signs") == "yes":
        signs = np.array(list(product((-1.0, 1.0), repeat=shape["T"] * shape["N"])))
        signs = signs.reshape(-1, 1, shape["T"], shape["N"], 1)
        kicks = to_backend(reading.backend, signs * parts["v"][:, None])
    policy = fedmax if weights == "fedmax" else given(*on("alpha"))
    (w0,) = on("w0")
    with np.errstate(divide="ignore", invalid="ignore"):  # rho where F(w) = sum_i p_i F_i* is not defined
        run = simulate(problem, w0, to_backend(reading.backend, eta), shape["E"], policy, _rule(reading), kicks)
    host = {name: to_numpy(getattr(run, name)) for name in WeightedRun.__slots__}
    return to_numpy(problem.heterogeneity()), WeightedRun(**host)


SETTING = Weighted()
