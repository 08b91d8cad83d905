"""Two unit messages (definition 3.2): rational points of the sphere, by stereographic projection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...search.genome import Gene, Genome
from ...search.tree_arrays import Array, Quantity, Table
from ..base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, text


class Messages(Setting):
    name = "messages"

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [Shape.of(d=d, T=1) for d in (2, 3, 5, 8)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return [Gene("u", "real", (shape["d"] - 1,)), Gene("v", "real", (shape["d"] - 1,))]

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        messages = {"a": Quantity(_on_sphere(genome["u"]), (1,)), "b": Quantity(_on_sphere(genome["v"]), (1,))}
        return known.measured({}, messages)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        return {"D": shape["d"], "a": text(_on_sphere(genome["u"])), "b": text(_on_sphere(genome["v"]))}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        if shape["d"] > 2:
            yield shape.but(d=shape["d"] - 1), {k: v[:-1] for k, v in genome.items()}


def _on_sphere(u: Array) -> Array:
    """(..., d - 1) -> (2u, |u|^2 - 1) / (|u|^2 + 1), (..., d): of length 1, rational if u is."""
    square = (u**2).sum(axis=-1, keepdims=True)
    return np.concatenate([2 * u, square - 1], axis=-1) / (square + 1)


SETTING = Messages()
