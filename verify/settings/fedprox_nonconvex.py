"""FedProx on smooth losses that need not be convex, with a global loss that is bounded below (assumption 4.6).

Quadratics with curvatures in [-L, L] whose weighted sum is bounded below, and wells: a piecewise-linear gradient with
slope in [-L, L] near a centre and in [0, L] beyond. Convex losses are among them. Values of f are counted from the
start: f and f + const have the same run. Where the step size has a root, sizes are squares, so that runs are rational.
"""

# the setting extends `fedprox` and uses its parts
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np

from fedaudit.problems.descent import Descent, expected_descent, walked
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.wells import Wells

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from . import fedprox
from .base import Reading, Shape, names, text

SQUARES = (1, 4, 9, 16, 25)
FAR = 1e100  # squared gradients of a run that a concave client has carried away


@dataclass(frozen=True, slots=True)
class FedProxNonconvex:
    name: str = "fedprox_nonconvex"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("nonnegative_weights", "independent_noise")
    declared: tuple[str, ...] = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        noises = ["shared"] if "independent_noise" in reading.dropped else ["none", "independent"]
        clients = (2, 3) if reading.dropped else (1, 2, 3)  # a literal reading differs only with several clients
        made = [
            Shape.of({"loss": loss, "noise": noise}, C=C, d=d, E=E, T=T)
            for loss, noise, (C, d), E, T in product(
                ("quadratic", "well"), noises, [(c, 1) for c in clients] + [(2, 2)], (1, 2, 4), (1, 4)
            )
            if loss == "quadratic" or noise == "none" or fedprox._paths(noise, C, E, T) <= fedprox.MOST_PATHS
        ]
        # `large` is beyond CHEAP of audit.py: where a step size is irrational, floats see it and the kernel does not
        large = [(10, 1, 8, 10), (4, 3, 5, 20), (2, 1, 20, 40), (4, 1, 4, 25), (2, 1, 16, 9)]
        seen = [Shape.of({"loss": "quadratic", "noise": noises[-1]}, C=C, d=d, E=E, T=T) for C, d, E, T in large]
        bent = {"loss": "well", "noise": "none"}
        if "none" in noises:
            seen += [Shape.of(bent, C=C, d=1, E=E, T=T) for C, E, T in [(5, 10, 20), (2, 30, 5)]]
        made = [shape for shape in made if exact(reading, shape)]
        return made + [shape for shape in seen if not reading.dropped or exact(reading, shape)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        C, d = shape["C"], shape["d"]
        genes = [
            Gene("smooth", "positive"), Gene("dip", "fraction"), Gene("prox", "positive"), Gene("scale", "positive"),
            Gene("curve", "fraction", (C, d)), Gene("centre", "real", (C, d)), Gene("start", "real", (d,)),
            Gene("weight", "real" if "nonnegative_weights" in reading.dropped else "positive", (C,)),
        ]  # fmt: skip
        if shape.flag("loss") == "well":
            genes += [Gene("tail", "fraction", (C, d)), *(Gene(k, "nonnegative", (C, d)) for k in ("lo", "hi"))]
        elif d == 2:
            genes.append(Gene("turn", "real", (C,)))
        if shape.flag("noise") != "none":
            genes.append(Gene("noise", "nonnegative", (C,)))
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        L = genome["smooth"]
        sigma = genome["noise"].max(axis=-1) if "noise" in genome else 0 * L
        return {"L": L, "alpha": L * genome["prox"], "sigma": sigma}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = _parts(reading, shape, genome)
        run = _run(shape, parts, known)
        noise2 = (parts["v"] ** 2).sum(axis=-1)  # (n, C)
        second = (run.grad2 + noise2[:, None, None, :]).max(axis=(1, 2, 3))
        scalars = {**known.scalars, "G": np.sqrt(second)}
        # without a lower bound nothing is claimed; a run that has left the floats says nothing
        usable = np.isfinite(run.drop) & (np.maximum(second, run.slope2.max(axis=(1, 2))) < FAR)
        quantities = {
            **known.quantities,
            "excess": Quantity(np.where(usable[:, None], run.drop[:, None] + run.rise, np.nan), (0,)),
            "level": Quantity(np.where(usable[:, None], run.rise, np.nan), (0,)),
            "slope2": Quantity(np.where(usable[:, None, None], run.slope2, np.nan), (0, 0)),
            "p": Quantity(parts["p"], (1,)),
        }
        far = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        W = np.where(far > 0, far, 1.0)
        return Table(known.n, scalars, quantities, known.counts, (known.scalars["L"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        parts = {k: v[0] for k, v in _parts(reading, shape, {k: v[None] for k, v in genome.items()}).items()}
        scalars = dict(known["scalars"])
        constants = {k: text(scalars.pop(k)) for k in ("L", "sigma")}
        made: dict[str, Any] = {
            **dict(shape.counts),
            "p": text(parts["p"]),
            "w0": text(parts["w0"]),
            "alpha": text(scalars.pop("alpha")),
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items()},
            "clients": fedprox._clients(_convex(shape), parts),
            "noise": {"kind": "none"},
        }
        if shape.flag("loss") == "well":
            made["clients"] = [{**client, "kind": "well"} for client in made["clients"]]
        else:
            made["w_star"] = text(fedprox._minimiser(shape, parts))
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
        made = fedprox.SETTING.reductions(reading, shape, genome)
        yield from ((smaller, rest) for smaller, rest in made if exact(reading, smaller))


def exact(reading: Reading, shape: Shape) -> bool:
    """Whether the chosen step sizes are rational for this shape: what stands below a root is a square."""
    below = set[str]().union(*(_below_roots(rule["value"]) for rule in reading.claim["choose"].values()))
    return all(shape[name] in SQUARES for name in ("E", "T") if name in below) and ("t" not in below or shape["T"] == 1)


def _below_roots(tree: Any) -> set[str]:
    """Names that a tree takes the square root of."""
    if not isinstance(tree, list):
        return set()
    parts = cast("list[Any]", tree)
    rooted = parts[0] == "^" and parts[2] in ("1/2", "-1/2")
    own = {name for name, _ in names(parts[1])} if rooted else set[str]()
    return own.union(*(_below_roots(part) for part in parts[1:]))


def _convex(shape: Shape) -> Shape:
    """The shape of the same losses in the setting `fedprox`."""
    return Shape(shape.counts, tuple((k, "piecewise" if v == "well" else v) for k, v in shape.flags))


def _parts(reading: Reading, shape: Shape, g: Mapping[str, Array]) -> dict[str, Array]:
    """Those of `fedprox` with other curvatures. Pure arithmetic: floats and rationals alike."""
    L, dip = g["smooth"][:, None, None], g["dip"][:, None, None]
    flat = {**g, "mu": 0 * g["smooth"], "ratio": 0 * g["smooth"]}
    parts = fedprox._parts(reading, _convex(shape), flat)
    if shape.flag("loss") == "well":
        parts |= {"a": L * (g["curve"] * (1 + dip) - dip), "m": L * g["tail"]}
    else:
        parts["a"] = L * g["curve"]
        if shape["C"] > 1 and "nonnegative_weights" not in reading.dropped:
            # the first client may be concave as far as the others make up for it
            others = (parts["p"][:, 1:] * parts["a"][:, 1:].min(axis=-1)).sum(axis=-1) / parts["p"][:, 0]
            lowest = -dip[:, 0] * np.minimum(L[:, 0], others[:, None])
            parts["a"][:, 0] = lowest + (L[:, 0] - lowest) * g["curve"][:, 0]
        parts["A"] = fedprox._matrices(parts["a"], g.get("turn"))
        parts["b"] = (parts["A"] * parts["c"][:, :, None, :]).sum(axis=-1)
    return parts


def _run(shape: Shape, parts: Mapping[str, Array], known: Table) -> Descent:
    gamma, alpha, E = known.quantities["gamma"].values, known.scalars["alpha"], shape["E"]
    if shape.flag("loss") == "quadratic":
        problem = Quadratics(parts["A"], parts["b"], parts["p"])
        return expected_descent(problem, parts["w0"], alpha, gamma, E, parts["v"], shape.flag("noise") == "shared")
    wells = Wells(parts["a"], parts["m"], parts["lo"], parts["hi"], parts["c"], parts["p"])
    quiet = shape.flag("noise") == "none"
    noise = None if quiet else fedprox._sign_paths(shape)[None] * parts["v"][:, None, None, None]
    return walked(wells, parts["w0"], alpha, gamma, E, noise)


SETTING = FedProxNonconvex()
