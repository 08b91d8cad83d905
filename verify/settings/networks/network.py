"""A network with log-normal misalignments and its alteration (propositions 3.2 to 3.4).

Everything linear in the weights is Gaussian, so probabilities are exact for every C. The deviation of the spectra is
exact for C = 2 (squared: also C = 3) and lies in a proved bracket beyond. An instance counts for the claim where all of
the bracket meets it, against it where none of the bracket does; otherwise it counts for nothing. So does the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from fedaudit.problems.data.similarity_graphs import Alteration, normal_cdf, spectrum

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Evaluator, Quantity, Table
from ..base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, View, resized, text

SIZES = (2, 3, 4, 5, 7, 10, 20, 30, 100)
CLIENTS = (2, 3, 4, 5, 6, 8, 11, 16, 22, 32, 45, 64)  # of a picture


class Network(Setting):
    name = "network"
    droppable = ("independent_networks",)
    drawn = ("theta", "phi")

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(C=C) for C in SIZES]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        coupled = [Gene("coupling", "fraction")] if reading.dropped else []
        return [Gene("theta", "positive"), Gene("phi", "positive"), *coupled]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        s, C = known.scalars, shape["C"]
        altered = Alteration(C, s["theta"], s["phi"], s["epsilon"], s["delta"], _covariance(genome, s))
        ends = [
            {"probability": altered.less_homogeneous(), "msd": squared, "sad": absolute}
            for squared, absolute in zip(altered.squared(), altered.absolute(), strict=True)
        ]
        shared: dict[str, Array] = {}
        if "A2" in s:
            A = np.sqrt(s["A2"]) * np.where(s["epsilon"] < 0, -1.0, 1.0)
            shared = {"Phi": normal_cdf(A), "density": np.exp(-(A**2) / 2) / np.sqrt(2 * np.pi)}
        shared |= dict(zip(("hom_mean", "hom_variance"), altered.homogeneity, strict=True))
        low, high = (_table(known, C, {**end, **shared}) for end in ends)
        use = _ends(_violations(reading, low), _violations(reading, high))
        if ["nonnegative_weights"] in reading.claim["let"]:  # no Gaussian has weights of one sign
            use = np.full(known.n, 2)
        return _table(known, C, {k: np.choose(use, [ends[0][k], ends[1][k], np.nan]) for k in ends[0]} | shared)

    def view(self, reading: Reading) -> View:
        """Along epsilon where the claim is about its own probability, else along C, where the bounds part."""
        if not reading.uses("probability"):
            return deviations()
        shifts = np.linspace(0.02, 0.98, 49)
        points = [
            (float(x), Shape.of(C=4), {"theta": 1.0, "phi": 2.0, "delta": 0.0, "epsilon": float(x)}) for x in shifts
        ]
        return View(r"$\varepsilon$", points, "C = 4, theta = 1, phi = 2, delta = 0; probabilities are exact")

    def observe(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        exact, s, C = self.measure(reading, shape, genome, known), known.scalars, shape["C"]
        if C == 2 or not (reading.uses("msd") or reading.uses("sad")):
            return exact
        deviation = _sampled(C, *(float(s[k][0]) for k in ("theta", "phi", "epsilon", "delta")))
        return exact.measured({}, {name: Quantity(np.array([[x]]), (C,)) for name, x in deviation.items()})

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        scalars = known.scalars
        coupling = _covariance(genome, scalars) if "coupling" in genome else 0
        return {"C": shape["C"], "coupling": text(coupling), "parameters": {k: text(v) for k, v in scalars.items()}}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        return resized(shape, genome, "C", range(2, shape["C"]))


def deviations() -> View:
    """Along C, how far the spectra are apart."""
    values = {"theta": 1.0, "phi": 2.0, "epsilon": 0.1, "delta": 8.0}
    points = [(float(C), Shape.of(C=C), values) for C in CLIENTS]
    sampled = "exact for C = 2, means over sampled networks beyond"
    return View("$C$", points, f"theta = 1, phi = 2, epsilon = 0.1, delta = 8; deviations are {sampled}")


def _table(known: Table, C: int, values: Mapping[str, Array]) -> Table:
    return known.measured({}, {name: Quantity(x[:, None], (C,)) for name, x in values.items()})


def _violations(reading: Reading, table: Table) -> Array:
    """(relations, n): by how much each relation fails, or, where it holds, minus how far it is from that."""
    evaluator, violations = Evaluator(table, {}), list[Array]()
    for op, left, right in reading.claim["then"]:
        gap = np.broadcast_to(evaluator(left) - evaluator(right), (table.n,))
        violations.append({"<=": gap, "<": gap, ">=": -gap, ">": -gap, "=": np.abs(gap)}[op])
    return np.stack(violations)


def _ends(low: Array, high: Array) -> Array:
    """(n,) 0 or 1: the end of the bracket that is evidence; 2: none is. Claims are monotone in what is bracketed.

    Where every relation holds at both ends, the end that is worse for the claim; where one fails at both, the better.
    """
    holds = ((low <= 0) & (high <= 0)).all(axis=0)
    fails = ((low > 0) & (high > 0)).any(axis=0)
    worse = (high.max(axis=0) > low.max(axis=0)).astype(int)
    return np.where(holds, worse, np.where(fails, 1 - worse, 2))


@cache
def _sampled(C: int, theta: float, phi: float, epsilon: float, delta: float) -> dict[str, float]:
    """Mean squared and absolute deviation of the spectra over sampled networks."""
    altered = Alteration(C, *(np.array([x]) for x in (theta, phi, epsilon, delta, 0.0)))
    first, second = altered.draw(max(100, 6000 // C), np.random.default_rng(0))
    apart = spectrum(second) - spectrum(first)
    return {"msd": float((apart**2).mean()), "sad": float(np.abs(apart).mean())}


def _covariance(genome: Genes, s: Mapping[str, Any]) -> Array:
    """How the two weights on a pair covary: from -1 to 1 times phi^2 min(1, 1 + delta), which is always possible."""
    if "coupling" not in genome:
        return 0 * genome["theta"]
    return (2 * genome["coupling"] - 1) * s["phi"] ** 2 * np.minimum(1, 1 + s["delta"])


SETTING = Network()
