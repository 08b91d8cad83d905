"""The two-group quadratic of appendix B.4, on which theorem 4.2 says FedProx is slow. Exact expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedaudit.problems.moments import expected
from fedaudit.problems.quadratics import Quadratics

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, on_host, text, to_backend


@dataclass(frozen=True, slots=True)
class TwoGroup:
    name: str = "two_group"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        sizes = product((2, 3, 4, 7), (2, 3, 10, 50), (1, 5, 40))
        return [Shape.of(C=C, E=E, T=T) for C, E, T in sizes]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [
            Gene("mu", "positive"), Gene("prox", "positive"), Gene("sigma", "nonnegative"), Gene("G_lin", "positive"),
            Gene("start", "real"),
        ]  # fmt: skip

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        scalars = {k: genome[k] for k in ("mu", "sigma", "G_lin")}
        return {**scalars, "alpha": genome["mu"] * genome["prox"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        C, s = shape["C"], known.scalars
        group = np.array([1.0] * (C // 2) + [-1.0] * (C // 2) + [0.0] * (C % 2))
        side = np.where(genome["start"] < 0, -1.0, 1.0)
        curve = np.where(group > 0, 1.0, np.where(group < 0, 0.5, 0.0))[None] * s["mu"][:, None]
        linear = -(side * s["G_lin"])[:, None] * group[None]
        p = np.full((known.n, C), 1 / C)
        v = np.broadcast_to(s["sigma"][:, None, None], (known.n, C, 1))
        given = (curve[:, :, None, None], linear[:, :, None], p, genome["start"][:, None], s["alpha"], v)
        A, b, weights, w0, alpha, v = (to_backend(reading.backend, x) for x in given)
        gamma = to_backend(reading.backend, known.quantities["gamma"].values)
        run = on_host(expected(Quadratics(A, b, weights), w0, alpha, gamma, shape["E"], v, False))
        quantities = {**known.quantities, "gap": Quantity(run.gap, (0,)), "p": Quantity(p, (1,))}
        W = np.abs(genome["start"]) + s["G_lin"] / s["mu"]
        return Table(known.n, s, quantities, known.counts, (s["mu"] * W**2, W))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = dict(known["scalars"])
        named = {k: text(scalars.pop(k)) for k in ("mu", "alpha", "sigma", "G_lin")}
        parameters = {k: text(v) for k, v in scalars.items()}
        return {**dict(shape.counts), **named, "w0": text(genome["start"][()]), "parameters": parameters}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for name in ("T", "E", "C"):
            for smaller in sorted({1, 2, shape[name] // 2, shape[name] - 1}):
                if 0 < smaller < shape[name]:
                    yield shape.but(**{name: smaller}), dict(genome)


SETTING = TwoGroup()
