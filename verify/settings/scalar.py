"""Statements about numbers only: no run, just symbols in their domains (lemma B.7, side claims, orderings)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..search.genome import Gene, Genome, Kind
from ..search.tree_arrays import Array, Table
from .base import Reading, Shape, text
from .runs.limits import Affordable, Need, affordable, formulas_need

_SIZES = {"T": (1,)}
_COUNTS = (1, 2, 3, 5, 10, 30, 100)


@dataclass(frozen=True, slots=True)
class Scalar:
    """Each free symbol is a gene of its own domain; counts are part of the shape."""

    name: str = "scalar"
    precision: type[np.floating[Any]] = np.longdouble  # sums of nearly equal powers cancel
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return self.affordable(reading).shapes

    def affordable(self, reading: Reading) -> Affordable:
        """The proposed shapes that the reading's limits allow: sums may be long."""
        return _affordable(self, reading)

    def need(self, reading: Reading, shape: Shape) -> Need:
        """What one instance of a shape takes."""
        return formulas_need(reading, shape, np.dtype(self.precision).itemsize)

    def proposed(self, reading: Reading) -> Sequence[Shape]:
        """Shapes worth trying."""
        counts = sorted(s for s, d in reading.lowered.symbols.items() if d in ("count", "index"))
        if "T" not in counts:
            counts.append("T")
        sizes = product(*(_SIZES.get(c, _COUNTS) for c in counts))
        return [Shape.of(None, **dict(zip(counts, values, strict=True))) for values in sizes]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        swept = {n for n, rule in reading.lowered.sweep.items() if not rule["index"]}
        kinds: dict[str, Kind] = {"positive": "positive", "nonnegative": "nonnegative", "real": "real"}
        domains = reading.lowered.symbols.items()
        return [Gene(s, kinds[d]) for s, d in domains if d in kinds and s not in swept]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {g.name: genome[g.name] for g in self.genes(reading, shape)}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return known

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        read = reading.claim["domains"]
        scalars = {**{k: text(v) for k, v in known["scalars"].items()}, **{k: str(v) for k, v in shape.counts}}
        return {
            "values": {k: v for k, v in scalars.items() if k in read},
            "quantities": {k: [text(x) for x in v] for k, v in known["quantities"].items() if k in read},
        }

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        for name, value in shape.counts:
            for smaller in sorted({1, 2, value // 2, value - 1}):
                if 0 < smaller < value:
                    yield shape.but(**{name: smaller}), dict(genome)


@lru_cache(maxsize=64)
def _affordable(setting: Scalar, reading: Reading) -> Affordable:
    """Every move on a statement asks for them."""
    return affordable(reading, setting.proposed(reading), lambda shape: setting.need(reading, shape))


SETTING = Scalar()
