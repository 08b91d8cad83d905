"""A growing network and its alteration (chapter 3, "for many clients"): limits of both sides along paths, C = n.

Floats look at one huge n; the kernel decides by certified limits. Parameters that the claim does not fix follow a power
of n: epsilon = c n^-a. What is said to vanish is c / n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from fedaudit.problems.data.similarity_graphs import Alteration

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Quantity, Table
from ..base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, View
from ..order import assumed_of, exact_number
from . import network

FAR = 10**12  # clients that floats look at: what is left of a limit is below the rounding that counts
QUIET = {"theta": 1.0, "phi": 1.0, "delta": 0.0}  # of a picture
FALLS = ("0", "1/2", "1", "2")  # powers of 1/n
Number = Array | Fraction  # of a batch, or exact


class NetworkLimit(Setting):
    name = "network_limit"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        falls = ("0",) if "epsilon" in assumed_of(reading, "fixed") else FALLS
        signs = ("+",) if _positive(reading) else ("+", "-")
        return [Shape.of({"falls": a, "sign": s}, T=1) for a in falls for s in signs]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene(name, "positive") for name in ("theta", "phi", "shift", "spread")]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        paths = _paths(reading, shape, genome)
        values = {name: sum(c * float(FAR) ** float(a) for c, a in terms) for name, terms in paths.items()}
        s = {name: np.broadcast_to(np.asarray(v, dtype=float), (known.n,)) for name, v in values.items()}
        altered = Alteration(FAR, s["theta"], s["phi"], s["epsilon"], s["delta"], 0 * s["theta"])
        limits = {"probability": altered.less_homogeneous(), "sad": altered.absolute()[0]}
        return known.measured(s, {name: Quantity(x[:, None], (FAR,)) for name, x in limits.items()})

    def view(self, reading: Reading) -> View:
        """Along C, at finite sizes: epsilon = 1.67 / C where the claim lets it fall, else fixed."""
        if not reading.uses("probability"):
            return network.deviations()
        fixed = "epsilon" in assumed_of(reading, "fixed")
        points = [(float(C), Shape.of(C=C), {**QUIET, "epsilon": 0.1 if fixed else 1.67 / C}) for C in network.CLIENTS]
        falls = "0.1" if fixed else "1.67 / C"
        return View("$C$", points, f"theta = phi = 1, delta = 0, epsilon = {falls}; probabilities are exact")

    def observe(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return network.SETTING.observe(reading, shape, genome, known)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        exact = {name: exact_number(value) for name, value in genome.items()}
        paths = _paths(reading, shape, exact)
        return {"paths": {name: [[str(c), str(a)] for c, a in terms if c] for name, terms in paths.items()}}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        yield shape, {name: np.array(Fraction(1), dtype=object) for name in genome}


def _paths(reading: Reading, shape: Shape, genome: Mapping[str, Number]) -> dict[str, list[tuple[Number, Fraction]]]:
    """name -> terms (c, a) of c n^a; rationals pass through."""
    zero, falls = Fraction(0), Fraction(shape.flag("falls"))
    sign = -1 if shape.flag("sign") == "-" else 1
    shift = genome["shift"] / (1 + genome["shift"]) if falls == 0 else genome["shift"]  # below 1
    spread = genome["spread"]
    vanishing = "delta" in assumed_of(reading, "vanishes")
    return {
        "C": [(Fraction(1), Fraction(1))],
        "theta": [(genome["theta"], zero)],
        "phi": [(genome["phi"], zero)],
        "epsilon": [(sign * shift, -falls)],
        "delta": [(spread, Fraction(-1))] if vanishing else [(spread - 1, zero)],
    }


def _positive(reading: Reading) -> bool:
    """Whether the claim asks for epsilon > 0."""
    return any(condition in ([">", "epsilon", "0"], ["<", "0", "epsilon"]) for condition in reading.claim["when"])


SETTING = NetworkLimit()
