"""The two-group quadratic under the perturbed method (appendix C.4), on which theorem 4.5 says it is slow.

With the broadcast u^i = w_{t,0} that the theorem sets, or, where a claim does not set it, with rule (4.6) and equal
similarities, which for two clients are the only ones. Expectations are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedaudit.problems.arrays import namespace
from fedaudit.problems.two_group import averages, expected_gap

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, text, to_backend, to_numpy

NAMED = ("mu", "beta", "sigma", "G_lin")


@dataclass(frozen=True, slots=True)
class TwoGroupPerturbed:
    name: str = "two_group_perturbed"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        sizes = product((2, 3, 4), (2, 3, 10), (2, 5, 20))
        flag = {"averages": "broadcast" if ["broadcast"] in reading.claim["let"] else "equal"}
        return [Shape.of(flag, C=C, E=E, T=T) for C, E, T in sizes]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [
            Gene("mu", "positive"), Gene("beta", "unit"), Gene("sigma", "positive"), Gene("G_lin", "positive"),
            Gene("start", "real"),
        ]  # fmt: skip

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {k: genome[k] for k in NAMED}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        C, s = shape["C"], known.scalars
        curve, force = losses(C, s["mu"], np.where(genome["start"] < 0, -1.0, 1.0) * s["G_lin"])
        given = (curve, force, genome["start"], s["beta"], known.quantities["gamma"].values[:, 0], s["sigma"])
        curve, force, w0, beta, gamma, sigma = (to_backend(reading.backend, x) for x in given)
        u = averages(C, shape.flag("averages") == "broadcast", namespace(curve))
        gap = to_numpy(expected_gap(curve, force, u, w0, beta, gamma, shape["E"], shape["T"], sigma))
        quantities = {**known.quantities, "gap": Quantity(gap, (0,)), "p": Quantity(np.full((known.n, C), 1 / C), (1,))}
        W = np.abs(genome["start"]) + s["G_lin"] / s["mu"]
        return Table(known.n, s, quantities, known.counts, (s["mu"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = dict(known["scalars"])
        named = {k: text(scalars.pop(k)) for k in NAMED}
        parameters = {k: text(v) for k, v in scalars.items()}
        start = {"w0": text(genome["start"][()]), "averages": shape.flag("averages"), "parameters": parameters}
        return {**dict(shape.counts), **named, **start}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for name in ("T", "E", "C"):
            for smaller in sorted({1, 2, shape[name] // 2, shape[name] - 1}):
                if (name != "C" or smaller > 1) and 0 < smaller < shape[name]:
                    yield shape.but(**{name: smaller}), dict(genome)


def losses(C: int, mu: Array, G: Array) -> tuple[Array, Array]:
    """Curvatures and linear coefficients (n, C) of B.4 with H = mu and h = mu/2; odd C: the last loss is 0."""
    group = np.array([1.0] * (C // 2) + [-1.0] * (C // 2) + [0.0] * (C % 2))
    curve = np.where(group > 0, 1.0, np.where(group < 0, 0.5, 0.0))[None] * mu[:, None]
    return curve, G[:, None] * group[None]


SETTING = TwoGroupPerturbed()
