"""A network with log-normal misalignments and its alteration (propositions 3.2 to 3.4).

Everything linear in the weights is Gaussian, so probabilities are exact for every C. The deviation of the spectra is
exact for C = 2 (squared: also C = 3); beyond that the claim meets the end of a proved bracket that is worse for it, so
that what survives here survives for the true value, and what does not is left to the kernel, which answers for small C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.network import Alteration, normal_cdf

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, text

SIZES = (2, 3, 4, 5, 7, 10, 20, 30, 100)


@dataclass(frozen=True, slots=True)
class Network:
    name: str = "network"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ("independent_networks",)
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(C=C) for C in SIZES]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        coupled = [Gene("coupling", "fraction")] if reading.dropped else []
        return [Gene("theta", "positive"), Gene("phi", "positive"), *coupled]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {"theta": genome["theta"], "phi": genome["phi"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        s, C = known.scalars, shape["C"]
        made = Alteration(C, s["theta"], s["phi"], s["epsilon"], s["delta"], _covariance(genome, s))
        end = 0 if all(op in (">", ">=") for op, *_ in reading.claim["then"]) else 1
        values = {"probability": made.less_homogeneous(), "msd": made.squared()[end], "sad": made.absolute()[end]}
        if "A2" in s:
            A = np.sqrt(s["A2"]) * np.where(s["epsilon"] < 0, -1.0, 1.0)
            values |= {"Phi": normal_cdf(A), "density": np.exp(-(A**2) / 2) / np.sqrt(2 * np.pi)}
        measured = {k: Quantity(v[:, None], (C,)) for k, v in values.items()}
        return Table(known.n, s, {**known.quantities, **measured}, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = known["scalars"]
        coupling = _covariance(genome, scalars) if "coupling" in genome else 0
        return {"C": shape["C"], "coupling": text(coupling), "parameters": {k: text(v) for k, v in scalars.items()}}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for smaller in range(2, shape["C"]):
            yield shape.but(C=smaller), dict(genome)


def _covariance(genome: Mapping[str, Array], s: Mapping[str, Any]) -> Array:
    """Of the two weights on a pair: from -1 to 1 times phi^2 min(1, 1 + delta), which is always one."""
    if "coupling" not in genome:
        return 0 * genome["theta"]
    return (2 * genome["coupling"] - 1) * s["phi"] ** 2 * np.minimum(1, 1 + s["delta"])


SETTING = Network()
