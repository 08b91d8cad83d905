"""The perturbed-gradient method on smooth losses that need not be convex (appendix C.3).

The losses of `fedprox_nonconvex`, the similarities and beta of `perturbed`. Where the step size has a root, sizes are
squares, so that runs are rational.
"""

# the setting puts two others together and uses their parts
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedaudit.problems.perturbed import PerturbedRun
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.wells import Wells

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from . import fedprox, fedprox_nonconvex, perturbed
from .base import Reading, Shape, text, to_backend
from .fedprox_nonconvex import exact

RECORD = ("rise", "slope2", "grad2", "local2")


@dataclass(frozen=True, slots=True)
class PerturbedNonconvex:
    name: str = "perturbed_nonconvex"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("independent_noise", "perturbed_gradients")
    declared: tuple[str, ...] = ("G",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        noises = perturbed.noise_kinds(reading)
        made = [
            Shape.of({"loss": loss, "noise": noise}, C=C, d=d, E=E, T=T)
            for loss, noise, (C, d), E, T in product(
                ("quadratic", "well"), noises, [(2, 1), (3, 1), (2, 2)], (1, 2, 4, 9), (1, 4)
            )
            if loss == "quadratic" or noise == "none" or fedprox._paths(noise, C, E, T) <= fedprox.MOST_PATHS
        ]
        # beyond CHEAP of audit.py: where a step size is irrational, floats see it and the kernel does not
        large = [(8, 1, 8, 10), (4, 3, 5, 10), (2, 1, 20, 20), (4, 1, 4, 25), (2, 1, 16, 9)]
        seen = [Shape.of({"loss": "quadratic", "noise": noises[-1]}, C=C, d=d, E=E, T=T) for C, d, E, T in large]
        if "none" in noises:
            bent = {"loss": "well", "noise": "none"}
            seen += [Shape.of(bent, C=C, d=1, E=E, T=T) for C, E, T in [(5, 10, 20), (2, 30, 5)]]
        made = [shape for shape in made if exact(reading, shape)]
        return made + [shape for shape in seen if not reading.dropped or exact(reading, shape)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        made = fedprox_nonconvex.SETTING.genes(reading, shape)
        return [*(g for g in made if g.name not in ("prox", "weight")), *perturbed.graph_genes(shape)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        L = genome["smooth"]
        sigma = genome["noise"].max(axis=-1) if "noise" in genome else 0 * L
        return {"L": L, "beta": genome["beta"], "sigma": sigma}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        parts = _parts(reading, shape, genome)
        run = _run(reading, shape, parts, known)
        second = perturbed.largest_gradient2(reading, parts, run)
        # without a lower bound nothing is claimed; a run that has left the floats says nothing
        usable = np.isfinite(run.drop) & (np.maximum(second, run.slope2.max(axis=(1, 2))) < fedprox_nonconvex.FAR)
        gamma = known.quantities["gamma"].values
        quantities = {
            **known.quantities,
            "excess": Quantity(perturbed.kept(usable, run.drop[:, None] + run.rise), (0,)),
            "level": Quantity(perturbed.kept(usable, run.rise), (0,)),
            "slope2": Quantity(perturbed.kept(usable, run.slope2), (0, 0)),
            "previous": Quantity(perturbed.previous(gamma), (0,)),
            "p": Quantity(parts["p"], (1,)),
        }
        far = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["c"]).max(axis=(1, 2)))
        W = np.where(far > 0, far, 1.0)
        scalars = {**known.scalars, "G": np.sqrt(second)}
        return Table(known.n, scalars, quantities, known.counts, (known.scalars["L"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        parts = {k: v[0] for k, v in _parts(reading, shape, {k: v[None] for k, v in genome.items()}).items()}
        scalars = dict(known["scalars"])
        constants = {k: text(scalars.pop(k)) for k in ("L", "sigma")}
        made: dict[str, Any] = {
            **dict(shape.counts),
            "pairs": text(parts["pairs"]),
            "w0": text(parts["w0"]),
            "beta": text(scalars.pop("beta")),
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items()},
            "clients": fedprox._clients(fedprox_nonconvex._convex(shape), parts),
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
        made = perturbed.fewer(shape, genome, fedprox.SETTING.reductions(reading, shape, genome))
        yield from ((smaller, rest) for smaller, rest in made if exact(reading, smaller))


def _parts(reading: Reading, shape: Shape, g: Mapping[str, Array]) -> dict[str, Array]:
    """Those of `fedprox_nonconvex`, with p_ij = `pairs` and p_i their row sums."""
    pairs = perturbed.pair_matrix(shape["C"], g["pair"])
    p = pairs.sum(axis=-1)
    return {**fedprox_nonconvex._parts(reading, shape, {**g, "weight": p}), "pairs": pairs, "p": p}


def _run(reading: Reading, shape: Shape, parts: Mapping[str, Array], known: Table) -> PerturbedRun:
    def on(*names: str) -> list[Any]:
        return [to_backend(reading.backend, parts[k]) for k in names]

    bent = shape.flag("loss") == "well"
    problem = Wells(*on("a", "m", "lo", "hi", "c", "p")) if bent else Quadratics(*on("A", "b", "p"))
    return perturbed.run_on(reading, shape, parts, known, problem, RECORD)


SETTING = PerturbedNonconvex()
