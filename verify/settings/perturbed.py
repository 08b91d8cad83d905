"""The perturbed-gradient method (algorithm 2, rules 4.5 to 4.7) on quadratics and Huberised quadratics.

As in `fedprox`, and the genes of the weights are the similarities p_ij of pairs, C >= 2 (one client has no neighbour).
They are positive: a pair without an edge is the limit of them. Not every such matrix is -ln mis of messages (with three
clients, two pairs at mis = 1 leave the third at mis = 0), but definition (4.6) takes any neighbourhood; with two
clients there is one matrix only, and messages give it. Expectations are exact.
"""

# the setting extends `fedprox` and uses its parts
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import Any

import numpy as np

from fedaudit.problems.perturbed import PerturbedRun, expected, simulate
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.run import Objective

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from . import fedprox
from .base import Reading, Shape, text, to_backend, to_numpy

FAR = 1e100  # squared gradients of a run that has been carried away
SERVER, LOCAL = {"gap": (0,), "dist2": (0,)}, {"deviation": (0, 0, 1), "perturbation": (0, 0, 1)}
OTHERS = {"spread": (0, 1, 1), "mean": (0, 0, 1), "centre": (0, 0, 1), "mismatch": (0, 0)}
STARTS = {**SERVER, **LOCAL, **OTHERS}


@dataclass(frozen=True, slots=True)
class Perturbed:
    name: str = "perturbed"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("independent_noise", "perturbed_gradients")
    declared: tuple[str, ...] = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        noises = noise_kinds(reading)
        # a small effort takes every second or third shape: the innermost choice is the one that matters least
        made = [
            Shape.of({"loss": loss, "noise": noise}, C=C, d=d, E=E, T=T)
            for (E, T), loss, noise, (C, d) in product(
                [(1, 3), (8, 3), (2, 2), (4, 3)], ("quadratic", "piecewise"), noises, [(2, 1), (3, 1), (2, 2)]
            )
            if loss == "quadratic" or noise == "none" or d * fedprox._paths(noise, C, E, T) <= fedprox.MOST_PATHS
        ]
        large = [(6, 1, 6, 6), (3, 3, 4, 6), (2, 1, 20, 6)]
        made += [Shape.of({"loss": "quadratic", "noise": noises[-1]}, C=C, d=d, E=E, T=T) for C, d, E, T in large]
        if "none" in noises:
            bent = {"loss": "piecewise", "noise": "none"}
            made += [Shape.of(bent, C=C, d=1, E=E, T=T) for C, E, T in [(5, 10, 6), (2, 30, 5)]]
        return made

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        made = [g for g in fedprox.SETTING.genes(reading, shape) if g.name not in ("prox", "weight")]
        return [*made, *graph_genes(shape)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        mu = genome["mu"]
        sigma = genome["noise"].max(axis=-1) if "noise" in genome else 0 * mu
        return {"mu": mu, "L": mu * (1 + genome["ratio"]), "beta": genome["beta"], "sigma": sigma}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = graph_parts(reading, shape, genome)
        wanted = [name for name in STARTS if reading.uses(name)]
        Gamma, run = _run(reading, shape, parts, known, wanted)
        second = largest_gradient2(reading, parts, run)
        usable = second < FAR
        found = {name: Quantity(kept(usable, getattr(run, name)), STARTS[name]) for name in wanted}
        gamma = known.quantities["gamma"].values
        quantities = {
            **known.quantities, **found, "p": Quantity(parts["p"], (1,)), "previous": Quantity(previous(gamma), (0,)),
        }  # fmt: skip
        scalars = {**known.scalars, "G": np.sqrt(second), "Gamma": Gamma}
        W = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        return Table(known.n, scalars, quantities, known.counts, (known.scalars["L"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        parts = {k: v[0] for k, v in graph_parts(reading, shape, {k: v[None] for k, v in genome.items()}).items()}
        scalars = dict(known["scalars"])
        constants = {k: text(scalars.pop(k)) for k in ("L", "mu", "sigma")}
        made: dict[str, Any] = {
            **dict(shape.counts),
            "pairs": text(parts["pairs"]),
            "w0": text(parts["w0"]),
            "beta": text(scalars.pop("beta")),
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items()},
            "clients": fedprox._clients(shape, parts),
            "noise": {"kind": "none"},
        }
        if any(reading.uses(name) for name in ("gap", "dist2", "Gamma")):
            made |= {"minimisers": text(parts["c"]), "w_star": text(fedprox._minimiser(shape, parts))}
        if "gamma" not in reading.claim["choose"]:
            made["steps"] = {"gamma": [text(x) for x in known["quantities"]["gamma"]]}
        if shape.flag("noise") != "none":
            made["noise"] = {"kind": "signs", "shared": shape.flag("noise") == "shared", "v": text(parts["v"])}
        return made

    def paths(self, shape: Shape) -> int:
        return fedprox.walked(shape)

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        if shape.flag("loss") == "piecewise" and shape["d"] == 1:
            plain = Shape(shape.counts, tuple((k, "quadratic" if k == "loss" else v) for k, v in shape.flags))
            yield plain, {k: v for k, v in genome.items() if k not in ("tail", "lo", "hi")}
        yield from fewer(shape, genome, fedprox.SETTING.reductions(reading, shape, genome))


def noise_kinds(reading: Reading) -> list[str]:
    """Noise that the reading is tried with."""
    if not any(a[0] == "bounded_variance" for a in reading.claim["let"]):
        return ["none"]
    return ["shared"] if "independent_noise" in reading.dropped else ["none", "independent"]


def graph_genes(shape: Shape) -> list[Gene]:
    """beta in (0, 1] and a similarity for every pair of clients."""
    C = shape["C"]
    return [Gene("beta", "unit"), Gene("pair", "positive", (C * (C - 1) // 2,))]


def graph_parts(reading: Reading, shape: Shape, g: Mapping[str, Array]) -> dict[str, Array]:
    """Those of `fedprox`, with p_ij = `pairs` and p_i their row sums. Pure arithmetic: floats and rationals alike."""
    pairs = pair_matrix(shape["C"], g["pair"])
    parts = fedprox._parts(reading, shape, {**g, "weight": pairs.sum(axis=-1)})
    return {**parts, "pairs": pairs, "p": pairs.sum(axis=-1)}


def pair_matrix(C: int, pair: Array) -> Array:
    """p_ij (n, C, C) from one number a pair (n, C (C - 1) / 2)."""
    made = np.zeros((len(pair), C, C), dtype=pair.dtype) + 0 * pair[:, :1, None]  # rationals stay rationals
    shares = pair / (2 * pair.sum(axis=1, keepdims=True))
    for n, (i, j) in enumerate(combinations(range(C), 2)):
        made[:, i, j] = made[:, j, i] = shares[:, n]
    return made


def previous(gamma: Array) -> Array:
    """1_{t>=1} gamma_{t-1}: (n, T) -> (n, T)."""
    return np.concatenate([0 * gamma[:, :1], gamma[:, :-1]], axis=1)


def kept(usable: Array, values: Array) -> Array:
    """NaN where a run is not usable: (n, ...)."""
    return np.where(usable.reshape(-1, *(1 for _ in values.shape[1:])), values, np.nan)


def largest_gradient2(reading: Reading, parts: Mapping[str, Array], run: PerturbedRun) -> Array:
    """The least G^2 (n,): assumption 4.3 at w^i as printed, at w~^i, where the gradients are taken, or at both."""
    noise2 = (parts["v"] ** 2).sum(axis=-1)[:, None, None, :]
    made = {a[0] for a in (*reading.claim["let"], *reading.claim["implicit"])} - set(reading.dropped)
    if "bounded_gradients" not in made:
        largest = run.grad2
    else:
        largest = np.maximum(run.local2, run.grad2) if "perturbed_gradients" in made else run.local2
    return (largest + noise2).max(axis=(1, 2, 3))


def fewer(
    shape: Shape, genome: Mapping[str, Array], reductions: Iterator[tuple[Shape, dict[str, Array]]]
) -> Iterator[tuple[Shape, dict[str, Array]]]:
    """Reductions of `fedprox`, with the pairs that are left; which client went is seen by its place in the order."""
    C, out = shape["C"], 0
    for smaller, rest in reductions:
        if smaller["C"] == C:
            yield smaller, rest
            continue
        left = [n for n, ends in enumerate(combinations(range(C), 2)) if out not in ends]
        out += 1
        if left:
            yield smaller, {**rest, "pair": genome["pair"][left]}


def run_on(reading: Reading, shape: Shape, parts: Mapping[str, Array], known: Table, problem: Objective,
           record: Sequence[str]) -> PerturbedRun:  # fmt: skip
    """The run's exact expectations, computed with the reading's array library."""

    def on(array: Array) -> Any:
        return to_backend(reading.backend, array)

    steps = on(known.scalars["beta"]), on(known.quantities["gamma"].values)
    given = (on(parts["pairs"]), on(parts["w0"]), *steps, shape["E"])
    if isinstance(problem, Quadratics):
        run = expected(problem, *given, on(parts["v"]), shape.flag("noise") == "shared", record)
    else:
        quiet = shape.flag("noise") == "none"
        noise = None if quiet else on(fedprox._sign_paths(shape)[None] * parts["v"][:, None, None, None])
        run = simulate(problem, *given, noise, record)
    made = {f.name: getattr(run, f.name) for f in fields(run)}
    return PerturbedRun(**{name: to_numpy(values) for name, values in made.items() if values is not None})


def _run(
    reading: Reading, shape: Shape, parts: Mapping[str, Array], known: Table, wanted: Sequence[str]
) -> tuple[Array, PerturbedRun]:
    """Gamma (n,) and the run."""

    def on(*names: str) -> list[Any]:
        return [to_backend(reading.backend, parts[k]) for k in names]

    bent = shape.flag("loss") == "piecewise"
    problem = Piecewise(*on("a", "m", "lo", "hi", "c", "p")) if bent else Quadratics(*on("A", "b", "p"))
    run = run_on(reading, shape, parts, known, problem, [*wanted, "grad2", "local2"])
    return to_numpy(problem.heterogeneity()), run


SETTING = Perturbed()
