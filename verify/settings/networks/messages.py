"""Two unit messages (definition 3.2): rational points of the sphere, by stereographic projection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Quantity, Table
from ..base import Reading, Shape, text


@dataclass(frozen=True, slots=True)
class Messages:
    name: str = "messages"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(d=d, T=1) for d in (2, 3, 5, 8)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("u", "real", (shape["d"] - 1,)), Gene("v", "real", (shape["d"] - 1,))]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        messages = {"a": Quantity(_on_sphere(genome["u"]), (1,)), "b": Quantity(_on_sphere(genome["v"]), (1,))}
        return Table(known.n, known.scalars, {**known.quantities, **messages}, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"D": shape["d"], "a": text(_on_sphere(genome["u"])), "b": text(_on_sphere(genome["v"]))}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        if shape["d"] > 2:
            yield shape.but(d=shape["d"] - 1), {k: v[:-1] for k, v in genome.items()}


def _on_sphere(u: Array) -> Array:
    """(..., d - 1) -> (2u, |u|^2 - 1) / (|u|^2 + 1), (..., d): of length 1, rational if u is."""
    square = (u**2).sum(axis=-1, keepdims=True)
    return np.concatenate([2 * u, square - 1], axis=-1) / (square + 1)


SETTING = Messages()
