"""Statements about numbers only: no run, just symbols in their domains (lemma B.7, side claims, orderings)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..search.genome import Gene, Genome, Kind
from ..search.tree_arrays import Array, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Shape, resized, text
from .runs.limits import Limited, Need, formulas_need

_SIZES = {"T": (1,)}
_COUNTS = (1, 2, 3, 5, 10, 30, 100)
_KINDS: dict[str, Kind] = {"positive": "positive", "nonnegative": "nonnegative", "real": "real"}


class Scalar(Limited):
    """Each free symbol is a gene of its own domain; counts are part of the shape. Sums over them may be long."""

    name = "scalar"
    precision = np.longdouble  # sums of nearly equal powers cancel

    def need(self, reading: Reading, shape: Shape) -> Need:
        return formulas_need(reading, shape, np.dtype(self.precision).itemsize)

    def proposed(self, reading: Reading) -> Sequence[Shape]:
        counts = sorted(s for s, d in reading.lowered.symbols.items() if d in ("count", "index"))
        if "T" not in counts:
            counts.append("T")
        sizes = product(*(_SIZES.get(c, _COUNTS) for c in counts))
        return [Shape.of(None, **dict(zip(counts, values, strict=True))) for values in sizes]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        swept = {name for name, rule in reading.lowered.sweep.items() if not rule["index"]}
        domains = reading.lowered.symbols.items()
        return [Gene(s, _KINDS[d]) for s, d in domains if d in _KINDS and s not in swept]

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        return {gene.name: genome[gene.name] for gene in self.genes(reading, shape)}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return known

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        read = reading.claim["domains"]
        scalars = {**{k: text(v) for k, v in known.scalars.items()}, **{k: str(v) for k, v in shape.counts}}
        return {
            "values": {k: v for k, v in scalars.items() if k in read},
            "quantities": {k: [text(x) for x in v] for k, v in known.quantities.items() if k in read},
        }

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        for name, size in shape.counts:
            yield from resized(shape, genome, name, (1, 2, size // 2, size - 1))


SETTING = Scalar()
